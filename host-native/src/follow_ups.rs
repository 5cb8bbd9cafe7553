//! Carries out follow-ups: asks models for summaries and vectors after the call was answered.

use crate::agent_memory::AgentMemory;
use crate::background::InProgress;
use crate::caller::Caller;
use crate::model::{Model, SummaryRequest};
use crate::outcome::{CallError, Category, FollowUp, Outcome};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[cfg(test)]
#[path = "follow_ups_tests.rs"]
mod tests;

/// The lease of a follow-up, and the time between two polls for follow-ups that wait in storage. It is
/// longer than twice [`MAX_TIMEOUT`](crate::model::MAX_TIMEOUT), so the model has usually answered
/// before the lease ends.
const LEASE: Duration = Duration::from_secs(90);

/// The pauses between attempts to claim or answer a follow-up while another writer holds the lock. If the
/// waits for the lock are long, the lease may end before the last attempt. Then another host may take the
/// follow-up, and the later answer changes nothing.
const PAUSES: [Duration; 3] =
    [Duration::from_secs(1), Duration::from_secs(4), Duration::from_secs(15)];

impl AgentMemory {
    /// Carries out the follow-ups that wait in storage, now and every 90 s. A server calls this when its
    /// models can be asked.
    ///
    /// The work goes on in the background until [`close`](AgentMemory::close) or the next `resume`.
    /// Nothing happens if there is no model to ask.
    pub fn resume(&self, caller: Caller) {
        self.resume_every(LEASE, caller);
    }

    fn resume_every(&self, interval: Duration, caller: Caller) {
        if !self.asks_models(&caller) {
            return;
        }
        let memory = self.clone();
        let polling = self.in_progress().begin_polling();
        self.in_background(async move {
            loop {
                match memory.pending(caller.clone()).await {
                    Ok(outcome) => memory.carry_out(outcome.follow_ups, &caller).await,
                    Err(error) => tracing::warn!(%error, "follow-ups cannot be listed"),
                }
                let slept = polling.run_until_cancelled(tokio::time::sleep(interval)).await;
                if slept.is_none() {
                    return;
                }
            }
        });
    }

    /// Carries out follow-ups in the background, after their call was answered.
    pub(crate) fn follow_up(&self, follow_ups: Vec<FollowUp>, caller: Caller) {
        if follow_ups.is_empty() || !self.asks_models(&caller) {
            return;
        }
        let memory = self.clone();
        self.in_background(async move { memory.carry_out(follow_ups, &caller).await });
    }

    fn asks_models(&self, caller: &Caller) -> bool {
        self.embedder().is_some() || !self.models_of(caller).is_empty()
    }

    /// Waits at most `within` for the follow-ups in progress. Those that have not ended are stopped,
    /// and stay in storage for the next process.
    pub async fn close(&self, within: Duration) {
        let InProgress { tasks, closing, end, .. } = self.in_progress();
        tasks.close();
        closing.cancel();
        if tokio::time::timeout(within, tasks.wait()).await.is_err() {
            tracing::info!(
                "summaries and vectors that were not finished are left for the next start"
            );
        }
        end.cancel();
    }

    fn in_background(&self, work: impl Future<Output = ()> + Send + 'static) {
        let InProgress { tasks, end, .. } = self.in_progress().clone();
        if !tasks.is_closed() {
            tasks.spawn(async move { end.run_until_cancelled_owned(work).await });
        }
    }

    async fn carry_out(&self, follow_ups: Vec<FollowUp>, caller: &Caller) {
        let mut waiting = VecDeque::from(follow_ups);
        while let Some(follow_up) = waiting.pop_front() {
            // If there is no model for a kind of follow-up, it is left to the program, which asks its
            // models by itself.
            let can_be_asked = match follow_up.kind.as_str() {
                "embedding" => self.embedder().is_some(),
                _ => !self.models_of(caller).is_empty(),
            };
            if !can_be_asked {
                continue;
            }
            match self.carry_out_one(&follow_up, caller).await {
                Ok(next) => waiting.extend(next),
                Err(error) => {
                    tracing::warn!(id = follow_up.id, error, "a follow-up is left for later");
                }
            }
        }
    }

    /// Carries out a follow-up, and returns the further follow-ups that its answer leaves.
    async fn carry_out_one(
        &self,
        follow_up: &FollowUp,
        caller: &Caller,
    ) -> Result<Vec<FollowUp>, String> {
        if !["summary", "embedding"].contains(&follow_up.kind.as_str()) {
            return Err(format!("its kind `{}` is unknown", follow_up.kind));
        }
        let id = &follow_up.id;
        let claimed = self.unless_busy(id, || self.claim(id, LEASE)).await;
        let claimed = claimed.map_err(|error| error.to_string())?;
        // Follow-ups of some kinds get their full payload only with the claim.
        let claimed_one = claimed.follow_ups.iter().find(|of| of.id == *id).cloned();
        if answer_of(Ok(claimed))? != Value::Bool(true) {
            return Ok(Vec::new());
        }
        let follow_up = claimed_one.as_ref().unwrap_or(follow_up);
        let answer = match follow_up.kind.as_str() {
            "embedding" => self.embedding(follow_up).await?,
            _ => self.summary(follow_up, caller).await?,
        };
        let answer = answer.to_string();
        let answered = self.unless_busy(id, || self.answer(id, &answer, caller.clone())).await;
        let outcome = answered.map_err(|error| error.to_string())?;
        let next = outcome.follow_ups.clone();
        answer_of(Ok(outcome)).map(|_| next)
    }

    /// Asks models for the answer to a follow-up of the kind `summary`.
    async fn summary(&self, follow_up: &FollowUp, caller: &Caller) -> Result<Value, String> {
        let mut request: SummaryRequest = serde_json::from_str(&follow_up.payload)
            .map_err(|error| format!("its request cannot be read: {error}"))?;
        let models = self.models_of(caller);
        let timeout = self.model_timeout();
        request.deadline = Instant::now() + timeout;
        let answer = match tokio::time::timeout(timeout, summary(&request, &models)).await {
            Ok(answer) => answer,
            Err(_) => json!({ "error": format!("no model answered within {timeout:?}") }),
        };
        if let Some(error) = answer.get("error") {
            tracing::warn!(id = follow_up.id, %error, "the built-in summary is used");
        }
        Ok(answer)
    }

    /// Makes a call for a follow-up. While another writer holds the lock, repeats the call after
    /// growing pauses. A pause ends when the memory begins to close.
    async fn unless_busy<C>(&self, id: &str, call: impl Fn() -> C) -> Result<Outcome, CallError>
    where
        C: Future<Output = Result<Outcome, CallError>>,
    {
        for pause in PAUSES {
            let outcome = call().await?;
            if !outcome.answer.as_ref().is_err_and(|error| error.category == Category::Busy) {
                return Ok(outcome);
            }
            tracing::info!(id, ?pause, "another writer is busy: the follow-up is tried again");
            let closing = &self.in_progress().closing;
            closing.run_until_cancelled(tokio::time::sleep(pause)).await;
        }
        call().await
    }
}

/// The answer of the first model that gives one, in the order of the request.
async fn summary(request: &SummaryRequest, models: &[Arc<dyn Model>]) -> Value {
    let mut errors = Vec::new();
    for name in &request.models {
        let Some(model) = models.iter().find(|model| model.name() == name) else { continue };
        match model.summarize(request).await {
            Ok(summary) if !summary.trim().is_empty() => {
                return json!({ "model": name, "summary": summary });
            }
            Ok(_) => errors.push(format!("`{name}` answered nothing")),
            Err(error) => errors.push(format!("`{name}`: {error}")),
        }
    }
    if errors.is_empty() {
        errors.push("no model can be asked".to_owned());
    }
    json!({ "error": errors.join("; ") })
}

fn answer_of(outcome: Result<Outcome, CallError>) -> Result<Value, String> {
    let outcome = outcome.map_err(|error| error.to_string())?;
    let answer = outcome.answer.map_err(|error| error.message)?;
    serde_json::from_str(&answer).map_err(|error| error.to_string())
}
