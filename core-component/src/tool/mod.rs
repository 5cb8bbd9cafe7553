//! A tool is one function from an input struct to an output struct. Its name, schemas, texts and
//! hints are defined by these types alone.

mod check;
mod lenient;
mod only;
mod schema;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::existing::MAX_NAMES;
use crate::follow_up::{FollowUp, WantedVector};
use crate::forget::Forgetting;
use crate::listing::listed;
use crate::resume::Parts;
use crate::source::{Collector, DocumentKey, OwnedCollection, Owner, ReadDocuments};
use crate::storage::Storage;

pub(crate) use check::Violation;
use only::STORE;
pub(crate) use only::name_the_only;
pub(crate) use schema::{is_name, without_required};

/// One tool of a toolset.
///
/// The doc comment of `Input` is the tool's description and its `title` attribute the tool's
/// title; the doc comments of its fields describe the parameters, and their constraints serve both
/// the listed schema and the check.
pub(crate) trait Tool {
    /// In snake case, at most 30 characters: clients add a prefix and limit the length of both.
    const NAME: &'static str;
    const HINTS: Hints;
    const AUDIENCE: Audience = Audience::Model;
    /// Whether a model always has to see it. Some clients hide the other tools until a model looks
    /// for them. One to three tools of a toolset are enough.
    const IS_ALWAYS_VISIBLE: bool = false;
    type Input: DeserializeOwned + schemars::JsonSchema;
    type Output: Serialize + schemars::JsonSchema;
    type Error: ToolError + 'static;

    fn run(call: &Call<'_>, input: Self::Input) -> Result<Self::Output, Self::Error>;
}

/// One call of a tool: everything that its function gets except the input.
pub(crate) struct Call<'a> {
    pub storage: &'a dyn Storage,
    pub context: &'a Context,
    /// The mounted toolsets that can be searched.
    pub sources: Vec<Source>,
    /// The mounted toolsets that have what an agent needs to go on.
    pub resumes: Vec<Resume>,
    /// The mounted toolsets that can remove what is to be forgotten.
    pub forgets: Vec<Forget>,
    /// The names of the mounted tools, and how many toolsets have a tool of that name.
    tool_names: BTreeMap<&'static str, usize>,
    /// The URIs of the resources that the call has changed.
    pub changed: RefCell<Vec<String>>,
    /// Work that the call leaves to the host.
    pub follow_ups: RefCell<Vec<FollowUp>>,
    /// The vector with which the answer would be better.
    pub wants_vector: RefCell<Option<WantedVector>>,
}

impl<'a> Call<'a> {
    pub fn new(
        storage: &'a dyn Storage,
        context: &'a Context,
        sources: Vec<Source>,
        resumes: Vec<Resume>,
        forgets: Vec<Forget>,
        tool_names: BTreeMap<&'static str, usize>,
    ) -> Self {
        Self {
            storage,
            context,
            sources,
            resumes,
            forgets,
            tool_names,
            changed: RefCell::default(),
            follow_ups: RefCell::default(),
            wants_vector: RefCell::default(),
        }
    }

    /// The name under which a tool of a mounted toolset is listed, for messages.
    pub fn listed(&self, toolset: &str, tool: &str) -> String {
        match self.tool_names.get(tool) {
            Some(2..) => format!("{toolset}_{tool}"),
            _ => tool.to_owned(),
        }
    }

    /// Leaves the texts of an owner that has changed to the embedder, if there is one and they can be
    /// searched.
    pub fn leave_vectors(&self, owner: &Owner) {
        let Some(model) = &self.context.embedder else { return };
        if self.has_tool("search_memory") {
            let follow_up = FollowUp::for_vectors(owner.number(), model);
            let mut left = self.follow_ups.borrow_mut();
            if !left.contains(&follow_up) {
                left.push(follow_up);
            }
        }
    }

    /// Whether a tool of this name is mounted.
    pub fn has_tool(&self, name: &str) -> bool {
        self.tool_names.contains_key(name)
    }
}

/// A toolset as a source of entries for a search.
#[derive(Clone, Copy)]
pub(crate) struct Source {
    pub toolset: &'static str,
    /// Whether its entries belong to agents.
    pub keeps_by_agent: bool,
    /// Adds the entries that the request asks for and the caller may use.
    pub collect: fn(&Call<'_>, &mut Collector<'_>) -> Checked<()>,
    /// Reads the entries of a document that an index brought, by its path. None if it has none any
    /// more.
    pub read: fn(&Call<'_>, &Owner, &[&DocumentKey]) -> Checked<ReadDocuments>,
    /// The collections of what the caller may use, each with its owner and its place.
    pub collections: fn(&Call<'_>) -> Checked<Vec<OwnedCollection>>,
}

/// A toolset as a source of what an agent needs to go on.
#[derive(Clone, Copy)]
pub(crate) struct Resume {
    pub toolset: &'static str,
    /// The tool that keeps the first memory.
    pub first_tool: &'static str,
    /// Adds the parts that the caller may read. It reads the newest of each, not everything.
    pub collect: fn(&Call<'_>, &mut Parts<'_>) -> Checked<()>,
}

/// How a toolset removes what is to be forgotten.
#[derive(Clone, Copy)]
pub(crate) struct Forget {
    pub toolset: &'static str,
    /// Removes it wherever the caller may change it, and tells what it could not search or change.
    pub run: fn(&Call<'_>, &mut Forgetting<'_>) -> Checked<()>,
}

/// The message for arguments that violate the schema.
pub(crate) fn not_accepted(violations: &[Violation]) -> String {
    let fields: Vec<_> = violations
        .iter()
        .map(|violation| format!("`{}` takes {}", violation.pointer, violation.accepted))
        .collect();
    format!("the arguments are not accepted: {}", fields.join("; "))
}

/// The error type of a toolset.
pub(crate) trait ToolError {
    fn invalid_input(violations: Vec<Violation>) -> Self
    where
        Self: Sized;
    fn internal(message: String) -> Self
    where
        Self: Sized;
    /// The error in the form that hosts get.
    fn refusal(&self) -> Refusal;
}

/// A result of something that is no tool: its error is that of any toolset.
pub(crate) type Checked<T> = Result<T, Box<dyn ToolError>>;

/// The category of an error, which tells what the caller can do. `wit/toolbox` documents each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "`wit/toolbox` documents each")]
pub enum Category {
    Invalid,
    NotFound,
    Limit,
    Damaged,
    Busy,
    Denied,
    Storage,
    Internal,
}

/// An error of a tool in the form that hosts get, the same for every toolset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// It tells the caller's next step.
    pub category: Category,
    /// The error code of the toolset.
    pub code: String,
    /// The error: what was wrong, where, and what to do.
    pub message: String,
    /// The error as JSON in the toolset's own form, as models get it.
    pub json: String,
}

impl Refusal {
    /// `code` has its name from its JSON; `json` is the whole error.
    pub(crate) fn new(
        category: Category,
        code: impl Serialize,
        message: &str,
        json: &Value,
    ) -> Self {
        let code = json!(code).as_str().unwrap_or_default().to_owned();
        Self { category, code, message: message.to_owned(), json: json.to_string() }
    }
}

/// The effect of a tool on what is stored. Clients use it to decide whether a model may call it.
#[derive(Clone, Copy)]
pub(crate) struct Hints {
    pub read_only: bool,
    pub destructive: bool,
    pub idempotent: bool,
}

impl Hints {
    pub const READS: Self = Self { read_only: true, destructive: false, idempotent: true };
    pub const CREATES: Self = Self { read_only: false, destructive: false, idempotent: true };
    pub const ADDS: Self = Self { read_only: false, destructive: false, idempotent: false };
    pub const OVERWRITES: Self = Self { read_only: false, destructive: true, idempotent: false };
    pub const REMOVES: Self = Self { read_only: false, destructive: true, idempotent: true };
}

/// The callers of a tool.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Audience {
    /// A model calls it.
    Model,
    /// A person calls it with a command of the host.
    Person,
}

/// A tool without its types, so that a toolset can have a list of tools.
pub(crate) struct ErasedTool {
    pub name: &'static str,
    /// The tool's part of `describe` in `wit/toolbox`.
    pub describe: fn(qualified_name: &str, shared_with: &[&str]) -> Value,
    /// Runs the tool and returns the output as JSON.
    pub run: fn(&Call<'_>, Map<String, Value>) -> Result<String, Refusal>,
}

impl ErasedTool {
    pub const fn new<T: Tool>() -> Self {
        Self { name: T::NAME, describe: describe::<T>, run: run::<T> }
    }
}

fn describe<T: Tool>(qualified_name: &str, shared_with: &[&str]) -> Value {
    let mut input = schema::of_input::<T::Input>();
    let mut output = schema::of_output::<T::Output>();
    let mut text = |keyword| input.remove(keyword).expect("every input has a title and a doc");
    let title = text("title");
    let description = text("description");
    output.remove("title");
    output.remove("description");
    json!({
        "name": T::NAME,
        "qualified_name": qualified_name,
        "shared_with": shared_with,
        "title": title,
        "description": description,
        "inputSchema": input,
        "outputSchema": output,
        "annotations": {
            "readOnlyHint": T::HINTS.read_only,
            "destructiveHint": T::HINTS.destructive,
            "idempotentHint": T::HINTS.idempotent,
            "openWorldHint": false,
        },
        "audience": T::AUDIENCE,
        "always_visible": T::IS_ALWAYS_VISIBLE,
    })
}

/// Names the stores that the caller may use where the argument for one is missing or wrong.
fn name_stores(call: &Call<'_>, violations: &mut [Violation]) {
    let of_store = |violation: &&mut Violation| violation.pointer.strip_prefix('/') == Some(STORE);
    let Some(violation) = violations.iter_mut().find(of_store) else { return };
    violation.accepted += &match stores(call) {
        Ok(stores) if stores.is_empty() => "; there is no store yet".to_owned(),
        Ok(stores) => format!("; there are {}", listed(&stores, MAX_NAMES)),
        // The violation is told all the same.
        Err(error) => format!("; the stores could not be listed: {}", error.refusal().message),
    };
}

/// The names of the stores that the caller may use, in byte order.
fn stores(call: &Call<'_>) -> Checked<Vec<String>> {
    let mut names = BTreeSet::new();
    for source in call.sources.iter().filter(|source| !source.keeps_by_agent) {
        let collections = (source.collections)(call)?;
        names.extend(collections.into_iter().filter_map(|collection| collection.owner.store));
    }
    Ok(names.into_iter().collect())
}

fn run<T: Tool>(call: &Call<'_>, mut arguments: Map<String, Value>) -> Result<String, Refusal> {
    let schema = schema::of_checked::<T::Input>();
    lenient::rewrite(&schema, &mut arguments);
    only::name_the_only(call.context, &mut arguments, |name| {
        check::properties(&schema).any(|(property, _)| property == name)
    });
    let mut violations = check::violations(&schema, &arguments);
    if check::properties(&schema).any(|(property, _)| property == STORE) {
        name_stores(call, &mut violations);
    }
    let output = if violations.is_empty() {
        T::Input::deserialize(arguments)
            .map_err(|error| T::Error::internal(error.to_string()))
            .and_then(|input| T::run(call, input))
    } else {
        Err(T::Error::invalid_input(violations))
    };
    let written = output.and_then(|output| {
        serde_json::to_string(&output).map_err(|error| T::Error::internal(error.to_string()))
    });
    written.map_err(|error| error.refusal())
}
