//! Sequences of steps: generating one from a seed, running it on a host and the model, and shortening
//! one that shows a difference.

use std::collections::BTreeMap;

use agent_memory_conformance::case::{Documents, Places};
use agent_memory_conformance::runner::{Answer, compare_documents};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::hosts::{Host, HostOptions};
use super::{Model, Step, StepOf};
use crate::random::Random;

/// Steps, and the times of the calls among them.
#[derive(Clone, Debug)]
pub struct Sequence<Meaning, Edit> {
    /// The clock and the zone.
    pub options: HostOptions,
    /// The steps.
    pub steps: Vec<Step<Meaning, Edit>>,
}

/// A sequence for a model.
pub type SequenceOf<M> = Sequence<<M as Model>::Meaning, <M as Model>::Edit>;

/// Opens a host with an empty repository.
pub type Open<'a> = dyn FnMut(&HostOptions) -> Result<Box<dyn Host>, String> + 'a;

/// A difference between a host and the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The step, counted from 0.
    pub step: usize,
    /// What the host did, and what was expected.
    pub what: String,
}

/// How many shorter sequences are tried at most.
const ATTEMPTS: usize = 300;

/// The sequence of a seed.
pub fn generate<M: Model>(seed: u64, tools: &[String]) -> SequenceOf<M> {
    let mut random = Random::new(seed);
    let options = HostOptions::any(M::TOOLSET, &mut random);
    let mut model = M::new(tools);
    let mut steps: Vec<StepOf<M>> = Vec::new();
    let mut calls = 0;
    for _ in 0..4 + random.below(40) {
        let today = options.today(calls);
        let step = model.next(&mut random, &today);
        match &step {
            Step::Edit(edit) => model.edit(edit),
            Step::Call(call) => {
                model.call(call, &today);
                calls += 1;
            }
        }
        steps.push(step);
    }
    Sequence { options, steps }
}

impl HostOptions {
    /// A clock that sometimes passes midnight, in a random time zone.
    fn any(toolset: &'static str, random: &mut Random) -> Self {
        let first: Timestamp = "2024-12-20T00:00:00Z".parse().expect("a timestamp");
        let minutes = random.below(80 * 24 * 60) as i64;
        Self {
            toolset,
            now: first + SignedDuration::from_mins(minutes),
            step_ms: *random.pick(&[1000, 60_000, 4_000_000, 21_600_000]),
            utc_offset_minutes: *random.pick(&[0, 0, 60, -300, 330, 840, -720]),
            seed: random.number() >> 12,
        }
    }

    /// The time of call `number`.
    pub fn moment(&self, number: u32) -> Timestamp {
        self.now + SignedDuration::from_millis(i64::from(self.step_ms) * i64::from(number))
    }

    /// The local date at that moment.
    pub fn today(&self, number: u32) -> String {
        let offset = SignedDuration::from_mins(self.utc_offset_minutes.into());
        let local = self.moment(number) + offset;
        local.to_string().chars().take("YYYY-MM-DD".len()).collect()
    }
}

/// Makes the steps on a host and on the model, and compares the answer and all documents after each.
///
/// # Errors
///
/// The first difference.
pub fn run<M: Model>(
    sequence: &SequenceOf<M>,
    tools: &[String],
    open: &mut Open<'_>,
) -> Result<Vec<Answer>, Difference> {
    let at = |step: usize| move |what: String| Difference { step, what };
    let mut host = open(&sequence.options).map_err(at(0))?;
    let places = host.places();
    let mut model = M::new(tools);
    let mut answers = Vec::new();
    for (index, step) in sequence.steps.iter().enumerate() {
        match step {
            Step::Edit(edit) => {
                let before = model.documents();
                model.edit(edit);
                write(host.as_mut(), &before, &model.documents());
            }
            Step::Call(call) => {
                let today = sequence.options.today(answers.len() as u32);
                let expected = model.call(call, &today);
                let arguments = places.fill(&call.arguments);
                let answer = host.call(&call.tool, &arguments).map_err(at(index))?;
                if let Some(what) = expected.differs(&answer) {
                    return Err(at(index)(places.hide(&what)));
                }
                answers.push(hidden(answer, &places));
            }
        }
        if let Some(what) = compare_documents(&model.documents(), &host.documents()) {
            return Err(at(index)(what));
        }
    }
    host.end().map_err(at(sequence.steps.len()))?;
    Ok(answers)
}

/// Writes the changes of a person's edit to a host's documents.
fn write(host: &mut dyn Host, before: &Documents, after: &Documents) {
    for path in before.keys().filter(|path| !after.contains_key(*path)) {
        host.put(path, None);
    }
    for (path, contents) in after.iter().filter(|(path, new)| before.get(*path) != Some(new)) {
        host.put(path, Some(contents));
    }
}

fn hidden(answer: Answer, places: &Places) -> Answer {
    let hide = |value: Value| {
        let text = places.hide(&value.to_string());
        serde_json::from_str(&text).expect("a path in a text is a text")
    };
    match answer {
        Answer::Result(value) => Answer::Result(hide(value)),
        Answer::Error(value) => Answer::Error(hide(value)),
        refused @ Answer::Refused(_) => refused,
    }
}

/// The sequence without steps that the difference does not need.
pub fn shorten<M: Model>(
    sequence: &SequenceOf<M>,
    first: &Difference,
    mut fails: impl FnMut(&SequenceOf<M>) -> Option<Difference>,
) -> (SequenceOf<M>, Difference) {
    let mut shortest = sequence.clone();
    let mut difference = first.clone();
    shortest.steps.truncate(first.step + 1);
    let mut width = shortest.steps.len().div_ceil(2);
    let mut attempts = 0;
    while width > 0 {
        let mut end = shortest.steps.len();
        while end > 0 && attempts < ATTEMPTS {
            let start = end.saturating_sub(width);
            let mut shorter = shortest.clone();
            shorter.steps.drain(start..end);
            if let Some(other) = fails(&shorter) {
                shorter.steps.truncate(other.step + 1);
                (shortest, difference) = (shorter, other);
            }
            end = start.min(shortest.steps.len());
            attempts += 1;
        }
        width /= 2;
    }
    (shortest, difference)
}

/// The number of answers, by tool and by result or error code.
#[derive(Debug, Default)]
pub struct Tally(pub BTreeMap<String, BTreeMap<String, u64>>);

impl Tally {
    /// Counts the answers of a sequence.
    pub fn count<Meaning, Edit>(&mut self, steps: &[Step<Meaning, Edit>], answers: &[Answer]) {
        let calls = steps.iter().filter_map(|step| match step {
            Step::Call(call) => Some(call),
            Step::Edit(_) => None,
        });
        for (call, answer) in calls.zip(answers) {
            let kind = match answer {
                Answer::Result(_) => "result",
                Answer::Error(error) => error["error"].as_str().unwrap_or("no code"),
                Answer::Refused(_) => "no such tool",
            };
            *self.0.entry(call.tool.clone()).or_default().entry(kind.to_owned()).or_default() += 1;
        }
    }

    /// The number of answers of a kind.
    pub fn of(&self, kind: &str) -> u64 {
        self.0.values().filter_map(|kinds| kinds.get(kind)).sum()
    }

    /// The number of calls.
    pub fn calls(&self) -> u64 {
        self.0.values().flat_map(BTreeMap::values).sum()
    }
}
