use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Code, Error};
use crate::existing::store_not_granted;
use crate::forget::{Forgetting, Forgotten, Found, REMOVED, Wanted, Within};
use crate::names::{AgentName, StoreName};
use crate::text::normalise_line_ends;
use crate::tool::{Call, Hints, Tool};

/// The minimum number of characters of a text, without surrounding white space. A shorter text
/// would occur in too many other words.
const MIN_TEXT: usize = 4;

pub(super) struct ForgetMemory;

/// Removes a secret or something wrong for good, from every mounted toolset: entries, archived ones,
/// summaries, episodes, compost, logs, backups and the search index. Pass one of `text`, `id` and
/// `path`. `found` says where it was, `left` what could not be searched or changed, `remains` where
/// copies may still be: tell the user. It cannot be undone.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Forget for good")]
pub(super) struct Input {
    /// Removed wherever it is stored exactly so, in the same case: `(removed)` takes its place. At least 4 characters.
    #[schemars(length(min = 4, max = 1000), regex(pattern = r"\S"))]
    text: Option<String>,
    /// The `id` of a hit of `search_memory`: this entry, whole. Of layers, with its `section` and `agent`.
    #[schemars(length(min = 1, max = 100), extend("takesInteger" = true))]
    id: Option<String>,
    /// The `path` of a hit: this page of a `store`, this memory file, this summary, or all entries of this log, whole.
    #[schemars(length(min = 1, max = 1000))]
    path: Option<String>,
    /// With `id`: the `section` of the hit.
    #[schemars(length(min = 1, max = 100))]
    section: Option<String>,
    /// Only what this agent kept, and all stores, memory files and items.
    agent: Option<AgentName>,
    /// Of the session logs, only those of this repository: its absolute path.
    #[schemars(length(min = 1, max = 4096))]
    repo_root: Option<String>,
    /// Of the stores, only this one.
    store: Option<StoreName>,
    /// Only tell what would be removed. Changes nothing.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    // The entries and documents that had it. It has been removed from them, unless `dry_run` is
    // true.
    found: Vec<Found>,
    // The number of further entries and documents that had it.
    #[serde(skip_serializing_if = "is_zero")]
    not_named: u64,
    dry_run: bool,
    // What was not searched or not changed, and what to do about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left: Vec<String>,
    // Where copies may remain.
    remains: Vec<String>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The places of copies that this program cannot remove.
const ELSEWHERE: &str = "other machines, exports, backups by other programs, and conversations that models or \
                         clients keep: remove it there, and change a secret that leaked";

impl Tool for ForgetMemory {
    const NAME: &'static str = "forget_memory";
    const HINTS: Hints = Hints::REMOVES;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let text = input.text.as_deref().map(normalise_line_ends);
        let text = text.as_deref().map(str::trim).map(checked).transpose()?;
        let within = Within {
            agent: input.agent.as_ref(),
            repo_root: input.repo_root.as_deref(),
            store: input.store.as_ref().map(StoreName::as_str),
        };
        check_reach(call, within)?;
        let mut forgetting = Forgetting::new(wanted(text, &input)?, within, input.dry_run);
        for forget in &call.forgets {
            if let Err(error) = (forget.run)(call, &mut forgetting) {
                let message = error.refusal().message;
                forgetting.leave(format!("`{}` was not searched: {message}", forget.toolset));
            }
        }
        let Forgotten { found, not_named, left, remains } = forgetting.forgotten();
        if found.is_empty() && left.is_empty() {
            return Err(Error::new(Code::NotFound, NOT_FOUND));
        }
        let left = bounded(left);
        let remains = remains.into_iter().chain([ELSEWHERE]).map(str::to_owned).collect();
        Ok(Output { found, not_named, dry_run: input.dry_run, left, remains })
    }
}

/// The maximum number of entries of `left` in an answer.
const MAX_LEFT: usize = 20;

/// Keeps at most [`MAX_LEFT`] entries, and adds an entry with the number of the others.
fn bounded(mut left: Vec<String>) -> Vec<String> {
    let more = left.len().saturating_sub(MAX_LEFT);
    if more > 0 {
        left.truncate(MAX_LEFT);
        left.push(format!("{more} more may have it: do what these say, and call again"));
    }
    left
}

const NOT_FOUND: &str = "nothing that is mounted and within reach has it now: a text is searched exactly as it \
                         is stored, in the same case, and ids and paths are those of `search_memory`, an id of \
                         layers with its `section` and `agent`; Git history and other machines may have it";

/// Refuses a text that is too short, or that is a part of the mark `(removed)`.
fn checked(text: &str) -> Result<&str, Error> {
    let refused = |message: &str, accepted: String| {
        Err(Error::at(Code::InvalidInput, message, "text", accepted))
    };
    if text.chars().count() < MIN_TEXT {
        let message = "`text` is too short: it would be in many other words; pass more of it";
        return refused(
            message,
            format!("at least {MIN_TEXT} characters without the space around"),
        );
    }
    if REMOVED.contains(text) {
        let message = "`text` is a part of the mark that takes the place of a removed text";
        return refused(message, format!("a text that is not in `{REMOVED}`"));
    }
    Ok(text)
}

/// Returns what is to be removed: exactly one of a text, an id and a path.
fn wanted<'a>(text: Option<&'a str>, input: &'a Input) -> Result<Wanted<'a>, Error> {
    let refused = |message: &str| Err(Error::new(Code::InvalidInput, message));
    let Input { id, path, section, agent, store, .. } = input;
    if id.is_none() && section.is_some() {
        return refused("a `section` goes with the `id` of its hit: leave it out");
    }
    match (text, id.as_deref(), path.as_deref()) {
        (Some(text), None, None) => Ok(Wanted::Text(text)),
        // Paths of logs begin with `.github/`, and those of memory files with `/memories/`.
        (None, None, Some(path)) if store.is_none() && !path.starts_with(['.', '/']) => {
            refused("a `path` of a page needs the `store` of its hit")
        }
        (None, None, Some(path)) => Ok(Wanted::Document(path)),
        (None, Some(id), None) => match (id.parse(), section) {
            (Ok(id), Some(layer)) if agent.is_some() => Ok(Wanted::Row { layer, id }),
            (Ok(_), Some(_)) => refused("an `id` of layers needs the `agent` of its hit"),
            // Without a `section`, a number is the id of a record, too: other programs number their
            // records.
            _ => Ok(Wanted::Record(id)),
        },
        _ => refused("pass exactly one of `text`, `id` and `path`"),
    }
}

/// Refuses an agent or a store that the caller may not use.
fn check_reach(call: &Call<'_>, within: Within<'_>) -> Result<(), Error> {
    if let Some(agent) = within.agent {
        Error::check_access(call, agent.as_str())?;
    }
    match within.store {
        Some(store) if !call.context.reaches_store(store) => {
            Err(Error::new(Code::PermissionError, store_not_granted(call.context, store)))
        }
        _ => Ok(()),
    }
}
