//! Prompts: texts that a person chooses to send to a model.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::tool::{Call, Checked};

/// A prompt of a toolset, which is one message of the user.
pub(crate) struct Prompt {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub arguments: &'static [Argument],
    /// The text of the message.
    pub get: fn(&Call<'_>, &Arguments) -> Checked<String>,
}

/// An argument of a prompt. It is a text, and required.
pub(crate) struct Argument {
    pub name: &'static str,
    pub description: &'static str,
}

/// Values of arguments by their names.
pub(crate) type Arguments = BTreeMap<String, String>;

/// An argument that is being typed.
pub(crate) struct Partial<'a> {
    pub argument: &'a str,
    /// The beginning of the argument's value.
    pub value: &'a str,
    /// The arguments that are known already.
    pub others: &'a Arguments,
}

impl Prompt {
    /// The prompt's entry in the answer of `describe` in `wit/toolbox`.
    pub fn describe(&self) -> Value {
        let argument = |argument: &Argument| {
            let Argument { name, description } = argument;
            json!({ "name": name, "description": description, "required": true })
        };
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "arguments": self.arguments.iter().map(argument).collect::<Vec<_>>(),
        })
    }

    /// Whether the prompt has an argument of this name.
    pub fn has(&self, argument: &str) -> bool {
        self.arguments.iter().any(|one| one.name == argument)
    }

    /// Checks that every argument of the prompt is given and is a text, and that no other is given.
    ///
    /// # Errors
    ///
    /// The message for the caller.
    pub fn arguments_of(&self, given: Map<String, Value>) -> Result<Arguments, String> {
        let names: Vec<_> = self.arguments.iter().map(|one| format!("`{}`", one.name)).collect();
        let takes = format!("prompt `{}` takes {}", self.name, names.join(", "));
        if let Some(unknown) = given.keys().find(|name| !self.has(name)) {
            return Err(format!("there is no argument `{unknown}`: {takes}"));
        }
        if let Some(missing) = self.arguments.iter().find(|one| !given.contains_key(one.name)) {
            return Err(format!("argument `{}` is missing: {takes}", missing.name));
        }
        serde_json::from_value(Value::Object(given))
            .map_err(|error| format!("the arguments are not texts: {error}"))
    }

    /// The prompt with its text, in the form that `wit/toolbox` gives.
    pub fn message(&self, text: &str) -> Value {
        json!({
            "description": self.description,
            "messages": [{ "role": "user", "text": text }],
        })
    }
}

/// Puts stored text into a Markdown fence that is longer than any run of backticks in it, so that
/// nothing in the text can end the fence.
pub(crate) fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}\n{text}{end}{fence}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_in_its_text() {
        assert_eq!(fenced("a"), "```\na\n```\n");
        assert_eq!(fenced("a\n"), "```\na\n```\n");
        assert_eq!(fenced("````\nx\n````\n"), "`````\n````\nx\n````\n`````\n");
    }
}
