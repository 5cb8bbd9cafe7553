//! What a host says about a call: never a model.

use serde::Deserialize;

use crate::time::{Date, Timestamp};

/// Which toolsets are mounted, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Settings {
    /// The mounted toolsets by name; `all` stands for every one.
    pub toolsets: Vec<String>,
    /// How `records` keeps memories.
    #[serde(default)]
    pub records: RecordsSettings,
}

/// The settings of the `records` toolset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct RecordsSettings {
    /// The format for agents that have no memories yet.
    pub format: RecordsFormat,
    /// The most bytes of memories that an agent may have; the format's default where it is absent.
    pub max_bytes: Option<u64>,
    /// The most memories that an agent may have; the format's default where it is absent.
    pub max_memories: Option<u64>,
}

/// How memories are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordsFormat {
    /// One JSON file an agent, as seed 001 has it.
    #[default]
    Json,
    /// One SQLite database for all agents.
    Sqlite,
}

/// The circumstances of one call.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Context {
    /// The settings of the host.
    pub settings: Settings,
    /// When the call arrived.
    pub now: Timestamp,
    /// The local zone's offset from UTC at that moment, in minutes, east positive.
    pub utc_offset_minutes: i32,
    /// The agents that the caller may reach; all where it is absent.
    #[serde(default)]
    pub agents: Option<Vec<String>>,
    /// A number that is new for each call, from which all of the call's randomness comes.
    pub seed: u64,
}

impl Context {
    /// Whether the caller may reach an agent.
    pub(crate) fn reaches(&self, agent: &str) -> bool {
        self.agents.as_ref().is_none_or(|agents| agents.iter().any(|one| one == agent))
    }

    /// The date that the machine's local calendar shows at the moment of the call.
    pub(crate) fn today(&self) -> Date {
        self.now.date_at(self.utc_offset_minutes)
    }
}
