//! What a host says about a call: never a model.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::time::{Date, Timestamp};

/// Which toolsets are mounted, and how.
///
/// As JSON: `{"toolsets": ["sessions"], "records": {"format": "sqlite"}}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Settings {
    /// The mounted toolsets by name; `all` stands for every one.
    pub toolsets: Vec<String>,
    /// What was set of each toolset's own settings, by its name.
    #[serde(flatten)]
    pub own: BTreeMap<String, Map<String, Value>>,
}

impl Settings {
    /// A toolset's own settings.
    ///
    /// # Errors
    ///
    /// Where a value is not what the setting takes.
    pub(crate) fn of<T: DeserializeOwned>(&self, toolset: &str) -> Result<T, serde_json::Error> {
        let own = self.own.get(toolset).cloned().unwrap_or_default();
        T::deserialize(Value::Object(own))
    }
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
