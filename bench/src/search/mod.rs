//! `bench search`: questions to `search_memory` beside the engine's own ranking of the same texts,
//! and the cost and the space of the index that answers them.

mod logs;
mod question;
mod space;
mod stores;

use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::How;
use crate::comparison::{Aim, Comparison, Contestant, Quantity};
use crate::contestants::{Asked, Server};
use crate::figure::thousands;
use crate::records::{self, Filled, Library, Memory, PEERS, RecordsFormat};
use crate::sizes::Sizes;
use crate::work::Calls;
use question::{Bm25, QUESTION};

/// The aim for a question of eight words, relative to the engine's own ranking.
const QUESTION_CPU: f64 = 5.0;
/// The number of records with which adds, peers and space are measured.
const MIDDLING: usize = 10_000;

/// Runs each comparison as soon as it is prepared, so that a large database is not kept for long.
pub fn measure(
    how: &How,
    directory: &Path,
    run: &mut dyn FnMut(Comparison) -> io::Result<()>,
) -> io::Result<Sizes> {
    let middling = how.either(40, MIDDLING);
    let filled = Filled::by_product(directory, RecordsFormat::Sqlite, middling)?;
    run(question(how, directory, &filled)?)?;
    for peer in 0..2 {
        run(peers(how, directory, &filled, peer)?)?;
    }
    let filled = Filled::new(directory, RecordsFormat::Sqlite, middling)?;
    run(records::add_in_sqlite(how, directory, filled.clone())?)?;
    let sizes = space::sizes(directory, &filled)?;
    drop(filled);
    let many = how.memories().unwrap_or(how.either(80, 100_000));
    run(question(how, directory, &Filled::by_product(directory, RecordsFormat::Sqlite, many)?)?)?;
    run(question(how, directory, &Filled::by_product(directory, RecordsFormat::Json, middling)?)?)?;
    run(logs::question(how, directory)?)?;
    run(stores::question(how, directory)?)?;
    Ok(sizes)
}

fn calls(how: &How) -> Calls {
    let calls = how.either(2, 10);
    Calls { tool: "search_memory", arguments: vec![json!({"query": QUESTION}); calls] }
}

fn question(how: &How, directory: &Path, filled: &Filled) -> io::Result<Comparison> {
    let asked = calls(how);
    let texts = Memory::texts(filled.memories());
    let bare = Bm25::new(directory, texts, asked.arguments.len())?;
    let aim = Aim { contestant: Server::NAME, quantity: Quantity::Cpu, at_most: QUESTION_CPU };
    let has_aim = filled.format == RecordsFormat::Sqlite;
    let count = thousands(filled.memories());
    let format = filled.format.title();
    let server = records::server(filled.clone(), &asked)?;
    let server = indexed(server, filled.memories(), asked.arguments.len())?;
    Ok(Comparison {
        title: format!("a question of eight words, {count} records in {format}"),
        contestants: vec![
            Box::new(bare),
            Box::new(Library::new(filled.clone(), &asked)?),
            Box::new(server),
        ],
        turns: 1,
        aims: has_aim.then_some(aim).into_iter().collect(),
        absent: Vec::new(),
    })
}

/// Repeats the search until the server has indexed all its documents, which are `texts` texts of 1 KB.
/// One search indexes 3 MiB, and leaves out files that are younger than 2 s.
fn indexed(mut server: Asked, texts: usize, calls: usize) -> io::Result<Asked> {
    thread::sleep(Duration::from_secs(2));
    for _ in 0..=(texts / 3_000).div_ceil(calls) {
        server.prepare()?;
        server.take_turn()?;
    }
    Ok(server)
}

/// The server compared with a peer. A peer may search for the whole question as one text, not for its
/// words.
fn peers(how: &How, directory: &Path, filled: &Filled, peer: usize) -> io::Result<Comparison> {
    let peer = &PEERS[peer];
    let memories = filled.memories();
    let asked = calls(how);
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
