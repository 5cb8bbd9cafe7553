//! What a toolset is, and how it describes itself to hosts.

use serde::Serialize;
use serde_json::{Value, json};

use crate::context::Settings;
use crate::tool::{Call, ErasedTool, ToolError};

/// Tools that belong together: they share a domain, an error shape and a place in storage.
pub(crate) struct Toolset {
    pub name: &'static str,
    pub title: &'static str,
    /// For a person who chooses what to mount.
    pub description: &'static str,
    /// Whether it is mounted where nobody says what is.
    pub is_default: bool,
    pub settings: &'static [Setting],
    /// Whether values of its settings are what they take.
    pub check: fn(&Settings) -> Result<(), serde_json::Error>,
    pub places: &'static [PlaceDescription],
    /// In the order in which an agent uses them.
    pub tools: &'static [ErasedTool],
    pub resources: Option<&'static Resources>,
}

impl Toolset {
    /// Whether it has a tool of that name, mounted or not.
    pub fn has(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
    }

    /// The name that always calls one of its tools.
    pub fn qualified(&self, tool: &str) -> String {
        format!("{}_{tool}", self.name)
    }

    /// As `describe` in `wit/toolbox` has it; `all` are the toolsets that may be mounted with it.
    pub fn describe(&self, all: &[&Toolset]) -> Value {
        let tools = self.tools.iter().map(|tool| {
            let others = all.iter().filter(|other| other.name != self.name && other.has(tool.name));
            let shared_with: Vec<_> = others.map(|other| other.name).collect();
            (tool.describe)(&self.qualified(tool.name), &shared_with)
        });
        let resources = |list: fn(&Resources) -> &'static [Resource], uri: &str| {
            let of = self.resources.map_or(&[][..], list);
            of.iter().map(|resource| resource.describe(uri)).collect::<Vec<_>>()
        };
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "default": self.is_default,
            "settings": self.settings.iter().map(Setting::describe).collect::<Vec<_>>(),
            "places": self.places,
            "tools": tools.collect::<Vec<_>>(),
            "resources": resources(|of| of.list, "uri"),
            "resource_templates": resources(|of| of.templates, "uriTemplate"),
            "prompts": [],
        })
    }
}

/// A toolset's own setting.
pub(crate) struct Setting {
    /// Of the setting in the toolset.
    pub name: &'static str,
    pub takes: Takes,
    /// In words, where leaving it out means more than a value says.
    pub default_text: &'static str,
    /// One line for a person.
    pub help: &'static str,
    /// The command-line option, without the dashes.
    pub flag: &'static str,
    /// Environment variables of other programs that mean the same.
    pub environment: &'static [&'static str],
}

/// What a setting takes.
pub(crate) enum Takes {
    /// The path of a directory.
    Directory,
    /// The path of a file.
    File,
    /// A whole number above 0.
    Count,
    /// A whole number from one to another.
    Within { least: u32, most: u32, default: u32 },
    /// One of these words, each with a line of help; the first is the default.
    OneOf(&'static [(&'static str, &'static str)]),
}

impl Setting {
    fn describe(&self) -> Value {
        let mut setting = json!({ "name": self.name });
        match self.takes {
            Takes::Directory | Takes::File => {
                setting["schema"] = json!({ "type": "string", "minLength": 1 });
            }
            Takes::Within { least, most, default } => {
                setting["schema"] = json!({ "type": "integer", "minimum": least, "maximum": most });
                setting["default"] = json!(default);
            }
            Takes::Count => setting["schema"] = json!({ "type": "integer", "minimum": 1 }),
            Takes::OneOf(words) => {
                let names: Vec<_> = words.iter().map(|(word, _)| word).collect();
                setting["schema"] = json!({ "type": "string", "enum": names });
                setting["default"] = json!(names.first());
                let help = words.iter().map(|(word, help)| ((*word).to_owned(), json!(help)));
                setting["values"] = Value::Object(help.collect());
            }
        }
        setting["default_text"] = json!(self.default_text);
        setting["help"] = json!(self.help);
        setting["flag"] = json!(self.flag);
        setting["environment"] = json!(self.environment);
        setting["is_path"] = json!(matches!(self.takes, Takes::Directory | Takes::File));
        setting["is_secret"] = json!(false);
        setting
    }
}

/// A place that a toolset keeps something in, beside repositories.
#[derive(Serialize)]
pub(crate) struct PlaceDescription {
    pub label: &'static str,
    pub title: &'static str,
    pub kind: PlaceKind,
    /// Whether it is for its owner alone.
    pub is_private: bool,
    /// The setting that says where it is.
    pub setting: &'static str,
    /// Where it is otherwise: below the home directory after `~/`, below the data directory after
    /// `data:`.
    pub default: &'static str,
    pub databases: &'static [DatabaseDescription],
    /// What a person is told where none is granted.
    pub missing: &'static str,
}

/// What a place is on a host's file system.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PlaceKind {
    Directory,
    /// A single file, with its lock directory beside it.
    File,
}

/// A database that is kept in a place.
#[derive(Serialize)]
pub(crate) struct DatabaseDescription {
    pub name: &'static str,
    /// The kinds of SQL that the component has statements for.
    pub dialects: &'static [&'static str],
}

/// What a toolset offers to be read.
pub(crate) struct Resources {
    pub list: &'static [Resource],
    /// Their `uri` is a template (RFC 6570).
    pub templates: &'static [Resource],
    /// What a resource holds, as JSON; none where the URI is none of its.
    pub read: fn(&Call<'_>, uri: &str) -> Option<ReadResult>,
}

pub(crate) type ReadResult = Result<Value, Box<dyn ToolError>>;

/// One resource, or a template of some. All hold JSON.
pub(crate) struct Resource {
    pub uri: &'static str,
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
}

pub(crate) const MIME_TYPE: &str = "application/json";

impl Resource {
    fn describe(&self, uri: &str) -> Value {
        json!({
            uri: self.uri,
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "mimeType": MIME_TYPE,
        })
    }
}
