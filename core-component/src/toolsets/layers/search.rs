//! The memories of one agent, as entries of a search.
//!
//! There are few core and recent memories and one task: a search reads them all. Episodes and the
//! compost have an index.

use super::agent::Agent;
use super::agents::names;
use super::database::{LayerRows, OF_TASK, Reader, Searched, collection_of};
use super::error::Error;
use super::memory::{Compost, Episode, Memory, undated_warning};
use super::place::LABEL;
use crate::budget::OF_ENTRY;
use crate::index::{RowIndex, number_of};
use crate::names::AgentName;
use crate::ranking::cost;
use crate::rows::{Table, read_rows};
use crate::source::{
    Collector, DocumentKey, Entry, EntryId, OwnedCollection, Owner, ReadArguments, ReadCall,
    ReadDocuments, ReadEntries, Request,
};
use crate::storage::Place;
use crate::time::Timestamp;
use crate::tool::{Call, Checked, Source};
use crate::vectors::OfCollection;

pub(super) const SOURCE: Source = Source {
    toolset: "layers",
    keeps_by_agent: true,
    collect,
    read: |call, owner, keys| Ok(read(call, owner, keys)?),
    collections,
};

/// Adds the memories of the agent that the search asks for. Other agents are only reported as left
/// out.
fn collect(call: &Call<'_>, collector: &mut Collector<'_>) -> Checked<()> {
    let request = collector.request;
    let asked = request.agent.as_ref().map(|agent| agent.as_str().to_owned());
    let mut asked: Vec<String> = asked.into_iter().collect();
    for name in names(call)? {
        if request.vectors.is_collecting() {
            asked.extend(Some(name).filter(|name| request.is_for(&owner(name))));
        } else if request.agent.as_ref().is_none_or(|agent| agent.as_str() != name) {
            collector.leave_out(owner(&name));
        }
    }
    for name in asked.iter().filter_map(|name| AgentName::parse(name)) {
        add(&Agent::open(call, &name)?, call, collector);
    }
    Ok(())
}

fn add(agent: &Agent<'_>, call: &Call<'_>, collector: &mut Collector<'_>) {
    let request = collector.request;
    collector.begin(owner(agent.name));
    let mut indexes = Indexes {
        episodes: LayerRows::<Episode>::index(call, agent.name, request),
        compost: LayerRows::<Compost>::index(call, agent.name, request),
        core: Few::open(call, agent.name, "core_memories", request),
        recent: Few::open(call, agent.name, "recent_memories", request),
        task: Few::open(call, agent.name, "current_task", request),
    };
    let added = agent.read(|reader| {
        let layers = Layers { call, agent: agent.name, reader };
        layers.add(&mut indexes, collector)
    });
    let Indexes { episodes, compost, core, recent, task } = indexes;
    episodes.update();
    compost.update();
    for few in [core, recent, task] {
        few.end(call, added.is_ok());
    }
    if let Err(error) = added {
        collector.warn(format!("layers of agent `{}`: {}", agent.name, error.message()));
    }
}

/// The collections of the index: one for each layer of each agent that the caller may use.
fn collections(call: &Call<'_>) -> Checked<Vec<OwnedCollection>> {
    let of_agent = |agent: String| {
        TABLES.map(|table| OwnedCollection {
            owner: owner(&agent),
            place: Place::named(LABEL),
            name: collection_of(&agent, table),
        })
    };
    Ok(names(call)?.into_iter().flat_map(of_agent).collect())
}

/// The tables with memories that a search finds.
const TABLES: [&str; 5] =
    ["core_memories", "recent_memories", "current_task", "episodic_memories", "memory_compost"];

/// The vectors of a layer with few memories, for which there is no index.
struct Few<'a> {
    collection: String,
    vectors: OfCollection<'a>,
    /// Whether all memories of the layer were read.
    is_whole: bool,
}

impl<'a> Few<'a> {
    fn open(call: &Call<'_>, agent: &str, table: &str, request: &'a Request) -> Self {
        let Request { vectors, budget, .. } = request;
        let collection = collection_of(agent, table);
        let place = Place::named(LABEL);
        let vectors =
            OfCollection::open(call.storage, &place, &collection, vectors, budget, |_| None);
        Self { collection, vectors, is_whole: true }
    }

    /// Notes the text of the entry, so that it gets a vector if it has none. Returns the entry with
    /// its similarity to the query.
    fn with_similarity(&mut self, id: i64, entry: Entry) -> Entry {
        self.vectors.note(id, number_of(&entry.text), [&entry.text[..]].into_iter());
        Entry { similarity: self.vectors.of_text(&entry.text), ..entry }
    }

    fn end(self, call: &Call<'_>, is_read: bool) {
        let Self { collection, vectors, is_whole } = self;
        vectors.end(call.storage, &Place::named(LABEL), &collection, is_read && is_whole);
    }
}

pub(super) fn owner(agent: &str) -> Owner {
    Owner::new("layers").with_agent(agent)
}

/// Reads the episodes and the summaries with these keys of the index.
fn read(call: &Call<'_>, owner: &Owner, keys: &[&DocumentKey]) -> Result<ReadDocuments, Error> {
    let Some(name) = owner.agent.as_deref().and_then(AgentName::parse) else {
        return Ok(Vec::new());
    };
    let agent = Agent::open(call, &name)?;
    agent.read(|reader| {
        let layers = Layers { call, agent: agent.name, reader };
        let episode = |row| layers.episode(row);
        let compost = |row| layers.compost(row);
        let episodes = LayerRows { reader, entry: &episode };
        let composts = LayerRows { reader, entry: &compost };
        let mut read: Vec<_> = keys.iter().map(|_| None).collect();
        fill(&mut read, keys, &episodes)?;
        fill(&mut read, keys, &composts)?;
        Ok(read)
    })
}

/// Reads the rows of one layer whose keys are in `keys`. Puts each row at the index of its key in
/// `read`.
fn fill<T: Searched>(
    read: &mut [Option<ReadEntries>],
    keys: &[&DocumentKey],
    rows: &LayerRows<'_, T>,
) -> Result<(), Error> {
    let id = |(at, key): (usize, &&DocumentKey)| match key {
        DocumentKey::Row { table, key } if *table == LayerRows::<T>::NUMBER => Some((at, *key)),
        _ => None,
    };
    let (at, ids): (Vec<usize>, Vec<i64>) = keys.iter().enumerate().filter_map(id).unzip();
    for (at, entries) in at.into_iter().zip(read_rows(rows, &ids)?) {
        read[at] = entries;
    }
    Ok(())
}

struct Indexes<'a> {
    episodes: RowIndex<'a>,
    compost: RowIndex<'a>,
    core: Few<'a>,
    recent: Few<'a>,
    task: Few<'a>,
}

struct Layers<'a> {
    call: &'a Call<'a>,
    agent: &'a str,
    reader: &'a Reader<'a>,
}

impl Layers<'_> {
    fn add(&self, indexes: &mut Indexes<'_>, collector: &mut Collector<'_>) -> Result<(), Error> {
        let work = &collector.request.budget;
        let whole = work.reserve();
        work.begin(whole, 3);
        let core = self.reader.core()?;
        self.add_all("core", "get_core_memories", core, &mut indexes.core, collector);
        let mut recent = self.reader.recent(u32::MAX)?;
        recent.reverse();
        self.add_all("recent", "get_recent_memories", recent, &mut indexes.recent, collector);
        if let Some(task) = self.reader.task()? {
            let read = Some(self.read("get_current_task", ReadArguments::default()));
            let about = "current task".to_owned();
            let updated_at = task.updated_at.filter(|_| task.updated_at > task.started_at);
            let entry =
                Entry { about, updated_at, read, ..entry("task", task.task, task.started_at) };
            collector.begin_run();
            collector.add_in_time(indexes.task.with_similarity(OF_TASK, entry));
        }
        work.begin(whole, 2);
        self.add_rows(&|row: Episode| self.episode(row), &mut indexes.episodes, collector)?;
        work.begin(whole, 1);
        self.add_rows(&|row: Compost| self.compost(row), &mut indexes.compost, collector)?;
        let request = collector.request;
        if request.from.is_some() || request.to.is_some() {
            let mut undated = self.reader.undated_episodes(None)?;
            if request.include_archived {
                undated += self.reader.undated_compost(None)?;
            }
            if let Some(warning) = undated_warning(undated, "episode", "episodes") {
                collector.warn(format!("layers of agent `{}`: {warning}", self.agent));
            }
        }
        for warning in self.reader.warnings() {
            collector.warn(format!("layers of agent `{}`: {warning}", self.agent));
        }
        Ok(())
    }

    /// Adds memories, which have to be in the order of their ids. If the budget of the search is
    /// used up, adds only the newest.
    fn add_all(
        &self,
        section: &str,
        tool: &str,
        memories: Vec<Memory>,
        few: &mut Few<'_>,
        collector: &mut Collector<'_>,
    ) {
        collector.begin_run();
        let work = &collector.request.budget;
        let newest = memories.iter().rev();
        let read = newest.take_while(|one| work.take(OF_ENTRY + cost(&one.memory))).count();
        let skipped = memories.len() - read;
        few.is_whole &= skipped == 0;
        self.skip(skipped as u64, collector);
        for Memory { id, memory, created_at } in memories.into_iter().skip(skipped) {
            let read = Some(self.read(tool, ReadArguments::default()));
            let entry = entry(section, memory, created_at);
            let entry = Entry { id: Some(EntryId::Number(id)), read, ..entry };
            collector.add_in_time(few.with_similarity(id, entry));
        }
    }

    fn add_rows<T: Searched>(
        &self,
        entry: &dyn Fn(T) -> Entry,
        index: &mut RowIndex<'_>,
        collector: &mut Collector<'_>,
    ) -> Result<(), Error> {
        let rows = LayerRows { reader: self.reader, entry };
        let skipped = rows.add_to(index, collector)?;
        self.skip(skipped, collector);
        Ok(())
    }

    fn episode(&self, row: Episode) -> Entry {
        let Episode { id, memory, tags, created_at } = row;
        Entry {
            id: Some(EntryId::Number(id)),
            about: tags.join(" "),
            read: self.read_at(created_at, None),
            ..entry("episodic", memory, created_at)
        }
    }

    fn compost(&self, row: Compost) -> Entry {
        let Compost { id, summary, archived_at, .. } = row;
        Entry {
            id: Some(EntryId::Number(id)),
            is_archived: true,
            read: self.read_at(archived_at, Some(true)),
            ..entry("compost", summary, archived_at)
        }
    }

    fn skip(&self, memories: u64, collector: &mut Collector<'_>) {
        collector.skip_some(owner(self.agent), memories, "memory", "memories");
    }

    /// The call that reads the entries of a moment. `None` if the moment is not known.
    fn read_at(
        &self,
        moment: Option<Timestamp>,
        include_compost: Option<bool>,
    ) -> Option<ReadCall> {
        let moment = moment?.to_string();
        let from_date = Some(moment.clone());
        let to_date = Some(moment);
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
