//! The context of a call, which the host gives. A model cannot set it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::time::{Date, Timestamp};
use crate::zone::Zone;

/// The mounted toolsets and their settings.
///
/// As JSON: `{"toolsets": ["sessions"], "records": {"format": "sqlite"}}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Settings {
    /// The names of the mounted toolsets; `all` mounts every one.
    pub toolsets: Vec<String>,
    /// The settings of each toolset, by the toolset's name. Settings left out have their default.
    #[serde(flatten)]
    pub own: BTreeMap<String, Map<String, Value>>,
}

impl Settings {
    /// The settings of one toolset.
    ///
    /// # Errors
    ///
    /// If a setting has a value that it does not accept.
    pub(crate) fn of<T: DeserializeOwned>(&self, toolset: &str) -> Result<T, serde_json::Error> {
        let own = self.own.get(toolset).cloned().unwrap_or_default();
        T::deserialize(Value::Object(own))
    }
}

/// A text with its vector, as the embedder gave it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct EmbeddedText {
    /// The text.
    pub text: String,
    /// 1 to 4,096 finite numbers.
    pub vector: Vec<f32>,
}

/// The context of one call.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Context {
    /// The settings of the host.
    pub settings: Settings,
    /// When the call arrived.
    pub now: Timestamp,
    /// The caller's time zone. Without one, it is UTC.
    #[serde(default)]
    pub zone: Zone,
    /// The agents that the caller may use and hear of. `None` means all. If there is exactly one, a
    /// request that names no agent is for that agent.
    #[serde(default)]
    pub agents: Option<Vec<String>>,
    /// The stores that the caller may use and hear of. `None` means all. If there is exactly one, a
    /// request that names no store is for that store.
    #[serde(default)]
    pub stores: Option<Vec<String>>,
    /// The models that the host can ask in follow-ups of this caller, the preferred one first.
    #[serde(default)]
    pub models: Vec<String>,
    /// The model that the host asks for the vectors of texts, if there is one.
    #[serde(default)]
    pub embedder: Option<String>,
    /// The vector that an earlier run of the same call asked the host for, with its text.
    #[serde(default)]
    pub vector: Option<EmbeddedText>,
    /// The random seed, a new one for each call. All randomness of the component comes from it.
    pub seed: u64,
}

impl Context {
    /// Whether the caller may use an agent.
    pub(crate) fn reaches(&self, agent: &str) -> bool {
        self.agents.as_ref().is_none_or(|agents| agents.iter().any(|one| one == agent))
    }

    /// Whether the caller may use a store.
    pub(crate) fn reaches_store(&self, store: &str) -> bool {
        self.stores.as_ref().is_none_or(|stores| stores.iter().any(|one| one == store))
    }

    /// The only agent that the caller may use, if there is exactly one.
    pub(crate) fn only_agent(&self) -> Option<&str> {
        only(self.agents.as_deref())
    }

    /// The only store that the caller may use, if there is exactly one.
    pub(crate) fn only_store(&self) -> Option<&str> {
        only(self.stores.as_deref())
    }

    /// The date of the call in the caller's time zone.
    pub(crate) fn today(&self) -> Date {
        self.zone.date_at(self.now)
    }
}

fn only(names: Option<&[String]>) -> Option<&str> {
    let (first, others) = names?.split_first()?;
    others.iter().all(|name| name == first).then_some(first)
}
