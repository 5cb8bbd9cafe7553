//! A resumption: the memories that an agent needs to continue its work, in parts. Each toolset brings
//! its own parts, see [`Resume`](crate::tool::Resume).

use std::collections::BTreeSet;

use crate::names::{AgentName, name_error};
use crate::source::Owner;
use crate::time::Date;

/// The most items of a part. An answer rarely has room for more.
const MAX_ITEMS: usize = 200;

/// Items of one kind with one owner, such as the core memories of an agent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    pub title: String,
    pub owner: Owner,
    pub rank: Rank,
    /// The items, at most [`MAX_ITEMS`], the most important first: an answer without room leaves out
    /// the last ones.
    pub items: Vec<Item>,
    /// Whether the answer reverses the items of a day, to have them in the order of their document.
    pub is_reversed: bool,
    /// The number of items in storage, which is at least the length of `items`.
    pub total: u64,
    /// The documents whose items `total` counts, such as `the last 10 logs`, if there are further
    /// documents.
    pub counted_in: Option<String>,
    /// The tool that reads the rest.
    pub read: String,
}

/// An item of a part.
#[derive(Clone, Debug, Default)]
pub(crate) struct Item {
    pub text: String,
    /// The day of the document that the item is from, if any. The heading of the part names the days of
    /// its items.
    pub day: Option<Date>,
}

impl From<String> for Item {
    fn from(text: String) -> Self {
        Self { text, day: None }
    }
}

/// The subject of a part. If an answer has too little room, the parts of the last ranks are left out
/// first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    NextActions,
    OpenQuestions,
    /// Decisions, and the sections that a team's schema defines.
    Decisions,
    CurrentTask,
    CoreMemories,
    Summary,
    RecentMemories,
    EarlierMemories,
    /// Documents by their names: pages, files and items.
    #[default]
    Documents,
}

/// Collects the parts of all toolsets.
pub(crate) struct Parts<'a> {
    agent: Option<&'a AgentName>,
    /// The only repository to look at.
    pub repo_root: Option<&'a str>,
    parts: Vec<Part>,
    agents: BTreeSet<String>,
    told: BTreeSet<String>,
    stores: BTreeSet<String>,
    warnings: Vec<String>,
}

/// The parts that the toolsets have brought.
pub(crate) struct Collected {
    /// The parts. Each has at least one item.
    pub parts: Vec<Part>,
    /// The agents that the toolsets chose to report on. An agent may have no part.
    pub told: BTreeSet<String>,
    /// The names of the other agents that the caller may use.
    pub others: BTreeSet<String>,
    pub stores: BTreeSet<String>,
    pub warnings: Vec<String>,
}

impl<'a> Parts<'a> {
    pub fn new(agent: Option<&'a AgentName>, repo_root: Option<&'a str>) -> Self {
        Self {
            agent,
            repo_root,
            parts: Vec::new(),
            agents: BTreeSet::new(),
            told: BTreeSet::new(),
            stores: BTreeSet::new(),
            warnings: Vec::new(),
        }
    }

    /// Chooses the agent of a place to report on. This is the agent of the call. If the call names
    /// none, it is the only agent of the place, else the only one that another place has reported on,
    /// else the one that `choose` returns. `None` if the place does not have the call's agent, or
    /// `choose` returns none.
    pub fn agent_among(
        &mut self,
        names: &[String],
        choose: impl FnOnce() -> Option<String>,
    ) -> Option<AgentName> {
        // Another program may have stored agents with invalid names.
        let names = names.iter().filter(|name| name_error(name).is_none());
        let names: Vec<&String> = names.collect();
        self.agents.extend(names.iter().map(|name| (*name).clone()));
        let name = match (self.agent, &names[..]) {
            (Some(agent), _) => {
                names.iter().find(|name| **name == agent.as_str()).copied().cloned()
            }
            (None, [only]) => Some((*only).clone()),
            (None, _) => self.told_among(&names).or_else(choose),
        };
        let agent = AgentName::parse(&name?)?;
        self.told.insert(agent.as_str().to_owned());
        Some(agent)
    }

    /// The agent among `names` that another place has reported on, if there is exactly one.
    fn told_among(&self, names: &[&String]) -> Option<String> {
        let mut told = names.iter().filter(|name| self.told.contains(name.as_str()));
        match (told.next(), told.next()) {
            (Some(only), None) => Some((*only).clone()),
            _ => None,
        }
    }

    /// Adds the name of a store that exists.
    pub fn add_store(&mut self, name: &str) {
        self.stores.insert(name.to_owned());
    }

    /// Adds a part, unless it is empty.
    pub fn add(&mut self, mut part: Part) {
        part.total = part.total.max(part.items.len() as u64);
        part.items.truncate(MAX_ITEMS);
        if !part.items.is_empty() {
            self.parts.push(part);
        }
    }

    /// Adds a warning about something that could not be read.
    pub fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    pub fn collected(self) -> Collected {
        let Self { parts, agents, told, stores, warnings, .. } = self;
        let others = agents.difference(&told).cloned().collect();
        Collected { parts, told, others, stores, warnings }
    }
}
