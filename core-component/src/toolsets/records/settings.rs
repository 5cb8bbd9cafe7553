//! The settings of the toolset.

use serde::Deserialize;

use crate::context::Context;
use crate::toolset::{Setting, Takes};

/// The settings as they are described to hosts.
pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        name: "directory",
        takes: Takes::Directory,
        default_text: "~/.claude/agents/memories",
        help: "Directory of the records, made for its owner alone",
        flag: "memory-dir",
        environment: &["MEMORY_DIR"],
    },
    Setting {
        name: "format",
        takes: Takes::OneOf(&[
            ("json", "A file for each agent, which people and other programs read"),
            ("sqlite", "Rows of one database for all agents, for very many records"),
        ]),
        default_text: "json; sqlite on a database server",
        help: "How the records of an agent that has none yet are kept",
        flag: "records-format",
        environment: &[],
    },
    Setting {
        name: "max_bytes",
        takes: Takes::Count,
        default_text: "16777216 in JSON, which takes no more",
        help: "The most bytes of an agent's records",
        flag: "records-max-bytes",
        environment: &[],
    },
    Setting {
        name: "max_memories",
        takes: Takes::Count,
        default_text: "100000 in JSON",
        help: "The most records of an agent",
        flag: "records-max-memories",
        environment: &[],
    },
];

/// The settings in the context of a call. The setting `directory` is not among them: only the host
/// uses it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RecordsSettings {
    /// The format for agents that have no memories yet. `None`: rows on a database server,
    /// otherwise JSON.
    pub format: Option<RecordsFormat>,
    /// The maximum size of an agent's memories in bytes. `None`: the limit of the format.
    pub max_bytes: Option<u64>,
    /// The maximum number of an agent's memories. `None`: the limit of the format.
    pub max_memories: Option<u64>,
}

impl RecordsSettings {
    /// The settings of a call.
    pub fn from_context(context: &Context) -> Self {
        context.settings.of("records").expect("checked before the call")
    }
}

/// The format in which memories are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RecordsFormat {
    /// One JSON file for each agent, as spec 001 defines it.
    Json,
    /// Rows of one database for all agents.
    Sqlite,
}
