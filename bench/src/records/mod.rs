//! `bench records`: adding, querying and recalling memories of 1 KB, in both formats, by the number of
//! memories.

mod engine;
mod files;
mod memories;
mod peers;
mod product;

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use crate::How;
use crate::comparison::{Aim, Comparison, Contestant, Quantity};
use crate::contestants::Server;
use crate::figure::thousands;
use crate::work::Calls;
use engine::{BareEngine, Filter, Task};
use files::{DurableCopy, Parse};
pub use memories::{Filled, Memory, RecordsFormat, id};
pub use peers::PEERS;
pub use product::{DATABASE, Library, server};

/// The aim for the server's processor time of an add, relative to the bare engine.
const ADD_CPU: f64 = 1.5;
/// The aim for the server's time of an add, as a ratio to the engine's. It means 0.7 of the engine's
/// rate.
const ADD_WALL: f64 = 1.42;
/// The aim for an add among 1,000,000 memories, relative to one among 1,000.
const GROWTH: f64 = 2.0;
const LARGEST: usize = 1_000_000;
/// The aim for finding a rare term among many memories, relative to the bare query.
const SEARCH: f64 = 3.0;
const MANY: usize = 100_000;
/// The aim for an add to a long JSON file, relative to copying it durably.
const ADD_JSON: f64 = 3.0;
const LONG_FILE: usize = 10_000;

/// The number of the first added memory, above those of all filled directories.
const FIRST_ADDED: usize = 10_000_000;

/// Runs each comparison as soon as it is prepared, so that a large database is not kept for long.
pub fn measure(
    how: &How,
    directory: &Path,
    run: &mut dyn FnMut(Comparison) -> io::Result<()>,
) -> io::Result<()> {
    let mut all = Vec::new();
    let mut sizes = how.either(vec![40, 80], vec![1_000, 10_000, 100_000]);
    if how.large() {
        sizes.push(how.either(160, LARGEST));
    }
    if let Some(memories) = how.memories() {
        sizes = vec![1_000, memories];
    }
    for &memories in &sizes {
        let filled = Filled::new(directory, RecordsFormat::Sqlite, memories)?;
        let scene = Scene { how, directory, memories, filled };
        run(scene.add_in_sqlite()?)?;
        scene.queries(run)?;
        run(scene.recall()?)?;
        if memories <= 10_000 && how.memories().is_none() {
            scene.peers(run)?;
        }
        all.push(scene);
    }
    let ends = [&all[0], &all[all.len() - 1]];
    run(growth("the bare engine", &ends, Vec::new(), Scene::bare_engine)?)?;
    let has_aim = how.large() || how.memories().is_some_and(|memories| memories >= LARGEST);
    let aim = Aim { contestant: LAST, quantity: Quantity::Cpu, at_most: GROWTH };
    let aims = has_aim.then_some(aim).into_iter().collect();
    run(growth("over MCP", &ends, aims, Scene::server)?)?;
    drop(all);
    if how.memories().is_some() {
        return Ok(());
    }
    for &memories in &sizes[..2] {
        let filled = Filled::new(directory, RecordsFormat::Json, memories)?;
        let scene = Scene { how, directory, memories, filled };
        run(scene.add_in_json()?)?;
        scene.queries(run)?;
        run(scene.recall()?)?;
    }
    Ok(())
}

/// An add to a SQLite database that has the memories of `filled`.
pub fn add_in_sqlite(how: &How, directory: &Path, filled: Filled) -> io::Result<Comparison> {
    let memories = filled.memories();
    Scene { how, directory, memories, filled }.add_in_sqlite()
}

/// The name of the contestant with the most memories, in comparisons of sizes.
const LAST: &str = "the most memories";

/// Adds with the least and the greatest number of memories.
fn growth<'a>(
    title: &str,
    ends: &[&Scene<'a>; 2],
    aims: Vec<Aim>,
    contestant: impl Fn(&Scene<'a>, String) -> io::Result<Box<dyn Contestant>>,
) -> io::Result<Comparison> {
    let [first, last] = ends;
    Ok(Comparison {
        title: format!(
            "an add in SQLite as it grows from {} to {} memories, {title}",
            thousands(first.memories),
            thousands(last.memories)
        ),
        contestants: vec![
            contestant(first, "the fewest memories".to_owned())?,
            contestant(last, LAST.to_owned())?,
        ],
        turns: 1,
        aims,
        absent: Vec::new(),
    })
}

/// Directories with `memories` memories in one format, for the comparisons on them.
struct Scene<'a> {
    how: &'a How,
    directory: &'a Path,
    memories: usize,
    filled: Filled,
}

impl Scene<'_> {
    fn title(&self, what: &str) -> String {
        let format = self.filled.format.title();
        format!("{what} in {format}, {} memories", thousands(self.memories))
    }

    fn adds(&self) -> Vec<Memory> {
        let count = match self.filled.format {
            RecordsFormat::Json => self.how.either(2, 10),
            RecordsFormat::Sqlite => self.how.either(2, 512),
        };
        (FIRST_ADDED..FIRST_ADDED + count).map(Memory::new).collect()
    }

    fn add_calls(&self) -> Calls {
        let arguments = self.adds().iter().map(Memory::arguments).collect();
        Calls { tool: "store_memory", arguments }
    }

    fn bare_engine(&self, name: String) -> io::Result<Box<dyn Contestant>> {
        let rows = self.adds().iter().map(Memory::row).collect();
        let bare = BareEngine::new(self.filled.copy()?, Task::Add(rows))?;
        Ok(Box::new(bare.named(name)))
    }

    fn server(&self, name: String) -> io::Result<Box<dyn Contestant>> {
        Ok(Box::new(server(self.filled.copy()?, &self.add_calls())?.named(name)))
    }

    fn add_in_sqlite(&self) -> io::Result<Comparison> {
        let aim = |quantity, at_most| Aim { contestant: Server::NAME, quantity, at_most };
        Ok(Comparison {
            title: self.title("an add"),
            contestants: vec![
                self.bare_engine(BareEngine::NAME.to_owned())?,
                Box::new(Library::new(self.filled.copy()?, &self.add_calls())?),
                self.server(Server::NAME.to_owned())?,
            ],
            turns: 1,
            aims: vec![aim(Quantity::Cpu, ADD_CPU), aim(Quantity::Wall, ADD_WALL)],
            absent: Vec::new(),
        })
    }

    fn add_in_json(&self) -> io::Result<Comparison> {
        let calls = self.add_calls();
        let aim = Aim { contestant: Server::NAME, quantity: Quantity::Wall, at_most: ADD_JSON };
        let is_long = self.memories >= self.how.either(80, LONG_FILE);
        Ok(Comparison {
            title: self.title("an add"),
            contestants: vec![
                Box::new(DurableCopy::new(self.filled.copy()?, calls.arguments.len())),
                Box::new(Library::new(self.filled.copy()?, &calls)?),
                self.server(Server::NAME.to_owned())?,
            ],
            turns: 1,
            aims: if is_long { vec![aim] } else { Vec::new() },
            absent: Vec::new(),
        })
    }

    /// A comparison for each filter. Queries change nothing, so all contestants share one directory.
    fn queries(&self, run: &mut dyn FnMut(Comparison) -> io::Result<()>) -> io::Result<()> {
        for filter in Filter::all() {
            let is_search = filter.name.contains("search");
            let calls = match self.filled.format {
                RecordsFormat::Json => self.how.either(1, 3),
                // Counting the matches takes most of the time. A rare term has few, so its query is
                // repeated more often.
                RecordsFormat::Sqlite => {
                    let fewest = if is_search { 20 } else { 2 };
                    self.how.either(2, (200_000 / self.memories).clamp(fewest, 50))
                }
            };
            let asked = self.calls("query_memories", &filter.arguments, calls);
            let title = self.title(&format!("a query {}", filter.name));
            let aim = Aim { contestant: Server::NAME, quantity: Quantity::Wall, at_most: SEARCH };
            let is_many = self.memories >= self.how.either(80, MANY);
            let has_aim = is_search && is_many && self.filled.format == RecordsFormat::Sqlite;
            let bare: Box<dyn Contestant> = match self.filled.format {
                RecordsFormat::Json => Box::new(Parse::new(self.filled.clone(), calls)),
                RecordsFormat::Sqlite => {
                    Box::new(BareEngine::new(self.filled.clone(), Task::Query(filter, calls))?)
                }
            };
            run(Comparison {
                title,
                contestants: vec![
                    bare,
                    Box::new(Library::new(self.filled.clone(), &asked)?),
                    Box::new(server(self.filled.clone(), &asked)?),
                ],
                turns: 1,
                aims: has_aim.then_some(aim).into_iter().collect(),
                absent: Vec::new(),
            })?;
        }
        Ok(())
    }

    fn recall(&self) -> io::Result<Comparison> {
        let calls = match self.filled.format {
            RecordsFormat::Json => self.how.either(1, 3),
            RecordsFormat::Sqlite => self.how.either(2, 10),
        };
        let asked = self.calls("recall_context", &json!({}), calls);
        // The recalls of the engine get times after any time of the machine's clock.
        let task = Task::Recall(calls, 4_000_000_000_000);
        let bare: Box<dyn Contestant> = match self.filled.format {
            RecordsFormat::Json => Box::new(DurableCopy::new(self.filled.copy()?, calls)),
            RecordsFormat::Sqlite => Box::new(BareEngine::new(self.filled.copy()?, task)?),
        };
        Ok(Comparison {
            title: self.title("a recall of 20"),
            contestants: vec![
                bare,
                Box::new(Library::new(self.filled.copy()?, &asked)?),
                Box::new(server(self.filled.copy()?, &asked)?),
            ],
            turns: 1,
            aims: Vec::new(),
            absent: Vec::new(),
        })
    }

    fn calls(&self, tool: &'static str, arguments: &Value, calls: usize) -> Calls {
        Calls { tool, arguments: vec![arguments.clone(); calls] }
    }

    /// The server compared with each peer, and with its own parts.
    fn peers(&self, run: &mut dyn FnMut(Comparison) -> io::Result<()>) -> io::Result<()> {
        for peer in &PEERS {
            let title = self.title(&format!("an add beside {}", peer.name));
            let mut contestants = Vec::new();
            let adds = self.how.either(2, 32);
            if peer.absent().is_none() {
                let peer = peer.filled(self.directory, self.memories, adds)?;
                contestants.push(Box::new(peer) as Box<dyn Contestant>);
            }
            let has_peer = !contestants.is_empty();
            contestants.push(self.bare_engine(BareEngine::NAME.to_owned())?);
            contestants.push(Box::new(Library::new(self.filled.copy()?, &self.add_calls())?));
            contestants.push(self.server(Server::NAME.to_owned())?);
            let aim = Aim { contestant: Server::NAME, quantity: Quantity::Cpu, at_most: 1.0 };
            run(Comparison {
                title,
                turns: 1,
                aims: has_peer.then_some(aim).into_iter().collect(),
                contestants,
                absent: peer.absent().into_iter().collect(),
            })?;
        }
        Ok(())
    }
}
