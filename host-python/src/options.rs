//! The options of a memory, which the package has checked.

use crate::errors;
use crate::functions::{Summarizer, Vectors};
use crate::messages::Messages;
use agent_memory_host::{AgentMemory, BuildError, Builder, Clock, Durability, Limits, Random};
use pyo3::prelude::*;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The functions that the program has given as options.
#[derive(Clone, Copy)]
pub(crate) struct Functions {
    pub(crate) summarizes: bool,
    /// The package has checked that the option `embed_model` is there, too.
    pub(crate) embeds: bool,
}

/// Builds a memory. `options` is a JSON object; an option without a value is left out.
pub(crate) fn build(
    allow: Vec<PathBuf>,
    options: &str,
    functions: Functions,
    messages: &Arc<Messages>,
) -> PyResult<AgentMemory> {
    let options: Map<String, Value> =
        serde_json::from_str(options).map_err(|error| invalid(&error.to_string()))?;
    let mut builder = allow.into_iter().fold(AgentMemory::builder(), Builder::allow);
    for (name, value) in &options {
        builder = with(builder, name, value)
            .ok_or_else(|| invalid(&format!("the option `{name}` does not accept `{value}`")))?;
    }
    if functions.summarizes {
        builder = builder.model(Arc::new(Summarizer(messages.clone())));
    }
    if functions.embeds {
        let model = options.get("embed_model").and_then(Value::as_str).unwrap_or_default();
        let vectors = Vectors { model: model.to_owned(), messages: messages.clone() };
        builder = builder.embedder(Arc::new(vectors));
    }
    builder.build().map_err(|error| match error {
        BuildError::Component(_) => errors::coded("component", &error.to_string()),
        _ => invalid(&error.to_string()),
    })
}

fn invalid(message: &str) -> PyErr {
    errors::coded("invalid-option", message)
}

/// Sets an option of the builder. `None` if the value is not accepted.
fn with(builder: Builder, name: &str, value: &Value) -> Option<Builder> {
    Some(match name {
        "toolsets" => builder.toolsets(texts(value)?),
        "models" => builder.external_models(texts(value)?),
        "embed_model" => builder.external_embedder(value.as_str()?),
        "data_dir" => builder.data_dir(value.as_str()?),
        "time_zone" => builder.time_zone(value.as_str()?),
        "utc_offset" => builder.utc_offset(value.as_i64()?.try_into().ok()?),
        "durability" => builder.durability(match value.as_str()? {
            "full" => Durability::Full,
            "relaxed" => Durability::Relaxed,
            _ => return None,
        }),
        "lock_wait" => builder.lock_wait(seconds(value)?),
        "clock" => builder.clock(Clock::Fixed {
            start: value["now"].as_str()?.parse().ok()?,
            step: seconds(&value["step"])?,
        }),
        "seed" => builder.random(Random::Fixed(value.as_u64()?)),
        "limits" => builder.limits(limits(value)?),
        "settings" => members(value)?.fold(builder, |builder, (toolset, name, value)| {
            builder.setting(toolset, name, value.clone())
        }),
        "places" => {
            let mut builder = builder;
            for (label, name, path) in members(value)? {
                builder = builder.place(label, name, path.as_str()?);
            }
            builder
        }
        _ => return None,
    })
}

fn limits(value: &Value) -> Option<Limits> {
    let mut limits = Limits::default();
    for (name, value) in value.as_object()? {
        match name.as_str() {
            "memory" => limits.memory = value.as_u64()?.try_into().ok()?,
            "guest_time" => limits.guest_time = seconds(value)?,
            "guest_time_for_people" => limits.guest_time_for_people = seconds(value)?,
            "storage_calls" => limits.storage_calls = value.as_u64()?.try_into().ok()?,
            "statement_time" => limits.statement_time = seconds(value)?,
            _ => return None,
        }
    }
    Some(limits)
}

/// The values of an object of objects, each with its two names.
fn members(value: &Value) -> Option<impl Iterator<Item = (&str, &str, &Value)>> {
    let mut members = Vec::new();
    for (outer, values) in value.as_object()? {
        for (inner, value) in values.as_object()? {
            members.push((outer.as_str(), inner.as_str(), value));
        }
    }
    Some(members.into_iter())
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|text| Some(text.as_str()?.to_owned())).collect()
}

fn seconds(value: &Value) -> Option<Duration> {
    Duration::try_from_secs_f64(value.as_f64()?).ok()
}
