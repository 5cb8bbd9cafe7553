//! Reads the answer of a call.

use super::Error;
use crate::{CallError, Outcome};
use serde::de::DeserializeOwned;

/// The result of a call, or the error of the tool or of the host.
pub(super) fn result_of<T: DeserializeOwned>(
    outcome: Result<Outcome, CallError>,
) -> Result<T, Error> {
    let outcome = outcome.map_err(|error| match error {
        CallError::Ended { .. } => Error::storage(error),
        _ => Error::usage(error),
    })?;
    read(&outcome.answer.map_err(Error::from_tool)?)
}

/// Parses the JSON of a result.
pub(super) fn read<T: DeserializeOwned>(result: &str) -> Result<T, Error> {
    serde_json::from_str(result)
        .map_err(|error| Error::storage(format!("the component's answer cannot be read: {error}")))
}
