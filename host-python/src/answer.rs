//! Conversion of outcomes to the tuples that Python gets.

use crate::errors;
use agent_memory_host::{CallError, Category, Outcome};
use pyo3::prelude::*;

/// The category, the code and the message of a tool's error.
type Error = (&'static str, String, String);

/// The model, the text and the deadline in seconds of a vector that is wanted.
type Wanted = (String, String, f64);

/// An outcome: the JSON, the tool's error if there is one, the URIs of the changed resources, the id,
/// kind and payload of each follow-up, and the vector that a search wants.
pub(crate) type Answer =
    (String, Option<Error>, Vec<String>, Vec<(String, String, String)>, Option<Wanted>);

/// Converts the outcome of a call, or its error, for Python.
pub(crate) fn answer(called: Result<Outcome, CallError>) -> PyResult<Answer> {
    called.map(from_outcome).map_err(|error| errors::of_call(&error))
}

/// Converts an outcome for Python.
pub(crate) fn from_outcome(outcome: Outcome) -> Answer {
    let (json, error) = match outcome.answer {
        Ok(json) => (json, None),
        Err(error) => (error.json, Some((category(error.category), error.code, error.message))),
    };
    let follow_ups = outcome.follow_ups.into_iter();
    let follow_ups = follow_ups.map(|of| (of.id, of.kind, of.payload)).collect();
    let wanted = outcome.wants_vector;
    let wanted = wanted.map(|of| (of.model, of.text, of.deadline.as_secs_f64()));
    (json, error, outcome.changed, follow_ups, wanted)
}

fn category(category: Category) -> &'static str {
    match category {
        Category::Invalid => "invalid",
        Category::NotFound => "not-found",
        Category::Limit => "limit",
        Category::Damaged => "damaged",
        Category::Busy => "busy",
        Category::Denied => "denied",
        Category::Storage => "storage",
        _ => "internal",
    }
}
