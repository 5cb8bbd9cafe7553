//! A commit in memory: every change is checked before the first is made.

use std::collections::BTreeMap;

use agent_memory_storage::{
    Area, Change, CommitError, Error, ErrorCode, Splice, already_exists, check_consistent,
    check_count, check_size, version_mismatch, version_of,
};

/// The contents of the documents of a place.
pub(super) type Contents = BTreeMap<(Area, String), Vec<u8>>;

/// Makes all changes or none. Returns the new version of each document.
pub(super) fn commit(
    documents: &mut Contents,
    changes: &[Change],
) -> Result<Vec<Option<String>>, CommitError> {
    let refused =
        |index: usize, error| CommitError { error, change: Some(index as u32), applied: 0 };
    let too_many = |error| CommitError { error, change: None, applied: 0 };
    check_count(changes).map_err(too_many)?;
    check_consistent(changes).map_err(|(index, error)| refused(index, error))?;
    let mut effects = Vec::new();
    for (index, change) in changes.iter().enumerate() {
        effects.push(effect(documents, change).map_err(|error| refused(index, error))?);
    }
    Ok(effects.into_iter().map(|effect| apply(documents, effect)).collect())
}

/// The effect of a checked change: the new contents of its path, if any, and the path that a rename
/// empties.
struct Effect {
    area: Area,
    path: String,
    contents: Option<Vec<u8>>,
    emptied: Option<String>,
}

/// Checks a change against the documents before the commit.
fn effect(documents: &Contents, change: &Change) -> Result<Effect, Error> {
    let area = change.area();
    let path = change.path();
    let checked = change.checked_path();
    check_path(path)?;
    check_path(checked)?;
    let before = documents.get(&(area, checked.to_owned()));
    let mismatch = || version_mismatch(checked);
    let fits = |contents: Option<&Vec<u8>>| {
        contents.map_or(Ok(()), |contents| check_size(path, contents.len() as u64))
    };
    match change {
        Change::Put { contents, .. } => fits(Some(contents))?,
        Change::Edit { .. } | Change::Copy { .. } => fits(before)?,
        Change::Delete { .. } | Change::Rename { .. } => {}
    }
    if before.map(|contents| version_of(contents)).as_deref() != change.expects() {
        return Err(mismatch());
    }
    let mut emptied = None;
    let contents = match change {
        Change::Put { contents, .. } => Some(contents.clone()),
        Change::Edit { splices, .. } => {
            let before = before.ok_or_else(mismatch)?;
            Some(Splice::all(splices, before.clone()).ok_or_else(mismatch)?)
        }
        Change::Delete { .. } => None,
        Change::Copy { .. } => before.cloned(),
        Change::Rename { .. } => {
            if documents.contains_key(&(area, path.to_owned())) {
                return Err(already_exists(path));
            }
            emptied = Some(checked.to_owned());
            before.cloned()
        }
    };
    if emptied.is_none() {
        fits(contents.as_ref())?;
    }
    Ok(Effect { area, path: path.to_owned(), contents, emptied })
}

fn apply(documents: &mut Contents, effect: Effect) -> Option<String> {
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

/// Refuses a path that a tree cannot hold.
pub(super) fn check_path(path: &str) -> Result<(), Error> {
    let sound = |segment: &str| !matches!(segment, "" | "." | "..") && !segment.contains('\\');
    if path.split('/').all(sound) {
        return Ok(());
    }
    Err(Error::new(ErrorCode::InvalidPath, format!("`{path}` is not a path of a document")))
}
