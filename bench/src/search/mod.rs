//! `bench search`: questions to `search_memory` beside the engine's own ranking of the same texts,
//! and the cost and the space of the index that answers them.

mod logs;
mod question;
mod space;

use std::io;
use std::path::Path;

use serde_json::json;

use crate::How;
use crate::comparison::{Aim, Comparison, Contestant, Quantity};
use crate::contestants::Server;
use crate::figure::thousands;
use crate::records::{self, Filled, Library, PEERS, RecordsFormat};
use crate::sizes::Sizes;
use crate::work::Calls;
use question::{Bm25, QUESTION};

/// The aim for a question of eight words, relative to the engine's own ranking.
const QUESTION_CPU: f64 = 5.0;
/// Adds, peers and space are measured with so many records.
const MIDDLING: usize = 10_000;

/// Measures each comparison at once, so that a large database is not kept for long.
pub fn measure(
    how: &How,
    directory: &Path,
    run: &mut dyn FnMut(Comparison) -> io::Result<()>,
) -> io::Result<Sizes> {
    let middling = how.either(40, MIDDLING);
    let filled = Filled::new(directory, RecordsFormat::Sqlite, middling)?;
    run(question(how, directory, &filled)?)?;
    for peer in 0..2 {
        run(peers(how, directory, &filled, peer)?)?;
    }
    run(records::add_in_sqlite(how, directory, filled.clone())?)?;
    let sizes = space::sizes(directory, &filled)?;
    drop(filled);
    let many = how.memories().unwrap_or(how.either(80, 100_000));
    run(question(how, directory, &Filled::new(directory, RecordsFormat::Sqlite, many)?)?)?;
    run(logs::question(how, directory)?)?;
    Ok(sizes)
}

fn calls(how: &How) -> Calls {
    let calls = how.either(2, 10);
    Calls { tool: "search_memory", arguments: vec![json!({"query": QUESTION}); calls] }
}

fn question(how: &How, directory: &Path, filled: &Filled) -> io::Result<Comparison> {
    let asked = calls(how);
    let bare = Bm25::new(directory, filled.memories(), asked.arguments.len())?;
    let aim = Aim { contestant: Server::NAME, quantity: Quantity::Cpu, at_most: QUESTION_CPU };
    Ok(Comparison {
        title: format!("a question of eight words, {} records", thousands(filled.memories())),
        contestants: vec![
            Box::new(bare),
            Box::new(Library::new(filled.clone(), &asked)?),
            Box::new(records::server(filled.clone(), &asked)?),
        ],
        turns: 1,
        aims: vec![aim],
        absent: Vec::new(),
    })
}

/// The server compared with a peer, which may look for the whole question instead of its words.
fn peers(how: &How, directory: &Path, filled: &Filled, peer: usize) -> io::Result<Comparison> {
    let (peer, memories, asked) = (&PEERS[peer], filled.memories(), calls(how));
    let mut contestants: Vec<Box<dyn Contestant>> = Vec::new();
    if peer.absent().is_none() {
        let calls = asked.arguments.len();
        contestants.push(Box::new(peer.searched(directory, memories, QUESTION, calls)?));
    }
    contestants.push(Box::new(records::server(filled.clone(), &asked)?));
    Ok(Comparison {
        title: format!("a question beside {}, {} records", peer.name, thousands(memories)),
        contestants,
        turns: 1,
        aims: Vec::new(),
        absent: peer.absent().into_iter().collect(),
    })
}
