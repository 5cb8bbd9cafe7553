//! One record of an agent's file: a memory, and fields that other programs may have added.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

use super::scan::{Member, unquoted};
use crate::records::memory::{Importance, Kind, Memory};
use crate::time::Timestamp;

/// A scanned record: its members are known, their values are not read yet.
#[derive(Clone, Debug)]
pub(super) struct Record {
    /// Its place in the text, in bytes.
    pub range: std::ops::Range<usize>,
    pub members: Vec<Member>,
}

/// The error of a record that is no valid memory.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RecordError {
    /// Its place in the text, in bytes.
    pub at: usize,
    /// What is wrong there.
    pub message: String,
}

impl Record {
    pub fn member(&self, text: &str, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| unquoted(text, &member.key) == name)
    }

    /// The id. Returns `None` if there is none or it is not a string.
    pub fn id<'a>(&self, text: &'a str) -> Option<Cow<'a, str>> {
        let value = &self.member(text, "id")?.value;
        text[value.clone()].starts_with('"').then(|| unquoted(text, value))
    }

    /// Reads the memory.
    ///
    /// `id`, `content` and `created_at` must be present. Other fields have defaults.
    ///
    /// # Errors
    ///
    /// A field that is missing, or has a value of a wrong type.
    pub fn memory(&self, text: &str, kind: Kind) -> Result<Memory, RecordError> {
        let created_at = self.timestamp(text, "created_at")?;
        let created_at = created_at.ok_or_else(|| self.missing("created_at"))?;
        let updated_at = self.timestamp(text, "updated_at")?.unwrap_or(created_at);
        let accessed_at = self.timestamp(text, "accessed_at")?.unwrap_or(created_at);
        let importance: Option<String> = self.field(text, "importance", "a string")?;
        let importance = match importance {
            None => Importance::default(),
            Some(name) => Importance::from_name(&name)
                .ok_or_else(|| self.wrong(text, "importance", "`high`, `medium` or `low`"))?,
        };
        let named: Option<String> = self.field(text, "type", "a string")?;
        if named.is_some_and(|named| named != kind.name()) {
            return Err(self.wrong(text, "type", &format!("`{}` in this array", kind.name())));
        }
        Ok(Memory {
            id: self.required(text, "id", "a string")?,
            kind,
            content: self.required(text, "content", "a string")?,
            category: self.field(text, "category", "a string or null")?,
            created_at,
            updated_at,
            accessed_at,
            access_count: self
                .field(text, "access_count", "a whole number of 0 or more")?
                .unwrap_or(0),
            tags: self.field(text, "tags", "an array of strings")?.unwrap_or_default(),
            importance,
            archived: self.field(text, "archived", "true or false")?.unwrap_or(false),
        })
    }

    /// Reads the type.
    pub fn kind(&self, text: &str) -> Result<Kind, RecordError> {
        let named: String = self.required(text, "type", "a string")?;
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == named);
        kind.ok_or_else(|| self.wrong(text, "type", "`core`, `learning` or `task`"))
    }

    /// A field's value. Returns `None` if the field is missing or null.
    fn field<T: DeserializeOwned>(
        &self,
        text: &str,
        name: &str,
        expected: &str,
    ) -> Result<Option<T>, RecordError> {
        let Some(member) = self.member(text, name) else { return Ok(None) };
        serde_json::from_str(&text[member.value.clone()])
            .map_err(|_| self.wrong(text, name, expected))
    }

    fn required<T: DeserializeOwned>(
        &self,
        text: &str,
        name: &str,
        expected: &str,
    ) -> Result<T, RecordError> {
        self.field(text, name, expected)?.ok_or_else(|| self.missing(name))
    }

    fn timestamp(&self, text: &str, name: &str) -> Result<Option<Timestamp>, RecordError> {
        let Some(stored) = self.field::<String>(text, name, "a timestamp")? else {
            return Ok(None);
        };
        let timestamp = Timestamp::parse_stored(&stored);
        timestamp.map(Some).ok_or_else(|| self.wrong(text, name, "an ISO 8601 timestamp"))
    }

    fn missing(&self, name: &str) -> RecordError {
        RecordError { at: self.range.start, message: format!("a memory without `{name}`") }
    }

    fn wrong(&self, text: &str, name: &str, expected: &str) -> RecordError {
        let at = self.member(text, name).map_or(self.range.start, |member| member.value.start);
        RecordError { at, message: format!("`{name}` is not {expected}") }
    }
}
