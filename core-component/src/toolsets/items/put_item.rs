use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::database::{NewItem, Writer};
use super::error::Error;
use super::fields;
use super::namespace::{MAX_KEY, MAX_LABEL, MAX_LABELS, check_key};
use super::reach::Reach;
use super::scope::Scope;
use super::transaction::change;
use crate::time::Timestamp;
use crate::tool::{Call, Hints, Tool};

/// The maximum length of a value, in bytes of JSON.
const MAX_VALUE: usize = 1 << 20;
/// The maximum nesting of objects and lists, counting the value itself. JSON parsers accept only a
/// few more levels.
const MAX_LEVELS: usize = 100;
/// The maximum number of JSON values in an item's value, at any depth.
const MAX_VALUES: usize = 50_000;

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
    /// How many seconds the item lives.
    #[schemars(range(min = 1, max = 3_153_600_000_u32))]
    ttl_seconds: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    // Whether there was no item with this key before.
    is_new: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
}

impl Input {
    /// Checks the input, and returns the namespace as it is stored in the database.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` for a key or a path that an item cannot have, `LIMIT_EXCEEDED` for a value
    /// that is too long, is nested too deep or has too many values, or `PERMISSION_ERROR`.
    pub fn checked(&self, reach: &Reach<'_>) -> Result<Vec<String>, Error> {
        let namespace = reach.stored(&self.namespace)?;
        check_key(&self.key)?;
        fields::check(self.index.as_deref().unwrap_or_default())?;
        let bytes = serde_json::to_string(&self.value).map_or(0, |json| json.len());
        if bytes > MAX_VALUE {
            return Err(Error::value_too_long(bytes, MAX_VALUE));
        }
        let Size { levels, values } = Size::of(self.value.values());
        if levels > MAX_LEVELS {
            return Err(Error::value_too_deep(levels, MAX_LEVELS));
        }
        if values > MAX_VALUES {
            return Err(Error::too_many_values(values, MAX_VALUES));
        }
        Ok(namespace)
    }

    /// Stores the item in this stored namespace.
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

/// The size of an object or a list.
struct Size {
    /// How deep objects and lists are nested, counting this one.
    levels: usize,
    /// The number of values in it, at any depth.
    values: usize,
}

impl Size {
    fn of<'v>(inner: impl Iterator<Item = &'v Value>) -> Self {
        let mut size = Self { levels: 1, values: 0 };
        for value in inner {
            let Self { levels, values } = match value {
                Value::Array(items) => Self::of(items.iter()),
                Value::Object(fields) => Self::of(fields.values()),
                _ => Self { levels: 0, values: 0 },
            };
            size.levels = size.levels.max(1 + levels);
            size.values += 1 + values;
        }
        size
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
        change(call, &Scope::from_namespace(&namespace), |writer| input.put(&namespace, writer))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_size_of_a_value_has_its_levels_and_its_values() {
        let of = |value: Value| {
            let Size { levels, values } = Size::of(value.as_object().expect("an object").values());
            (levels, values)
        };
        assert_eq!(of(json!({})), (1, 0));
        assert_eq!(of(json!({"a": 1, "b": null})), (1, 2));
        assert_eq!(of(json!({"a": {"b": [1, [], {}]}, "c": [2]})), (4, 7));
    }
}
