//! A resumption: the parts that an agent needs to go on. Each toolset brings its own parts, see
//! [`Resume`](crate::tool::Resume).

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
    /// The items, not all of them if they are many. The first ones are the last to be left out.
    pub items: Vec<Item>,
    /// Whether the items of a day are told in the reverse order, in which they stand in their document.
    pub is_reversed: bool,
    /// How many items there are in storage. Never fewer than `items`.
    pub total: u64,
    /// The documents that `total` counts, such as `the last 10 logs`, if there are others.
    pub counted_in: Option<String>,
    /// The tool that reads the rest.
    pub read: String,
}

/// An item of a part.
#[derive(Clone, Debug, Default)]
pub(crate) struct Item {
    pub text: String,
    /// The day of its document. The heading of the part names it.
    pub day: Option<Date>,
}

impl From<String> for Item {
    fn from(text: String) -> Self {
        Self { text, day: None }
    }
}

/// What a part is about. Where parts have too little room, those of the last kinds are left out first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    NextActions,
    OpenQuestions,
    /// Also the sections of a team's schema.
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
    /// None of them is empty.
    pub parts: Vec<Part>,
    /// The agents that the toolsets chose to tell of. One without any part may be among them.
    pub told: BTreeSet<String>,
    /// The other agents that the caller may use, and the stores.
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

    /// Chooses the agent to tell of among those of a place: the agent of the call, or if it names
    /// none, the only one, or else the one that another place has told of, or that `choose` returns.
    pub fn agent_among(
        &mut self,
        names: &[String],
        choose: impl FnOnce() -> Option<String>,
    ) -> Option<AgentName> {
        // Another program may have stored others.
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

    /// The only one of these agents of whom something is told already.
    fn told_among(&self, names: &[&String]) -> Option<String> {
        let mut told = names.iter().filter(|name| self.told.contains(name.as_str()));
        match (told.next(), told.next()) {
            (Some(only), None) => Some((*only).clone()),
            _ => None,
        }
    }

    /// Notes a store.
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

    /// Notes what could not be read.
    pub fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    pub fn collected(self) -> Collected {
        let Self { parts, agents, told, stores, warnings, .. } = self;
        let others = agents.difference(&told).cloned().collect();
        Collected { parts, told, others, stores, warnings }
    }
}
