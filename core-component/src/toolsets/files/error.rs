//! The messages of this toolset's errors. Messages that Anthropic documents for its memory tool are
//! repeated word for word, because models are trained on them.

use super::path::FilePath;
pub(super) use crate::error::{Code, Error};
use crate::listing::listed;

/// The maximum number of characters of an argument that a message quotes.
const MAX_QUOTED: usize = 200;

/// The maximum number of lines or names that a message lists.
const MAX_LINES: usize = 20;

/// The paths that are accepted, in words.
const PATH_ACCEPTED: &str = "a path below `/memories`, such as `/memories/notes.md`";

impl Error {
    /// The path is not below `/memories`.
    pub(super) fn outside(text: &str, field: &str) -> Self {
        let message = format!("Path must start with /memories, got: {}", quoted(text));
        Self::at(Code::InvalidPath, message, field, PATH_ACCEPTED.into())
    }

    /// The path is not valid for a memory file. `reason` follows the word `it` in the message.
    pub(super) fn invalid_file_path(text: &str, field: &str, reason: &str) -> Self {
        let shown = quoted(text);
        let message = format!("`{field}` `{shown}` is no path of a memory file: it {reason}");
        Self::at(Code::InvalidPath, message, field, PATH_ACCEPTED.into())
    }

    /// A path to view does not exist.
    pub(super) fn nothing_to_view(path: &FilePath) -> Self {
        let message = format!("The path {path} does not exist. Please provide a valid path.");
        Self::new(Code::NotFound, message)
    }

    /// The call replaces text at a path that is not a file.
    pub(super) fn no_file_to_edit(path: &FilePath) -> Self {
        let message =
            format!("Error: The path {path} does not exist. Please provide a valid path.");
        Self::new(Code::NotFound, message)
    }

    /// A path does not exist, for the commands other than view and replace.
    pub(super) fn nothing_at(path: &FilePath) -> Self {
        Self::new(Code::NotFound, format!("Error: The path {path} does not exist"))
    }

    pub(super) fn path_taken(path: &FilePath) -> Self {
        Self::new(Code::MemoryExists, format!("Error: File {path} already exists"))
    }

    pub(super) fn target_taken(path: &FilePath) -> Self {
        let message = format!("Error: The destination {path} already exists");
        Self::new(Code::DestinationExists, message)
    }

    /// A parent of the path is a file, not a directory.
    pub(super) fn below_a_file(path: &FilePath, file: &FilePath, field: &str) -> Self {
        let message = format!(
            "Error: {path} cannot be written: {file} is a file, not a directory; choose another path"
        );
        Self::at(Code::InvalidPath, message, field, "a path that is not below a file".into())
    }

    /// The call would delete or rename `/memories` itself.
    pub(super) fn root(verb: &str, field: &str) -> Self {
        let message = format!("Cannot {verb} the /memories directory itself");
        Self::at(Code::InvalidPath, message, field, "a path below `/memories`".into())
    }

    /// The call would move a directory into itself.
    pub(super) fn into_itself(old: &FilePath, new: &FilePath) -> Self {
        let message = format!("Error: {old} cannot be renamed to {new}, which is inside it");
        Self::at(Code::InvalidInput, message, "new_path", format!("a path outside of `{old}`"))
    }

    pub(super) fn not_verbatim(old_str: &str, path: &FilePath) -> Self {
        let message = format!(
            "No replacement was performed, old_str `{}` did not appear verbatim in {path}.",
            quoted(old_str)
        );
        Self::at(Code::InvalidInput, message, "old_str", "a text that is in the file".into())
    }

    /// The text to replace occurs several times, in the lines with these numbers.
    pub(super) fn ambiguous(old_str: &str, lines: &[usize]) -> Self {
        let mut numbers: Vec<_> = lines.iter().take(MAX_LINES).map(usize::to_string).collect();
        if lines.len() > MAX_LINES {
            numbers.push("...".into());
        }
        let message = format!(
            "No replacement was performed. Multiple occurrences of old_str `{}` in lines: {}. Please \
             ensure it is unique",
            quoted(old_str),
            numbers.join(", ")
        );
        Self::at(Code::InvalidInput, message, "old_str", "a text that is in the file once".into())
    }

    pub(super) fn invalid_line(line: i64, last: usize) -> Self {
        let message = format!(
            "Error: Invalid `insert_line` parameter: {line}. It should be within the range of lines \
             of the file: [0, {last}]"
        );
        Self::at(Code::InvalidInput, message, "insert_line", format!("a number from 0 to {last}"))
    }

    pub(super) fn invalid_range((first, last): (i64, i64), lines: usize) -> Self {
        let message = format!(
            "Error: Invalid `view_range` parameter: [{first}, {last}]. It should be within the range \
             of lines of the file: [1, {lines}]"
        );
        let accepted = format!("the first and the last line, from 1 to {lines}; -1 is the end");
        Self::at(Code::InvalidInput, message, "view_range", accepted)
    }

    pub(super) fn too_many_lines(path: &FilePath) -> Self {
        let message = format!("File {path} exceeds maximum line limit of 999,999 lines.");
        Self::new(Code::LimitExceeded, message)
    }

    /// A directory has more files than one commit changes.
    pub(super) fn too_many_files(path: &FilePath, most: usize, verb: &str) -> Self {
        let message = format!(
            "Error: {path} has more than {most} files, and nothing was changed: {verb} its \
             subdirectories one by one"
        );
        Self::new(Code::LimitExceeded, message)
    }

    /// The contents of a file are not UTF-8. The file is not changed.
    pub(super) fn not_text(path: &FilePath) -> Self {
        let message = format!("Error: {path} is not UTF-8 text, and was not changed");
        Self::new(Code::CorruptedData, message)
    }

    /// An entry is neither a file nor a directory, or no memory file can have its name.
    pub(super) fn not_a_file(path: &FilePath) -> Self {
        let message = format!(
            "{path} is a link, or has a name that no memory file can have: a person can rename it or \
             move it away"
        );
        Self::new(Code::StorageError, message)
    }

    /// The call would create a file at the path of an agent's directory.
    pub(super) fn file_for_an_agent(path: &FilePath, field: &str) -> Self {
        let message = format!(
            "Error: {path} is the directory of an agent, and cannot be a file: choose a path below \
             it, such as {path}/notes.md"
        );
        Self::at(Code::InvalidPath, message, field, "a path below an agent's directory".into())
    }

    /// The directory of the caller's only agent is a file or a link instead.
    pub(super) fn root_is_a_file() -> Self {
        let message = "/memories is a file or a link, not a directory, so no memory file can be read \
                       or written: ask a person to rename it or to move it away";
        Self::new(Code::StorageError, message.to_owned())
    }

    /// The path does not begin with the name of an agent that the caller may use.
    pub(super) fn not_an_agent(path: &FilePath, agents: &[String]) -> Self {
        let agents: Vec<String> = agents.iter().map(|name| format!("/memories/{name}")).collect();
        let remedy = if agents.is_empty() {
            "ask for a grant".to_owned()
        } else {
            format!("use {}", listed(&agents, MAX_LINES))
        };
        let message = format!("`{path}` is not granted to this caller: {remedy}");
        Self::new(Code::PermissionError, message)
    }
}

/// Returns the beginning of an argument, for a message.
fn quoted(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
