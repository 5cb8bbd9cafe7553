//! Tokens of clients over HTTP: who gets in, and what each reaches.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

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
        let allow = format!("--allow={}", self.path().join("work").display());
        let memories = format!("--memory-dir={}", self.path().join("memories").display());
        let options = ["--toolset=all".to_owned(), allow, memories, self.data()];
        HttpServer::start(&options, self.directory.path())
    }
}

/// Sends a request with a token, or with none.
fn ask(server: &HttpServer, token: &str, method: &str, parameters: Value) -> Reply {
    let name = parameters["name"].as_str().or(parameters["uri"].as_str()).unwrap_or_default();
    let bearer = format!("Bearer {token}");
    let fields = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", method),
        ("Mcp-Name", name),
        ("Authorization", if token.is_empty() { "" } else { &bearer }),
    ];
    let body = stateless(1, method, parameters.clone()).to_string();
    server.request("POST", "/mcp", &fields, &body)
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
        assert!(reply.json()["error"].is_string(), "{bad:?}: {}", reply.body);
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

    // Its own, without naming it.
    let found = called(&server, &one, "search_memory", json!({ "query": "kites" })).to_string();
    assert!(found.contains("ada likes kites") && found.contains("team"), "{found}");
    assert!(!found.contains("bob") && !found.contains("other"), "{found}");
    // What exists and what does not is refused alike.
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
    let (every, some) = (tools(&server, &all), tools(&server, &reads));
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
    // Without a name, it is the one that it reaches.
    called(&server, &one, "list_sessions", json!({ "agent_name": "ada" }));
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
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("there are `ada`"), "{unknown:?}");
}
