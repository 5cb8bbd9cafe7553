//! The settings of the toolset.

use serde::{Deserialize, Deserializer, de};

use crate::context::Context;
use crate::toolset::{Setting, Takes};

/// Seed 002: ten recent memories.
const CAPACITY: u32 = 10;
const LEAST_CAPACITY: u32 = 2;
const MOST_CAPACITY: u32 = 100;

/// How they are described to hosts.
pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        name: "file",
        takes: Takes::File,
        default_text: "agent_memory.db in the data directory",
        help: "Database of the layers",
        flag: "layers-db",
        environment: &["AGENT_MEMORY_DB"],
    },
    Setting {
        name: "summarizer",
        takes: Takes::OneOf(&[
            ("built-in", "Within the call, in words of the memories themselves"),
            ("agent", "The agent is asked to, and clears them with a summary of its own"),
        ]),
        default_text: "built-in",
        help: "Who summarises recent memories when there are too many",
        flag: "summarizer",
        environment: &[],
    },
    Setting {
        name: "recent_capacity",
        takes: Takes::Within { least: LEAST_CAPACITY, most: MOST_CAPACITY, default: CAPACITY },
        default_text: "10",
        help: "How many recent memories are summarised at once, 2 to 100",
        flag: "recent-capacity",
        environment: &[],
    },
];

/// What was set; where the file is, the host knows alone.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct LayersSettings {
    pub summarizer: Summarizer,
    /// As many recent memories are summarised.
    #[serde(deserialize_with = "capacity")]
    pub recent_capacity: u32,
}

impl Default for LayersSettings {
    fn default() -> Self {
        Self { summarizer: Summarizer::default(), recent_capacity: CAPACITY }
    }
}

impl LayersSettings {
    /// Those of a call.
    pub fn of(context: &Context) -> Self {
        context.settings.of("layers").expect("checked before the call")
    }

    /// How many recent memories are summarised without the agent's doing.
    pub fn summarized_at(&self) -> u32 {
        match self.summarizer {
            Summarizer::BuiltIn => self.recent_capacity,
            Summarizer::Agent => 2 * self.recent_capacity,
        }
    }
}

/// Who summarises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Summarizer {
    #[default]
    BuiltIn,
    Agent,
}

impl Summarizer {
    /// As the log has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::Agent => "agent",
        }
    }
}

fn capacity<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let capacity = u32::deserialize(deserializer)?;
    match (LEAST_CAPACITY..=MOST_CAPACITY).contains(&capacity) {
        true => Ok(capacity),
        false => Err(de::Error::custom(format_args!(
            "`recent_capacity` is {capacity}: it is {LEAST_CAPACITY} to {MOST_CAPACITY}"
        ))),
    }
}
