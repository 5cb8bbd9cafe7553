//! A setting of a toolset: the values that it accepts.

use serde::Deserialize;
use serde_json::{Map, Value};

/// A toolset's own setting.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ToolsetSetting {
    /// The setting's name in the toolset.
    pub name: String,
    /// The JSON Schema of a value.
    pub schema: Map<String, Value>,
    /// The default, in words.
    pub default_text: String,
    /// A help text of one line.
    pub help: String,
    /// Further help text.
    #[serde(default)]
    pub more: String,
    /// A help text of one line for each value of an `enum`.
    #[serde(default)]
    pub values: Map<String, Value>,
    /// The name of the setting's command-line option.
    pub flag: String,
    /// Environment variables of other programs with the same meaning.
    pub environment: Vec<String>,
    /// Whether the value is a path.
    pub is_path: bool,
    /// Whether the value is secret, so that it must not be shown.
    pub is_secret: bool,
}

impl ToolsetSetting {
    /// The values that the setting accepts, in words.
    pub fn accepts(&self) -> String {
        if let Some(words) = self.schema.get("enum").and_then(Value::as_array) {
            let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
            return words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ");
        }
        match (self.kind(), self.bound("minimum"), self.bound("maximum")) {
            ("integer", Some(least), Some(most)) => {
                format!("a whole number from {least} to {most}")
            }
            ("integer", Some(1), None) => "a whole number above 0".to_owned(),
            ("integer", Some(least), None) => format!("a whole number of at least {least}"),
            ("integer", None, Some(most)) => format!("a whole number of at most {most}"),
            ("integer", None, None) => "a whole number".to_owned(),
            ("boolean", ..) => "`true` or `false`".to_owned(),
            _ if self.is_path => "a path".to_owned(),
            _ => "text".to_owned(),
        }
    }

    /// Whether the setting's schema accepts a value.
    pub fn takes(&self, value: &Value) -> bool {
        if let Some(words) = self.schema.get("enum").and_then(Value::as_array) {
            return words.contains(value);
        }
        match self.kind() {
            "integer" => {
                let least = self.bound("minimum");
                let most = self.bound("maximum");
                let is_within = |number: i64| {
                    least.is_none_or(|least| number >= least)
                        && most.is_none_or(|most| number <= most)
                };
                value.as_i64().map_or_else(|| value.is_u64() && most.is_none(), is_within)
            }
            "boolean" => value.is_boolean(),
            _ => value.as_str().is_some_and(|text| !text.is_empty()),
        }
    }

    /// Reads a value from a text of a command line. `None` if the setting does not accept it.
    pub fn parse(&self, text: &str) -> Option<Value> {
        let value = match self.kind() {
            "integer" => text.parse::<u64>().ok()?.into(),
            "boolean" => match text {
                "true" | "1" => true.into(),
                "false" | "0" => false.into(),
                _ => return None,
            },
            _ => Value::from(text),
        };
        self.takes(&value).then_some(value)
    }

    /// Whether the value is a boolean.
    pub fn is_switch(&self) -> bool {
        self.kind() == "boolean"
    }

    fn kind(&self) -> &str {
        self.schema.get("type").and_then(Value::as_str).unwrap_or("string")
    }

    fn bound(&self, keyword: &str) -> Option<i64> {
        self.schema.get(keyword).and_then(Value::as_i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn setting(schema: Value) -> ToolsetSetting {
        let setting = json!({
            "name": "x", "schema": schema, "default_text": "", "help": "", "flag": "x",
            "environment": [], "is_path": false, "is_secret": false,
        });
        serde_json::from_value(setting).unwrap()
    }

    #[test]
    fn a_setting_accepts_the_values_of_its_schema_and_describes_them() {
        let count = setting(json!({"type": "integer", "minimum": 1}));
        assert_eq!(count.accepts(), "a whole number above 0");
        assert_eq!(count.parse("7"), Some(json!(7)));
        assert_eq!(count.parse(&u64::MAX.to_string()), Some(json!(u64::MAX)));
        for wrong in ["0", "-1", "1.5", "many", ""] {
            assert_eq!(count.parse(wrong), None, "{wrong}");
        }
        let number = setting(json!({"type": "integer", "minimum": 2, "maximum": 100}));
        assert_eq!(number.accepts(), "a whole number from 2 to 100");
        assert_eq!((number.parse("2"), number.parse("100")), (Some(json!(2)), Some(json!(100))));
        for wrong in ["1", "101", &u64::MAX.to_string()] {
            assert_eq!(number.parse(wrong), None, "{wrong}");
        }
        let word = setting(json!({"type": "string", "enum": ["json", "sqlite"]}));
        assert_eq!(word.accepts(), "`json` or `sqlite`");
        assert_eq!(word.parse("sqlite"), Some(json!("sqlite")));
        assert_eq!(word.parse("SQLite"), None);
        let flag = setting(json!({"type": "boolean"}));
        for (text, value) in [("true", true), ("1", true), ("false", false), ("0", false)] {
            assert_eq!(flag.parse(text), Some(json!(value)), "{text}");
        }
        for wrong in ["yes", "TRUE", "2", ""] {
            assert_eq!(flag.parse(wrong), None, "{wrong}");
        }
        assert!(flag.is_switch() && !flag.takes(&json!(1)) && !word.is_switch());
        assert_eq!(setting(json!({"type": "string"})).parse(""), None);
    }
}
