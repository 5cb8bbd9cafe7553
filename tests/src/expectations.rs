//! What a runner is expected not to do, with the reason.

use std::collections::BTreeMap;
use std::fs;

use serde::Deserialize;

use crate::case;

/// `expectations/<runner>.json`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectations {
    /// Why the runner cannot inject storage errors; absent where it can.
    pub faults: Option<String>,
    /// Why a case fails, by its name.
    pub fails: BTreeMap<String, String>,
}

impl Expectations {
    /// Those of a runner.
    ///
    /// # Panics
    ///
    /// Where the file is missing or malformed, or a reason is no sentence.
    pub fn of(runner: &str) -> Self {
        let file = case::directory().join(format!("expectations/{runner}.json"));
        let text =
            fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let expectations: Self = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let mut reasons = expectations.faults.iter().chain(expectations.fails.values());
        assert!(
            reasons.all(|reason| reason.len() > 10),
            "{}: a reason is too short",
            file.display()
        );
        expectations
    }
}
