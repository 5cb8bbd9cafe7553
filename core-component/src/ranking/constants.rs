//! All numbers of the ranking, except the least similarity of words in the thesaurus, which is beside
//! its table. The measurements behind the numbers are in `docs/decisions/ranking.md`.

/// A part of an entry ends with the line in which it reaches this number of stems.
pub(super) const LEAST_PART: u8 = 64;
/// The most stems of a part. The last part may have more, if a rest was added to it.
pub(super) const MOST_PART: u8 = 128;
/// A rest of an entry with fewer stems than this is added to the part before.
pub(super) const LEAST_REST: u8 = 32;

/// bm25's `k1`: how little further occurrences of a term add. The lower, the less they add.
pub(super) const K1: f64 = 1.2;
/// A text with fewer stems counts as a text of this length.
pub(super) const LEAST_LENGTH: f64 = 45.0;

/// The weight of a part of a compound in a question, such as `server` of `server12`, relative to the
/// whole compound.
pub(super) const PART_OF_WORD: f64 = 0.4;

/// How bm25 counts a text of one kind.
pub(super) struct Kind {
    /// The weight of this text's score in the score of the entry.
    pub weight: f64,
    /// bm25's `b`: how much the length of a text lowers its score.
    pub b: f64,
    /// bm25's average length, in stems: a constant, since results with the true mean are no better.
    pub usual: f64,
}

/// The best part of an entry.
pub(super) const PART: Kind = Kind { weight: 1.5, b: 0.5, usual: 64.0 };
/// The entry as a whole.
pub(super) const WHOLE: Kind = Kind { weight: 0.5, b: 0.75, usual: 150.0 };
/// The parts around the entry.
pub(super) const AROUND: Kind = Kind { weight: 0.8, b: 0.5, usual: 512.0 };

/// How much the terms of the part before an entry weigh in the first part of the entry.
pub(super) const BEFORE: f64 = 0.3;
/// How much the terms of the part after an entry weigh in the last part of the entry.
pub(super) const AFTER: f64 = 0.1;
/// The number of parts before an entry, and of parts after it, that count as its context.
pub(crate) const REACH: usize = 4;
/// Up to this number of stems, the parts around an entry count fully. For a longer entry they count
/// less.
pub(super) const NEEDS_CONTEXT: f64 = 200.0;

/// The weight of a word that tells the kind of answer, such as "mention", relative to other words.
pub(super) const ASKING: f64 = 0.6;
/// The weight of a word that begins with a capital letter and is not the first of the question.
pub(super) const NAME: f64 = 1.2;
/// The least weight of a word that is in many entries, as a share of the weight of a word in one entry.
pub(super) const LEAST_WEIGHT: f64 = 0.25;

/// The weight of an occurrence of a word of the thesaurus that means the same as a word of the query.
pub(super) const MEANING: f64 = 0.5;
/// The most words of the thesaurus for one word of the query.
pub(super) const NEIGHBOURS: usize = 8;
/// The most words of the thesaurus for all words of a query together.
pub(super) const MAX_NEIGHBOURS: usize = 64;

/// The most matches by words. Each match makes itself and the entries beside it candidates.
pub(crate) const MAX_MATCHES: usize = 500;

/// The signs that adjacent entries belong together.
pub(super) struct Coherence {
    /// A term repeats if it occurs again in any of the next `next` entries.
    pub next: usize,
    /// A term in more than this share of the entries is left out.
    pub most_entries: f64,
    /// The weight of a term is the number of entries with the term, but at most this.
    pub most_weight: f64,
    /// A Bayesian prior: added to the repetitions seen and to those expected by chance, so that a few
    /// entries change the degree only a little.
    pub unknown_seen: f64,
    pub unknown_by_chance: f64,
    /// Up to this ratio of repetitions seen to repetitions expected by chance, entries do not belong
    /// together.
    pub none: f64,
    /// From this ratio on, entries belong together fully. Between `none` and `full`, the degree rises
    /// linearly.
    pub full: f64,
}

/// Measured ratios: 0.9 to 1.2 for shuffled abstracts, 1.7 to 11 for the turns of a conversation.
pub(super) const COHERENT: Coherence = Coherence {
    next: 3,
    most_entries: 0.2,
    most_weight: 8.0,
    unknown_seen: 0.2,
    unknown_by_chance: 0.1,
    none: 1.1,
    full: 1.5,
};

/// The weight of the similarity of vectors, relative to the score of words and the thesaurus. Before
/// they are added, both are divided by their maximum over all candidates.
pub(super) const SIMILARITY: f64 = 0.5;

/// If no hit has at least this share of the question's terms, by their weights, the note of the answer
/// says that the hits are weak.
pub(crate) const WEAK: f64 = 0.34;
/// The note mentions a hidden summary of removed memories if the summary has at least this share of the
/// question's terms.
pub(crate) const TELLING: f64 = 0.5;

/// The share of its score that an entry of high importance gains, and an entry of low importance loses.
pub(super) const IMPORTANCE: f64 = 0.05;
/// The share of its score that an entry gains if it was changed just now. Older entries gain less.
pub(super) const RECENCY: f64 = 0.05;
/// The age in days at which half of [`RECENCY`] is left.
pub(super) const HALF_AGE: f64 = 30.0;
/// The share of its score that an entry gains if it is from a day that the question asks for.
pub(super) const ASKED_DAY: f64 = 0.15;
