//! What a commit does to documents in memory: every change is checked before the first is made.

use super::{Documents, check_path, version_of};
use crate::storage::{Area, Change, CommitError, Error, ErrorCode, MAX_DOCUMENT_BYTES, Splice};

/// Makes all changes, or none; the version of each document that is there afterwards.
pub(super) fn commit(
    documents: &mut Documents,
    changes: &[Change],
) -> Result<Vec<Option<String>>, CommitError> {
    let mut effects = Vec::new();
    for (index, change) in changes.iter().enumerate() {
        let checked = check_consistent(changes, index);
        let effect = checked.and_then(|()| effect(documents, change));
        effects.push(effect.map_err(|error| CommitError {
            error,
            change: Some(index as u32),
            applied: 0,
        })?);
    }
    Ok(effects.into_iter().map(|effect| apply(documents, effect)).collect())
}

/// Refuses a change of a path that another one changes too, or below one that another writes.
fn check_consistent(changes: &[Change], index: usize) -> Result<(), Error> {
    for (area, path, _) in targets(&changes[index]) {
        for (other, change) in changes.iter().enumerate() {
            for (of, at, is_written) in targets(change) {
                let is_twice = other < index && at == path;
                let is_below =
                    is_written && path.strip_prefix(at).is_some_and(|rest| rest.starts_with('/'));
                if of == area && (is_twice || is_below) {
                    let message =
                        format!("`{path}` and `{at}` cannot both be changed in one commit");
                    return Err(Error::new(ErrorCode::InvalidPath, message));
                }
            }
        }
    }
    Ok(())
}

/// The paths that a change writes or deletes, each with whether it is written.
fn targets(change: &Change) -> Vec<(Area, &str, bool)> {
    match change {
        Change::Put { area, path, .. } | Change::Edit { area, path, .. } => {
            vec![(*area, path, true)]
        }
        Change::Delete { area, path, .. } => vec![(*area, path, false)],
        Change::Copy { area, to, .. } => vec![(*area, to, true)],
        Change::Rename { area, from, to, .. } => vec![(*area, from, false), (*area, to, true)],
    }
}

/// A change that was checked: the contents that it leaves at its path, or none, and the path that it
/// empties besides.
struct Effect {
    area: Area,
    path: String,
    contents: Option<Vec<u8>>,
    emptied: Option<String>,
}

/// Checks a change against the documents before the commit.
fn effect(documents: &Documents, change: &Change) -> Result<Effect, Error> {
    let (area, path, checked, expects) = match change {
        Change::Put { area, path, expects, .. } => (area, path, path, expects.as_ref()),
        Change::Edit { area, path, expects, .. } | Change::Delete { area, path, expects } => {
            (area, path, path, Some(expects))
        }
        Change::Copy { area, from, to, expects } | Change::Rename { area, from, to, expects } => {
            (area, to, from, Some(expects))
        }
    };
    check_path(path)?;
    check_path(checked)?;
    let before = documents.get(&(*area, checked.clone()));
    let mismatch = || {
        let message = format!("`{checked}` is not at the version that was read");
        Error::new(ErrorCode::VersionMismatch, message)
    };
    let fits = |contents: Option<&Vec<u8>>| match contents {
        Some(contents) if contents.len() as u64 > MAX_DOCUMENT_BYTES => {
            let message = format!("`{path}` would be longer than {MAX_DOCUMENT_BYTES} bytes");
            Err(Error::new(ErrorCode::TooLarge, message))
        }
        _ => Ok(()),
    };
    match change {
        Change::Put { contents, .. } => fits(Some(contents))?,
        Change::Edit { .. } | Change::Copy { .. } => fits(before)?,
        Change::Delete { .. } | Change::Rename { .. } => {}
    }
    if before.map(|contents| version_of(contents)).as_ref() != expects {
        return Err(mismatch());
    }
    let mut emptied = None;
    let contents = match change {
        Change::Put { contents, .. } => Some(contents.clone()),
        Change::Edit { splices, .. } => {
            let before = before.ok_or_else(mismatch)?;
            Some(Splice::all(splices, before).ok_or_else(mismatch)?)
        }
        Change::Delete { .. } => None,
        Change::Copy { .. } => before.cloned(),
        Change::Rename { .. } => {
            if documents.contains_key(&(*area, path.clone())) {
                let message = format!("`{path}` is there already: move it away");
                return Err(Error::new(ErrorCode::AlreadyExists, message));
            }
            emptied = Some(checked.clone());
            before.cloned()
        }
    };
    if emptied.is_none() {
        fits(contents.as_ref())?;
    }
    Ok(Effect { area: *area, path: path.clone(), contents, emptied })
}

fn apply(documents: &mut Documents, effect: Effect) -> Option<String> {
    if let Some(emptied) = effect.emptied {
        documents.remove(&(effect.area, emptied));
    }
    let document = (effect.area, effect.path);
    let Some(contents) = effect.contents else {
        documents.remove(&document);
        return None;
    };
    let version = version_of(&contents);
    documents.insert(document, contents);
    Some(version)
}
