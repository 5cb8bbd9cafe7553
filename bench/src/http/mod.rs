//! `bench http`: reads and relaxed writes over HTTP, with one client and with 16 that keep their
//! connections, beside one client on standard input and output.

mod client;

use std::io;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::How;
use crate::contestants::{self, path_text, refused, stateless_request};
use crate::conversation::Conversation;
use crate::figure::thousands;
use crate::load::{Load, Rates, Round};
use crate::programs;
use crate::records::{Filled, RecordsFormat};
pub use client::{Client, HttpServer};

/// The aims, in calls a second on two cores.
const READS: usize = 5_000;
const WRITES: usize = 2_000;

const CLIENTS: usize = 16;

/// Calls of one kind: a tool, its arguments, and the number of calls in a round.
pub struct Kind {
    pub tool: &'static str,
    /// The arguments of a call, by its number.
    pub arguments: Box<dyn Fn(usize) -> Value + Sync>,
    pub calls: usize,
}

/// Measures both kinds of calls.
pub fn measure(how: &How, directory: &Path, rounds: usize) -> io::Result<Vec<Load>> {
    let memories = how.either(40, 1_000);
    let reads = Kind {
        tool: "query_memories",
        arguments: Box::new(|_| json!({"limit": 1})),
        calls: how.either(CLIENTS, 4_000),
    };
    let writes = Kind {
        tool: "add_core_memory",
        arguments: Box::new(
            |number| json!({"content": format!("A kite of the kind {number} is red.")}),
        ),
        calls: how.either(CLIENTS, 2_000),
    };
    let count = thousands(memories);
    let of = |kind: &Kind, what: &str, at_least| -> io::Result<Load> {
        let filled = Filled::new(directory, RecordsFormat::Sqlite, memories)?;
        let rows = rows(kind, &filled, rounds)?;
        let title = format!("{what} in SQLite, {count} memories");
        Ok(Load { title, calls: kind.calls, rows, at_least: Some(at_least), round_trips: None })
    };
    Ok(vec![
        of(&reads, "a query of the latest memory", READS)?,
        of(&writes, "a relaxed add", WRITES)?,
    ])
}

/// All contestants take turns in each round, after a warm-up. They have the same memories.
fn rows(kind: &Kind, filled: &Filled, rounds: usize) -> io::Result<Vec<Rates>> {
    let mut stdio = Conversation::start(&mut serve(filled, &[])?)?;
    let http = HttpServer::start(&mut serve(filled, &["--http", "127.0.0.1:0"])?)?;
    let mut one = [http.connect()?];
    let mut many = Vec::new();
    for _ in 0..CLIENTS {
        many.push(http.connect()?);
    }
    let mut rows = ["stdio, 1 client", "HTTP, 1 client", "HTTP, 16 clients"]
        .map(|name| Rates { name: name.to_owned(), rounds: Vec::new() });
    for round in 0..=rounds {
        let turn = [
            over_stdio(kind, &mut stdio)?,
            over_http(kind, &mut one)?,
            over_http(kind, &mut many)?,
        ];
        for (row, turn) in rows.iter_mut().zip(turn).filter(|_| round > 0) {
            row.rounds.push(turn);
        }
    }
    Ok(rows.into())
}

fn serve(filled: &Filled, more: &[&str]) -> io::Result<Command> {
    let mut command = Command::new(programs::built("agent-memory")?);
    let directory = path_text(filled.directory.path())?;
    command.args(["serve", "--toolset", "records", "--durability", "relaxed"]);
    command.args(["--memory-dir", directory, "--data-dir", directory]);
    command.args(["--records-format", filled.format.name()]).args(more);
    Ok(command)
}

fn over_stdio(kind: &Kind, server: &mut Conversation) -> io::Result<Round> {
    let requests = kind.requests(0, 1);
    timed(|| {
        let call = |request: &String| taken(|| contestants::ask(server, request));
        requests.iter().map(call).collect()
    })
}

/// Makes the calls of a round, divided among the clients.
pub fn over_http(kind: &Kind, clients: &mut [Client]) -> io::Result<Round> {
    let count = clients.len();
    let requests: Vec<Vec<String>> = (0..count).map(|at| kind.requests(at, count)).collect();
    timed(|| {
        thread::scope(|scope| {
            let mut threads = Vec::new();
            for (client, requests) in clients.iter_mut().zip(&requests) {
                threads.push(scope.spawn(move || -> io::Result<Vec<Duration>> {
                    let call = |request: &String| taken(|| ask(client, kind.tool, request));
                    requests.iter().map(call).collect()
                }));
            }
            let mut times = Vec::new();
            for thread in threads {
                times.extend(thread.join().expect("a client does not panic")?);
            }
            Ok(times)
        })
    })
}

impl Kind {
    /// The requests of one of several clients.
    fn requests(&self, client: usize, clients: usize) -> Vec<String> {
        let own = (client..self.calls).step_by(clients);
        let request = |number| stateless_request(number, self.tool, &(self.arguments)(number));
        own.map(|number| request(number).to_string()).collect()
    }
}

/// Makes a call.
fn ask(client: &mut Client, tool: &str, request: &str) -> io::Result<()> {
    let answer = client.ask(tool, request)?;
    let is_good = answer.contains(r#""result":"#) && !answer.contains(r#""isError":true"#);
    if is_good { Ok(()) } else { Err(refused(tool, &answer)) }
}

fn timed(calls: impl FnOnce() -> io::Result<Vec<Duration>>) -> io::Result<Round> {
    let started = Instant::now();
    let times = calls()?;
    Ok(Round::from_times(started.elapsed(), times))
}

fn taken(call: impl FnOnce() -> io::Result<()>) -> io::Result<Duration> {
    let started = Instant::now();
    call()?;
    Ok(started.elapsed())
}
