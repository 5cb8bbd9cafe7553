//! `bench layers`: adding, reading and searching episodes, in databases of several sizes.

mod engine;
mod episodes;
mod filled;
mod product;
mod search;

use std::io;
use std::path::Path;

use serde_json::json;

use crate::How;
use crate::comparison::{Aim, Comparison, Contestant, Quantity};
use crate::contestants::Server;
use crate::figure::thousands;
use crate::work::Calls;
use engine::{BareEngine, Task};
use episodes::{AGENT, Episode};
use filled::Filled;
use product::server;
use search::{LATEST, Search};

/// The aim for the processor time of a call among 1,000,000 episodes, relative to 1,000.
const GROWTH: f64 = 1.5;
const LARGEST: usize = 1_000_000;
/// The aim for the processor time of a keyword search among many, relative to the bare query.
const SEARCH: f64 = 2.0;
const MANY: usize = 100_000;

/// The number of the first added episode, above those of all filled databases.
const FIRST_ADDED: usize = 10_000_000;

/// Runs each comparison as soon as it is prepared, so that a large database is not kept for long.
pub fn measure(
    how: &How,
    directory: &Path,
    run: &mut dyn FnMut(Comparison) -> io::Result<()>,
) -> io::Result<()> {
    let mut sizes = how.either(vec![40, 80], vec![1_000, 100_000]);
    if how.large() {
        sizes.push(how.either(160, LARGEST));
    }
    if let Some(episodes) = how.memories() {
        sizes = vec![1_000, episodes];
    }
    let mut all = Vec::new();
    for &episodes in &sizes {
        let scene = Scene { how, episodes, filled: Filled::new(directory, episodes)? };
        for search in Search::all(episodes) {
            run(scene.search(search)?)?;
        }
        run(scene.add()?)?;
        all.push(scene);
    }
    let ends = [&all[0], &all[all.len() - 1]];
    run(growth("an add", &ends, |scene| scene.adds())?)?;
    run(growth("the latest 50", &ends, |scene| scene.searches(&LATEST))?)?;
    run(growth("`get_memory_summary`", &ends, |scene| scene.summaries())?)
}

/// The same calls over MCP with the least and with the greatest number of episodes.
fn growth(
    what: &str,
    ends: &[&Scene<'_>; 2],
    calls: impl Fn(&Scene<'_>) -> Calls,
) -> io::Result<Comparison> {
    const LAST: &str = "the most episodes";
    let [first, last] = ends;
    let contestant = |scene: &Scene<'_>, name: &str| -> io::Result<Box<dyn Contestant>> {
        Ok(Box::new(server(scene.filled.copy()?.directory, &calls(scene))?.named(name.to_owned())))
    };
    let least = thousands(first.episodes);
    let most = thousands(last.episodes);
    let aim = Aim { contestant: LAST, quantity: Quantity::Cpu, at_most: GROWTH };
    Ok(Comparison {
        title: format!("{what}, from {least} to {most} episodes"),
        contestants: vec![contestant(first, "the fewest episodes")?, contestant(last, LAST)?],
        turns: 1,
        aims: vec![aim],
        absent: Vec::new(),
    })
}

/// Databases with `episodes` episodes, for the comparisons on them.
struct Scene<'a> {
    how: &'a How,
    episodes: usize,
    filled: Filled,
}

impl Scene<'_> {
    fn title(&self, what: &str) -> String {
        format!("{what}, {} episodes", thousands(self.episodes))
    }

    /// The numbers of the episodes that a comparison adds.
    fn added(&self) -> std::ops::Range<usize> {
        FIRST_ADDED..FIRST_ADDED + self.how.either(2, 512)
    }

    fn adds(&self) -> Calls {
        let arguments = self.added().map(|number| Episode::new(number).arguments()).collect();
        Calls { tool: "add_episodic_memory", arguments }
    }

    fn searches(&self, search: &Search) -> Calls {
        let calls = self.how.either(2, 10);
        Calls { tool: "search_episodic_memories", arguments: vec![search.arguments(); calls] }
    }

    fn summaries(&self) -> Calls {
        let calls = self.how.either(2, 10);
        Calls { tool: "get_memory_summary", arguments: vec![json!({"agent_id": AGENT}); calls] }
    }

    fn add(&self) -> io::Result<Comparison> {
        let directory = self.filled.copy()?.directory;
        Ok(Comparison {
            title: self.title("an add"),
            contestants: vec![
                Box::new(BareEngine::new(directory.clone(), Task::Add(self.added()))?),
                Box::new(server(directory, &self.adds())?),
            ],
            turns: 1,
            aims: Vec::new(),
            absent: Vec::new(),
        })
    }

    /// A search changes nothing, so all contestants share one directory.
    fn search(&self, search: Search) -> io::Result<Comparison> {
        let calls = self.searches(&search);
        let directory = self.filled.directory.clone();
        let count = calls.arguments.len();
        let aim = Aim { contestant: Server::NAME, quantity: Quantity::Cpu, at_most: SEARCH };
        let is_many = self.episodes >= self.how.either(80, MANY);
        Ok(Comparison {
            title: self.title(&format!("a search {}", search.name)),
            aims: (search.has_aim && is_many).then_some(aim).into_iter().collect(),
            contestants: vec![
                Box::new(BareEngine::new(directory.clone(), Task::Find(search, count))?),
                Box::new(server(directory, &calls)?),
            ],
            turns: 1,
            absent: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::engine::Engine;
    use super::*;

    /// More episodes than a search compares with its index one by one.
    const COUNT: usize = 1_300;

    #[test]
    fn the_product_and_the_bare_engine_find_the_same_episodes() {
        let within = tempfile::tempdir().expect("a directory");
        let filled = Filled::new(within.path(), COUNT).expect("it is filled");
        let filled = filled.copy().expect("it is copied");
        let engine = Engine::open(filled.directory.path()).expect("it opens");
        let memory = product::open(filled.directory.path()).expect("it opens");
        let mut searches = Search::all(COUNT);
        searches.push(LATEST);
        for search in searches {
            let found = product::call(&memory, "search_episodic_memories", &search.arguments());
            let found = found.expect("an answer");
            let ids = found["memories"].as_array().expect("a list").iter();
            let ids: Vec<i64> = ids.map(|memory| memory["id"].as_i64().expect("an id")).collect();
            assert_eq!(engine.find(&search).expect("rows"), ids, "{}", search.name);
            assert_eq!(ids.is_empty(), search.name.contains("nowhere"), "{}", search.name);
        }
    }
}
