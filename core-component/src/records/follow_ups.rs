//! The follow-ups of the toolset: vectors of memories in SQLite, by the embedder that the host asks.
//!
//! The number of a follow-up is the key of the agent. It stands for all memories of the agent that
//! wait for a vector. Claiming it chooses a batch of them.

use serde_json::{Value, json};

use super::agent::Agent;
use super::embedding::{follow_up, of_payload};
use super::error::{Code, Error};
use super::place::{DATABASE, LABEL};
use super::sqlite::{Vectors, agent_with_key, agents, prepare};
use crate::follow_up::{EmbeddingAnswer, MAX_PENDING};
use crate::names::AgentName;
use crate::storage::database::{Connection, Kind, Mode, Transaction};
use crate::storage::{ErrorCode, Place};
use crate::tool::Call;
use crate::toolset::FollowUps;

pub(super) const FOLLOW_UPS: FollowUps = FollowUps {
    model_setting: None,
    pending: |call| pending(call).map_err(Into::into),
    claim: |call, agent, seconds| claim(call, agent, seconds).map_err(Into::into),
    answer: |call, agent, payload| answer(call, agent, payload).map_err(Into::into),
};

fn pending(call: &Call<'_>) -> Result<(), Error> {
    let Some(model) = &call.context.embedder else { return Ok(()) };
    for (key, name) in agents_of(call)? {
        if call.follow_ups.borrow().len() >= MAX_PENDING {
            break;
        }
        let Some(name) = AgentName::parse(&name) else { continue };
        let agent = Agent::open(call, &name)?;
        let Some(database) = in_database(&agent)? else { continue };
        let view = database.begin(Mode::Read)?;
        if Vectors::new(&*view, key, model).are_wanted(call.context.now)? {
            call.follow_ups.borrow_mut().push(follow_up(key, model));
        }
    }
    Ok(())
}

/// The agents with rows that the caller may use, with their keys.
fn agents_of(call: &Call<'_>) -> Result<Vec<(i64, String)>, Error> {
    let Some(database) = existing_database(call)? else { return Ok(Vec::new()) };
    let mut agents = agents(&*database.begin(Mode::Read)?)?;
    agents.retain(|(_, name)| call.context.reaches(name));
    Ok(agents)
}

fn existing_database<'a>(call: &'a Call<'_>) -> Result<Option<Box<dyn Connection + 'a>>, Error> {
    match call.storage.open_database(&Place::named(LABEL), DATABASE, Kind::Kept, false) {
        Ok(database) => Ok(Some(database)),
        Err(error) if error.code == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The name of the agent with this key.
fn name_of(call: &Call<'_>, key: i64) -> Result<Option<AgentName>, Error> {
    let Some(database) = existing_database(call)? else { return Ok(None) };
    let name = agent_with_key(&*database.begin(Mode::Read)?, key)?;
    Ok(name.and_then(|name| AgentName::parse(&name)))
}

/// The database, if the agent's memories are in it and no file hides them.
fn in_database<'a, 'b>(agent: &'b Agent<'a>) -> Result<Option<&'b (dyn Connection + 'a)>, Error> {
    if agent.has_file()? { Ok(None) } else { agent.database(false) }
}

/// Chooses a batch, and leaves the follow-up with its texts.
fn claim(call: &Call<'_>, number: i64, seconds: u32) -> Result<bool, Error> {
    let Some(model) = &call.context.embedder else { return Ok(false) };
    let batch = change(call, number, |transaction| {
        Vectors::new(transaction, number, model).claim(call.context.now, seconds)
    })?;
    let Some(batch) = batch.flatten() else { return Ok(false) };
    let payload = json!({ "models": [model], "texts": batch.texts, "batch": batch.digest });
    call.follow_ups.borrow_mut().push(of_payload(number, &payload));
    Ok(true)
}

/// Stores the vectors of a batch. If further memories wait, leaves the next follow-up.
///
/// # Errors
///
/// `INVALID_INPUT` if the vectors are refused. The batch then waits as after an error of the embedder.
fn answer(call: &Call<'_>, number: i64, payload: Value) -> Result<Value, Error> {
    let answer: EmbeddingAnswer = serde_json::from_value(payload).map_err(|_| {
        let message = "the answer is neither `{\"batch\", \"model\", \"vectors\"}` with numbers nor \
                       `{\"batch\", \"error\"}`";
        Error::new(Code::InvalidInput, message)
    })?;
    let embedder = call.context.embedder.as_deref();
    let Some(model) = embedder else { return Ok(json!({ "applied": false })) };
    if let EmbeddingAnswer::Vectors { model: given, .. } = &answer
        && given != model
    {
        let message = format!("the vectors are of `{given}`, not of the embedder `{model}`");
        return Err(Error::new(Code::InvalidInput, message));
    }
    let now = call.context.now;
    let done = change(call, number, |transaction| {
        let of_agent = Vectors::new(transaction, number, model);
        let (batch, stored) = match &answer {
            EmbeddingAnswer::Failed { batch, .. } => (batch, Ok(Some(0))),
            EmbeddingAnswer::Vectors { batch, vectors, .. } => {
                (batch, of_agent.answer(batch, vectors))
            }
        };
        Ok(match stored {
            Ok(Some(stored)) if matches!(answer, EmbeddingAnswer::Vectors { .. }) => {
                Done::Stored { stored, wants_more: of_agent.are_wanted(now)? }
            }
            Err(error) if error.code != Code::InvalidInput => return Err(error),
            stored => match (of_agent.fail(batch, now)?, stored.err()) {
                (true, None) => Done::Failed,
                (true, Some(error)) => Done::Refused(error),
                (false, _) => Done::Nothing,
            },
        })
    })?;
    match done {
        None | Some(Done::Nothing) => Ok(json!({ "applied": false })),
        Some(Done::Failed) => Ok(json!({ "applied": true, "stored": 0 })),
        Some(Done::Refused(error)) => Err(error),
        Some(Done::Stored { stored, wants_more }) => {
            if wants_more {
                call.follow_ups.borrow_mut().push(follow_up(number, model));
            }
            Ok(json!({ "applied": true, "stored": stored }))
        }
    }
}

/// The outcome of an answer.
enum Done {
    Stored {
        stored: usize,
        wants_more: bool,
    },
    Failed,
    Refused(Error),
    /// The embedder is asked for no such batch.
    Nothing,
}

/// Changes the vectors of the agent with this key, in one transaction. None if nothing is left to do:
/// there is no such agent, or its memories are in a file.
fn change<T>(
    call: &Call<'_>,
    key: i64,
    change: impl FnOnce(&dyn Transaction) -> Result<T, Error>,
) -> Result<Option<T>, Error> {
    let Some(name) = name_of(call, key)? else { return Ok(None) };
    let agent = Agent::open(call, &name)?;
    let Some(database) = in_database(&agent)? else { return Ok(None) };
    let transaction = database.begin(Mode::Write(Some(&agent.scope())))?;
    prepare(&*transaction)?;
    // Another host may have converted the agent since.
    if agent.has_file()? || agent_with_key(&*transaction, key)?.as_deref() != Some(agent.name) {
        return Ok(None);
    }
    let changed = change(&*transaction)?;
    transaction.commit().map_err(Error::from_commit)?;
    Ok(Some(changed))
}
