//! Resources over MCP, in both protocol versions: lists, reading and subscriptions.

mod process;

use process::{Client, PROTOCOL_VERSIONS, ProtocolVersion, Repository, agent_memory};
use serde_json::{Value, json};

/// A server that mounts `records` alone.
fn serve(repository: &Repository, version: ProtocolVersion) -> Client {
    let mut serve = agent_memory(&repository.root());
    serve.args(["serve", "--toolset", "records", "--memory-dir", "memories"]);
    Client::new(&mut serve, version)
}

fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {answer}"))
}

fn add(client: &mut Client, agent: &str, content: &str) -> u64 {
    let arguments = json!({"agent_id": agent, "content": content});
    client.ask("tools/call", json!({"name": "add_core_memory", "arguments": arguments}))
}

#[test]
fn resources_and_templates_are_listed_and_read() {
    for version in PROTOCOL_VERSIONS {
        let repository = Repository::new();
        let mut client = serve(&repository, version);
        let id = add(&mut client, "ada", "tabs, not spaces");
        assert_eq!(client.receive()["id"], id);

        let listed = client.request("resources/list", json!({}));
        let uris: Vec<_> =
            listed["result"]["resources"].as_array().unwrap().iter().map(|r| &r["uri"]).collect();
        assert_eq!(uris, ["memory://recent", "memory://stats"], "{version:?}");
        let listed = client.request("resources/templates/list", json!({}));
        let templates = listed["result"]["resourceTemplates"].as_array().unwrap();
        let templates: Vec<_> = templates.iter().map(|t| &t["uriTemplate"]).collect();
        assert_eq!(templates, ["memory://{agent_id}/recent", "memory://{agent_id}/stats"]);

        let read = client.request("resources/read", json!({"uri": "memory://ada/recent"}));
        let contents = &read["result"]["contents"][0];
        assert_eq!(contents["uri"], "memory://ada/recent", "{version:?}: {read}");
        assert_eq!(contents["mimeType"], "application/json");
        assert!(contents["text"].as_str().unwrap().contains("tabs, not spaces"), "{contents}");
    }
}

#[test]
fn an_unknown_uri_is_an_error_that_names_the_lists() {
    for (version, expected) in PROTOCOL_VERSIONS.into_iter().zip([-32602, -32002]) {
        let repository = Repository::new();
        let mut client = serve(&repository, version);
        for uri in ["memory://ada/grace/recent", "memory://", "file:///etc/passwd", ""] {
            let answer = client.request("resources/read", json!({ "uri": uri }));
            assert_eq!(code(&answer), expected, "{version:?}: {uri}");
            assert!(answer["error"]["message"].as_str().unwrap().contains("resources/list"));
        }
        assert_eq!(code(&client.request("resources/read", json!({}))), -32602, "{version:?}");
        let cursor = client.request("resources/list", json!({"cursor": "x"}));
        assert_eq!(code(&cursor), -32602, "{version:?}");
    }
}

#[test]
fn a_resource_that_cannot_be_read_is_an_error_with_the_toolsets_error() {
    for version in PROTOCOL_VERSIONS {
        let repository = Repository::new();
        let mut client = serve(&repository, version);
        std::fs::create_dir(repository.root().join("memories")).unwrap();
        std::fs::write(repository.root().join("memories/ada.json"), "{\"memo").unwrap();
        let answer = client.request("resources/read", json!({"uri": "memory://ada/stats"}));
        assert_eq!(code(&answer), -32603, "{version:?}: {answer}");
        assert_eq!(answer["error"]["data"]["error"]["code"], "CORRUPTED_DATA", "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("`ada.json` line 1 column 7: "), "{message}");
    }
}

#[test]
fn a_day_without_a_log_is_a_missing_resource_with_the_toolsets_error() {
    for (version, expected) in PROTOCOL_VERSIONS.into_iter().zip([-32602, -32002]) {
        let repository = Repository::new();
        let mut client = sessions(&repository, version);
        client.call("start_session", json!({"agent_name": "ada", "date": "2025-01-20"}));
        let missing = json!({"uri": "sessions://ada/2025-01-18"});
        let answer = client.request("resources/read", missing);
        assert_eq!(code(&answer), expected, "{version:?}: {answer}");
        assert_eq!(answer["error"]["data"]["error"], "SessionNotFound", "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("the nearest is of 2025-01-20"), "{message}");
    }
}

#[test]
fn a_subscribed_client_is_notified_of_changes_to_its_resources_only() {
    let repository = Repository::new();
    let mut client = serve(&repository, ProtocolVersion::Initialized);
    for uri in ["memory://ada/recent", "memory://recent"] {
        let subscribed = client.request("resources/subscribe", json!({ "uri": uri }));
        assert_eq!(subscribed["result"], json!({}), "{subscribed}");
    }
    let answered = add(&mut client, "ada", "tabs");
    let messages = [client.receive(), client.receive()];
    assert!(messages.iter().any(|message| message["id"] == answered), "{messages:?}");
    let told = messages.iter().find(|m| m["method"] == "notifications/resources/updated");
    assert_eq!(told.unwrap()["params"]["uri"], "memory://ada/recent", "{messages:?}");

    // Reading sends no notification.
    client.call("query_memories", json!({"agent_id": "ada"}));
    client.request("resources/read", json!({"uri": "memory://ada/recent"}));
    let uri = json!({"uri": "memory://ada/recent"});
    assert_eq!(client.request("resources/unsubscribe", uri.clone())["result"], json!({}));
    let answered = add(&mut client, "ada", "spaces");
    assert_eq!(client.receive()["id"], answered);
    assert_eq!(
        code(&client.request("resources/subscribe", json!({"uri": "memory://a/b/c"}))),
        -32002
    );
    let (rest, status) = client.end();
    assert!(rest.is_empty() && status.success(), "{rest:?} {status}");
}

#[test]
fn a_listening_stateless_client_is_notified_of_changes_until_it_cancels() {
    let repository = Repository::new();
    let mut client = serve(&repository, ProtocolVersion::Stateless);
    let wanted = ["memory://ada/stats", "memory://a/b/c"];
    let listen = client
        .ask("subscriptions/listen", json!({"notifications": {"resourceSubscriptions": wanted}}));
    let acknowledged = client.receive();
    let accepted = &acknowledged["params"]["notifications"]["resourceSubscriptions"];
    assert_eq!(accepted, &json!(["memory://ada/stats"]), "{acknowledged}");

    let answered = add(&mut client, "ada", "tabs");
    let messages = [client.receive(), client.receive()];
    assert!(messages.iter().any(|message| message["id"] == answered), "{messages:?}");
    let told = messages.iter().find(|m| m["method"] == "notifications/resources/updated");
    assert_eq!(told.unwrap()["params"]["uri"], "memory://ada/stats", "{messages:?}");

    client.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
                       "params": {"requestId": listen}}));
    client.request("tools/list", json!({}));
    let answered = add(&mut client, "ada", "spaces");
    assert_eq!(client.receive()["id"], answered);
}

#[test]
fn without_resources_their_methods_are_not_found() {
    for version in PROTOCOL_VERSIONS {
        let repository = Repository::new();
        let serve = &mut agent_memory(&repository.root());
        let mut client = Client::new(serve.args(["serve", "--toolset", "memory"]), version);
        client.request("tools/list", json!({}));
        for method in ["resources/list", "resources/templates/list"] {
            assert_eq!(code(&client.request(method, json!({}))), -32601, "{version:?}: {method}");
        }
        for method in ["resources/read", "resources/subscribe", "resources/unsubscribe"] {
            let answer = client.request(method, json!({"uri": "memory://recent"}));
            assert_eq!(code(&answer), -32601, "{version:?}: {method}");
        }
    }
}

/// The client of a server of `sessions` that was started in a repository.
fn sessions(repository: &Repository, version: ProtocolVersion) -> Client {
    Client::new(agent_memory(&repository.root()).arg("serve"), version)
}

#[test]
fn a_log_and_a_summary_are_read_completed_and_subscribed_to_without_naming_the_repository() {
    for version in PROTOCOL_VERSIONS {
        let repository = Repository::new();
        let mut client = sessions(&repository, version);
        let started =
            client.call("start_session", json!({"agent_name": "ada", "date": "2025-01-20"}));
        assert_eq!(started["result"]["isError"], json!(false), "{version:?}: {started}");
        let templates = client.request("resources/templates/list", json!({}));
        let templates = templates["result"]["resourceTemplates"].as_array().unwrap().clone();
        let templates: Vec<_> = templates.iter().map(|t| t["uriTemplate"].clone()).collect();
        assert_eq!(templates, ["sessions://{agent}/summary", "sessions://{agent}/{date}"]);
        let uri = "sessions://ada/2025-01-20";
        let read = client.request("resources/read", json!({ "uri": uri }));
        let text = read["result"]["contents"][0]["text"].as_str().expect("a text");
        assert!(text.contains("## Decisions"), "{version:?}: {read}");
        let completed = client.request(
            "completion/complete",
            json!({
                "ref": {"type": "ref/resource", "uri": "sessions://{agent}/{date}"},
                "argument": {"name": "date", "value": "2025"},
                "context": {"arguments": {"agent": "ada"}},
            }),
        );
        let values = &completed["result"]["completion"]["values"];
        assert_eq!(*values, json!(["2025-01-20"]), "{version:?}: {completed}");
    }
    let repository = Repository::new();
    let mut client = sessions(&repository, ProtocolVersion::Initialized);
    client.call("start_session", json!({"agent_name": "ada", "date": "2025-01-20"}));
    for uri in ["sessions://ada/2025-01-20", "sessions://ada/summary"] {
        let subscribed = client.request("resources/subscribe", json!({ "uri": uri }));
        assert!(subscribed.get("error").is_none(), "{subscribed}");
    }
    let entry = json!({
        "agent_name": "ada", "date": "2025-01-20", "section": "Context", "content": "x",
    });
    let id = client.ask("tools/call", json!({"name": "append_entry", "arguments": entry}));
    let messages = [client.receive(), client.receive()];
    let updated = messages.iter().find(|m| m["method"] == "notifications/resources/updated");
    let updated = updated.unwrap_or_else(|| panic!("no notification: {messages:?}"));
    assert_eq!(updated["params"]["uri"], "sessions://ada/2025-01-20");
    assert!(messages.iter().any(|message| message["id"] == id), "{messages:?}");
}
