//! The memories of one agent, as entries of a search.

use super::agent::Agent;
use super::agents::names;
use super::error::{Code, Error};
use super::line::Line;
use super::sqlite::Position;
use crate::source::{Entries, Entry, Owner};
use crate::tool::{Call, Checked, Source};

/// The number of rows that are read at once.
const BATCH: u32 = 1_000;

pub(super) const SOURCE: Source = Source { toolset: "layers", collect, read: |_, _, _| Ok(None) };

/// Adds the memories of the agent that is asked for. Those of others are only named.
fn collect(call: &Call<'_>, entries: &mut Entries<'_>) -> Checked<()> {
    let owner = |agent: &str| Owner {
        toolset: "layers",
        agent: Some(agent.to_owned()),
        ..Owner::default()
    };
    let request = entries.request;
    for name in names(call)? {
        if request.agent.as_ref().is_none_or(|agent| agent.as_str() != name) {
            entries.leave_out(owner(&name));
        }
    }
    let Some(name) = &request.agent else { return Ok(()) };
    let agent = Agent::open(call, name)?;
    entries.begin(owner(name.as_str()));
    match add(&agent, entries) {
        Err(error) if error.code == Code::CorruptedData => {
            entries.warn(format!("layers of agent `{}`: {}", agent.name, error.message()));
            Ok(())
        }
        added => Ok(added?),
    }
}

fn add(agent: &Agent<'_>, entries: &mut Entries<'_>) -> Result<(), Error> {
    agent.read(|reader| {
        let mut layer = None;
        let mut next = Some(Position::START);
        while let Some(start) = next {
            let (lines, after) = reader.page_with_ids(start, BATCH)?;
            for (id, line) in lines {
                let entry = entry(id, line);
                if entry.section != layer {
                    layer.clone_from(&entry.section);
                    entries.begin_run();
                }
                entries.add_in_time(entry);
            }
            next = after;
        }
        Ok(())
    })
}

fn entry(id: i64, line: Line) -> Entry {
    let (section, text, about, created_at) = match line {
        Line::Core { memory, created_at } => ("core", memory, String::new(), created_at),
        Line::Recent { memory, created_at } => ("recent", memory, String::new(), created_at),
        Line::Task { task, started_at, .. } => {
            ("task", task, "current task".to_owned(), started_at)
        }
        Line::Episode { memory, tags, created_at } => {
            ("episodic", memory, tags.join(" "), created_at)
        }
        Line::Compost { summary, archived_at, .. } => {
            ("compost", summary, String::new(), archived_at)
        }
    };
    Entry {
        id: Some(id.to_string()),
        path: None,
        section: Some(section.to_owned()),
        created_at,
        day: None,
        text,
        about,
        importance: 0,
        is_archived: section == "compost",
        read: None,
        unread: None,
    }
}
