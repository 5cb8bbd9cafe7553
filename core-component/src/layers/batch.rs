//! Recent memories that become one of the compost.
//!
//! A memory that fills the layer is committed by itself first. What follows is a transaction of its
//! own, so a crash between the two leaves the memories where they are: the next add or clear
//! summarises them.

use super::agent::Agent;
use super::error::Error;
use super::settings::Summarizer;
use super::sqlite::Writer;
use super::summarize::summarize;

/// The most memories of one batch: more than any setting lets gather.
const MAX_BATCH: u32 = 100_000;

/// A batch that is in the compost.
pub(super) struct Composted {
    pub compost_id: i64,
    pub count: usize,
}

/// Summarises the oldest recent memories where there are as many as the settings say; none where
/// there are fewer, as when another call has done it. How many are left is counted up to that.
pub(super) fn summarize_oldest(agent: &Agent<'_>) -> Result<(Option<Composted>, u32), Error> {
    let settings = agent.settings();
    let enough = settings.summarized_at();
    agent.change(|writer| {
        let done = match writer.reader().recent_count(enough)? < enough {
            true => None,
            false => compost(writer, settings.recent_capacity, None)?,
        };
        Ok((done, writer.reader().recent_count(enough)?))
    })
}

/// Summarises all recent memories, or takes the agent's own summary of them; none where there are
/// none.
pub(super) fn compost_all(
    writer: &mut Writer<'_>,
    summary: Option<&str>,
) -> Result<Option<Composted>, Error> {
    compost(writer, MAX_BATCH, summary)
}

fn compost(
    writer: &mut Writer<'_>,
    most: u32,
    summary: Option<&str>,
) -> Result<Option<Composted>, Error> {
    let memories = writer.reader().oldest_recent(most)?;
    if memories.is_empty() {
        return Ok(None);
    }
    let compost_id = match summary {
        Some(summary) => writer.compost(&memories, summary, Summarizer::Agent)?,
        None => writer.compost(&memories, &summarize(&memories), Summarizer::BuiltIn)?,
    };
    Ok(Some(Composted { compost_id, count: memories.len() }))
}
