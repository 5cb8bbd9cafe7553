//! Removing a text or a record from an agent's file, or from a copy of it.

use std::ops::Range;

use serde_json::json;

use super::file::JsonFile;
use super::scan::{Flaw, Scanner, unquoted};
use super::write::JsonWriter;
use crate::context::Context;
use crate::forget::without;
use crate::storage::{Document, Splice};
use crate::toolsets::records::error::Error;
use crate::toolsets::records::store::{Purpose, Reader, Writer};

/// The members of a record that never have free text. A text is not removed from them.
const STRUCTURE: [&str; 6] =
    ["id", "type", "created_at", "updated_at", "accessed_at", "importance"];

/// The splices that remove a text or a record from a file.
#[derive(Debug, Default)]
pub(in crate::toolsets::records) struct Removal {
    pub splices: Vec<Splice>,
    /// The ids of the records that had the text, or of the record that is removed.
    pub ids: Vec<String>,
}

impl JsonFile {
    /// Replaces a text by a mark in each string value of a document, also in fields that other
    /// programs added.
    ///
    /// # Errors
    ///
    /// `CORRUPTED_DATA` if the document is not JSON, or is not an object.
    pub fn without_text(agent: &str, document: Document, secret: &str) -> Result<Removal, Error> {
        let file = Self::parse(agent, document)?;
        let splices = strings_without(file.json(), secret)
            .map_err(|flaw| file.corrupted(file.start() + flaw.at, flaw.what))?;
        let moved = |range: &Range<usize>| file.start() + range.start..file.start() + range.end;
        let splices = splices
            .into_iter()
            .map(|(range, text)| Splice { range: moved(&range), inserts: text.into_bytes() });
        let splices: Vec<Splice> = splices.collect();
        let has_splice = |range: &Range<usize>| {
            let at = splices.partition_point(|splice| splice.range.start < range.start);
            splices.get(at).is_some_and(|splice| splice.range.end <= range.end)
        };
        let records = file.records().filter(|(_, record)| has_splice(&record.range));
        let ids = records.filter_map(|(_, record)| record.id(&file.text));
        let ids = ids.map(|id| id.into_owned()).collect();
        Ok(Removal { splices, ids })
    }

    /// Removes the record with this id. If no record has the id, there are no splices.
    ///
    /// # Errors
    ///
    /// `CORRUPTED_DATA` if the document or the record cannot be read.
    pub fn without_record(
        agent: &str,
        document: Document,
        id: &str,
        context: &Context,
    ) -> Result<Removal, Error> {
        let mut writer = JsonWriter::new(Self::parse(agent, document)?, context);
        let Some(memory) = writer.find(id)? else { return Ok(Removal::default()) };
        writer.remove(&memory)?;
        Ok(Removal { splices: writer.splices(Purpose::Access), ids: vec![memory.id] })
    }
}

/// Replaces a text by a mark in each string value of a JSON text. `None` if no string has the text,
/// or if `json` is not valid JSON.
pub(in crate::toolsets::records) fn json_without(json: &str, secret: &str) -> Option<String> {
    let splices = strings_without(json, secret).ok().filter(|splices| !splices.is_empty())?;
    Some(super::write::spliced(json, splices))
}

/// The ranges of the strings in `json` that contain `secret`, each with the string that replaces
/// it.
fn strings_without(json: &str, secret: &str) -> Result<Vec<(Range<usize>, String)>, Flaw> {
    let mut strings = Strings { json, secret, splices: Vec::new() };
    let mut scanner = Scanner::new(json);
    scanner.white_space();
    strings.value(&mut scanner, "")?;
    Ok(strings.splices)
}

struct Strings<'a> {
    json: &'a str,
    secret: &'a str,
    splices: Vec<(Range<usize>, String)>,
}

impl Strings<'_> {
    /// Looks through a value. `key` is the key of the member that the value belongs to.
    fn value(&mut self, scanner: &mut Scanner<'_>, key: &str) -> Result<(), Flaw> {
        let start = scanner.position();
        match scanner.peek() {
            Some(b'{') => {
                let json = self.json;
                scanner.object(|scanner, key| self.value(scanner, &unquoted(json, key))).map(drop)
            }
            Some(b'[') => scanner.array(|scanner| self.value(scanner, key)),
            Some(b'"') => {
                scanner.value()?;
                if !STRUCTURE.contains(&key) {
                    self.string(start..scanner.position());
                }
                Ok(())
            }
            _ => scanner.value(),
        }
    }

    fn string(&mut self, range: Range<usize>) {
        let text = unquoted(self.json, &range);
        if let Some(without) = without(self.secret, &text) {
            self.splices.push((range, json!(without).to_string()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_removed_from_strings_alone_however_they_are_written() {
        let json = r#"{ "a": ["key \u0022x\"y", {"b": "no"}], "id": "key \"x", "n": 1.0 }"#;
        assert_eq!(
            json_without(json, "key \"x").as_deref(),
            Some(r#"{ "a": ["(removed)\"y", {"b": "no"}], "id": "key \"x", "n": 1.0 }"#)
        );
        assert_eq!(json_without(json, "absent"), None);
    }
}
