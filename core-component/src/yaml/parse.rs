//! Parses a text into nodes. Neither the parser nor this module is recursive, so deep nesting needs
//! no stack.

use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use super::lines;
use super::node::{Entry, Node, Value, YamlError};
use crate::text::line_of;

/// The maximum depth of collections.
const MAX_DEPTH: usize = 32;

/// Parses a text with at most `max_nodes` values and keys. `None` if the text has no value, for
/// example only comments.
///
/// # Errors
///
/// The first reason why the text cannot be used: it is not YAML, is nested too deep or has too many
/// values, has an anchor, an alias or a tag, has more than one document, or has the same key twice.
pub(crate) fn parse(text: &str, max_nodes: usize) -> Result<Option<Node>, YamlError> {
    // A value or key takes at least three bytes. So a text this short cannot have too many nodes.
    let is_short = text.len() / 3 <= max_nodes;
    match lines::read(text).filter(|_| is_short) {
        Some(root) => Ok(Some(root)),
        None => parse_events(text, max_nodes),
    }
}

/// Parses a text of any form with the full parser.
pub(super) fn parse_events(text: &str, max_nodes: usize) -> Result<Option<Node>, YamlError> {
    let mut builder = Builder::new(text, max_nodes);
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| YamlError {
            line: error.marker().line(),
            message: error.info().to_owned(),
        })?;
        builder.take(event, span)?;
    }
    Ok(builder.root)
}

/// A sequence or mapping whose end has not been read yet.
struct Open {
    start: usize,
    is_flow: bool,
    contents: Contents,
}

enum Contents {
    Sequence(Vec<Node>),
    Mapping { entries: Vec<Entry>, key: Option<Node> },
}

struct Builder<'a> {
    text: &'a str,
    /// The byte offset of each character. Empty if the text is ASCII: then a character's index is its
    /// offset.
    offsets: Vec<u32>,
    open: Vec<Open>,
    nodes_left: usize,
    documents: usize,
    root: Option<Node>,
}

impl<'a> Builder<'a> {
    fn new(text: &'a str, max_nodes: usize) -> Self {
        let offsets = if text.is_ascii() {
            Vec::new()
        } else {
            text.char_indices().map(|(at, _)| at as u32).collect()
        };
        Self { text, offsets, open: Vec::new(), nodes_left: max_nodes, documents: 0, root: None }
    }

    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), YamlError> {
        let range = self.bytes(span);
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(self.error(range.start, "a second document begins here"));
                }
            }
            Event::Alias(_) => return Err(self.unsupported(range.start)),
            Event::Scalar(_, _, anchor, tag) if anchor > 0 || tag.is_some() => {
                return Err(self.unsupported(range.start));
            }
            Event::SequenceStart(anchor, tag) | Event::MappingStart(anchor, tag)
                if anchor > 0 || tag.is_some() =>
            {
                return Err(self.unsupported(range.start));
            }
            Event::Scalar(text, style, ..) => {
                let is_plain = style == ScalarStyle::Plain;
                self.add(Node {
                    span: range,
                    value: Value::Scalar { text: text.into_owned(), is_plain },
                })?;
            }
            Event::SequenceStart(..) => self.begin(&range, Contents::Sequence(Vec::new()))?,
            Event::MappingStart(..) => {
                self.begin(&range, Contents::Mapping { entries: Vec::new(), key: None })?
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(range.start)?,
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
        Ok(())
    }

    fn begin(&mut self, range: &Range<usize>, contents: Contents) -> Result<(), YamlError> {
        if self.open.len() == MAX_DEPTH {
            let message = format!("collections are nested more than {MAX_DEPTH} deep");
            return Err(self.error(range.start, &message));
        }
        // The start of a block collection has an empty span, because no bracket begins it.
        self.open.push(Open { start: range.start, is_flow: !range.is_empty(), contents });
        Ok(())
    }

    fn end(&mut self, at: usize) -> Result<(), YamlError> {
        let Open { start, is_flow, contents } = self.open.pop().expect("it has begun");
        let last = match &contents {
            Contents::Sequence(items) => items.last(),
            Contents::Mapping { entries, .. } => entries.last().map(|entry| &entry.value),
        };
        if let Contents::Mapping { entries, .. } = &contents
            && let Some(twin) = twin(entries)
        {
            let name = twin.text().unwrap_or_default().escape_debug();
            return Err(self.error(twin.span.start, &format!("the key `{name}` is there twice")));
        }
        // A flow collection ends with its bracket, a block collection with its last value.
        let end = if is_flow { at + 1 } else { last.map_or(start, |last| last.span.end) };
        let value = match contents {
            Contents::Sequence(items) => Value::Sequence { items, is_flow },
            Contents::Mapping { entries, .. } => Value::Mapping { entries, is_flow },
        };
        self.add(Node { span: start..end, value })
    }

    fn add(&mut self, node: Node) -> Result<(), YamlError> {
        if self.nodes_left == 0 {
            return Err(self.error(node.span.start, "there are too many values"));
        }
        self.nodes_left -= 1;
        let text = self.text;
        match self.open.last_mut().map(|open| &mut open.contents) {
            None => self.root = Some(node),
            Some(Contents::Sequence(items)) => items.push(node),
            Some(Contents::Mapping { entries, key }) => match key.take() {
                Some(key) => {
                    let value = Node { span: place_of(text, &key, &node), ..node };
                    entries.push(Entry { key, value });
                }
                None if matches!(node.value, Value::Scalar { .. }) => *key = Some(node),
                None => return Err(error(text, node.span.start, "a key is a text")),
            },
        }
        Ok(())
    }

    fn bytes(&self, span: Span) -> Range<usize> {
        let byte = |index: usize| {
            if self.offsets.is_empty() {
                index.min(self.text.len())
            } else {
                self.offsets.get(index).map_or(self.text.len(), |at| *at as usize)
            }
        };
        let start = byte(span.start.index());
        start..byte(span.end.index()).max(start)
    }

    fn unsupported(&self, at: usize) -> YamlError {
        self.error(at, "anchors, aliases and tags are not supported: write the value itself")
    }

    fn error(&self, at: usize, message: &str) -> YamlError {
        error(self.text, at, message)
    }
}

/// Returns the place of a value. The parser places an empty value before the colon of its key; this
/// corrects it.
fn place_of(text: &str, key: &Node, value: &Node) -> Range<usize> {
    if !matches!(&value.value, Value::Scalar { text, is_plain: true } if text.is_empty()) {
        return value.span.clone();
    }
    let end = key.span.end;
    let rest = text[end..].trim_start();
    let at = if rest.starts_with(':') { text.len() - rest.len() + 1 } else { end };
    at..at
}

/// Returns a key that occurs a second time in a mapping. `None` if all keys differ.
fn twin(entries: &[Entry]) -> Option<&Node> {
    let mut keys: Vec<&Node> = entries.iter().map(|entry| &entry.key).collect();
    keys.sort_by_key(|key| (key.text(), key.span.start));
    let twins = keys.windows(2).find(|pair| pair[0].text() == pair[1].text());
    twins.map(|pair| pair[1])
}

fn error(text: &str, at: usize, message: &str) -> YamlError {
    YamlError { line: line_of(text, at), message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_these_formats_have_no_use_for_is_refused_with_its_line() {
        let error = |text: &str, max: usize| parse(text, max).expect_err(text);
        for (text, line) in [
            ("a: &x 1\n", 1),
            ("a: 1\nb: *x\n", 2),
            ("a: !!str 1\n", 1),
            ("a: &x [1]\n", 1),
            ("a: 1\na: 2\n", 2),
            ("? [a]\n: 1\n", 1),
            ("a: 1\n---\nb: 1\n", 2),
            ("a: [1\n", 2),
            ("a: 'b\n", 1),
            ("a: b: c\n", 1),
        ] {
            assert_eq!(error(text, 100).line, line, "{text:?}: {:?}", error(text, 100));
        }
        assert!(error(&"[".repeat(100), 1_000).message.contains("more than 32 deep"));
        let deep: String = (0..100).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
        assert!(error(&deep, 1_000).message.contains("more than 32 deep"));
        let many: String = (0..1_000_000).map(|key| format!("k{key}: 1\n")).collect();
        assert!(error(&many, 1_000).message.contains("too many"));
    }

    #[test]
    fn values_have_their_places_in_bytes() {
        let text = "é: [à, b] # c\nk: |\n  lit\n\nn: \n";
        let root = parse(text, 100).expect("YAML").expect("a value");
        let of = |key: &str| &root.entry(key).expect("it is there").value;
        assert_eq!(&text[of("é").span.clone()], "[à, b]");
        assert_eq!(of("k").text(), Some("lit\n"));
        assert!(of("n").is_null() && root.get("n").is_none());
        assert_eq!((of("n").span.clone(), root.span.end), (30..30, 30), "after the colon");
        assert!(parse("# c\n", 100).expect("YAML").is_none());
    }
}
