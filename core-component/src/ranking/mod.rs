//! Ranked search: bm25 over the terms of a query, for parts of entries, entries, and the parts around
//! them.
//!
//! A term is a word of the query with all its stems: the stems in each language that a text may be in,
//! and the stems of irregular forms. The score of an entry has three parts, each a bm25 sum over the
//! terms:
//!
//! - Its best part. The part before the entry also counts in the entry's first part, and the part
//!   after the entry in its last part, with a smaller weight: an answer often lacks the words of its
//!   question.
//! - The entry as a whole.
//! - The parts around the entry, four on each side. The longer the entry, the less they count.
//!
//! Only entries of one run count as being around each other, see [`Scorer::begin_run`]. Document
//! frequencies count entries over all sources, without the parts around them. The lengths of usual
//! texts are constants, see `constants.rs`.
//!
//! Words of a thesaurus stand for words of a question in English: an occurrence counts as a fraction of
//! an occurrence of the word itself, see `neighbours.rs`.
//!
//! Where entries and the query have vectors of one model, the similarity of the vectors is added to
//! the score of the words, each divided by its maximum.
//!
//! Importance, age and the days that a question asks for change a score a little, see `adjustment.rs`.
//!
//! Everything is computed in one order from numbers that no index rounds. So every host gives the
//! same scores, bit for bit.

mod adjustment;
mod asking;
mod beginnings;
mod bm25;
mod constants;
mod cost;
mod counts;
mod fusion;
mod irregular;
mod language;
mod matches;
mod neighbours;
mod parts;
mod passage;
mod query;
mod question;
mod scorer;
#[cfg(test)]
mod stems;
mod stop_words;
mod thesaurus;
mod vector;

pub(crate) use adjustment::Adjustment;
pub(crate) use constants::{REACH, TELLING, WEAK};
pub(crate) use cost::{MAX_COST, cost};
pub(crate) use counts::{Counts, Found};
pub(crate) use fusion::fuse;
pub(crate) use language::{LANGUAGES, Language};
pub(crate) use matches::FoundBy;
pub(crate) use parts::{Lengths, Parts};
pub(crate) use passage::{Passage, passage};
pub(crate) use query::Query;
pub(crate) use scorer::{Ranked, Scorer};
pub(crate) use vector::Vector;
