//! The targets. A target checks one input and panics if something is wrong.

pub mod append;
pub mod arguments;
pub mod log;
pub mod records;
pub mod schema;
pub mod stores;
pub mod summary;

use serde_json::Value;

use crate::case::{self, Documents, Places};
use crate::random::Random;
use crate::random_markdown::mixture;
use crate::repository::{self, Repository};

/// A target.
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// Checks an input. Panics if something is wrong.
    pub run: fn(&[u8]),
    /// The first inputs, of any length.
    seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target { name: "log", run: log::run, seeds: log::seeds },
    Target { name: "summary", run: summary::run, seeds: summary::seeds },
    Target { name: "schema", run: schema::run, seeds: schema::seeds },
    Target { name: "append", run: append::run, seeds: append::seeds },
    Target { name: "arguments", run: arguments::run, seeds: arguments::seeds },
    Target { name: "records", run: records::run, seeds: records::seeds },
    Target { name: "stores", run: stores::run, seeds: stores::seeds },
];

impl Target {
    /// The first inputs, without those that are too long.
    pub fn short_seeds(&self) -> Vec<Vec<u8>> {
        let mut seeds = (self.seeds)();
        seeds.retain(|seed| seed.len() <= MAX_SEED_BYTES);
        seeds
    }
}

/// The target with this name.
///
/// # Panics
///
/// If there is none.
pub fn named(name: &str) -> &'static Target {
    let found = TARGETS.iter().find(|target| target.name == name);
    found.unwrap_or_else(|| panic!("no target `{name}`"))
}

/// A paragraph that can follow any section of any document.
const HARMLESS: &str = "A plain paragraph.";

/// Compares `validate` with a tool: it finds errors in a document if and only if the tool refuses the
/// document.
fn check_validate(repository: &Repository, path: &str, is_refused: bool) {
    let errors = repository.errors_in(path);
    assert!(
        errors.is_empty() != is_refused,
        "refused by the tool: {is_refused}, errors of `validate`: {errors:?}"
    );
}

/// The maximum length of a seed. Longer ones only make the search slow.
const MAX_SEED_BYTES: usize = 4096;

/// A call of a case, and the documents of its repository.
struct SeedCall {
    tool: String,
    arguments: Value,
    documents: Documents,
}

impl SeedCall {
    /// The text of an argument. Empty if it is missing.
    fn argument(&self, name: &str) -> &str {
        self.arguments[name].as_str().unwrap_or_default()
    }

    /// The bytes of a document. Empty if it is missing.
    fn document(&self, path: &str) -> &[u8] {
        self.documents.get(path).map(Vec::as_slice).unwrap_or_default()
    }
}

/// All calls of the cases without a format of records.
fn calls() -> Vec<SeedCall> {
    let places = Places {
        repo: repository::ROOT.into(),
        elsewhere: "/elsewhere".into(),
        stores: "/stores".into(),
    };
    let mut calls = Vec::new();
    for case in case::load_all().iter().filter(|case| case.format.is_none()) {
        let documents = case.given();
        let steps = case.text.steps.iter().filter(|step| step.is_call());
        calls.extend(steps.map(|step| SeedCall {
            tool: step.name().to_owned(),
            arguments: places.fill(step.arguments()),
            documents: documents.clone(),
        }));
    }
    calls
}

/// All documents of the cases with this path.
fn documents(path: &str) -> Vec<Vec<u8>> {
    case::load_all().iter().filter_map(|case| case.given().remove(path)).collect()
}

/// Texts of random Markdown blocks, the same at each run.
fn mixtures() -> impl Iterator<Item = String> {
    (0..300).map(|seed| mixture(&mut Random::new(seed)))
}
