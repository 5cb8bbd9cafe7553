//! A sweep makes the calls of a toolset's cases, each with every fault. It leaves out cases with faults
//! of their own and calls on long documents. `sampling` limits the number of calls.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use agent_memory_core::storage::{ErrorCode, Place, Storage};
use serde_json::{Map, Value, json};

use super::call::{Attempt, Call, Counts, Finding};
use super::state::State;
use crate::case::{self, Case, Format, Ids, Request, Step};
use crate::core_runner::{CallContexts, make as make_request, place_of, storage_of, tools_of};
use crate::runner::Answer;

/// The maximum length of a call's documents and arguments. Longer calls take time and show no other
/// faults.
const MAX_BYTES: usize = 64 * 1024;

/// The maximum number of findings that are printed: one defect can cause thousands.
const MAX_SHOWN: usize = 20;

/// The environment variable that names one call, or one fault of a call, to sweep only that.
const VARIABLE: &str = "AGENT_MEMORY_FAULT";

/// A sweep of a toolset's calls.
#[derive(Debug)]
pub struct Sweep {
    toolset: &'static str,
    tools: Vec<Value>,
    reports: BTreeMap<&'static str, &'static [ErrorCode]>,
    besides: &'static [&'static str],
    sample: Option<Sample>,
}

/// A sample of calls: at most `calls` calls of each tool in each format, and all requests that call no
/// tool. Calls from earlier topics come first.
#[derive(Clone, Copy, Debug)]
struct Sample {
    calls: usize,
    topics: &'static [&'static str],
}

/// The calls of a sample, by the name of the case and the number of the step.
type Chosen = BTreeSet<(String, usize)>;

/// The value of [`VARIABLE`]. `None` sweeps everything.
struct Filter(Option<String>);

/// The counts by tool, and the findings.
#[derive(Default)]
struct Summary {
    counts: BTreeMap<String, Counts>,
    too_long: usize,
    found: Vec<String>,
}

impl Sweep {
    /// A sweep of every step of the toolset's cases, each in the state after the steps before it.
    pub fn new(toolset: &'static str) -> Self {
        let tools = tools_of(toolset);
        Self { toolset, tools, reports: BTreeMap::new(), besides: &[], sample: None }
    }

    /// Sets the fields of answers about work that is due, such as a summary. Any later call may do that
    /// work, so a repeated call may answer differently in these fields.
    pub fn besides(mut self, fields: &'static [&'static str]) -> Self {
        self.besides = fields;
        self
    }

    /// Leaves out a tool that continues after an error: another test checks its faults.
    pub fn except(mut self, tool: &str) -> Self {
        self.tools.retain(|of| of["name"] != tool);
        self
    }

    /// Sets the errors of reading and listing that a tool reports in its result instead of failing.
    pub fn reporting(mut self, tool: &'static str, errors: &'static [ErrorCode]) -> Self {
        self.reports.insert(tool, errors);
        self
    }

    /// Limits the sweep to a number of calls of each tool in each format, from cases of these topics.
    /// Earlier topics come first. Requests that call no tool are all swept.
    pub fn sampling(mut self, calls: usize, topics: &'static [&'static str]) -> Self {
        self.sample = Some(Sample { calls, topics });
        self
    }

    /// Runs the sweep and prints its counts.
    ///
    /// # Panics
    ///
    /// - If there is a finding. The message has the command that replays it.
    /// - If a tool has no call that succeeds.
    /// - If a tool that writes has no call that changes something.
    pub fn run(self) {
        let wanted = Filter(env::var(VARIABLE).ok());
        let mut cases = case::load_all();
        cases.retain(|case| case.name.starts_with(&format!("{}/", self.toolset)));
        let chosen = self.sample.map(|sample| sample.of(&mut cases, self.toolset));
        let summary = Mutex::new(Summary::default());
        let next = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(|| {
                    while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                        self.sweep_case(case, chosen.as_ref(), &wanted, &summary);
                    }
                });
            }
        });
        let summary = summary.into_inner().unwrap_or_else(PoisonError::into_inner);
        summary.print();
        let found = &summary.found;
        let shown = found[..found.len().min(MAX_SHOWN)].join("\n");
        assert!(found.is_empty(), "{} findings:\n{shown}", found.len());
        let Some(wanted) = wanted.0 else { return self.check_complete(&summary.counts) };
        let is_of_this = wanted.starts_with(&format!("{}/", self.toolset));
        assert!(!is_of_this || !summary.counts.is_empty(), "`{wanted}` names no fault");
    }

    /// Sweeps the calls of a case. Cases with faults of their own are left out.
    fn sweep_case(
        &self,
        case: &Case,
        chosen: Option<&Chosen>,
        wanted: &Filter,
        summary: &Mutex<Summary>,
    ) {
        if !case.text.faults.is_empty() {
            return;
        }
        let place = place_of(case);
        let circumstances = CallContexts::from_case(case);
        let mut before = State::new(&storage_of(case), &place);
        let mut ids = Ids::default();
        for (index, step) in case.text.steps.iter().enumerate() {
            let request = step.request.filled(&circumstances.places(), &ids);
            let make = |storage: &dyn Storage, attempt: Attempt| {
                let context = match attempt {
                    Attempt::First => circumstances.context(index as u32),
                    Attempt::Again => circumstances.context_again(index as u32),
                };
                make_request(storage, &request, &context)
            };
            let after = before.reopened(&place);
            let answer = make(&after, Attempt::First);
            let succeeds = matches!(answer, Answer::Result(_));
            let result = match answer {
                Answer::Result(result) if step.is_call() => Some(result),
                _ => None,
            };
            ids.push(result.as_ref());
            let after = State::new(&after, &place);
            let name = format!("{}:{index}", case.name);
            // A state has only one store, so calls on another store are left out.
            let store = step.arguments()["store"].as_str().filter(|_| case.toolset() == "stores");
            let is_elsewhere = succeeds && store.is_some_and(|store| store != case.store());
            let is_chosen = !is_elsewhere
                && chosen.is_none_or(|chosen| chosen.contains(&(case.name.clone(), index)));
            let other = other_request(step);
            let tools = self.tools.iter().chain(&other);
            let tool = tools.into_iter().find(|tool| tool["name"] == step.name() && is_chosen);
            if let (Some(tool), Some(points)) = (tool, wanted.points_of(&name)) {
                let arguments = step.arguments();
                if before.size() + arguments.to_string().len() > MAX_BYTES {
                    lock(summary).too_long += 1;
                } else {
                    let call = self.call(tool, &place, before, &make);
                    let (count, mut found) = call.sweep(points);
                    found.extend(self.broken_readers(&call, arguments, &circumstances.context(0)));
                    lock(summary).add(step.name(), &name, count, &found, succeeds);
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

    /// Finds tools that can read before the call and after it, but not after some of its changes.
    fn broken_readers(&self, call: &Call<'_>, arguments: &Value, context: &Value) -> Vec<Finding> {
        let mut found = Vec::new();
        let states = call.states();
        let Some(end) = states.last() else { return found };
        for state in states.iter().skip(1) {
            for tool in self.tools.iter().filter(|tool| !is_writer(tool)) {
                let Some(arguments) = arguments_of(tool, arguments) else { continue };
                let name = tool["name"].as_str().expect("a tool has a name");
                let [earlier, now, later] = [&call.before, state, end]
                    .map(|state| call_tool(&state.reopened(call.place), name, &arguments, context));
                let is_result = |answer: &Answer| matches!(answer, Answer::Result(_));
                if is_result(&earlier) && is_result(&later) && !is_result(&now) {
                    let message = format!("after some of the changes `{name}` answers {now:?}");
                    found.push(Finding { point: None, message });
                }
            }
        }
        found
    }

    fn check_complete(&self, counts: &BTreeMap<String, Counts>) {
        for tool in &self.tools {
            let name = tool["name"].as_str().expect("a tool has a name");
            let count = counts.get(name).copied().unwrap_or_default();
            assert!(count.calls > 0, "`{name}` has no case in which it succeeds");
            assert!(
                count.changes > 0 || !is_writer(tool),
                "`{name}` writes, and has no case in which it changes something"
            );
        }
    }
}

impl Sample {
    /// Chooses the calls. Only the cases of the topics remain, in the order of the topics.
    ///
    /// # Panics
    ///
    /// If a topic has no case.
    fn of(self, cases: &mut Vec<Case>, toolset: &str) -> Chosen {
        for topic in self.topics {
            let prefix = format!("{toolset}/{topic}/");
            let is_there = cases.iter().any(|case| case.name.starts_with(&prefix));
            assert!(is_there, "there is no case of the topic `{topic}`");
        }
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
                let count = counts.entry((format, step.name())).or_default();
                *count += 1;
                if *count <= self.calls || !step.is_call() {
                    chosen.insert((case.name.clone(), index));
                }
            }
        }
        chosen
    }
}

impl Filter {
    /// The filter for the points of a call. `None` if the call is left out, `Some(None)` for all of
    /// its points.
    fn points_of(&self, call: &str) -> Option<Option<&str>> {
        let Some(wanted) = &self.0 else { return Some(None) };
        match wanted.strip_prefix(call)? {
            "" => Some(None),
            rest => Some(Some(rest.strip_prefix(':')?)),
        }
    }
}

impl Summary {
    fn add(&mut self, tool: &str, call: &str, count: Counts, found: &[Finding], succeeds: bool) {
        let sum = self.counts.entry(tool.to_owned()).or_default();
        sum.operations += count.operations;
        sum.faults += count.faults;
        // `check_complete` looks for calls that succeed, so only those count.
        if succeeds {
            sum.calls += count.calls;
            sum.changes += count.changes;
        }
        self.found.extend(found.iter().map(|Finding { point, message }| {
            let name = point.map_or(call.to_owned(), |point| format!("{call}:{point}"));
            let command = "cargo test --release -p agent-memory-conformance --test faults";
            format!("{name}: {message}\n  replay: {VARIABLE}='{name}' {command}")
        }));
    }

    fn print(&self) {
        for (tool, Counts { calls, operations, changes, faults }) in &self.counts {
            println!(
                "{tool}: {calls} successful calls, {operations} operations, {changes} changes, \
                 {faults} faults"
            );
        }
        if self.too_long > 0 {
            println!("left out: {} calls of more than {MAX_BYTES} bytes", self.too_long);
        }
    }
}

/// A request that calls no tool, described like a tool. `None` if the step calls a tool.
fn other_request(step: &Step) -> Option<Value> {
    let writes = match step.request {
        Request::Call { .. } => return None,
        Request::Claim { .. } | Request::Answer { .. } => true,
        _ => false,
    };
    Some(json!({
        "name": step.name(),
        "annotations": { "readOnlyHint": !writes, "idempotentHint": true },
    }))
}

fn call_tool(storage: &dyn Storage, tool: &str, arguments: &Value, context: &Value) -> Answer {
    let request = Request::Call { call: tool.to_owned(), arguments: arguments.clone() };
    make_request(storage, &request, context)
}

fn lock(summary: &Mutex<Summary>) -> MutexGuard<'_, Summary> {
    summary.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_writer(tool: &Value) -> bool {
    tool["annotations"]["readOnlyHint"] == false
}

/// The arguments of a call that another tool accepts, too. `None` if a required one is missing.
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
