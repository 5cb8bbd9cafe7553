//! The follow-ups of the toolset: summaries of batches, by models that the host asks.

use serde_json::{Value, json};

use super::agent::Agent;
use super::batch::{Composted, ask, compost, follow_up};
use super::database::{Writer, agent_of, lease, waiting};
use super::error::{Code, Error};
use super::place::existing_database;
use super::settings::LayersSettings;
use super::summarize::MAX_SUMMARY;
use crate::follow_up::{MAX_PENDING, SummaryAnswer};
use crate::names::AgentName;
use crate::storage::database::Mode;
use crate::tool::Call;
use crate::toolset::FollowUps;

pub(super) const FOLLOW_UPS: FollowUps = FollowUps {
    model_setting: Some("summarizer"),
    pending: |call| pending(call).map_err(Into::into),
    claim: |call, batch, seconds| claim(call, batch, seconds).map_err(Into::into),
    answer: |call, batch, payload| answer(call, batch, payload).map_err(Into::into),
};

/// Leaves follow-ups for the oldest batches without a lease, of agents that the caller may use.
/// Does nothing if the host can ask no model.
fn pending(call: &Call<'_>) -> Result<(), Error> {
    let models = LayersSettings::from_context(call.context).models(call.context);
    let Some(database) = existing_database(call)? else { return Ok(()) };
    if models.is_empty() {
        return Ok(());
    }
    let agents = waiting(&*database.begin(Mode::Read)?, call.context.now)?;
    drop(database);
    let reached = agents.iter().filter(|name| call.context.reaches(name));
    for name in reached.take(MAX_PENDING) {
        let Some(name) = AgentName::parse(name) else { continue };
        let agent = Agent::open(call, &name)?;
        let found = agent.read(|reader| {
            let Some(batch) = reader.batch()? else { return Ok(None) };
            Ok(Some(follow_up(&batch, &reader.memories_of(&batch)?, &models)))
        })?;
        agent.leave(found);
    }
    Ok(())
}

fn claim(call: &Call<'_>, batch: i64, seconds: u32) -> Result<bool, Error> {
    let Some(name) = agent_name(call, batch)? else { return Ok(false) };
    let Some(database) = existing_database(call)? else { return Ok(false) };
    let agent = Agent::open(call, &name)?;
    let transaction = database.begin(Mode::Write(Some(&agent.scope())))?;
    let is_claimed = lease(&*transaction, batch, call.context.now, seconds)?;
    if is_claimed {
        transaction.commit().map_err(Error::from_commit)?;
    }
    Ok(is_claimed)
}

/// Replaces the memories of a batch by the model's summary, or by a built-in one if the answer
/// cannot be used. If enough memories have gathered since, asks for the next summary.
fn answer(call: &Call<'_>, batch: i64, payload: Value) -> Result<Value, Error> {
    let answer: SummaryAnswer = serde_json::from_value(payload).map_err(|_| {
        let message = "the answer is neither `{\"model\", \"summary\"}` nor `{\"error\"}`";
        Error::new(Code::InvalidInput, message)
    })?;
    let Some(name) = agent_name(call, batch)? else { return Ok(not_applied()) };
    let agent = Agent::open(call, &name)?;
    let settings = agent.settings();
    let done = agent.change_existing(|writer| {
        let composted = take(writer, batch, &answer)?;
        let capacity = settings.recent_capacity;
        let is_full = writer.reader().recent_count(capacity)? >= capacity;
        let next = if composted.is_some() && is_full {
            ask(writer, &settings, &settings.models(call.context))?
        } else {
            None
        };
        Ok((composted, next))
    })?;
    let (composted, next) = done.unwrap_or_default();
    agent.leave(next);
    Ok(composted.map_or_else(not_applied, |done| {
        json!({ "applied": true, "compost_id": done.compost_id, "original_count": done.count })
    }))
}

fn not_applied() -> Value {
    json!({ "applied": false })
}

fn take(
    writer: &mut Writer<'_>,
    number: i64,
    answer: &SummaryAnswer,
) -> Result<Option<Composted>, Error> {
    let batch = writer.reader().batch()?.filter(|batch| batch.id == number);
    let Some(batch) = batch else { return Ok(None) };
    let memories = writer.reader().memories_of(&batch)?;
    if memories.is_empty() {
        // Another program deleted the memories.
        writer.remove_batch()?;
        return Ok(None);
    }
    let summary = match answer {
        SummaryAnswer::Summary { model, summary } if batch.is_of(&memories) => {
            accepted(summary).map(|summary| (summary, model.as_str()))
        }
        _ => None,
    };
    compost(writer, &memories, summary.as_ref().map(|(summary, model)| (summary.as_str(), *model)))
}

/// A model's summary on one line. `None` if it has no letter or digit, or more than [`MAX_SUMMARY`]
/// characters.
fn accepted(summary: &str) -> Option<String> {
    let words = summary.split(|c: char| c.is_whitespace() || c.is_control());
    let line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let says_something = line.contains(char::is_alphanumeric);
    (says_something && line.chars().count() <= MAX_SUMMARY).then_some(line)
}

/// The agent of a batch. `None` if the batch is no longer stored. [`Agent::open`] checks whether
/// the caller may use the agent.
fn agent_name(call: &Call<'_>, batch: i64) -> Result<Option<AgentName>, Error> {
    let Some(database) = existing_database(call)? else { return Ok(None) };
    let name = agent_of(&*database.begin(Mode::Read)?, batch)?;
    Ok(name.and_then(|name| AgentName::parse(&name)))
}
