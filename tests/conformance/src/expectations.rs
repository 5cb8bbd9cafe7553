//! The cases that a runner leaves out or fails, with the reasons.

use std::collections::BTreeMap;
use std::fs;

use serde::Deserialize;

use crate::case::{self, Case};

/// The file `expectations/<runner>.json`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectations {
    /// Why the runner cannot inject storage errors. `None` if it can.
    pub faults: Option<String>,
    /// Why the runner cannot call the tools for people. `None` if it can.
    pub person: Option<String>,
    /// Why the runner cannot answer follow-ups. `None` if it can.
    pub follow_ups: Option<String>,
    /// Why the runner has no databases. `None` if it has.
    pub databases: Option<String>,
    /// Why the runner cannot limit a caller to some agents or stores. `None` if it can.
    pub caller: Option<String>,
    /// Why the runner knows no time zones by name. `None` if it does.
    pub time_zone: Option<String>,
    /// The cases that fail, by name, with the reasons.
    pub fails: BTreeMap<String, String>,
}

impl Expectations {
    /// Reads the expectations of a runner.
    ///
    /// # Panics
    ///
    /// If the file is missing or malformed, or a reason is too short.
    pub fn load(runner: &str) -> Self {
        let file = case::directory().join(format!("expectations/{runner}.json"));
        let text =
            fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let expectations: Self = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let Self { faults, person, follow_ups, databases, caller, time_zone, .. } = &expectations;
        let skips = faults.iter().chain(person).chain(follow_ups).chain(databases).chain(caller);
        let skips = skips.chain(time_zone);
        let mut reasons = skips.chain(expectations.fails.values());
        assert!(
            reasons.all(|reason| reason.len() > 10),
            "{}: a reason is too short",
            file.display()
        );
        expectations
    }

    /// Why the runner leaves a case out. `None` if it has to run the case. `for_people` has the names
    /// of the tools for people.
    pub fn skip(&self, case: &Case, for_people: &[String]) -> Option<&str> {
        let injects = !case.text.faults.is_empty();
        let calls_one = for_people.iter().any(|tool| case.calls(tool));
        let faults = self.faults.as_deref().filter(|_| injects);
        let person = self.person.as_deref().filter(|_| calls_one);
        let follow_ups = self.follow_ups.as_deref().filter(|_| case.has_follow_ups());
        let databases = self.databases.as_deref().filter(|_| case.needs_a_database());
        let caller = self.caller.as_deref().filter(|_| case.has_bounded_caller());
        let time_zone = self.time_zone.as_deref().filter(|_| case.has_time_zone());
        faults.or(person).or(follow_ups).or(databases).or(caller).or(time_zone)
    }
}
