//! The intent of a call that changes several memories: a document in the bookkeeping area that names
//! every change before the first is made.
//!
//! If the call stops midway, the next writer of the store completes it. Each document is then at the
//! version before its change or at the one after it. If a person or Git has changed one meanwhile, the
//! intent is moved aside and nothing is overwritten.

use serde::{Deserialize, Serialize};

use super::error::Error;
use crate::storage::{
    self, Area, Change, Documents, ErrorCode, MAX_CHANGES, MAX_DOCUMENT_BYTES, Splice, Tree,
    Writer, version_of,
};

const PATH: &str = "intent.json";

/// One change of a document, with the versions before and after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum Step {
    /// Creates a document.
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

/// A replacement for a range of bytes.
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

/// Why changes were not committed.
pub(super) enum CommitError {
    /// Another program changed a file between reading and writing, and nothing was changed.
    Conflict(Error),
    Other(Error),
}

impl CommitError {
    pub fn of(failed: storage::CommitError) -> Self {
        match failed.error.code {
            ErrorCode::VersionMismatch if failed.applied == 0 => Self::Conflict(failed.into()),
            _ => Self::Other(failed.into()),
        }
    }
}

/// How far a step of an interrupted call has come.
#[derive(PartialEq, Eq)]
enum Progress {
    Pending,
    Done,
    /// Another program has changed the document.
    Overtaken,
}

impl Step {
    pub fn create(path: String, contents: String) -> Self {
        let after = version_of(contents.as_bytes());
        Self::Create { path, contents, after }
    }

    /// Changes a document that has this text and version.
    pub fn edit(path: String, text: &str, version: &str, splices: Vec<Splice>) -> Self {
        let edited = Splice::all(&splices, text.as_bytes().to_vec()).unwrap_or_default();
        let splice = |splice: Splice| TextSplice {
            start: splice.range.start,
            end: splice.range.end,
            text: String::from_utf8_lossy(&splice.inserts).into_owned(),
        };
        let splices = splices.into_iter().map(splice).collect();
        Self::Edit { path, splices, before: version.to_owned(), after: version_of(&edited) }
    }

    /// The paths that it changes.
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
                let both = (version_at(tree, from)?, version_at(tree, to)?);
                return Ok(match both {
                    (Some(at), None) if at == *version => Progress::Pending,
                    (None, Some(at)) if at == *version => Progress::Done,
                    _ => Progress::Overtaken,
                });
            }
        };
        let now = version_at(tree, path)?;
        Ok(match now.as_ref() {
            now if now == after => Progress::Done,
            now if now == before => Progress::Pending,
            _ => Progress::Overtaken,
        })
    }
}

/// Writes the intent, makes its changes, and removes it.
pub(super) fn commit(writer: &dyn Writer, tool: &str, steps: &[Step]) -> Result<(), CommitError> {
    let intent = Intent { tool: tool.to_owned(), steps: steps.to_vec() };
    let contents =
        serde_json::to_vec(&intent).map_err(|error| CommitError::Other(internal(&error)))?;
    let version = version_of(&contents);
    let put =
        Change::Put { area: Area::Bookkeeping, path: PATH.to_owned(), contents, expects: None };
    writer.commit(&[put]).map_err(CommitError::of)?;
    make(writer, steps.iter(), &version)
        .map_err(|failed| CommitError::Other(Error::from(failed.error).after_change()))
}

/// Completes the call that was interrupted, if there is one. Returns a warning if that is not
/// possible.
///
/// # Errors
///
/// Those of storage. The intent then stays for the next writer.
pub(super) fn recover(tree: &dyn Tree, writer: &dyn Writer) -> Result<Vec<String>, Error> {
    let Some(document) = tree.read(Area::Bookkeeping, PATH, MAX_DOCUMENT_BYTES)? else {
        return Ok(Vec::new());
    };
    let version = document.version;
    let Ok(Intent { tool, steps }) = serde_json::from_slice(&document.contents) else {
        set_aside(tree, writer, version)?;
        let warning = "the record of an interrupted call could not be read and was set aside: call \
                       `reindex_store`";
        return Ok(vec![warning.to_owned()]);
    };
    let mut pending = Vec::new();
    for step in &steps {
        match step.progress(tree)? {
            Progress::Done => {}
            Progress::Pending => pending.push(step),
            Progress::Overtaken => {
                set_aside(tree, writer, version)?;
                let paths: Vec<_> = step.paths().iter().map(|path| format!("`{path}`")).collect();
                return Ok(vec![format!(
                    "a call of `{tool}` was interrupted, and {} has changed since: the rest of that \
                     call was given up; look at {0} and call `reindex_store`",
                    paths.join(" or ")
                )]);
            }
        }
    }
    make(writer, pending.into_iter(), &version)?;
    Ok(Vec::new())
}

/// Makes changes and removes the intent with the last of them.
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
    changes.chunks(MAX_CHANGES).try_for_each(|changes| writer.commit(changes).map(drop))
}

/// Moves the intent aside, so that a person can look at it.
fn set_aside(tree: &dyn Tree, writer: &dyn Writer, version: String) -> Result<(), Error> {
    let to = format!("set-aside/{}.json", &version[..16]);
    let (area, path) = (Area::Bookkeeping, PATH.to_owned());
    let change = match tree.stat(area, &to)? {
        None => Change::Rename { area, from: path, to, expects: version },
        // The same intent was set aside before.
        Some(_) => Change::Delete { area, path, expects: version },
    };
    writer.commit(&[change]).map(drop).map_err(Error::from)
}

fn version_at(
    tree: &(impl Documents + ?Sized),
    path: &str,
) -> Result<Option<String>, storage::Error> {
    let document = tree.read(Area::Documents, path, MAX_DOCUMENT_BYTES)?;
    Ok(document.map(|document| document.version))
}

fn internal(error: &serde_json::Error) -> Error {
    crate::tool::ToolError::internal(error.to_string())
}
