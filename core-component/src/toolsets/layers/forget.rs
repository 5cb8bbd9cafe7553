//! Removing a text from all layers of the agents, or one row of a layer.

use super::agent::Agent;
use super::agents::names;
use super::database::Rows;
use super::error::Error;
use super::search::owner;
use crate::forget::{FREE_PAGES, Forgetting, Found, MAX_ROWS, Wanted};
use crate::names::AgentName;
use crate::source::EntryId;
use crate::tool::{Call, Checked, Forget};

pub(super) const FORGET: Forget = Forget { toolset: "layers", run };

/// Removes the wanted text or row from the layers of all agents that the caller may use.
fn run(call: &Call<'_>, forgetting: &mut Forgetting<'_>) -> Checked<()> {
    if matches!(forgetting.wanted, Wanted::Record(_) | Wanted::Document(_)) {
        return Ok(());
    }
    forgetting.remains(FREE_PAGES);
    for name in names(call)? {
        let Some(agent) = AgentName::parse(&name).filter(|_| forgetting.is_for(&name)) else {
            continue;
        };
        let found = Agent::open(call, &agent).and_then(|agent| {
            if forgetting.dry_run {
                found(&agent, forgetting.wanted)
            } else {
                forget(&agent, forgetting.wanted)
            }
        });
        match found {
            Ok(found) => add(&name, found, forgetting),
            Err(error) => {
                let message = error.message();
                forgetting.leave(format!(
                    "layers of agent `{name}` were not searched or not changed: {message}"
                ));
            }
        }
    }
    Ok(())
}

fn found(agent: &Agent<'_>, wanted: Wanted<'_>) -> Result<Rows, Error> {
    agent.read(|reader| match wanted {
        Wanted::Text(secret) => reader.with_text(secret, MAX_ROWS),
        Wanted::Row { layer, id } => Ok(row(layer, id, reader.has_row(layer, id)?)),
        Wanted::Record(_) | Wanted::Document(_) => Ok(Rows::default()),
    })
}

fn forget(agent: &Agent<'_>, wanted: Wanted<'_>) -> Result<Rows, Error> {
    let forgotten = agent.change_existing(|writer| match wanted {
        Wanted::Text(secret) => writer.forget(secret, MAX_ROWS),
        Wanted::Row { layer, id } => Ok(row(layer, id, writer.forget_row(layer, id)?)),
        Wanted::Record(_) | Wanted::Document(_) => Ok(Rows::default()),
    });
    Ok(forgotten?.unwrap_or_default())
}

/// The row with this id, or no row if `is_there` is false.
fn row(layer: &str, id: i64, is_there: bool) -> Rows {
    let rows = is_there.then(|| (layer.to_owned(), vec![id])).into_iter().collect();
    Rows { rows, has_more: false }
}

fn add(agent: &str, found: Rows, forgetting: &mut Forgetting<'_>) {
    let Rows { rows, has_more } = found;
    for (layer, ids) in rows {
        for id in ids {
            forgetting.add(Found::entry(owner(agent), EntryId::Number(id), Some(&layer)));
        }
    }
    if has_more {
        forgetting.leave(format!("more layers of agent `{agent}` may have it: call again"));
    }
}
