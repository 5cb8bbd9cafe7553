//! The follow-ups of the toolset. In a follow-up, the host asks its embedder for vectors of the
//! texts of all mounted toolsets.
//!
//! A follow-up is for all texts of an owner that wait for a vector. Its id is the number of the
//! owner. Claiming the follow-up chooses a batch of these texts.

use serde_json::{Value, json};

use super::settings::MemorySettings;
use crate::budget::Budget;
use crate::error::{Code, Error};
use crate::follow_up::{EmbeddingAnswer, FollowUp, MAX_PENDING};
use crate::ranking::Query;
use crate::source::{Collector, OwnedCollection, Request};
use crate::storage;
use crate::tool::{Call, Checked, Source};
use crate::toolset::FollowUps;
use crate::vectors::{self, Answer, Answered, Task, Waiting};

/// The maximum number of passes over the entries in a claim. If all texts that a pass finds have
/// vectors already, another pass follows.
const MAX_PASSES: usize = 16;

pub(super) const FOLLOW_UPS: FollowUps = FollowUps {
    model_setting: None,
    pending,
    claim: |call, owner, seconds| claim(call, owner, seconds).map_err(Into::into),
    answer: |call, owner, payload| answer(call, owner, payload).map_err(Into::into),
};

fn pending(call: &Call<'_>) -> Checked<()> {
    let Some(model) = &call.context.embedder else { return Ok(()) };
    let (waiting, passed) = pass(call, Waiting::for_owners(model, call.context.now));
    let mut left = call.follow_ups.borrow_mut();
    let room = MAX_PENDING.saturating_sub(left.len());
    let owners = waiting.owners().into_iter().take(room);
    left.extend(owners.map(|owner| FollowUp::for_vectors(owner, model)));
    passed
}

/// Goes through the entries that the caller may use, and collects texts that wait for vectors.
/// Texts that cannot be read wait for a later pass.
///
/// # Errors
///
/// The error of the first toolset that cannot be read. All other toolsets are read nevertheless.
fn pass(call: &Call<'_>, waiting: Waiting) -> (Waiting, Checked<()>) {
    let context = call.context;
    let request = Request {
        query: Query::in_language("", MemorySettings::new(context).usual_language()),
        vectors: Task::Collect(waiting),
        agent: None,
        repo_root: None,
        from: None,
        to: None,
        asked_days: Vec::new(),
        lists_days: false,
        zone: context.zone.clone(),
        now: context.now,
        include_archived: true,
        ignores_indexes: false,
        budget: Budget::for_search(),
    };
    let mut passed = Ok(());
    let whole = request.budget.reserve();
    for (at, Source { collect, .. }) in call.sources.iter().enumerate() {
        request.budget.begin(whole, call.sources.len() - at);
        // Reads the other toolsets even after an error: a toolset may have no storage yet.
        passed = passed.and(collect(call, &mut Collector::new(&request)));
    }
    match request.vectors {
        Task::Collect(waiting) => (waiting, passed),
        Task::None | Task::Compare(_) => unreachable!("it was made so above"),
    }
}

/// Chooses a batch of waiting texts, and adds a follow-up with these texts for the host. Returns
/// false if no text waits.
fn claim(call: &Call<'_>, owner: i64, seconds: u32) -> Result<bool, Error> {
    let Some(model) = &call.context.embedder else { return Ok(false) };
    let mut takes_failed = false;
    let mut chosen = None;
    for _ in 0..MAX_PASSES {
        let waiting = Waiting::for_batch(model, call.context.now, owner, seconds, takes_failed);
        let (waiting, _) = pass(call, waiting);
        let goes_on = waiting.has_noted() || (!takes_failed && waiting.has_failed());
        takes_failed = !waiting.has_noted();
        chosen = waiting.into_batch()?;
        if chosen.is_some() || !goes_on {
            break;
        }
    }
    let Some(batch) = chosen else { return Ok(false) };
    let payload = json!({ "models": [model], "texts": batch.texts, "batch": batch.digest });
    call.follow_ups.borrow_mut().push(FollowUp::with_payload(owner, &payload));
    Ok(true)
}

/// Stores the vectors of a batch, and adds the next follow-up of the owner. Claiming it finds out
/// whether further texts wait.
///
/// # Errors
///
/// `INVALID_INPUT` if the vectors are refused. The batch then waits before the next try, as after
/// an error of the embedder.
fn answer(call: &Call<'_>, owner: i64, payload: Value) -> Result<Value, Error> {
    let given: EmbeddingAnswer = serde_json::from_value(payload).map_err(|_| {
        let message = "the answer is neither `{\"batch\", \"model\", \"vectors\"}` with numbers nor \
                       `{\"batch\", \"error\"}`";
        Error::new(Code::InvalidInput, message)
    })?;
    let embedder = call.context.embedder.as_deref();
    let Some(model) = embedder else { return Ok(json!({ "applied": false })) };
    let (batch, answer) = match &given {
        EmbeddingAnswer::Failed { batch, .. } => (batch, Answer::Failed),
        EmbeddingAnswer::Vectors { batch, model: of, vectors } => {
            if of != model {
                let message = format!("the vectors are of `{of}`, not of the embedder `{model}`");
                return Err(Error::new(Code::InvalidInput, message));
            }
            (batch, Answer::Vectors(vectors))
        }
    };
    let owned = collections(call)?.into_iter().filter(|of| of.owner.number() == owner);
    for OwnedCollection { place, name, .. } in owned {
        let now = call.context.now;
        let of = vectors::Of { storage: call.storage, place: &place, name: &name, model, now };
        match vectors::answer(&of, batch, answer)? {
            None => {}
            Some(Answered::Refused(reason)) => return Err(Error::new(Code::InvalidInput, reason)),
            Some(Answered::Failed) => return Ok(json!({ "applied": true, "stored": 0 })),
            Some(Answered::Stored(stored)) => {
                call.follow_ups.borrow_mut().push(FollowUp::for_vectors(owner, model));
                return Ok(json!({ "applied": true, "stored": stored }));
            }
        }
    }
    Ok(json!({ "applied": false }))
}

/// Returns the collections of all toolsets that can be read.
///
/// # Errors
///
/// The first error, if no toolset has a collection that can be read.
pub(super) fn collections(call: &Call<'_>) -> Result<Vec<OwnedCollection>, Error> {
    let mut all = Vec::new();
    let mut failed = None;
    for source in &call.sources {
        match (source.collections)(call) {
            Ok(found) => all.extend(found),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    match failed {
        Some(error) if all.is_empty() => Err(error.into()),
        _ => Ok(all),
    }
}

/// Whether the error means that a place has no vectors because it does not exist.
pub(super) fn has_none(error: &storage::Error) -> bool {
    error.code == storage::ErrorCode::NotFound
}
