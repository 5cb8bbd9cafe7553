//! The headings and sections of a document by CommonMark, and the parts of an input.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// A heading of level 1 or 2 outside of lists and quotes.
#[derive(Debug, PartialEq, Eq)]
pub struct Heading<'a> {
    /// 1 or 2.
    pub level: HeadingLevel,
    /// Its plain text.
    pub name: String,
    /// Its source, without white space at the end.
    pub source: &'a str,
    /// The position of its source, in bytes.
    pub start: usize,
}

/// The headings of a document, in order.
pub fn headings(text: &str) -> Vec<Heading<'_>> {
    let mut found: Vec<Heading<'_>> = Vec::new();
    let mut depth: u32 = 0;
    let mut is_open = false;
    for (event, range) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if let Tag::Heading { level: level @ (HeadingLevel::H1 | HeadingLevel::H2), .. } =
                    tag
                    && depth == 0
                {
                    let start = range.start;
                    let source = text[range].trim_end();
                    found.push(Heading { level, name: String::new(), source, start });
                    is_open = true;
                }
                depth += 1;
            }
            Event::End(end) => {
                depth -= 1;
                is_open &= !matches!(end, TagEnd::Heading(_));
            }
            Event::Text(text) | Event::Code(text) if is_open => {
                found.last_mut().expect("a heading is open").name += &text;
            }
            Event::SoftBreak | Event::HardBreak if is_open => {
                found.last_mut().expect("a heading is open").name.push(' ');
            }
            _ => {}
        }
    }
    for heading in &mut found {
        heading.name = heading.name.trim().to_owned();
    }
    found
}

/// The headings that begin sections.
pub fn sections(text: &str) -> Vec<Heading<'_>> {
    let mut headings = headings(text);
    headings.retain(|heading| heading.level == HeadingLevel::H2);
    headings
}

/// Whether all headings are ATX headings at the beginning of a line. In other documents, the text
/// before a heading can turn into a part of a link definition or a list.
pub fn has_plain_headings(text: &str) -> bool {
    let is_plain = |heading: &Heading<'_>| {
        is_atx(heading.source) && text[..heading.start].ends_with(['\n', '\r'])
    };
    headings(text).iter().all(|heading| heading.start == 0 || is_plain(heading))
}

/// Whether a heading is an ATX heading: it begins with one or two `#` and white space.
fn is_atx(source: &str) -> bool {
    let marks = source.len() - source.trim_start_matches('#').len();
    let text = &source[marks..];
    matches!(marks, 1 | 2) && (text.is_empty() || text.starts_with([' ', '\t', '\n', '\r']))
}

/// The document without a byte order mark.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The number of lines that an editor shows.
pub fn line_count(contents: &[u8]) -> usize {
    1 + contents.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count()
}

/// Splits an input into parts at [`SEPARATOR`]. Missing parts are empty; the last part is the rest.
pub fn parts<const N: usize>(input: &[u8]) -> [&[u8]; N] {
    let mut parts = input.splitn(N, |byte| *byte == SEPARATOR);
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}

/// An input of these parts.
pub fn joined(parts: &[&[u8]]) -> Vec<u8> {
    parts.join(&SEPARATOR)
}

/// A byte that does not occur in UTF-8.
const SEPARATOR: u8 = 0xff;
