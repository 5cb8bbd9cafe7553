//! Compares the search with plain bm25, over texts of six kinds in four languages. The texts were
//! written for this test, and each question and its answers before any search.

use std::collections::BTreeSet;

use agent_memory_conformance::in_memory::InMemoryStorage;
use agent_memory_core::storage::Place;
use serde::Deserialize;
use serde_json::{Value, json};

use super::plain::Plain;
use super::{Quality, Ranks, call, paraphrases, read};

const LANGUAGES: [&str; 4] = ["en", "de", "es", "ja"];

/// The measures that are below those of plain bm25, and by how much at most. The aim is an empty list.
/// A single question changes a measure by 0.05.
///
/// In long messages the answer is among the first ten as often, but less often the first:
///
/// - In German and Spanish because of stems. bm25 over stems has an MRR of 0.59 and 0.53.
/// - In English because of the thesaurus. Without it the MRR is 0.66, but R@10 falls by 0.06.
///
/// In the sessions in German, plain bm25 finds an answer by the stop word `alles`.
const GAPS: [(&str, Measure, f64); 4] = [
    ("Messages in en", Measure::ReciprocalRank, 0.06),
    ("Messages in de", Measure::ReciprocalRank, 0.14),
    ("Messages in es", Measure::ReciprocalRank, 0.07),
    ("Sessions in de", Measure::Recall, 0.08),
];

/// By language, the limit for the share of answered questions whose results are marked like those
/// without an answer. These questions have other words than their answers, so hits have few of their
/// words. The aim is 0.05. In Japanese, pairs of characters that are only grammar count as words.
const MOST_MARKED: [(&str, f64); 4] = [("en", 0.46), ("de", 0.55), ("es", 0.41), ("ja", 0.84)];

/// A turn of a conversation, a message, or a note.
#[derive(Deserialize)]
struct Text {
    /// The key. The key of a turn begins with the key of its session: `a1.3`.
    key: String,
    date: String,
    text: String,
}

#[derive(Deserialize)]
struct Question {
    kind: Kind,
    question: String,
    /// The keys of all texts that answer it.
    answers: Vec<String>,
    /// Whether it has no answer, but is about people of the conversations.
    #[serde(default)]
    near: bool,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Turns,
    Messages,
    Notes,
    /// A question that no text answers.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Measure {
    /// R@10.
    Recall,
    /// MRR.
    ReciprocalRank,
}

/// A text that is added to a store.
struct Added {
    key: String,
    /// The time of the call.
    now: String,
    text: String,
}

/// A text and a question about it that have hardly a word in common.
#[derive(Deserialize)]
struct Paraphrase {
    key: String,
    text: String,
    question: String,
}

/// Texts of one kind and language: as records in SQLite, and for plain bm25.
struct Set {
    storage: InMemoryStorage,
    plain: Plain,
    /// The key of each record's text by its id.
    keys: Vec<(String, String)>,
}

/// The result of a search for a question.
struct Found {
    ranks: Ranks,
    /// Whether nothing was found, or the result says that no hit has most of the words.
    is_marked: bool,
}

impl Set {
    /// Adds each text at its time.
    fn new(language: &str, texts: &[Added]) -> Self {
        let storage = InMemoryStorage::new();
        storage.grant(Place::named("records"));
        let add = |Added { key, now, text }: &Added| {
            let arguments = json!({"content": text});
            let added = call(&storage, &settings(), now, "add_recent_learning", &arguments);
            let id = added["memory"]["id"].as_str().expect("an id");
            (id.to_owned(), key.clone())
        };
        let keys = texts.iter().map(add).collect();
        let plain = Plain::new(language, texts.iter().map(|one| (&*one.key, &*one.text)));
        Self { storage, plain, keys }
    }

    fn search(&self, question: &str, answers: &[String]) -> Found {
        let arguments = json!({"query": question, "limit": 10});
        let now = "2026-12-01T10:00:00.000Z";
        let found = call(&self.storage, &settings(), now, "search_memory", &arguments);
        let hits = found["hits"].as_array().expect("hits");
        let key = |hit: &Value| {
            let of_hit = self.keys.iter().find(|(id, _)| hit["id"] == **id);
            of_hit.expect("a hit is a text").1.clone()
        };
        let note = found["note"].as_str().unwrap_or_default();
        Found {
            ranks: ranks(answers, &hits.iter().map(key).collect::<Vec<_>>()),
            is_marked: hits.is_empty() || note.contains("no hit has most of the query"),
        }
    }

    /// Searches for all questions, and prints how well they find their answers. No measure may be below
    /// that of plain bm25 by more than the tolerance or the known gap.
    fn check<'q>(
        &self,
        name: &str,
        questions: impl Iterator<Item = (&'q str, Vec<String>)>,
        tolerance: f64,
    ) {
        let of_both = questions.map(|(question, answers)| {
            let plain = ranks(&answers, &self.plain.keys(question));
            (self.search(question, &answers).ranks, plain)
        });
        let (ours, plain): (Vec<Ranks>, Vec<Ranks>) = of_both.unzip();
        let ours = Quality::from_ranks(&ours);
        let plain = Quality::from_ranks(&plain);
        println!(
            "{name}, {} questions about {} texts: R@10 {:.3}, MRR {:.3}; plain bm25: {:.3}, {:.3}",
            ours.questions,
            self.keys.len(),
            ours.recall_at_10,
            ours.mean_reciprocal_rank,
            plain.recall_at_10,
            plain.mean_reciprocal_rank
        );
        for measure in [Measure::Recall, Measure::ReciprocalRank] {
            let gap = GAPS.iter().find(|(of, which, _)| *of == name && *which == measure);
            let most = gap.map_or(tolerance, |(_, _, gap)| *gap);
            let below = measure.value(&plain) - measure.value(&ours);
            // Sums of the same shares in another order differ in the last bits.
            assert!(below <= most + 1e-9, "{name}: {measure:?} is {below:.3} below plain bm25");
        }
    }
}

impl Measure {
    fn value(self, quality: &Quality) -> f64 {
        match self {
            Self::Recall => quality.recall_at_10,
            Self::ReciprocalRank => quality.mean_reciprocal_rank,
        }
    }
}

fn settings() -> Value {
    json!({"toolsets": ["records", "memory"], "records": {"format": "sqlite"}})
}

/// The number of answers, and their places among the keys of the first ten hits.
fn ranks(answers: &[String], keys: &[String]) -> Ranks {
    let ranks = keys.iter().enumerate().filter(|(_, key)| answers.contains(key));
    (answers.len(), ranks.map(|(index, _)| index + 1).collect())
}

/// The texts of a kind, each at its time: turns and messages one after the other on their dates, and
/// all notes within half an hour.
fn texts(language: &str, kind: Kind) -> Vec<Added> {
    let (file, seconds) = match kind {
        Kind::Turns => ("turns", 60),
        Kind::Messages => ("messages", 120),
        Kind::Notes => ("notes", 25),
        Kind::None => unreachable!("no text is of this kind"),
    };
    let texts: Vec<Text> = read(&format!("{language}/{file}.jsonl"));
    let at = texts.into_iter().enumerate().map(|(index, Text { key, date, text })| {
        let second = index * seconds;
        let (hour, minute, second) = (9 + second / 3600, second / 60 % 60, second % 60);
        let now = format!("{date}T{hour:02}:{minute:02}:{second:02}.000Z");
        Added { key, now, text }
    });
    at.collect()
}

/// The sessions of the conversations: each has the texts of its turns.
fn sessions(language: &str) -> Vec<Added> {
    let mut sessions: Vec<Added> = Vec::new();
    for turn in texts(language, Kind::Turns) {
        let key = session(&turn.key);
        match sessions.last_mut().filter(|last| last.key == key) {
            Some(session) => session.text += &format!("\n\n{}", turn.text),
            None => sessions.push(Added { key, ..turn }),
        }
    }
    sessions
}

/// The key of a turn's session.
fn session(turn: &str) -> String {
    let (session, _) = turn.split_once('.').expect("the key of a turn");
    session.to_owned()
}

fn questions(language: &str) -> Vec<Question> {
    read(&format!("{language}/questions.jsonl"))
}

fn of_kind(questions: &[Question], kind: Kind) -> impl Iterator<Item = (&str, Vec<String>)> {
    let of_kind = questions.iter().filter(move |question| question.kind == kind);
    of_kind.map(|question| (&*question.question, question.answers.clone()))
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes: run it with `--release`")]
fn texts_of_each_kind_and_language_are_found_about_as_well_as_by_plain_bm25() {
    for language in LANGUAGES {
        let questions = questions(language);
        for (kind, tolerance) in [(Kind::Turns, 0.0), (Kind::Messages, 0.0), (Kind::Notes, 0.01)] {
            let set = Set::new(language, &texts(language, kind));
            set.check(&format!("{kind:?} in {language}"), of_kind(&questions, kind), tolerance);
        }
        let set = Set::new(language, &sessions(language));
        let about_sessions = of_kind(&questions, Kind::Turns).map(|(question, turns)| {
            let sessions: BTreeSet<String> = turns.iter().map(|turn| session(turn)).collect();
            (question, sessions.into_iter().collect())
        });
        set.check(&format!("Sessions in {language}"), about_sessions, 0.01);
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes: run it with `--release`")]
fn paraphrases_in_each_language_are_found_at_least_as_well_as_by_plain_bm25() {
    for language in LANGUAGES {
        let paraphrases: Vec<Paraphrase> = match language {
            "en" => english_paraphrases(),
            _ => read(&format!("{language}/paraphrases.jsonl")),
        };
        // Each is added on a day of its own. So no text is near another in time, which would change its
        // rank.
        let texts = paraphrases.iter().enumerate().map(|(index, one)| {
            let month = index / 28 + 1;
            let day = index % 28 + 1;
            let now = format!("2025-{month:02}-{day:02}T10:00:00.000Z");
            Added { key: one.key.clone(), now, text: one.text.clone() }
        });
        let set = Set::new(language, &texts.collect::<Vec<_>>());
        let questions = paraphrases.iter().map(|one| (&*one.question, vec![one.key.clone()]));
        set.check(&format!("Paraphrases in {language}"), questions, 0.0);
    }
}

fn english_paraphrases() -> Vec<Paraphrase> {
    let english = paraphrases().into_iter().filter(|one| one.language == "en");
    let plainly = |one: super::Paraphrase| Paraphrase {
        key: one.key,
        text: one.text,
        question: one.question,
    };
    english.map(plainly).collect()
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes: run it with `--release`")]
fn questions_without_an_answer_are_marked_in_each_language() {
    for (language, most_marked) in MOST_MARKED {
        let questions = questions(language);
        let mut without = Vec::new();
        let mut near = Vec::new();
        let mut answerable = Vec::new();
        for kind in [Kind::Turns, Kind::Messages, Kind::Notes] {
            let set = Set::new(language, &texts(language, kind));
            for question in &questions {
                let is_marked = || set.search(&question.question, &question.answers).is_marked;
                match question.kind {
                    Kind::None if !question.near => without.push(is_marked()),
                    Kind::None if kind == Kind::Turns => near.push(is_marked()),
                    of if of == kind => answerable.push(is_marked()),
                    _ => {}
                }
            }
        }
        let share = |marked: &[bool]| {
            marked.iter().filter(|is_marked| **is_marked).count() as f64 / marked.len() as f64
        };
        println!(
            "marked in {language}: {:.3} of {} searches without an answer, {:.3} of {} where the \
             people are known, {:.3} of {} questions with one",
            share(&without),
            without.len(),
            share(&near),
            near.len(),
            share(&answerable),
            answerable.len()
        );
        assert!(share(&without) > 0.9, "{language}: {without:?}");
        assert!(share(&answerable) < most_marked, "{language}: {answerable:?}");
    }
}
