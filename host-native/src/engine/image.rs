//! The component's machine code and its description.

#[cfg(target_os = "linux")]
use super::in_place::InPlace;
use super::pool::engine;
use crate::description::Description;
use std::borrow::Cow;
use std::sync::{Arc, LazyLock, OnceLock};
use wasmtime::component::Component;
use wasmtime::{Engine, Result};

/// A component compiled by `agent_memory_image::precompile`: the component that this crate contains, or
/// another one of the same world.
#[derive(Clone, Debug)]
pub struct Image {
    code: Cow<'static, [u8]>,
    description: Cow<'static, str>,
    /// The parsed description, which all clones share.
    parsed: Arc<OnceLock<Description>>,
}

/// Bytes that are aligned to a page of 4 KiB, the page size of most machines.
#[repr(C, align(4096))]
struct PageAligned<T: ?Sized>(T);

/// A static: a constant would be copied into each part of the program that uses it.
static CODE: &PageAligned<[u8]> =
    &PageAligned(*include_bytes!(concat!(env!("OUT_DIR"), "/memory.cwasm")));
static DESCRIPTION: &str = include_str!(concat!(env!("OUT_DIR"), "/memory.json"));

static EMBEDDED: LazyLock<Image> =
    LazyLock::new(|| Image::with_parts(Cow::Borrowed(&CODE.0), Cow::Borrowed(DESCRIPTION)));

impl Image {
    /// The product's component, which the build script has compiled.
    pub fn embedded() -> Image {
        EMBEDDED.clone()
    }

    /// Another component's machine code and description.
    ///
    /// # Safety
    ///
    /// The code runs unchecked: it has to come unchanged from `agent_memory_image::precompile`.
    pub unsafe fn new(
        code: impl Into<Cow<'static, [u8]>>,
        description: impl Into<Cow<'static, str>>,
    ) -> Image {
        Image::with_parts(code.into(), description.into())
    }

    fn with_parts(code: Cow<'static, [u8]>, description: Cow<'static, str>) -> Image {
        Image { code, description, parsed: Arc::default() }
    }

    /// The machine code.
    pub fn code(&self) -> &[u8] {
        &self.code
    }

    /// The toolsets, settings, places, tools and resources of the component.
    ///
    /// # Errors
    ///
    /// The error of the parser if this host does not understand the description.
    pub fn description(&self) -> serde_json::Result<&Description> {
        if let Some(parsed) = self.parsed.get() {
            return Ok(parsed);
        }
        let description = serde_json::from_str(&self.description)?;
        Ok(self.parsed.get_or_init(|| description))
    }

    /// Loads the machine code into a new engine: in place if that is possible and no other engine runs
    /// code in place, or else as a copy.
    pub(super) fn load(&self) -> Result<(Engine, Component)> {
        // SAFETY, here and below: the bytes are what this crate's build script compiled, or what the
        // caller of `new` vouches for.
        #[cfg(target_os = "linux")]
        if let Cow::Borrowed(code) = self.code
            && let Some(code) = InPlace::claim(code)
        {
            match unsafe { code.load() } {
                Ok(loaded) => return Ok(loaded),
                Err(error) => tracing::debug!(%error, "the machine code is copied"),
            }
        }
        let engine = engine(None)?;
        let component = unsafe { Component::deserialize(&engine, &self.code)? };
        Ok((engine, component))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_image_describes_itself() {
        let image = Image::embedded();
        let description = image.description().unwrap();
        assert_eq!(description.default_toolsets().count(), 1);
        let unknown = description.mounted(&["none".to_owned()], &Default::default()).unwrap_err();
        assert!(unknown.to_string().starts_with("no toolset `none`; there are `"), "{unknown}");
    }

    #[test]
    fn the_embedded_image_loads_in_an_engine_without_a_compiler() {
        let (engine, component) = Image::embedded().load().unwrap();
        let exports: Vec<String> =
            component.component_type().exports(&engine).map(|(name, _)| name.to_owned()).collect();
        assert_eq!(exports, ["agent-memory:toolbox/toolbox@0.2.0"]);
    }
}
