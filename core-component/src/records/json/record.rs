//! One record of an agent's file: a memory, and whatever else another program keeps in it.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

use super::scan::{Member, unquoted};
use crate::records::memory::{Importance, Kind, Memory};
use crate::time::Timestamp;

/// A record, passed over.
#[derive(Clone, Debug)]
pub(super) struct Record {
    /// Where it stands.
    pub range: std::ops::Range<usize>,
    pub members: Vec<Member>,
}

/// What of a record cannot be understood: where, and what it should be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Misfit {
    pub at: usize,
    pub what: String,
}

impl Record {
    pub fn member(&self, text: &str, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| unquoted(text, &member.key) == name)
    }

    /// The id; none where it is no string.
    pub fn id<'a>(&self, text: &'a str) -> Option<Cow<'a, str>> {
        let value = &self.member(text, "id")?.value;
        text[value.clone()].starts_with('"').then(|| unquoted(text, value))
    }

    /// The memory, as it is returned. What a program left out has a default; what is there has to
    /// be what it should be.
    pub fn memory(&self, text: &str, kind: Kind) -> Result<Memory, Misfit> {
        let created_at = self.moment(text, "created_at")?;
        let created_at = created_at.ok_or_else(|| self.lacks("created_at"))?;
        let updated_at = self.moment(text, "updated_at")?.unwrap_or(created_at);
        let accessed_at = self.moment(text, "accessed_at")?.unwrap_or(created_at);
        let importance: Option<String> = self.field(text, "importance", "a string")?;
        let importance = match importance {
            None => Importance::default(),
            Some(name) => Importance::from_name(&name)
                .ok_or_else(|| self.misfit(text, "importance", "`high`, `medium` or `low`"))?,
        };
        let named: Option<String> = self.field(text, "type", "a string")?;
        if named.is_some_and(|named| named != kind.name()) {
            return Err(self.misfit(text, "type", &format!("`{}` in this array", kind.name())));
        }
        Ok(Memory {
            id: self.required(text, "id", "a string")?,
            kind,
            content: self.required(text, "content", "a string")?,
            category: self.field(text, "category", "a string or null")?,
            created_at,
            updated_at,
            accessed_at,
            access_count: self.field(text, "access_count", "a number from 0 on")?.unwrap_or(0),
            tags: self.field(text, "tags", "an array of strings")?.unwrap_or_default(),
            importance,
            archived: self.field(text, "archived", "true or false")?.unwrap_or(false),
        })
    }

    /// The type that it names.
    pub fn kind(&self, text: &str) -> Result<Kind, Misfit> {
        let named: String = self.required(text, "type", "a string")?;
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == named);
        kind.ok_or_else(|| self.misfit(text, "type", "`core`, `learning` or `task`"))
    }

    /// A field's value; none where it is missing or null.
    fn field<T: DeserializeOwned>(
        &self,
        text: &str,
        name: &str,
        expected: &str,
    ) -> Result<Option<T>, Misfit> {
        let Some(member) = self.member(text, name) else { return Ok(None) };
        serde_json::from_str(&text[member.value.clone()])
            .map_err(|_| self.misfit(text, name, expected))
    }

    fn required<T: DeserializeOwned>(
        &self,
        text: &str,
        name: &str,
        expected: &str,
    ) -> Result<T, Misfit> {
        self.field(text, name, expected)?.ok_or_else(|| self.lacks(name))
    }

    fn moment(&self, text: &str, name: &str) -> Result<Option<Timestamp>, Misfit> {
        let stored: Option<String> = self.field(text, name, "a timestamp")?;
        stored
            .map(|stored| Timestamp::parse_stored(&stored))
            .map(|moment| moment.ok_or_else(|| self.misfit(text, name, "an ISO 8601 timestamp")))
            .transpose()
    }

    fn lacks(&self, name: &str) -> Misfit {
        Misfit { at: self.range.start, what: format!("a memory without `{name}`") }
    }

    fn misfit(&self, text: &str, name: &str, expected: &str) -> Misfit {
        let at = self.member(text, name).map_or(self.range.start, |member| member.value.start);
        Misfit { at, what: format!("`{name}` is not {expected}") }
    }
}
