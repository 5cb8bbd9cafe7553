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

    /// The key of the array of this type in the JSON file.
    pub fn array(self) -> &'static str {
        match self {
            Self::Core => "core_memories",
            Self::Learning => "learnings",
            Self::Task => "tasks",
        }
    }
}

// The variants are in ascending order, because queries sort by this order.
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

// A memory, with normalised timestamps and without the fields of other programs. Many schemas
// contain this type, so its fields have no descriptions: the tools' inputs explain the same fields.
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
    // When `recall_context` last returned the memory, or a tool last corrected it.
    pub accessed_at: Timestamp,
    // How often `recall_context` has returned the memory.
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

/// The fields of a memory from which its version is made.
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
    /// Sets the time of a change. The change also counts as the latest access, so that
    /// `recall_context` returns a memory that was just corrected.
    pub fn touch(&mut self, now: Timestamp) {
        self.updated_at = now.max(self.created_at);
        self.accessed_at = self.updated_at;
    }

    /// The text from which the memory's version is made. An access does not change it.
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

    /// A hash of everything that a search uses of the memory. It is below 2⁴⁰, so that the sum over
    /// all memories of an agent fits in an integer of SQLite.
    pub fn stamp(&self) -> i64 {
        number_of(&format!("{} {}", self.created_at, self.versioned())) & ((1 << 40) - 1)
    }

    /// The length of the memory as compact JSON, in bytes. Both formats take this as its size.
    pub fn bytes(&self) -> u64 {
        serde_json::to_string(self).map_or(0, |json| json.len() as u64)
    }

    /// Whether the columns of the database can hold all values of the memory. An access count from
    /// 2⁶³ on does not fit.
    pub fn fits_columns(&self) -> bool {
        i64::try_from(self.access_count).is_ok()
    }

    /// The texts of the memory that a search looks through: content, category and tags.
    pub fn searched_texts(&self) -> impl Iterator<Item = &str> {
        [self.content.as_str()]
            .into_iter()
            .chain(self.category.as_deref())
            .chain(self.tags.iter().map(String::as_str))
    }
}
