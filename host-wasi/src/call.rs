//! Calls of the core, with a context from the settings.

use std::time::{SystemTime, UNIX_EPOCH};

use agent_memory_core::context::Context;
use agent_memory_core::toolbox::{self, Failure, FailureCode, Outcome, Reference};
use agent_memory_core::zone::Zone;
use serde_json::{Value, json};

use crate::settings::{Clock, Environment, Settings, SettingsError};

/// The error of a request, with the fields of the record in `wit/plugin.wit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The error code of the toolset, or `not-found` or `invalid-request`.
    pub code: String,
    /// The message for a model and a person.
    pub message: String,
    /// The error as JSON, in the form that a model gets.
    pub json: String,
}

impl Error {
    fn new(code: &str, message: &str) -> Self {
        let json = json!({"error": {"code": code, "message": message}}).to_string();
        Error { code: code.to_owned(), message: message.to_owned(), json }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        let code = match failure.code {
            FailureCode::NotFound => "not-found",
            FailureCode::InvalidRequest => "invalid-request",
        };
        Error::new(code, &failure.message)
    }
}

impl From<SettingsError> for Error {
    fn from(error: SettingsError) -> Self {
        Error::new("invalid-request", &error.to_string())
    }
}

/// The core with storage, and the number of the next call.
#[derive(Debug)]
pub struct Plugin {
    settings: Settings,
    calls: u64,
}

impl Plugin {
    /// A plugin with the settings of an environment.
    ///
    /// # Errors
    ///
    /// If the value of a variable is invalid.
    pub fn new(environment: &Environment<'_>) -> Result<Self, Error> {
        Ok(Plugin { settings: Settings::from_environment(environment)?, calls: 0 })
    }

    /// The tools for models that are mounted, as a JSON array.
    pub fn list_tools(&self) -> String {
        Value::Array(self.settings.tools.clone()).to_string()
    }

    /// Calls a tool.
    ///
    /// # Errors
    ///
    /// The errors of the tool; `not-found` if there is no such tool, `invalid-request`.
    pub fn call(&mut self, name: &str, arguments: &str) -> Result<String, Error> {
        let context = self.next_context()?;
        answer(toolbox::call_tool(&self.settings.storage, name, arguments, &context)?)
    }

    /// Reads a resource.
    ///
    /// # Errors
    ///
    /// The errors of the toolset; `not-found` if there is no such resource.
    pub fn read_resource(&mut self, uri: &str) -> Result<String, Error> {
        let context = self.next_context()?;
        answer(toolbox::read_resource(&self.settings.storage, uri, &context)?)
    }

    /// Completes an argument of a resource template.
    ///
    /// # Errors
    ///
    /// The errors of the toolset; `not-found` if there is no such template.
    pub fn complete(
        &mut self,
        uri_template: &str,
        argument: &str,
        value: &str,
        others: &str,
    ) -> Result<String, Error> {
        let context = self.next_context()?;
        let reference = Reference::ResourceTemplate(uri_template);
        let storage = &self.settings.storage;
        answer(toolbox::complete(storage, reference, argument, value, others, &context)?)
    }

    fn next_context(&mut self) -> Result<Context, Error> {
        let context = self.context(self.calls);
        self.calls += 1;
        context
    }

    /// The context of the call with this number, counted from 0.
    fn context(&self, call: u64) -> Result<Context, Error> {
        let Settings { of_context, utc_offset_minutes, clock, seed, .. } = &self.settings;
        let now = match *clock {
            Clock::Fixed { start, step } => start.saturating_add(step.saturating_mul(call as i64)),
            Clock::Real => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                since.as_millis() as i64
            }
        };
        let no_randomness = |_| Error::new("invalid-request", "the host gives no random numbers");
        let seed = match *seed {
            Some(seed) => seed.wrapping_add(call),
            None => getrandom::u64().map_err(no_randomness)?,
        };
        let invalid = |what: &str| Error::new("invalid-request", what);
        Ok(Context {
            settings: of_context.clone(),
            now: agent_memory_core::time::Timestamp::from_milliseconds(now)
                .ok_or_else(|| invalid("the clock is not in the years 0000 to 9999"))?,
            zone: Zone { offset_minutes: *utc_offset_minutes, changes: Vec::new() },
            agents: None,
            stores: None,
            models: Vec::new(),
            embedder: None,
            vector: None,
            seed,
        })
    }
}

fn answer(outcome: Outcome) -> Result<String, Error> {
    outcome.answer.map_err(|refusal| Error {
        code: refusal.code,
        message: refusal.message,
        json: refusal.json,
    })
}
