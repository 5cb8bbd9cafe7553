//! What the component offers: the exports of `wit/toolbox.wit` as plain functions of their
//! arguments and of storage.

use serde_json::{Map, Value, json};

use crate::context::{Context, Settings};
use crate::storage::Storage;
use crate::tool::{Call, ErasedTool, Resource, Resources, write_integers};
use crate::{records, sessions};

/// Tools that belong together: they share a domain, an error shape and a place in storage.
struct Toolset {
    name: &'static str,
    tools: &'static [ErasedTool],
    resources: Option<&'static Resources>,
}

impl Toolset {
    /// Whether it has a tool of that name, mounted or not.
    fn has(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
    }
}

const TOOLSETS: &[Toolset] = &[
    Toolset { name: "sessions", tools: sessions::TOOLS, resources: None },
    Toolset { name: "records", tools: records::TOOLS, resources: Some(&records::RESOURCES) },
];

/// Why a request could not be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureCode {
    /// The arguments of the function, not those of a tool, are malformed.
    InvalidRequest,
    /// Nothing of that name is mounted.
    NotFound,
}

/// A request that names nothing or cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The kind.
    pub code: FailureCode,
    /// What was wrong, and what would be right.
    pub message: String,
}

impl Failure {
    fn invalid(message: String) -> Self {
        Self { code: FailureCode::InvalidRequest, message }
    }

    fn not_found(message: String) -> Self {
        Self { code: FailureCode::NotFound, message }
    }
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// JSON: the tool's output, or the toolset's error.
    pub result: String,
    /// Whether the result is an error.
    pub is_error: bool,
    /// The URIs of the resources that the call changed.
    pub changed: Vec<String>,
}

/// The mounted tools as a JSON array, in the order that users should see.
///
/// # Errors
///
/// `InvalidRequest` for settings that are malformed or name an unknown toolset.
pub fn list_tools(settings: &str) -> Result<String, Failure> {
    let settings: Settings = decode(settings, "the settings")?;
    let mounted = mounted(&settings)?;
    let tools: Vec<Value> = mounted.iter().map(|tool| (tool.tool.describe)(&tool.name)).collect();
    Ok(Value::Array(tools).to_string())
}

/// Runs one tool with a JSON object of arguments; empty text counts as `{}`.
///
/// # Errors
///
/// `NotFound` for a tool that is not mounted, `InvalidRequest` for arguments or a context that do
/// not have the shape that `wit/toolbox.wit` gives. What a tool refuses is an outcome.
pub fn call_tool(
    storage: &dyn Storage,
    name: &str,
    arguments: &str,
    context: &str,
) -> Result<Outcome, Failure> {
    let context: Context = decode(context, "the context")?;
    let mounted = mounted(&context.settings)?;
    let Some(tool) = mounted.iter().find(|tool| tool.name == name || tool.qualified() == name)
    else {
        let names: Vec<_> = mounted.iter().map(|tool| format!("`{}`", tool.name)).collect();
        let of_another = TOOLSETS.iter().find(|toolset| toolset.has(name));
        let of_another =
            of_another.map(|toolset| format!(" (mount the toolset `{}`)", toolset.name));
        let message = format!(
            "no tool `{name}` is mounted{}; there are {}",
            of_another.unwrap_or_default(),
            names.join(", ")
        );
        return Err(Failure::not_found(message));
    };
    let mut arguments: Map<String, Value> = match arguments {
        blank if blank.trim().is_empty() => Map::new(),
        arguments => decode(arguments, "the arguments")?,
    };
    write_integers(&mut arguments);
    let call = Call::new(storage, &context);
    let answer = (tool.tool.run)(&call, &arguments);
    let changed = call.changed.into_inner();
    Ok(Outcome { result: answer.text, is_error: answer.is_error, changed })
}

/// The resources of the mounted toolsets as a JSON array.
///
/// # Errors
///
/// `InvalidRequest` for a malformed context.
pub fn list_resources(context: &str) -> Result<String, Failure> {
    let context: Context = decode(context, "the context")?;
    let resources = resources(&context.settings)?.into_iter().flat_map(|of| of.list);
    Ok(described("uri", resources))
}

/// The templates of resources of the mounted toolsets as a JSON array.
///
/// # Errors
///
/// `InvalidRequest` for a malformed context.
pub fn list_resource_templates(context: &str) -> Result<String, Failure> {
    let context: Context = decode(context, "the context")?;
    let templates = resources(&context.settings)?.into_iter().flat_map(|of| of.templates);
    Ok(described("uriTemplate", templates))
}

/// Reads a resource: the result is a JSON array of `{"uri", "mimeType", "text"}`, or the toolset's
/// error.
///
/// # Errors
///
/// `NotFound` for a URI that is none, `InvalidRequest` for a malformed context.
pub fn read_resource(storage: &dyn Storage, uri: &str, context: &str) -> Result<Outcome, Failure> {
    let context: Context = decode(context, "the context")?;
    let resources = resources(&context.settings)?;
    let call = Call::new(storage, &context);
    let Some(held) = resources.into_iter().find_map(|resources| (resources.read)(&call, uri))
    else {
        return Err(Failure::not_found(format!("no resource `{uri}` is mounted")));
    };
    let (value, is_error) = match held {
        Ok(value) => {
            let text = value.to_string();
            (json!([{ "uri": uri, "mimeType": MIME_TYPE, "text": text }]), false)
        }
        Err(error) => (error, true),
    };
    Ok(Outcome { result: value.to_string(), is_error, changed: Vec::new() })
}

const MIME_TYPE: &str = "application/json";

fn described<'a>(uri: &str, resources: impl Iterator<Item = &'a Resource>) -> String {
    let described = resources.map(|resource| {
        json!({
            uri: resource.uri,
            "name": resource.name,
            "title": resource.title,
            "description": resource.description,
            "mimeType": MIME_TYPE,
        })
    });
    Value::Array(described.collect()).to_string()
}

fn resources(settings: &Settings) -> Result<Vec<&'static Resources>, Failure> {
    Ok(toolsets(settings)?.filter_map(|toolset| toolset.resources).collect())
}

/// An empty JSON array, for what no toolset has.
///
/// # Errors
///
/// `InvalidRequest` for a malformed context.
pub fn list_nothing(context: &str) -> Result<String, Failure> {
    let context: Context = decode(context, "the context")?;
    toolsets(&context.settings).map(|_| json!([]).to_string())
}

/// A tool under the name that it has among those mounted with it.
struct Mounted {
    toolset: &'static str,
    name: String,
    tool: &'static ErasedTool,
}

impl Mounted {
    fn qualified(&self) -> String {
        format!("{}_{}", self.toolset, self.tool.name)
    }
}

/// The mounted toolsets.
fn toolsets(settings: &Settings) -> Result<impl Iterator<Item = &'static Toolset>, Failure> {
    for name in &settings.toolsets {
        if name != "all" && !TOOLSETS.iter().any(|toolset| toolset.name == name) {
            let names: Vec<_> = TOOLSETS.iter().map(|set| format!("`{}`", set.name)).collect();
            let message = format!("no toolset `{name}`; there are {}, `all`", names.join(", "));
            return Err(Failure::invalid(message));
        }
    }
    Ok(TOOLSETS.iter().filter(|toolset| {
        settings.toolsets.iter().any(|name| name == toolset.name || name == "all")
    }))
}

/// The tools of the mounted toolsets. Tools that share a name are listed as `<toolset>_<name>`.
fn mounted(settings: &Settings) -> Result<Vec<Mounted>, Failure> {
    let tools = toolsets(settings)?.flat_map(|toolset| {
        toolset.tools.iter().map(|tool| Mounted {
            toolset: toolset.name,
            name: tool.name.to_owned(),
            tool,
        })
    });
    let mut tools: Vec<Mounted> = tools.collect();
    let shared: Vec<bool> = tools
        .iter()
        .map(|tool| tools.iter().filter(|other| other.tool.name == tool.tool.name).count() > 1)
        .collect();
    for (tool, _) in tools.iter_mut().zip(shared).filter(|(_, shared)| *shared) {
        tool.name = tool.qualified();
    }
    Ok(tools)
}

fn decode<T: serde::de::DeserializeOwned>(text: &str, what: &str) -> Result<T, Failure> {
    serde_json::from_str(text)
        .map_err(|error| Failure::invalid(format!("{what} cannot be read: {error}")))
}
