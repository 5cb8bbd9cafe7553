use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::error::Error;
use super::fields;
use super::namespace::{MAX_KEY, MAX_LABEL, MAX_LABELS, check_key};
use super::reach::Reach;
use super::sqlite::{NewItem, Writer};
use super::transaction::change;
use crate::time::Timestamp;
use crate::tool::{Call, Hints, Tool};

/// The most bytes of a value, as JSON.
const MAX_VALUE: usize = 1 << 20;

pub(super) struct PutItem;

/// Stores a JSON object under a key in a namespace, in the place of the one that is there.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Put an item")]
pub(super) struct Input {
    /// Labels from the general to the special, such as `["users", "ada"]`, without periods.
    #[schemars(length(min = 1, max = MAX_LABELS), inner(length(min = 1, max = MAX_LABEL)))]
    namespace: Vec<String>,
    /// Its key in the namespace.
    #[schemars(length(min = 1, max = MAX_KEY))]
    key: String,
    /// The object.
    value: Map<String, Value>,
    /// The fields that a search reads, such as `title` or `parts[*].text`. All if left out, none if empty.
    #[schemars(length(max = 50), inner(length(min = 1, max = 200)))]
    index: Option<Vec<String>>,
    /// It expires after so many seconds.
    #[schemars(range(min = 1, max = 3_153_600_000_u32))]
    ttl_seconds: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    // Whether there was none of this key.
    is_new: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
}

impl Input {
    /// The namespace in the database.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` for a key or a path that an item cannot have, `LIMIT_EXCEEDED` for a value that
    /// is too long, `PERMISSION_ERROR`.
    pub fn checked(&self, reach: &Reach<'_>) -> Result<Vec<String>, Error> {
        let namespace = reach.stored(&self.namespace)?;
        check_key(&self.key)?;
        fields::check(self.index.as_deref().unwrap_or_default())?;
        let bytes = serde_json::to_string(&self.value).map_or(0, |json| json.len());
        if bytes > MAX_VALUE {
            return Err(Error::value_too_long(bytes, MAX_VALUE));
        }
        Ok(namespace)
    }

    /// Stores the item in a namespace of the database.
    pub fn put(&self, namespace: &[String], writer: &mut Writer<'_>) -> Result<Output, Error> {
        let item = NewItem {
            namespace,
            key: &self.key,
            value: &self.value,
            paths: self.index.as_deref(),
            ttl_seconds: self.ttl_seconds.map(i64::from),
        };
        let (expires_at, is_new) = writer.put(&item)?;
        Ok(Output { is_new, expires_at })
    }
}

impl Tool for PutItem {
    const NAME: &'static str = "put_item";
    const HINTS: Hints = Hints::OVERWRITES;
    const IS_ALWAYS_VISIBLE: bool = true;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let reach = Reach::new(call.context);
        let namespace = input.checked(&reach)?;
        reach.check_labels(&input.namespace)?;
        change(call, |writer| input.put(&namespace, writer))
    }
}
