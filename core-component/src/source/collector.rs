//! Collects the entries of all sources of a search.

use super::entry::{DocumentKey, Entry, Owner, Unread, UnreadDocument};
use super::newest::Newest;
use super::request::Request;
use crate::index::{DocumentIndex, Known};
use crate::ranking::{Counts, Ranked, Scorer};
use crate::time::Timestamp;

/// The longest time between neighbouring entries of one run, in milliseconds.
const MAX_GAP: i64 = 30 * 60 * 1_000;

/// Collects the entries of all sources.
pub(crate) struct Collector<'a> {
    pub request: &'a Request,
    scorer: Scorer<(usize, Entry)>,
    owners: Vec<(Owner, u64)>,
    documents: Vec<UnreadDocument>,
    /// The moment of the entry that was added last to the current run.
    last: Option<Timestamp>,
    /// The owners that a search for one agent leaves out, see [`leave_out`](Self::leave_out).
    others: Vec<Owner>,
    hidden: Vec<f64>,
    skipped: Vec<Skipped>,
    undated: Vec<Undated>,
    warnings: Vec<String>,
    newest: Newest,
}

/// A document that has words of the query, but is left out: the search is for a range of time, and
/// the document has no date.
#[derive(PartialEq, Eq)]
pub(crate) struct Undated {
    /// The index of the document's owner in [`Results::owners`].
    pub owner: usize,
    pub path: String,
}

/// Documents or rows that a search did not read, because its budget was used up.
pub(crate) struct Skipped {
    pub owner: Owner,
    /// How many of which kind were skipped, such as `12 logs`.
    pub what: String,
}

/// The entries of a search, with the score of each candidate.
pub(crate) struct Results {
    pub candidates: Vec<Ranked<(usize, Entry)>>,
    /// The owners, each with the number of its entries.
    pub owners: Vec<(Owner, u64)>,
    pub documents: Vec<UnreadDocument>,
    /// Whether any entry has a word of the query, even an entry that the request does not admit.
    /// Always true for a search for the newest entries.
    pub has_word: bool,
    /// If the search has no hits, but would have some without its date range: the days of these hits,
    /// in words.
    pub other_days: Option<String>,
    pub others: Vec<Owner>,
    /// For each matching summary that is hidden, the share of the query's own terms that the summary
    /// has. Summaries are hidden if the request does not ask for archived entries.
    pub hidden: Vec<f64>,
    pub skipped: Vec<Skipped>,
    pub undated: Vec<Undated>,
    pub warnings: Vec<String>,
    /// Whether no source could be searched.
    pub is_unsearched: bool,
    /// Whether the search includes a toolset whose entries belong to agents.
    pub searches_agents: bool,
}

impl<'a> Collector<'a> {
    pub fn new(request: &'a Request) -> Self {
        let scorer = Scorer::new(&request.query);
        let owners = Vec::new();
        let documents = Vec::new();
        let others = Vec::new();
        let hidden = Vec::new();
        let skipped = Vec::new();
        let warnings = Vec::new();
        Self {
            request,
            scorer,
            owners,
            documents,
            last: None,
            others,
            hidden,
            skipped,
            undated: Vec::new(),
            warnings,
            newest: Newest::default(),
        }
    }

    /// Removes the limit on the number of candidates: all entries with words of the query are kept.
    pub fn without_limit(self) -> Self {
        Self { scorer: self.scorer.without_limit(), ..self }
    }

    /// Begins the entries of an owner: entries that are added from now on belong to `owner`.
    pub fn begin(&mut self, owner: Owner) {
        self.request.vectors.begin(owner.number());
        self.begin_run();
        self.owners.push((owner, 0));
    }

    /// Begins a run of related entries: the neighbours of an entry within the run count for its
    /// rank.
    pub fn begin_run(&mut self) {
        self.scorer.begin_run();
        self.last = None;
    }

    /// Adds an entry of the owner that [`begin`](Self::begin) began last. Begins a new run first if the
    /// entry is more than [`MAX_GAP`] newer than the entry before, or older than it.
    pub fn add_in_time(&mut self, entry: Entry) {
        self.go_on_to(entry.created_at);
        self.add(entry);
    }

    /// Counts entries without a term of the query. They belong to the owner that [`begin`](Self::begin)
    /// began last.
    pub fn count(&mut self, entries: u64) {
        let owner = self.owners.len() - 1;
        self.owners[owner].1 += entries;
        self.scorer.count(entries, &[]);
    }

    /// Adds a row of the owner that [`begin`](Self::begin) began last, see
    /// [`add_in_time`](Self::add_in_time).
    pub fn add_row(&mut self, entry: Entry, counts: &Counts) {
        self.go_on_to(entry.created_at);
        self.add_with(entry, counts);
    }

    /// Registers a row of the owner that [`begin`](Self::begin) began last. Its text is read only if
    /// the row becomes a hit.
    pub fn unread_row(&mut self, table: u8, key: i64, version: i64) -> Unread {
        let owner = self.owners.len() - 1;
        let key = DocumentKey::Row { table, key };
        self.documents.push(UnreadDocument { owner, key, version });
        Unread { document: self.documents.len() - 1, at: 0 }
    }

    /// Begins a new run if the next entry is more than [`MAX_GAP`] newer than the last entry, or
    /// older than the last entry.
    fn go_on_to(&mut self, created_at: Option<Timestamp>) {
        let moments = self.last.zip(created_at);
        let gap = moments.map(|(last, moment)| moment.milliseconds() - last.milliseconds());
        if gap.is_some_and(|gap| !(0..=MAX_GAP).contains(&gap)) {
            self.begin_run();
        }
        self.last = created_at;
    }

    /// Adds an entry whose text was read, with the similarity of its vector if the index has one. The
    /// entry belongs to the owner that [`begin`](Self::begin) began last.
    pub fn add_read(&mut self, entry: Entry, index: &DocumentIndex<'_>) {
        let similarity = index.similarity_of(&entry.text);
        self.add(Entry { similarity, ..entry });
    }

    /// Adds an entry of the owner that [`begin`](Self::begin) began last.
    pub fn add(&mut self, entry: Entry) {
        let counts = self.request.count(&entry);
        self.note_undated(&entry, &counts);
        self.add_with(entry, &counts);
    }

    fn add_with(&mut self, entry: Entry, counts: &Counts) {
        let owner = self.owners.len() - 1;
        self.owners[owner].1 += 1;
        let can_be_hit = self.request.admits_entry(&entry);
        if self.request.is_for_newest() {
            if can_be_hit {
                let moment = self.request.moment_of(&entry);
                self.newest.add(moment, owner, entry, &self.documents);
            }
            return;
        }
        let is_nearest = entry.similarity.is_some_and(|of| of.is_nearest);
        self.scorer.add(counts, is_nearest, can_be_hit.then_some((owner, entry)));
    }

    /// Adds the entries of a document as the index has them, without reading the document. The document
    /// belongs to the owner that [`begin`](Self::begin) began last.
    pub fn add_known(&mut self, path: String, index: &DocumentIndex<'_>, known: Known) {
        if !index.has_match(known) && !self.request.is_for_newest() {
            return self.count(index.number_of_entries(known) as u64);
        }
        let document = self.documents.len();
        let owner = self.owners.len() - 1;
        let key = DocumentKey::Path(path);
        self.documents.push(UnreadDocument { owner, key, version: known.version });
        let facts = Entry::from_facts(known.facts, &self.request.zone, self.request.now);
        for (at, (counts, begins_run)) in index.entries(known).enumerate() {
            if begins_run {
                self.begin_run();
            }
            let similarity = index.similarity(known, at);
            let unread = Some(Unread { document, at });
            let entry = Entry { unread, similarity, ..facts.clone() };
            self.note_undated(&entry, &counts);
            self.add_with(entry, &counts);
        }
    }

    /// Registers the document of an entry if the entry is left out only because it has no date. The
    /// entry belongs to the owner that [`begin`](Self::begin) began last.
    fn note_undated(&mut self, entry: &Entry, counts: &Counts) {
        let has_word = counts.has_any(self.request.query.own_terms());
        if !(has_word || self.request.is_for_newest()) || !self.request.misses_date_of(entry) {
            return;
        }
        let path = entry.path_among(&self.documents).map(str::to_owned);
        let name = || entry.unread.is_none().then(|| entry.name()).flatten();
        let Some(path) = path.or_else(name) else { return };
        let undated = Undated { owner: self.owners.len() - 1, path };
        if self.undated.last() != Some(&undated) {
            self.undated.push(undated);
        }
    }

    /// Registers an owner that the search leaves out, because the search is for one `agent`.
    pub fn leave_out(&mut self, owner: Owner) {
        self.others.push(owner);
    }

    /// Registers a matching summary that is hidden, because the request does not ask for archived
    /// entries.
    pub fn hide(&mut self, counts: &Counts) {
        self.hidden.push(counts.coverage(self.request.query.own_terms()));
    }

    /// Registers documents or rows of an owner that were not read, because the budget was used up.
    pub fn skip(&mut self, owner: Owner, what: &str) {
        self.skipped.push(Skipped { owner, what: what.to_owned() });
    }

    /// Registers how many documents or memories of an owner were not read. Does nothing for 0.
    pub fn skip_some(&mut self, owner: Owner, count: u64, one: &str, many: &str) {
        match count {
            0 => {}
            1 => self.skip(owner, &format!("1 {one}")),
            _ => self.skip(owner, &format!("{count} {many}")),
        }
    }

    /// Adds a warning about something that could not be searched.
    pub fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    pub fn results(self) -> Results {
        let Self {
            scorer,
            owners,
            documents,
            others,
            hidden,
            skipped,
            undated,
            warnings,
            request,
            newest,
            ..
        } = self;
        let is_for_newest = request.is_for_newest();
        let has_word = is_for_newest || scorer.has_any_term();
        Results {
            candidates: if is_for_newest { newest.ranked() } else { scorer.ranked() },
            owners,
            documents,
            has_word,
            other_days: None,
            others,
            hidden,
            skipped,
            undated,
            warnings,
            is_unsearched: false,
            searches_agents: false,
        }
    }
}
