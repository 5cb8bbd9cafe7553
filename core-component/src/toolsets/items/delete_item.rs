use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::database::Writer;
use super::error::Error;
use super::namespace::{MAX_KEY, MAX_LABEL, MAX_LABELS, check_key};
use super::reach::Reach;
use super::scope::Scope;
use super::transaction::change_existing;
use crate::tool::{Call, Hints, Tool};

pub(super) struct DeleteItem;

/// Deletes the item of a key.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Delete an item")]
pub(super) struct Input {
    /// Its labels.
    #[schemars(length(min = 1, max = MAX_LABELS), inner(length(min = 1, max = MAX_LABEL)))]
    namespace: Vec<String>,
    /// Its key.
    #[schemars(length(min = 1, max = MAX_KEY))]
    key: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    // False if there was no such item.
    deleted: bool,
}

impl Input {
    /// Checks the key, and returns the namespace as it is stored in the database.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` for a key that no item can have, or `PERMISSION_ERROR`.
    pub fn checked(&self, reach: &Reach<'_>) -> Result<Vec<String>, Error> {
        check_key(&self.key)?;
        reach.stored(&self.namespace)
    }

    pub fn delete(&self, namespace: &[String], writer: &mut Writer<'_>) -> Result<bool, Error> {
        writer.delete(namespace, &self.key)
    }
}

impl Tool for DeleteItem {
    const NAME: &'static str = "delete_item";
    const HINTS: Hints = Hints::REMOVES;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let namespace = input.checked(&Reach::new(call.context))?;
        let deleted = change_existing(call, &Scope::from_namespace(&namespace), |writer| {
            input.delete(&namespace, writer)
        })?;
        Ok(Output { deleted: deleted.unwrap_or_default() })
    }
}
