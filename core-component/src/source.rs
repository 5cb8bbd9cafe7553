//! The entries that a search looks through. Each toolset brings its own, see
//! [`Source`](crate::tool::Source).

use serde::Serialize;

use crate::index::{Facts, Index, Known, Written};
use crate::names::AgentName;
use crate::ranking::{Corpus, Counts, Match, Query, Ranked, Vector};
use crate::time::{Date, Timestamp};
use crate::work::Work;
use crate::zone::Zone;

/// A search, as sources see it.
pub(crate) struct Request {
    pub query: Query,
    /// The model whose vectors count, too, if there is one.
    pub embedder: Option<String>,
    /// Its vector of the query, if the host has got it.
    pub vector: Option<Vector>,
    /// The only agent to look at.
    pub agent: Option<AgentName>,
    /// The only repository to look at.
    pub repo_root: Option<String>,
    /// The earliest and the latest moment of creation, both inclusive.
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    /// The zone of days.
    pub zone: Zone,
    /// The moment of the call.
    pub now: Timestamp,
    /// Whether archived and expired entries can be hits, and summaries of entries that are gone.
    pub include_archived: bool,
    /// Whether documents are read even if an index knows them.
    pub ignores_indexes: bool,
    /// The work that it may do.
    pub work: Work,
}

impl Request {
    /// The query for which indexes are looked at.
    pub fn indexed_query(&self) -> Option<&Query> {
        (!self.ignores_indexes).then_some(&self.query)
    }

    /// Whether the entries of an agent are asked for.
    pub fn is_for(&self, agent: &str) -> bool {
        let only = self.agent.as_ref().map(AgentName::as_str);
        only.is_none_or(|only| only == agent)
    }

    /// Whether an entry of a moment can be a hit.
    pub fn admits(&self, created_at: Option<Timestamp>, is_archived: bool) -> bool {
        self.covers(created_at.map(|moment| (moment, moment)))
            && (self.include_archived || !is_archived)
    }

    /// Whether an entry can be a hit.
    fn admits_entry(&self, entry: &Entry) -> bool {
        let last = |first: Timestamp| entry.day.map_or(first, |day| self.zone.end_of(day));
        self.covers(entry.created_at.map(|first| (first, last(first))))
            && (self.include_archived || !entry.is_archived)
    }

    /// Whether an entry cannot be a hit only because it has no date.
    fn misses_date_of(&self, entry: &Entry) -> bool {
        let is_shown = self.include_archived || !entry.is_archived;
        entry.created_at.is_none() && is_shown && !self.covers(None)
    }

    /// Whether a span of time meets the range. An entry without one is in no range.
    fn covers(&self, span: Option<(Timestamp, Timestamp)>) -> bool {
        match span {
            Some((first, last)) => {
                self.from.is_none_or(|from| from <= last) && self.to.is_none_or(|to| first <= to)
            }
            None => self.from.is_none() && self.to.is_none(),
        }
    }
}

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

/// The id of an entry, in the form that the tools of its toolset take.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub(crate) enum EntryId {
    Number(i64),
    Text(String),
}

/// An entry of a source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    /// Its id or its path, unless other fields say where it is.
    pub id: Option<EntryId>,
    pub path: Option<String>,
    pub section: Option<String>,
    pub created_at: Option<Timestamp>,
    /// The day, if nothing more is known of the moment.
    pub day: Option<Date>,
    pub text: String,
    /// Words that an entry is found by, too, such as its tags or the heading above it.
    pub about: String,
    /// 1 for high, 0 for medium, -1 for low.
    pub importance: i8,
    /// Whether it is shown only if archived entries are asked for.
    pub is_archived: bool,
    /// How similar its vector is to that of the query, if both have one.
    pub similarity: Option<f64>,
    /// The call that reads the rest, or what stands around it.
    pub read: Option<ReadCall>,
    /// Whether that call begins at the passage that a hit shows.
    pub is_read_from_passage: bool,
    /// Where the entry is, if it comes from an index. Then only the moment and the day, the importance
    /// and whether it is archived are set here.
    pub unread: Option<Unread>,
}

impl Entry {
    /// The name of an entry that has no path, in a message: its section and its id.
    fn name(&self) -> Option<String> {
        let section = self.section.as_ref()?;
        Some(match &self.id {
            Some(EntryId::Number(id)) => format!("{section} {id}"),
            Some(EntryId::Text(id)) => format!("{section} {id}"),
            None => section.clone(),
        })
    }

    /// What the facts of its document say of an entry.
    pub fn of(facts: Facts, zone: &Zone, now: Timestamp) -> Self {
        let Facts { written, expires_at, importance, is_archived, .. } = facts;
        let (created_at, day) = match written {
            Some(Written::At(moment)) => (Some(moment), None),
            Some(Written::On(day)) => (Some(zone.start_of(day)), Some(day)),
            None => (None, None),
        };
        let is_expired = expires_at.is_some_and(|expires_at| expires_at <= now);
        let is_archived = is_archived || is_expired;
        Self { created_at, day, importance, is_archived, ..Self::default() }
    }

    /// The texts that it is found by.
    pub fn texts(&self) -> [&str; 2] {
        [&self.about, &self.text]
    }
}

/// An entry that is still to be read: its document, and its index among the document's entries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unread {
    pub document: usize,
    pub at: usize,
}

/// A document of entries that are still to be read.
pub(crate) struct UnreadDocument {
    /// The index of its owner.
    pub owner: usize,
    pub key: DocumentKey,
    /// The number of the version that the index has.
    pub version: i64,
}

/// What a document is read by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DocumentKey {
    /// The path as a hit shows it.
    Path(String),
    /// The key of a row, and the number of its table among those of its toolset.
    Row { table: u8, key: i64 },
}

/// The entries of a document in order, with the number of its version.
pub(crate) struct ReadEntries {
    pub version: i64,
    pub entries: Vec<Entry>,
}

/// Of each document that was asked for; `None` if it is not there.
pub(crate) type ReadDocuments = Vec<Option<ReadEntries>>;

/// Reads documents by their paths, one after the other.
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

/// Entries that were kept within this time of each other belong together, in milliseconds.
const MAX_GAP: i64 = 30 * 60 * 1_000;

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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_expired: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_compost: Option<bool>,
}

/// Collects the entries of all sources.
pub(crate) struct Entries<'a> {
    pub request: &'a Request,
    corpus: Corpus<(usize, Entry)>,
    owners: Vec<(Owner, u64)>,
    documents: Vec<UnreadDocument>,
    /// The moment of the last entry of the run.
    last: Option<Timestamp>,
    /// The owners that a search for one agent leaves out.
    others: Vec<Owner>,
    hidden: Vec<f64>,
    skipped: Vec<Skipped>,
    undated: Vec<Undated>,
    warnings: Vec<String>,
    wants_vector: bool,
}

/// A document with words of the query that a range of time leaves out, because it has no date.
#[derive(PartialEq, Eq)]
pub(crate) struct Undated {
    /// The index of its owner.
    pub owner: usize,
    pub path: String,
}

/// What a search did not read, because its work was used up.
pub(crate) struct Skipped {
    pub owner: Owner,
    /// Such as `12 logs`.
    pub what: String,
}

/// The entries of a search, with the score of each candidate.
pub(crate) struct Found {
    pub candidates: Vec<Ranked<(usize, Entry)>>,
    /// The owners with the numbers of their entries.
    pub owners: Vec<(Owner, u64)>,
    pub documents: Vec<UnreadDocument>,
    /// Whether any entry has a word of the query, also one that the request does not admit.
    pub has_word: bool,
    /// The days of the hits that the search would have without its dates, in words, if it has none.
    pub other_days: Option<String>,
    pub others: Vec<Owner>,
    /// Of each summary that is shown only if it is asked for, the share of the query's own terms
    /// that it has.
    pub hidden: Vec<f64>,
    pub skipped: Vec<Skipped>,
    pub undated: Vec<Undated>,
    pub warnings: Vec<String>,
    /// Whether entries have vectors and the request has none.
    pub wants_vector: bool,
    /// Whether no source could be searched.
    pub is_unsearched: bool,
}

impl<'a> Entries<'a> {
    pub fn of(request: &'a Request) -> Self {
        let corpus = Corpus::of(&request.query);
        let (owners, documents, others) = (Vec::new(), Vec::new(), Vec::new());
        let (hidden, skipped, warnings) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            request,
            corpus,
            owners,
            documents,
            last: None,
            others,
            hidden,
            skipped,
            undated: Vec::new(),
            warnings,
            wants_vector: false,
        }
    }

    /// Begins the entries of an owner.
    pub fn begin(&mut self, owner: Owner) {
        self.begin_run();
        self.owners.push((owner, 0));
    }

    /// Begins a run of entries that belong together: those around an entry count for its rank.
    pub fn begin_run(&mut self) {
        self.corpus.begin_run();
        self.last = None;
    }

    /// Adds an entry of the last owner. If it was kept long after the entry before, or before it, it
    /// begins a run.
    pub fn add_in_time(&mut self, entry: Entry) {
        self.go_on_to(entry.created_at);
        self.add(entry);
    }

    /// Counts entries of the last owner without a term of the query.
    pub fn count(&mut self, entries: u64) {
        let owner = self.owners.len() - 1;
        self.owners[owner].1 += entries;
        self.corpus.count(entries, &[]);
    }

    /// Adds a row of the last owner, as [`add_in_time`](Self::add_in_time) adds an entry. A row that
    /// `is_similar` is a match even if it has no term of the query.
    pub fn add_row(&mut self, entry: Entry, counts: &Counts, is_similar: bool) {
        self.go_on_to(entry.created_at);
        if counts.any() || !is_similar {
            return self.add_with(entry, counts);
        }
        self.count(1);
        let owner = self.owners.len() - 1;
        let can_be_hit = self.request.admits_entry(&entry);
        self.corpus.add_counted(counts, Match::Vector, can_be_hit.then_some((owner, entry)));
    }

    /// Notes a row of the last owner that is to be read if it is a hit.
    pub fn unread_row(&mut self, table: u8, key: i64, version: i64) -> Unread {
        let owner = self.owners.len() - 1;
        let key = DocumentKey::Row { table, key };
        self.documents.push(UnreadDocument { owner, key, version });
        Unread { document: self.documents.len() - 1, at: 0 }
    }

    /// Begins a run if the next entry was kept long after the last one, or before it.
    fn go_on_to(&mut self, created_at: Option<Timestamp>) {
        let moments = self.last.zip(created_at);
        let gap = moments.map(|(last, moment)| moment.milliseconds() - last.milliseconds());
        if gap.is_some_and(|gap| !(0..=MAX_GAP).contains(&gap)) {
            self.begin_run();
        }
        self.last = created_at;
    }

    /// Adds an entry of the last owner.
    pub fn add(&mut self, entry: Entry) {
        let counts = self.request.query.count(entry.texts());
        self.note_undated(&entry, &counts);
        self.add_with(entry, &counts);
    }

    fn add_with(&mut self, entry: Entry, counts: &Counts) {
        let owner = self.owners.len() - 1;
        self.owners[owner].1 += 1;
        let can_be_hit = self.request.admits_entry(&entry);
        self.corpus.add(counts, can_be_hit.then_some((owner, entry)));
    }

    /// Adds the entries of a document of the last owner as an index has them.
    pub fn add_known(&mut self, path: String, index: &Index<'_>, known: Known) {
        if !index.has_match(known) {
            return self.count(index.number_of_entries(known) as u64);
        }
        let (document, owner) = (self.documents.len(), self.owners.len() - 1);
        let key = DocumentKey::Path(path);
        self.documents.push(UnreadDocument { owner, key, version: known.version });
        let facts = Entry::of(known.facts, &self.request.zone, self.request.now);
        for (at, (counts, begins_run)) in index.entries(known).enumerate() {
            if begins_run {
                self.begin_run();
            }
            let entry = Entry { unread: Some(Unread { document, at }), ..facts.clone() };
            self.note_undated(&entry, &counts);
            self.add_with(entry, &counts);
        }
    }

    /// Notes the document of an entry of the last owner, if it is left out because it has no date.
    fn note_undated(&mut self, entry: &Entry, counts: &Counts) {
        let has_word = counts.has_any(self.request.query.own_terms());
        if !has_word || !self.request.misses_date_of(entry) {
            return;
        }
        let key = entry.unread.map(|unread| &self.documents[unread.document].key);
        let path = match key {
            Some(DocumentKey::Path(path)) => Some(path.clone()),
            Some(DocumentKey::Row { .. }) => None,
            None => entry.path.clone().or_else(|| entry.name()),
        };
        let Some(path) = path else { return };
        let undated = Undated { owner: self.owners.len() - 1, path };
        if self.undated.last() != Some(&undated) {
            self.undated.push(undated);
        }
    }

    /// Notes an owner that the search leaves out because of its `agent`.
    pub fn leave_out(&mut self, owner: Owner) {
        self.others.push(owner);
    }

    /// Notes a summary that matches and is shown only if it is asked for.
    pub fn hide(&mut self, counts: &Counts) {
        self.hidden.push(counts.coverage(self.request.query.own_terms()));
    }

    /// Notes what was not read of an owner, because the work was used up.
    pub fn skip(&mut self, owner: Owner, what: &str) {
        self.skipped.push(Skipped { owner, what: what.to_owned() });
    }

    /// Notes how many documents or memories of an owner were not read, if there are any.
    pub fn skip_some(&mut self, owner: Owner, count: u64, one: &str, many: &str) {
        match count {
            0 => {}
            1 => self.skip(owner, &format!("1 {one}")),
            _ => self.skip(owner, &format!("{count} {many}")),
        }
    }

    /// Notes that a vector of the query could be compared, which the request does not have.
    pub fn want_vector(&mut self) {
        self.wants_vector = true;
    }

    /// Notes what could not be searched.
    pub fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    pub fn found(self) -> Found {
        let Self {
            corpus,
            owners,
            documents,
            others,
            hidden,
            skipped,
            undated,
            warnings,
            wants_vector,
            ..
        } = self;
        let has_word = corpus.has_any_term();
        Found {
            candidates: corpus.ranked(),
            owners,
            documents,
            has_word,
            other_days: None,
            others,
            hidden,
            skipped,
            undated,
            warnings,
            wants_vector,
            is_unsearched: false,
        }
    }
}
