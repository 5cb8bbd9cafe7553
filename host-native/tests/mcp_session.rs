//! The start of a session, overlapping calls, roots, and the end of a session.

mod process;

use process::{Client, PROTOCOL_VERSIONS, ProtocolVersion, Repository, agent_memory};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::process::Stdio;

fn structured(answer: &Value) -> &Value {
    let result = &answer["result"]["structuredContent"];
    assert!(result.is_object(), "{answer}");
    result
}

#[test]
fn calls_that_are_sent_together_are_numbered_in_their_order() {
    const CALLS: u64 = 20;
    for version in PROTOCOL_VERSIONS {
        let repository = Repository::new();
        let serve = &mut agent_memory(&repository.root());
        serve.args(["serve", "--fixed-clock", "2025-01-01T00:00:00Z+24h"]);
        let mut client = Client::new(serve.args(["--utc-offset", "+00:00"]), version);
        // Each call gets another date, so the name of its file tells the number of the call.
        let mut together = Vec::new();
        for _ in 0..CALLS {
            let arguments = repository.arguments(json!({}));
            let call = json!({"name": "start_session", "arguments": arguments});
            together.push(client.ask("tools/call", call));
        }
        let answers: BTreeMap<_, _> = (0..CALLS)
            .map(|_| client.receive())
            .map(|answer| (answer["id"].as_u64(), structured(&answer).clone()))
            .collect();
        for (day, id) in (1..).zip(together) {
            let file = answers[&Some(id)]["session_file"].as_str().expect("a file");
            let expected = format!("2025-01-{day:02}.md");
            assert!(file.ends_with(&expected), "{version:?}: {file}, not {expected}");
        }
    }
}

#[test]
fn a_request_with_the_id_of_one_in_progress_is_refused_and_both_are_answered() {
    let repository = Repository::new();
    let mut client = Client::start(&repository, ProtocolVersion::Initialized);
    let arguments = repository.arguments(json!({}));
    let call = json!({"name": "start_session", "arguments": arguments});
    let request =
        json!({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": call}).to_string();
    // Both requests are sent in one write, so the server reads the second before it answers the first.
    client.send_text(&format!("{request}\n{request}\n"));
    let answers = [client.receive(), client.receive()];
    assert!(answers.iter().all(|answer| answer["id"] == 77), "{answers:?}");
    let refused = answers.iter().filter(|answer| answer["error"]["code"] == -32600);
    assert_eq!(refused.count(), 1, "{answers:?}");
    let done = answers.iter().filter(|answer| answer["result"]["isError"] == false);
    assert_eq!(done.count(), 1, "{answers:?}");
    let (rest, status) = client.end();
    assert!(rest.is_empty() && status.success(), "{rest:?} {status}");
}

#[test]
fn calls_in_progress_at_the_end_of_input_are_answered() {
    for version in PROTOCOL_VERSIONS {
        let repository = Repository::new();
        let mut client = Client::start(&repository, version);
        let arguments = repository.arguments(json!({}));
        let call = json!({"name": "start_session", "arguments": arguments});
        let mut asked: Vec<_> = (0..10).map(|_| client.ask("tools/call", call.clone())).collect();
        let (answers, status) = client.end();
        let mut answered: Vec<_> =
            answers.iter().filter_map(|answer| answer["id"].as_u64()).collect();
        answered.sort_unstable();
        asked.sort_unstable();
        assert_eq!(answered, asked, "{version:?}");
        assert!(status.success(), "{status}");
    }
}

/// The server has to end the subscription itself. Otherwise it is cut off without a result, after a
/// long wait.
#[test]
fn an_open_subscription_ends_with_its_result_at_the_end_of_input() {
    let repository = Repository::new();
    let mut client = Client::start(&repository, ProtocolVersion::Stateless);
    let wanted = json!({"notifications": {"toolsListChanged": true}});
    let open = client.ask("subscriptions/listen", wanted.clone());
    let acknowledged = client.receive();
    let method = "notifications/subscriptions/acknowledged";
    assert_eq!(acknowledged["method"], method, "{acknowledged}");
    // A second subscription is requested, but not acknowledged yet.
    let late = client.ask("subscriptions/listen", wanted);
    let (rest, status) = client.end();
    for id in [open, late] {
        let result = rest.iter().find(|message| message["id"] == id);
        assert_eq!(
            result.map(|message| &message["result"]["resultType"]),
            Some(&json!("complete"))
        );
    }
    assert!(status.success(), "{status}");
}

#[test]
fn a_server_without_any_input_ends_with_success() {
    let repository = Repository::new();
    let serve = &mut agent_memory(&repository.root());
    let client = Client::unopened(serve.arg("serve"), ProtocolVersion::Initialized);
    let (rest, status) = client.end();
    assert!(rest.is_empty(), "{rest:?}");
    assert!(status.success(), "{status}");
}

#[test]
fn a_client_that_reads_no_answer_is_told_of_in_plain_words() {
    let repository = Repository::new();
    let mut command = agent_memory(&repository.root());
    command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut server = command.spawn().expect("it starts");
    drop(server.stdout.take());
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "mute", "version": "1"},
    }});
    writeln!(server.stdin.as_mut().expect("piped"), "{request}").expect("it reads");
    let output = server.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("the client does not read the answer to its first message: "), "{said}");
    assert!(!said.contains("::"), "{said}");
}

#[test]
fn a_last_line_without_its_newline_is_read() {
    let repository = Repository::new();
    let mut client = Client::start(&repository, ProtocolVersion::Initialized);
    client.send_text(r#"{"jsonrpc": "2.0", "id": "last", "method": "tools/list"}"#);
    let (rest, _) = client.end();
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0]["id"], "last");
}

#[cfg(unix)]
#[test]
fn sigterm_ends_a_server_with_success_while_its_input_is_open() {
    for version in PROTOCOL_VERSIONS {
        let repository = Repository::new();
        let mut client = Client::start(&repository, version);
        client.request("tools/list", json!({}));
        let server = rustix::process::Pid::from_raw(client.id().cast_signed()).expect("a process");
        rustix::process::kill_process(server, rustix::process::Signal::TERM).expect("it is there");
        let status = client.wait();
        assert!(status.success(), "{version:?}: {status}");
    }
}

#[test]
fn a_client_that_cancels_a_call_gets_no_answer_and_can_go_on() {
    let repository = Repository::new();
    let lock = HeldLock::new(&repository);
    let mut client = Client::start(&repository, ProtocolVersion::Initialized);
    let arguments = repository.arguments(json!({}));
    let call = json!({"name": "start_session", "arguments": arguments});
    let waiting = client.ask("tools/call", call.clone());
    client.send(json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": waiting, "reason": "test"},
    }));
    let answer = client.request("ping", json!({}));
    assert_eq!(answer["result"], json!({}));
    drop(lock);
    let answer = client.request("tools/call", call);
    assert_eq!(structured(&answer)["created"], true, "{answer}");
}

#[test]
fn a_cancelled_call_of_a_batch_is_left_out_of_the_answers() {
    let repository = Repository::new();
    let lock = HeldLock::new(&repository);
    let serve = &mut agent_memory(&repository.root());
    let mut client = Client::unopened(serve.arg("serve"), ProtocolVersion::Initialized);
    client.initialize("2025-03-26", json!({}));
    let call = json!({"name": "start_session", "arguments": repository.arguments(json!({}))});
    let waiting =
        |id: &str| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call});
    let cancel = |id: &str| {
        let params = json!({"requestId": id});
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
    };
    let ping = json!({"jsonrpc": "2.0", "id": "ping", "method": "ping"});
    client.send(json!([waiting("one"), ping, waiting("two"), cancel("two")]));
    client.send(cancel("one"));
    let answers = client.receive_batch();
    let ids: Vec<_> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, ["ping"], "{answers:?}");
    client.send(json!([waiting("three"), cancel("three")]));
    drop(lock);
    // The last batch gets no answer, so the next message answers this request.
    assert_eq!(client.request("ping", json!({}))["result"], json!({}));
}

/// The lock of a repository's tree, held like a writer in another process.
struct HeldLock(#[expect(dead_code, reason = "held until it is dropped")] rusqlite::Connection);

impl HeldLock {
    fn new(repository: &Repository) -> Self {
        let directory = repository.root().join(".git/agent-memory");
        std::fs::create_dir(&directory).expect("the lock's directory");
        let lock = rusqlite::Connection::open(directory.join("turn.sqlite")).expect("the lock");
        lock.execute_batch("BEGIN IMMEDIATE").expect("it is free");
        HeldLock(lock)
    }
}

#[test]
fn an_older_client_is_asked_for_its_roots_once_until_they_change() {
    let started_in = Repository::new();
    let root = Repository::new();
    let serve = &mut agent_memory(&started_in.root());
    let mut client = Client::unopened(serve.arg("serve"), ProtocolVersion::Initialized);
    client.initialize("2025-06-18", json!({"roots": {"listChanged": true}}));

    let arguments = root.arguments(json!({}));
    let call = json!({"name": "start_session", "arguments": arguments});
    let asked = client.ask("tools/call", call.clone());
    let question = client.receive();
    assert_eq!(question["method"], "roots/list", "{question}");
    // A directory in a repository grants the whole repository.
    let below = root.root().join("a b");
    std::fs::create_dir(&below).expect("a directory");
    let uri = format!("file://{}", below.display()).replace(' ', "%20");
    let roots = json!({"roots": [{"uri": uri}, {"uri": "https://example.org"}]});
    client.send(json!({"jsonrpc": "2.0", "id": question["id"], "result": roots}));
    let answer = client.receive();
    assert_eq!(answer["id"], asked);
    assert_eq!(structured(&answer)["created"], true, "{answer}");

    let again = client.request("tools/call", call.clone());
    assert_eq!(structured(&again)["created"], false, "{again}");

    client.send(json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    client.request("ping", json!({}));
    let asked = client.ask("tools/call", call);
    let question = client.receive();
    assert_eq!(question["method"], "roots/list", "{question}");
    client.send(json!({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": []}}));
    let answer = client.receive();
    assert_eq!(answer["id"], asked);
    let text = answer["result"]["content"][0]["text"].as_str().expect("a text");
    assert!(text.contains("RepositoryNotAllowed"), "{answer}");
}

#[test]
fn a_client_that_does_not_answer_is_asked_for_its_roots_once_until_they_change() {
    let started_in = Repository::new();
    let elsewhere = Repository::new();
    let serve = &mut agent_memory(&started_in.root());
    let mut client = Client::unopened(serve.arg("serve"), ProtocolVersion::Initialized);
    client.initialize("2025-06-18", json!({"roots": {"listChanged": true}}));
    let mut call = |repository: &Repository| {
        let arguments = repository.arguments(json!({}));
        client.ask("tools/call", json!({"name": "start_session", "arguments": arguments}))
    };
    for _ in 0..3 {
        call(&elsewhere);
    }
    let granted = call(&started_in);
    // The server's question comes first. The client does not answer it.
    let messages: Vec<_> = (0..5).map(|_| client.receive()).collect();
    let questions = |message: &&Value| message["method"] == "roots/list";
    assert_eq!(messages.iter().filter(questions).count(), 1, "{messages:?}");
    let answer = messages.iter().find(|message| message["id"] == granted && !questions(message));
    assert_eq!(structured(answer.expect("an answer"))["created"], true, "{messages:?}");

    let answer = client.call("start_session", elsewhere.arguments(json!({})));
    let text = answer["result"]["content"][0]["text"].as_str().expect("a text");
    assert!(text.contains("RepositoryNotAllowed"), "{answer}");

    client.send(json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    client.request("ping", json!({}));
    let arguments = elsewhere.arguments(json!({}));
    client.ask("tools/call", json!({"name": "start_session", "arguments": arguments}));
    let question = client.receive();
    assert_eq!(question["method"], "roots/list", "{question}");
}

#[test]
fn a_client_is_not_asked_for_roots_without_need_or_without_the_capability() {
    let started_in = Repository::new();
    let elsewhere = Repository::new();
    let serve = &mut agent_memory(&started_in.root());
    let mut client = Client::unopened(serve.arg("serve"), ProtocolVersion::Initialized);
    client.initialize("2025-06-18", json!({"roots": {}}));
    let answer = client.call("start_session", started_in.arguments(json!({})));
    assert_eq!(structured(&answer)["created"], true, "{answer}");

    let serve = &mut agent_memory(&started_in.root());
    let mut client = Client::new(serve.arg("serve"), ProtocolVersion::Initialized);
    let answer = client.call("start_session", elsewhere.arguments(json!({})));
    let text = answer["result"]["content"][0]["text"].as_str().expect("a text");
    assert!(text.contains("RepositoryNotAllowed"), "{answer}");
}

/// The answer of a server that was started outside of any repository. Its client has these roots.
fn start_with_roots(roots: &[&Repository], elsewhere: &std::path::Path) -> Value {
    let serve = &mut agent_memory(elsewhere);
    let mut client = Client::unopened(serve.arg("serve"), ProtocolVersion::Initialized);
    client.initialize("2025-06-18", json!({"roots": {}}));
    let arguments = json!({"agent_name": "ada"});
    let asked = client.ask("tools/call", json!({"name": "start_session", "arguments": arguments}));
    let question = client.receive();
    assert_eq!(question["method"], "roots/list", "{question}");
    let uri = |root: &&Repository| json!({"uri": format!("file://{}", root.root().display())});
    let roots: Vec<_> = roots.iter().map(uri).collect();
    client.send(json!({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": roots}}));
    let answer = client.receive();
    assert_eq!(answer["id"], asked, "{answer}");
    answer
}

#[test]
fn the_repository_of_a_call_may_be_that_of_the_clients_roots() {
    let elsewhere = tempfile::tempdir().unwrap();
    let one = Repository::new();
    let two = Repository::new();
    let answer = start_with_roots(&[&one], elsewhere.path());
    assert_eq!(structured(&answer)["created"], true, "{answer}");
    assert!(one.root().join(".github/agent-memory/ada/_schema.md").exists());
    let answer = start_with_roots(&[&one, &two], elsewhere.path());
    let text = answer["result"]["content"][0]["text"].as_str().expect("a text");
    assert!(text.contains("InvalidInput") && text.contains("/repo_root"), "{answer}");
    assert!(!two.root().join(".github").exists());
}
