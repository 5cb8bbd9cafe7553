//! Every request of a call to PostgreSQL fails once, in every way: the connection ends before the
//! server gets the request or after it has answered, the server ends the connection, or the server
//! answers with an error.
//!
//! A call then succeeds, or its error says what to do. The stored rows are as before the call or as
//! after it. The same call, made again, ends as if it had been made once.

use std::collections::BTreeSet;
use std::env;
use std::time::{Duration, Instant};

use agent_memory_conformance::case::Request;
use agent_memory_conformance::faults::MAY_STAND;
use agent_memory_host::database::DatabaseOptions;
use agent_memory_host::storage::{Statement, Value as SqlValue};
use agent_memory_host::{AgentMemory, Caller, Clock, Random};
use agent_memory_storage_postgres::Server;
use agent_memory_tests::faulty_proxy::{Fault, FaultyProxy};
use agent_memory_tests::postgres::{self, PostgresServer};
use agent_memory_tests::runners::component::send;
use serde_json::Value;
use tokio::runtime::Runtime;

/// The calls, as requests of the conformance suite. The calls of `setup` come before each other call.
const CALLS: &str = include_str!("postgres/calls.json");

const TOOLSETS: [&str; 6] = ["records", "layers", "items", "stores", "files", "memory"];

const NOW: &str = "2026-01-20T10:00:00Z";

/// The tables whose rows a call may change.
const TABLES: [&str; 14] = [
    "agents",
    "memories",
    "memory_tags",
    "core_memories",
    "recent_memories",
    "current_task",
    "episodic_memories",
    "memory_compost",
    "layers_agents",
    "layers_summaries",
    "layers_batches",
    "items",
    "documents",
    "places",
];

/// The variable that asks for every fault in every request.
const ALL: &str = "ALL_FAULTS";

/// The faults, each with the number of requests in a row that meet it.
const FAULTS: [(Fault, usize); 8] = [
    (Fault::CutBefore, 1),
    // The request is lost again when the client repeats it.
    (Fault::CutBefore, 2),
    (Fault::CutAfter, 1),
    (Fault::Shutdown, 1),
    // A serialisation failure, and a deadlock.
    (Fault::Error("40001"), 1),
    (Fault::Error("40P01"), 1),
    // A full disk, and an error of the server itself.
    (Fault::Error("53100"), 1),
    (Fault::Error("XX000"), 1),
];

/// The advice in an error after a fault.
fn advice(fault: Fault) -> &'static str {
    match fault {
        Fault::Error("XX000") => "the log of its server",
        Fault::Error("53100") => "make room",
        _ => "nothing was changed: try again",
    }
}

/// A database in the state before each call.
struct Scratch {
    administrator: Server,
    proxy: FaultyProxy,
    runtime: Runtime,
    directory: tempfile::TempDir,
    /// The statements that restore the state before each call.
    restore: String,
    /// The statements that reset the numbers of new rows. PostgreSQL does not take back the numbers of
    /// failed calls, so a repeated call would get other ones.
    numbers: String,
    /// The ids of two memories in the restored state: one in rows and one in a document.
    ids: [String; 2],
    before: Stored,
    clients: usize,
    _database: PostgresServer,
}

/// All rows as JSON, without the values that differ from call to call.
type Stored = Vec<String>;

impl Scratch {
    /// `None` without PostgreSQL.
    #[track_caller]
    fn start() -> Option<Self> {
        let database = PostgresServer::start()?;
        let administrator = postgres::database(&database.administrator_url_text());
        let proxy = FaultyProxy::start(database.socket_directory());
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let mut scratch = Scratch {
            administrator,
            proxy,
            runtime,
            directory: tempfile::tempdir().unwrap(),
            restore: String::new(),
            numbers: String::new(),
            ids: Default::default(),
            before: Vec::new(),
            clients: 0,
            _database: database,
        };
        let client = scratch.client();
        for request in calls("setup") {
            let (is_error, answer) = scratch.ask(&client, &request);
            assert!(!is_error, "{request:?}: {answer}");
        }
        scratch.ids = [
            "SELECT id FROM agent_memory.memories ORDER BY key LIMIT 1",
            "SELECT substring(convert_from(bytes, 'UTF8') FROM '[0-9a-f]{8}-[0-9a-f-]{27}') \
             FROM agent_memory.documents WHERE place = 'records' AND path = 'bob.json'",
        ]
        .map(|sql| scratch.texts(sql).remove(0));
        scratch.before = scratch.stored();
        scratch.save();
        Some(scratch)
    }

    /// A new process with the memory. Its requests are those that the proxy counts.
    fn client(&mut self) -> AgentMemory {
        self.clients += 1;
        let url = self.proxy.url_text(&format!("client-{}", self.clients));
        let options = DatabaseOptions::new(url.parse().unwrap()).with_connections(2);
        let clock = Clock::Fixed { start: NOW.parse().unwrap(), step: Duration::ZERO };
        let builder = AgentMemory::builder().toolsets(TOOLSETS).clock(clock).database(options);
        let data = self.directory.path().join(self.clients.to_string());
        builder.random(Random::Fixed(1)).data_dir(data).build().unwrap()
    }

    /// Whether the answer is an error, and the answer.
    fn ask(&self, client: &AgentMemory, request: &Request) -> (bool, String) {
        let outcome = self.runtime.block_on(send(client, request, Caller::default())).unwrap();
        (outcome.answer.is_err(), outcome.json().to_owned())
    }

    /// The first column of a query.
    fn texts(&self, sql: &str) -> Vec<String> {
        let statement = Statement { sql: sql.to_owned(), parameters: Vec::new() };
        let answer = self.administrator.database().query(&statement, 100_000).expect(sql);
        let text = |row: Vec<SqlValue>| match row.into_iter().next() {
            Some(SqlValue::Text(text)) => text,
            other => panic!("{sql}: {other:?}"),
        };
        answer.rows.into_iter().map(text).collect()
    }

    fn stored(&self) -> Stored {
        let tables = TABLES.map(|table| {
            let row = match table {
                "documents" => {
                    "jsonb_build_object('place', place, 'area', area, 'path', path, \
                     'text', convert_from(bytes, 'UTF8'))"
                }
                _ => "to_jsonb(t)",
            };
            // A call makes a store before its first memory, and may fail between. So an empty store
            // counts as none.
            let of_which = match table {
                "places" => "WHERE place IN (SELECT place FROM agent_memory.documents)",
                _ => "",
            };
            format!("SELECT '{table} ' || {row}::text FROM agent_memory.{table} AS t {of_which}")
        });
        let mut rows: Vec<String> = self
            .texts(&tables.join(" UNION ALL "))
            .iter()
            .map(|row| self.without_new_ids(row))
            .collect();
        rows.sort();
        rows
    }

    /// A text without the ids that a call has made.
    fn without_new_ids(&self, text: &str) -> String {
        let is_id = |part: &&str| part.len() == 36 && part.matches('-').count() == 4;
        let parts = text.split(|letter: char| !letter.is_ascii_hexdigit() && letter != '-');
        let ids: BTreeSet<&str> = parts.filter(is_id).collect();
        let is_new = |id: &&str| !self.before.iter().any(|row| row.contains(*id));
        let new = ids.into_iter().filter(is_new);
        new.fold(text.to_owned(), |text, id| text.replace(id, "new id"))
    }

    /// Copies all rows, and notes the numbers that the next rows get.
    fn save(&mut self) {
        let mut save = "CREATE SCHEMA saved;".to_owned();
        let mut restore = "BEGIN; SET LOCAL session_replication_role = replica;".to_owned();
        for table in TABLES {
            save += &format!("CREATE TABLE saved.{table} AS TABLE agent_memory.{table};");
            let columns = self.texts(&format!(
                "SELECT string_agg(quote_ident(column_name), ', ') FROM information_schema.columns \
                 WHERE table_schema = 'agent_memory' AND table_name = '{table}' \
                 AND is_generated = 'NEVER'"
            ));
            restore += &format!(
                "DELETE FROM agent_memory.{table}; \
                 INSERT INTO agent_memory.{table} ({columns}) OVERRIDING SYSTEM VALUE \
                 SELECT {columns} FROM saved.{table};",
                columns = columns[0]
            );
        }
        self.administrator.execute(&save).unwrap();
        let numbers = "SELECT format('SELECT setval(%L, coalesce(max(%I), 0) + 1, false) \
             FROM agent_memory.%I;', pg_get_serial_sequence('agent_memory.' || table_name, column_name), \
             column_name, table_name) FROM information_schema.columns \
             WHERE table_schema = 'agent_memory' AND is_identity = 'YES' AND table_name <> 'tenants'";
        self.numbers = self.texts(numbers).concat();
        self.restore = restore + &self.numbers + "COMMIT";
    }

    /// A request with ids in place of `{row}` and `{document}`.
    fn filled(&self, request: &Request) -> Request {
        let text = serde_json::to_string(request).unwrap();
        let text = text.replace("{row}", &self.ids[0]).replace("{document}", &self.ids[1]);
        serde_json::from_str(&text).unwrap()
    }
}

fn calls(kind: &str) -> Vec<Request> {
    let all: Value = serde_json::from_str(CALLS).unwrap();
    serde_json::from_value(all[kind].clone()).unwrap()
}

/// How many faults there were, and how many calls succeeded in spite of one.
#[derive(Debug, Default)]
struct Figures {
    requests: usize,
    faults: usize,
    succeeded: usize,
    /// How many faults met no request.
    missed: usize,
}

/// How a call with a fault ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Met {
    Success,
    /// With an error, or with an answer that names its missing parts.
    Error,
    /// The call made fewer requests. A read may give up its snapshot only after the call.
    Nothing,
}

/// The changes that a call may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// It makes one commit.
    Writes,
    /// It makes several commits. Its answer names the steps that failed.
    InSteps,
    /// It changes nothing.
    Reads,
}

impl Kind {
    /// The faults of the request after `at` others. With `ALL_FAULTS=1` they are all faults, otherwise
    /// a few, which differ from request to request.
    fn faults(self, at: usize) -> Vec<(Fault, usize)> {
        let every = FAULTS.len();
        let wanted = match self {
            _ if env::var_os(ALL).is_some() => every,
            Kind::Writes => 5,
            Kind::InSteps => 2,
            Kind::Reads => 3,
        };
        (0..wanted).map(|number| FAULTS[(at * wanted + number) % every]).collect()
    }
}

/// A request, and its results without a fault.
struct Subject {
    request: Request,
    /// How many requests of PostgreSQL it takes.
    requests: usize,
    answer: String,
    after: Stored,
}

impl Subject {
    fn new(scratch: &mut Scratch, request: &Request, kind: Kind) -> Self {
        let request = scratch.filled(request);
        scratch.administrator.execute(&scratch.restore).unwrap();
        let mut count = || {
            let client = scratch.client();
            scratch.proxy.begin(None, 0);
            let (is_error, answer) = scratch.ask(&client, &request);
            let requests = scratch.proxy.end().0;
            assert!(!is_error && requests > 0, "{request:?}: {answer}");
            (requests, answer)
        };
        let (mut requests, mut answer) = count();
        if kind == Kind::Reads {
            // The first searches make an index and merge its parts.
            for _ in 0..10 {
                let before = requests;
                (requests, answer) = count();
                if requests == before {
                    break;
                }
            }
        }
        let answer = scratch.without_new_ids(&answer);
        let after = scratch.stored();
        Subject { request, requests, answer, after }
    }

    /// Makes the request with a fault.
    fn check(
        &self,
        scratch: &mut Scratch,
        at: usize,
        (fault, times): (Fault, usize),
        kind: Kind,
    ) -> Result<Met, String> {
        let wrong = |what: String, answer: &str| Err(format!("{what}: {answer}"));
        if kind != Kind::Reads {
            scratch.administrator.execute(&scratch.restore).unwrap();
        }
        let client = scratch.client();
        scratch.proxy.begin(Some((at, fault)), times);
        let (is_error, answer) = scratch.ask(&client, &self.request);
        let (_, met) = scratch.proxy.end();
        if met == 0 {
            return Ok(Met::Nothing);
        }
        let stored = scratch.stored();
        // A search, and a call that forgets, name the parts that they could not reach.
        let is_partial = kind != Kind::Writes && answer.contains(advice(fault));
        if !is_error && !is_partial {
            if stored != self.after {
                return wrong(differences(&stored, &self.after), &answer);
            }
            if scratch.without_new_ids(&answer) != self.answer {
                return wrong("another answer".into(), &answer);
            }
            return Ok(Met::Success);
        }
        let may_stand = answer.contains(MAY_STAND) || kind == Kind::InSteps && is_partial;
        let is_between = stored != scratch.before && stored != self.after;
        if !may_stand && stored != scratch.before || kind != Kind::InSteps && is_between {
            return wrong(differences(&stored, &scratch.before), &answer);
        }
        let says_both = answer.contains(MAY_STAND) && answer.contains("nothing was changed");
        if says_both || !may_stand && !answer.contains(advice(fault)) {
            return wrong("the error does not say what to do".into(), &answer);
        }
        if stored != self.after {
            scratch.administrator.execute(&scratch.numbers).unwrap();
            let (is_error, answer) = scratch.ask(&client, &self.request);
            let stored = scratch.stored();
            let is_as_once = match kind {
                // The first step of the failed call may have used up numbers.
                Kind::InSteps => without_numbers(&stored) == without_numbers(&self.after),
                Kind::Writes | Kind::Reads => stored == self.after,
            };
            if is_error || !is_as_once {
                return wrong(format!("again: {}", differences(&stored, &self.after)), &answer);
            }
        }
        Ok(Met::Error)
    }
}

/// Rows without the numbers of records and agents.
fn without_numbers(rows: &Stored) -> Stored {
    let without = |row: &String| {
        ["\"key\": ", "\"agent\": ", "\"memory\": "].iter().fold(row.clone(), |row, name| {
            let Some((before, after)) = row.split_once(name) else { return row };
            format!("{before}{}", after.trim_start_matches(|digit: char| digit.is_ascii_digit()))
        })
    };
    let mut rows: Vec<String> = rows.iter().map(without).collect();
    rows.sort();
    rows
}

/// The rows that only one of two states has.
fn differences(found: &Stored, expected: &Stored) -> String {
    let only = |one: &Stored, other: &Stored| -> Vec<String> {
        one.iter().filter(|row| !other.contains(row)).cloned().collect()
    };
    format!("too much: {:#?}, missing: {:#?}", only(found, expected), only(expected, found))
}

/// Makes all calls of a kind with all faults.
#[track_caller]
fn sweep(name: &str, kind: Kind) {
    let Some(mut scratch) = Scratch::start() else { return };
    let only = env::var("ONLY").ok();
    let began = Instant::now();
    let mut figures = Figures::default();
    let mut complaints = Vec::new();
    for request in calls(name) {
        let subject = Subject::new(&mut scratch, &request, kind);
        let name = serde_json::to_string(&request).unwrap();
        figures.requests += subject.requests;
        for at in 0..subject.requests {
            for fault in kind.faults(at) {
                let point = format!("{name} at {at} of {}: {fault:?}", subject.requests);
                if only.as_ref().is_some_and(|only| !point.contains(only)) {
                    continue;
                }
                figures.faults += 1;
                match subject.check(&mut scratch, at, fault, kind) {
                    Ok(Met::Success) => figures.succeeded += 1,
                    Ok(Met::Error) => {}
                    Ok(Met::Nothing) => figures.missed += 1,
                    Err(what) => complaints.push(format!("{point}: {what}")),
                }
            }
        }
    }
    println!("{figures:?} in {:.1?}", began.elapsed());
    // A search may leave work on its index to the next one. So the number of its requests varies, and
    // some faults meet none.
    assert!(figures.missed <= figures.faults / 4, "most faults meet a request");
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn a_fault_in_any_request_leaves_rows_as_before_or_after_the_call() {
    sweep("rows", Kind::Writes);
}

#[test]
fn a_fault_in_any_request_leaves_documents_as_before_or_after_the_call() {
    sweep("documents", Kind::Writes);
}

#[test]
fn a_call_of_several_commits_goes_on_where_a_fault_in_any_request_has_ended_it() {
    sweep("in_steps", Kind::InSteps);
}

#[test]
fn a_read_with_a_fault_in_any_request_is_right_or_says_what_to_do() {
    sweep("reads", Kind::Reads);
}
