//! The entries that are searched and may be hits.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use crate::digest::number_of;
use crate::index::{Facts, Written};
use crate::storage::Place;
use crate::time::{Date, Timestamp};
use crate::vectors::Similarity;
use crate::zone::Zone;

/// A group of entries with one owner.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Owner {
    pub toolset: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo_root: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

impl Owner {
    /// Returns the owner of everything that a toolset keeps.
    pub fn new(toolset: &'static str) -> Self {
        Self { toolset, ..Self::default() }
    }

    /// Returns this owner, limited to an agent.
    pub fn with_agent(self, agent: &str) -> Self {
        Self { agent: Some(agent.to_owned()), ..self }
    }

    /// Returns this owner, limited to a store.
    pub fn with_store(self, store: &str) -> Self {
        Self { store: Some(store.to_owned()), ..self }
    }

    /// Returns this owner, limited to a repository.
    pub fn with_repository(self, root: &str) -> Self {
        Self { repo_root: Some(root.to_owned()), ..self }
    }

    /// Returns the owner's number in the ids of follow-ups, a hash of toolset, store and agent.
    /// Owners that differ only in their repository have the same number.
    pub fn number(&self) -> i64 {
        let Self { toolset, store, agent, .. } = self;
        let [store, agent] = [store, agent].map(|name| name.as_deref().unwrap_or_default());
        number_of(&format!("{toolset}/{store}/{agent}")).abs()
    }
}

/// A collection of entries in an index, with its owner and its place.
pub(crate) struct OwnedCollection {
    pub owner: Owner,
    pub place: Place,
    pub name: String,
}

/// The id of an entry, in the form that the tools of its toolset take.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub(crate) enum EntryId {
    Number(i64),
    Text(String),
}

/// Returns the schema of an id: a number in layers, a text elsewhere.
pub(crate) fn id_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [{ "type": "integer" }, { "type": "string" }] })
}

/// An entry of a source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    /// The id or the path of the entry. Unset if other fields say where the entry is.
    pub id: Option<EntryId>,
    pub path: Option<String>,
    pub section: Option<String>,
    pub created_at: Option<Timestamp>,
    /// When the entry was last changed, if that is later than `created_at`.
    pub updated_at: Option<Timestamp>,
    /// The day of the entry, if only its day is known.
    pub day: Option<Date>,
    pub text: String,
    /// Further words that the entry is found by, such as its tags or the heading above it.
    pub about: String,
    /// 1 for high, 0 for medium, -1 for low.
    pub importance: i8,
    /// Whether the entry is archived or expired. It is shown only if archived entries are asked
    /// for.
    pub is_archived: bool,
    /// How similar the entry's vector is to the query's vector, if both have one.
    pub similarity: Option<Similarity>,
    /// The call that reads the rest of the entry, or the text around it.
    pub read: Option<ReadCall>,
    /// Whether the call in `read` begins at the passage that a hit shows.
    pub is_read_from_passage: bool,
    /// Where to read the entry, if it was found in an index. Then only the times, the day, the
    /// importance, `is_archived` and the similarity are set here.
    pub unread: Option<Unread>,
}

impl Entry {
    /// Returns the name of an entry without a path, for a message: its section and its id.
    pub(super) fn name(&self) -> Option<String> {
        let section = self.section.as_ref()?;
        Some(match &self.id {
            Some(EntryId::Number(id)) => format!("{section} {id}"),
            Some(EntryId::Text(id)) => format!("{section} {id}"),
            None => section.clone(),
        })
    }

    /// Returns an entry with the facts of its document: times, importance and whether it is
    /// archived.
    pub fn from_facts(facts: Facts, zone: &Zone, now: Timestamp) -> Self {
        let Facts { written, updated_at, expires_at, importance, is_archived, .. } = facts;
        let (created_at, day) = match written {
            Some(Written::At(moment)) => (Some(moment), None),
            Some(Written::On(day)) => (Some(zone.start_of(day)), Some(day)),
            None => (None, None),
        };
        let is_expired = expires_at.is_some_and(|expires_at| expires_at <= now);
        let is_archived = is_archived || is_expired;
        Self { created_at, updated_at, day, importance, is_archived, ..Self::default() }
    }

    /// Returns the path of the entry, even if the entry is still unread. `None` if it has no path.
    pub fn path_among<'a>(&'a self, documents: &'a [UnreadDocument]) -> Option<&'a str> {
        match self.unread.map(|unread| &documents[unread.document].key) {
            Some(DocumentKey::Path(path)) => Some(path),
            Some(DocumentKey::Row { .. }) => None,
            None => self.path.as_deref(),
        }
    }

    /// Returns when the entry was last changed, or else when it was created.
    pub fn moment(&self) -> Option<Timestamp> {
        self.updated_at.or(self.created_at)
    }

    /// Returns the texts that the entry is found by.
    pub fn texts(&self) -> [&str; 2] {
        [&self.about, &self.text]
    }
}

/// An entry that is still to be read: the index of its document in
/// [`Results::documents`](super::Results), and the entry's index within the document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unread {
    pub document: usize,
    pub at: usize,
}

/// A document of entries that are still to be read.
pub(crate) struct UnreadDocument {
    /// The index of the document's owner in the list of owners.
    pub owner: usize,
    pub key: DocumentKey,
    /// The version of the document that the index has.
    pub version: i64,
}

/// The key by which a document is read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DocumentKey {
    /// The path as a hit shows it.
    Path(String),
    /// The key of a row, and the number of its table within the toolset.
    Row { table: u8, key: i64 },
}

/// The entries of a document in order, and the version of the document that was read.
pub(crate) struct ReadEntries {
    pub version: i64,
    pub entries: Vec<Entry>,
}

/// For each document that was asked for, its entries. `None` if the document does not exist.
pub(crate) type ReadDocuments = Vec<Option<ReadEntries>>;

/// Reads documents by their paths, one after the other. Rows result in `None`.
pub(crate) fn read_paths<E>(
    keys: &[&DocumentKey],
    read: impl Fn(&str) -> Result<Option<ReadEntries>, E>,
) -> Result<ReadDocuments, E> {
    let read = |key: &&DocumentKey| match key {
        DocumentKey::Path(path) => read(path),
        DocumentKey::Row { .. } => Ok(None),
    };
    keys.iter().map(read).collect()
}

/// A call of a tool that reads what the toolset keeps.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadCall {
    pub tool: String,
    pub arguments: ReadArguments,
}

/// Arguments of such a call. Each toolset gives those of its own tool.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadArguments {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo_root: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub namespace: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_expired: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_compost: Option<bool>,
}
