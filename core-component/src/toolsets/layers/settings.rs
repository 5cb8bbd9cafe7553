//! The settings of the toolset.

use serde::{Deserialize, Deserializer, de};

use crate::context::Context;
use crate::toolset::{Setting, Takes};

/// The default of `recent_capacity`, as in spec 002.
const CAPACITY: u32 = 10;
const LEAST_CAPACITY: u32 = 2;
const MOST_CAPACITY: u32 = 100;

/// The settings as they are described to hosts.
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
            ("auto", "The first model that the host can ask, or else the built-in summariser"),
            ("sampling", "The model of the MCP client"),
            ("anthropic", "The Messages API of Anthropic"),
            ("openai", "An endpoint that is compatible with OpenAI's, such as a local model"),
            ("built-in", "No model: within the call, in words of the memories themselves"),
            ("agent", "The agent: it clears the memories with a summary of its own"),
        ]),
        default_text: "auto",
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

/// The settings in the context of a call. The setting `file` is not among them: only the host uses
/// it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct LayersSettings {
    pub summarizer: Summarizer,
    /// The number of recent memories that are summarised at once.
    #[serde(deserialize_with = "capacity")]
    pub recent_capacity: u32,
}

impl Default for LayersSettings {
    fn default() -> Self {
        Self { summarizer: Summarizer::default(), recent_capacity: CAPACITY }
    }
}

impl LayersSettings {
    /// The settings of a call.
    pub fn from_context(context: &Context) -> Self {
        context.settings.of("layers").expect("checked before the call")
    }

    /// The model that the settings name, if the host cannot ask it in this call. `None` if the host
    /// can, or if the settings do not name one model.
    pub fn missing_model(&self, context: &Context) -> Option<&'static str> {
        match self.summarizer {
            Summarizer::Auto | Summarizer::BuiltIn | Summarizer::Agent => None,
            model => self.models(context).is_empty().then_some(model.name()),
        }
    }

    /// The models that may be asked for a summary in this call, the preferred one first.
    pub fn models<'a>(&self, context: &'a Context) -> Vec<&'a str> {
        let models = context.models.iter().map(String::as_str);
        match self.summarizer {
            Summarizer::Auto => models.collect(),
            Summarizer::BuiltIn | Summarizer::Agent => Vec::new(),
            model => models.filter(|name| *name == model.name()).collect(),
        }
    }
}

/// Who writes summaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Summarizer {
    #[default]
    Auto,
    Sampling,
    Anthropic,
    #[serde(rename = "openai")]
    OpenAi,
    BuiltIn,
    Agent,
}

impl Summarizer {
    /// The value of the setting, which is also stored in the table `layers_summaries`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Sampling => "sampling",
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::BuiltIn => "built-in",
            Self::Agent => "agent",
        }
    }
}

fn capacity<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let capacity = u32::deserialize(deserializer)?;
    if (LEAST_CAPACITY..=MOST_CAPACITY).contains(&capacity) {
        Ok(capacity)
    } else {
        Err(de::Error::custom(format_args!(
            "`recent_capacity` is {capacity}: it is {LEAST_CAPACITY} to {MOST_CAPACITY}"
        )))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_capacity_is_2_to_100_and_a_summariser_one_of_those_that_there_are() {
        let of = |settings| serde_json::from_value::<LayersSettings>(settings);
        for capacity in [2, 10, 100] {
            let settings = of(json!({"recent_capacity": capacity})).expect("settings");
            assert_eq!(settings.recent_capacity, capacity);
        }
        for bad in [
            json!({"recent_capacity": 1}),
            json!({"recent_capacity": 101}),
            json!({"recent_capacity": "10"}),
            json!({"summarizer": "somebody"}),
            json!({"capacity": 10}),
        ] {
            assert!(of(bad.clone()).is_err(), "{bad}");
        }
        let default = of(json!({})).expect("settings");
        assert_eq!((default.recent_capacity, default.summarizer), (10, Summarizer::Auto));
    }
}
