//! Whether questions in plain words find stored memories: 320 questions about 930 memories, in other
//! words than these, and 100 questions about 100 paraphrases. `sets.rs` has texts of six kinds in four
//! languages. All are in `retrieval/`. The figures are the same on every machine:
//!
//! ```text
//! cargo test --release -p agent-memory-conformance --test retrieval -- --show-output
//! ```

mod plain;
mod sets;

use std::collections::BTreeMap;
use std::fs;

use agent_memory_conformance::case::directory;
use agent_memory_conformance::core_runner::context_of;
use agent_memory_conformance::in_memory::InMemoryStorage;
use agent_memory_core::storage::{Area, Place};
use agent_memory_core::toolbox;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Memory {
    key: String,
    date: String,
    text: String,
}

#[derive(Deserialize)]
struct Question {
    question: String,
    answers: Vec<String>,
    hard: bool,
}

/// A memory and a question about it. In English, they have hardly a word in common.
#[derive(Deserialize)]
struct Paraphrase {
    key: String,
    language: String,
    text: String,
    question: String,
}

/// How well questions find their answers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Quality {
    questions: usize,
    /// The share of answers among the first ten hits.
    recall_at_10: f64,
    /// The mean of one over the rank of the first answer.
    mean_reciprocal_rank: f64,
}

/// The number of a question's answers, and the ranks of those among the first ten hits.
type Ranks = (usize, Vec<usize>);

impl Quality {
    fn from_ranks(ranks: &[Ranks]) -> Self {
        let questions = ranks.len();
        let mean = |of: fn(&Ranks) -> f64| ranks.iter().map(of).sum::<f64>() / questions as f64;
        Self {
            questions,
            recall_at_10: mean(|(answers, found)| found.len() as f64 / *answers as f64),
            mean_reciprocal_rank: mean(|(_, found)| {
                found.first().map_or(0.0, |rank| 1.0 / *rank as f64)
            }),
        }
    }
}

/// Asks questions through the tool, and finds the rank of each answer among the first ten hits.
struct Asking<'a> {
    storage: &'a InMemoryStorage,
    settings: Value,
    /// The keys of the memories by their texts, which are passages of hits.
    keys: BTreeMap<String, String>,
}

impl Asking<'_> {
    fn ranks(&self, question: &Question) -> Ranks {
        let arguments = json!({"query": question.question, "limit": 10});
        let now = "2026-12-01T10:00:00.000Z";
        let found = call(self.storage, &self.settings, now, "search_memory", &arguments);
        let hits = found["hits"].as_array().expect("hits");
        let key = |hit: &Value| self.keys.get(hit["passage"].as_str().unwrap_or_default());
        let is_answer = |hit: &Value| key(hit).is_some_and(|key| question.answers.contains(key));
        let ranks = hits.iter().enumerate().filter(|(_, hit)| is_answer(hit));
        (question.answers.len(), ranks.map(|(index, _)| index + 1).collect())
    }

    /// Asks the questions of a language about paraphrases, and prints how well they find their
    /// memories.
    fn quality_of_paraphrases(&self, name: &str, language: &str) -> Quality {
        let of_language = |one: &Paraphrase| one.language == language;
        let asked = paraphrases().into_iter().filter(of_language).map(|one| {
            self.ranks(&Question { question: one.question, answers: vec![one.key], hard: true })
        });
        let quality = Quality::from_ranks(&asked.collect::<Vec<_>>());
        let Quality { questions, recall_at_10, mean_reciprocal_rank } = quality;
        println!(
            "{name}, {questions} paraphrases in {language}: R@10 {recall_at_10:.3}, \
             MRR {mean_reciprocal_rank:.3}"
        );
        quality
    }

    /// Asks all questions and prints how well they find their answers.
    fn quality(&self, name: &str) -> Quality {
        let questions: Vec<Question> = read("questions.jsonl");
        let of = |wanted: &dyn Fn(&Question) -> bool| {
            let asked = questions.iter().filter(|question| wanted(question));
            Quality::from_ranks(&asked.map(|question| self.ranks(question)).collect::<Vec<_>>())
        };
        let all = of(&|_| true);
        let hard = of(&|question| question.hard);
        for (what, quality) in [("all", all), ("hard", hard)] {
            println!(
                "{name}, {what} {} questions: R@10 {:.3}, MRR {:.3}",
                quality.questions, quality.recall_at_10, quality.mean_reciprocal_rank
            );
        }
        all
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes: run it with `--release`")]
fn questions_find_the_records_that_answer_them() {
    let both = ["json", "sqlite"].map(|format| {
        let storage = InMemoryStorage::new();
        storage.grant(Place::named("records"));
        let settings = json!({"toolsets": ["records", "memory"], "records": {"format": format}});
        for (index, memory) in memories().iter().enumerate() {
            let minute = index % 60;
            let hour = 10 + index / 60 % 12;
            let now = format!("{}T{hour:02}:{minute:02}:00.000Z", memory.date);
            let arguments = json!({"content": memory.text});
            call(&storage, &settings, &now, "add_recent_learning", &arguments);
        }
        Asking { storage: &storage, settings, keys: keys() }
            .quality(&format!("records in {format}"))
    });
    assert_eq!(both[0], both[1], "the formats differ");
    assert!(both[0].recall_at_10 > 0.83 && both[0].mean_reciprocal_rank > 0.545, "{:?}", both[0]);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes: run it with `--release`")]
fn questions_find_the_entries_of_session_logs_that_answer_them() {
    let storage = InMemoryStorage::new();
    let place = Place::repository("/repo");
    storage.grant(place.clone());
    let mut logs: BTreeMap<String, String> = BTreeMap::new();
    for memory in memories() {
        let date = &memory.date;
        let log = logs.entry(date.clone()).or_insert_with(|| {
            format!(
                "# ada — {date}\n\n## Header\n\n- Agent Name: ada\n- Date: {date}\n\n## Context\n"
            )
        });
        *log += &format!("\n{}\n", memory.text);
    }
    for (date, log) in logs {
        storage.put(&place, Area::Documents, &format!("ada/logs/{date}.md"), log);
    }
    let settings = json!({"toolsets": ["sessions", "memory"]});
    let quality = Asking { storage: &storage, settings, keys: keys() }.quality("session logs");
    assert!(quality.recall_at_10 > 0.83 && quality.mean_reciprocal_rank > 0.545, "{quality:?}");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes: run it with `--release`")]
fn a_thesaurus_finds_paraphrases_and_changes_nothing_in_other_languages() {
    let storage = with_paraphrases();
    let by_words = asking_paraphrases(&storage, true).quality_of_paraphrases("words alone", "en");
    let with_thesaurus = asking_paraphrases(&storage, false);
    let english = with_thesaurus.quality_of_paraphrases("thesaurus", "en");
    assert!(by_words.recall_at_10 < 0.05, "they have hardly a common word: {by_words:?}");
    assert!(english.recall_at_10 > 0.75 && english.mean_reciprocal_rank > 0.45, "{english:?}");

    // With 930 more memories. They share words with the questions, but most are about other subjects.
    for Memory { date, text, .. } in memories() {
        add(&storage, &format!("{date}T10:00:00.000Z"), &text);
    }
    let english = with_thesaurus.quality_of_paraphrases("thesaurus, 930 more memories", "en");
    assert!(english.recall_at_10 > 0.2, "{english:?}");
    for language in ["de", "fr", "es"] {
        let by_words = asking_paraphrases(&storage, true);
        let by_words = by_words.quality_of_paraphrases("words alone", language);
        let quality = with_thesaurus.quality_of_paraphrases("thesaurus", language);
        assert_eq!(quality, by_words, "{language}");
        assert!(quality.recall_at_10 > 0.9, "{language} {quality:?}");
    }
}

/// Records of the paraphrases, each on a day of its own. So no record is near another in time, which
/// would change its rank.
fn with_paraphrases() -> InMemoryStorage {
    let storage = InMemoryStorage::new();
    storage.grant(Place::named("records"));
    for (at, Paraphrase { text, .. }) in paraphrases().iter().enumerate() {
        add(&storage, &format!("2025-{:02}-{:02}T10:00:00.000Z", at / 28 + 1, at % 28 + 1), text);
    }
    storage
}

fn asking_paraphrases(storage: &InMemoryStorage, no_thesaurus: bool) -> Asking<'_> {
    let keys = paraphrases().into_iter().map(|one| (one.text, one.key)).collect();
    Asking { storage, settings: settings_of_paraphrases(no_thesaurus), keys }
}

fn settings_of_paraphrases(no_thesaurus: bool) -> Value {
    json!({
        "toolsets": ["records", "memory"],
        "records": {"format": "sqlite"},
        "memory": {"no_thesaurus": no_thesaurus},
    })
}

fn add(storage: &InMemoryStorage, now: &str, text: &str) {
    let settings = settings_of_paraphrases(false);
    call(storage, &settings, now, "add_recent_learning", &json!({"content": text}));
}

fn paraphrases() -> Vec<Paraphrase> {
    read("paraphrases.jsonl")
}

fn memories() -> Vec<Memory> {
    read("memories.jsonl")
}

fn keys() -> BTreeMap<String, String> {
    memories().into_iter().map(|memory| (memory.text, memory.key)).collect()
}

fn read<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let text = fs::read_to_string(directory().join("retrieval").join(name)).expect("the file");
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

fn call(
    storage: &InMemoryStorage,
    settings: &Value,
    now: &str,
    tool: &str,
    arguments: &Value,
) -> Value {
    let context = json!({"settings": settings, "now": now, "seed": 1});
    let context = context_of(&context);
    storage.begin_call();
    let outcome = toolbox::call_tool(storage, tool, &arguments.to_string(), &context);
    let answer = outcome.expect("the tool is mounted").answer.expect("a result");
    serde_json::from_str(&answer).expect("JSON")
}
