//! Making a segment of documents.

use std::collections::BTreeMap;

use super::facts::Facts;
use super::postings::Postings;
use super::segment::Segment;
use crate::digest::number_of;
use crate::ranking::{Language, Parts};
use crate::words::{Role, each_token};

/// A document or a row of a table that is to be indexed.
pub(crate) struct Row {
    /// The number of the document's name, see [`number_of`], or the key of the row in its table.
    pub key: i64,
    /// If the stamp differs from the stored one, the row has changed.
    pub stamp: i64,
    /// The version of the row that was read.
    pub version: i64,
    pub facts: Facts,
    /// The work of finding the stems of the row, in bytes of English text.
    pub work: u64,
}

/// An entry that is to be indexed.
pub(crate) struct Entry<'t> {
    /// The texts by which a search finds the entry. The last one is the entry's own text.
    pub texts: Vec<&'t str>,
    pub begins_run: bool,
}

impl<'t> Entry<'t> {
    /// The entry's own text, which may get a vector. The other texts are about the entry.
    pub fn text(&self) -> &'t str {
        self.texts.last().copied().unwrap_or_default()
    }
}

/// A segment that is being made.
pub(super) struct Builder {
    /// The language of texts whose own language cannot be detected.
    pub usual: Language,
    pub segment: Segment,
    pub work: u64,
    /// The words that occurred in each language and role, each with the index of its stem in
    /// `postings`.
    stems: BTreeMap<(Language, Role), BTreeMap<String, u32>>,
    of_stems: BTreeMap<i64, u32>,
    postings: Vec<Postings>,
}

impl Builder {
    pub fn new(usual: Language) -> Self {
        Self {
            usual,
            segment: Segment::default(),
            work: 0,
            stems: BTreeMap::new(),
            of_stems: BTreeMap::new(),
            postings: Vec::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.segment.documents.is_empty()
    }

    /// The number of different stems so far.
    pub fn stems(&self) -> usize {
        self.postings.len()
    }

    pub fn add<'t>(&mut self, row: &Row, entries: impl Iterator<Item = Entry<'t>>) {
        let Row { key, stamp, version, facts, work } = row;
        self.work += work;
        self.segment.begin(*key, *stamp, *version, *facts);
        for entry in entries {
            self.add_entry(&entry);
        }
    }

    /// The encoded postings of each stem, ordered by the number of the stem.
    pub fn postings(&self) -> impl Iterator<Item = (i64, &[u8])> {
        self.of_stems.iter().map(|(stem, at)| (*stem, &self.postings[*at as usize].bytes[..]))
    }

    fn add_entry(&mut self, Entry { texts, begins_run }: &Entry<'_>) {
        let mut parts = Parts::default();
        let mut found = Vec::new();
        for text in texts {
            let language = Language::detect(text, self.usual);
            for line in text.split('\n') {
                each_token(line, |word, role| {
                    found.push((self.stem(language, word, role), parts.add_stem()));
                });
                parts.end_line();
            }
        }
        let lengths = parts.end();
        let first = self.segment.parts();
        let last = lengths.len() as u32 - 1;
        found.iter_mut().for_each(|(_, part)| *part = first + (*part).min(last));
        found.sort_unstable();
        for same in found.chunk_by(|a, b| a == b) {
            let (stem, part) = same[0];
            self.postings[stem as usize].push(part, same.len() as u32);
        }
        self.segment.add_entry(&lengths, *begins_run);
    }

    fn stem(&mut self, language: Language, word: &str, role: Role) -> u32 {
        let words = self.stems.entry((language, role)).or_default();
        if let Some(stem) = words.get(word) {
            return *stem;
        }
        let next = self.postings.len() as u32;
        let number = number_of(&language.stem(word, role));
        let stem = *self.of_stems.entry(number).or_insert(next);
        if stem == next {
            self.postings.push(Postings::default());
        }
        words.insert(word.to_owned(), stem);
        stem
    }
}
