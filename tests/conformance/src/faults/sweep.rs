//! Every call that the conformance suite has for a toolset, through every fault.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use agent_memory_core::storage::{ErrorCode, Place, Storage};
use agent_memory_core::toolbox;
use serde_json::{Map, Value};

use super::call::{Attempt, Call, Found, Tally};
use super::state::State;
use crate::case::{self, Case, Format, Ids};
use crate::core_runner::{Circumstances, answer, context_of, memory_of, place_of, tools_of};
use crate::runner::Answer;

/// How long documents and arguments may be together: length decides nothing about faults.
const MAX_BYTES: usize = 64 * 1024;

/// One mistake shows in thousands of faults.
const SHOWN: usize = 20;

/// Names one call, or one fault of it, as a failure does: all that is swept then.
const VARIABLE: &str = "AGENT_MEMORY_FAULT";

/// A toolset whose calls are to be swept.
#[derive(Debug)]
pub struct Sweep {
    toolset: &'static str,
    tools: Vec<Value>,
    reports: BTreeMap<&'static str, &'static [ErrorCode]>,
    besides: &'static [&'static str],
    sample: Option<Sample>,
}

/// Which of the calls are swept: so many of each tool in each format, of the first of these topics
/// that have some.
#[derive(Clone, Copy, Debug)]
struct Sample {
    calls: usize,
    topics: &'static [&'static str],
}

/// The calls that are swept, by the name of the case and the number of the step.
type Chosen = BTreeSet<(String, usize)>;

/// What is to be swept: a call, a fault of one, or, where it is none, everything.
struct Wanted(Option<String>);

/// What was done, by tool, and what was wrong.
#[derive(Default)]
struct Account {
    tallies: BTreeMap<String, Tally>,
    too_long: usize,
    found: Vec<String>,
}

impl Sweep {
    /// The calls of a toolset: every step of its cases, in the state that the steps before it leave.
    pub fn of(toolset: &'static str) -> Self {
        let tools = tools_of(toolset);
        Self { toolset, tools, reports: BTreeMap::new(), besides: &[], sample: None }
    }

    /// Fields of answers that tell of work besides the call's own, which any later call may do: one
    /// that is made again after a fault may do what the first would have done.
    pub fn besides(mut self, fields: &'static [&'static str]) -> Self {
        self.besides = fields;
        self
    }

    /// A tool that examines documents: it reports these errors of reading and listing instead of
    /// failing.
    pub fn reporting(mut self, tool: &'static str, errors: &'static [ErrorCode]) -> Self {
        self.reports.insert(tool, errors);
        self
    }

    /// Sweeps at most so many calls of each tool in each format, of cases of these topics, the
    /// first ones first: where a fault takes milliseconds and there are thousands of calls.
    pub fn sampling(mut self, calls: usize, topics: &'static [&'static str]) -> Self {
        self.sample = Some(Sample { calls, topics });
        self
    }

    /// Sweeps them, and prints how many.
    ///
    /// # Panics
    ///
    /// Where a fault does harm, with the command that replays each; and where a tool has no call
    /// that succeeds, a writing one none that changes something.
    pub fn run(self) {
        let wanted = Wanted(env::var(VARIABLE).ok());
        let mut cases = case::load_all();
        cases.retain(|case| case.name.starts_with(&format!("{}/", self.toolset)));
        let chosen = self.sample.map(|sample| sample.of(&mut cases, self.toolset));
        let account = Mutex::new(Account::default());
        let next = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(|| {
                    while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                        self.sweep_case(case, chosen.as_ref(), &wanted, &account);
                    }
                });
            }
        });
        let account = account.into_inner().unwrap_or_else(PoisonError::into_inner);
        account.print();
        let found = &account.found;
        let shown = found[..found.len().min(SHOWN)].join("\n");
        assert!(found.is_empty(), "{} in all:\n{shown}", found.len());
        let Some(wanted) = wanted.0 else { return self.check_complete(&account.tallies) };
        let is_of_this = wanted.starts_with(&format!("{}/", self.toolset));
        assert!(!is_of_this || !account.tallies.is_empty(), "`{wanted}` names no fault");
    }

    /// The cases with planned faults are about the errors, not about what they leave.
    fn sweep_case(
        &self,
        case: &Case,
        chosen: Option<&Chosen>,
        wanted: &Wanted,
        account: &Mutex<Account>,
    ) {
        if !case.text.faults.is_empty() {
            return;
        }
        let place = place_of(case);
        let circumstances = Circumstances::of(case);
        let mut before = State::of(&memory_of(case), &place);
        let mut ids = Ids::default();
        for (index, step) in case.text.steps.iter().enumerate() {
            let arguments = ids.fill(&circumstances.places().fill(&step.arguments));
            let make = |storage: &dyn Storage, attempt: Attempt| {
                let context = match attempt {
                    Attempt::First => circumstances.context(index as u32),
                    Attempt::Again => circumstances.context_again(index as u32),
                };
                call_tool(storage, &step.call, &arguments, &context)
            };
            let after = before.reopened(&place);
            let result = match make(&after, Attempt::First) {
                Answer::Result(result) if step.read.is_none() => Some(result),
                _ => None,
            };
            let succeeds = result.is_some();
            ids.push(result.as_ref());
            let after = State::of(&after, &place);
            let name = format!("{}:{index}", case.name);
            let is_chosen =
                chosen.is_none_or(|chosen| chosen.contains(&(case.name.clone(), index)));
            let tool = self.tools.iter().find(|tool| tool["name"] == step.call && is_chosen);
            if let (Some(tool), Some(points)) = (tool, wanted.points_of(&name)) {
                if before.size() + arguments.to_string().len() > MAX_BYTES {
                    lock(account).too_long += 1;
                } else {
                    let call = self.call(tool, &place, before, &make);
                    let (tally, mut found) = call.sweep(points);
                    found.extend(self.unserved(&call, &arguments, &circumstances.context(0)));
                    lock(account).add(&step.call, &name, tally, &found, succeeds);
                }
            }
            before = after;
        }
    }

    fn call<'a>(
        &'a self,
        tool: &Value,
        place: &'a Place,
        before: State,
        make: &'a dyn Fn(&dyn Storage, Attempt) -> Answer,
    ) -> Call<'a> {
        let reports = tool["name"].as_str().and_then(|name| self.reports.get(name));
        Call {
            place,
            before,
            make,
            writes: is_writer(tool),
            idempotent: tool["annotations"]["idempotentHint"] == true,
            reports: reports.copied().unwrap_or_default(),
            besides: self.besides,
        }
    }

    /// Whoever reads after some of a call's changes is served, if it is served before them.
    fn unserved(&self, call: &Call<'_>, arguments: &Value, context: &Value) -> Vec<Found> {
        let mut found = Vec::new();
        for state in call.states().into_iter().skip(1) {
            for tool in self.tools.iter().filter(|tool| !is_writer(tool)) {
                let Some(arguments) = arguments_of(tool, arguments) else { continue };
                let name = tool["name"].as_str().expect("a tool has a name");
                let [earlier, now] = [&call.before, &state]
                    .map(|state| call_tool(&state.reopened(call.place), name, &arguments, context));
                let is_result = |answer: &Answer| matches!(answer, Answer::Result(_));
                if is_result(&earlier) && !is_result(&now) {
                    let what = format!("after some of the changes `{name}` answers {now:?}");
                    found.push(Found { point: None, what });
                }
            }
        }
        found
    }

    fn check_complete(&self, tallies: &BTreeMap<String, Tally>) {
        for tool in &self.tools {
            let name = tool["name"].as_str().expect("a tool has a name");
            let tally = tallies.get(name).copied().unwrap_or_default();
            assert!(tally.calls > 0, "`{name}` has no case in which it succeeds");
            assert!(
                tally.changes > 0 || !is_writer(tool),
                "`{name}` writes, and has no case in which it changes something"
            );
        }
    }
}

impl Sample {
    /// Leaves the cases of the topics, in the order of the topics.
    fn of(self, cases: &mut Vec<Case>, toolset: &str) -> Chosen {
        let rank = |case: &Case| {
            let in_topic = |topic: &&str| case.name.starts_with(&format!("{toolset}/{topic}/"));
            self.topics.iter().position(in_topic)
        };
        cases.retain(|case| rank(case).is_some() && case.text.faults.is_empty());
        cases.sort_by_key(rank);
        let mut counts: BTreeMap<(Option<&str>, &str), usize> = BTreeMap::new();
        let mut chosen = Chosen::new();
        for case in cases.iter() {
            for (index, step) in case.text.steps.iter().enumerate() {
                let format = case.format.map(Format::name);
                let count = counts.entry((format, step.call.as_str())).or_default();
                *count += 1;
                if *count <= self.calls {
                    chosen.insert((case.name.clone(), index));
                }
            }
        }
        chosen
    }
}

impl Wanted {
    /// Which of a call's points: none where the call is not wanted, none of them where all are.
    fn points_of(&self, call: &str) -> Option<Option<&str>> {
        let Some(wanted) = &self.0 else { return Some(None) };
        match wanted.strip_prefix(call)? {
            "" => Some(None),
            rest => Some(Some(rest.strip_prefix(':')?)),
        }
    }
}

impl Account {
    fn add(&mut self, tool: &str, call: &str, tally: Tally, found: &[Found], succeeds: bool) {
        let sum = self.tallies.entry(tool.to_owned()).or_default();
        sum.operations += tally.operations;
        sum.faults += tally.faults;
        // What refuses shows nothing about a tool that does its work.
        if succeeds {
            sum.calls += tally.calls;
            sum.changes += tally.changes;
        }
        self.found.extend(found.iter().map(|Found { point, what }| {
            let name = point.map_or(call.to_owned(), |point| format!("{call}:{point}"));
            let command = "cargo test --release -p agent-memory-conformance --test faults";
            format!("{name}: {what}\n  replay: {VARIABLE}='{name}' {command}")
        }));
    }

    fn print(&self) {
        for (tool, Tally { calls, operations, changes, faults }) in &self.tallies {
            println!(
                "{tool}: {calls} calls that succeed; {operations} operations of all, {changes} \
                 changes, {faults} faults"
            );
        }
        if self.too_long > 0 {
            println!("left out, being longer than {MAX_BYTES} bytes: {} calls", self.too_long);
        }
    }
}

fn call_tool(storage: &dyn Storage, tool: &str, arguments: &Value, context: &Value) -> Answer {
    let context = context_of(context);
    let outcome = toolbox::call_tool(storage, tool, &arguments.to_string(), &context);
    answer(outcome).expect("a result is JSON")
}

fn lock(account: &Mutex<Account>) -> MutexGuard<'_, Account> {
    account.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_writer(tool: &Value) -> bool {
    tool["annotations"]["readOnlyHint"] == false
}

/// What of a call's arguments another tool takes; none where that is not enough for it.
fn arguments_of(tool: &Value, arguments: &Value) -> Option<Value> {
    let schema = &tool["inputSchema"];
    let fields = arguments.as_object()?.iter();
    let known = fields.filter(|(name, _)| schema["properties"].get(name.as_str()).is_some());
    let known: Map<String, Value> =
        known.map(|(name, value)| (name.clone(), value.clone())).collect();
    let required = schema["required"].as_array().into_iter().flatten();
    let mut required = required.filter_map(Value::as_str);
    required.all(|name| known.contains_key(name)).then_some(Value::Object(known))
}
