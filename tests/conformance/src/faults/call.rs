//! One call in one starting state, through every fault.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use agent_memory_core::storage::{ErrorCode, Place, Storage};
use serde_json::Value;

use super::point::{AtPoint, Fault, How, Point};
use super::state::State;
use super::storage::{Death, FaultyStorage, INJECTED};
use crate::case::Operation;
use crate::runner::Answer;

/// What an error says where changes stand in spite of it.
pub const MAY_STAND: &str = "the change may have been made";

/// What a warning says where a tool could not tell whether there are records elsewhere.
const NOT_LOOKED_AT: &str = "`memories.db` could not be looked at";

/// What a warning says where a tool did its own work, and left to a later call what was due besides.
const LEFT_TO_LATER: &str = "which the next add or clear does";

/// Which of two tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// The one that a fault hits.
    First,
    /// The same call after it.
    Again,
}

/// A call that is to be swept.
pub struct Call<'a> {
    /// The place whose documents it reads and changes.
    pub place: &'a Place,
    /// What they are before.
    pub before: State,
    /// Makes the call.
    pub make: &'a dyn Fn(&dyn Storage, Attempt) -> Answer,
    /// Whether it writes.
    pub writes: bool,
    /// Whether a second call changes nothing more.
    pub idempotent: bool,
    /// Errors of reading and listing that are no failures to it but findings that it reports.
    pub reports: &'a [ErrorCode],
    /// Fields of its answer that tell of work besides its own, which any later call may do.
    pub besides: &'a [&'a str],
}

/// What was wrong after a fault.
#[derive(Clone, Debug)]
pub struct Found {
    /// The fault; none where the call is wrong without one.
    pub point: Option<Point>,
    /// What was wrong.
    pub what: String,
}

/// What a sweep went through.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Calls.
    pub calls: usize,
    /// Operations of those calls.
    pub operations: usize,
    /// Changes that they made.
    pub changes: usize,
    /// Faults.
    pub faults: usize,
}

/// A call that went well.
struct Made {
    answer: Answer,
    state: State,
}

/// What holds without a fault.
struct Clean {
    /// The states that the call goes through: before, and after each of its changes.
    states: Vec<State>,
    answer: Answer,
    /// The second attempt alone, and after the first.
    again: Made,
    twice: Made,
}

impl Call<'_> {
    /// Lets everything go wrong that `wanted` names; everything where it is none.
    ///
    /// After each fault the documents are those before, or those after as many changes as storage
    /// says that it made. Who gets a result has all of it; who gets an error is told where changes
    /// stand. After storage is opened anew, the call can be made again, and ends as if nothing had
    /// happened, or, where all its changes stood already, as if it had been made twice.
    pub fn sweep(&self, wanted: Option<&str>) -> (Tally, Vec<Found>) {
        let (clean, faults) = match self.clean() {
            Ok(clean) => clean,
            Err(what) => return (Tally::default(), vec![Found { point: None, what }]),
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
            let what = self.fails_well(&clean, *point).err()?;
            Some(Found { point: Some(*point), what })
        });
        let found = found.collect();
        let changes = clean.states.len() - 1;
        (Tally { calls: 1, operations, changes, faults: points.len() }, found)
    }

    /// The states that the call goes through: before, and after each of its changes.
    pub fn states(&self) -> Vec<State> {
        self.through(&self.made(&self.before, None, Attempt::First).0)
    }

    /// The states that a call without a fault went through.
    fn through(&self, storage: &FaultyStorage<AtPoint>) -> Vec<State> {
        let mut states = vec![self.before.clone()];
        for moment in storage.plan().moments() {
            let last = states.last().expect("there is a first one");
            states.extend(last.after_each(&moment.changes));
        }
        states
    }

    /// The call without a fault, and the faults that each of its operations can have.
    fn clean(&self) -> Result<(Clean, Vec<Vec<Fault>>), String> {
        let (storage, answer) = self.made(&self.before, None, Attempt::First);
        let states = self.through(&storage);
        let answer = answer.expect("nobody dies without a fault");
        let end = State::of(storage.memory(), self.place);
        ensure(states.last() == Some(&end), || "a commit did not make its changes".into())?;
        let moments = storage.plan().moments();
        let locks = moments
            .iter()
            .any(|moment| matches!(moment.operation, Operation::Lock | Operation::BeginWrite));
        ensure(self.writes || !locks, || "a tool that reads takes the lock".into())?;
        let alone = |state: &State| {
            let (storage, answer) = self.made(state, None, Attempt::Again);
            let answer = answer.expect("nobody dies without a fault");
            Made { answer, state: State::of(storage.memory(), self.place) }
        };
        let (again, twice) = (alone(&self.before), alone(&end));
        ensure(!self.idempotent || twice.state == end, || {
            "a tool that calls itself idempotent changes more the second time".into()
        })?;
        let faults = moments.iter().map(Fault::all).collect();
        Ok((Clean { states, answer, again, twice }, faults))
    }

    /// Makes the call in a state; no answer where the process died.
    fn made(
        &self,
        state: &State,
        point: Option<Point>,
        attempt: Attempt,
    ) -> (FaultyStorage<AtPoint>, Option<Answer>) {
        let storage = FaultyStorage::new(state.reopened(self.place), AtPoint::of(point));
        let answer = match catch_unwind(AssertUnwindSafe(|| (self.make)(&storage, attempt))) {
            Ok(answer) => Some(answer),
            Err(payload) if payload.is::<Death>() => None,
            Err(payload) => resume_unwind(payload),
        };
        (storage, answer)
    }

    fn fails_well(&self, clean: &Clean, point: Point) -> Result<(), String> {
        let (storage, answer) = self.made(&self.before, Some(point), Attempt::First);
        let operation = storage.plan().reached();
        let operation = operation.ok_or("the call took another way: the point was not reached")?;
        let stand = storage.plan().stand();
        let state = State::of(storage.memory(), self.place);
        ensure(clean.states.get(stand) == Some(&state), || {
            format!("{stand} changes were made, and the documents are others: {state:?}")
        })?;
        match &answer {
            None => ensure(point.fault.how == How::Death, || "a death nobody asked for".into())?,
            Some(answer) => self.answers_well(clean, operation, point, stand, answer)?,
        }
        if let How::ForEver(_) = point.fault.how {
            storage.memory().begin_call();
            let refused = (self.make)(&storage, Attempt::Again);
            ensure(matches!(refused, Answer::Error(_)), || {
                format!("storage fails for ever, and the next call answers {refused:?}")
            })?;
            ensure(State::of(storage.memory(), self.place) == state, || {
                "storage fails for ever, and the next call changed something".into()
            })?;
        }
        self.recovers(clean, stand, &state)
    }

    fn answers_well(
        &self,
        clean: &Clean,
        operation: Operation,
        point: Point,
        stand: usize,
        answer: &Answer,
    ) -> Result<(), String> {
        let all = clean.states.len() - 1;
        let is_uncertain = point.is_uncertain(operation);
        match answer {
            Answer::Error(error) => {
                let error = error.to_string();
                ensure(error.contains(INJECTED), || {
                    format!("the fault is taken for something else: {error}")
                })?;
                let says = error.contains(MAY_STAND);
                ensure(says == (stand > 0 || is_uncertain), || {
                    format!("{stand} changes were made, and the error is {error}")
                })
            }
            _ if self.reports(operation, point) => Ok(()),
            // What is looked at after all is done takes nothing of it back.
            Answer::Result(result) if warns(result, NOT_LOOKED_AT) && stand == all => {
                ensure(warns(result, INJECTED), || format!("the warning is that of {result}"))
            }
            Answer::Result(result) if warns(result, LEFT_TO_LATER) && stand > 0 => {
                ensure(warns(result, INJECTED) && warns(result, MAY_STAND) == is_uncertain, || {
                    format!("the warning is that of {result}")
                })
            }
            // What a tool gives besides its change is not kept from the caller: it warns.
            Answer::Result(result) if warns(result, INJECTED) => {
                ensure(warns(result, MAY_STAND) == (stand > 0 || is_uncertain), || {
                    format!("{stand} changes were made, and the warning is that of {result}")
                })
            }
            // A document that somebody changed meanwhile is read again.
            _ if operation == Operation::Commit
                && point.fault.how == How::Once(ErrorCode::VersionMismatch) =>
            {
                ensure(*answer == clean.answer && stand == all, || {
                    format!("{stand} of {all} changes were made, and the answer is {answer:?}")
                })
            }
            _ => Err(format!("an answer in spite of the fault: {answer:?}")),
        }
    }

    fn reports(&self, operation: Operation, Point { fault, .. }: Point) -> bool {
        let (How::Once(code) | How::ForEver(code)) = fault.how else { return false };
        matches!(operation, Operation::Stat | Operation::Read | Operation::List)
            && self.reports.contains(&code)
    }

    /// An answer without what it tells of work besides the call's own.
    fn own(&self, answer: &Answer) -> Answer {
        let mut answer = answer.clone();
        if let Answer::Result(Value::Object(fields)) = &mut answer {
            fields.retain(|name, _| !self.besides.contains(&name.as_str()));
        }
        answer
    }

    fn recovers(&self, clean: &Clean, stand: usize, state: &State) -> Result<(), String> {
        let (storage, answer) = self.made(state, None, Attempt::Again);
        let state = State::of(storage.memory(), self.place);
        let answer = answer.expect("nobody dies without a fault");
        let own = |answer: &Answer| self.own(answer);
        let ends_as = |made: &Made| made.state == state && own(&made.answer) == own(&answer);
        let all = clean.states.len() - 1;
        // Between the two, a tool goes on, or takes back and begins anew.
        let may_be_again = stand < all || all == 0;
        let may_be_twice = stand > 0;
        ensure(
            may_be_again && ends_as(&clean.again) || may_be_twice && ends_as(&clean.twice),
            || {
                format!(
                    "{stand} of {all} changes stood, and the call made again ends otherwise, with \
                     {answer:?} and {state:?}"
                )
            },
        )
    }
}

/// Whether a warning of a result says this.
fn warns(result: &Value, what: &str) -> bool {
    let warnings = result["warnings"].as_array().into_iter().flatten();
    warnings.filter_map(Value::as_str).any(|warning| warning.contains(what))
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}
