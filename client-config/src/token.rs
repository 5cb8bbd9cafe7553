//! The token that a client sends to a server over HTTP. The client's file only names the environment
//! variable with the token.

use serde_json::{Map, Value, json};

use crate::{Client, Error};

/// The field with the headers of a client's requests.
const HEADERS: &str = "headers";

/// The field of Codex that names the variable.
const VARIABLE: &str = "bearer_token_env_var";

/// The tables of Codex with headers. An entry may have them beside [`VARIABLE`].
const HEADERS_OF_CODEX: [&str; 2] = ["http_headers", "env_http_headers"];

/// The forms in which clients refer to a variable in a text: the parts before and after its name.
const OF_EDITORS: (&str, &str) = ("${env:", "}");
const OF_OPENCODE: (&str, &str) = ("{env:", "}");
const OF_SHELLS: (&str, &str) = ("${", "}");
const FORMS: [(&str, &str); 3] = [OF_EDITORS, OF_OPENCODE, OF_SHELLS];

impl Client {
    /// The field with which the client sends the token that is in a variable.
    ///
    /// # Errors
    ///
    /// If the client cannot read a variable in its headers, or its syntax for that is not known.
    pub(crate) fn token_field(self, variable: &str) -> Result<(&'static str, Value), Error> {
        let (before, behind) = match self {
            Client::Codex => return Ok((VARIABLE, variable.into())),
            Client::Cursor | Client::VsCode | Client::Windsurf => OF_EDITORS,
            Client::Opencode => OF_OPENCODE,
            Client::ClaudeCode | Client::Gemini => OF_SHELLS,
            Client::ClaudeDesktop | Client::Zed | Client::Other => {
                return Err(Error::Unsupported(format!(
                    "{} is not known to read a variable in its headers: leave `--token-variable` out, and \
                     add `\"headers\": {{\"Authorization\": \"Bearer TOKEN\"}}` to the entry yourself, if \
                     others cannot read the file",
                    self.title()
                )));
            }
        };
        let value = format!("Bearer {before}{variable}{behind}");
        Ok((HEADERS, json!({"Authorization": value})))
    }
}

/// Whether a text can be the name of an environment variable that every client reads.
pub fn is_variable_name(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !text.is_empty()
        && text.bytes().all(is_inner)
        && !text.starts_with(|first: char| first.is_ascii_digit())
}

/// Whether a field of an entry is a token field as this program writes it.
pub(crate) fn is_ours(name: &str, value: &Value) -> bool {
    match name {
        VARIABLE => value.is_string(),
        HEADERS => {
            let headers = value.as_object().filter(|headers| headers.len() == 1);
            let header = headers.and_then(|headers| headers.get("Authorization")?.as_str());
            let sent = header.and_then(|header| header.strip_prefix("Bearer "));
            sent.is_some_and(|sent| {
                FORMS.iter().any(|(before, behind)| {
                    let name = sent.strip_prefix(before).and_then(|rest| rest.strip_suffix(behind));
                    name.is_some_and(is_variable_name)
                })
            })
        }
        _ => false,
    }
}

/// Keeps the token of an existing entry: if the new fields have none, adds the old token field to them.
/// If the new entry starts a program, removes the token field.
///
/// # Errors
///
/// If the existing entry has other headers, which the token of the new entry would replace.
pub(crate) fn keep(fields: &mut Map<String, Value>, before: Option<&Value>) -> Result<(), String> {
    let starts = fields.get("command").is_some_and(|command| !command.is_null());
    let before = before.and_then(Value::as_object);
    let has_header = |table: &str| {
        let headers = before.and_then(|before| before.get(table)?.as_object());
        let mut names = headers.into_iter().flatten().map(|(name, _)| name);
        names.any(|name| name.eq_ignore_ascii_case("Authorization"))
    };
    let own = HEADERS_OF_CODEX.into_iter().find(|table| has_header(table));
    if let Some(table) = own.filter(|_| fields.contains_key(VARIABLE)) {
        return Err(own_headers(table));
    }
    let before = before
        .into_iter()
        .flatten()
        .filter(|(name, _)| [HEADERS, VARIABLE].contains(&name.as_str()));
    for (name, value) in before {
        match (fields.get(name), is_ours(name, value)) {
            (Some(_), false) => {
                return Err(own_headers(name));
            }
            (Some(_), true) | (None, false) => {}
            (None, true) => {
                let value = if starts { Value::Null } else { value.clone() };
                fields.insert(name.clone(), value);
            }
        }
    }
    Ok(())
}

fn own_headers(field: &str) -> String {
    format!(
        "the entry has `{field}` of its own: add the token there, or leave `--token-variable` out"
    )
}
