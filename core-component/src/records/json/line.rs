//! Records one by one, on lines of their own: what is exported and imported.

use std::ops::Range;

use super::file::JsonFile;
use super::record::Record;
use super::scan::{Flaw, Scanner};
use super::write::record_text;
use crate::records::memory::{Kind, Memory};
use crate::records::store::Imported;
use crate::text::line_of;

/// A text of records: JSON Lines, or a document of the JSON format.
pub(in crate::records) enum Given<'a> {
    /// Where each line stands that is not blank, with its number in the text.
    Lines(&'a str, Vec<(usize, Range<usize>)>),
    Document(Box<JsonFile>),
}

/// Why a text holds no records: the line, counted from 1, and what is wrong there.
pub(in crate::records) type Wrong = (usize, String);

impl<'a> Given<'a> {
    /// # Errors
    ///
    /// Where it is neither.
    pub fn of(text: &'a str) -> Result<Self, Wrong> {
        let mut document = JsonFile::of("", text.to_owned());
        match document.scan() {
            Ok(()) if document.has_arrays() => return Ok(Self::Document(Box::new(document))),
            Ok(()) => {}
            // JSON Lines begin with a line that is a whole value, one document does not.
            Err(flaw) if members(text.trim_start().lines().next().unwrap_or("{}")).is_err() => {
                return Err((line_of(text, flaw.at), wrong(&flaw)));
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

    /// How many records there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Lines(_, lines) => lines.len(),
            Self::Document(file) => file.len(),
        }
    }

    /// At most so many records after as many others, each with the number of its line.
    pub fn page(&self, start: usize, most: usize) -> Vec<(usize, Result<Imported, String>)> {
        match self {
            Self::Lines(text, lines) => {
                let page = lines.iter().skip(start).take(most);
                page.map(|(line, range)| (*line, of_line(&text[range.clone()]))).collect()
            }
            Self::Document(file) => {
                let (mut line, mut at) = (1, 0);
                let page = file.records().skip(start).take(most);
                page.map(|((kind, _), record)| {
                    // The arrays may stand in another order.
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

fn members(text: &str) -> Result<Record, Flaw> {
    let mut scanner = Scanner::of(text);
    scanner.white_space();
    let start = scanner.position();
    let members = scanner.object(|scanner, _| scanner.value())?;
    let range = start..scanner.position();
    scanner.end()?;
    Ok(Record { range, members })
}

fn wrong(flaw: &Flaw) -> String {
    flaw.what.to_owned()
}

fn of_line(text: &str) -> Result<Imported, String> {
    let record = members(text).map_err(|flaw| wrong(&flaw))?;
    let kind = record.kind(text).map_err(|misfit| misfit.what)?;
    imported(text, &record, kind)
}

fn imported(text: &str, record: &Record, kind: Kind) -> Result<Imported, String> {
    let memory = record.memory(text, kind).map_err(|misfit| misfit.what)?;
    let written = &text[record.range.clone()];
    let compact = compact(&memory);
    // As exports write it, first.
    let says_all = memory.fits_columns()
        && (written == compact || written == record_text(&memory) || minified(written) == compact);
    Ok(Imported { original: (!says_all).then(|| written.to_owned()), memory })
}

fn compact(memory: &Memory) -> String {
    serde_json::to_string(memory).expect("a memory is JSON")
}

/// A memory as one line, which says its type; `original` is its record, where there is one.
pub(in crate::records) fn line(memory: &Memory, original: Option<&str>) -> String {
    let Some(original) = original else { return compact(memory) };
    let line = minified(original);
    match members(&line) {
        Ok(record) if record.member(&line, "type").is_none() => {
            format!("{{\"type\":\"{}\",{}", memory.kind.name(), &line[1..])
        }
        _ => line,
    }
}

/// JSON without the white space between its signs.
fn minified(json: &str) -> String {
    let (mut in_string, mut escaped) = (false, false);
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
    fn white_space_goes_where_it_says_nothing() {
        let json = "{ \"a \\\" b\" : [ 1 ,\n\t\"\\\\\" , \" c \" ] }";
        assert_eq!(minified(json), r#"{"a \" b":[1,"\\"," c "]}"#);
    }
}
