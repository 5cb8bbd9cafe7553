//! Filters: conditions on the fields of a value, with the operators of LangGraph's stores.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

use super::error::Error;

/// The operators that a condition may have.
const OPERATORS: [&str; 8] = ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin"];

/// Conditions on the fields of a value, all of which must hold.
pub(super) struct Filter<'f>(&'f Map<String, Value>);

impl<'f> Filter<'f> {
    /// Checks the conditions of a filter.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` for an unknown operator, for an operator in the place of a field, and for
    /// `$in` or `$nin` without a list.
    pub fn new(conditions: &'f Map<String, Value>) -> Result<Self, Error> {
        for (field, condition) in conditions {
            if is_operator(field) {
                return Err(Error::operator_for_field(field, &OPERATORS));
            }
            check(field, condition)?;
        }
        Ok(Self(conditions))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a value fulfils all conditions. A missing field counts as null.
    pub fn accepts(&self, value: &Map<String, Value>) -> bool {
        let field = |name| value.get(name).unwrap_or(&Value::Null);
        self.0.iter().all(|(name, condition)| fulfils(field(name), condition))
    }
}

/// Whether a name looks like an operator, such as `$or`.
fn is_operator(name: &str) -> bool {
    name.strip_prefix('$').is_some_and(|rest| rest.starts_with(|first: char| first.is_alphabetic()))
}

/// Returns the operators of a condition. `None` if the condition is a value that the field must
/// equal.
fn operators(condition: &Value) -> Option<&Map<String, Value>> {
    condition.as_object().filter(|of| of.keys().any(|name| name.starts_with('$')))
}

fn check(field: &str, condition: &Value) -> Result<(), Error> {
    if let Some(operators) = operators(condition) {
        for (operator, operand) in operators {
            if !OPERATORS.contains(&operator.as_str()) {
                return Err(Error::unknown_operator(operator, field, &OPERATORS));
            }
            if matches!(operator.as_str(), "$in" | "$nin") && !operand.is_array() {
                return Err(Error::not_a_list(operator, field));
            }
        }
        return Ok(());
    }
    match condition {
        Value::Object(fields) => {
            fields.iter().try_for_each(|(name, condition)| check(name, condition))
        }
        Value::Array(items) => items.iter().try_for_each(|condition| check(field, condition)),
        _ => Ok(()),
    }
}

/// Whether a field fulfils a condition: operators, or a value to match. An object matches if it has
/// at least the condition's fields, and a list if it has the same length and each item matches.
fn fulfils(value: &Value, condition: &Value) -> bool {
    if let Some(operators) = operators(condition) {
        return operators.iter().all(|(operator, operand)| applies(value, operator, operand));
    }
    match (value, condition) {
        (Value::Object(value), Value::Object(fields)) => fields
            .iter()
            .all(|(name, condition)| fulfils(value.get(name).unwrap_or(&Value::Null), condition)),
        (Value::Array(items), Value::Array(conditions)) => {
            items.len() == conditions.len()
                && items.iter().zip(conditions).all(|(item, condition)| fulfils(item, condition))
        }
        _ => is_equal(value, condition),
    }
}

fn applies(value: &Value, operator: &str, operand: &Value) -> bool {
    let is_in =
        || operand.as_array().is_some_and(|list| list.iter().any(|one| is_equal(value, one)));
    let order = || compare(value, operand);
    match operator {
        "$eq" => is_equal(value, operand),
        "$ne" => !is_equal(value, operand),
        "$gt" => order() == Some(Ordering::Greater),
        "$gte" => order().is_some_and(Ordering::is_ge),
        "$lt" => order() == Some(Ordering::Less),
        "$lte" => order().is_some_and(Ordering::is_le),
        "$in" => is_in(),
        "$nin" => !is_in(),
        _ => false,
    }
}

/// Whether two values are equal. Numbers are compared by value: `1` equals `1.0`.
fn is_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => compare_numbers(a, b) == Some(Ordering::Equal),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| is_equal(a, b)))
        }
        _ => a == b,
    }
}

/// Compares two numbers, or two texts by their bytes. Texts that are numbers are compared as
/// numbers. `None` for values of other kinds.
fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    if let (Value::Number(a), Value::Number(b)) = (a, b) {
        return compare_numbers(a, b);
    }
    match (number(a), number(b), a, b) {
        (Some(a), Some(b), ..) => a.partial_cmp(&b),
        (_, _, Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

fn compare_numbers(a: &Number, b: &Number) -> Option<Ordering> {
    match (a.as_i128(), b.as_i128()) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

/// Returns the number that a value is, or that its text spells.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn accepts(filter: Value, value: Value) -> bool {
        let filter = filter.as_object().expect("an object");
        let value = value.as_object().expect("an object").clone();
        Filter::new(filter).unwrap_or_else(|error| panic!("{}", error.message())).accepts(&value)
    }

    #[test]
    fn a_value_is_equal_or_each_operator_applies() {
        let value = || {
            json!({"kind": "note", "size": 5, "ok": true, "none": null, "day": "2025-02-01",
            "rate": "10", "tags": ["a", "b"], "meta": {"lang": "en", "draft": false}})
        };
        for fulfilled in [
            json!({}),
            json!({"kind": "note", "size": 5.0}),
            json!({"kind": {"$eq": "note", "$ne": "task"}}),
            json!({"size": {"$gt": 4.99, "$lte": 5}}),
            json!({"size": {"$gte": "5"}}),
            json!({"rate": {"$gt": 9}, "day": {"$lt": "2025-03-01", "$gte": "2025-02-01"}}),
            json!({"kind": {"$in": ["task", "note"]}, "size": {"$nin": [4, 6]}}),
            json!({"missing": null, "none": null, "other": {"$ne": 1}}),
            json!({"tags": ["a", "b"], "meta": {"lang": "en"}}),
            json!({"meta": {"lang": {"$in": ["de", "en"]}}}),
            json!({"tags": {"$eq": ["a", "b"]}, "ok": true}),
        ] {
            assert!(accepts(fulfilled.clone(), value()), "{fulfilled}");
        }
        for not in [
            json!({"kind": "Note"}),
            json!({"size": "5"}),
            json!({"size": {"$gt": 5}}),
            json!({"size": {"$gt": 1, "$lt": 2}}),
            json!({"kind": {"$gt": 1}, "size": 5}),
            json!({"missing": {"$lt": 1}}),
            json!({"missing": {"$eq": 0}}),
            json!({"ok": 1}),
            json!({"ok": {"$gte": 0}}),
            json!({"tags": ["a"]}),
            json!({"tags": {"$in": ["a", "b"]}}),
            json!({"meta": {"lang": "en", "owner": "ada"}}),
            json!({"meta": {"$eq": {"lang": "en"}}}),
            json!({"kind": {"lang": "en"}}),
        ] {
            assert!(!accepts(not.clone(), value()), "{not}");
        }
    }

    #[test]
    fn large_integers_are_compared_exactly() {
        let of = |filter| accepts(filter, json!({"n": 9_007_199_254_740_993_i64}));
        assert!(of(json!({"n": {"$gt": 9_007_199_254_740_992_i64}})));
        assert!(!of(json!({"n": 9_007_199_254_740_992_i64})));
    }

    #[test]
    fn an_unknown_operator_is_refused_wherever_it_is() {
        for bad in [
            json!({"a": {"$regex": "x"}}),
            json!({"a": {"$eq": 1, "b": 2}}),
            json!({"a": {"b": {"$not": 1}}}),
            json!({"a": [{"$or": 1}]}),
            json!({"a": {"$in": 1}}),
            json!({"$or": [{"a": 1}]}),
            json!({"$eq": 1}),
        ] {
            assert!(Filter::new(bad.as_object().expect("an object")).is_err(), "{bad}");
        }
        assert!(!accepts(json!({"$": 1, "$5": 2}), json!({"$": 1})), "names of fields");
    }
}
