//! YAML with the source of each key, read from the parser's events without code of the core.

use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Value, json};

/// A value, with its place in the text in bytes.
#[derive(Clone, Debug)]
pub struct Node {
    span: Range<usize>,
    contents: Contents,
}

#[derive(Clone, Debug)]
enum Contents {
    Scalar { text: String, is_plain: bool },
    Items(Vec<Node>),
    Pairs(Vec<(Node, Node)>),
}

/// A key of a mapping, with its source from the key to the end of the value.
#[derive(Debug)]
pub struct Entry<'a> {
    /// The text of the key.
    pub key: &'a str,
    /// Its source.
    pub source: &'a str,
}

impl Node {
    /// The text of a scalar.
    pub fn text(&self) -> Option<&str> {
        match &self.contents {
            Contents::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The items of a sequence. Empty for anything else.
    pub fn items(&self) -> &[Self] {
        match &self.contents {
            Contents::Items(items) => items,
            _ => &[],
        }
    }

    /// The keys and values of a mapping. Empty for anything else.
    pub fn pairs(&self) -> &[(Self, Self)] {
        match &self.contents {
            Contents::Pairs(pairs) => pairs,
            _ => &[],
        }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.pairs().iter().find(|(name, _)| name.text() == Some(key)).map(|(_, value)| value)
    }

    /// The keys of a mapping, with their sources.
    pub fn entries<'a>(&'a self, text: &'a str) -> Vec<Entry<'a>> {
        let entry = |(key, value): &'a (Self, Self)| Entry {
            key: key.text().unwrap_or_default(),
            source: text[key.span.start..value.span.end.max(key.span.end)].trim_end(),
        };
        self.pairs().iter().map(entry).collect()
    }

    /// The value as JSON. A number stays a text; null is null in every spelling.
    pub fn value(&self) -> Value {
        match &self.contents {
            Contents::Scalar { text, is_plain: true }
                if ["", "~", "null", "Null", "NULL"].contains(&text.as_str()) =>
            {
                Value::Null
            }
            Contents::Scalar { text, .. } => json!(text),
            Contents::Items(items) => items.iter().map(Self::value).collect(),
            Contents::Pairs(pairs) => {
                let pair = |(key, value): &(Self, Self)| json!([key.value(), value.value()]);
                json!({ "pairs": pairs.iter().map(pair).collect::<Vec<_>>() })
            }
        }
    }
}

/// The text is not YAML, has an alias, or has two documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotYaml;

/// Parses a text. `None` if it has no value.
///
/// # Errors
///
/// If the text is not YAML, has an alias, or has two documents.
pub fn parse(text: &str) -> Result<Option<Node>, NotYaml> {
    let offsets: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let byte = |index: usize| offsets.get(index).copied().unwrap_or(text.len());
    let mut open: Vec<(usize, bool, Vec<Node>)> = Vec::new();
    let mut root = None;
    let mut end = 0;
    let mut documents = 0;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|_| NotYaml)?;
        let range = byte(span.start.index())..byte(span.end.index());
        let node = match event {
            Event::Alias(_) => return Err(NotYaml),
            Event::DocumentStart(_) => {
                documents += 1;
                continue;
            }
            Event::Scalar(text, style, ..) => {
                end = range.end;
                let is_plain = style == ScalarStyle::Plain;
                Node { span: range, contents: Contents::Scalar { text: text.into(), is_plain } }
            }
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                open.push((range.start, !range.is_empty(), Vec::new()));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let (start, is_flow, nodes) = open.pop().ok_or(NotYaml)?;
                if is_flow {
                    end = range.start + 1;
                }
                let contents = match event {
                    Event::SequenceEnd => Contents::Items(nodes),
                    _ => Contents::Pairs(
                        nodes.chunks_exact(2).map(|of| (of[0].clone(), of[1].clone())).collect(),
                    ),
                };
                Node { span: start..end.max(start), contents }
            }
            _ => continue,
        };
        match open.last_mut() {
            Some((_, _, nodes)) => nodes.push(node),
            None => root = Some(node),
        }
    }
    if documents > 1 { Err(NotYaml) } else { Ok(root) }
}

/// A document, split at its second fence.
#[derive(Debug)]
pub struct Front<'a> {
    yaml: Option<&'a str>,
    root: Result<Option<Node>, NotYaml>,
    body: &'a str,
}

impl<'a> Front<'a> {
    /// Splits a document.
    pub fn parse(text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let none = || Self { yaml: None, root: Ok(None), body: text };
        let (first, mut at) = line(text, 0);
        if first.trim_end() != "---" {
            return none();
        }
        let start = at;
        while at < text.len() {
            let (found, next) = line(text, at);
            if found.trim_end() == "---" {
                let yaml = &text[start..at];
                return Self { yaml: Some(yaml), root: parse(yaml), body: &text[next..] };
            }
            at = next;
        }
        none()
    }

    /// Splits the document of a memory whose content is known. A document without front matter may
    /// begin with a thematic break, which looks like a fence.
    pub fn parse_memory(text: &'a str, content: &str) -> Self {
        let whole = text.strip_prefix('\u{feff}').unwrap_or(text);
        if whole == content {
            return Self { yaml: None, root: Ok(None), body: whole };
        }
        Self::parse(text)
    }

    /// Whether there is front matter.
    pub fn is_there(&self) -> bool {
        self.yaml.is_some()
    }

    /// The text after the front matter.
    pub fn body(&self) -> &'a str {
        self.body
    }

    /// The keys of the front matter.
    ///
    /// # Errors
    ///
    /// If the front matter is not YAML.
    pub fn keys(&self) -> Result<Vec<Entry<'_>>, NotYaml> {
        let root = self.root.as_ref().map_err(|error| *error)?;
        Ok(root.iter().flat_map(|root| root.entries(self.yaml.unwrap_or_default())).collect())
    }
}

/// The line at a position, and where the next one begins.
fn line(text: &str, at: usize) -> (&str, usize) {
    let rest = &text[at..];
    let Some(end) = rest.find(['\n', '\r']) else { return (rest, text.len()) };
    let length = if rest[end..].starts_with("\r\n") { 2 } else { 1 };
    (&rest[..end], at + end + length)
}
