//! The program's name, the component that it serves, and a runtime for its calls.

use super::Error;
use crate::{AgentMemory, Builder, Description, Image};
use std::sync::OnceLock;

/// The name that users type.
pub(super) const NAME: &str = "agent-memory";

/// The component, with its description.
static COMPONENT: OnceLock<(Image, Description)> = OnceLock::new();

/// Sets the component.
///
/// # Panics
///
/// If the program has one.
pub(super) fn set_component(image: Image) {
    assert!(COMPONENT.set(with_description(image)).is_ok(), "the program is run once");
}

fn component() -> &'static (Image, Description) {
    COMPONENT.get_or_init(|| with_description(Image::embedded()))
}

fn with_description(image: Image) -> (Image, Description) {
    let description = image.description().expect("an image is described when it is compiled");
    (image, description)
}

/// The component's description, from which commands and options are made.
pub(super) fn description() -> &'static Description {
    &component().1
}

/// A builder with the component.
pub(super) fn builder() -> Builder {
    AgentMemory::builder().image(component().0.clone())
}

/// A runtime on this thread, which starts fast. Calls get threads of their own when they run.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, Error> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::storage(format!("the runtime cannot start: {error}")))
}
