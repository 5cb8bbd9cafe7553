//! A memory: the object of spec 001 with the limits of spec 004.
//!
//! Types that many schemas contain have `//` comments: each schema would repeat the text of a `///`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::index::number_of;
use crate::time::Timestamp;
use crate::version::version;

// The type of a memory. The JSON file has an array for each type.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Core,
    Learning,
    Task,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::Core, Self::Learning, Self::Task];

    pub fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Learning => "learning",
            Self::Task => "task",
        }
    }

    /// The name of its array in the JSON file.
    pub fn array(self) -> &'static str {
        match self {
            Self::Core => "core_memories",
            Self::Learning => "learnings",
            Self::Task => "tasks",
        }
    }
}

// In ascending order: queries sort by it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub(super) enum Importance {
    Low,
    #[default]
    Medium,
    High,
}

impl Importance {
    pub const ALL: [Self; 3] = [Self::Low, Self::Medium, Self::High];

    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|importance| importance.name() == name)
    }
}

// A memory: timestamps are normalised, and fields of other programs are left out. Many schemas contain
// it, so its fields have no descriptions: the tools' inputs explain the same fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Memory {
    pub id: String,
    #[serde(rename = "type")]
    #[schemars(with = "String")]
    pub kind: Kind,
    pub content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    // When `recall_context` last returned it, or a later change.
    pub accessed_at: Timestamp,
    // How often `recall_context` has returned it.
    pub access_count: u64,
    pub tags: Vec<String>,
    #[schemars(with = "String")]
    pub importance: Importance,
    pub archived: bool,
}

// A memory with its version, as reads return it.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Returned {
    id: String,
    #[serde(rename = "type")]
    #[schemars(with = "String")]
    kind: Kind,
    content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<String>,
    created_at: Timestamp,
    updated_at: Timestamp,
    accessed_at: Timestamp,
    access_count: u64,
    tags: Vec<String>,
    #[schemars(with = "String")]
    importance: Importance,
    archived: bool,
    version: String,
}

impl From<Memory> for Returned {
    fn from(memory: Memory) -> Self {
        let version = memory.version();
        Self {
            id: memory.id,
            kind: memory.kind,
            content: memory.content,
            category: memory.category,
            created_at: memory.created_at,
            updated_at: memory.updated_at,
            accessed_at: memory.accessed_at,
            access_count: memory.access_count,
            tags: memory.tags,
            importance: memory.importance,
            archived: memory.archived,
            version,
        }
    }
}

/// The fields of a memory that its version covers.
#[derive(Serialize)]
struct Versioned<'a> {
    #[serde(rename = "type")]
    kind: Kind,
    content: &'a str,
    category: Option<&'a str>,
    updated_at: Timestamp,
    tags: &'a [String],
    importance: Importance,
    archived: bool,
}

impl Memory {
    /// Notes a change at this moment. It counts as the latest access too, so that a recall shows what
    /// was just corrected.
    pub fn touch(&mut self, now: Timestamp) {
        self.updated_at = now.max(self.created_at);
        self.accessed_at = self.updated_at;
    }

    /// The text that its version is made of. An access changes no version.
    pub fn versioned(&self) -> String {
        let versioned = Versioned {
            kind: self.kind,
            content: &self.content,
            category: self.category.as_deref(),
            updated_at: self.updated_at,
            tags: &self.tags,
            importance: self.importance,
            archived: self.archived,
        };
        serde_json::to_string(&versioned).expect("a memory is JSON")
    }

    pub fn version(&self) -> String {
        version(self.versioned())
    }

    /// A number of what a search needs of it, below 2⁴⁰: the sum of as many as an agent can have is an
    /// integer of SQLite.
    pub fn stamp(&self) -> i64 {
        number_of(&format!("{} {}", self.created_at, self.versioned())) & ((1 << 40) - 1)
    }

    /// Its size in both formats: the length of its compact JSON in bytes.
    pub fn bytes(&self) -> u64 {
        serde_json::to_string(self).map_or(0, |json| json.len() as u64)
    }

    /// Whether the columns of the database can hold all of its values.
    pub fn fits_columns(&self) -> bool {
        i64::try_from(self.access_count).is_ok()
    }

    /// The texts that a search looks through.
    pub fn searched_texts(&self) -> impl Iterator<Item = &str> {
        [self.content.as_str()]
            .into_iter()
            .chain(self.category.as_deref())
            .chain(self.tags.iter().map(String::as_str))
    }
}
