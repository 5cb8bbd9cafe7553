//! Tokens of clients over HTTP: which tokens are accepted, and which memory each of them reaches.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use agent_memory_tests::TIMEOUT;
use agent_memory_tests::http_server::{HttpServer, Reply};
use agent_memory_tests::product::program;
use agent_memory_tests::runners::mcp_client::stateless;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A directory with the data of a server, and two repositories.
struct Scene {
    directory: TempDir,
}

impl Scene {
    fn new() -> Self {
        let scene = Scene { directory: tempfile::tempdir().expect("a directory") };
        for name in ["one", "two"] {
            let git = scene.repository(name).join(".git");
            fs::create_dir_all(&git).expect("a directory");
            fs::write(git.join("HEAD"), "ref: refs/heads/main\n").expect("a file");
        }
        scene
    }

    fn path(&self) -> PathBuf {
        self.directory.path().canonicalize().expect("it is there")
    }

    fn repository(&self, name: &str) -> PathBuf {
        self.path().join("work").join(name)
    }

    fn data(&self) -> String {
        format!("--data-dir={}", self.path().join("data").display())
    }

    fn token(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(program("agent-memory"));
        command.arg("token").args(arguments).arg(self.data());
        command.env_clear().env("HOME", self.directory.path()).output().expect("it runs")
    }

    #[track_caller]
    fn create(&self, name: &str, arguments: &[&str]) -> String {
        let output = self.token(&[&["create", name], arguments].concat());
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
    }

    fn start(&self) -> HttpServer {
        HttpServer::start(&self.options(), self.directory.path())
    }

    fn options(&self) -> Vec<String> {
        let allow = format!("--allow={}", self.path().join("work").display());
        let memories = format!("--memory-dir={}", self.path().join("memories").display());
        vec!["--toolset=all".to_owned(), allow, memories, self.data()]
    }
}

/// Sends a request with a token, or with none.
fn ask(server: &HttpServer, token: &str, method: &str, parameters: Value) -> Reply {
    server.stateless_as(token, method, parameters)
}

fn call(server: &HttpServer, token: &str, tool: &str, arguments: Value) -> Reply {
    ask(server, token, "tools/call", json!({ "name": tool, "arguments": arguments }))
}

#[track_caller]
fn called(server: &HttpServer, token: &str, tool: &str, arguments: Value) -> Value {
    let reply = call(server, token, tool, arguments);
    let result = &reply.json()["result"];
    assert!(reply.status == 200 && result["isError"] != true, "{tool}: {}", reply.body);
    result["structuredContent"].clone()
}

/// The text of a tool's error.
#[track_caller]
fn refused(server: &HttpServer, token: &str, tool: &str, arguments: Value) -> String {
    let reply = call(server, token, tool, arguments);
    let message = reply.json();
    assert_eq!((reply.status, &message["result"]["isError"]), (200, &json!(true)), "{message}");
    message["result"]["content"][0]["text"].as_str().expect("a text").to_owned()
}

fn tools(server: &HttpServer, token: &str) -> Vec<String> {
    let listed = ask(server, token, "tools/list", json!({})).json();
    let tools = listed["result"]["tools"].as_array().expect("tools");
    tools.iter().filter_map(|tool| tool["name"].as_str()).map(str::to_owned).collect()
}

/// Subscribes to a resource.
fn listen(server: &HttpServer, token: &str, uri: &str) -> BufReader<TcpStream> {
    let listen = json!({ "notifications": { "resourceSubscriptions": [uri] } });
    let bearer = format!("Bearer {token}");
    let fields = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "subscriptions/listen"),
        ("Authorization", if token.is_empty() { "" } else { &bearer }),
    ];
    let body = stateless(1, "subscriptions/listen", listen).to_string();
    let request = server.bytes("POST", "/mcp", &fields, &body);
    BufReader::new(server.connect(&request).expect("a connection"))
}

/// Waits until the server listens.
#[track_caller]
fn begins(stream: &mut BufReader<TcpStream>) {
    let mut line = String::new();
    while !line.contains("acknowledged") {
        line.clear();
        assert!(stream.read_line(&mut line).expect("an answer") > 0, "it ends");
    }
}

/// Waits until the server ends a stream, which must not report a change before.
#[track_caller]
fn ends(stream: &mut BufReader<TcpStream>) {
    let mut rest = String::new();
    stream.read_to_string(&mut rest).expect("an end");
    assert!(!rest.contains("resources/updated"), "{rest}");
}

/// Changes something until the stream reports that a resource has changed. The first change may come
/// before the server listens. False if the stream ends before.
fn hears(stream: &mut BufReader<TcpStream>, uri: &str, change: &dyn Fn()) -> bool {
    let pause = Some(Duration::from_millis(200));
    stream.get_ref().set_read_timeout(pause).expect("a timeout");
    let until = Instant::now() + TIMEOUT;
    let mut line = String::new();
    while Instant::now() < until {
        change();
        loop {
            match stream.read_line(&mut line) {
                Ok(0) => return false,
                Ok(_) if line.contains("resources/updated") && line.contains(uri) => return true,
                Ok(_) => line.clear(),
                Err(_) => break,
            }
        }
    }
    panic!("nothing is told, and the stream does not end");
}

#[test]
fn nobody_gets_in_without_a_token_that_holds() {
    let scene = Scene::new();
    let token = scene.create("ada", &[]);
    let short = scene.create("short", &["--expires", "1ms"]);
    let server = scene.start();
    assert_eq!(ask(&server, &token, "tools/list", json!({})).status, 200);
    let wrong = format!("{}0", &token[..token.len() - 1]);
    let wrong = if wrong == token { format!("{}1", &token[..token.len() - 1]) } else { wrong };
    for bad in ["", "x", &wrong, &token[1..], &short, &format!("{token}0")] {
        let reply = ask(&server, bad, "tools/list", json!({}));
        assert_eq!(reply.status, 401, "{bad:?}: {}", reply.body);
        assert_eq!(reply.field("www-authenticate"), Some("Bearer"), "{bad:?}");
        let json = reply.json();
        let expected = if bad.is_empty() { "send a token" } else { "unknown, revoked or expired" };
        assert!(
            json["error"].as_str().is_some_and(|told| told.contains(expected)),
            "{bad:?}: {json}"
        );
    }
    let basic = [("Authorization", "Basic YTpi")];
    assert_eq!(server.request("POST", "/mcp", &basic, "{}").status, 401);
    // Programs that watch a server have no token.
    assert_eq!(server.request("GET", "/readyz", &[], "").status, 200);

    // A token that is revoked while a server runs.
    assert!(scene.token(&["revoke", "ada"]).status.success());
    assert_eq!(ask(&server, &token, "tools/list", json!({})).status, 401);
}

#[test]
fn a_server_that_began_without_tokens_asks_for_one_from_the_first_on() {
    let scene = Scene::new();
    let server = scene.start();
    let list = |token: &str| ask(&server, token, "tools/list", json!({})).status;
    assert_eq!(list(""), 200);
    let uri = "memory://ada/stats";
    let mut stream = listen(&server, "", uri);
    begins(&mut stream);
    let token = scene.create("ada", &[]);
    assert_eq!((list(""), list(&token)), (401, 200));
    // A stream that began without a token reports nothing more.
    let memory = json!({ "agent_id": "ada", "content": "Kites are red.", "type": "core" });
    let store = || drop(called(&server, &token, "store_memory", memory.clone()));
    assert!(!hears(&mut stream, uri, &store));
    // The server still asks for a token when none is left.
    assert!(scene.token(&["revoke", "ada"]).status.success());
    assert_eq!((list(""), list(&token)), (401, 401));
}

#[test]
fn a_file_of_tokens_that_is_damaged_or_replaced_lets_nobody_in_by_mistake() {
    let scene = Scene::new();
    let token = scene.create("ada", &["--agents", "ada"]);
    let server = scene.start();
    let list = |token: &str| ask(&server, token, "tools/list", json!({})).status;
    assert_eq!(list(&token), 200);
    let data = scene.path().join("data");
    let file = data.join("tokens.json");
    let whole = fs::read_to_string(&file).expect("a file");
    for damaged in [
        whole.replace("\"agents\"", "\"agent\""),
        whole.replace("\"read_only\": false", "\"read_only\": false, \"only\": 1"),
        whole.replace("\"stores\": null,", ""),
        "{".to_owned(),
    ] {
        assert_ne!(damaged, whole);
        fs::write(&file, damaged).expect("it is written");
        assert_eq!(list(&token), 503);
        assert_eq!(scene.token(&["list"]).status.code(), Some(3));
    }
    fs::write(&file, &whole).expect("it is written");
    assert_eq!(list(&token), 200);
    // Another directory, with a copy of the file, takes the place of the data directory.
    fs::rename(&data, scene.path().join("before")).expect("it is moved");
    fs::create_dir(&data).expect("a directory");
    fs::write(&file, &whole).expect("a copy");
    assert!(scene.token(&["revoke", "ada"]).status.success());
    assert_eq!(list(&token), 401);
}

#[test]
fn a_token_cannot_be_made_for_what_nothing_is_called() {
    let scene = Scene::new();
    for wrong in [
        &["a b"][..],
        &[""],
        &["x", "--agents", ""],
        &["x", "--agents", "ada,../bob"],
        &["x", "--stores", "*"],
        &["x", "--expires", "0d"],
        &["x", "--expires", "99999999d"],
        &["x", "--repositories", "/no such directory"],
    ] {
        let made = scene.token(&[&["create"], wrong].concat());
        assert_eq!(made.status.code(), Some(2), "{wrong:?}: {made:?}");
    }
    assert!(scene.token(&["list"]).stdout.is_empty());
}

#[test]
fn a_token_reaches_what_it_was_made_for() {
    let scene = Scene::new();
    let all = scene.create("all", &[]);
    let one = scene.create("one", &["--agents", "ada", "--stores", "team"]);
    let server = scene.start();
    for agent in ["ada", "bob"] {
        let content = format!("{agent} likes kites");
        called(
            &server,
            &all,
            "store_memory",
            json!({ "agent_id": agent, "content": content, "type": "core" }),
        );
    }
    for store in ["team", "other"] {
        let memory = json!({ "store": store, "path": "notes/kite", "content": "Kites are red." });
        called(&server, &all, "add_memory", memory);
    }

    // The token reaches its own agent without naming it.
    let found = called(&server, &one, "search_memory", json!({ "query": "kites" })).to_string();
    assert!(found.contains("ada likes kites") && found.contains("team"), "{found}");
    assert!(!found.contains("bob") && !found.contains("other"), "{found}");
    // A name that exists and one that does not are refused with the same message.
    let of = |agent: &str| refused(&server, &one, "recall_context", json!({ "agent_id": agent }));
    assert_eq!(of("bob").replace("bob", "X"), of("eve").replace("eve", "X"));
    assert!(!of("bob").contains("kites"));
    let of = |store: &str| refused(&server, &one, "list_memories", json!({ "store": store }));
    assert_eq!(of("other").replace("other", "X"), of("none").replace("none", "X"));
}

#[test]
fn a_token_that_only_reads_knows_no_tool_that_writes() {
    let scene = Scene::new();
    let all = scene.create("all", &[]);
    let reads = scene.create("reads", &["--read-only"]);
    let server = scene.start();
    let every = tools(&server, &all);
    let some = tools(&server, &reads);
    assert!(every.contains(&"store_memory".to_owned()) && every.len() > some.len());
    assert!(!some.contains(&"store_memory".to_owned()), "{some:?}");
    assert!(some.contains(&"search_memory".to_owned()), "{some:?}");
    let memory = json!({ "content": "no", "type": "core" });
    let written = call(&server, &reads, "store_memory", memory.clone()).json();
    let unknown = call(&server, &reads, "no_such_tool", memory).json();
    let shown = |message: &Value, tool: &str| message["error"].to_string().replace(tool, "X");
    assert_eq!(shown(&written, "store_memory"), shown(&unknown, "no_such_tool"));
    assert!(written["error"].is_object(), "{written}");
}

#[test]
fn a_token_for_some_repositories_knows_no_other() {
    let scene = Scene::new();
    let all = scene.create("all", &[]);
    let directory = scene.repository("one").display().to_string();
    let one = scene.create("one", &["--repositories", &directory]);
    let server = scene.start();
    let start = |root: &Path| json!({ "agent_name": "ada", "repo_root": root });
    for name in ["one", "two"] {
        called(&server, &all, "start_session", start(&scene.repository(name)));
    }
    called(&server, &one, "list_sessions", start(&scene.repository("one")));
    let other = scene.repository("two");
    let none = scene.repository("six");
    let of = |root: &Path| {
        let text = refused(&server, &one, "list_sessions", start(root));
        text.replace(&root.display().to_string(), "X")
    };
    assert_eq!(of(&other), of(&none));
    // Without a name, a call uses the repository that the token reaches.
    called(&server, &one, "list_sessions", json!({ "agent_name": "ada" }));
}

#[test]
fn who_may_no_longer_read_hears_of_no_change() {
    let scene = Scene::new();
    let all = scene.create("all", &[]);
    let ada = scene.create("ada", &["--agents", "ada"]);
    let server = scene.start();
    let store = |agent: &str, content: &str| {
        let memory = json!({ "agent_id": agent, "content": content, "type": "core" });
        called(&server, &all, "store_memory", memory);
    };
    store("bob", "begins");
    store("ada", "begins");
    let bobs = "memory://bob/stats";
    let adas = "memory://ada/stats";
    let mut of_all = listen(&server, &all, bobs);
    let mut own = listen(&server, &ada, adas);
    let mut foreign = listen(&server, &ada, bobs);
    for stream in [&mut of_all, &mut own, &mut foreign] {
        begins(stream);
    }
    assert!(hears(&mut of_all, bobs, &|| store("bob", "likes kites")));
    assert!(hears(&mut own, adas, &|| store("ada", "likes boats")));

    assert!(scene.token(&["revoke", "ada"]).status.success());
    // Both streams end, and report nothing more.
    assert!(!hears(&mut own, adas, &|| store("ada", "likes planes")));
    assert!(!hears(&mut foreign, bobs, &|| store("bob", "likes trains")));
}

#[test]
fn a_stream_ends_with_its_token_while_nothing_changes() {
    let scene = Scene::new();
    let server = scene.start();
    let uri = "memory://ada/stats";
    let mut of_anybody = listen(&server, "", uri);
    begins(&mut of_anybody);
    let token = scene.create("ada", &[]);
    ends(&mut of_anybody);
    let mut of_ada = listen(&server, &token, uri);
    begins(&mut of_ada);
    assert!(scene.token(&["revoke", "ada"]).status.success());
    ends(&mut of_ada);
}

#[test]
fn a_token_has_a_limit_of_open_streams() {
    let scene = Scene::new();
    let [ada, bob] = ["ada", "bob"].map(|name| scene.create(name, &[]));
    let server = scene.start();
    let opened = |token: &str| {
        let mut stream = listen(&server, token, "memory://ada/stats");
        let mut status = String::new();
        stream.read_line(&mut status).expect("an answer");
        if status.contains(" 200 ") { Ok(stream) } else { Err(stream) }
    };
    let mut open = Vec::new();
    let mut refused = loop {
        match opened(&ada) {
            Ok(stream) => open.push(stream),
            Err(refused) => break refused,
        }
    };
    assert_eq!(open.len(), 64);
    let mut answer = String::new();
    refused.read_to_string(&mut answer).expect("an answer");
    assert!(answer.contains("this token has 64 open subscriptions"), "{answer}");
    assert!(answer.contains("retry-after: 10"), "{answer}");
    // Other requests of the token are answered, and streams of other tokens.
    assert_eq!(ask(&server, &ada, "tools/list", json!({})).status, 200);
    assert!(opened(&bob).is_ok());
    // A stream that its client ends makes room.
    open.pop();
    let until = Instant::now() + TIMEOUT;
    while opened(&ada).is_err() {
        assert!(Instant::now() < until, "there is no room");
        thread::sleep(Duration::from_millis(20));
    }
    // The streams of a revoked token end.
    assert!(scene.token(&["revoke", "ada"]).status.success());
    for stream in &mut open {
        ends(stream);
    }
}

#[test]
fn a_resource_is_that_of_the_repository_that_its_reader_reaches() {
    let scene = Scene::new();
    let all = scene.create("all", &[]);
    let of = |name: &str| {
        let directory = scene.repository(name).display().to_string();
        scene.create(name, &["--repositories", &directory])
    };
    let one = of("one");
    let two = of("two");
    let server = scene.start();
    let uri = "sessions://ada/summary";
    let mut streams = [listen(&server, &one, uri), listen(&server, &two, uri)];
    for stream in &mut streams {
        begins(stream);
    }
    let [mut of_one, mut of_two] = streams;
    let update = |name: &str, token: &str| {
        let arguments = json!({
            "agent_name": "ada", "repo_root": scene.repository(name), "mode": "append",
            "section": "Key Knowledge", "content": "Kites are red.",
        });
        called(&server, token, "update_summary", arguments);
    };
    let start = json!({ "agent_name": "ada", "repo_root": scene.repository("two") });
    called(&server, &all, "start_session", start);
    assert!(hears(&mut of_two, uri, &|| update("two", &two)));
    assert!(scene.token(&["revoke", "one"]).status.success());
    // The stream of `one` ends, and has reported nothing.
    assert!(!hears(&mut of_one, uri, &|| update("two", &two)));
}

#[test]
fn tokens_are_listed_with_their_last_use_and_without_their_secret() {
    let scene = Scene::new();
    let token = scene.create("ada", &["--read-only", "--expires", "90d"]);
    let secret = token.rsplit('_').next().expect("a secret");
    let taken = scene.token(&["create", "ada"]);
    assert_eq!(taken.status.code(), Some(2), "{taken:?}");
    let server = scene.start();
    assert_eq!(ask(&server, &token, "tools/list", json!({})).status, 200);
    server.end().expect("it ends");
    let listed = scene.token(&["list", "--json"]);
    let text = String::from_utf8(listed.stdout).expect("UTF-8");
    let tokens: Value = serde_json::from_str(&text).expect("JSON");
    assert!(!text.contains(secret), "{text}");
    assert_eq!((&tokens[0]["name"], &tokens[0]["read_only"]), (&json!("ada"), &json!(true)));
    assert!(tokens[0]["last_used"].is_string() && tokens[0]["expires"].is_string(), "{text}");
    let file = scene.path().join("data/tokens.json");
    assert!(!fs::read_to_string(&file).expect("a file").contains(secret));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(&file).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o077, 0, "{mode:o}");
    }
    let unknown = scene.token(&["revoke", "eve"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("token list"), "{unknown:?}");
}

#[test]
fn who_changed_what_is_logged_without_contents() {
    let scene = Scene::new();
    let token = scene.create("adas-laptop", &[]);
    let path = scene.path().join("log");
    let log = Stdio::from(fs::File::create(&path).expect("a file"));
    let options = [scene.options(), vec!["--log-level=ERROR".to_owned()]].concat();
    let server = HttpServer::start_at("127.0.0.1:0", &options, scene.directory.path(), log);
    let memory = json!({ "store": "team", "path": "notes/kite", "content": "Kites are red." });
    called(&server, &token, "add_memory", memory.clone());
    refused(&server, &token, "add_memory", memory);
    called(&server, &token, "search_memory", json!({ "query": "kites" }));
    server.end().expect("it ends");
    let log = fs::read_to_string(&path).expect("a log");
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("token=")).collect();
    assert_eq!(lines.len(), 2, "{log}");
    for (line, outcome) in lines.iter().zip(["done", "refused"]) {
        assert!(line.contains("adas-laptop") && line.contains("add_memory"), "{line}");
        assert!(line.contains(&format!("outcome=\"{outcome}\"")), "{line}");
    }
    assert!(lines[0].contains("team"), "{log}");
    assert!(!log.contains("red") && !log.contains(&token), "{log}");
}

#[test]
fn with_tokens_other_machines_are_served_by_the_names_that_are_allowed() {
    let scene = Scene::new();
    let exposed = "0.0.0.0:0";
    let refused = Command::new(program("agent-memory"))
        .args(["serve", "--http", exposed])
        .args(scene.options())
        .env_clear()
        .env("HOME", scene.directory.path())
        .output()
        .expect("it runs");
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("token create"), "{refused:?}");

    let token = scene.create("ada", &[]);
    let options = [scene.options(), vec!["--allow-host=memory.example.com".to_owned()]].concat();
    let directory = scene.directory.path();
    let server = HttpServer::start_at(exposed, &options, directory, Stdio::null());
    let bearer = format!("Bearer {token}");
    let status = |host: &str, bearer: &str| {
        let fields = [
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/list"),
            ("Authorization", bearer),
            ("Host", host),
        ];
        let body = stateless(1, "tools/list", json!({})).to_string();
        server.request("POST", "/mcp", &fields, &body).status
    };
    assert_eq!(status("memory.example.com", &bearer), 200);
    assert_eq!(status("memory.example.com", ""), 401);
    assert_eq!(status("evil.example.com", &bearer), 403);
}

#[test]
fn numbers_are_for_those_with_a_token_and_name_nobody() {
    let scene = Scene::new();
    let token = scene.create("watcher", &["--agents", "ada"]);
    let server = scene.start();
    let memory = json!({ "content": "Kites are red.", "type": "core" });
    called(&server, &token, "store_memory", memory);
    assert_eq!(server.request("GET", "/metrics", &[], "").status, 401);
    let bearer = format!("Bearer {token}");
    let reply = server.request("GET", "/metrics", &[("Authorization", &bearer)], "");
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert!(reply.field("content-type").is_some_and(|of| of.contains("openmetrics")));
    let call = "calls_total{toolset=\"records\",tool=\"store_memory\",outcome=\"done\"} 1";
    assert!(reply.body.contains(call), "{}", reply.body);
    assert!(reply.body.contains("http_responses_total{status=\"401\"} 1"), "{}", reply.body);
    for secret in ["ada", "watcher", "kite"] {
        assert!(!reply.body.contains(secret), "{secret}: {}", reply.body);
    }
}
