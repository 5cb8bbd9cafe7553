//! Requests over HTTP with mistakes at random places. None gets in without a token, and the server goes
//! on.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::Command;
use std::time::Duration;

use agent_memory_tests::http_server::HttpServer;
use agent_memory_tests::product::program;
use agent_memory_tests::random::{Random, replay, seed_or};
use agent_memory_tests::runners::mcp_client::stateless;
use serde_json::{Value, json};

const REQUESTS: usize = 1_500;

/// A word that is in the memory and in no request. An answer with it would be a leak.
const SECRET: &str = "marzipan";

/// How long the test waits for an answer. An incomplete request gets none, because the server waits for
/// the rest. A later answer is not checked, which makes the test weaker but not wrong.
const PAUSE: Duration = Duration::from_millis(15);

/// The statuses of refusals, by the server or by its HTTP library. 100 asks for the rest of a request.
const STATUSES: [u16; 14] = [100, 400, 401, 403, 404, 405, 406, 408, 413, 414, 415, 429, 431, 503];

/// The texts that a mistake inserts.
const PIECES: [&str; 24] = [
    "\r\n",
    "\r\n\r\n",
    "\n",
    "\0",
    " ",
    ":",
    "Authorization: Bearer ",
    "Authorization: Bearer amt_00000000_",
    "Authorization: Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.",
    "Authorization: Basic YTpi\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Content-Length: 0\r\n",
    "Content-Length: 99999999999999999999\r\n",
    "Expect: 100-continue\r\n",
    "Upgrade: h2c\r\n",
    "Host: evil.example\r\n",
    "Origin: null\r\n",
    "X-Forwarded-For: 127.0.0.1\r\n",
    "/../mcp",
    "/%6dcp",
    "//mcp",
    "HTTP/2.0",
    "é",
    "{\"jsonrpc\":\"2.0\"}",
];

/// The requests that get mistakes. None has a token.
fn seeds(server: &HttpServer) -> Vec<Vec<u8>> {
    let call = json!({ "name": "search_memory", "arguments": { "query": "sweets" } });
    let listen = json!({ "notifications": { "resourceSubscriptions": ["memory://ada/stats"] } });
    let of_2026 = |method: &str, name: &str, parameters: &Value| {
        let fields =
            [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method), ("Mcp-Name", name)];
        let body = stateless(1, method, parameters.clone()).to_string();
        server.bytes("POST", "/mcp", &fields, &body)
    };
    let older = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
    let mut seeds = vec![
        of_2026("tools/call", "search_memory", &call),
        of_2026("tools/list", "", &json!({})),
        of_2026("subscriptions/listen", "", &listen),
        server.bytes("POST", "/mcp", &[], &older.to_string()),
        server.bytes("POST", "/mcp", &[("Authorization", "Bearer amt_0_0")], &older.to_string()),
    ];
    for path in ["/metrics", "/mcp", "/", "/.well-known/oauth-protected-resource"] {
        seeds.push(server.bytes("GET", path, &[], ""));
    }
    seeds
}

/// A seed with some mistakes.
fn mistaken(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = random.pick(seeds).clone();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len().max(1));
        let length = random.below(8).min(bytes.len().saturating_sub(at));
        match random.below(6) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
            1 => drop(bytes.drain(at..at + length)),
            2 => bytes.truncate(at),
            3 => {
                let line = bytes.split_inclusive(|byte| *byte == b'\n').nth(random.below(9));
                let line = line.unwrap_or_default().to_vec();
                bytes.extend(line);
            }
            4 => {
                let other = random.pick(seeds);
                bytes.extend_from_slice(&other[random.below(other.len())..]);
            }
            _ => drop(bytes.splice(at..at, random.pick(&PIECES).bytes())),
        }
    }
    bytes
}

/// All that the server answers within `PAUSE`.
fn answered(server: &HttpServer, request: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(&server.address).expect("the server listens");
    stream.set_read_timeout(Some(PAUSE)).expect("a timeout");
    // The server may close the connection before it has read all bytes.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let _ = stream.shutdown(Shutdown::Both);
    answer
}

#[test]
fn no_request_with_mistakes_gets_in_or_ends_the_server() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = format!("--data-dir={}", directory.path().join("data").display());
    let created = Command::new(program("agent-memory"))
        .args(["token", "create", "ada", &data])
        .env_clear()
        .env("HOME", directory.path())
        .output()
        .expect("it runs");
    let token = String::from_utf8(created.stdout).expect("UTF-8").trim().to_owned();
    let options = ["--toolset=records,stores,memory".to_owned(), data];
    let server = HttpServer::start(&options, directory.path());
    let bearer = format!("Bearer {token}");
    let call = |tool: &str, arguments: Value| {
        let parameters = json!({ "name": tool, "arguments": arguments });
        let fields = [
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", tool),
            ("Authorization", &bearer),
        ];
        let body = stateless(1, "tools/call", parameters).to_string();
        let reply = server.request("POST", "/mcp", &fields, &body);
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.body
    };
    call("add_core_memory", json!({ "content": format!("Ada likes {SECRET}, and other sweets.") }));
    assert!(call("search_memory", json!({ "query": "sweets" })).contains(SECRET));

    let seed = seed_or(1);
    let repeat = replay("random_requests", "no_request", seed);
    let mut random = Random::new(seed);
    let seeds = seeds(&server);
    let mut answers = 0;
    for _ in 0..REQUESTS {
        let request = mistaken(&mut random, &seeds);
        let answer = answered(&server, &request);
        let answer = String::from_utf8_lossy(&answer);
        let shown = || format!("{}\n{answer}\n{repeat}", String::from_utf8_lossy(&request));
        assert!(!answer.contains(SECRET) && !answer.contains("\"result\""), "{}", shown());
        // One connection may bring several answers.
        for line in answer.lines().filter(|line| line.starts_with("HTTP/1.1 ")) {
            let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
            assert!(status.is_some_and(|status| STATUSES.contains(&status)), "{}", shown());
            answers += 1;
        }
    }
    assert!(answers > REQUESTS / 4, "{answers}");
    let all = call("query_memories", json!({ "limit": 10 }));
    assert!(all.contains("\"total\":1"), "{all}");
    server.end().expect("it ends");
}
