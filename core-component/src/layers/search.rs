//! The memories of one agent, as entries of a search.
//!
//! Core and recent memories and the task are few, and read. Of episodes and of the compost, the index
//! finds candidates.

use super::agent::Agent;
use super::agents::names;
use super::error::Error;
use super::memory::{Compost, Episode, Memory, undated_warning};
use super::sqlite::{Candidates, Near, Reader};
use crate::ranking::{Match, cost};
use crate::source::{Entries, Entry, EntryId, Owner, ReadArguments, ReadCall};
use crate::time::Timestamp;
use crate::tool::{Call, Checked, Source};
use crate::work::OF_ENTRY;

pub(super) const SOURCE: Source = Source { toolset: "layers", collect, read: |_, _, _| Ok(None) };

/// Adds the memories of the agent that is asked for. Those of others are only named.
fn collect(call: &Call<'_>, entries: &mut Entries<'_>) -> Checked<()> {
    let request = entries.request;
    for name in names(call)? {
        if request.agent.as_ref().is_none_or(|agent| agent.as_str() != name) {
            entries.leave_out(owner(&name));
        }
    }
    let Some(name) = &request.agent else { return Ok(()) };
    let agent = Agent::open(call, name)?;
    entries.begin(owner(name.as_str()));
    let added = agent.read(|reader| Layers { call, agent: agent.name, reader, entries }.add());
    if let Err(error) = added {
        entries.warn(format!("layers of agent `{}`: {}", agent.name, error.message()));
    }
    Ok(())
}

fn owner(agent: &str) -> Owner {
    Owner { toolset: "layers", agent: Some(agent.to_owned()), ..Owner::default() }
}

struct Layers<'a, 'r> {
    call: &'a Call<'a>,
    agent: &'a str,
    reader: &'a Reader<'a>,
    entries: &'a mut Entries<'r>,
}

impl Layers<'_, '_> {
    fn add(mut self) -> Result<(), Error> {
        let work = &self.entries.request.work;
        let whole = work.share();
        work.begin(whole, 3);
        self.add_all("core", "get_core_memories", self.reader.core()?);
        let mut recent = self.reader.recent(u32::MAX)?;
        recent.reverse();
        self.add_all("recent", "get_recent_memories", recent);
        if let Some(task) = self.reader.task()? {
            let read = Some(self.read("get_current_task", ReadArguments::default()));
            let about = "current task".to_owned();
            let entry = Entry { about, read, ..entry("task", task.task, task.started_at) };
            self.entries.begin_run();
            self.entries.add_in_time(entry);
        }
        work.begin(whole, 2);
        let episodes = self.reader.ranked_episodes(self.entries.request)?;
        self.add_candidates(episodes, |layers, Episode { id, memory, tags, created_at }| Entry {
            id: Some(EntryId::Number(id)),
            about: tags.join(" "),
            read: layers.read_at(created_at, None),
            ..entry("episodic", memory, created_at)
        });
        work.begin(whole, 1);
        let compost = self.reader.ranked_compost(self.entries.request)?;
        self.add_candidates(compost, |layers, Compost { id, summary, archived_at, .. }| Entry {
            id: Some(EntryId::Number(id)),
            is_archived: true,
            read: layers.read_at(archived_at, Some(true)),
            ..entry("compost", summary, archived_at)
        });
        let request = self.entries.request;
        if request.from.is_some() || request.to.is_some() {
            let mut undated = self.reader.undated_episodes(None)?;
            if request.include_archived {
                undated += self.reader.undated_compost(None)?;
            }
            if let Some(warning) = undated_warning(undated, "episode", "episodes") {
                self.entries.warn(format!("layers of agent `{}`: {warning}", self.agent));
            }
        }
        for warning in self.reader.warnings() {
            self.entries.warn(format!("layers of agent `{}`: {warning}", self.agent));
        }
        Ok(())
    }

    /// Adds memories, which come in the order of their ids. The newest are taken first.
    fn add_all(&mut self, section: &str, tool: &str, memories: Vec<Memory>) {
        self.entries.begin_run();
        let work = &self.entries.request.work;
        let newest = memories.iter().rev();
        let read = newest.take_while(|one| work.take(OF_ENTRY + cost(&one.memory))).count();
        let skipped = memories.len() - read;
        self.skip(skipped as u64);
        for Memory { id, memory, created_at } in memories.into_iter().skip(skipped) {
            let id = Some(EntryId::Number(id));
            let read = Some(self.read(tool, ReadArguments::default()));
            self.entries.add_in_time(Entry { id, read, ..entry(section, memory, created_at) });
        }
    }

    fn add_candidates<T>(&mut self, candidates: Candidates<T>, entry: impl Fn(&Self, T) -> Entry) {
        let Candidates { rows, with_term, near, skipped } = candidates;
        self.skip(skipped);
        self.entries.count(rows, &with_term);
        for Near { row, counts, is_match, begins_run } in near {
            if begins_run {
                self.entries.begin_run();
            }
            let entry = entry(self, row);
            let request = self.entries.request;
            let is_shown = request.admits(entry.created_at, entry.is_archived);
            if counts.any() && request.admits(entry.created_at, false) && !is_shown {
                self.entries.hide(&counts);
            }
            self.entries.add_counted(entry, counts, Match::of_words(is_match));
        }
    }

    fn skip(&mut self, memories: u64) {
        self.entries.skip_some(owner(self.agent), memories, "memory", "memories");
    }

    /// The call that reads what was kept at a moment.
    fn read_at(
        &self,
        moment: Option<Timestamp>,
        include_compost: Option<bool>,
    ) -> Option<ReadCall> {
        let moment = moment?.to_string();
        let (from_date, to_date) = (Some(moment.clone()), Some(moment));
        let arguments =
            ReadArguments { from_date, to_date, include_compost, ..ReadArguments::default() };
        Some(self.read("search_episodic_memories", arguments))
    }

    fn read(&self, tool: &str, arguments: ReadArguments) -> ReadCall {
        let agent_id = Some(self.agent.to_owned());
        let tool = self.call.listed("layers", tool);
        ReadCall { tool, arguments: ReadArguments { agent_id, ..arguments } }
    }
}

fn entry(section: &str, text: String, created_at: Option<Timestamp>) -> Entry {
    Entry {
        id: None,
        path: None,
        section: Some(section.to_owned()),
        created_at,
        day: None,
        text,
        about: String::new(),
        importance: 0,
        is_archived: false,
        read: None,
        ..Entry::default()
    }
}
