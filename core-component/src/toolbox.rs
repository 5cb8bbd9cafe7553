//! The exports of `wit/toolbox` as plain functions: each depends only on its arguments and on the
//! storage. This file has the list of toolsets, and the rules for mounting them and for tool names that
//! several toolsets share.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::context::{Context, Settings};
pub use crate::follow_up::{FollowUp, WantedVector};
use crate::prompt::{Partial, Prompt};
use crate::storage::Storage;
use crate::tool::{Call, Checked, ErasedTool, name_the_only};
pub use crate::tool::{Category, Refusal};
use crate::toolset::{FollowUps, MIME_TYPE, Toolset};
use crate::toolsets::stores::registry;
use crate::toolsets::{files, items, layers, memory, records, sessions, stores};
use crate::{index, vectors};

const TOOLSETS: &[&Toolset] = &[
    &sessions::TOOLSET,
    &records::TOOLSET,
    &layers::TOOLSET,
    &stores::TOOLSET,
    &files::TOOLSET,
    &items::TOOLSET,
    &memory::TOOLSET,
];

/// The kind of a [`Failure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureCode {
    /// The request itself is malformed. Invalid arguments of a tool are a [`Refusal`].
    InvalidRequest,
    /// No tool, resource, prompt or follow-up with this name is mounted.
    NotFound,
}

/// Why a request was not carried out. `wit/toolbox` has the same record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The kind.
    pub code: FailureCode,
    /// The error, and what would be accepted.
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
    /// Work that the call leaves to the host.
    pub follow_ups: Vec<FollowUp>,
    /// The vector that would make the answer better. The answer is complete without it.
    pub wants_vector: Option<WantedVector>,
}

impl Outcome {
    fn new(call: Call<'_>, answer: Result<String, Refusal>) -> Self {
        let changed = call.changed.into_inner();
        let follow_ups = call.follow_ups.into_inner();
        let wants_vector = call.wants_vector.into_inner();
        Self { answer, changed, follow_ups, wants_vector }
    }

    fn from_value(call: Call<'_>, answer: Checked<Value>) -> Self {
        let answer = answer.map(|value| value.to_string()).map_err(|error| error.refusal());
        Self::new(call, answer)
    }

    /// The output, or the toolset's error, as JSON.
    pub fn json(&self) -> &str {
        self.answer.as_deref().unwrap_or_else(|refusal| &refusal.json)
    }
}

/// Describes every toolset, mounted or not, as JSON in the form that `wit/toolbox` gives.
pub fn describe() -> String {
    let toolsets: Vec<_> = TOOLSETS.iter().map(|toolset| toolset.describe(TOOLSETS)).collect();
    let derived = [index::DATABASE, vectors::DATABASE].map(|database| database.description());
    json!({ "toolsets": toolsets, "derived_databases": derived }).to_string()
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
    let arguments = object(arguments)?;
    let call = new_call(storage, context, &toolsets);
    let answer = (tool.run)(&call, arguments);
    Ok(Outcome::new(call, answer))
}

/// Reads arguments; empty text counts as `{}`.
fn object(arguments: &str) -> Result<Map<String, Value>, Failure> {
    if arguments.trim().is_empty() {
        return Ok(Map::new());
    }
    serde_json::from_str(arguments)
        .map_err(|error| Failure::invalid(format!("the arguments cannot be read: {error}")))
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
    let call = new_call(storage, context, &toolsets);
    let mut resources = toolsets.iter().filter_map(|toolset| toolset.resources);
    let Some(contents) = resources.find_map(|resources| (resources.read)(&call, uri)) else {
        return Err(Failure::not_found(format!("no resource `{uri}` is mounted")));
    };
    let contents = contents
        .map(|value| json!([{ "uri": uri, "mimeType": MIME_TYPE, "text": value.to_string() }]));
    Ok(Outcome::from_value(call, contents))
}

/// Returns a prompt as JSON, in the form that `wit/toolbox` gives. `arguments` is a JSON object.
///
/// # Errors
///
/// `NotFound` if no prompt has the name. `InvalidRequest` if an argument is missing, unknown or no
/// text, or a toolset does not accept the settings.
pub fn get_prompt(
    storage: &dyn Storage,
    name: &str,
    arguments: &str,
    context: &Context,
) -> Result<Outcome, Failure> {
    let toolsets = mounted(&context.settings)?;
    let prompt = find_prompt(&toolsets, name)?.1;
    let mut arguments = object(arguments)?;
    name_the_only(context, &mut arguments, |name| prompt.has(name));
    let arguments = prompt.arguments_of(arguments).map_err(Failure::invalid)?;
    let call = new_call(storage, context, &toolsets);
    let text = (prompt.get)(&call, &arguments);
    Ok(Outcome::from_value(call, text.map(|text| prompt.message(&text))))
}

fn find_prompt(
    toolsets: &[&'static Toolset],
    name: &str,
) -> Result<(&'static Toolset, &'static Prompt), Failure> {
    let of = |toolset: &&'static Toolset| {
        let prompts: &'static [Prompt] = toolset.prompts;
        Some((*toolset, prompts.iter().find(|prompt| prompt.name == name)?))
    };
    let found = toolsets.iter().find_map(of);
    found.ok_or_else(|| Failure::not_found(format!("no prompt `{name}` is mounted")))
}

/// The thing that has an argument to complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference<'a> {
    /// A prompt, by its name.
    Prompt(&'a str),
    /// A resource template, by its URI template.
    ResourceTemplate(&'a str),
}

/// The most completions of an answer.
const MAX_COMPLETIONS: usize = 100;

/// Returns the values that an argument can have and that begin with `value`, as a JSON array of at
/// most 100 texts. `others` is a JSON object of the arguments that are known already.
///
/// # Errors
///
/// `NotFound` if there is no such prompt, template or argument. `InvalidRequest` if `others` is no
/// JSON object of texts or a toolset does not accept the settings.
pub fn complete(
    storage: &dyn Storage,
    reference: Reference<'_>,
    argument: &str,
    value: &str,
    others: &str,
    context: &Context,
) -> Result<Outcome, Failure> {
    let toolsets = mounted(&context.settings)?;
    let (toolset, has_argument) = match reference {
        Reference::Prompt(name) => {
            let (toolset, prompt) = find_prompt(&toolsets, name)?;
            (toolset, prompt.has(argument))
        }
        Reference::ResourceTemplate(uri) => {
            let toolset = toolsets.iter().find(|toolset| toolset.has_template(uri));
            let missing = || Failure::not_found(format!("no resource template `{uri}` is mounted"));
            let variable = [format!("{{{argument}}}"), format!("{{+{argument}}}")];
            (*toolset.ok_or_else(missing)?, variable.iter().any(|variable| uri.contains(variable)))
        }
    };
    if !has_argument {
        return Err(Failure::not_found(format!("there is no argument `{argument}`")));
    }
    let others = serde_json::from_value(Value::Object(object(others)?)).map_err(|error| {
        Failure::invalid(format!("the other arguments cannot be read: {error}"))
    })?;
    let call = new_call(storage, context, &toolsets);
    let partial = Partial { argument, value, others: &others };
    let values = (toolset.complete)(&call, &partial).map(|mut values| {
        values.retain(|one| one.starts_with(value));
        values.truncate(MAX_COMPLETIONS);
        json!(values)
    });
    Ok(Outcome::from_value(call, values))
}

/// Adds to the outcome at most 100 follow-ups that are neither answered nor leased.
///
/// # Errors
///
/// `InvalidRequest` if a toolset does not accept the settings.
pub fn pending(storage: &dyn Storage, context: &Context) -> Result<Outcome, Failure> {
    let toolsets = mounted(&context.settings)?;
    let call = new_call(storage, context, &toolsets);
    let mut listed = Ok(());
    for follow_ups in toolsets.iter().filter_map(|toolset| toolset.follow_ups) {
        // If a toolset fails, the follow-ups of the other toolsets are listed all the same.
        let own = (follow_ups.pending)(&call);
        listed = listed.and(own);
    }
    Ok(Outcome::from_value(call, listed.map(|()| Value::Null)))
}

/// Claims a follow-up: leases it for `lease_seconds`, so that no other host does the work. The answer
/// is `true`, or `false` if another host has a lease or nothing is left to do.
///
/// # Errors
///
/// `NotFound` if `id` is not `<toolset>/<number>`, with a mounted toolset that has follow-ups.
/// `InvalidRequest` if a toolset does not accept the settings.
pub fn claim(
    storage: &dyn Storage,
    id: &str,
    lease_seconds: u32,
    context: &Context,
) -> Result<Outcome, Failure> {
    let toolsets = mounted(&context.settings)?;
    let (follow_ups, number) = find_follow_up(&toolsets, id)?;
    let call = new_call(storage, context, &toolsets);
    let claimed = (follow_ups.claim)(&call, number, lease_seconds);
    Ok(Outcome::from_value(call, claimed.map(Value::Bool)))
}

/// Answers a follow-up with JSON, whose form depends on its kind. A second answer changes nothing.
///
/// # Errors
///
/// `NotFound` as for [`claim`]. `InvalidRequest` if the payload does not have the form of the kind, or
/// a toolset does not accept the settings.
pub fn answer(
    storage: &dyn Storage,
    id: &str,
    payload: &str,
    context: &Context,
) -> Result<Outcome, Failure> {
    let toolsets = mounted(&context.settings)?;
    let (follow_ups, number) = find_follow_up(&toolsets, id)?;
    let payload = serde_json::from_str(payload)
        .map_err(|error| Failure::invalid(format!("the answer cannot be read: {error}")))?;
    let call = new_call(storage, context, &toolsets);
    let answered = (follow_ups.answer)(&call, number, payload);
    Ok(Outcome::from_value(call, answered))
}

/// The toolset and the number in the id of a follow-up.
fn find_follow_up(
    toolsets: &[&'static Toolset],
    id: &str,
) -> Result<(&'static FollowUps, i64), Failure> {
    let of = |toolset: &&'static Toolset| {
        let number = id.strip_prefix(toolset.name)?.strip_prefix('/')?.parse().ok()?;
        Some((toolset.follow_ups?, number))
    };
    let found = toolsets.iter().find_map(of);
    found.ok_or_else(|| Failure::not_found(format!("no follow-up `{id}` is mounted")))
}

/// Parses the text of a registry of stores. The answer is a JSON object from names to `{"path",
/// "description"?, "unusable"?, "warnings"?}`. `unusable` is the reason why a store cannot be used.
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

/// Checks settings, as every call does.
///
/// # Errors
///
/// `InvalidRequest` for the name of an unknown toolset, or if a toolset does not accept its settings.
pub fn check_settings(settings: &Settings) -> Result<(), Failure> {
    mounted(settings).map(drop)
}

/// The mounted toolsets.
///
/// # Errors
///
/// `InvalidRequest` for the name of an unknown toolset, or if a toolset does not accept its settings.
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

fn new_call<'a>(
    storage: &'a dyn Storage,
    context: &'a Context,
    toolsets: &[&'static Toolset],
) -> Call<'a> {
    let sources = toolsets.iter().filter_map(|toolset| toolset.search).collect();
    let resumes = toolsets.iter().filter_map(|toolset| toolset.resume).collect();
    let forgets = toolsets.iter().filter_map(|toolset| toolset.forget).collect();
    Call::new(storage, context, sources, resumes, forgets, tool_names(toolsets))
}

/// The names of tools, and how many of the toolsets have a tool of that name.
fn tool_names(toolsets: &[&'static Toolset]) -> BTreeMap<&'static str, usize> {
    let mut names = BTreeMap::new();
    for tool in toolsets.iter().flat_map(|toolset| toolset.tools) {
        *names.entry(tool.name).or_default() += 1;
    }
    names
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
    let counts = tool_names(toolsets);
    let names = toolsets.iter().flat_map(|toolset| {
        toolset.tools.iter().map(|tool| match counts[tool.name] {
            1 => format!("`{}`", tool.name),
            _ => format!("`{}`", toolset.qualified(tool.name)),
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
