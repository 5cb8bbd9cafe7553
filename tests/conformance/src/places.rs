//! Placeholders in the texts of a case.

use serde::Deserialize;
use serde_json::Value;

/// The values of a case's placeholders on one runner.
#[derive(Clone, Debug)]
pub struct Places {
    /// The granted repository.
    pub repo: String,
    /// A directory that is not granted.
    pub elsewhere: String,
    /// The directory with the given stores.
    pub stores: String,
}

/// The `id` in the result of each step, if it is a UUID v4.
#[derive(Clone, Debug, Default)]
pub struct Ids(Vec<Option<String>>);

/// An object that stands for a repeated text.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Repeated {
    repeat: String,
    times: usize,
    #[serde(default)]
    before: String,
    #[serde(default)]
    after: String,
}

impl Repeated {
    pub fn text(&self) -> String {
        format!("{}{}{}", self.before, self.repeat.repeat(self.times), self.after)
    }
}

impl Places {
    /// The value with every placeholder replaced.
    pub fn fill(&self, value: &Value) -> Value {
        replaced(value, &|text| self.fill_text(text))
    }

    /// The text with every placeholder replaced.
    pub fn fill_text(&self, text: &str) -> String {
        text.replace("${repo}", &self.repo)
            .replace("${elsewhere}", &self.elsewhere)
            .replace("${stores}", &self.stores)
    }

    /// The text with the paths of this runner replaced by placeholders.
    pub fn hide(&self, text: &str) -> String {
        text.replace(&self.repo, "${repo}")
            .replace(&self.elsewhere, "${elsewhere}")
            .replace(&format!("{}/", self.stores), "${stores}/")
    }
}

impl Ids {
    /// Adds the result of the next step. `None` if the step had no result.
    pub fn push(&mut self, result: Option<&Value>) {
        let id = result.and_then(|result| result["id"].as_str()).filter(|id| is_uuid_4(id));
        self.0.push(id.map(str::to_owned));
    }

    /// The value with `${id:N}` replaced by the id of step `N`.
    pub fn fill(&self, value: &Value) -> Value {
        replaced(value, &|text| self.fill_text(text))
    }

    /// The text with `${id:N}` replaced by the id of step `N`.
    pub fn fill_text(&self, text: &str) -> String {
        self.known().fold(text.to_owned(), |text, (name, id)| text.replace(&name, id))
    }

    /// The text with ids replaced by placeholders.
    pub fn hide(&self, text: &str) -> String {
        self.known().fold(text.to_owned(), |text, (name, id)| text.replace(id, &name))
    }

    fn known(&self) -> impl Iterator<Item = (String, &str)> {
        let ids = self.0.iter().enumerate();
        ids.filter_map(|(step, id)| Some((format!("${{id:{step}}}"), id.as_deref()?)))
    }
}

/// The value with `text` applied to all of its texts. An object with `repeat` becomes its text.
fn replaced(value: &Value, text: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(string) => Value::String(text(string)),
        Value::Array(items) => items.iter().map(|item| replaced(item, text)).collect(),
        Value::Object(fields) if fields.contains_key("repeat") => {
            match Repeated::deserialize(value) {
                Ok(repeated) => Value::String(repeated.text()),
                Err(error) => panic!("not a repeated text: {error}: {value}"),
            }
        }
        Value::Object(fields) => {
            let fields = fields.iter();
            Value::Object(
                fields.map(|(name, field)| (name.clone(), replaced(field, text))).collect(),
            )
        }
        _ => value.clone(),
    }
}

/// Whether a text is a UUID v4 (RFC 9562) in lower case.
pub(crate) fn is_uuid_4(text: &str) -> bool {
    let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.len() == 36
        && text.bytes().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => byte == b'-',
            14 => byte == b'4',
            19 => matches!(byte, b'8' | b'9' | b'a' | b'b'),
            _ => is_hex(byte),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn placeholders_are_replaced_in_every_text_of_a_value() {
        let places = Places { repo: "/r".into(), elsewhere: "/e".into(), stores: "/s".into() };
        let value = json!({"a": ["${repo}/x", {"repeat": "ab", "times": 2}], "b": 1});
        assert_eq!(places.fill(&value), json!({"a": ["/r/x", "abab"], "b": 1}));
    }

    #[test]
    fn a_step_has_an_id_if_its_result_has_a_uuid_of_version_4() {
        let id = "0e37df36-f698-41e6-8dd4-773df4bed3a0";
        let mut ids = Ids::default();
        ids.push(None);
        ids.push(Some(&json!({"id": id})));
        ids.push(Some(&json!({"id": "0e37df36-f698-11e6-8dd4-773df4bed3a0"})));
        assert_eq!(ids.fill_text("${id:0} ${id:1} ${id:2}"), format!("${{id:0}} {id} ${{id:2}}"));
        assert_eq!(ids.hide(id), "${id:1}");
    }
}
