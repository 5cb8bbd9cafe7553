//! The texts that are imported and exported: JSON Lines, or a document of the JSON format.

use std::ops::Range;

use super::file::JsonFile;
use super::layout::record_text;
use super::record::Record;
use super::scan::{Flaw, Scanner};
use crate::text::line_of;
use crate::toolsets::records::memory::{Kind, Memory};
use crate::toolsets::records::store::Imported;

/// A text of records that is to be imported.
pub(in crate::toolsets::records) enum ImportText<'a> {
    /// JSON Lines: the text, and the number and the range of each line that is not blank.
    Lines(&'a str, Vec<(usize, Range<usize>)>),
    /// A document of the JSON format.
    Document(Box<JsonFile>),
}

impl<'a> ImportText<'a> {
    /// Finds the records in a text.
    ///
    /// # Errors
    ///
    /// If the text is a broken document: the number of a line, from 1, and what is wrong in that
    /// line. A broken line of JSON Lines is an error of [`page`](Self::page).
    pub fn parse(text: &'a str) -> Result<Self, (usize, String)> {
        let mut document = JsonFile::unscanned("", text.to_owned());
        match document.scan() {
            Ok(()) if document.has_arrays() => return Ok(Self::Document(Box::new(document))),
            Ok(()) => {}
            // The first line of JSON Lines is a whole object. A text with another first line is a
            // broken document.
            Err(flaw) if scan_record(text.trim_start().lines().next().unwrap_or("{}")).is_err() => {
                return Err((line_of(text, flaw.at), flaw.what.to_owned()));
            }
            Err(_) => {}
        }
        let mut lines = Vec::new();
        let mut start = 0;
        for (index, line) in text.split_inclusive('\n').enumerate() {
            if !line.trim().is_empty() {
                lines.push((1 + index, start..start + line.len()));
            }
            start += line.len();
        }
        Ok(Self::Lines(text, lines))
    }

    /// The number of records.
    pub fn len(&self) -> usize {
        match self {
            Self::Lines(_, lines) => lines.len(),
            Self::Document(file) => file.len(),
        }
    }

    /// Returns at most `limit` records from index `start` on, each with its line number. For a
    /// record that cannot be read, returns what is wrong with it.
    pub fn page(&self, start: usize, limit: usize) -> Vec<(usize, Result<Imported, String>)> {
        match self {
            Self::Lines(text, lines) => {
                let page = lines.iter().skip(start).take(limit);
                page.map(|(line, range)| (*line, parse_line(&text[range.clone()]))).collect()
            }
            Self::Document(file) => {
                let mut line = 1;
                let mut at = 0;
                let page = file.records().skip(start).take(limit);
                page.map(|((kind, _), record)| {
                    // The arrays in the file can be in another order than the types. Then the lines
                    // are counted from the beginning again.
                    if record.range.start < at {
                        (line, at) = (1, 0);
                    }
                    let between = &file.text.as_bytes()[at..record.range.start];
                    line += between.iter().filter(|byte| **byte == b'\n').count();
                    at = record.range.start;
                    (line, imported(&file.text, record, kind))
                })
                .collect()
            }
        }
    }
}

fn scan_record(text: &str) -> Result<Record, Flaw> {
    let mut scanner = Scanner::new(text);
    scanner.white_space();
    let start = scanner.position();
    let members = scanner.object(|scanner, _| scanner.value())?;
    let range = start..scanner.position();
    scanner.end()?;
    Ok(Record { range, members, flaw: None })
}

fn parse_line(text: &str) -> Result<Imported, String> {
    let record = scan_record(text).map_err(|flaw| flaw.what.to_owned())?;
    let kind = record.kind(text).map_err(|error| error.message)?;
    imported(text, &record, kind)
}

fn imported(text: &str, record: &Record, kind: Kind) -> Result<Imported, String> {
    let memory = record.memory(text, kind).map_err(|error| error.message)?;
    let original = &text[record.range.clone()];
    let compact = compact(&memory);
    // Exports write compact JSON, so this comparison succeeds most often and comes first.
    let is_complete = memory.fits_columns()
        && (original == compact
            || original == record_text(&memory)
            || minified(original) == compact);
    Ok(Imported { original: (!is_complete).then(|| original.to_owned()), memory })
}

fn compact(memory: &Memory) -> String {
    serde_json::to_string(memory).expect("a memory is JSON")
}

/// A memory as one line of JSON Lines, with its type. `original` is the text of the memory's
/// record, if that differs from our own text in more than white space. The line then has the
/// members of `original`.
pub(in crate::toolsets::records) fn line(memory: &Memory, original: Option<&str>) -> String {
    let Some(original) = original else { return compact(memory) };
    let line = minified(original);
    match scan_record(&line) {
        Ok(record) if record.member(&line, "type").is_none() => {
            format!("{{\"type\":\"{}\",{}", memory.kind.name(), &line[1..])
        }
        _ => line,
    }
}

/// JSON without the white space between its tokens.
fn minified(json: &str) -> String {
    let mut in_string = false;
    let mut escaped = false;
    let keep = |character: &char| {
        if in_string {
            in_string = escaped || *character != '"';
            escaped = !escaped && *character == '\\';
            return true;
        }
        in_string = *character == '"';
        !matches!(character, ' ' | '\t' | '\n' | '\r')
    };
    json.chars().filter(keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minifying_keeps_white_space_in_strings_alone() {
        let json = "{ \"a \\\" b\" : [ 1 ,\n\t\"\\\\\" , \" c \" ] }";
        assert_eq!(minified(json), r#"{"a \" b":[1,"\\"," c "]}"#);
    }
}
