//! Removes a text from all files, or removes one file, for `forget_memory`.

use super::change::change;
use super::delete_memory_file::delete;
use super::error::Error;
use super::path::FilePath;
use super::place::forget_in_index;
use super::search::owner;
use super::tree::{Files, Found as AtPath};
use super::walk::{Walk, Which};
use crate::forget::{Forgetting, Found, IN_GIT, NO_WORK_LEFT, Wanted, marks, ranges_of};
use crate::storage::{Area, Change};
use crate::tool::{Call, Checked, Forget};

/// The maximum number of hidden files and directories that an answer names.
const MAX_HIDDEN: usize = 20;

pub(super) const FORGET: Forget = Forget { toolset: "files", run };

/// Removes the wanted text from all files that the caller may use, or removes the wanted file.
/// Files belong to no agent.
fn run(call: &Call<'_>, forgetting: &mut Forgetting<'_>) -> Checked<()> {
    match forgetting.wanted {
        Wanted::Text(secret) => look_through(&Files::open(call)?, secret, forgetting)?,
        Wanted::Document(path) => {
            if let Ok(path) = FilePath::parse(path, "path") {
                forget_file(&Files::open(call)?, &path, forgetting)?;
            }
        }
        Wanted::Record(_) | Wanted::Row { .. } => {}
    }
    Ok(())
}

/// Removes a whole file.
fn forget_file(
    files: &Files<'_>,
    path: &FilePath,
    forgetting: &mut Forgetting<'_>,
) -> Result<(), Error> {
    if !matches!(files.find(path)?, AtPath::File(_)) {
        return Ok(());
    }
    if !forgetting.dry_run {
        delete(files, path)?;
    }
    forgetting.remains(IN_GIT);
    forgetting.add(Found::at(owner(), path.to_string()));
    Ok(())
}

fn look_through(
    files: &Files<'_>,
    secret: &str,
    forgetting: &mut Forgetting<'_>,
) -> Result<(), Error> {
    let Walk { files: found, left, hidden } = Walk::new(files, &FilePath::ROOT, Which::Visible)?;
    forgetting.remains(IN_GIT);
    for error in left {
        forgetting.leave(format!("memory files: {}", error.message()));
    }
    for path in hidden.iter().take(MAX_HIDDEN) {
        forgetting.leave(format!("`{path}` is hidden, and was not searched"));
    }
    if let Some(more) = hidden.len().checked_sub(MAX_HIDDEN).filter(|more| *more > 0) {
        forgetting.leave(format!("{more} more hidden files or directories were not searched"));
    }
    for (path, status) in found {
        if !forgetting.take(status.size) {
            forgetting.leave(format!("`{path}` {NO_WORK_LEFT}"));
            continue;
        }
        if path.below_root().contains(secret) {
            let tool = files.call.listed("files", "rename_memory_file");
            let what = "has it in its path: give it another one with";
            forgetting.leave(format!("`{path}` {what} `{tool}`"));
        }
        match forget_in(files, &path, secret, forgetting.dry_run) {
            Ok(true) => forgetting.add(Found::at(owner(), path.to_string())),
            Ok(false) => {}
            Err(error) => forgetting.leave(format!("`{path}`: {}", error.message())),
        }
    }
    Ok(())
}

/// Removes a text from a file, unless `dry_run` is set. Returns whether the file has the text.
fn forget_in(
    files: &Files<'_>,
    path: &FilePath,
    secret: &str,
    dry_run: bool,
) -> Result<bool, Error> {
    let has_it = |text: &str| !ranges_of(secret, text).is_empty();
    if !files.text(path)?.is_some_and(|file| has_it(&file.text)) {
        return Ok(false);
    }
    if dry_run {
        return Ok(true);
    }
    change(files, || {
        let file = files.text(path)?.filter(|file| has_it(&file.text));
        let edit = file.map(|file| -> Result<Change, Error> {
            let splices = marks(ranges_of(secret, &file.text));
            let area = Area::Documents;
            let path = files.at(path)?;
            let expects = file.version;
            Ok(Change::Edit { area, path, splices, expects })
        });
        Ok(((), edit.transpose()?.into_iter().collect()))
    })?;
    forget_in_index(files.call.storage, &[&files.at(path)?]);
    Ok(true)
}
