//! The format of registries, as the memory component implements it. The host forwards each call to that
//! component.

use agent_memory_storage_files::places::RegistryFormat;

use crate::bindings::agent_memory::places::registry_format;

/// Forwards calls to the memory component, through the host.
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
