//! Vectors by an embedder over HTTP. A local server plays the embedder.

mod model_server;
mod process;

use model_server::{ModelServer, Reply, Request, TIMEOUT};
use process::{Client, ProtocolVersion, agent_memory};
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

const KEY: &str = "sk-very-secret";
const SLOOP: &str = "The sloop is moored at the pier.";

/// A directory with records in SQLite, and with the log of its servers.
struct Records {
    directory: tempfile::TempDir,
}

impl Records {
    fn new() -> Records {
        Records { directory: tempfile::tempdir().expect("a temporary directory") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The program on these records, without an embedder.
    fn program(&self, command: &str) -> Command {
        let mut program = agent_memory(self.directory.path());
        program.env("AGENT_MEMORY_MEMORY_DIR", self.path("records"));
        program.env("AGENT_MEMORY_DATA_DIR", self.path("data"));
        program.env("AGENT_MEMORY_RECORDS_FORMAT", "sqlite");
        program.env("AGENT_MEMORY_TOOLSET", "records");
        program.arg(command);
        program
    }

    /// The program on these records, with `server` as its embedder.
    fn with(&self, command: &str, server: &ModelServer) -> Command {
        let mut program = self.program(command);
        program.env("AGENT_MEMORY_EMBEDDER", format!("{}/v1/", server.url));
        program.env("AGENT_MEMORY_EMBEDDER_MODEL", "local");
        program
    }

    fn client(&self, serve: &mut Command) -> Client {
        let log = File::options().append(true).create(true).open(self.path("log"));
        Client::logging(serve, ProtocolVersion::Stateless, log.expect("a log").into())
    }

    fn log(&self) -> String {
        fs::read_to_string(self.path("log")).expect("a log")
    }

    fn wait_until(&self, what: &str, holds: impl Fn() -> bool) {
        let start = Instant::now();
        while !holds() {
            assert!(start.elapsed() < TIMEOUT, "{what}: {}", self.log());
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn wait_for_log(&self, text: &str) {
        self.wait_until(text, || self.log().contains(text));
    }

    /// The number of vectors that are stored.
    fn vectors(&self) -> i64 {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let file = self.path("records").join(".agent-memory/derived/vectors.db");
        // The database is created with the first batch of vectors.
        let Ok(database) = Connection::open_with_flags(file, flags) else { return 0 };
        database.busy_timeout(TIMEOUT).expect("a time-out");
        let sql = "SELECT count(*) FROM vectors WHERE length(numbers) > 0";
        database.query_row(sql, [], |row| row.get(0)).unwrap_or_default()
    }

    fn wait_for_vectors(&self, count: i64) {
        self.wait_until("vectors are stored", || self.vectors() == count);
    }
}

/// The answer of an embedder.
fn vectors(vectors: &[&[f64]]) -> Reply {
    let data = vectors.iter().enumerate();
    let data = data.map(|(index, vector)| json!({"index": index, "embedding": vector}));
    Reply::ok(json!({"object": "list", "data": data.collect::<Vec<_>>(), "model": "local"}))
}

fn add(client: &mut Client, content: &str) {
    let added = client.call("add_core_memory", json!({"content": content}));
    assert_eq!(added["result"]["structuredContent"]["created"], true, "{added}");
}

fn search(client: &mut Client, query: &str) -> Value {
    let answer = client.call("search_memory", json!({"query": query}));
    let found = answer["result"]["structuredContent"].clone();
    assert!(found.is_object(), "{answer}");
    found
}

fn passages(found: &Value) -> Vec<&str> {
    let hits = found["hits"].as_array().expect("hits").iter();
    hits.map(|hit| hit["passage"].as_str().expect("a passage")).collect()
}

fn texts(request: &Request) -> &Value {
    assert_eq!(request.line, "POST /v1/embeddings");
    assert_eq!(request.body["model"], "local", "{}", request.body);
    &request.body["input"]
}

fn text_of(output: &Output) -> String {
    let both = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8(both).expect("UTF-8")
}

#[test]
fn a_new_memory_gets_its_vector_after_the_answer_and_a_query_finds_it_by_its_own() {
    let records = Records::new();
    let server = ModelServer::start([vectors(&[&[0.5, 0.5]]), vectors(&[&[1.0, 0.9]])]);
    let mut serve = records.with("serve", &server);
    // A proxy that the environment names is not used.
    serve.envs([("HTTP_PROXY", "http://127.0.0.1:1"), ("ALL_PROXY", "http://127.0.0.1:1")]);
    let mut client = records.client(serve.env("AGENT_MEMORY_EMBEDDER_KEY", KEY));
    add(&mut client, SLOOP);
    let request = server.request();
    assert_eq!(texts(&request), &json!([SLOOP]));
    let authorization = request.headers.get("authorization").map(String::as_str);
    assert_eq!(authorization, Some(&*format!("Bearer {KEY}")));
    records.wait_for_vectors(1);

    let found = search(&mut client, "dinghies");
    assert_eq!(texts(&server.request()), &json!(["dinghies"]));
    assert_eq!(passages(&found), [SLOOP]);
    assert!(client.end().1.success());
    let log = records.log();
    assert_eq!(log.matches(&server.url).count(), 1, "the destination once: {log}");
    assert!(!log.contains(KEY) && !log.contains(SLOOP), "{log}");
}

#[test]
fn a_search_answers_by_words_if_the_vector_of_its_query_is_wrong() {
    let records = Records::new();
    let replies = [
        vectors(&[&[1.0, 0.0]]),
        vectors(&[&[1.0, 0.0, 0.0]]),
        vectors(&[&[0.0, 0.0]]),
        vectors(&[&[1.0, 0.0]]),
    ];
    let server = ModelServer::start(replies);
    let mut client = records.client(&mut records.with("serve", &server));
    add(&mut client, SLOOP);
    records.wait_for_vectors(1);
    let of_another_dimension = search(&mut client, "feluccas");
    assert_eq!(passages(&of_another_dimension), [""; 0]);
    assert!(of_another_dimension.get("warnings").is_some(), "{of_another_dimension}");
    assert_eq!(passages(&search(&mut client, "ketches")), [""; 0]);
    assert!(records.log().contains("the vector of the query has only zeros"), "{}", records.log());
    assert_eq!(passages(&search(&mut client, "dinghies")), [SLOOP]);
    assert!(client.end().1.success());
}

#[test]
fn searches_answer_by_words_and_do_not_ask_an_embedder_that_just_failed() {
    for (replies, says) in [
        (vec![Reply::Hang], "did not answer in time"),
        (vec![Reply::status(500), Reply::status(500)], "answered 500"),
        (vec![vectors(&[])], "gave 0 vectors for a query"),
    ] {
        let records = Records::new();
        let asked = 1 + replies.len();
        let server = ModelServer::start([vectors(&[&[1.0, 0.0]])].into_iter().chain(replies));
        let mut client = records.client(&mut records.with("serve", &server));
        add(&mut client, SLOOP);
        records.wait_for_vectors(1);
        for (query, found) in [("dinghies", &[][..]), ("yawls", &[]), ("sloop", &[SLOOP])] {
            assert_eq!(passages(&search(&mut client, query)), found, "{says}");
        }
        assert!(client.end().1.success());
        assert_eq!(server.more_requests(), asked, "{says}");
        let log = records.log();
        assert!(log.contains(says), "{says}: {log}");
        assert_eq!(log.matches("searches go on without vectors").count(), 1, "{says}: {log}");
    }
}

#[test]
fn an_embedder_that_fails_is_asked_again_by_a_later_process() {
    let records = Records::new();
    let replies = [Reply::status(500), Reply::status(503), vectors(&[&[1.0, 0.0]])];
    let server = ModelServer::start(replies);
    let mut serve = records.with("serve", &server);
    let mut client = records.client(serve.args(["--fixed-clock", "2025-01-20T10:00:00Z"]));
    add(&mut client, SLOOP);
    records.wait_for_log("vectors are left for later");
    assert!(passages(&search(&mut client, "dinghies")).is_empty());
    assert!(client.end().1.success());
    assert_eq!(records.vectors(), 0);
    server.request();
    server.request();

    for (now, asked) in [("2025-01-20T10:00:30Z", 0), ("2025-01-20T10:01:00Z", 1)] {
        let mut serve = records.with("serve", &server);
        let client = records.client(serve.args(["--fixed-clock", now]));
        if asked > 0 {
            records.wait_for_vectors(1);
        }
        assert!(client.end().1.success());
        assert_eq!(server.more_requests(), asked, "at {now}");
    }
}

#[test]
fn an_answer_that_holds_no_vectors_is_refused_and_stores_nothing() {
    for (reply, says) in [
        (
            Reply::ok("{\"data\": [{\"embedding\": [NaN, 1]}]}"),
            "answered something that is no JSON",
        ),
        (Reply::ok(json!({"data": [{"embedding": [null, 1]}]})), "none of the API of embeddings"),
        (Reply::ok(json!({"data": [{"embedding": [1e300, 1]}]})), "no finite number at index 0"),
        (vectors(&[]), "gave 0 vectors for 1 texts"),
        (vectors(&[&[]]), "has 0 numbers instead of 1 to 4096"),
        (vectors(&[&[0.5; 4_097]]), "has 4097 numbers instead of 1 to 4096"),
        (Reply::Redirect("http://127.0.0.1:1/".to_owned()), "no redirect is followed"),
        (Reply::status(401), "answered 401"),
    ] {
        let records = Records::new();
        let server = ModelServer::start([reply]);
        let mut client = records.client(&mut records.with("serve", &server));
        add(&mut client, SLOOP);
        records.wait_for_log(says);
        assert!(client.end().1.success());
        assert_eq!(records.vectors(), 0, "{says}");
        server.request();
        assert_eq!(server.more_requests(), 0, "{says}");
    }
}

#[test]
fn vectors_of_another_dimension_than_before_are_refused_and_the_old_ones_stay() {
    let records = Records::new();
    let server = ModelServer::start([vectors(&[&[1.0, 0.0]]), vectors(&[&[1.0, 0.0, 0.0]])]);
    let mut client = records.client(&mut records.with("serve", &server));
    add(&mut client, SLOOP);
    records.wait_for_vectors(1);
    add(&mut client, "Bread needs salt.");
    records.wait_for_log("gave vectors of 2 numbers before, and of 3 now");
    assert!(client.end().1.success());
    assert_eq!(records.vectors(), 1);
}

#[test]
fn memories_that_wait_get_their_vectors_in_batches_when_a_server_starts() {
    let records = Records::new();
    let mut client = records.client(&mut records.program("serve"));
    for number in 0..33 {
        add(&mut client, &format!("Text {number}."));
    }
    assert!(client.end().1.success());
    let first: &[f64] = &[1.0, 0.0];
    let server = ModelServer::start([vectors(&[first; 32]), vectors(&[first])]);
    let client = records.client(&mut records.with("serve", &server));
    records.wait_for_vectors(33);
    assert!(client.end().1.success());
    let sizes = [server.request(), server.request()];
    let sizes = sizes.map(|request| texts(&request).as_array().expect("texts").len());
    assert_eq!(sizes, [32, 1]);
}

#[test]
fn a_command_waits_for_its_vectors_and_the_search_of_a_person_uses_them() {
    let records = Records::new();
    let one: &[f64] = &[1.0, 0.0];
    let server = ModelServer::start([vectors(&[one]), vectors(&[one]), vectors(&[one])]);
    let arguments = json!({"content": SLOOP}).to_string();
    let mut call = records.with("call", &server);
    let called = call.args(["add_core_memory", &arguments]).output().expect("it runs");
    assert!(called.status.success(), "{}", text_of(&called));
    assert_eq!(records.vectors(), 1);
    for arguments in [vec!["dinghies"], vec!["search_memory", "{\"query\": \"dinghies\"}"]] {
        let command = if arguments.len() == 1 { "search" } else { "call" };
        let output = records.with(command, &server).args(&arguments).output().expect("it runs");
        assert!(output.status.success(), "{}", text_of(&output));
        assert!(text_of(&output).contains(SLOOP), "{}", text_of(&output));
    }
}

#[test]
fn the_url_of_an_embedder_has_to_be_safe_and_needs_a_model() {
    let records = Records::new();
    let served = |arguments: &[&str]| {
        let output = records.program("serve").args(arguments).output().expect("it runs");
        (text_of(&output), output.status.code())
    };
    for url in ["http://models.example/v1", "https://me:secret@models.example", "models.example"] {
        let (log, status) = served(&["--embedder", url, "--embedder-model", "local"]);
        assert_eq!(status, Some(2), "{log}");
        assert!(log.contains("`--embedder` is not an `https://` URL"), "{log}");
        assert!(!log.contains("models.example"), "{log}");
    }
    let (log, status) = served(&["--embedder", "http://localhost:1"]);
    assert_eq!(status, Some(2), "{log}");
    assert!(log.contains("`--embedder` needs") && log.contains("`--embedder-model`"), "{log}");
}
