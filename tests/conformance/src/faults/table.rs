//! The table of storage errors: `tests/conformance/storage-errors.json`.
//!
//! A row injects storage errors into a call that it borrows from a case, and names the error code
//! that each of them has to become.

use std::collections::BTreeMap;
use std::{fmt, fs};

use agent_memory_core::storage::{ErrorCode, Storage};
use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{Attempt, Call, MAY_STAND, ensure};
use super::{CaseFaults, FaultyStorage, INJECTED, State, code};
use crate::case::{self, Case, Fault, Ids, Operation, Request};
use crate::core_runner::{self, CallContexts, place_of, storage_of};
use crate::runner::{Answer, error_code, error_fields};

/// A row of the table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The name of the case whose call the row borrows.
    case: String,
    /// The number of that call's step in the case, from 0.
    #[serde(default)]
    step: usize,
    /// The operation that fails.
    operation: Operation,
    /// How many operations of this kind succeed before the error.
    #[serde(default)]
    nth: usize,
    /// The number of the operation's changes that are applied in spite of the error.
    #[serde(default)]
    applied: usize,
    /// The injected storage errors, each with the expected error code.
    errors: BTreeMap<String, String>,
}

/// Reads the table.
///
/// # Panics
///
/// If the file is missing or malformed.
pub fn load() -> Vec<Row> {
    let file = case::directory().join("storage-errors.json");
    let text =
        fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: `{}` {}", self.case, self.step, self.operation(), self.nth)?;
        write!(f, ", {} changes applied", self.applied)
    }
}

impl Row {
    /// The tool that is called.
    ///
    /// # Panics
    ///
    /// If there is no such case.
    pub fn tool<'a>(&self, cases: &'a [Case]) -> &'a str {
        self.case_in(cases).text.steps[self.step].name()
    }

    /// The storage errors of the row, each with the expected error code.
    pub fn errors(&self) -> impl Iterator<Item = (&str, &str)> {
        self.errors.iter().map(|(error, code)| (error.as_str(), code.as_str()))
    }

    /// The name of the operation, as the table has it.
    pub fn operation(&self) -> String {
        let name = serde_json::to_value(self.operation).expect("JSON");
        name.as_str().expect("a name").to_owned()
    }

    fn case_in<'a>(&self, cases: &'a [Case]) -> &'a Case {
        let case = cases.iter().find(|case| case.name == self.case);
        case.unwrap_or_else(|| panic!("there is no case `{}`", self.case))
    }

    /// Makes the call with each error of the row, and returns the findings.
    ///
    /// - The call ends with the expected code. Its message is that of the storage error, and says if
    ///   changes may have been made.
    /// - Storage then has its earlier contents and the applied changes.
    /// - The same call then succeeds on the same storage, so the lock is free.
    ///
    /// # Panics
    ///
    /// If the borrowed call fails without a fault.
    pub fn check(&self, cases: &[Case]) -> Vec<String> {
        let case = self.case_in(cases);
        let place = place_of(case);
        let contexts = CallContexts::from_case(case);
        let storage = storage_of(case);
        let mut ids = Ids::default();
        let request_of = |index: usize, ids: &Ids| {
            case.text.steps[index].request.filled(&contexts.places(), ids)
        };
        let make_step = |storage: &dyn Storage, index: usize, request: &Request| {
            core_runner::make(storage, request, &contexts.context(index as u32))
        };
        for index in 0..self.step {
            storage.begin_call();
            let answer = make_step(&storage, index, &request_of(index, &ids));
            ids.push(match &answer {
                Answer::Result(result) => Some(result),
                _ => None,
            });
        }
        let request = request_of(self.step, &ids);
        let make = |storage: &dyn Storage| make_step(storage, self.step, &request);
        let before = State::new(&storage, &place);
        let states = Call {
            place: &place,
            before: before.clone(),
            make: &|storage, _: Attempt| make(storage),
            writes: true,
            idempotent: false,
            reports: &[],
            besides: &[],
        }
        .states();
        let expected = make(&before.reopened(&place));
        assert!(matches!(expected, Answer::Result(_)), "{}: {expected:?}", self.case);

        let check = |(error, expected_code): (&str, &str)| -> Result<(), String> {
            let fault = Fault {
                step: 0,
                operation: self.operation,
                nth: self.nth,
                error: error.to_owned(),
                applied: self.applied,
            };
            let storage = FaultyStorage::new(before.reopened(&place), CaseFaults::new(vec![fault]));
            let answer = make(&storage);
            ensure(storage.plan().unused().is_none(), || "the fault did not happen".into())?;
            let Answer::Error(answer) = answer else { return Err(format!("{answer:?}")) };
            self.check_error(error, expected_code, &answer)?;
            let after = State::new(storage.memory(), &place);
            ensure(states.get(self.applied) == Some(&after), || {
                format!("{} changes were applied, but storage holds {after:?}", self.applied)
            })?;
            storage.memory().begin_call();
            let repeated = make(&storage);
            let end = State::new(storage.memory(), &place);
            // If all changes were applied, the repeated call makes them a second time.
            let is_second = self.applied == states.len() - 1 && self.applied > 0;
            if is_second {
                ensure(matches!(repeated, Answer::Result(_)), || {
                    format!("the repeated call fails: {repeated:?}")
                })
            } else {
                ensure(repeated == expected && states.last() == Some(&end), || {
                    format!("the repeated call ends differently: {repeated:?} and {end:?}")
                })
            }
        };
        let checked = self.errors().map(|pair| (pair.0, check(pair)));
        let failed = checked.filter_map(|(error, checked)| Some((error, checked.err()?)));
        failed.map(|(error, message)| format!("{self}, `{error}`: {message}")).collect()
    }

    fn check_error(&self, injected: &str, expected: &str, error: &Value) -> Result<(), String> {
        let is_uncertain =
            self.operation == Operation::CommitTransaction && code(injected) == ErrorCode::Io;
        let suffix = if self.applied > 0 || is_uncertain {
            format!("; {MAY_STAND}: read before trying again")
        } else {
            String::new()
        };
        let message = format!("{INJECTED}{suffix}");
        ensure(error_code(error) == Some(expected), || format!("expected {expected}: {error}"))?;
        let fields = error_fields(error);
        ensure(fields["message"] == json!(message), || format!("expected `{message}`: {error}"))?;
        ensure(fields.as_object().is_some_and(|fields| fields.len() == 2), || {
            format!("expected only a code and a message: {error}")
        })
    }
}
