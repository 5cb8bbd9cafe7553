//! One record of an agent's file: a memory, and fields that other programs may have added.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

use super::scan::{Flaw, Member, Scanner, unquoted};
use crate::time::Timestamp;
use crate::toolsets::records::memory::{Importance, Kind, Memory};

/// A scanned record: the positions of its members are known, their values are not read.
#[derive(Clone, Debug)]
pub(super) struct Record {
    /// The range of the record in the text, in bytes.
    pub range: std::ops::Range<usize>,
    /// The members of the object. Empty if the record is not an object.
    pub members: Vec<Member>,
    /// The fault that the scan found in the record. Such a record cannot be read.
    pub flaw: Option<RecordError>,
}

/// The error of a record that cannot be read as a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RecordError {
    /// The offset of the fault in the text, in bytes.
    pub at: usize,
    /// The fault, in words for a message.
    pub message: String,
}

impl From<Flaw> for RecordError {
    fn from(flaw: Flaw) -> Self {
        Self { at: flaw.at, message: flaw.what.to_owned() }
    }
}

impl Record {
    /// Scans one item of an array. The item can be any JSON value: a record that is not an object
    /// gets a flaw.
    ///
    /// # Errors
    ///
    /// If the item is not JSON: then its end is not known.
    pub fn scan(scanner: &mut Scanner<'_>) -> Result<Self, Flaw> {
        let start = scanner.position();
        let is_object = scanner.peek() == Some(b'{');
        let (members, flaw) = scanner.apart(|scanner| {
            if is_object {
                scanner.object(|scanner, _| scanner.value())
            } else {
                scanner.value().map(|()| Vec::new())
            }
        })?;
        let no_object = Flaw { at: start, what: "expected an object" };
        let flaw = if is_object { flaw } else { Some(no_object) };
        Ok(Self { range: start..scanner.position(), members, flaw: flaw.map(Into::into) })
    }

    /// Scans a value that the file has in place of an array. The result is a record that cannot be
    /// read.
    ///
    /// # Errors
    ///
    /// If the value is not JSON.
    pub fn scan_other(scanner: &mut Scanner<'_>) -> Result<Self, Flaw> {
        let start = scanner.position();
        let no_array = Flaw { at: start, what: "expected an array" };
        scanner.apart(Scanner::value)?;
        let range = start..scanner.position();
        Ok(Self { range, members: Vec::new(), flaw: Some(no_array.into()) })
    }

    pub fn member(&self, text: &str, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| unquoted(text, &member.key) == name)
    }

    /// The id. `None` if the record has no `id`, or its `id` is not a string.
    pub fn id<'a>(&self, text: &'a str) -> Option<Cow<'a, str>> {
        let value = &self.member(text, "id")?.value;
        text[value.clone()].starts_with('"').then(|| unquoted(text, value))
    }

    /// Reads the memory of this record.
    ///
    /// `id`, `content` and `created_at` must be present. Other fields have defaults.
    ///
    /// # Errors
    ///
    /// If a field is missing or has a value of a wrong type, if a key occurs twice, if a string has
    /// half of a surrogate pair, or if the record is not an object.
    pub fn memory(&self, text: &str, kind: Kind) -> Result<Memory, RecordError> {
        if let Some(flaw) = &self.flaw {
            return Err(flaw.clone());
        }
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

    /// Whether the members that an access changes can be read: `access_count` and `accessed_at`.
    pub fn has_readable_access(&self, text: &str) -> bool {
        let count = self.field::<u64>(text, "access_count", "a whole number of 0 or more");
        count.is_ok() && self.timestamp(text, "accessed_at").is_ok()
    }

    /// Reads the member `type`.
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
