//! The messages of this toolset's errors.

use super::path::{CategoryPath, MemoryPath, Nearest};
use crate::context::Context;
pub(super) use crate::error::{Code, Error};
use crate::existing::{MAX_NAMES, did_you_mean, differs_only_in_case, store_not_granted};
use crate::listing::listed;
use crate::names::NAME_ACCEPTED;
use crate::storage;
use crate::time::Timestamp;
use crate::yaml::YamlError;

impl Error {
    /// No store can have this name.
    pub(super) fn invalid_store(name: &str, reason: &str) -> Self {
        let message = format!("`store` `{name}` {reason}: choose another name");
        Self::at(Code::InvalidInput, message, "store", NAME_ACCEPTED.into())
    }

    /// The name of the store differs only in case from an existing one.
    pub(super) fn store_twin(context: &Context, name: &str, twin: &str) -> Self {
        let is_told = context.reaches_store(twin);
        let message = differs_only_in_case("store", name, twin, is_told);
        let accepted = if is_told { format!("`{twin}`") } else { "another name".to_owned() };
        Self::at(Code::InvalidInput, message, "store", accepted)
    }

    /// The caller may not use the store.
    pub(super) fn store_not_granted(context: &Context, name: &str) -> Self {
        Self::new(Code::PermissionError, store_not_granted(context, name))
    }

    /// No store has the name. `names` are the stores that the caller may use.
    pub(super) fn no_store(name: &str, names: &[String]) -> Self {
        let there_are = if names.is_empty() {
            "there is none yet".to_owned()
        } else {
            format!("there are {}", listed(names, MAX_NAMES))
        };
        let mut message =
            format!("no store `{name}` is registered; {there_are}; `add_memory` creates one");
        message.extend(did_you_mean(name, names).map(|question| format!("; {question}")));
        Self::new(Code::StoreNotFound, message)
    }

    /// The store is registered, but its directory cannot be opened.
    pub(super) fn store_missing(name: &str, error: &storage::Error) -> Self {
        let message =
            format!("store `{name}` is registered, but its directory cannot be opened: {error}");
        Self::new(Code::StoreNotFound, message)
    }

    /// The text is not a valid path of a memory or a category.
    pub(super) fn invalid_path(path: &str, field: &str, Nearest(nearest): &Nearest) -> Self {
        let rule = "lower-case letters and digits in words joined by `-`, at most 10 segments joined \
                    by `/`";
        let shown: String = path.chars().take(200).collect();
        let shown = shown.escape_debug();
        let (message, accepted) = match nearest.as_str() {
            "" => (format!("`{field}` `{shown}` is no path: use {rule}"), rule.to_owned()),
            near => (format!("`{field}` `{shown}` is no path: use `{near}`"), format!("`{near}`")),
        };
        Self::at(Code::InvalidPath, message, field, accepted)
    }

    pub(super) fn no_memory_at(path: &MemoryPath) -> Self {
        let message = format!("there is no memory `{path}`: find its path with `list_memories`");
        Self::new(Code::MemoryNotFound, message)
    }

    pub(super) fn expired(path: &MemoryPath, expires_at: Timestamp) -> Self {
        let message =
            format!("the memory `{path}` expired at {expires_at}: read it with `include_expired`");
        Self::new(Code::MemoryExpired, message)
    }

    /// A memory with this path exists. `update` is the name of the tool that changes memories.
    pub(super) fn memory_exists(path: &MemoryPath, update: &str) -> Self {
        let message = format!(
            "there is a memory `{path}` already: change it with `{update}`, or choose another path"
        );
        Self::new(Code::MemoryExists, message)
    }

    pub(super) fn file_exists(path: &MemoryPath) -> Self {
        let message =
            format!("there is a memory `{path}` already: edit it, or choose another path");
        Self::new(Code::MemoryExists, message)
    }

    /// Returns the reason for which an imported file is skipped: its memory has another text.
    pub(super) fn another_memory(path: &MemoryPath) -> String {
        format!("there is a memory `{path}` with another text")
    }

    pub(super) fn import_refused(path: &MemoryPath) -> Self {
        let message = format!(
            "nothing of this page was imported: {}: skip or replace such memories",
            Self::another_memory(path)
        );
        Self::at(Code::MemoryExists, message, "on_conflict", "`skip` or `replace`".into())
    }

    pub(super) fn changed_since(path: &MemoryPath) -> Self {
        let message = format!("the memory `{path}` has changed since it was read: read it again");
        Self::at(Code::Conflict, message, "version", "that of `get_memory_file`".into())
    }

    pub(super) fn destination_exists(path: &MemoryPath) -> Self {
        let message = format!("there is a memory `{path}` already: choose another `to_path`");
        Self::new(Code::DestinationExists, message)
    }

    pub(super) fn no_category(path: &CategoryPath) -> Self {
        let message = format!(
            "there is no category `{path}`: `list_memories` without a category shows those that \
             there are"
        );
        Self::new(Code::CategoryNotFound, message)
    }

    /// A file of the store cannot be read. The file is not changed.
    pub(super) fn damaged(file: &str, error: &YamlError) -> Self {
        let message = format!("line {} of `{file}`: {}", error.line, error.message);
        Self::new(Code::CorruptedData, message)
    }

    /// The index of a category cannot be read.
    pub(super) fn damaged_index(file: &str, error: &YamlError) -> Self {
        Self::damaged(file, error)
            .with_suffix("; mend the file, or delete it and call `reindex_store`")
    }

    pub(super) fn not_utf8(file: &str) -> Self {
        let message = format!("`{file}` is not UTF-8: save it as UTF-8");
        Self::new(Code::CorruptedData, message)
    }
}
