//! The format of registries, by functions of the memory component, which the host calls.

use agent_memory_storage_files::places::RegistryFormat;

use crate::bindings::agent_memory::places::registry_format;

/// The functions of the memory component.
#[derive(Debug)]
pub struct HostFormat;

impl RegistryFormat for HostFormat {
    fn parse(&self, text: &str) -> Result<String, String> {
        registry_format::parse(text)
    }

    fn edit(&self, text: &str, change: &str) -> Result<String, String> {
        registry_format::edit(text, change)
    }

    fn warn(&self, registry: &str, warning: &str) {
        registry_format::warn(registry, warning);
    }
}
