//! The runners, a file each: they start a host for a case and pass calls to it.

pub mod component;
pub mod mcp;
pub mod mcp_client;
pub mod node;
pub mod plugin;
pub mod python;

use agent_memory_host::{Image, Toolset, ToolsetSetting};

/// The toolsets that a host mounts unless they are left out, each with the setting that does that.
/// With these settings, a host mounts exactly the toolsets that a case names.
fn left_out() -> Result<Vec<(String, ToolsetSetting)>, String> {
    let image = Image::embedded();
    let description = image.description().map_err(|error| error.to_string())?;
    let setting = |toolset: &Toolset| {
        let setting = toolset.setting(toolset.left_out_by.as_ref()?);
        Some(setting.map(|setting| (toolset.name.clone(), setting.clone())))
    };
    description.toolsets.iter().filter_map(setting).collect()
}
