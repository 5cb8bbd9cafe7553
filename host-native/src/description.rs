//! The component's description: toolsets with their settings, places, tools and resources.
//!
//! It is read from the component when the image is compiled, and is stored beside the machine code.

use crate::toolset_setting::ToolsetSetting;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The description of a component: all its toolsets, mounted or not.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Description {
    /// The toolsets, in the order that users should see.
    pub toolsets: Vec<Toolset>,
    /// The derived databases that each place has, such as a search index. They can be rebuilt.
    #[serde(default)]
    pub derived_databases: Vec<DatabaseDescription>,
}

/// Tools that belong together.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Toolset {
    /// The name that mounts the toolset.
    pub name: String,
    /// The toolset's name for people.
    pub title: String,
    /// The toolset's purpose, for a person who chooses what to mount and for a model that chooses a
    /// tool.
    pub description: String,
    /// Whether the toolset is mounted by default.
    #[serde(rename = "default")]
    pub is_default: bool,
    /// The settings that only this toolset has.
    pub settings: Vec<ToolsetSetting>,
    /// The places in which the toolset stores data, besides repositories.
    pub places: Vec<PlaceDescription>,
    /// The setting that can name the only model to ask. `None` if the toolset asks no models.
    #[serde(default)]
    pub model_setting: Option<String>,
    /// The boolean setting that leaves the toolset out. A toolset with such a setting is mounted
    /// together with any other, unless the setting is `true`.
    #[serde(default)]
    pub left_out_by: Option<String>,
    tools: Vec<Tool>,
    resources: Vec<Resource>,
    resource_templates: Vec<ResourceTemplate>,
    prompts: Vec<Prompt>,
}

/// A place in which a toolset stores data.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PlaceDescription {
    /// The component's name for the place.
    pub label: String,
    /// The place's name for people.
    pub title: String,
    /// `directory`, `file` or `family`. A family is a set of directories that a registry lists.
    pub kind: String,
    /// Whether only its owner may read the place.
    pub is_private: bool,
    /// The setting with the path of the place. For a family, it is the path of the registry.
    pub setting: String,
    /// The default path of the place. `~/` stands for the home directory, `data:` for the data
    /// directory, and `config:` for the data directory that was given, or else the configuration
    /// directory.
    pub default: String,
    /// The databases in the place.
    pub databases: Vec<DatabaseDescription>,
    /// The message for people if the place is not granted.
    pub missing: String,
}

impl PlaceDescription {
    /// Whether the place's path leads to a file. For a family, this file is the registry.
    pub fn is_file(&self) -> bool {
        self.kind == "file" || self.kind == FAMILY
    }

    /// Whether the place is a family of places.
    pub(crate) fn is_family(&self) -> bool {
        self.kind == FAMILY
    }
}

const FAMILY: &str = "family";

/// A database of one place, or a derived database, which each place has.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct DatabaseDescription {
    /// The name of the database's file.
    pub name: String,
    /// The SQL dialects that the component supports.
    pub dialects: Vec<String>,
    /// The statements that make an empty database in SQLite, in order.
    #[serde(default)]
    pub sqlite_tables: Vec<String>,
    /// The statements that make the tables of the database on PostgreSQL, in order.
    #[serde(default)]
    pub postgres_tables: Vec<String>,
}

#[cfg(feature = "postgres")]
impl DatabaseDescription {
    /// The statements that make the tables of the database on PostgreSQL.
    pub(crate) fn tables(&self) -> impl Iterator<Item = String> {
        self.postgres_tables.iter().cloned()
    }

    /// Whether the component has statements for PostgreSQL.
    pub(crate) fn is_for_postgres(&self) -> bool {
        self.dialects.iter().any(|dialect| dialect == "postgres")
    }
}

/// A mounted toolset.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MountedToolset {
    /// The toolset's name.
    pub name: String,
    /// The toolset's purpose.
    pub description: String,
    /// The names under which the toolset's tools are listed.
    pub tools: Vec<String>,
}

/// A mounted tool.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Tool {
    /// The name under which the tool is listed.
    pub name: String,
    /// The name by which the tool can be called whichever toolsets are mounted.
    #[serde(skip_serializing)]
    pub qualified_name: String,
    /// The tool's name for people.
    pub title: String,
    /// For a model: what the tool does and when to use it.
    pub description: String,
    /// The JSON Schema (2020-12) of the arguments, which are an object.
    #[serde(rename = "inputSchema")]
    pub input_schema: Arc<Map<String, Value>>,
    /// The JSON Schema (2020-12) of a successful result.
    #[serde(rename = "outputSchema")]
    pub output_schema: Arc<Map<String, Value>>,
    /// Hints about the tool's effects.
    pub annotations: Annotations,
    /// Whether a model or a person calls the tool.
    pub audience: Audience,
    /// Whether a client should always show the tool to its model. It may show other tools only when the
    /// model searches for them.
    pub always_visible: bool,
    /// Other toolsets with a tool of the same name. If one of them is mounted, the tool is listed under
    /// its qualified name.
    #[serde(skip_serializing)]
    shared_with: Vec<String>,
}

impl Tool {
    /// Whether `name` is one of the tool's names.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.qualified_name == name
    }

    /// The tool's name in a list with the tools of `mounted`.
    fn name_beside(&self, mounted: &[&Toolset]) -> &str {
        let is_shared = mounted.iter().any(|other| self.shared_with.contains(&other.name));
        if is_shared { &self.qualified_name } else { &self.name }
    }
}

/// Hints about the effects of a [`Tool`], as MCP defines them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "they are four independent hints of a protocol")]
pub struct Annotations {
    /// The tool changes nothing. Its calls do not wait for writers.
    pub read_only_hint: bool,
    /// The tool may delete or overwrite.
    pub destructive_hint: bool,
    /// Repeating the same call has no further effect.
    pub idempotent_hint: bool,
    /// The tool may reach beyond its grants. This is `false` for every tool.
    pub open_world_hint: bool,
}

/// The audience of a [`Tool`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Audience {
    /// A model calls it.
    Model,
    /// A person calls it, by a command.
    Person,
}

/// A resource that the component describes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// The resource's URI.
    pub uri: String,
    /// The resource's name for programs.
    pub name: String,
    /// The resource's name for people.
    pub title: String,
    /// The description of the resource's contents, for a model.
    pub description: String,
    /// The media type of the resource's text.
    pub mime_type: String,
}

/// A template for the URIs of resources that the component describes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceTemplate {
    /// A URI once its `{variables}` are filled in.
    pub uri_template: String,
    /// The template's name for programs.
    pub name: String,
    /// The template's name for people.
    pub title: String,
    /// The description of a resource's contents, for a model.
    pub description: String,
    /// The media type of a resource's text.
    pub mime_type: String,
}

/// A prompt that the component describes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Prompt {
    /// The prompt's name for programs.
    pub name: String,
    /// The prompt's name for people.
    pub title: String,
    /// The description of the prompt's effect, for a person.
    pub description: String,
    /// The prompt's arguments, which are strings.
    pub arguments: Vec<PromptArgument>,
}

/// An argument of a [`Prompt`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct PromptArgument {
    /// The argument's name.
    pub name: String,
    /// The description of the argument, for a person.
    pub description: String,
    /// Whether the argument has to be given.
    pub required: bool,
}

/// No toolset, or no setting of a toolset, has the given name. The message lists the existing names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnknownName(String);

/// The name that mounts every toolset.
pub(crate) const ALL: &str = "all";

impl Description {
    /// The toolsets that are mounted by default.
    pub fn default_toolsets(&self) -> impl Iterator<Item = &str> {
        let defaults = self.toolsets.iter().filter(|toolset| toolset.is_default);
        defaults.map(|toolset| toolset.name.as_str())
    }

    /// The toolset with this name.
    ///
    /// # Errors
    ///
    /// If no toolset has the name.
    pub fn toolset(&self, name: &str) -> Result<&Toolset, UnknownName> {
        let found = self.toolsets.iter().find(|toolset| toolset.name == name);
        found.ok_or_else(|| {
            let names = self.toolsets.iter().map(|toolset| toolset.name.as_str()).chain([ALL]);
            let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
            UnknownName(format!("no toolset `{name}`; there are {}", names.join(", ")))
        })
    }

    /// The toolsets with these names, in the order that users should see; `all` stands for every
    /// toolset. If `names` is not empty, each toolset with a [`left_out_by`](Toolset::left_out_by) is
    /// included, too, unless that setting is `true`.
    ///
    /// # Errors
    ///
    /// The first unknown name.
    pub(crate) fn mounted(
        &self,
        names: &[String],
        own: &OwnSettings,
    ) -> Result<Vec<&Toolset>, UnknownName> {
        for name in names.iter().filter(|name| *name != ALL) {
            self.toolset(name)?;
        }
        let is_mounted = |toolset: &&Toolset| {
            let comes_along = match &toolset.left_out_by {
                Some(setting) => !names.is_empty() && !is_true(own, &toolset.name, setting),
                None => names.iter().any(|name| name == ALL),
            };
            comes_along || names.contains(&toolset.name)
        };
        Ok(self.toolsets.iter().filter(is_mounted).collect())
    }
}

impl Toolset {
    /// The setting with this name.
    ///
    /// # Errors
    ///
    /// If the toolset has no setting with this name.
    pub fn setting(&self, name: &str) -> Result<&ToolsetSetting, UnknownName> {
        self.settings.iter().find(|setting| setting.name == name).ok_or_else(|| {
            let names: Vec<_> = self.settings.iter().map(|of| format!("`{}`", of.name)).collect();
            let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            let of = &self.name;
            UnknownName(format!("the toolset `{of}` has no setting `{name}`; it has {there}"))
        })
    }

    /// The place whose path is in this setting.
    pub(crate) fn located_by(&self, setting: &str) -> Option<&PlaceDescription> {
        self.places.iter().find(|place| place.setting == setting)
    }

    /// The toolset's tools, with qualified names where a toolset of `mounted` has a tool of the same
    /// name.
    pub(crate) fn tools_beside(&self, mounted: &[&Toolset]) -> impl Iterator<Item = Tool> {
        self.tools
            .iter()
            .map(|tool| Tool { name: tool.name_beside(mounted).to_owned(), ..tool.clone() })
    }

    /// The toolset as it is mounted beside others.
    pub(crate) fn mounted_beside(&self, mounted: &[&Toolset]) -> MountedToolset {
        let tools = self.tools.iter().map(|tool| tool.name_beside(mounted).to_owned()).collect();
        MountedToolset { name: self.name.clone(), description: self.description.clone(), tools }
    }

    pub(crate) fn resources(&self) -> &[Resource] {
        &self.resources
    }

    pub(crate) fn prompts(&self) -> &[Prompt] {
        &self.prompts
    }

    pub(crate) fn resource_templates(&self) -> &[ResourceTemplate] {
        &self.resource_templates
    }
}

/// The values of toolsets' own settings, by toolset and name.
pub(crate) type OwnSettings = BTreeMap<String, Map<String, Value>>;

fn is_true(own: &OwnSettings, toolset: &str, setting: &str) -> bool {
    own.get(toolset).and_then(|own| own.get(setting)) == Some(&Value::Bool(true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_toolset_that_can_be_left_out_is_mounted_with_any_other() {
        let toolset = |name: &str, left_out_by: Option<&str>| {
            let toolset = json!({
                "name": name, "title": "", "description": "", "default": false, "settings": [],
                "places": [], "tools": [], "resources": [], "resource_templates": [],
                "prompts": [], "left_out_by": left_out_by,
            });
            serde_json::from_value(toolset).unwrap()
        };
        let toolsets = vec![toolset("a", None), toolset("b", None), toolset("with", Some("not"))];
        let description = Description { toolsets, derived_databases: Vec::new() };
        let own = |given: Value| -> OwnSettings { serde_json::from_value(given).unwrap() };
        let (shown, hidden) =
            (own(json!({"with": {"not": false}})), own(json!({"with": {"not": true}})));
        let names = |names: &[&str], own: &OwnSettings| {
            let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
            let mounted = description.mounted(&names, own).unwrap();
            mounted.iter().map(|toolset| toolset.name.clone()).collect::<Vec<_>>().join(" ")
        };
        for (given, with, without) in [
            (&[][..], "", ""),
            (&["a"], "a with", "a"),
            (&["all"], "a b with", "a b"),
            (&["with"], "with", "with"),
            (&["with", "b"], "b with", "b with"),
            (&["with", "all"], "a b with", "a b with"),
        ] {
            assert_eq!(names(given, &OwnSettings::new()), with, "{given:?}");
            assert_eq!(names(given, &shown), with, "{given:?}");
            assert_eq!(names(given, &hidden), without, "{given:?}");
        }
    }
}
