//! The component's description: toolsets with their settings, places, tools and resources.
//!
//! The component gives it when the image is compiled, and it is stored beside the machine code.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The description of a component: all its toolsets, mounted or not.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Description {
    /// In the order that users should see.
    pub toolsets: Vec<Toolset>,
}

/// Tools that belong together.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Toolset {
    /// The name that mounts it.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// For a person who chooses what to mount.
    pub description: String,
    /// Whether it is mounted by default.
    #[serde(rename = "default")]
    pub is_default: bool,
    /// Its own settings.
    pub settings: Vec<ToolsetSetting>,
    /// The places in which it stores data, besides repositories.
    pub places: Vec<PlaceDescription>,
    tools: Vec<DescribedTool>,
    resources: Vec<Resource>,
    resource_templates: Vec<ResourceTemplate>,
}

/// A toolset's own setting.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ToolsetSetting {
    /// Its name in the toolset.
    pub name: String,
    /// The JSON Schema of a value.
    pub schema: Map<String, Value>,
    /// Its default, in words.
    pub default_text: String,
    /// One line for a person.
    pub help: String,
    /// More for a person.
    #[serde(default)]
    pub more: String,
    /// A line for each value of an `enum`.
    #[serde(default)]
    pub values: Map<String, Value>,
    /// The name of a command-line option.
    pub flag: String,
    /// Environment variables of other programs with the same meaning.
    pub environment: Vec<String>,
    /// Whether it is a path.
    pub is_path: bool,
    /// Whether its value must not be shown.
    pub is_secret: bool,
}

/// A place in which a toolset stores data.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PlaceDescription {
    /// The component's name for it.
    pub label: String,
    /// Its name for people.
    pub title: String,
    /// `directory`, `file`, or `family`: directories that a registry lists.
    pub kind: String,
    /// Whether it is for its owner alone.
    pub is_private: bool,
    /// The setting with its path; for a family, that of the registry.
    pub setting: String,
    /// Its default path; `~/` stands for the home directory, `data:` for the data directory, and
    /// `config:` for the data directory that was given, or else the configuration directory.
    pub default: String,
    /// The databases in it.
    pub databases: Vec<DatabaseDescription>,
    /// The message for people if it is not granted.
    pub missing: String,
}

impl PlaceDescription {
    /// Whether its path is that of a file.
    pub fn is_file(&self) -> bool {
        self.kind == "file" || self.kind == FAMILY
    }

    /// Whether it is a family of places.
    pub(crate) fn is_family(&self) -> bool {
        self.kind == FAMILY
    }
}

const FAMILY: &str = "family";

/// A database in a place.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct DatabaseDescription {
    /// The name of its file.
    pub name: String,
    /// The SQL dialects that the component supports.
    pub dialects: Vec<String>,
}

/// A tool, with the toolsets that decide under which name it is listed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
struct DescribedTool {
    /// The toolsets that have a tool of the same name.
    shared_with: Vec<String>,
    #[serde(flatten)]
    tool: Tool,
}

/// A mounted tool.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Tool {
    /// The name under which it is listed.
    pub name: String,
    /// A name that calls it whichever toolsets are mounted.
    #[serde(skip_serializing)]
    pub qualified_name: String,
    /// Its name for people.
    pub title: String,
    /// For a model: what it does and when to use it.
    pub description: String,
    /// The JSON Schema (2020-12) of its arguments, which are an object.
    #[serde(rename = "inputSchema")]
    pub input_schema: Map<String, Value>,
    /// The JSON Schema (2020-12) of a successful result.
    #[serde(rename = "outputSchema")]
    pub output_schema: Map<String, Value>,
    /// Hints about its effects.
    pub annotations: Annotations,
    /// Its audience.
    pub audience: Audience,
}

impl Tool {
    /// Whether this is one of its names.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.qualified_name == name
    }
}

/// Hints about the effects of a [`Tool`], as MCP defines them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "they are four independent hints of a protocol")]
pub struct Annotations {
    /// It changes nothing. Such a call does not wait for writers.
    pub read_only_hint: bool,
    /// It may delete or overwrite.
    pub destructive_hint: bool,
    /// Repeating the same call has no further effect.
    pub idempotent_hint: bool,
    /// It may reach beyond its grants; no tool does.
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
    /// Its URI.
    pub uri: String,
    /// Its name for programs.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// Its contents, for a model.
    pub description: String,
    /// The type of its text.
    pub mime_type: String,
}

/// A template for the URIs of resources that the component describes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceTemplate {
    /// A URI once its `{variables}` are filled in.
    pub uri_template: String,
    /// Its name for programs.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// The contents of such a resource, for a model.
    pub description: String,
    /// The type of its text.
    pub mime_type: String,
}

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
    /// A message that lists the existing names.
    pub fn toolset(&self, name: &str) -> Result<&Toolset, String> {
        let found = self.toolsets.iter().find(|toolset| toolset.name == name);
        found.ok_or_else(|| {
            let names = self.toolsets.iter().map(|toolset| toolset.name.as_str()).chain([ALL]);
            let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
            format!("no toolset `{name}`; there are {}", names.join(", "))
        })
    }

    /// The toolsets of these names, in the order that users should see; `all` stands for every one.
    ///
    /// # Errors
    ///
    /// A message about the first unknown name.
    pub fn mounted(&self, names: &[String]) -> Result<Vec<&Toolset>, String> {
        for name in names.iter().filter(|name| *name != ALL) {
            self.toolset(name)?;
        }
        let is_mounted =
            |toolset: &&Toolset| names.iter().any(|name| name == ALL || *name == toolset.name);
        Ok(self.toolsets.iter().filter(is_mounted).collect())
    }
}

impl Toolset {
    /// The setting with this name.
    ///
    /// # Errors
    ///
    /// A message that lists the existing names.
    pub fn setting(&self, name: &str) -> Result<&ToolsetSetting, String> {
        self.settings.iter().find(|setting| setting.name == name).ok_or_else(|| {
            let names: Vec<_> = self.settings.iter().map(|of| format!("`{}`", of.name)).collect();
            let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            format!("the toolset `{}` has no setting `{name}`; it has {there}", self.name)
        })
    }

    /// The place whose path is in this setting.
    pub(crate) fn located_by(&self, setting: &str) -> Option<&PlaceDescription> {
        self.places.iter().find(|place| place.setting == setting)
    }

    /// Its tools, with qualified names where a toolset of `mounted` has a tool of the same name.
    pub(crate) fn tools_beside(&self, mounted: &[&Toolset]) -> impl Iterator<Item = Tool> {
        self.tools.iter().map(|described| {
            let mut tool = described.tool.clone();
            let is_shared = |other: &&Toolset| described.shared_with.contains(&other.name);
            if mounted.iter().any(is_shared) {
                tool.name.clone_from(&tool.qualified_name);
            }
            tool
        })
    }

    pub(crate) fn resources(&self) -> &[Resource] {
        &self.resources
    }

    pub(crate) fn resource_templates(&self) -> &[ResourceTemplate] {
        &self.resource_templates
    }
}

impl ToolsetSetting {
    /// The values that it accepts, in words.
    pub fn accepts(&self) -> String {
        if let Some(words) = self.schema.get("enum").and_then(Value::as_array) {
            let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
            return words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ");
        }
        match (self.kind(), self.bound("minimum"), self.bound("maximum")) {
            ("integer", Some(least), Some(most)) => {
                format!("a whole number from {least} to {most}")
            }
            ("integer", Some(1), None) => "a whole number above 0".to_owned(),
            ("integer", Some(least), None) => format!("a whole number of at least {least}"),
            ("integer", None, Some(most)) => format!("a whole number of at most {most}"),
            ("integer", None, None) => "a whole number".to_owned(),
            ("boolean", ..) => "`true` or `false`".to_owned(),
            _ if self.is_path => "a path".to_owned(),
            _ => "text".to_owned(),
        }
    }

    /// Whether its schema accepts a value.
    pub fn takes(&self, value: &Value) -> bool {
        if let Some(words) = self.schema.get("enum").and_then(Value::as_array) {
            return words.contains(value);
        }
        match self.kind() {
            "integer" => {
                let (least, most) = (self.bound("minimum"), self.bound("maximum"));
                let is_within = |number: i64| {
                    least.is_none_or(|least| number >= least)
                        && most.is_none_or(|most| number <= most)
                };
                value.as_i64().map_or_else(|| value.is_u64() && most.is_none(), is_within)
            }
            "boolean" => value.is_boolean(),
            _ => value.as_str().is_some_and(|text| !text.is_empty()),
        }
    }

    /// The value of a text from a command line; none if the setting does not accept it.
    pub fn parse(&self, text: &str) -> Option<Value> {
        let value = match self.kind() {
            "integer" => text.parse::<u64>().ok()?.into(),
            "boolean" => text.parse::<bool>().ok()?.into(),
            _ => Value::from(text),
        };
        self.takes(&value).then_some(value)
    }

    fn kind(&self) -> &str {
        self.schema.get("type").and_then(Value::as_str).unwrap_or("string")
    }

    fn bound(&self, keyword: &str) -> Option<i64> {
        self.schema.get(keyword).and_then(Value::as_i64)
    }
}

/// The values of toolsets' own settings, by toolset and name.
pub(crate) type OwnSettings = BTreeMap<String, Map<String, Value>>;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn setting(schema: Value) -> ToolsetSetting {
        let setting = json!({
            "name": "x", "schema": schema, "default_text": "", "help": "", "flag": "x",
            "environment": [], "is_path": false, "is_secret": false,
        });
        serde_json::from_value(setting).unwrap()
    }

    #[test]
    fn a_setting_accepts_the_values_of_its_schema_and_describes_them() {
        let count = setting(json!({"type": "integer", "minimum": 1}));
        assert_eq!(count.accepts(), "a whole number above 0");
        assert_eq!(count.parse("7"), Some(json!(7)));
        assert_eq!(count.parse(&u64::MAX.to_string()), Some(json!(u64::MAX)));
        for wrong in ["0", "-1", "1.5", "many", ""] {
            assert_eq!(count.parse(wrong), None, "{wrong}");
        }
        let number = setting(json!({"type": "integer", "minimum": 2, "maximum": 100}));
        assert_eq!(number.accepts(), "a whole number from 2 to 100");
        assert_eq!((number.parse("2"), number.parse("100")), (Some(json!(2)), Some(json!(100))));
        for wrong in ["1", "101", &u64::MAX.to_string()] {
            assert_eq!(number.parse(wrong), None, "{wrong}");
        }
        let word = setting(json!({"type": "string", "enum": ["json", "sqlite"]}));
        assert_eq!(word.accepts(), "`json` or `sqlite`");
        assert_eq!(word.parse("sqlite"), Some(json!("sqlite")));
        assert_eq!(word.parse("SQLite"), None);
        let flag = setting(json!({"type": "boolean"}));
        assert_eq!((flag.parse("true"), flag.parse("yes")), (Some(json!(true)), None));
        assert_eq!(setting(json!({"type": "string"})).parse(""), None);
    }
}
