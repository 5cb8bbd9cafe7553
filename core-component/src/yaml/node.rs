//! A value of a YAML text.

use std::ops::Range;

/// A value, and its byte range in the text.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// The byte range of the value in the text. The range of a block scalar begins after its `|` or
    /// `>`. The range of an empty value is empty.
    pub span: Range<usize>,
    pub value: Value,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Scalar { text: String, is_plain: bool },
    Sequence { items: Vec<Node>, is_flow: bool },
    Mapping { entries: Vec<Entry>, is_flow: bool },
}

/// An entry of a mapping.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: Node,
    pub value: Node,
}

impl Node {
    /// The text of a scalar. `None` for null, and for a sequence or mapping.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, is_plain } => {
                let is_null =
                    *is_plain && matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL");
                (!is_null).then_some(text.as_str())
            }
            _ => None,
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(self.value, Value::Scalar { .. }) && self.text().is_none()
    }

    /// The items of a sequence. `None` for other values.
    pub fn items(&self) -> Option<&[Node]> {
        match &self.value {
            Value::Sequence { items, .. } => Some(items),
            _ => None,
        }
    }

    /// Whether the value is a sequence or mapping in flow style.
    pub fn is_flow(&self) -> bool {
        matches!(
            self.value,
            Value::Sequence { is_flow: true, .. } | Value::Mapping { is_flow: true, .. }
        )
    }

    /// Whether the value is a list of mappings in block style that each begin right after the dash and
    /// one space. Splices into such a list need no check of the resulting text.
    pub fn is_list_of_blocks(&self, text: &str) -> bool {
        let is_block = |item: &Node| {
            let before = text[..item.span.start].rsplit('\n').next().unwrap_or_default();
            matches!(item.value, Value::Mapping { is_flow: false, .. })
                && before.trim_start() == "- "
        };
        match &self.value {
            Value::Sequence { items, is_flow: false } => items.iter().all(is_block),
            _ => false,
        }
    }

    /// The entries of a mapping. `None` for other values.
    pub fn entries(&self) -> Option<&[Entry]> {
        match &self.value {
            Value::Mapping { entries, .. } => Some(entries),
            _ => None,
        }
    }

    /// The entry of a mapping with this key. `None` if there is none, or if the value is not a
    /// mapping.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries()?.iter().find(|entry| entry.key.text() == Some(key))
    }

    /// The value of a key of a mapping. `None` if the key is missing or its value is null, or if
    /// this value is not a mapping.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value).filter(|value| !value.is_null())
    }

    /// Whether two values are equal. Their places and styles do not count.
    pub fn is_same(&self, other: &Node) -> bool {
        match (&self.value, &other.value) {
            (Value::Scalar { .. }, Value::Scalar { .. }) => self.text() == other.text(),
            (Value::Sequence { items, .. }, Value::Sequence { items: others, .. }) => {
                items.len() == others.len()
                    && items.iter().zip(others).all(|(item, other)| item.is_same(other))
            }
            (Value::Mapping { entries, .. }, Value::Mapping { entries: others, .. }) => {
                let is_same = |(entry, other): (&Entry, &Entry)| {
                    entry.key.is_same(&other.key) && entry.value.is_same(&other.value)
                };
                entries.len() == others.len() && entries.iter().zip(others).all(is_same)
            }
            _ => false,
        }
    }
}

/// Why a text is not YAML, or not in the part of YAML that is supported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct YamlError {
    /// The line number, counted from 1.
    pub line: usize,
    pub message: String,
}
