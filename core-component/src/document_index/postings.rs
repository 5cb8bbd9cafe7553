//! The texts in which the index keeps counts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::ranking::Counts;

/// A stem as a number, so that nobody can read in the index what a document says. The first 8 bytes
/// of its SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stem(pub i64);

impl Stem {
    pub fn of(stem: &str) -> Self {
        let digest = Sha256::digest(stem);
        let (first, _) = digest.split_first_chunk().expect("a digest has 32 bytes");
        Self(i64::from_be_bytes(*first))
    }
}

/// A document as the index has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Indexed {
    pub version: String,
    /// Facts of the entries that the toolset keeps beside their counts.
    pub facts: String,
    pub(super) lengths: Lengths,
    /// The entries that have a term of the query.
    pub(super) matches: BTreeMap<usize, Counts>,
    /// The number of the query's terms.
    pub(super) terms: usize,
}

impl Indexed {
    /// The number of entries.
    pub fn entries(&self) -> usize {
        self.lengths.0.len()
    }

    /// Whether no entry has a term of the query.
    pub fn is_without_match(&self) -> bool {
        self.matches.is_empty()
    }

    /// The number of entries with each term of the query.
    pub fn with_term(&self) -> Vec<u64> {
        let with = |term| self.matches.values().filter(|counts| counts.has(term)).count() as u64;
        (0..self.terms).map(with).collect()
    }

    /// The counts of each entry, and whether it begins a run.
    pub fn counts(self) -> impl Iterator<Item = (Counts, bool)> {
        let Self { lengths, mut matches, terms, .. } = self;
        lengths.0.into_iter().enumerate().map(move |(at, Length { stems: length, begins_run })| {
            let counts = matches.remove(&at);
            let counts = counts.unwrap_or_else(|| Counts::new(vec![0; terms], length));
            (counts, begins_run)
        })
    }
}

/// The length of an entry in stems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Length {
    pub stems: u32,
    pub begins_run: bool,
}

/// The lengths of a document's entries. As text: `12,5;7` are two runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lengths(pub Vec<Length>);

impl Lengths {
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (at, Length { stems, begins_run }) in self.0.iter().enumerate() {
            let sign = if *begins_run { ";" } else { "," };
            let _ = write!(text, "{}{stems}", if at == 0 { "" } else { sign });
        }
        text
    }

    pub fn parse(text: &str) -> Option<Self> {
        let mut lengths = Vec::new();
        for run in text.split(';').filter(|_| !text.is_empty()) {
            for (at, length) in run.split(',').enumerate() {
                lengths.push(Length { stems: length.parse().ok()?, begins_run: at == 0 });
            }
        }
        Some(Self(lengths))
    }
}

/// How often an entry has a stem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Posting {
    /// The number of the document in its segment.
    pub document: usize,
    pub entry: usize,
    pub count: u32,
}

/// The postings of a stem in a segment, ordered by document and entry. As text: `3:0,4*2;5:1` are
/// entries 0 and 4 of document 3, the latter twice, and entry 1 of document 5.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Postings {
    pub text: String,
    last: Option<usize>,
}

impl Postings {
    /// Adds a posting that comes after all others.
    pub fn push(&mut self, Posting { document, entry, count }: Posting) {
        let _ = match self.last.replace(document) {
            None => write!(self.text, "{document}:{entry}"),
            Some(last) if last == document => write!(self.text, ",{entry}"),
            Some(_) => write!(self.text, ";{document}:{entry}"),
        };
        if count > 1 {
            let _ = write!(self.text, "*{count}");
        }
    }

    pub fn parse(text: &str) -> Option<Vec<Posting>> {
        let mut postings = Vec::new();
        for of_document in text.split(';') {
            let (document, entries) = of_document.split_once(':')?;
            let document = document.parse().ok()?;
            for entry in entries.split(',') {
                let (entry, count) = entry.split_once('*').unwrap_or((entry, "1"));
                let (entry, count) = (entry.parse().ok()?, count.parse().ok()?);
                postings.push(Posting { document, entry, count });
            }
        }
        Some(postings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_a_text() {
        let length = |(stems, begins_run)| Length { stems, begins_run };
        for (text, lengths) in [
            ("", &[][..]),
            ("0", &[(0, true)]),
            ("12,5;7", &[(12, true), (5, false), (7, true)]),
            ("1;2;3", &[(1, true), (2, true), (3, true)]),
        ] {
            let lengths = Lengths(lengths.iter().copied().map(length).collect());
            assert_eq!(lengths.text(), text);
            assert_eq!(Lengths::parse(text), Some(lengths));
        }
        for damaged in [",", ";", "1,", "1;;2", "-1", "x", "4294967296"] {
            assert_eq!(Lengths::parse(damaged), None, "{damaged}");
        }
    }

    #[test]
    fn postings_have_a_text() {
        let all = [(3, 0, 1), (3, 4, 2), (5, 1, 1), (12, 0, 30)];
        let all = all.map(|(document, entry, count)| Posting { document, entry, count });
        let mut postings = Postings::default();
        all.into_iter().for_each(|posting| postings.push(posting));
        assert_eq!(postings.text, "3:0,4*2;5:1;12:0*30");
        assert_eq!(Postings::parse(&postings.text), Some(all.to_vec()));
        for damaged in ["", "3", "3:", "3:0;", ":1", "3:0*", "3:0*-1", "3:0,;4:1"] {
            assert_eq!(Postings::parse(damaged), None, "{damaged}");
        }
    }

    #[test]
    fn a_stem_is_a_number_that_stays() {
        assert_eq!(Stem::of("collid"), Stem::of("collid"));
        assert_ne!(Stem::of("collid"), Stem::of("collis"));
        assert_eq!(Stem::of("test").0, 0x9f86_d081_884c_7d65_u64 as i64);
    }
}
