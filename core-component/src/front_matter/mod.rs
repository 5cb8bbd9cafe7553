//! YAML front matter: the lines between two `---` at the beginning of a Markdown document.

mod damage;

use std::ops::Range;

use damage::{MAX_NODES, is_like_collection, is_like_mapping, readable_entries, with_repair};

use crate::storage::Splice;
use crate::text::{line_after, lines};
use crate::yaml::{self, Editor, New, Node, YamlError};

/// The maximum length of front matter in bytes.
const MAX_BYTES: usize = 1 << 20;

const FENCE: &str = "---";

/// Some programs write this mark at the beginning of a file. It is part of neither the front matter nor
/// the body.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A document with its front matter, if it has any.
pub(crate) struct FrontMatter<'a> {
    text: &'a str,
    /// The lines between the fences. `None` if the document has no front matter.
    yaml: Option<Range<usize>>,
    /// The offset at which the body begins.
    body: usize,
    /// The mapping of the front matter. `None` if it is empty or cannot be read, or if there is
    /// none.
    root: Option<Node>,
}

/// A change of a key: its new value, or `None` to remove it.
pub(crate) type KeyChange = (&'static str, Option<New>);

impl<'a> FrontMatter<'a> {
    /// Reads a document. The document has front matter if its first line is `---` and a mapping
    /// follows, up to the next `---` line. Otherwise the whole document is the body, and a first
    /// line `---` is a rule.
    ///
    /// # Errors
    ///
    /// The line and the reason why the front matter cannot be read, although it was meant as front
    /// matter.
    pub fn read(text: &'a str) -> Result<Self, YamlError> {
        let (front, error) = Self::read_in_part(text);
        error.map_or(Ok(front), Err)
    }

    /// Reads as much of a document as is valid, and returns it with the error that [`read`](Self::read)
    /// would return. If there is an error, the whole text is the body, and only keys that are valid by
    /// themselves have values.
    pub fn read_in_part(text: &'a str) -> (Self, Option<YamlError>) {
        let start = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
        let whole = Self { text, yaml: None, body: start, root: None };
        let mut lines = lines(&text[start..]).map(|(at, line)| (start + at, line.trim_end()));
        if lines.next().is_none_or(|(_, line)| line != FENCE) {
            return (whole, None);
        }
        let within = |(at, _): &(usize, &str)| *at <= start + MAX_BYTES;
        let mut lines = lines.take_while(within).peekable();
        let Some(&(first, _)) = lines.peek() else { return (whole, None) };
        let Some((end, fence)) = lines.find(|(_, line)| *line == FENCE) else {
            // A key mostly begins in lower case, unlike a sentence below a rule `---`.
            let begins = text[first..].starts_with(|c: char| c.is_lowercase() || c == '#');
            let message = "the front matter has no end within 1 MiB: close it with a line `---`";
            let error = YamlError { line: 1, message: message.to_owned() };
            return (whole, (begins && is_like_mapping(&text[first..])).then_some(error));
        };
        let yaml = &text[first..end];
        let of_document = |error: YamlError| YamlError { line: error.line + 1, ..error };
        match yaml::parse(yaml, MAX_NODES) {
            Ok(root) if root.is_none() && !yaml.trim().is_empty() => (whole, None),
            Ok(root) if root.as_ref().is_none_or(|root| root.entries().is_some()) => {
                let body = line_after(text, end + fence.len());
                (Self { text, yaml: Some(first..end), body, root }, None)
            }
            Ok(_) => (whole, None),
            Err(error) if is_like_mapping(yaml) => {
                let error = of_document(with_repair(yaml, error));
                let root = readable_entries(yaml);
                (Self { yaml: Some(first..end), root, ..whole }, Some(error))
            }
            Err(error) => (whole, is_like_collection(yaml).then(|| of_document(error))),
        }
    }

    /// The text after the front matter.
    pub fn body(&self) -> &'a str {
        &self.text[self.body..]
    }

    /// Returns the value of a key. `None` if the key is missing or its value is null.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.root.as_ref()?.get(key)
    }

    /// Whether the document has front matter.
    pub fn is_there(&self) -> bool {
        self.yaml.is_some()
    }

    /// Whether the front matter has the key, even without a value.
    pub fn has(&self, key: &str) -> bool {
        self.root.as_ref().is_some_and(|root| root.entry(key).is_some())
    }

    /// Returns the line number of a value in the document, counted from 1.
    pub fn line_of(&self, node: &Node) -> usize {
        let start = self.yaml.as_ref().map_or(0, |yaml| yaml.start);
        crate::text::line_of(self.text, start + node.span.start)
    }

    /// Returns the splices that change only these keys, and the body if one is given.
    ///
    /// # Errors
    ///
    /// The front matter has a form in which the keys cannot be changed by splices.
    pub fn change(&self, keys: &[KeyChange], body: Option<&str>) -> Result<Vec<Splice>, YamlError> {
        let mut splices = match (&self.yaml, &self.root) {
            (Some(yaml), Some(root)) => self.change_keys(yaml, root, keys)?,
            (Some(yaml), None) => vec![splice(yaml.end..yaml.end, block(keys))],
            (None, _) => vec![splice(self.body..self.body, fenced(keys))],
        };
        if let Some(body) = body {
            let end = self.text.len();
            let needs_line = self.body > 0 && !self.text[..self.body].ends_with(['\n', '\r']);
            let line = if needs_line && self.yaml.is_some() { "\n" } else { "" };
            splices.push(splice(self.body..end, format!("{line}{body}")));
        }
        Ok(splices)
    }

    fn change_keys(
        &self,
        yaml: &Range<usize>,
        root: &Node,
        keys: &[KeyChange],
    ) -> Result<Vec<Splice>, YamlError> {
        let text = &self.text[yaml.clone()];
        let edit = || {
            let mut editor = Editor::new(text);
            for (key, value) in keys {
                value.iter().for_each(|value| editor.set(root, key, value));
            }
            let removed = keys.iter().filter(|(_, value)| value.is_none());
            removed.for_each(|(key, _)| editor.remove(root, key));
            editor
        };
        let is_right = edit().finish().is_some_and(|edited| has_changed(root, &edited, keys));
        if !is_right {
            let message =
                "the front matter has a form that cannot be changed here: edit it by hand";
            return Err(YamlError { line: 2, message: message.to_owned() });
        }
        let moved = |splice: Splice| Splice {
            range: splice.range.start + yaml.start..splice.range.end + yaml.start,
            ..splice
        };
        Ok(edit().splices().into_iter().map(moved).collect())
    }
}

/// Adds front matter to the text of a document that has none. A byte order mark stays at the
/// beginning.
pub(crate) fn with_front_matter(text: &str, keys: &[KeyChange]) -> String {
    match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(text) => format!("{BYTE_ORDER_MARK}{}", document(keys, text)),
        None => document(keys, text),
    }
}

/// Returns a document with new front matter.
pub(crate) fn document(keys: &[KeyChange], body: &str) -> String {
    fenced(keys) + body
}

fn fenced(keys: &[KeyChange]) -> String {
    format!("{FENCE}\n{}{FENCE}\n", block(keys))
}

fn block(keys: &[KeyChange]) -> String {
    let line = |(key, value): &KeyChange| {
        value.as_ref().map(|value| format!("{key}:{}\n", value.after_colon(2, "\n")))
    };
    keys.iter().filter_map(line).collect()
}

fn splice(range: Range<usize>, text: String) -> Splice {
    Splice { range, inserts: text.into_bytes() }
}

/// Whether an edited mapping has the new values, and all other keys as before.
fn has_changed(before: &Node, edited: &str, keys: &[KeyChange]) -> bool {
    let Ok(Some(after)) = yaml::parse(edited, MAX_NODES) else { return false };
    let Some(entries) = after.entries() else { return false };
    let change = |key: &str| keys.iter().find(|(changed, _)| *changed == key);
    let others = |of: &Node| {
        let entries = of.entries().unwrap_or_default().iter();
        let others = entries.filter(|of| of.key.text().is_none_or(|key| change(key).is_none()));
        others.cloned().collect::<Vec<_>>()
    };
    let kept = others(before);
    let now = others(&after);
    kept.len() == now.len()
        && kept.iter().zip(&now).all(|(a, b)| a.key.is_same(&b.key) && a.value.is_same(&b.value))
        && keys.iter().all(|(key, value)| match value {
            Some(value) => after.entry(key).is_some_and(|entry| value.is_in(&entry.value)),
            None => after.entry(key).is_none(),
        })
        && entries.len() == kept.len() + keys.iter().filter(|(_, value)| value.is_some()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(text: &str, keys: &[KeyChange], body: Option<&str>) -> String {
        let splices = FrontMatter::read(text).expect(text).change(keys, body).expect(text);
        Splice::all_of_text(&splices, text)
    }

    #[test]
    fn a_document_is_split_at_its_second_fence() {
        for (text, body, tags) in [
            ("---\ntags: [a]\n---\n\nBody\n", "\nBody\n", Some("[a]")),
            ("\u{feff}---\r\ntags: [a]\r\n---\r\nBody\r\n", "Body\r\n", Some("[a]")),
            ("---\rtags: [a]\r---\rBody\r\rMore\n", "Body\r\rMore\n", Some("[a]")),
            ("---\r# nothing\r---\r", "---\r# nothing\r---\r", None),
            ("---\n# Title\n---\nBody", "---\n# Title\n---\nBody", None),
            ("---\nText\n---\n", "---\nText\n---\n", None),
            ("\u{feff}---\nText\n---\n", "---\nText\n---\n", None),
            ("---\n- a\n---\nB", "---\n- a\n---\nB", None),
            ("---\n\n[a](b): c: d\n---\nB", "---\n\n[a](b): c: d\n---\nB", None),
            ("---\nThe end: of it\nBody\n", "---\nThe end: of it\nBody\n", None),
            ("---", "---", None),
            ("---\n---\nBody", "Body", None),
            ("---\ntags: [a]\n---", "", Some("[a]")),
            ("Body\n---\na: 1\n---\n", "Body\n---\na: 1\n---\n", None),
            ("\u{feff}Body", "Body", None),
            ("----\na\n----\n", "----\na\n----\n", None),
            ("", "", None),
        ] {
            let read = FrontMatter::read(text).expect(text);
            assert_eq!(read.body(), body, "{text:?}");
            assert_eq!(read.get("tags").is_some(), tags.is_some(), "{text:?}");
        }
        for (text, line) in [
            ("---\na: 1\n", 1),
            ("---\na: [\n---\n", 3),
            ("---\na: b: c\n---\n", 2),
            ("---\n[\n---\n", 3),
        ] {
            assert_eq!(FrontMatter::read(text).err().expect(text).line, line, "{text:?}");
        }
        let many: String = (0..1_000_000).map(|key| format!("k{key}: 1\n")).collect();
        assert!(FrontMatter::read(&format!("---\n{many}---\n")).is_err());
        let many: String = (0..20_000).map(|key| format!("k{key}: 1\n")).collect();
        let error = FrontMatter::read(&format!("---\n{many}---\n")).err().expect("an error");
        assert!(error.message.contains("too many"), "{}", error.message);
    }

    #[test]
    fn a_change_touches_its_keys_and_nothing_else() {
        let keys = [("at", Some(New::plain("2025-01-20"))), ("gone", None)];
        for (text, after) in [
            (
                "---\n# c\nat: 1 # d\nother:   'x'\ngone:\n  - a\n---\nBody\n",
                "---\n# c\nat: 2025-01-20 # d\nother:   'x'\n---\nBody\n",
            ),
            ("---\n{ other: x, gone: 1 }\n---\nB", "---\n{ other: x, at: 2025-01-20 }\n---\nB"),
            ("---\ngone: 1 # c\n---\nBody", "---\nat: 2025-01-20\n---\nBody"),
            ("---\n---\nBody", "---\nat: 2025-01-20\n---\nBody"),
            ("---\n# c\n---\nBody", "---\nat: 2025-01-20\n---\n---\n# c\n---\nBody"),
            ("Body", "---\nat: 2025-01-20\n---\nBody"),
            ("---\r\nother: x\r\n---\r\nB", "---\r\nother: x\r\nat: 2025-01-20\r\n---\r\nB"),
            (
                "---\r# c\rat: 1 # d\rgone:\r  - a\rother: x\r---\rB\r",
                "---\r# c\rat: 2025-01-20 # d\rother: x\r---\rB\r",
            ),
            ("---\rother: x\r---\rB\r", "---\rother: x\rat: 2025-01-20\r---\rB\r"),
        ] {
            assert_eq!(changed(text, &keys, None), after, "{text:?}");
        }
        assert_eq!(changed("---\nat: 1\n---\nOld\n", &[], Some("New")), "---\nat: 1\n---\nNew");
        assert_eq!(changed("---\nat: 1\n---", &[], Some("New")), "---\nat: 1\n---\nNew");
        assert_eq!(
            changed("Old", &[("a", Some(New::plain(1)))], Some("New")),
            "---\na: 1\n---\nNew"
        );
    }
}
