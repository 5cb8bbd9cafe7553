//! The records of a file that cannot be read as memories. Reads leave them out with a warning, and
//! changes keep their bytes.

use super::file::{JsonFile, RecordIndex};
use super::path::file_path;
use super::record::RecordError;
use crate::listing::{first_clauses, listed};
use crate::toolsets::records::error::Error;
use crate::toolsets::records::memory::Kind;

/// The most records that a warning names.
const MAX_NAMED: usize = 3;

/// The most characters of an id or a key that a message shows.
const MAX_ID: usize = 64;

impl JsonFile {
    /// The warning about everything that reads leave out: records that cannot be read, and arrays
    /// of objects under unknown keys. `None` if nothing is left out.
    pub(in crate::toolsets::records) fn left_out_warning(&self) -> Option<String> {
        let warnings = [self.unreadable_warning(), self.other_arrays_warning()];
        let warnings: Vec<String> = warnings.into_iter().flatten().collect();
        (!warnings.is_empty()).then(|| warnings.join("; "))
    }

    /// The warning about arrays of objects under unknown keys, which are kept as fields of another
    /// program. `None` if there are none.
    fn other_arrays_warning(&self) -> Option<String> {
        let is_shown = |key: &&String| is_plain(key);
        let keys: Vec<&String> = self.other_arrays.iter().filter(is_shown).collect();
        let arrays = Kind::ALL.map(|kind| format!("`{}`", kind.array())).join(", ");
        (!keys.is_empty()).then(|| {
            format!(
                "`{}` has objects in {}, which is not read: memories are in {arrays}; rename the \
                 key if they are memories",
                file_path(&self.agent),
                listed(&keys, MAX_NAMED)
            )
        })
    }

    /// The warning about the records that cannot be read: their number, and for the first ones the
    /// position and the fault. `None` if all records can be read.
    pub(in crate::toolsets::records) fn unreadable_warning(&self) -> Option<String> {
        let unreadable = self.unreadable_records();
        let count = unreadable.len();
        let (records, are, they) = match count {
            0 => return None,
            1 => ("1 record".to_owned(), "is", "it stays in the file as it is: correct it there"),
            _ => {
                let they = "they stay in the file as they are: correct them there";
                (format!("{count} records"), "are", they)
            }
        };
        let named = unreadable.iter().map(|(index, error)| {
            let (line, column) = self.place(error.at);
            format!("line {line} column {column}: {}", self.reason(*index, &error.message))
        });
        let named = first_clauses(named, MAX_NAMED);
        let file = file_path(&self.agent);
        Some(format!("{records} of `{file}` cannot be read and {are} left out: {named}; {they}"))
    }

    /// The error of a call that needs a record which cannot be read.
    pub(super) fn corrupted_record(&self, index: RecordIndex, error: &RecordError) -> Error {
        self.corrupted(error.at, &self.reason(index, &error.message))
    }

    /// Fails if the file has another value in place of the array of this type: adding a record
    /// would replace that value.
    pub(super) fn check_array(&self, kind: Kind) -> Result<(), Error> {
        let other = self.array(kind).filter(|array| !array.is_array);
        let flaw = other.and_then(|array| array.records[0].flaw.as_ref());
        flaw.map_or(Ok(()), |flaw| Err(self.corrupted_record((kind, 0), flaw)))
    }

    /// The message that names a record by its id or its number, and says what is wrong with it.
    fn reason(&self, index: RecordIndex, message: &str) -> String {
        let array = self.array(index.0);
        let name = index.0.array();
        if array.is_some_and(|array| !array.is_array) {
            return format!("`{name}`: {message}");
        }
        let id = self.record(index).id(&self.text);
        match id.filter(|id| is_plain(id)) {
            Some(id) => format!("record `{id}`: {message}"),
            None => format!("record {} of `{name}`: {message}", index.1 + 1),
        }
    }
}

/// Whether a message can show this id or key. Another program may have written any text.
fn is_plain(text: &str) -> bool {
    text.chars().count() <= MAX_ID && !text.contains(|c: char| c.is_control() || c == '`')
}
