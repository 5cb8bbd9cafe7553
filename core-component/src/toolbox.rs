//! The exports of `wit/toolbox` as plain functions: each depends only on its arguments and on the
//! storage.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::context::{Context, Settings};
use crate::storage::Storage;
use crate::stores::registry;
use crate::tool::{Call, ErasedTool, write_integers};
pub use crate::tool::{Category, Refusal};
use crate::toolset::{MIME_TYPE, Toolset};
use crate::{layers, records, sessions, stores};

const TOOLSETS: &[&Toolset] =
    &[&sessions::TOOLSET, &records::TOOLSET, &layers::TOOLSET, &stores::TOOLSET];

/// The kind of a [`Failure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureCode {
    /// The request itself is malformed. Invalid arguments of a tool are a [`Refusal`].
    InvalidRequest,
    /// No tool or resource with this name is mounted.
    NotFound,
}

/// Why a request reached no tool and no resource. `wit/toolbox` has the same record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The kind.
    pub code: FailureCode,
    /// What was wrong, and what would be accepted.
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

/// The outcome of a call that reached its tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The tool's output as JSON, or the reason why there is none.
    pub answer: Result<String, Refusal>,
    /// The URIs of the resources that the call changed.
    pub changed: Vec<String>,
}

impl Outcome {
    /// The output, or the toolset's error, as JSON.
    pub fn json(&self) -> &str {
        self.answer.as_deref().unwrap_or_else(|refusal| &refusal.json)
    }
}

/// Describes every toolset, mounted or not, as JSON in the form that `wit/toolbox` gives.
pub fn describe() -> String {
    let toolsets: Vec<_> = TOOLSETS.iter().map(|toolset| toolset.describe(TOOLSETS)).collect();
    json!({ "toolsets": toolsets }).to_string()
}

/// Runs one tool. `arguments` is a JSON object; empty text counts as `{}`.
///
/// # Errors
///
/// `NotFound` for a tool that is not mounted. `InvalidRequest` if the arguments are no JSON object
/// or a toolset does not accept the settings. An error of the tool is an outcome, not a failure.
pub fn call_tool(
    storage: &dyn Storage,
    name: &str,
    arguments: &str,
    context: &Context,
) -> Result<Outcome, Failure> {
    let toolsets = mounted(&context.settings)?;
    let tool = find(&toolsets, name)?;
    let mut arguments: Map<String, Value> = match arguments {
        blank if blank.trim().is_empty() => Map::new(),
        arguments => serde_json::from_str(arguments)
            .map_err(|error| Failure::invalid(format!("the arguments cannot be read: {error}")))?,
    };
    write_integers(&mut arguments);
    let call = Call::new(storage, context, shared_names(&toolsets));
    let answer = (tool.run)(&call, &arguments);
    Ok(Outcome { answer, changed: call.changed.into_inner() })
}

/// Reads a resource. The answer is a JSON array of `{"uri", "mimeType", "text"}`.
///
/// # Errors
///
/// `NotFound` if no resource has the URI. `InvalidRequest` if a toolset does not accept the
/// settings.
pub fn read_resource(
    storage: &dyn Storage,
    uri: &str,
    context: &Context,
) -> Result<Outcome, Failure> {
    let toolsets = mounted(&context.settings)?;
    let call = Call::new(storage, context, shared_names(&toolsets));
    let mut resources = toolsets.iter().filter_map(|toolset| toolset.resources);
    let Some(contents) = resources.find_map(|resources| (resources.read)(&call, uri)) else {
        return Err(Failure::not_found(format!("no resource `{uri}` is mounted")));
    };
    let answer = contents.map_err(|error| error.refusal()).map(|value| {
        json!([{ "uri": uri, "mimeType": MIME_TYPE, "text": value.to_string() }]).to_string()
    });
    Ok(Outcome { answer, changed: Vec::new() })
}

/// Parses the text of a registry of stores. The answer is a JSON object from names to `{"path",
/// "description"?, "warnings"?}`.
///
/// # Errors
///
/// `InvalidRequest` if the text is invalid; the message has the line.
pub fn parse_registry(text: &str) -> Result<String, Failure> {
    registry::parse(text).map(|stores| stores.to_string()).map_err(Failure::invalid)
}

/// Makes one change to the text of a registry of stores: `{"add": {"name", "path", "description"?}}`
/// or `{"remove": {"name"}}`. The rest of the text stays as it is.
///
/// # Errors
///
/// `InvalidRequest` if the text or the change is invalid, if a store to add is registered already, or
/// if one to remove is not.
pub fn edit_registry(text: &str, change: &str) -> Result<String, Failure> {
    let change = serde_json::from_str(change)
        .map_err(|error| Failure::invalid(format!("the change cannot be read: {error}")))?;
    registry::edit(text, &change).map_err(Failure::invalid)
}

/// The mounted toolsets.
///
/// # Errors
///
/// `InvalidRequest` if there is no toolset of a name, or a toolset does not accept its settings.
pub(crate) fn mounted(settings: &Settings) -> Result<Vec<&'static Toolset>, Failure> {
    for name in &settings.toolsets {
        if name != "all" && !TOOLSETS.iter().any(|toolset| toolset.name == name) {
            let names: Vec<_> = TOOLSETS.iter().map(|set| format!("`{}`", set.name)).collect();
            let message = format!("no toolset `{name}`; there are {}, `all`", names.join(", "));
            return Err(Failure::invalid(message));
        }
    }
    let is_mounted = |toolset: &&Toolset| {
        settings.toolsets.iter().any(|name| name == toolset.name || name == "all")
    };
    let mounted: Vec<_> = TOOLSETS.iter().copied().filter(is_mounted).collect();
    for toolset in &mounted {
        (toolset.check)(settings).map_err(|error| {
            Failure::invalid(format!("the settings of `{}` cannot be read: {error}", toolset.name))
        })?;
    }
    Ok(mounted)
}

/// The names that tools of several toolsets have.
fn shared_names(toolsets: &[&'static Toolset]) -> BTreeSet<&'static str> {
    let names = toolsets.iter().flat_map(|toolset| toolset.tools.iter().map(|tool| tool.name));
    names.filter(|name| toolsets.iter().filter(|of| of.has(name)).count() > 1).collect()
}

/// Finds a mounted tool by its name or its qualified name.
///
/// # Errors
///
/// `NotFound` if no tool has the name, or if tools of several toolsets have it.
fn find(toolsets: &[&'static Toolset], name: &str) -> Result<&'static ErasedTool, Failure> {
    let named = |toolset: &&'static Toolset| {
        let tools = toolset.tools;
        let is_it = |tool: &&ErasedTool| tool.name == name || toolset.qualified(tool.name) == name;
        Some((*toolset, tools.iter().find(is_it)?))
    };
    let found: Vec<_> = toolsets.iter().filter_map(named).collect();
    match found.as_slice() {
        [(_, tool)] => Ok(tool),
        [] => Err(not_mounted(toolsets, name)),
        several => {
            let names = several.iter().map(|(of, tool)| format!("`{}`", of.qualified(tool.name)));
            let names: Vec<_> = names.collect();
            let message = format!("several tools are called `{name}`: call {}", names.join(" or "));
            Err(Failure::not_found(message))
        }
    }
}

fn not_mounted(toolsets: &[&'static Toolset], name: &str) -> Failure {
    let shared = shared_names(toolsets);
    let names = toolsets.iter().flat_map(|toolset| {
        toolset.tools.iter().map(|tool| match shared.contains(tool.name) {
            true => format!("`{}`", toolset.qualified(tool.name)),
            false => format!("`{}`", tool.name),
        })
    });
    let names: Vec<_> = names.collect();
    let of_another = TOOLSETS.iter().find(|toolset| toolset.has(name));
    let of_another = of_another.map(|toolset| format!(" (mount the toolset `{}`)", toolset.name));
    Failure::not_found(format!(
        "no tool `{name}` is mounted{}; there are {}",
        of_another.unwrap_or_default(),
        names.join(", ")
    ))
}
