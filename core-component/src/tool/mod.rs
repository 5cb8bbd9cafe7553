//! A tool is one function from an input struct to an output struct. Its name, schemas, texts and
//! hints are defined by these types alone.

mod check;
mod lenient;
mod only;
mod schema;

use std::any::Any;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

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
    /// The name: snake case, at most 30 characters, because clients add a prefix and limit the
    /// total length.
    const NAME: &'static str;
    const HINTS: Hints;
    const AUDIENCE: Audience = Audience::Model;
    /// Whether clients always show the tool to the model. Some clients hide other tools until the
    /// model searches for them. One to three tools of a toolset should have this.
    const IS_ALWAYS_VISIBLE: bool = false;
    type Input: DeserializeOwned + schemars::JsonSchema;
    type Output: Serialize + schemars::JsonSchema;
    type Error: ToolError + 'static;

    fn run(call: &Call<'_>, input: Self::Input) -> Result<Self::Output, Self::Error>;
}

/// One call of a tool: all that the tool's function gets besides its input.
pub(crate) struct Call<'a> {
    pub storage: &'a dyn Storage,
    pub context: &'a Context,
    /// The mounted toolsets that can be searched.
    pub sources: Vec<Source>,
    /// The mounted toolsets that contribute to `resume_memory`.
    pub resumes: Vec<Resume>,
    /// The mounted toolsets that can remove entries for `forget_memory`.
    pub forgets: Vec<Forget>,
    /// For each tool name, the number of mounted toolsets that have a tool of this name.
    tool_names: BTreeMap<&'static str, usize>,
    /// The URIs of the resources that the call has changed.
    pub changed: RefCell<Vec<String>>,
    /// Work that the call leaves to the host.
    pub follow_ups: RefCell<Vec<FollowUp>>,
    /// The vector that the call asks the host for, because it would improve the answer.
    pub wants_vector: RefCell<Option<WantedVector>>,
    /// The file that a search has read last. The search reads its hits from it, so that a large file is
    /// read once.
    pub kept_file: RefCell<Option<Rc<dyn Any>>>,
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
            kept_file: RefCell::default(),
        }
    }

    /// Returns the name under which a tool of a mounted toolset is listed, for messages. The
    /// toolset is a prefix if several mounted toolsets have a tool of this name.
    pub fn listed(&self, toolset: &str, tool: &str) -> String {
        match self.tool_names.get(tool) {
            Some(2..) => format!("{toolset}_{tool}"),
            _ => tool.to_owned(),
        }
    }

    /// Asks the host to embed the texts of an owner that has changed. Does nothing if there is no
    /// embedder or if `search_memory` is not mounted.
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
    /// Whether the entries of the toolset belong to agents.
    pub keeps_by_agent: bool,
    /// Adds the entries that the request asks for and the caller may use.
    pub collect: fn(&Call<'_>, &mut Collector<'_>) -> Checked<()>,
    /// Reads the entries of documents that an index has found, by their keys. The result of a
    /// document is `None` if the document no longer exists.
    pub read: fn(&Call<'_>, &Owner, &[&DocumentKey]) -> Checked<ReadDocuments>,
    /// Lists the collections that the caller may use, each with its owner and its place.
    pub collections: fn(&Call<'_>) -> Checked<Vec<OwnedCollection>>,
}

/// A toolset as a source of the parts of `resume_memory`.
#[derive(Clone, Copy)]
pub(crate) struct Resume {
    pub toolset: &'static str,
    /// The name of the tool with which an agent keeps its first memory.
    pub first_tool: &'static str,
    /// Adds the parts that the caller may read. Reads only the newest entries of each part.
    pub collect: fn(&Call<'_>, &mut Parts<'_>) -> Checked<()>,
}

/// How a toolset removes the entries that a person wants forgotten.
#[derive(Clone, Copy)]
pub(crate) struct Forget {
    pub toolset: &'static str,
    /// Removes the entries wherever the caller may change them. Reports what could not be searched
    /// or changed.
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

/// The result of a function that serves any toolset: the error type depends on the toolset.
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
    /// The category, which tells the caller's next step.
    pub category: Category,
    /// The error code of the toolset.
    pub code: String,
    /// The error: what was wrong, where, and what to do.
    pub message: String,
    /// The error as JSON in the toolset's own form, as models get it.
    pub json: String,
}

impl Refusal {
    /// Creates a refusal. `code` is the serialized name of the error code; `json` is the whole
    /// error.
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

/// Adds the names of the usable stores to the violation of the argument `store`, if there is one.
fn name_stores(call: &Call<'_>, violations: &mut [Violation]) {
    let of_store = |violation: &&mut Violation| violation.pointer.strip_prefix('/') == Some(STORE);
    let Some(violation) = violations.iter_mut().find(of_store) else { return };
    violation.accepted += &match stores(call) {
        Ok(stores) if stores.is_empty() => "; there is no store yet".to_owned(),
        Ok(stores) => format!("; there are {}", listed(&stores, MAX_NAMES)),
        // Only a note: the violation is reported even if the stores cannot be listed.
        Err(error) => format!("; the stores could not be listed: {}", error.refusal().message),
    };
}

/// Returns the names of the stores that the caller may use, in byte order.
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
