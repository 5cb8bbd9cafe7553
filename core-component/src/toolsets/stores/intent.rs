//! The intent of a call that changes several memories: a document in the bookkeeping area that
//! lists all changes. It is written before the first change.
//!
//! If the call stops midway, the next writer of the store completes it. It expects that each
//! document has its version from before or after its change. If another program has changed a
//! document meanwhile, the intent is set aside: the rest of the call is given up, and nothing is
//! overwritten. An intent that no call can have written is set aside, too: another program may have
//! damaged or forged the file.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::error::Error;
use super::path::is_file;
use super::store::Store;
use crate::storage::{
    self, Area, Change, Document, ErrorCode, MAX_CHANGES, MAX_DOCUMENT_BYTES, Splice, Tree, Writer,
    version_of,
};

pub(super) const PATH: &str = "intent.json";

/// The tools that write intents.
const TOOLS: [&str; 4] = ["move_memory", "prune_memories", "reindex_store", "import_memories"];

/// The maximum number of steps, enough for 500 memories with the indexes of ten categories each.
const MAX_STEPS: usize = 6_000;

/// One change of a document, with the versions of the document before and after the change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum Step {
    /// Creates a document, which must not exist.
    Create {
        path: String,
        contents: String,
        after: String,
    },
    Edit {
        path: String,
        splices: Vec<TextSplice>,
        before: String,
        after: String,
    },
    Delete {
        path: String,
        before: String,
    },
    Rename {
        from: String,
        to: String,
        version: String,
    },
}

/// The replacement of a range of bytes by a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TextSplice {
    start: usize,
    end: usize,
    text: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Intent {
    tool: String,
    steps: Vec<Step>,
}

impl Step {
    /// Returns the path of the document if this is a [`Step::Delete`]. `None` for a rename.
    pub fn deleted(&self) -> Option<&str> {
        match self {
            Self::Delete { path, .. } => Some(path),
            _ => None,
        }
    }
}

/// Why some or all of the changes were not made.
pub(super) enum CommitError {
    /// Another program changed a file after it was read. No change was made.
    Conflict(Error),
    Other(Error),
}

impl CommitError {
    pub fn from_storage(failed: storage::CommitError) -> Self {
        match failed.error.code {
            ErrorCode::VersionMismatch if failed.applied == 0 => Self::Conflict(failed.into()),
            _ => Self::Other(failed.into()),
        }
    }
}

/// The progress of a step of an interrupted call.
#[derive(PartialEq, Eq)]
enum Progress {
    Pending,
    Done,
    /// The document is not as the step expects: another program has changed it.
    Conflict,
    /// The result of the step would not have the version that the step names, so no call wrote the
    /// step.
    Invalid,
}

impl Intent {
    /// Whether a call can have written the intent. It names a known tool, each path is that of a
    /// memory or an index, and no path is listed twice.
    fn is_valid(&self) -> bool {
        let paths: Vec<&str> = self.steps.iter().flat_map(Step::paths).collect();
        TOOLS.contains(&self.tool.as_str())
            && self.steps.len() <= MAX_STEPS
            && paths.iter().all(|path| is_file(path))
            && paths.iter().collect::<BTreeSet<_>>().len() == paths.len()
    }
}

impl Step {
    pub fn create(path: String, contents: String) -> Self {
        let after = version_of(contents.as_bytes());
        Self::Create { path, contents, after }
    }

    /// Returns the step that edits a document. `text` and `version` are those before the edit.
    pub fn edit(path: String, text: &str, version: &str, splices: Vec<Splice>) -> Self {
        let edited = Splice::all_of_text(&splices, text);
        let splice = |splice: Splice| TextSplice {
            start: splice.range.start,
            end: splice.range.end,
            text: String::from_utf8_lossy(&splice.inserts).into_owned(),
        };
        let splices = splices.into_iter().map(splice).collect();
        Self::Edit {
            path,
            splices,
            before: version.to_owned(),
            after: version_of(edited.as_bytes()),
        }
    }

    /// Returns the paths that the step changes.
    pub fn paths(&self) -> Vec<&str> {
        match self {
            Self::Create { path, .. } | Self::Edit { path, .. } | Self::Delete { path, .. } => {
                vec![path]
            }
            Self::Rename { from, to, .. } => vec![from, to],
        }
    }

    pub fn change(&self) -> Change {
        let area = Area::Documents;
        match self.clone() {
            Self::Create { path, contents, .. } => {
                Change::Put { area, path, contents: contents.into_bytes(), expects: None }
            }
            Self::Edit { path, splices, before, .. } => {
                let splice = |TextSplice { start, end, text }| Splice {
                    range: start..end,
                    inserts: text.into_bytes(),
                };
                let splices = splices.into_iter().map(splice).collect();
                Change::Edit { area, path, splices, expects: before }
            }
            Self::Delete { path, before } => Change::Delete { area, path, expects: before },
            Self::Rename { from, to, version } => {
                Change::Rename { area, from, to, expects: version }
            }
        }
    }

    fn progress(&self, tree: &dyn Tree) -> Result<Progress, storage::Error> {
        let (path, before, after) = match self {
            Self::Create { path, after, .. } => (path, None, Some(after)),
            Self::Edit { path, before, after, .. } => (path, Some(before), Some(after)),
            Self::Delete { path, before } => (path, Some(before), None),
            Self::Rename { from, to, version } => {
                let from = found(tree, from)?;
                let to = found(tree, to)?;
                return Ok(match (from, to) {
                    (Found::Document(at), Found::Nothing) if at.version == *version => {
                        Progress::Pending
                    }
                    (Found::Nothing, Found::Document(at)) if at.version == *version => {
                        Progress::Done
                    }
                    _ => Progress::Conflict,
                });
            }
        };
        let now = match found(tree, path)? {
            Found::Nothing => None,
            Found::Document(document) => Some(document),
            Found::Other => return Ok(Progress::Conflict),
        };
        let version = now.as_ref().map(|now| &now.version);
        Ok(match now.as_ref() {
            _ if version == after => Progress::Done,
            now if version == before => {
                if self.leads_to(now, after) {
                    Progress::Pending
                } else {
                    Progress::Invalid
                }
            }
            _ => Progress::Conflict,
        })
    }

    /// Whether the document would have the version `after` after this step.
    fn leads_to(&self, now: Option<&Document>, after: Option<&String>) -> bool {
        let changed = match (self.change(), now) {
            (Change::Put { contents, .. }, _) => Some(contents),
            (Change::Edit { splices, .. }, Some(now)) => {
                Splice::all(&splices, now.contents.clone())
            }
            _ => return after.is_none(),
        };
        let fits = |changed: &Vec<u8>| changed.len() as u64 <= MAX_DOCUMENT_BYTES;
        changed.filter(fits).is_some_and(|changed| Some(&version_of(&changed)) == after)
    }
}

/// Writes the intent, makes its changes, and deletes the intent.
pub(super) fn commit(writer: &dyn Writer, tool: &str, steps: &[Step]) -> Result<(), CommitError> {
    let intent = Intent { tool: tool.to_owned(), steps: steps.to_vec() };
    let contents =
        serde_json::to_vec(&intent).map_err(|error| CommitError::Other(internal(&error)))?;
    let version = version_of(&contents);
    let put =
        Change::Put { area: Area::Bookkeeping, path: PATH.to_owned(), contents, expects: None };
    writer.commit(&[put]).map_err(CommitError::from_storage)?;
    make(writer, steps.iter(), &version)
        .map_err(|failed| CommitError::Other(Error::from(failed.error).after_change()))
}

/// If there is an intent, completes its interrupted call under the lock, as the next writer would. Returns
/// the warnings.
pub(super) fn complete(store: &Store<'_>) -> Result<Vec<String>, Error> {
    if store.tree.stat(Area::Bookkeeping, PATH)?.is_none() {
        return Ok(Vec::new());
    }
    let writer = store.tree.lock(None)?;
    recover(&*store.tree, &*writer, false)
}

/// If there is an intent, completes its interrupted call. Returns a warning if the call cannot be
/// completed. `is_replaced` means that the caller will write its own intent to the same path. Then
/// an old intent that cannot be set aside is an error.
///
/// # Errors
///
/// An error of storage. The intent then stays, and the next writer tries again.
pub(super) fn recover(
    tree: &dyn Tree,
    writer: &dyn Writer,
    is_replaced: bool,
) -> Result<Vec<String>, Error> {
    let document = match tree.read(Area::Bookkeeping, PATH, MAX_DOCUMENT_BYTES) {
        // No call writes so long an intent. Renaming it needs its version, which is unknown, so it
        // cannot be set aside.
        Err(error) if error.code == ErrorCode::TooLarge => {
            let error = Error::from(error).with_suffix(TOO_LONG);
            return if is_replaced { Err(error) } else { Ok(vec![error.message().to_owned()]) };
        }
        read => read?,
    };
    let Some(Document { contents, version }) = document else { return Ok(Vec::new()) };
    let intent = serde_json::from_slice(&contents).ok().filter(Intent::is_valid);
    let Some(Intent { tool, steps }) = intent else {
        set_aside(tree, writer, version)?;
        return Ok(vec![NOT_AN_INTENT.to_owned()]);
    };
    let overtaken = |paths: &[&str]| {
        let paths: Vec<_> = paths.iter().map(|path| format!("`{path}`")).collect();
        vec![format!(
            "a call of `{tool}` was interrupted, and {} has changed since: the rest of that call was \
             given up; look at {0} and call `reindex_store`",
            paths.join(" or ")
        )]
    };
    let mut pending = Vec::new();
    for step in &steps {
        match step.progress(tree)? {
            Progress::Done => {}
            Progress::Pending => pending.push(step),
            Progress::Conflict => {
                set_aside(tree, writer, version)?;
                return Ok(overtaken(&step.paths()));
            }
            Progress::Invalid => {
                set_aside(tree, writer, version)?;
                return Ok(vec![NOT_AN_INTENT.to_owned()]);
            }
        }
    }
    let Err(failed) = make(writer, pending.iter().copied(), &version) else {
        return Ok(Vec::new());
    };
    // The rest is given up if something unexpected is at a path, such as a file in place of a category,
    // or a document that has changed. After any other error, the next writer tries again.
    let step = failed.change.and_then(|at| pending.get(at as usize));
    let Some(step) = step.filter(|_| is_obstacle(failed.error.code)) else {
        return Err(failed.into());
    };
    set_aside(tree, writer, version)?;
    Ok(overtaken(&step.paths()))
}

const NOT_AN_INTENT: &str = "the record of an interrupted call could not be used and was set aside: call \
                             `reindex_store`";

const TOO_LONG: &str = "; it is not the record of an interrupted call: delete it from the bookkeeping of \
                        the store, and call `reindex_store`";

/// Whether an error means that a document or a directory is not as the intent expects.
fn is_obstacle(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::InvalidPath | ErrorCode::AlreadyExists | ErrorCode::VersionMismatch)
}

/// Makes the changes, and deletes the intent in the same commit as the last change.
fn make<'s>(
    writer: &dyn Writer,
    steps: impl Iterator<Item = &'s Step>,
    intent: &str,
) -> Result<(), storage::CommitError> {
    let mut changes: Vec<_> = steps.map(Step::change).collect();
    changes.push(Change::Delete {
        area: Area::Bookkeeping,
        path: PATH.to_owned(),
        expects: intent.to_owned(),
    });
    changes.chunks(MAX_CHANGES).enumerate().try_for_each(|(chunk, changes)| {
        let at = |change: u32| change + (chunk * MAX_CHANGES) as u32;
        writer
            .commit(changes)
            .map(drop)
            .map_err(|failed| storage::CommitError { change: failed.change.map(at), ..failed })
    })
}

/// Moves the intent to the directory `set-aside`, so that a person can look at it.
fn set_aside(tree: &dyn Tree, writer: &dyn Writer, version: String) -> Result<(), Error> {
    let to = format!("set-aside/{}.json", &version[..16]);
    let area = Area::Bookkeeping;
    let path = PATH.to_owned();
    let change = match tree.stat(area, &to)? {
        None => Change::Rename { area, from: path, to, expects: version },
        // An equal intent was set aside before, so this one is deleted.
        Some(_) => Change::Delete { area, path, expects: version },
    };
    writer.commit(&[change]).map(drop).map_err(Error::from)
}

/// What is at the path of a document.
enum Found {
    Nothing,
    Document(Document),
    /// A directory, a link or a file that is too long: no call can have written it.
    Other,
}

fn found(tree: &dyn Tree, path: &str) -> Result<Found, storage::Error> {
    match tree.read(Area::Documents, path, MAX_DOCUMENT_BYTES) {
        Ok(None) => Ok(Found::Nothing),
        Ok(Some(document)) => Ok(Found::Document(document)),
        Err(error) if matches!(error.code, ErrorCode::TooLarge | ErrorCode::InvalidPath) => {
            Ok(Found::Other)
        }
        Err(error) => Err(error),
    }
}

fn internal(error: &serde_json::Error) -> Error {
    crate::tool::ToolError::internal(error.to_string())
}
