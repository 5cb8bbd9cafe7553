//! The parts of a client's file that belong to this program: the entry of its server, its hooks, or
//! both.

use serde_json::{Map, Value};

use crate::client::Grammar;
use crate::hooks::{self, Handlers};
use crate::{Client, NAME, entry, json, json_hooks, toml};

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A client's file, and which parts it may have: the server's entry, hooks, or both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    client: Client,
    has_server: bool,
    has_hooks: bool,
}

/// The parts of this program that are in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ours {
    pub entry: Option<Value>,
    pub hooks: Handlers,
}

/// The parts that should be in a file. A part that is `None` stays as it is.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    pub fields: Option<Map<String, Value>>,
    pub hooks: Option<Handlers>,
}

impl Ours {
    pub fn is_empty(&self) -> bool {
        self.entry.is_none() && self.hooks.is_empty()
    }

    /// Whether the entry and the hooks have only fields that this program writes.
    pub fn has_only_our_fields(&self) -> bool {
        let hooks = &self.hooks;
        self.entry.as_ref().is_none_or(entry::has_only_our_fields)
            && hooks.iter().all(|(_, handler)| hooks::has_only_our_fields(handler))
    }

    /// These parts as wanted parts, to add them to another text.
    pub fn as_wanted(&self) -> Wanted {
        let fields = self.entry.as_ref().and_then(Value::as_object).cloned();
        Wanted { fields, hooks: Some(self.hooks.clone()) }
    }
}

impl Wanted {
    /// Whether a file with the parts `found` already has everything that is wanted.
    pub fn is_in(&self, found: &Ours) -> bool {
        let has_entry = self
            .fields
            .as_ref()
            .is_none_or(|fields| found.entry.as_ref().is_some_and(|entry| has(entry, fields)));
        let has_hooks = self.hooks.as_ref().is_none_or(|hooks| {
            let pairs = hooks.iter().zip(&found.hooks);
            let is_same = |((event, wanted), (found_event, found)): (&(_, Value), &(_, Value))| {
                event == found_event && has(found, &hooks::fields(wanted))
            };
            hooks.len() == found.hooks.len() && pairs.into_iter().all(is_same)
        });
        has_entry && has_hooks
    }

    /// These wanted parts. The others are taken from `found`, so that they stay.
    pub fn or(self, found: &Ours) -> Wanted {
        let found = found.as_wanted();
        Wanted { fields: self.fields.or(found.fields), hooks: self.hooks.or(found.hooks) }
    }
}

/// Whether an object has these fields with these values, and lacks the fields that are null here.
fn has(object: &Value, fields: &Map<String, Value>) -> bool {
    fields.iter().all(|(name, value)| object.get(name).unwrap_or(&Value::Null) == value)
}

impl Format {
    /// The file with the servers of a client.
    pub fn of_servers(client: Client) -> Self {
        Format { client, has_server: true, has_hooks: client.has_one_file() }
    }

    /// The file with the hooks of a client.
    pub fn of_hooks(client: Client) -> Self {
        Format { client, has_server: client.has_one_file(), has_hooks: true }
    }

    /// The text of a new file, which holds nothing yet. A file of hooks alone is JSON, whatever the
    /// client's grammar is.
    pub fn empty(self) -> &'static str {
        match self.client.grammar() {
            Grammar::Toml if self.has_server => "",
            _ => "{}\n",
        }
    }

    /// The parts of this program that are in a text.
    pub fn found(self, text: &str) -> Result<Ours, String> {
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let client = self.client;
        let key = self.client.key();
        if text.trim().is_empty() {
            return Ok(Ours::default());
        }
        let entry = match client.grammar() {
            _ if !self.has_server => None,
            Grammar::Json => json::entry(text, key, NAME)?,
            Grammar::Toml => toml::entry(text, key, NAME)?,
        };
        let hooks = if self.has_hooks { json_hooks::found(text, client)? } else { Vec::new() };
        Ok(Ours { entry, hooks })
    }

    /// The text with the wanted parts. An existing entry or hook keeps its other fields.
    pub fn with(self, text: &str, wanted: &Wanted) -> Result<String, String> {
        let client = self.client;
        let key = self.client.key();
        around_mark(text, |text| {
            let mut text = match (&wanted.fields, client.grammar()) {
                (None, _) => text.to_owned(),
                (Some(fields), Grammar::Json) => json::with(text, key, NAME, fields)?,
                (Some(fields), Grammar::Toml) => toml::with(text, key, NAME, fields)?,
            };
            if let Some(hooks) = wanted.hooks.as_ref().filter(|_| self.has_hooks) {
                text = json_hooks::with(&text, client, hooks)?;
            }
            Ok(text)
        })
    }

    /// The text without anything of this program.
    pub fn without(self, text: &str) -> Result<String, String> {
        let client = self.client;
        let key = self.client.key();
        around_mark(text, |text| {
            let mut text = match client.grammar() {
                _ if !self.has_server => text.to_owned(),
                Grammar::Json => json::without(text, key, NAME)?,
                Grammar::Toml => toml::without(text, key, NAME)?,
            };
            if self.has_hooks {
                text = json_hooks::without(&text, client)?;
            }
            Ok(text)
        })
    }
}

/// Edits a text. A byte order mark at its start stays.
fn around_mark(
    text: &str,
    edit: impl FnOnce(&str) -> Result<String, String>,
) -> Result<String, String> {
    match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(text) => Ok(format!("{BYTE_ORDER_MARK}{}", edit(text)?)),
        None => edit(text),
    }
}
