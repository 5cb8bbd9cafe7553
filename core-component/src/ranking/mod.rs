//! Ranked search: bm25 over terms, where the entries around an entry count too.
//!
//! A term of a query is a word by its stem. If the word's forms are irregular, the term has the stems
//! of all of them. The score of an entry has two parts, each a bm25 sum over the terms:
//!
//! - The entry itself. The counts of the entry before it and of the entry after it are added with a
//!   smaller weight: an answer often lacks the words of its question.
//! - The entries around it, up to four on each side.
//!
//! Only entries that belong together are around each other. A source says so by a run, see
//! [`Corpus::begin_run`]. Document frequencies are those of the entries alone, over all sources. The
//! mean length is a constant: with the true one, results are no better.
//!
//! Where entries and the query have vectors of one model, the similarity of the vectors is added to
//! the score of the words, each divided by its maximum.
//!
//! Everything is computed in one order from numbers that no index rounds. So every host gives the
//! same scores, bit for bit.

mod candidates;
mod corpus;
mod cost;
mod fragments;
mod fusion;
mod irregular;
mod passage;
mod query;
mod score;
mod stems;
mod stop_words;
mod vector;

pub(crate) use candidates::{MAX_MATCHES, choose};
pub(crate) use corpus::{Corpus, Match, Ranked};
pub(crate) use cost::{MAX_COST, cost};
pub(crate) use fragments::{Fragment, fragments};
pub(crate) use fusion::fuse;
pub(crate) use passage::passage;
pub(crate) use query::{Counts, Query};
pub(crate) use score::REACH;
pub(crate) use stems::{each_stem, each_unstemmed, stem_of};
pub(crate) use vector::Vector;
