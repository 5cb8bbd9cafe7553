//! Random sequences of calls and of people's edits. After each step, the answer and the documents of
//! every host are those of the model, byte for byte.
//!
//! `AGENT_MEMORY_TEST_ROUNDS` sets the number of sequences, `AGENT_MEMORY_TEST_SEED` the first seed.

use std::env;
use std::time::Instant;

use agent_memory_conformance::core_runner::tools_of;
use agent_memory_conformance::runner::Answer;
use agent_memory_tests::model::hosts::component::Component;
use agent_memory_tests::model::hosts::core::Core;
use agent_memory_tests::model::hosts::node::{self, Node, Process};
use agent_memory_tests::model::sequence::{
    Difference, Open, SequenceOf, Tally, generate, run, shorten,
};
use agent_memory_tests::model::sessions::Sessions;
use agent_memory_tests::model::{Model, Step};
use agent_memory_tests::random::{replay, seed_or};
use agent_memory_tests::runners::node::left_out;

const ROUNDS: &str = "AGENT_MEMORY_TEST_ROUNDS";

/// The errors that a sequence can get; the others need failing storage.
const CODES: [&str; 8] = [
    "InvalidInput",
    "InvalidSection",
    "InvalidContent",
    "RepositoryNotAllowed",
    "SessionNotFound",
    "SchemaMissing",
    "SchemaInvalid",
    "MalformedLog",
];

#[test]
fn the_core_does_what_the_model_says() {
    let tally = compare::<Sessions>("the_core_does", 4000, &mut Core::open, false);
    if env::var_os(ROUNDS).is_some() {
        return;
    }
    let calls = tally.calls();
    for kind in CODES.iter().chain(&["no such tool"]) {
        assert!(tally.of(kind) * 1000 > calls, "so few of {kind} show nothing: {tally:?}");
    }
    for tool in tools(Sessions::TOOLSET) {
        let results = tally.0.get(&tool).and_then(|kinds| kinds.get("result"));
        assert!(results.is_some_and(|many| many * 50 > calls), "`{tool}` fails: {tally:?}");
    }
}

#[test]
fn the_component_in_wasmtime_does_what_the_core_and_the_model_do() {
    compare::<Sessions>("the_component_in_wasmtime", 300, &mut Component::open, true);
}

#[test]
fn node_does_what_the_core_and_the_model_do() {
    if left_out(node::PROGRAM) {
        return;
    }
    let process = Process::start();
    let mut open = |options: &_| Node::open(&process, options);
    compare::<Sessions>("node_does", 60, &mut open, true);
}

/// The names of a toolset's tools for models.
fn tools(toolset: &str) -> Vec<String> {
    let listed = tools_of(toolset);
    let for_models = listed.iter().filter(|tool| tool["audience"] != "person");
    for_models.filter_map(|tool| tool["name"].as_str()).map(str::to_owned).collect()
}

/// Runs sequences on a host and, if asked, on the core, and compares them with the model and with
/// each other.
fn compare<M: Model>(test: &str, rounds: u64, open: &mut Open<'_>, with_core: bool) -> Tally {
    let rounds = env::var(ROUNDS).map_or(rounds, |text| text.parse().expect("a number of rounds"));
    let first_seed = seed_or(20_250_120);
    let tools = tools(M::TOOLSET);
    let began = Instant::now();
    let mut tally = Tally::default();
    let mut steps = 0;
    for seed in (0..rounds).map(|number| first_seed.wrapping_add(number)) {
        let sequence = generate::<M>(seed, &tools);
        match attempt::<M>(&sequence, &tools, open, with_core) {
            Ok(answers) => tally.count(&sequence.steps, &answers),
            Err(first) => {
                let fails =
                    |shorter: &SequenceOf<M>| attempt::<M>(shorter, &tools, open, with_core).err();
                let (shorter, difference) = shorten::<M>(&sequence, &first, fails);
                panic!(
                    "seed {seed}, step {}: {}\nshortened:\n{}\nstep {}: {}\nreplay: {ROUNDS}=1 {}",
                    first.step,
                    first.what,
                    written::<M>(&shorter),
                    difference.step,
                    difference.what,
                    replay("differential", test, seed)
                );
            }
        }
        steps += sequence.steps.len() as u64;
    }
    let calls = tally.calls();
    let took = began.elapsed();
    println!(
        "{test}: {rounds} sequences from seed {first_seed}, {calls} calls, {} edits, {took:.1?}",
        steps - calls
    );
    tally
}

fn attempt<M: Model>(
    sequence: &SequenceOf<M>,
    tools: &[String],
    open: &mut Open<'_>,
    with_core: bool,
) -> Result<Vec<Answer>, Difference> {
    let answers = run::<M>(sequence, tools, open)?;
    if with_core {
        let of_core = run::<M>(sequence, tools, &mut Core::open)?;
        let pairs = answers.iter().zip(&of_core).map(|(a, b)| (without_host(a), without_host(b)));
        if let Some((got, expected)) = pairs.into_iter().find(|(got, expected)| got != expected) {
            let what = format!("the core answers {expected}\n  this host {got}");
            return Err(Difference { step: sequence.steps.len(), what });
        }
    }
    Ok(answers)
}

/// An answer as text, without the messages that hosts word themselves.
fn without_host(answer: &Answer) -> String {
    match answer {
        Answer::Error(error) if error["error"] == "RepositoryNotAllowed" => {
            error["error"].to_string()
        }
        Answer::Error(value) | Answer::Result(value) => value.to_string(),
        Answer::Refused(kinds) => kinds.join(" "),
    }
}

fn written<M: Model>(sequence: &SequenceOf<M>) -> String {
    let short = |line: String| line.chars().take(500).chain(['\n']).collect::<String>();
    let steps = sequence.steps.iter().enumerate().map(|(index, step)| match step {
        Step::Call(call) => short(format!("{index}: {} {}", call.tool, call.arguments)),
        Step::Edit(edit) => short(format!("{index}: a person: {edit:?}")),
    });
    format!("{:?}\n{}", sequence.options, steps.collect::<String>())
}
