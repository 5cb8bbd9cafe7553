//! Servers with one memory on PostgreSQL, whose clients write at once, while servers are killed and the
//! database and a pooler crash.
//!
//! The large form runs only on request, for some minutes:
//! `AGENT_MEMORY_LARGE_RACE=1 cargo test --release -p agent-memory-tests --test postgres_race -- --show-output`.

use std::env;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use agent_memory_host::database::DatabaseOptions;
use agent_memory_host::storage::api::Documents as _;
use agent_memory_host::storage::{Area, Statement, Value};
use agent_memory_storage_postgres::Server;
use agent_memory_tests::TIMEOUT;
use agent_memory_tests::http_server::{HttpServer, send_to};
use agent_memory_tests::postgres::{self, Pooler, PostgresServer, once_it_answers, url_at};
use agent_memory_tests::skip::not_asked_for;
use serde_json::json;

const ASKED: &str = "AGENT_MEMORY_LARGE_RACE";

/// The connections of each server to the database.
const CONNECTIONS: usize = 8;

/// The time between two attempts of a client whose server or database is away.
const PAUSE: Duration = Duration::from_millis(20);

/// A race.
struct Race {
    /// The formats of new agents: the first server has the first one, and so on.
    formats: &'static [&'static str],
    servers: usize,
    /// How many clients each server has.
    clients: usize,
    /// How many memories each client adds.
    adds: usize,
    /// The parts that break, one after the other.
    breaks: Vec<Break>,
    has_pooler: bool,
}

/// A part that breaks.
#[derive(Clone, Copy, Debug)]
enum Break {
    /// A server is killed, and another takes its place.
    Server(usize),
    /// The database crashes, and starts again.
    Database,
    /// The pooler crashes, and starts again. Without a pooler, nothing happens.
    Pooler,
}

impl Race {
    fn small(formats: &'static [&'static str]) -> Self {
        let breaks = vec![Break::Server(0), Break::Server(0), Break::Database, Break::Server(0)];
        Race { formats, servers: 3, clients: 3, adds: 24, breaks, has_pooler: false }
    }

    /// A server is killed 24 times, the database crashes twice, and the pooler twice.
    fn large() -> Self {
        let breaks = (0..24).flat_map(|number| {
            let also = match number % 12 {
                4 => Some(Break::Database),
                8 => Some(Break::Pooler),
                _ => None,
            };
            also.into_iter().chain([Break::Server(number % 4)])
        });
        let breaks = breaks.collect();
        let formats = &["json", "sqlite"];
        Race { formats, servers: 4, clients: 4, adds: 400, breaks, has_pooler: false }
    }

    fn with_pooler(self) -> Self {
        Race { has_pooler: true, ..self }
    }
}

#[test]
fn nothing_is_lost_or_doubled_between_servers_that_are_killed_and_a_database_that_crashes() {
    run(&Race::small(&["json"]));
}

#[test]
fn no_row_is_lost_or_doubled_either() {
    run(&Race::small(&["sqlite"]));
}

#[test]
fn nothing_is_lost_or_doubled_behind_a_pooler_that_crashes_too() {
    let mut race = Race::small(&["sqlite", "json"]).with_pooler();
    race.breaks.insert(1, Break::Pooler);
    run(&race);
}

#[test]
fn nothing_is_lost_or_doubled_in_a_large_race() {
    if !is_asked_for() {
        return not_asked_for(&format!("{ASKED}=1"));
    }
    run(&Race::large());
}

#[test]
fn nothing_is_lost_or_doubled_in_a_large_race_behind_a_pooler() {
    if !is_asked_for() {
        return not_asked_for(&format!("{ASKED}=1"));
    }
    run(&Race::large().with_pooler());
}

fn is_asked_for() -> bool {
    env::var(ASKED).is_ok_and(|asked| !matches!(asked.as_str(), "" | "0"))
}

/// The large races run one after the other, since each uses the whole machine.
static ALONE: Mutex<()> = Mutex::new(());

/// The answers that the clients have got.
#[derive(Default)]
struct Learned {
    /// The agents and the contents of memories that were acknowledged.
    acknowledged: Mutex<Vec<(String, String)>>,
    /// The agents and the contents of memories whose requests got no answer.
    unanswered: Mutex<Vec<(String, String)>>,
    count: AtomicUsize,
    /// The number of errors that said to try again.
    retries: AtomicUsize,
    /// The longest time until a memory was acknowledged.
    longest: Mutex<Duration>,
}

#[track_caller]
fn run(race: &Race) {
    let _alone =
        is_asked_for().then(|| ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    let Some(mut database) = PostgresServer::start() else { return };
    let mut pooler = None;
    if race.has_pooler {
        pooler = Pooler::start(&database, race.servers * CONNECTIONS);
        if pooler.is_none() {
            return;
        }
    }
    let scratch = tempfile::tempdir().unwrap();
    let url =
        pooler.as_ref().map_or_else(|| database.url_text(), |at| url_at(at.socket_directory()));
    let check = DatabaseOptions::new(url.parse().unwrap());
    let url_file = scratch.path().join("url");
    fs::write(&url_file, url + "\n").unwrap();
    let start = |number: usize| {
        let format = race.formats[number % race.formats.len()];
        start_server(scratch.path(), &url_file, format)
    };
    let servers: Vec<_> = (0..race.servers).map(|number| RwLock::new(start(number))).collect();
    let learned = Learned::default();
    let total = race.servers * race.clients * race.adds;
    let began = Instant::now();
    thread::scope(|scope| {
        for client in 0..race.servers * race.clients {
            let server = &servers[client % race.servers];
            let learned = &learned;
            scope.spawn(move || {
                for number in 0..race.adds {
                    let agent = match number % 4 {
                        0 => "shared".to_owned(),
                        2 => format!("shared-{}", client % 2),
                        _ => format!("own-{client}"),
                    };
                    learned.add(server, agent, format!("memory <{client}.{number}>"));
                }
            });
        }
        for (number, broken) in race.breaks.iter().enumerate() {
            let due = total * (number + 1) / (race.breaks.len() + 1);
            wait_until(|| learned.count.load(Ordering::SeqCst) >= due);
            match *broken {
                Break::Server(number) => {
                    // Requests in flight end with a broken connection.
                    let old =
                        std::mem::replace(&mut *servers[number].write().unwrap(), start(number));
                    drop(old);
                }
                Break::Database => database.restart(),
                Break::Pooler => pooler.iter_mut().for_each(Pooler::restart),
            }
            // A server that starts needs the database.
            once_it_answers(|| check.check());
        }
    });
    learned.judge(&postgres::database(&database.url_text()), total, began.elapsed());
}

fn start_server(directory: &Path, url_file: &Path, format: &str) -> HttpServer {
    let arguments = [
        "--toolset=records".to_owned(),
        format!("--database-url-file={}", url_file.display()),
        format!("--database-pool={CONNECTIONS}"),
        format!("--data-dir={}", directory.join("data").display()),
        "--lock-wait=60s".to_owned(),
        format!("--records-format={format}"),
    ];
    HttpServer::start(&arguments, directory)
}

impl Learned {
    /// Adds a memory, and notes whether it was acknowledged. If not, the server ended before it
    /// answered.
    fn add(&self, server: &RwLock<HttpServer>, agent: String, content: String) {
        let began = Instant::now();
        let done = if self.is_added(server, &agent, &content) {
            let mut longest = self.longest.lock().unwrap();
            *longest = began.elapsed().max(*longest);
            &self.acknowledged
        } else {
            &self.unanswered
        };
        done.lock().unwrap().push((agent, content));
        self.count.fetch_add(1, Ordering::SeqCst);
    }

    /// Whether the memory was acknowledged. After an error that says to try again, it is added again,
    /// since nothing was changed.
    fn is_added(&self, server: &RwLock<HttpServer>, agent: &str, content: &str) -> bool {
        let until = Instant::now() + TIMEOUT;
        loop {
            assert!(Instant::now() < until, "{content} is never stored");
            let arguments = json!({"agent_id": agent, "content": content});
            let parameters = json!({"name": "add_core_memory", "arguments": arguments});
            let running = server.read().unwrap();
            let address = running.address.clone();
            let bytes = running.stateless_bytes("tools/call", parameters);
            // The server may be killed meanwhile.
            drop(running);
            let reply = send_to(&address, &bytes);
            let answer = reply.json();
            if answer.is_null() {
                assert!([0, 200].contains(&reply.status), "{reply:?}");
                return false;
            }
            let result = &answer["result"];
            if result["isError"] != true {
                assert_eq!(result["structuredContent"]["created"], true, "{}", reply.body);
                return true;
            }
            assert!(reply.body.contains("try again"), "{}", reply.body);
            self.retries.fetch_add(1, Ordering::SeqCst);
            thread::sleep(PAUSE);
        }
    }

    fn judge(self, server: &Server, total: usize, took: Duration) {
        let [acknowledged, unanswered] =
            [self.acknowledged, self.unanswered].map(|learned| learned.into_inner().unwrap());
        let all = acknowledged.iter().chain(&unanswered);
        let counts = all.map(|(agent, content)| stored(server, agent, content)).collect::<Vec<_>>();
        let (of_acknowledged, of_unanswered) = counts.split_at(acknowledged.len());
        let lost = of_acknowledged.iter().filter(|count| **count == 0).count();
        let doubled = counts.iter().filter(|count| **count > 1).count();
        println!(
            "{} acknowledged, {} without an answer ({} of them stored), {} retries, {lost} lost, \
             {doubled} doubled, the longest wait {:.1?}, in {took:.1?}",
            acknowledged.len(),
            unanswered.len(),
            of_unanswered.iter().sum::<usize>(),
            self.retries.into_inner(),
            self.longest.into_inner().unwrap(),
        );
        assert_eq!(acknowledged.len() + unanswered.len(), total);
        assert!(acknowledged.len() > total / 2);
        assert_eq!((lost, doubled), (0, 0));
    }
}

/// How many memories of an agent have a content, in a document and in rows.
fn stored(server: &Server, agent: &str, content: &str) -> usize {
    let reader = server.tree("records", "").reader();
    let document = reader.read(Area::Documents, &format!("{agent}.json"), u64::MAX).unwrap();
    let text = document.map(|document| String::from_utf8(document.contents).unwrap());
    let in_document = text.unwrap_or_default().matches(content).count();
    let sql = "SELECT 1 FROM memories AS m JOIN agents AS a ON a.key = m.agent \
               WHERE a.name = ?1 AND m.content = ?2";
    let parameters = [agent, content].map(|text| Value::Text(text.to_owned())).to_vec();
    let statement = Statement { sql: sql.to_owned(), parameters };
    in_document + server.database().query(&statement, 10).unwrap().rows.len()
}

fn wait_until(is_so: impl Fn() -> bool) {
    let until = Instant::now() + TIMEOUT;
    while !is_so() {
        assert!(Instant::now() < until, "it takes too long");
        thread::sleep(Duration::from_millis(1));
    }
}
