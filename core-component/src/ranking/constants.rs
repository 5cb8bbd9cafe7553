//! All numbers of the ranking. The figures behind them: `docs/decisions/ranking.md`.

/// A part of an entry ends with the line in which it gets as many stems.
pub(super) const LEAST_PART: u8 = 64;
/// No part has more stems, unless a rest joins it.
pub(super) const MOST_PART: u8 = 128;
/// A rest with fewer stems joins the part before.
pub(super) const LEAST_REST: u8 = 32;

/// bm25: how soon further occurrences of a term stop to count.
pub(super) const K1: f64 = 1.2;
/// A text with fewer stems counts as one of so many.
pub(super) const LEAST_LENGTH: f64 = 45.0;

/// How bm25 counts a text of one kind.
pub(super) struct Kind {
    /// The weight of its score in that of the entry.
    pub weight: f64,
    /// bm25's `b`: how much a long text counts less.
    pub b: f64,
    /// The length of a usual text, in stems. With the true mean, results are no better.
    pub usual: f64,
}

/// The best part of an entry.
pub(super) const PART: Kind = Kind { weight: 1.5, b: 0.5, usual: 64.0 };
/// The entry as a whole.
pub(super) const WHOLE: Kind = Kind { weight: 0.5, b: 0.75, usual: 150.0 };
/// The parts around the entry.
pub(super) const AROUND: Kind = Kind { weight: 0.8, b: 0.5, usual: 512.0 };

/// The weight of the part before an entry in its first part.
pub(super) const BEFORE: f64 = 0.3;
/// The weight of the part after an entry in its last part.
pub(super) const AFTER: f64 = 0.1;
/// The number of parts on each side that are around an entry.
pub(crate) const REACH: usize = 4;
/// An entry of so many stems needs the parts around it in full, a longer one less.
pub(super) const NEEDS_CONTEXT: f64 = 200.0;

/// The weight of a word that asks, such as "mention", relative to others.
pub(super) const ASKING: f64 = 0.6;
/// The weight of a word with a capital letter that is not the first.
pub(super) const NAME: f64 = 1.2;
/// A word in most entries keeps this share of the weight of a word in one.
pub(super) const LEAST_WEIGHT: f64 = 0.25;

/// The weight of an occurrence of a word of the thesaurus that means the same as a word of the query.
pub(super) const MEANING: f64 = 0.5;
/// The most words of the thesaurus for a word of the query.
pub(super) const NEIGHBOURS: usize = 8;
/// The most of them in all.
pub(super) const MAX_NEIGHBOURS: usize = 64;

/// The most entries whose own words make themselves and their neighbours candidates.
pub(crate) const MAX_MATCHES: usize = 500;

/// The signs that adjacent entries belong together.
pub(super) struct Coherence {
    /// The number of entries after one in which a term may come again.
    pub next: usize,
    /// A term in more of the entries than this share says nothing.
    pub most_entries: f64,
    /// A term weighs as much as the number of entries with it, and no more than this.
    pub most_weight: f64,
    /// A prior, so that a few entries decide nothing.
    pub unknown_seen: f64,
    pub unknown_by_chance: f64,
    /// If terms come again so many times as often as by chance, entries do not belong together.
    pub none: f64,
    /// If so many times as often, they do.
    pub full: f64,
}

/// Shuffled abstracts have a ratio of 0.9 to 1.2, the turns of a conversation 1.7 to 11.
pub(super) const COHERENT: Coherence = Coherence {
    next: 3,
    most_entries: 0.2,
    most_weight: 8.0,
    unknown_seen: 0.2,
    unknown_by_chance: 0.1,
    none: 1.1,
    full: 1.5,
};

/// If no hit has at least this share of the question's terms, by their weights, the note of the answer
/// says that the hits are weak.
pub(crate) const WEAK: f64 = 0.34;
/// The note mentions a summary in the compost if it has at least this share of the question's terms.
pub(crate) const TELLING: f64 = 0.5;

/// The share of its score that an entry of high importance gains, and one of low importance loses.
pub(crate) const IMPORTANCE: f64 = 0.05;
/// The share of its score that an entry gains if it was changed just now. Older entries gain less.
pub(crate) const RECENCY: f64 = 0.05;
/// The age in days at which half of [`RECENCY`] is left.
pub(crate) const HALF_AGE: f64 = 30.0;
/// The share of its score that an entry of a day gains that the question asks for.
pub(crate) const ASKED_DAY: f64 = 0.15;
