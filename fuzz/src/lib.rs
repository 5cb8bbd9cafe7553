//! Fuzz targets for the core. Each makes tool calls on storage in memory, as a host does, and checks
//! the results without code of the core (see `fuzz/README.md`).

pub mod document;
pub mod mutation;
pub mod repository;
pub mod targets;
pub mod yaml;

// Files of other tests, included by path: the crate `agent-memory-tests` would build the hosts.
#[path = "../../tests/conformance/src/case.rs"]
pub mod case;
#[path = "../../tests/conformance/src/json_schema.rs"]
pub mod json_schema;
#[path = "../../tests/src/markdown.rs"]
pub mod markdown;
#[path = "../../tests/conformance/src/places.rs"]
pub mod places;
#[path = "../../tests/src/random.rs"]
pub mod random;
#[path = "../../tests/src/random_markdown.rs"]
pub mod random_markdown;
#[path = "../../tests/src/records_file.rs"]
pub mod records_file;
#[path = "../../tests/conformance/src/step.rs"]
pub mod step;
#[path = "../../tests/conformance/src/workspace.rs"]
pub mod workspace;
