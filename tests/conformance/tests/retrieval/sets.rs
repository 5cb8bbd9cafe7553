//! Texts of six kinds in four languages, beside plain bm25 over the same texts. All were written for this
//! test, and each question and its answers before any search.

use agent_memory_conformance::in_memory::InMemoryStorage;
use agent_memory_core::storage::Place;
use serde::Deserialize;
use serde_json::{Value, json};

use super::plain::Plain;
use super::{Quality, Ranks, call, paraphrases, read};

const LANGUAGES: [&str; 4] = ["en", "de", "es", "ja"];

/// A turn of a conversation, a message, or a note.
#[derive(Deserialize)]
struct Text {
    /// That of a turn begins with the key of its session: `a1.3`.
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
    /// Without an answer, but about people of the conversations.
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

/// What a search found of a question.
struct Found {
    ranks: Ranks,
    /// The first hits may be no answer.
    is_marked: bool,
}

impl Set {
    /// Each text is added at its time.
    fn new(language: &str, texts: &[(String, String, String)]) -> Self {
        let storage = InMemoryStorage::new();
        storage.grant(Place::named("records"));
        let add = |(key, now, text): &(String, String, String)| {
            let arguments = json!({"content": text});
            let added = call(&storage, &settings(), now, "add_recent_learning", &arguments);
            let id = added["memory"]["id"].as_str().expect("an id");
            (id.to_owned(), key.clone())
        };
        let keys = texts.iter().map(add).collect();
        let plain = Plain::new(language, texts.iter().map(|(key, _, text)| (&**key, &**text)));
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

    /// Searches for all questions, prints how well they find their answers, and returns this with the
    /// quality of plain bm25.
    fn qualities<'q>(
        &self,
        name: &str,
        questions: impl Iterator<Item = (&'q str, Vec<String>)>,
    ) -> (Quality, Quality) {
        let of_both = questions.map(|(question, answers)| {
            let plain = ranks(&answers, &self.plain.keys(question));
            (self.search(question, &answers).ranks, plain)
        });
        let (ours, plain): (Vec<Ranks>, Vec<Ranks>) = of_both.unzip();
        let (ours, plain) = (Quality::from_ranks(&ours), Quality::from_ranks(&plain));
        println!(
            "{name}, {} questions about {} texts: R@10 {:.3}, MRR {:.3}; plain bm25: {:.3}, {:.3}",
            ours.questions,
            self.keys.len(),
            ours.recall_at_10,
            ours.mean_reciprocal_rank,
            plain.recall_at_10,
            plain.mean_reciprocal_rank
        );
        (ours, plain)
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
fn texts(language: &str, kind: Kind) -> Vec<(String, String, String)> {
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
        (key, format!("{date}T{hour:02}:{minute:02}:{second:02}.000Z"), text)
    });
    at.collect()
}

/// The sessions of the conversations: each has the texts of its turns.
fn sessions(language: &str) -> Vec<(String, String, String)> {
    let mut sessions: Vec<(String, String, String)> = Vec::new();
    for (key, now, text) in texts(language, Kind::Turns) {
        let session = session(&key);
        match sessions.last_mut().filter(|last| last.0 == session) {
            Some((_, _, of_session)) => *of_session += &format!("\n\n{text}"),
            None => sessions.push((session, now, text)),
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
fn texts_of_each_kind_and_language_are_found_as_well_as_by_plain_bm25() {
    for language in LANGUAGES {
        let questions = questions(language);
        for kind in [Kind::Turns, Kind::Messages, Kind::Notes] {
            let set = Set::new(language, &texts(language, kind));
            set.qualities(&format!("{kind:?} in {language}"), of_kind(&questions, kind));
        }
        let set = Set::new(language, &sessions(language));
        let about_sessions = of_kind(&questions, Kind::Turns).map(|(question, turns)| {
            let mut sessions: Vec<String> = turns.iter().map(|turn| session(turn)).collect();
            sessions.sort();
            sessions.dedup();
            (question, sessions)
        });
        set.qualities(&format!("Sessions in {language}"), about_sessions);
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes: run it with `--release`")]
fn paraphrases_in_other_languages_are_found_as_well_as_by_plain_bm25() {
    for language in LANGUAGES {
        let paraphrases: Vec<Paraphrase> = match language {
            "en" => {
                let english = paraphrases().into_iter().filter(|one| one.language == "en");
                english
                    .map(|one| Paraphrase { key: one.key, text: one.text, question: one.question })
                    .collect()
            }
            _ => read(&format!("{language}/paraphrases.jsonl")),
        };
        let texts = paraphrases.iter().enumerate().map(|(index, one)| {
            let (month, day) = (index / 28 + 1, index % 28 + 1);
            (one.key.clone(), format!("2025-{month:02}-{day:02}T10:00:00.000Z"), one.text.clone())
        });
        let set = Set::new(language, &texts.collect::<Vec<_>>());
        let questions = paraphrases.iter().map(|one| (&*one.question, vec![one.key.clone()]));
        set.qualities(&format!("Paraphrases in {language}"), questions);
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes: run it with `--release`")]
fn questions_without_an_answer_are_marked_in_each_language() {
    for language in LANGUAGES {
        let questions = questions(language);
        let (mut without, mut near, mut answerable) = (Vec::new(), Vec::new(), Vec::new());
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
    }
}
