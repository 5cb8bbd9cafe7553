//! The `files` toolset: text files below `/memories`, with the commands that the memory tool of
//! Anthropic (`memory_20250818`) sends.
//!
//! Models are trained on the commands of that tool, on their arguments and on the texts of their
//! answers, so all of them are the same here. A tool has the name of its command with
//! `_memory_file` appended. A file has exactly the bytes that a model or a person wrote: an edit
//! changes only the edited text.

mod change;
mod create_memory_file;
mod delete_memory_file;
mod error;
mod forget;
mod insert_memory_file;
mod interrupted;
mod listing;
mod output;
mod path;
mod place;
mod rename_memory_file;
mod resume;
mod search;
mod settings;
mod str_replace_memory_file;
mod text;
mod tree;
mod view_memory_file;
mod walk;

use crate::tool::ErasedTool;
use crate::toolset::Toolset;

pub(crate) const TOOLSET: Toolset = Toolset {
    name: "files",
    title: "Memory files",
    description: "Text files below `/memories`, for all repositories",
    is_default: false,
    settings: settings::SETTINGS,
    check: |settings| settings.of::<settings::FilesSettings>("files").map(drop),
    places: &[place::DIRECTORY],
    tools: &[
        ErasedTool::new::<view_memory_file::ViewMemoryFile>(),
        ErasedTool::new::<create_memory_file::CreateMemoryFile>(),
        ErasedTool::new::<str_replace_memory_file::StrReplaceMemoryFile>(),
        ErasedTool::new::<insert_memory_file::InsertMemoryFile>(),
        ErasedTool::new::<delete_memory_file::DeleteMemoryFile>(),
        ErasedTool::new::<rename_memory_file::RenameMemoryFile>(),
    ],
    resources: None,
    prompts: &[],
    complete: |_, _| Ok(Vec::new()),
    follow_ups: None,
    left_out_by: None,
    search: Some(search::SOURCE),
    resume: Some(resume::RESUME),
    forget: Some(forget::FORGET),
};
