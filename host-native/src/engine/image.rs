//! The component's machine code.

use std::borrow::Cow;
use wasmtime::component::Component;
use wasmtime::{Engine, Result};

/// A component compiled by `agent_memory_image::precompile`: the one that this crate carries, or
/// another with its world.
#[derive(Clone, Debug)]
pub struct Image(Cow<'static, [u8]>);

impl Image {
    /// The product's component, which the build script has compiled.
    pub fn embedded() -> Image {
        Image(Cow::Borrowed(include_bytes!(concat!(env!("OUT_DIR"), "/memory.cwasm"))))
    }

    /// Another component's machine code.
    ///
    /// # Safety
    ///
    /// The bytes run as they are. They have to come unchanged from `agent_memory_image::precompile`.
    pub unsafe fn from_bytes(bytes: impl Into<Cow<'static, [u8]>>) -> Image {
        Image(bytes.into())
    }

    /// The machine code.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn load(&self, engine: &Engine) -> Result<Component> {
        // SAFETY: the bytes are what this crate's build script compiled, or what the caller of
        // `from_bytes` vouches for.
        unsafe { Component::deserialize(engine, &self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_image_loads_in_an_engine_without_a_compiler() {
        let engine = Engine::new(&agent_memory_image::engine_config()).unwrap();
        let component = Image::embedded().load(&engine).unwrap();
        let exports: Vec<String> =
            component.component_type().exports(&engine).map(|(name, _)| name.to_owned()).collect();
        assert_eq!(exports, ["agent-memory:core/toolbox@0.1.0"]);
    }
}
