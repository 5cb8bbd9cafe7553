//! One call from one state, repeated with every fault that it can have.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use agent_memory_core::storage::{ErrorCode, Place, Storage};
use serde_json::Value;

use super::point::{AtPoint, Fault, FaultKind, Point};
use super::state::State;
use super::storage::{Crash, FaultyStorage, INJECTED, PendingOperation};
use crate::case::Operation;
use crate::runner::{Answer, error_code};

/// The text in an error if changes may have been made in spite of it.
pub const MAY_STAND: &str = "the change may have been made";

/// The text in a warning if a tool could not check for hidden rows.
const NOT_CHECKED: &str = "`memories.db` could not be checked";

/// The text in a warning if a tool left work that was due, such as a summary, to a later call.
const LEFT_TO_LATER: &str = "which the next add or clear does";

/// The file name of indexes, which are derived from other documents. The next call that writes in an
/// index's category brings it up to date.
const DERIVED: &str = "index.yaml";

/// The attempts to make a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// The attempt with a fault.
    First,
    /// The same call, repeated after the first attempt.
    Again,
}

/// A call that a sweep makes with every fault.
pub struct Call<'a> {
    /// The place whose documents it reads and changes.
    pub place: &'a Place,
    /// The contents of storage before the call.
    pub before: State,
    /// Makes the call.
    pub make: &'a dyn Fn(&dyn Storage, Attempt) -> Answer,
    /// Whether it writes.
    pub writes: bool,
    /// Whether the call changes nothing when it is repeated.
    pub idempotent: bool,
    /// Errors of reading and listing that the call reports in its result instead of failing.
    pub reports: &'a [ErrorCode],
    /// Fields of its answer about work that is due, such as a summary. Any later call may do that work.
    pub besides: &'a [&'a str],
}

/// A mistake of a call that a sweep has found.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The fault. `None` if the mistake is there without a fault.
    pub point: Option<Point>,
    /// The description of the mistake.
    pub message: String,
}

/// The size of a sweep.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// The number of calls.
    pub calls: usize,
    /// The number of storage operations of those calls.
    pub operations: usize,
    /// The number of changes of those calls.
    pub changes: usize,
    /// The number of injected faults.
    pub faults: usize,
}

/// A call that completed without a fault.
struct Completed {
    answer: Answer,
    state: State,
}

/// The results of the call without a fault, for comparison.
struct Baseline {
    /// The states that the call goes through: before, and after each of its changes.
    states: Vec<State>,
    answer: Answer,
    /// The second attempt alone, on the contents before the call.
    again: Completed,
    /// The second attempt after a first one that succeeded.
    twice: Completed,
}

impl Baseline {
    /// Whether the call without a fault ends with an error of the same code.
    fn has_code_of(&self, error: &Value) -> bool {
        matches!(&self.answer, Answer::Error(own) if error_code(own) == error_code(error))
    }
}

impl Call<'_> {
    /// Makes the call with every fault, or only with the one that `wanted` names.
    ///
    /// After each fault:
    /// - Storage has the contents before the call and the changes that it applied, and no others.
    /// - A result is complete. An error says whether changes may have been made.
    /// - After a restart the call can be repeated. It then ends as if the first call had not been
    ///   made or, if the first call had made changes, as if it had succeeded.
    pub fn sweep(&self, wanted: Option<&str>) -> (Counts, Vec<Finding>) {
        let (baseline, faults) = match self.baseline() {
            Ok(baseline) => baseline,
            Err(message) => return (Counts::default(), vec![Finding { point: None, message }]),
        };
        let operations = faults.len();
        let points = faults
            .into_iter()
            .enumerate()
            .flat_map(|(at, faults)| faults.into_iter().map(move |fault| Point { at, fault }));
        let points: Vec<Point> = points
            .filter(|point| wanted.is_none_or(|wanted| point.to_string() == wanted))
            .collect();
        let found = points.iter().filter_map(|point| {
            let message = self.check_fault(&baseline, *point).err()?;
            Some(Finding { point: Some(*point), message })
        });
        let found = found.collect();
        let changes = baseline.states.len() - 1;
        (Counts { calls: 1, operations, changes, faults: points.len() }, found)
    }

    /// The states that the call goes through: before, and after each of its changes.
    pub fn states(&self) -> Vec<State> {
        self.states_of(&self.run(&self.before, None, Attempt::First).0)
    }

    /// The states that a call without a fault went through.
    fn states_of(&self, storage: &FaultyStorage<AtPoint>) -> Vec<State> {
        let mut states = vec![self.before.clone()];
        for operation in storage.plan().operations() {
            let last = states.last().expect("there is a first one");
            states.extend(last.after_each(&operation.changes));
        }
        states
    }

    /// The call without a fault, and the faults that each of its operations can have.
    fn baseline(&self) -> Result<(Baseline, Vec<Vec<Fault>>), String> {
        let (storage, answer) = self.run(&self.before, None, Attempt::First);
        let states = self.states_of(&storage);
        let answer = answer.expect("no crash without a fault");
        let end = State::new(storage.memory(), self.place);
        ensure(states.last() == Some(&end), || "a commit did not make its changes".into())?;
        let operations = storage.plan().operations();
        let takes_lock = |pending: &PendingOperation| {
            matches!(pending.operation, Operation::Lock | Operation::BeginWrite)
        };
        let locks = operations.iter().any(takes_lock);
        ensure(self.writes || !locks, || "a tool that reads takes the lock".into())?;
        let alone = |state: &State| {
            let (storage, answer) = self.run(state, None, Attempt::Again);
            let answer = answer.expect("no crash without a fault");
            Completed { answer, state: State::new(storage.memory(), self.place) }
        };
        let again = alone(&self.before);
        let twice = alone(&end);
        ensure(!self.idempotent || twice.state == end, || {
            "a tool that calls itself idempotent changes more the second time".into()
        })?;
        let faults = operations.iter().map(Fault::all).collect();
        Ok((Baseline { states, answer, again, twice }, faults))
    }

    /// Makes the call from a state. There is no answer after a crash.
    fn run(
        &self,
        state: &State,
        point: Option<Point>,
        attempt: Attempt,
    ) -> (FaultyStorage<AtPoint>, Option<Answer>) {
        let storage = FaultyStorage::new(state.reopened(self.place), AtPoint::new(point));
        let answer = match catch_unwind(AssertUnwindSafe(|| (self.make)(&storage, attempt))) {
            Ok(answer) => Some(answer),
            Err(payload) if payload.is::<Crash>() => None,
            Err(payload) => resume_unwind(payload),
        };
        (storage, answer)
    }

    fn check_fault(&self, baseline: &Baseline, point: Point) -> Result<(), String> {
        let (storage, answer) = self.run(&self.before, Some(point), Attempt::First);
        let operation = storage.plan().reached();
        let operation = operation.ok_or("the call made other operations: no fault was injected")?;
        let applied = storage.plan().applied();
        let state = State::new(storage.memory(), self.place);
        // An unreadable file that is only reported must not change the error code of the call.
        let is_own = |answer: &Answer| match (answer, &baseline.answer) {
            (Answer::Error(error), Answer::Error(own)) => error_code(error) == error_code(own),
            (answer, _) => matches!(answer, Answer::Result(_)),
        };
        let is_reported = self.reports(operation, point) && answer.as_ref().is_some_and(is_own);
        ensure(is_reported || baseline.states.get(applied) == Some(&state), || {
            format!("{applied} changes were made, but the documents differ: {state:?}")
        })?;
        match &answer {
            None => ensure(point.fault.kind == FaultKind::Crash, || "an unexpected crash".into())?,
            Some(_) if is_reported => {}
            Some(answer) => self.check_answer(baseline, operation, point, applied, answer)?,
        }
        if let FaultKind::Always(_) = point.fault.kind {
            storage.memory().begin_call();
            let refused = (self.make)(&storage, Attempt::Again);
            // A search does not fail, but warns of files that it could not read.
            let is_told = match &refused {
                Answer::Result(result) => warns(result, INJECTED),
                other => matches!(other, Answer::Error(_)),
            };
            ensure(is_told, || {
                format!("storage always fails, but the next call answers {refused:?}")
            })?;
            ensure(State::new(storage.memory(), self.place) == state, || {
                "storage always fails, but the next call changed something".into()
            })?;
        }
        if is_reported {
            self.check_catching_up(baseline, &state)
        } else {
            self.check_recovery(baseline, applied, &state)
        }
    }

    fn check_answer(
        &self,
        baseline: &Baseline,
        operation: Operation,
        point: Point,
        applied: usize,
        answer: &Answer,
    ) -> Result<(), String> {
        let all = baseline.states.len() - 1;
        let is_uncertain = point.is_uncertain(operation);
        let changed_meanwhile = operation == Operation::Commit
            && point.fault.kind == FaultKind::Once(ErrorCode::VersionMismatch);
        let differs =
            || format!("{applied} of {all} changes were made, but the answer is {answer:?}");
        match answer {
            // If another program has changed a document, the tool reads it again, and may refuse.
            Answer::Error(_) if changed_meanwhile && *answer == baseline.answer => {
                ensure(applied == all, differs)
            }
            // The call fails with the same code without the fault. The fault only kept a detail of the
            // message from being read, so the message has to name it.
            Answer::Error(error) if applied == all && baseline.has_code_of(error) => {
                let error = error.to_string();
                ensure(error.contains(INJECTED), || format!("no word of the fault in {error}"))
            }
            Answer::Error(error) => {
                let error = error.to_string();
                ensure(error.contains(INJECTED), || {
                    format!("the error is not the injected one: {error}")
                })?;
                let says = error.contains(MAY_STAND);
                ensure(says == (applied > 0 || is_uncertain), || {
                    format!("{applied} changes were made, but the error is {error}")
                })
            }
            // The check for hidden rows comes after the change: its fault becomes a warning.
            Answer::Result(result) if warns(result, NOT_CHECKED) && applied == all => {
                ensure(warns(result, INJECTED), || format!("no warning of the fault in {result}"))
            }
            Answer::Result(result) if warns(result, LEFT_TO_LATER) && applied > 0 => {
                ensure(warns(result, INJECTED) && warns(result, MAY_STAND) == is_uncertain, || {
                    format!("{applied} changes were made, but the result is {result}")
                })
            }
            // A tool that reads and also writes returns the data that it has read, with a warning of
            // the fault.
            Answer::Result(result) if warns(result, INJECTED) => {
                ensure(warns(result, MAY_STAND) == (applied > 0 || is_uncertain), || {
                    format!("{applied} changes were made, but the result is {result}")
                })
            }
            _ if changed_meanwhile => ensure(*answer == baseline.answer && applied == all, differs),
            _ => Err(format!("a result in spite of the fault: {answer:?}")),
        }
    }

    fn reports(&self, operation: Operation, Point { fault, .. }: Point) -> bool {
        let (FaultKind::Once(code) | FaultKind::Always(code)) = fault.kind else { return false };
        matches!(operation, Operation::Stat | Operation::Read | Operation::List)
            && self.reports.contains(&code)
    }

    /// An answer without the fields in `besides`.
    fn own(&self, answer: &Answer) -> Answer {
        let mut answer = answer.clone();
        if let Answer::Result(Value::Object(fields)) = &mut answer {
            fields.retain(|name, _| !self.besides.contains(&name.as_str()));
        }
        answer
    }

    /// Checks that the next call does the work that the first one left, because it could not read a
    /// file. Storage is then as after one or two calls without a fault, apart from indexes of other
    /// categories.
    fn check_catching_up(&self, baseline: &Baseline, state: &State) -> Result<(), String> {
        let (storage, answer) = self.run(state, None, Attempt::Again);
        let state = State::new(storage.memory(), self.place);
        let ends = [&baseline.again.state, &baseline.twice.state].map(|of| of.without(DERIVED));
        ensure(ends.contains(&state.without(DERIVED)), || {
            format!("the repeated call does not catch up: {answer:?} and {state:?}")
        })
    }

    fn check_recovery(
        &self,
        baseline: &Baseline,
        applied: usize,
        state: &State,
    ) -> Result<(), String> {
        let (storage, answer) = self.run(state, None, Attempt::Again);
        let state = State::new(storage.memory(), self.place);
        let answer = answer.expect("no crash without a fault");
        let own = self.own(&answer);
        let ends_as = |other: &Completed| other.state == state && self.own(&other.answer) == own;
        let all = baseline.states.len() - 1;
        // After some of the changes, a tool may continue, or undo them and start again.
        let may_be_again = applied < all || all == 0;
        let may_be_twice = applied > 0;
        ensure(
            may_be_again && ends_as(&baseline.again) || may_be_twice && ends_as(&baseline.twice),
            || {
                format!(
                    "{applied} of {all} changes were made, and the repeated call ends differently: \
                     {answer:?} and {state:?}"
                )
            },
        )
    }
}

/// Whether a result, or the JSON of a resource, has a warning with this text.
fn warns(result: &Value, text: &str) -> bool {
    if let Value::Array(contents) = result {
        let texts = contents.iter().filter_map(|of| of["text"].as_str());
        let mut results = texts.filter_map(|json| serde_json::from_str(json).ok());
        return results.any(|result: Value| result.is_object() && warns(&result, text));
    }
    let warnings = result["warnings"].as_array().into_iter().flatten();
    warnings.filter_map(Value::as_str).any(|warning| warning.contains(text))
}

pub(super) fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}
