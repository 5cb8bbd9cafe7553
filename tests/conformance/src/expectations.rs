//! What a runner is expected not to do, with the reason.

use std::collections::BTreeMap;
use std::fs;

use serde::Deserialize;

use crate::case::{self, Case};

/// `expectations/<runner>.json`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectations {
    /// Why the runner cannot inject storage errors; absent where it can.
    pub faults: Option<String>,
    /// Why the runner cannot call the tools that are for people; absent where it can.
    pub person: Option<String>,
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
        let skips = expectations.faults.iter().chain(&expectations.person);
        let mut reasons = skips.chain(expectations.fails.values());
        assert!(
            reasons.all(|reason| reason.len() > 10),
            "{}: a reason is too short",
            file.display()
        );
        expectations
    }

    /// Why the runner leaves a case out; none where it has to run it. `for_people` are the names
    /// of the tools that are for people.
    pub fn skip(&self, case: &Case, for_people: &[String]) -> Option<&str> {
        let injects = !case.text.faults.is_empty();
        let calls_one = for_people.iter().any(|tool| case.calls(tool));
        let faults = self.faults.as_deref().filter(|_| injects);
        faults.or_else(|| self.person.as_deref().filter(|_| calls_one))
    }
}
