//! The settings of the toolset.

use serde::Deserialize;

use crate::context::Context;
use crate::ranking::{LANGUAGES, Language};
use crate::toolset::{Setting, Takes};

/// The name of the setting that keeps a host from mounting the toolset.
pub(super) const LEAVE_OUT: &str = "leave_out";

/// The descriptions of the settings for hosts.
pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        name: LEAVE_OUT,
        takes: Takes::Switch,
        default_text: "",
        help: "Leave out the tools over all mounted toolsets: to search them, to resume with them, and to forget",
        flag: "no-search",
        environment: &[],
    },
    Setting {
        name: "no_thesaurus",
        takes: Takes::Switch,
        default_text: "",
        help: "Find words of a question only, and no words that mean nearly the same",
        flag: "no-thesaurus",
        environment: &[],
    },
    Setting {
        name: "language",
        takes: Takes::OneOf(LANGUAGES),
        default_text: "",
        help: "The language of a text that is too short to tell its own",
        flag: "language",
        environment: &[],
    },
];

/// The settings of a call. Only the host uses `leave_out`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct MemorySettings {
    #[allow(dead_code, reason = "a host that mounts the toolset sends it as it is")]
    leave_out: bool,
    pub no_thesaurus: bool,
    language: Option<String>,
}

impl MemorySettings {
    /// Returns the settings of a call.
    pub fn new(context: &Context) -> Self {
        context.settings.of("memory").expect("checked before the call")
    }

    /// Returns the language to assume for a text that is too short to detect its language.
    pub fn usual_language(&self) -> Language {
        let named = self.language.as_deref().and_then(Language::from_name);
        named.unwrap_or(Language::English)
    }
}
