//! An entry of any layer as a line of an export.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// One entry without its id. Another database gives the entry another id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "layer", rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum Line {
    Core {
        memory: String,
        created_at: Option<Timestamp>,
    },
    Recent {
        memory: String,
        created_at: Option<Timestamp>,
    },
    Task {
        task: String,
        started_at: Option<Timestamp>,
        updated_at: Option<Timestamp>,
    },
    Episode {
        memory: String,
        #[serde(default)]
        tags: Vec<String>,
        created_at: Option<Timestamp>,
    },
    Compost {
        summary: String,
        #[serde(default)]
        original_count: i64,
        archived_at: Option<Timestamp>,
    },
}

impl Line {
    /// The entry as JSON on one line, without a line end.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("a line is JSON")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_its_layer_and_nothing_that_is_unknown() {
        let line = r#"{"layer":"core","memory":"x","created_at":"2025-01-20T10:00:00.000Z"}"#;
        assert_eq!(serde_json::from_str::<Line>(line).expect("a line").json(), line);
        let short = r#"{"layer":"episode","memory":"x"}"#;
        let full = r#"{"layer":"episode","memory":"x","tags":[],"created_at":null}"#;
        assert_eq!(serde_json::from_str::<Line>(short).expect("a line").json(), full);
        for bad in [
            r#"{"layer":"core","memory":"x","tags":[]}"#,
            r#"{"layer":"cores","memory":"x"}"#,
            r#"{"memory":"x"}"#,
            r#"{"layer":"core","memory":"x","created_at":"yesterday"}"#,
        ] {
            assert!(serde_json::from_str::<Line>(bad).is_err(), "{bad}");
        }
    }
}
