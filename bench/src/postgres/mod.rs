//! `bench postgres`: adds and searches of servers that share a database, beside one server with SQLite.

mod relay;

use std::io::{self, Write as _};
use std::path::Path;
use std::process::{self, Command, Stdio};
use std::time::Duration;

use clap::Args;
use serde_json::json;

use crate::How;
use crate::contestants::{path_text, refused};
use crate::figure::thousands;
use crate::http::{Client, HttpServer, Kind, over_http};
use crate::load::{Load, Rates};
use crate::programs;
use crate::records::{Filled, Memory, RecordsFormat};
use relay::Relay;

/// The aim for the adds of 16 agents, in calls a second on two cores.
const ADDS: usize = 1_500;
/// The aim for the round trips of an add.
const ROUND_TRIPS: usize = 8;
/// The aim for the round trips of a search.
const ROUND_TRIPS_OF_SEARCH: usize = 16;
/// The aim for a search: its rate beside that of SQLite.
const SEARCH: f64 = 1.0 / 3.0;

/// How many memories one call imports.
const IMPORTED: usize = 1_000;

/// The delay of a network round trip, in the runs that simulate one.
const DELAY: Duration = Duration::from_micros(500);

/// Which database is measured.
#[derive(Args, Clone)]
pub struct Options {
    /// A database with the tables of `agent-memory database migrate`. Memories are added to it, by
    /// agents of names that no other run has.
    #[arg(long, value_name = "URL")]
    database_url: String,
}

/// Servers with the same memories.
struct Contestant {
    name: String,
    servers: Vec<HttpServer>,
}

impl Contestant {
    fn clients(&self, count: usize) -> io::Result<Vec<Client>> {
        (0..count).map(|at| self.servers[at % self.servers.len()].connect()).collect()
    }
}

/// Measures adds and searches, each without and with a delay of the network.
///
/// # Errors
///
/// If a server does not start, or refuses a call.
pub fn measure(
    options: &Options,
    how: &How,
    directory: &Path,
    rounds: usize,
    measured: &mut dyn FnMut(Load),
) -> io::Result<()> {
    for delay in [None, Some(DELAY)] {
        let relay = delay.map(|delay| Relay::start(&options.database_url, delay)).transpose()?;
        let url = relay.as_ref().map_or(&*options.database_url, Relay::url);
        let scene = Scene { url, relay: relay.as_ref(), how, directory, rounds };
        scene.adds(measured)?;
        scene.searches(measured)?;
    }
    Ok(())
}

struct Scene<'a> {
    url: &'a str,
    /// The relay that delays the network. `None` without a delay.
    relay: Option<&'a Relay>,
    how: &'a How,
    directory: &'a Path,
    rounds: usize,
}

impl Scene<'_> {
    fn adds(&self, measured: &mut dyn FnMut(Load)) -> io::Result<()> {
        for clients in self.how.either(vec![2], vec![1, 4, 16, 64]) {
            for shares in [false, true] {
                if shares && clients == 1 {
                    continue;
                }
                let filled = Filled::new(self.directory, RecordsFormat::Sqlite, 40)?;
                let contestants = [
                    self.sqlite(&filled)?,
                    self.postgres(&filled, 1)?,
                    self.postgres(&filled, 2)?,
                    self.postgres(&filled, 4)?,
                ];
                let agents = if shares { "one agent" } else { "an agent each" };
                let clients_text = if clients == 1 {
                    "1 client".to_owned()
                } else {
                    format!("{clients} clients, {agents}")
                };
                let kind = Kind {
                    tool: "add_core_memory",
                    arguments: Box::new(move |number| {
                        let content = format!("A kite of the kind {number} is red.");
                        let own = if shares { 0 } else { number % clients };
                        json!({"agent_id": agent(clients, own), "content": content})
                    }),
                    calls: self.how.either(8, 30 * clients.max(8)),
                };
                let title = format!("a durable add, {clients_text}{}", self.network());
                let at_least = (clients == 16 && !shares && self.relay.is_none()).then_some(ADDS);
                measured(self.load(title, &kind, &contestants, clients, at_least)?);
            }
        }
        Ok(())
    }

    fn searches(&self, measured: &mut dyn FnMut(Load)) -> io::Result<()> {
        let mut sizes = self.how.either(vec![40], vec![10_000]);
        if self.how.large() {
            sizes.push(self.how.either(80, 100_000));
        }
        for memories in sizes {
            let filled = Filled::new(self.directory, RecordsFormat::Sqlite, 40)?;
            let contestants = [self.sqlite(&filled)?, self.postgres(&filled, 1)?];
            let agent = format!("filled-{memories}-{}", process::id());
            let directory = path_text(filled.directory.path())?;
            let mut command = importing(directory)?;
            command.args(["--memory-dir", directory, "--records-format", "sqlite"]);
            fill(&mut command, &agent, memories)?;
            let mut command = importing(directory)?;
            fill(command.env("AGENT_MEMORY_DATABASE_URL", self.url), &agent, memories)?;
            let kind = Kind {
                tool: "search_memory",
                arguments: Box::new(move |number| {
                    let query = Memory::new(number * 7).content()[..60].to_owned();
                    json!({"agent": agent, "query": query, "limit": 10})
                }),
                calls: self.how.either(2, 200),
            };
            let title = format!(
                "a search among {} memories, 1 client{}",
                thousands(memories),
                self.network()
            );
            let load = self.load(title, &kind, &contestants, 1, None)?;
            let at_least = Some((load.rows[0].rate().median * SEARCH) as usize);
            let round_trips = load.round_trips.map(|(trips, _)| (trips, ROUND_TRIPS_OF_SEARCH));
            measured(Load { at_least, round_trips, ..load });
        }
        Ok(())
    }

    /// All contestants take turns in each round, after a warm-up.
    fn load(
        &self,
        title: String,
        kind: &Kind,
        contestants: &[Contestant],
        clients: usize,
        at_least: Option<usize>,
    ) -> io::Result<Load> {
        let mut rows = rows(contestants);
        let mut trips = 0;
        for round in 0..=self.rounds {
            for (row, contestant) in rows.iter_mut().zip(contestants) {
                let before = self.relay.map_or(0, Relay::round_trips);
                let turn = over_http(kind, &mut contestant.clients(clients)?)?;
                trips = self.relay.map_or(0, Relay::round_trips) - before;
                if round > 0 {
                    row.rounds.push(turn);
                }
            }
        }
        let round_trips = self.relay.map(|_| (trips as f64 / kind.calls as f64, ROUND_TRIPS));
        Ok(Load { title, calls: kind.calls, rows, at_least, round_trips })
    }

    fn network(&self) -> String {
        self.relay.map_or_else(String::new, |_| {
            format!(", {} ms to the database", DELAY.as_secs_f64() * 1e3)
        })
    }

    fn sqlite(&self, filled: &Filled) -> io::Result<Contestant> {
        let directory = path_text(filled.directory.path())?;
        let mut command = serve()?;
        command.args(["--memory-dir", directory, "--data-dir", directory]);
        command.args(["--records-format", "sqlite"]);
        Ok(Contestant {
            name: "SQLite".to_owned(),
            servers: vec![HttpServer::start(&mut command)?],
        })
    }

    fn postgres(&self, filled: &Filled, servers: usize) -> io::Result<Contestant> {
        let start = |number: usize| {
            let data = filled.directory.path().join(format!("server-{servers}-{number}"));
            let mut command = serve()?;
            command.args(["--data-dir", path_text(&data)?]);
            command.env("AGENT_MEMORY_DATABASE_URL", self.url);
            HttpServer::start(&mut command)
        };
        let name = match servers {
            1 => "PostgreSQL, 1 server".to_owned(),
            _ => format!("PostgreSQL, {servers} servers"),
        };
        Ok(Contestant { name, servers: (0..servers).map(start).collect::<io::Result<_>>()? })
    }
}

fn rows(contestants: &[Contestant]) -> Vec<Rates> {
    let row = |of: &Contestant| Rates { name: of.name.clone(), rounds: Vec::new() };
    contestants.iter().map(row).collect()
}

fn serve() -> io::Result<Command> {
    let mut command = Command::new(programs::built("agent-memory")?);
    command.args(["serve", "--toolset", "records,memory", "--http", "127.0.0.1:0"]);
    Ok(command)
}

/// The name of an agent of this run.
fn agent(clients: usize, number: usize) -> String {
    format!("bench-{}-{clients}-{number}", process::id())
}

/// A command that imports records from its standard input.
fn importing(data: &str) -> io::Result<Command> {
    let mut command = Command::new(programs::built("agent-memory")?);
    command.args(["call", "import_records", "-", "--toolset", "records", "--data-dir", data]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    Ok(command)
}

/// Fills the memory of an agent by a tool for people.
fn fill(command: &mut Command, agent: &str, memories: usize) -> io::Result<()> {
    let numbers: Vec<usize> = (0..memories).collect();
    for numbers in numbers.chunks(IMPORTED) {
        let lines = numbers.iter().map(|number| Memory::new(*number).record().to_string() + "\n");
        // The run without a delay may have imported them already: they are skipped.
        let records: String = lines.collect();
        let arguments = json!({"agent_id": agent, "records": records, "on_conflict": "skip"});
        let mut importing = command.spawn()?;
        let mut input = importing.stdin.take().expect("it is piped");
        input.write_all(arguments.to_string().as_bytes())?;
        drop(input);
        let imported = importing.wait_with_output()?;
        if !imported.status.success() {
            return Err(refused("import_records", &String::from_utf8_lossy(&imported.stdout)));
        }
    }
    Ok(())
}
