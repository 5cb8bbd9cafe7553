//! Requests over HTTP that are repeated with their `Idempotency-Key`. Only one is made. The others get
//! its answer, or are refused by a server that does not have the answer.

use std::path::Path;
use std::thread;

use agent_memory_tests::http_server::{HttpServer, Reply};
use agent_memory_tests::runners::mcp_client::stateless;
use agent_memory_tests::tenant_scene::Scene;
use serde_json::{Value, json};

const MADE_BEFORE: &str = "was made before";

/// A request with a key.
struct Call<'a> {
    token: &'a str,
    key: &'a str,
    tool: &'a str,
    arguments: Value,
}

impl Call<'_> {
    fn bytes(&self, server: &HttpServer) -> Vec<u8> {
        let parameters = json!({ "name": self.tool, "arguments": self.arguments });
        let bearer = format!("Bearer {}", self.token);
        let fields = [
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", self.tool),
            ("Authorization", if self.token.is_empty() { "" } else { &bearer }),
            ("Idempotency-Key", self.key),
        ];
        let body = stateless(1, "tools/call", parameters).to_string();
        server.bytes("POST", "/mcp", &fields, &body)
    }

    fn send(&self, server: &HttpServer) -> Reply {
        server.send(&self.bytes(server))
    }
}

/// A request with a key to add a memory.
fn add_as<'a>(token: &'a str, key: &'a str, content: &str) -> Call<'a> {
    let arguments = json!({ "agent_id": "ada", "content": content });
    Call { token, key, tool: "add_core_memory", arguments }
}

fn add<'a>(key: &'a str, content: &str) -> Call<'a> {
    add_as("", key, content)
}

/// The result of a call that was made.
#[track_caller]
fn made(reply: &Reply) -> Value {
    let result = &reply.json()["result"];
    assert!(reply.status == 200 && result["isError"] == false, "{}", reply.body);
    result["structuredContent"].clone()
}

/// The message of a request that was refused.
fn refused(reply: &Reply) -> String {
    reply.json()["error"]["message"].as_str().unwrap_or_default().to_owned()
}

/// How many memories there are with a content.
#[track_caller]
fn count(server: &HttpServer, token: &str, content: &str) -> usize {
    let arguments = json!({ "agent_id": "ada", "limit": 100 });
    let parameters = json!({ "name": "query_memories", "arguments": arguments });
    let found = made(&server.stateless_as(token, "tools/call", parameters));
    let memories = found["memories"].as_array().expect("memories").iter();
    memories.filter(|memory| memory["content"] == content).count()
}

fn on_files(directory: &Path) -> HttpServer {
    let data = format!("--data-dir={}", directory.join("data").display());
    HttpServer::start(&["--toolset=records".to_owned(), data], directory)
}

#[test]
fn a_repeated_request_gets_the_answer_of_the_first_one() {
    let scratch = tempfile::tempdir().unwrap();
    let server = on_files(scratch.path());
    let first = made(&add("k1", "one").send(&server));
    assert_eq!(first["created"], true);
    assert_eq!(made(&add("k1", "one").send(&server)), first);
    assert_eq!(made(&add("k2", "two").send(&server))["created"], true);
    let other = add("k1", "three").send(&server);
    assert!(refused(&other).contains("belongs to another call"), "{}", other.body);
    assert_eq!(["one", "two", "three"].map(|content| count(&server, "", content)), [1, 1, 0]);
    // Without a key, the same call is made a second time.
    assert_ne!(made(&add("", "one").send(&server)), first);
}

#[test]
fn a_request_whose_client_has_hung_up_is_made_once() {
    let scratch = tempfile::tempdir().unwrap();
    let server = on_files(scratch.path());
    for number in 0..20 {
        let content = format!("memory {number}");
        let key = number.to_string();
        let request = add(&key, &content);
        drop(server.connect(&request.bytes(&server)).expect("a connection"));
        assert_eq!(made(&request.send(&server))["created"], true, "{number}");
        assert_eq!(count(&server, "", &content), 1);
    }
}

#[test]
fn a_key_that_cannot_be_one_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let server = on_files(scratch.path());
    for key in ["schl\u{fc}ssel", &"k".repeat(256)] {
        let reply = add(key, "one").send(&server);
        assert!(refused(&reply).contains("1 to 255 visible characters"), "{}", reply.body);
    }
    let longest = "k".repeat(255);
    assert_eq!(made(&add(&longest, "one").send(&server))["created"], true);
}

#[test]
fn servers_of_one_database_make_a_request_once() {
    for format in ["json", "sqlite"] {
        let Some(scene) = Scene::new(&["acme"]) else { return };
        let database = scene.database_option();
        let format = format!("--records-format={format}");
        let start = || scene.serve(&["--toolset=records", &database, &format]);
        let mut servers = [start(), start()];
        let [ada, acme] = [None, Some("acme")].map(|tenant| scene.token_of(tenant));
        for number in 0..8 {
            let content = format!("memory {number}");
            let key = number.to_string();
            let request = &add_as(&ada, &key, &content);
            let replies: Vec<Reply> = thread::scope(|scope| {
                let all = servers
                    .each_ref()
                    .map(|server| [(); 3].map(|()| scope.spawn(|| request.send(server))));
                all.into_iter().flatten().map(|reply| reply.join().expect("a reply")).collect()
            });
            // One server has made the request. The other server knows this, and refuses it.
            let is_refused = |reply: &&Reply| refused(reply).contains(MADE_BEFORE);
            let (refused, answers): (Vec<&Reply>, Vec<&Reply>) =
                replies.iter().partition(is_refused);
            assert_eq!((refused.len(), answers.len()), (3, 3), "{replies:?}");
            assert!(answers.iter().all(|answer| made(answer) == made(answers[0])));
            assert_eq!(count(&servers[0], &ada, &content), 1);
        }
        // Each token has keys of its own.
        let foreign = add_as(&acme, "0", "memory 0");
        assert_eq!(made(&foreign.send(&servers[1]))["created"], true);
        // A key that a server has stored is known after its end.
        let request = add_as(&ada, "last", "last");
        assert_eq!(made(&request.send(&servers[0]))["created"], true);
        servers[0] = start();
        for server in &servers {
            let reply = request.send(server);
            assert!(refused(&reply).contains(MADE_BEFORE), "{}", reply.body);
        }
        assert_eq!(count(&servers[0], &ada, "last"), 1);
        // A repeated request that would change nothing is refused by the other server, too.
        let id = made(&add_as(&ada, "gone", "gone").send(&servers[0]))["id"].clone();
        let arguments = json!({ "agent_id": "ada", "id": id });
        let request = &Call { token: &ada, key: "delete", tool: "delete_memory", arguments };
        made(&request.send(&servers[0]));
        assert_eq!(made(&request.send(&servers[0])), made(&request.send(&servers[0])));
        let reply = request.send(&servers[1]);
        assert!(refused(&reply).contains(MADE_BEFORE), "{}", reply.body);
    }
}
