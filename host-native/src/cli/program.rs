//! The program's name and start, the component that it serves, and a runtime for its calls.

use super::Error;
use crate::{AgentMemory, Builder, Description, Image};
use agent_memory_client_config::Runner;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// The name that users type.
pub(super) const NAME: &str = "agent-memory";

/// The component that the program runs.
static COMPONENT: OnceLock<Image> = OnceLock::new();

/// The command line that starts the program, without its arguments.
static START: OnceLock<Vec<OsString>> = OnceLock::new();

/// Sets the component, and the command line that starts the program.
///
/// # Panics
///
/// If they were set before.
pub(super) fn set(image: Image, start: Vec<OsString>) {
    assert!(COMPONENT.set(image).is_ok(), "the program is run once");
    assert!(START.set(start).is_ok(), "the program is run once");
}

/// A command that starts another process of this program.
///
/// # Panics
///
/// If the program is not running.
pub(super) fn again() -> Command {
    let (program, arguments) =
        START.get().and_then(|start| start.split_first()).expect("the program is running");
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

/// The command line that starts the program, without its arguments.
///
/// # Panics
///
/// If the program is not running.
pub(super) fn start() -> impl Iterator<Item = &'static OsString> {
    START.get().expect("the program is running").iter()
}

/// The runner that has the program in its cache. `None` if the program is installed.
pub(super) fn runner() -> Option<Runner> {
    start().next().and_then(|program| Runner::from_program(Path::new(program)))
}

/// The program as its user types it, such as `npx -y agent-memory`.
pub(super) fn typed() -> &'static str {
    runner().map_or(NAME, Runner::command)
}

fn component() -> &'static Image {
    COMPONENT.get_or_init(Image::embedded)
}

/// The component's description, from which commands and options are made.
pub(super) fn description() -> &'static Description {
    component().description().expect("an image is described when it is compiled")
}

/// A builder with the component.
pub(super) fn builder() -> Builder {
    AgentMemory::builder().image(component().clone())
}

/// The runtime of a server with many clients.
pub(super) fn runtime_of_server() -> Result<tokio::runtime::Runtime, Error> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::storage(format!("the runtime cannot start: {error}")))
}

/// A runtime on this thread, which starts fast. Calls get threads of their own when they run.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, Error> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::storage(format!("the runtime cannot start: {error}")))
}
