//! The built binary over HTTP: both protocol versions, hostile requests, many clients, and stopping.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use agent_memory_tests::TIMEOUT;
use agent_memory_tests::http_server::HttpServer;
use agent_memory_tests::product::program;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A server with records and stores in a directory of its own.
struct Scene {
    server: HttpServer,
    directory: TempDir,
}

impl Scene {
    #[track_caller]
    fn new() -> Self {
        Self::with(&[])
    }

    #[track_caller]
    fn with(arguments: &[&str]) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let server = HttpServer::start(&options(&directory, arguments), directory.path());
        Self { server, directory }
    }

    /// Another server with the same memory.
    #[track_caller]
    fn another(&self) -> HttpServer {
        HttpServer::start(&options(&self.directory, &[]), self.directory.path())
    }
}

fn options(directory: &TempDir, arguments: &[&str]) -> Vec<String> {
    let data = format!("--data-dir={}", directory.path().display());
    let options = ["--toolset=records,stores", data.as_str()];
    options.iter().chain(arguments).map(|option| (*option).to_owned()).collect()
}

/// A request of the protocol versions with `initialize`.
fn message(method: &str, parameters: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": parameters }).to_string()
}

fn initialize() -> String {
    let client = json!({ "name": "test", "version": "1" });
    let hello =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    message("initialize", hello)
}

#[test]
fn a_client_with_initialize_is_served_without_a_session() {
    let Scene { server, .. } = &Scene::new();
    let hello = server.request("POST", "/mcp", &[], &initialize());
    let result = &hello.json()["result"];
    assert_eq!(
        (hello.status, &result["protocolVersion"]),
        (200, &json!("2025-06-18")),
        "{hello:?}"
    );
    assert_eq!(hello.field("content-type"), Some("application/json"));
    assert_eq!(hello.field("mcp-session-id"), None);
    let resources = &result["capabilities"]["resources"];
    assert!(resources.is_object() && resources["subscribe"] != true, "{resources}");

    let version = [("MCP-Protocol-Version", "2025-06-18")];
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let noted = server.request("POST", "/mcp", &version, &initialized.to_string());
    assert_eq!((noted.status, noted.body.as_str()), (202, ""));
    let add = json!({ "name": "add_core_memory", "arguments": { "content": "Kites are red." } });
    let added = server.request("POST", "/mcp", &version, &message("tools/call", add));
    assert_eq!(added.json()["result"]["isError"], false, "{added:?}");
    let query = json!({ "name": "query_memories", "arguments": { "search": "kites" } });
    let found = server.request("POST", "/mcp", &version, &message("tools/call", query));
    assert_eq!(found.json()["result"]["structuredContent"]["total"], 1, "{found:?}");
    let uri = json!({ "uri": "records://default/stats" });
    let subscribed = server.request("POST", "/mcp", &version, &message("resources/subscribe", uri));
    assert_eq!(subscribed.json()["error"]["code"], -32601, "{subscribed:?}");
}

#[test]
fn a_stateless_client_is_served() {
    let Scene { server, .. } = &Scene::new();
    let tools = server.stateless("tools/list", json!({})).json();
    let names = tools["result"]["tools"].as_array().expect("tools").iter();
    let names: BTreeSet<_> = names.filter_map(|tool| tool["name"].as_str()).collect();
    assert!(names.contains("add_core_memory") && names.contains("get_memory"), "{names:?}");
    server.call("add_core_memory", json!({ "content": "Kites are red." }));
    let found = server.call("query_memories", json!({ "search": "kites" }));
    assert_eq!(found["total"], 1);
}

#[test]
fn health_is_told_to_everybody() {
    let Scene { server, .. } = &Scene::new();
    for path in ["/healthz", "/readyz"] {
        assert_eq!(server.request("GET", path, &[], "").status, 200, "{path}");
    }
}

#[test]
fn a_server_whose_storage_takes_no_writes_is_not_ready() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().join("data");
    let options = [
        "--toolset=records,stores".to_owned(),
        format!("--data-dir={}", data.display()),
        format!("--memory-dir={}", data.join("memories").display()),
    ];
    let server = HttpServer::start(&options, directory.path());
    let ready = || server.request("GET", "/readyz", &[], "");
    let becomes = |status: u16| {
        let until = Instant::now() + TIMEOUT;
        loop {
            let reply = ready();
            if reply.status == status {
                return reply;
            }
            assert!(Instant::now() < until, "{reply:?}");
            thread::sleep(Duration::from_millis(20));
        }
    };
    assert_eq!(ready().status, 200);
    // Asking for readiness does not make the data directory.
    assert!(!data.exists());
    server.call("add_core_memory", json!({ "content": "Kites are red." }));
    let before = directory.path().join("before");
    fs::rename(&data, &before).expect("it is moved");
    fs::write(&data, "in the way").expect("a file");
    let reply = becomes(503);
    assert_eq!(reply.json()["error"], "the storage takes no writes");
    assert_eq!(server.request("GET", "/healthz", &[], "").status, 200);
    fs::remove_file(&data).expect("it is removed");
    fs::rename(&before, &data).expect("it is moved back");
    becomes(200);
    let found = server.call("query_memories", json!({ "search": "kites" }));
    assert_eq!(found["total"], 1);
    // The file with which the server tests the storage is not left anywhere.
    let left = Command::new("find").arg(directory.path()).args(["-name", ".ready*"]).output();
    assert!(left.expect("find runs").stdout.is_empty());
}

#[test]
fn hostile_requests_are_refused_and_nothing_is_written() {
    let Scene { server, .. } = &Scene::new();
    let add = json!({ "name": "add_core_memory", "arguments": { "content": "hostile" } });
    let call = &message("tools/call", add.clone());
    let stateless =
        agent_memory_tests::runners::mcp_client::stateless(1, "tools/call", add).to_string();
    let of_2026 = ("MCP-Protocol-Version", "2026-07-28");
    let long = format!("{}{}", " ".repeat(21 << 20), call);
    for (name, method, path, fields, body, status) in [
        (
            "a page of another site",
            "POST",
            "/mcp",
            &[("Origin", "https://evil.example")][..],
            call,
            403,
        ),
        ("a page without an origin", "POST", "/mcp", &[("Origin", "null")], call, 403),
        ("a page on this machine", "POST", "/mcp", &[("Origin", "http://localhost:1")], call, 403),
        ("a name that leads here", "POST", "/mcp", &[("Host", "evil.example")], call, 403),
        ("no host", "POST", "/mcp", &[("Host", "")], call, 400),
        ("another type", "POST", "/mcp", &[("Content-Type", "text/plain")], call, 415),
        ("no type", "POST", "/mcp", &[("Content-Type", "")], call, 415),
        ("no answer wanted", "POST", "/mcp", &[("Accept", "text/html")], call, 406),
        ("no JSON", "POST", "/mcp", &[], &"{".to_owned(), 400),
        ("a batch", "POST", "/mcp", &[], &format!("[{call}]"), 400),
        ("too long", "POST", "/mcp", &[], &long, 413),
        ("unknown version", "POST", "/mcp", &[("MCP-Protocol-Version", "1999-01-01")], call, 400),
        (
            "another method",
            "POST",
            "/mcp",
            &[of_2026, ("Mcp-Method", "tools/list"), ("Mcp-Name", "add_core_memory")],
            &stateless,
            400,
        ),
        (
            "another tool",
            "POST",
            "/mcp",
            &[of_2026, ("Mcp-Method", "tools/call"), ("Mcp-Name", "query_memories")],
            &stateless,
            400,
        ),
        ("no method", "POST", "/mcp", &[of_2026], &stateless, 400),
        ("a stream", "GET", "/mcp", &[], &String::new(), 405),
        ("the end of a session", "DELETE", "/mcp", &[], &String::new(), 405),
        (
            "a page asks before",
            "OPTIONS",
            "/mcp",
            &[("Origin", "https://evil.example")],
            &String::new(),
            405,
        ),
        ("authorization", "GET", "/.well-known/oauth-protected-resource", &[], &String::new(), 404),
        ("another path", "POST", "/", &[], call, 404),
    ] {
        let reply = server.request(method, path, fields, body);
        assert_eq!(reply.status, status, "{name}: {reply:?}");
        assert!(!reply.json()["error"].is_null(), "{name}: {reply:?}");
    }
    for (name, bytes) in [
        (
            "two lengths",
            format!(
                "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{call}",
                server.address
            ),
        ),
        (
            "a length of no number",
            format!("POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Length: x\r\n\r\n", server.address),
        ),
        ("no HTTP", "\u{16}\u{3}\u{1}\r\n\r\n".to_owned()),
    ] {
        let reply = server.send(bytes.as_bytes());
        assert_eq!(reply.status, 400, "{name}: {reply:?}");
    }
    let found = server.call("query_memories", json!({ "search": "hostile" }));
    assert_eq!(found["total"], 0);
}

#[test]
fn pages_of_an_allowed_origin_are_served() {
    let Scene { server, .. } = &Scene::with(&["--allow-origin=https://app.example"]);
    let ask = |method, origin| {
        let wanted = ("Access-Control-Request-Headers", "content-type,mcp-protocol-version");
        let fields = [("Origin", origin), ("Access-Control-Request-Method", "POST"), wanted];
        server.request(method, "/mcp", &fields, &initialize())
    };
    for (origin, status) in [
        ("https://app.example", 200),
        ("https://app.example:444", 403),
        ("http://app.example", 403),
        ("https://evil.example", 403),
    ] {
        let reply = ask("POST", origin);
        assert_eq!(reply.status, status, "{origin}: {reply:?}");
        let is_allowed = status == 200;
        for method in ["POST", "OPTIONS"] {
            let reply = ask(method, origin);
            let allowed = reply.field("access-control-allow-origin");
            assert_eq!(allowed == Some(origin), is_allowed, "{method} {origin}: {reply:?}");
        }
    }
    let before = ask("OPTIONS", "https://app.example");
    let fields = before.field("access-control-allow-headers").unwrap_or_default();
    assert!(fields.contains("mcp-protocol-version"), "{before:?}");
}

/// The number of clients of one server, and of the writes of each.
const CLIENTS: usize = 8;
const WRITES: usize = 15;

#[test]
fn many_clients_of_two_servers_lose_nothing() {
    let scene = Scene::new();
    let servers = [&scene.server, &scene.another()];
    thread::scope(|scope| {
        for client in 0..2 * CLIENTS {
            scope.spawn(move || {
                for write in 0..WRITES {
                    let server = servers[(client + write) % 2];
                    let content = format!("written {client} {write}");
                    server.call("add_core_memory", json!({ "content": content }));
                    let path = format!("notes/of-{client}-{write}");
                    let page = json!({ "store": "team", "path": path, "content": content });
                    server.call("add_memory", page);
                    let search = json!({ "search": content, "limit": 1 });
                    assert_ne!(server.call("query_memories", search)["total"], 0);
                }
            });
        }
    });
    let written = 2 * CLIENTS * WRITES;
    let all = servers[0].call("query_memories", json!({ "search": "written", "limit": 1 }));
    assert_eq!(all["total"], written);
    let listed = json!({ "store": "team", "category": "notes", "limit": 1_000 });
    let pages = servers[1].call("list_memories", listed);
    assert_eq!(pages["count"], written, "{}", pages["warnings"]);
}

#[test]
fn a_server_that_is_asked_to_stop_ends_subscriptions_and_itself() {
    let Scene { server, .. } = Scene::new();
    let resources = server.stateless("resources/list", json!({})).json();
    let uri = resources["result"]["resources"][0]["uri"].clone();
    assert!(uri.is_string(), "{resources}");
    let listen = json!({ "notifications": { "resourceSubscriptions": [uri] } });
    let body =
        agent_memory_tests::runners::mcp_client::stateless(2, "subscriptions/listen", listen);
    let fields = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "subscriptions/listen")];
    let request = server.bytes("POST", "/mcp", &fields, &body.to_string());
    let mut stream = server.connect(&request).expect("a connection");
    let mut head = vec![0; 4 << 10];
    let length = stream.read(&mut head).expect("the beginning of a stream");
    let head = String::from_utf8_lossy(&head[..length]).to_ascii_lowercase();
    assert!(head.starts_with("http/1.1 200") && head.contains("text/event-stream"), "{head}");
    assert!(head.contains("x-accel-buffering: no"), "{head}");
    server.terminate();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(server.wait().success());
}

#[test]
fn a_call_in_progress_is_answered_before_the_server_stops() {
    let scene = Scene::new();
    let written = &AtomicUsize::new(0);
    let server = &scene.server;
    thread::scope(|scope| {
        for client in 0..4 {
            scope.spawn(move || {
                for write in 0.. {
                    let content = format!("written {client} {write}");
                    let add =
                        json!({ "name": "add_core_memory", "arguments": { "content": content } });
                    match server.stateless("tools/call", add) {
                        reply if reply.status == 200 => written.fetch_add(1, Ordering::SeqCst),
                        // 0: the server has ended.
                        reply => return assert!(matches!(reply.status, 0 | 503), "{reply:?}"),
                    };
                }
            });
        }
        while written.load(Ordering::SeqCst) < 20 {
            thread::sleep(Duration::from_millis(1));
        }
        server.terminate();
    });
    let search = json!({ "search": "written", "limit": 1 });
    let kept = scene.another().call("query_memories", search)["total"].clone();
    assert_eq!(kept, written.load(Ordering::SeqCst));
}

#[test]
fn it_listens_for_this_machine_only_and_at_a_free_port() {
    let Scene { server, directory } = &Scene::new();
    for (address, status, says) in [
        ("0.0.0.0:0", 2, "127.0.0.1"),
        ("[::]:0", 2, "127.0.0.1"),
        ("localhost", 2, "ADDRESS:PORT"),
        ("127.0.0.1", 2, "ADDRESS:PORT"),
        (server.address.as_str(), 3, "cannot listen"),
    ] {
        let mut command = Command::new(program("agent-memory"));
        command.args(["serve", "--http", address]).args(options(directory, &[]));
        let output =
            command.env_clear().env("HOME", directory.path()).output().expect("the program runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{address}: {said}");
        assert!(said.contains(says), "{address}: {said}");
        assert!(output.stdout.is_empty(), "{address}: {output:?}");
    }
}
