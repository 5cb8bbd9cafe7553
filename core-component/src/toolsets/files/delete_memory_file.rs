use schemars::JsonSchema;
use serde::Deserialize;

use super::change::{MAX_FILES, change};
use super::error::Error;
use super::output::Output;
use super::path::{FilePath, MAX_PATH};
use super::tree::{Files, Found};
use super::walk::{Walk, Which};
use crate::storage::{Area, Change};
use crate::tool::{Call, Hints, Tool};

pub(super) struct DeleteMemoryFile;

/// Deletes a memory file, or a directory with everything in it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Delete memory files")]
pub(super) struct Input {
    /// The file or directory.
    #[schemars(length(max = MAX_PATH))]
    path: String,
}

impl Tool for DeleteMemoryFile {
    const NAME: &'static str = "delete_memory_file";
    const HINTS: Hints = Hints::OVERWRITES;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let path = FilePath::parse(&input.path, "path")?;
        if path.is_root() {
            return Err(Error::root("delete", "path"));
        }
        delete(&Files::open(call)?, &path)?;
        Ok(Output { text: format!("Successfully deleted {path}") })
    }
}

/// Deletes a file, or a directory with everything in it, in one commit.
pub(super) fn delete(files: &Files<'_>, path: &FilePath) -> Result<(), Error> {
    change(files, || {
        let changes = all(files, path, "delete")?.into_iter().map(|(file, expects)| {
            Ok(Change::Delete { area: Area::Documents, path: files.at(&file)?, expects })
        });
        Ok(((), changes.collect::<Result<_, Error>>()?))
    })
}

/// Returns the file at a path, or all files below the directory at the path, each with the version
/// of its contents. `verb` names the operation in messages, such as `delete`.
///
/// # Errors
///
/// `NOT_FOUND` if the path does not exist, `LIMIT_EXCEEDED` for more files than one commit changes,
/// or the error for an entry that is not a memory file.
pub(super) fn all(
    files: &Files<'_>,
    path: &FilePath,
    verb: &str,
) -> Result<Vec<(FilePath, String)>, Error> {
    let found = match files.find(path)? {
        Found::File(status) => vec![(path.clone(), status)],
        Found::Directory => Walk::new(files, path, Which::All)?.all()?,
        Found::Nothing | Found::BelowFile(_) => return Err(Error::nothing_at(path)),
    };
    if found.len() > MAX_FILES {
        return Err(Error::too_many_files(path, MAX_FILES, verb));
    }
    let mut all = Vec::new();
    for (file, _) in found {
        let document = files.document(&file)?.ok_or_else(|| Error::nothing_at(&file))?;
        all.push((file, document.version));
    }
    Ok(all)
}
