//! Removing texts, entries and documents for good, and reporting the outcome. Each toolset removes its
//! own data, see [`Forget`](crate::tool::Forget).

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

use crate::budget::OF_DOCUMENT;
use crate::names::AgentName;
use crate::source::{EntryId, Owner, id_schema};
use crate::storage::Splice;
use crate::text::normalise_line_ends;

/// The mark that replaces a removed text. It is plain text in Markdown, YAML and JSON; square brackets
/// could be read as a list or a link.
pub(crate) const REMOVED: &str = "(removed)";

/// The note on copies in Git's history.
pub(crate) const IN_GIT: &str = "Git: a repository or store that is committed keeps earlier versions in its \
                                 history and clones; `git filter-repo --replace-text` rewrites them";

/// The note on copies in the free pages of a database.
pub(crate) const FREE_PAGES: &str = "free space in database files, until `VACUUM` runs on them";

/// The reason why a document was not searched. It follows the path of the document.
pub(crate) const NO_WORK_LEFT: &str = "was not searched: there is more than one call looks through; look at \
                                       less with `agent`, `repo_root` or `store`";

/// The most bytes that one call searches.
const MAX_BYTES: u64 = 128 << 20;

/// The most rows of a table that one call changes for an agent.
pub(crate) const MAX_ROWS: u32 = 2_000;

/// The most entries and documents that an answer names.
const MAX_NAMED: usize = 200;

/// The text, the entry or the document to remove.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted<'a> {
    /// A text, in every document and row.
    Text(&'a str),
    /// The record with this id.
    Record(&'a str),
    /// A row of a layer. `layer` is the name that hits of a search give the layer.
    Row { layer: &'a str, id: i64 },
    /// A whole document: a log, a summary, a page of a store or a memory file.
    Document(&'a str),
}

/// A text or an entry that was found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Found {
    #[serde(flatten)]
    pub owner: Owner,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "id_schema")]
    pub id: Option<EntryId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
}

impl Found {
    /// A document at a path.
    pub fn at(owner: Owner, path: String) -> Self {
        Self { owner, id: None, path: Some(path), section: None }
    }

    /// An entry with an id.
    pub fn entry(owner: Owner, id: EntryId, section: Option<&str>) -> Self {
        Self { owner, id: Some(id), path: None, section: section.map(str::to_owned) }
    }
}

/// The limits of the search. Each limits only data of its kind: with `agent`, no other agent's data is
/// searched, but all stores still are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Within<'a> {
    pub agent: Option<&'a AgentName>,
    pub repo_root: Option<&'a str>,
    pub store: Option<&'a str>,
}

/// A call that removes something, and what it has done.
pub(crate) struct Forgetting<'a> {
    pub wanted: Wanted<'a>,
    pub within: Within<'a>,
    /// Whether the call only reports, and changes nothing.
    pub dry_run: bool,
    bytes: Cell<u64>,
    found: Vec<Found>,
    not_named: u64,
    left: Vec<String>,
    remains: BTreeSet<&'static str>,
}

/// The outcome of all toolsets together.
pub(crate) struct Forgotten {
    pub found: Vec<Found>,
    /// How many more were found than `found` has.
    pub not_named: u64,
    /// The places that were not searched or not changed, each with the reason.
    pub left: Vec<String>,
    /// Where copies may still be.
    pub remains: BTreeSet<&'static str>,
}

impl<'a> Forgetting<'a> {
    pub fn new(wanted: Wanted<'a>, within: Within<'a>, dry_run: bool) -> Self {
        Self {
            wanted,
            within,
            dry_run,
            bytes: Cell::new(MAX_BYTES),
            found: Vec::new(),
            not_named: 0,
            left: Vec::new(),
            remains: BTreeSet::new(),
        }
    }

    /// Whether the entries of an agent are searched.
    pub fn is_for(&self, agent: &str) -> bool {
        self.within.agent.is_none_or(|only| only.as_str() == agent)
    }

    /// Takes the work to search a document. Returns false if less is left; the work is then used up.
    pub fn take(&self, bytes: u64) -> bool {
        let left = self.bytes.get().checked_sub(OF_DOCUMENT + bytes);
        self.bytes.set(left.unwrap_or_default());
        left.is_some()
    }

    /// Notes something that was found and, except in a dry run, removed.
    pub fn add(&mut self, found: Found) {
        if self.found.len() < MAX_NAMED { self.found.push(found) } else { self.not_named += 1 }
    }

    /// Notes something that was not searched or not removed. `what` includes the reason.
    pub fn leave(&mut self, what: String) {
        self.left.push(what);
    }

    /// Notes where copies may still be.
    pub fn remains(&mut self, place: &'static str) {
        self.remains.insert(place);
    }

    pub fn forgotten(self) -> Forgotten {
        let Self { found, not_named, left, remains, .. } = self;
        Forgotten { found, not_named, left, remains }
    }
}

/// The change of a document that removes a text or an entry.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Removal {
    pub splices: Vec<Splice>,
    /// The part that is not removed, and the reason.
    pub left: Option<String>,
}

impl Removal {
    /// No change of a document, although it contains something to remove. `what` tells the document and
    /// the reason.
    pub fn left(what: String) -> Self {
        Self { left: Some(what), ..Self::default() }
    }
}

/// The text in JSON's escaped form, as between the quotes of a string that this program wrote.
pub(crate) fn in_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// The ranges in `text` at which `secret` occurs. A line feed in `secret` stands for any line end.
pub(crate) fn ranges_of(secret: &str, text: &str) -> Vec<Range<usize>> {
    let range = |(at, found): (usize, &str)| at..at + found.len();
    if !(secret.contains('\n') && text.contains('\r')) {
        return text.match_indices(secret).map(range).collect();
    }
    let searched = normalise_line_ends(text);
    let mut offsets = Offsets { text, at: 0, searched: 0 };
    let found = searched.match_indices(secret).map(range);
    found.map(|range| offsets.original(range.start)..offsets.original(range.end)).collect()
}

/// Converts offsets in a text with normalised line ends to offsets in the original text. The offsets
/// must be given in ascending order.
struct Offsets<'t> {
    text: &'t str,
    at: usize,
    searched: usize,
}

impl Offsets<'_> {
    fn original(&mut self, searched: usize) -> usize {
        while self.searched < searched {
            let is_pair = self.text.as_bytes()[self.at..].starts_with(b"\r\n");
            self.at += if is_pair { 2 } else { 1 };
            self.searched += 1;
        }
        self.at
    }
}

/// The splices that replace ranges by [`REMOVED`].
pub(crate) fn marks(ranges: impl IntoIterator<Item = Range<usize>>) -> Vec<Splice> {
    let mark = |range| Splice { range, inserts: REMOVED.into() };
    ranges.into_iter().map(mark).collect()
}

/// The text with each occurrence of `secret` replaced by [`REMOVED`]. `None` if it has none.
pub(crate) fn without(secret: &str, text: &str) -> Option<String> {
    let splices = marks(ranges_of(secret, text));
    (!splices.is_empty()).then(|| Splice::all_of_text(&splices, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_feed_stands_for_any_line_end() {
        assert_eq!(without("b c", "a\r\nb c\r\nd").as_deref(), Some("a\r\n(removed)\r\nd"));
        for text in ["x é\r\nb\nc y", "x é\nb\r\nc y", "x é\rb\r\nc y"] {
            assert_eq!(without("é\nb\nc", text).as_deref(), Some("x (removed) y"), "{text:?}");
        }
        assert_eq!(without("b\nc", "b\r\r\nc"), None, "an empty line is between them");
        let twice = "k\r\nv k\nv k\r\nv";
        assert_eq!(without("k\nv", twice).as_deref(), Some("(removed) (removed) (removed)"));
    }
}
