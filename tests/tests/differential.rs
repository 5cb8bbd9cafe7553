//! Random sequences of calls get the same answers and leave the same documents on every host. A
//! sequence has calls from all cases of a toolset, in any order, on the documents of any case.
//!
//! `AGENT_MEMORY_TEST_ROUNDS` sets the number of sequences, `AGENT_MEMORY_TEST_SEED` the first seed.

use std::collections::{BTreeMap, BTreeSet};
use std::env;

use agent_memory_conformance::case::{Case, Documents, Ids, Step, load_all};
use agent_memory_conformance::core_runner::CoreSession;
use agent_memory_conformance::runner::{Answer, Session, compare_documents, error_code, is_same};
use agent_memory_tests::random::{Random, replay, seed_or};
use agent_memory_tests::runners::Start;
use agent_memory_tests::runners::component::ComponentSession;
use agent_memory_tests::runners::node;
use serde_json::Value;

const ROUNDS: &str = "AGENT_MEMORY_TEST_ROUNDS";

/// The most calls of a sequence.
const CALLS: usize = 40;

#[test]
fn the_component_in_wasmtime_answers_as_the_core_does() {
    compare("the_component_in_wasmtime", 300, ComponentSession::start);
}

#[test]
fn node_answers_as_the_core_does() {
    if node::left_out(node::PROGRAM) {
        return;
    }
    let start = node::start().expect("it is built");
    compare("node_answers", 120, start);
}

/// Runs sequences on the core and on another host.
fn compare(test: &str, rounds: u64, start: impl Fn(&Case) -> Result<Box<dyn Session>, String>) {
    let on_core: Start = |case| Ok(CoreSession::start(case));
    let rounds = env::var(ROUNDS).map_or(rounds, |text| text.parse().expect("a number of rounds"));
    let first_seed = seed_or(20_250_120);
    let pool = Pool::new(load_all());
    let mut tally = BTreeMap::new();
    for seed in (0..rounds).map(|number| first_seed.wrapping_add(number)) {
        let case = pool.sequence(&mut Random::new(seed));
        let expected = run(&case, on_core(&case)).expect("the core has no errors of its own");
        let difference = match start(&case).and_then(|session| run(&case, Ok(session))) {
            Ok(got) => difference(&case, &expected, &got),
            Err(error) => Some(error),
        };
        if let Some(difference) = difference {
            panic!(
                "{}: {difference}\n{ROUNDS}=1 {}",
                case.name,
                replay("differential", test, seed)
            );
        }
        for kind in expected.kinds {
            *tally.entry(kind).or_insert(0_u64) += 1;
        }
    }
    let calls: u64 = tally.values().sum();
    println!("{test}: {rounds} sequences from seed {first_seed}, {calls} calls: {tally:?}");
    let is_varied = tally.get(RESULT).is_some_and(|results| results * 4 > calls);
    assert!(is_varied && tally.len() > 10, "such sequences show little: {tally:?}");
}

/// The cases that a sequence may begin with, and the calls that may follow.
struct Pool {
    cases: Vec<Case>,
    /// The steps by toolset and format.
    steps: BTreeMap<String, Vec<Step>>,
}

impl Pool {
    fn new(mut cases: Vec<Case>) -> Self {
        cases.retain(|case| {
            case.toolset() != "memory"
                && case.toolsets() == [case.toolset()]
                && case.text.faults.is_empty()
                && !case.has_follow_ups()
        });
        let mut steps: BTreeMap<String, Vec<Step>> = BTreeMap::new();
        for case in &cases {
            steps.entry(kind(case)).or_default().extend(case.text.steps.iter().cloned());
        }
        Self { cases, steps }
    }

    fn sequence(&self, random: &mut Random) -> Case {
        // Each toolset and format is chosen equally often.
        let kinds: BTreeSet<String> = self.steps.keys().cloned().collect();
        let kind_of_sequence = random.pick(&kinds.into_iter().collect::<Vec<_>>()).clone();
        let of_kind: Vec<_> =
            self.cases.iter().filter(|case| kind(case) == kind_of_sequence).collect();
        let steps = &self.steps[&kind_of_sequence];
        let steps = (0..=random.below(CALLS)).map(|_| random.pick(steps).clone()).collect();
        random.pick(&of_kind).with_steps(steps)
    }
}

/// The toolset of a case, with its format.
fn kind(case: &Case) -> String {
    format!("{} {:?}", case.toolset(), case.format)
}

/// The kind of an answer without an error.
const RESULT: &str = "result";

/// The answers and the documents of a sequence.
struct Ended {
    answers: Vec<Value>,
    /// For each answer, `result` or the code of its error.
    kinds: Vec<String>,
    documents: Documents,
}

/// Makes all calls of a sequence.
fn run(case: &Case, session: Result<Box<dyn Session>, String>) -> Result<Ended, String> {
    let mut session = session?;
    let places = session.places();
    let mut ids = Ids::default();
    let mut answers = Vec::new();
    let mut kinds = Vec::new();
    for step in &case.text.steps {
        let answer = session.request(&step.request.filled(&places, &ids))?;
        ids.push(match &answer {
            Answer::Result(result) => Some(result),
            _ => None,
        });
        kinds.push(kind_of(&answer));
        let text = places.hide(&shown(&answer).to_string());
        answers.push(serde_json::from_str(&text).expect("a path in a text is a text"));
    }
    Ok(Ended { answers, kinds, documents: session.finish()? })
}

fn kind_of(answer: &Answer) -> String {
    match answer {
        Answer::Result(_) => RESULT.to_owned(),
        Answer::Error(error) => error_code(error).unwrap_or("no code").to_owned(),
        Answer::Refused(kinds) => kinds.join(" or "),
    }
}

/// An answer as it is compared. Hosts word the refusal of a path differently, so only its code counts.
fn shown(answer: &Answer) -> Value {
    match answer {
        Answer::Error(error) if error["error"] == "RepositoryNotAllowed" => kind_of(answer).into(),
        Answer::Error(value) | Answer::Result(value) => value.clone(),
        Answer::Refused(_) => kind_of(answer).into(),
    }
}

fn difference(case: &Case, expected: &Ended, got: &Ended) -> Option<String> {
    let mut answers = expected.answers.iter().zip(&got.answers);
    if let Some(at) = answers.position(|(expected, got)| !is_same(expected, got)) {
        let step = &case.text.steps[at];
        let call = format!("step {at}: {} {}", step.name(), step.arguments());
        return Some(format!(
            "{call}\n  the core {}\n  this host {}",
            expected.answers[at], got.answers[at]
        ));
    }
    compare_documents(&expected.documents, &got.documents)
}
