use schemars::JsonSchema;
use serde::Deserialize;

use super::change::change;
use super::delete_memory_file::all;
use super::error::Error;
use super::output::Output;
use super::path::{FilePath, MAX_PATH};
use super::tree::{Files, Found};
use crate::storage::{Area, Change};
use crate::tool::{Call, Hints, Tool};

pub(super) struct RenameMemoryFile;

/// Renames or moves a memory file or a directory. Overwrites nothing.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Rename memory files")]
pub(super) struct Input {
    /// The file or directory.
    #[schemars(length(max = MAX_PATH))]
    old_path: String,
    /// Its new path, where nothing may be.
    #[schemars(length(max = MAX_PATH))]
    new_path: String,
}

impl Tool for RenameMemoryFile {
    const NAME: &'static str = "rename_memory_file";
    const HINTS: Hints = Hints::ADDS;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let old = FilePath::parse(&input.old_path, "old_path")?;
        let new = FilePath::parse(&input.new_path, "new_path")?;
        if old.is_root() {
            return Err(Error::root("rename", "old_path"));
        }
        if old.rest(&new).is_some() {
            return Err(Error::into_itself(&old, &new));
        }
        let files = Files::open(call)?;
        change(&files, || {
            let all = all(&files, &old, "rename")?;
            match files.find(&new)? {
                Found::Nothing if all.iter().any(|(file, _)| *file == old) => {
                    files.check_new_file(&new, "new_path")?;
                }
                Found::Nothing => {}
                Found::BelowFile(file) => return Err(Error::below_a_file(&new, &file, "new_path")),
                _ => return Err(Error::target_taken(&new)),
            }
            let mut changes = Vec::new();
            for (file, expects) in all {
                let to = match old.rest(&file) {
                    Some(rest) => new.child(rest),
                    None => new.clone(),
                };
                let from = files.at(&file)?;
                let to = files.at(&to)?;
                changes.push(Change::Rename { area: Area::Documents, from, to, expects });
            }
            let text = format!("Successfully renamed {old} to {new}");
            Ok((Output { text }, changes))
        })
    }
}
