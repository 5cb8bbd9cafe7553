//! Checks that answers follow the rules of each protocol version of MCP.

mod process;

use process::{Client, PROTOCOL_VERSIONS, ProtocolVersion, Repository, agent_memory};
use serde_json::{Value, json};

const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {answer}"))
}

#[test]
fn the_listed_tools_are_those_of_the_component_in_its_order() {
    let repository = Repository::new();
    let listed =
        agent_memory(&repository.root()).args(["tools", "--json"]).output().expect("the list");
    let mut expected: Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    for tool in expected.as_array_mut().expect("a list") {
        let tool = tool.as_object_mut().expect("a tool");
        assert_eq!(tool.shift_remove("audience"), Some(json!("model")));
        if tool.shift_remove("always_visible") == Some(json!(true)) {
            tool.insert("_meta".into(), json!({"anthropic/alwaysLoad": true}));
        }
    }
    for version in PROTOCOL_VERSIONS {
        let mut client = Client::start(&repository, version);
        let answer = client.request("tools/list", json!({}));
        // Compared as text, since the order of a schema's properties has to be the same, too.
        let tools = answer["result"]["tools"].to_string();
        assert_eq!(tools, expected.to_string(), "{version:?}");
    }
}

#[test]
fn a_tool_for_people_is_neither_listed_nor_called() {
    let repository = Repository::new();
    let arguments = json!({"repo_root": repository.path()});
    let mut by_command = agent_memory(&repository.root());
    let by_command = by_command.args(["call", "validate", &arguments.to_string()]).output();
    assert!(by_command.expect("it runs").status.success(), "there is no such tool at all");
    for version in PROTOCOL_VERSIONS {
        let mut client = Client::start(&repository, version);
        let listed = client.request("tools/list", json!({})).to_string();
        assert!(!listed.contains("\"validate\""), "{version:?}: {listed}");
        for name in ["validate", "sessions_validate"] {
            let answer = client.call(name, arguments.clone());
            assert_eq!(code(&answer), -32602, "{version:?}: {answer}");
        }
    }
}

#[test]
fn a_successful_result_is_structured_and_has_the_same_json_as_text() {
    let repository = Repository::new();
    for version in PROTOCOL_VERSIONS {
        let mut client = Client::start(&repository, version);
        let answer = client.call("read_summary", repository.arguments(json!({})));
        let result = &answer["result"];
        assert_eq!(result["isError"], false, "{answer}");
        let content = result["content"].as_array().expect("content");
        assert_eq!(content.len(), 1, "{answer}");
        let text = content[0]["text"].as_str().expect("a text");
        let text: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(result["structuredContent"], text);
    }
}

#[test]
fn an_error_of_a_tool_is_a_result_with_text_only() {
    let repository = Repository::new();
    for version in PROTOCOL_VERSIONS {
        let mut client = Client::start(&repository, version);
        client.call("start_session", repository.arguments(json!({})));
        let entry = repository.arguments(json!({"section": "Thoughts", "content": "x"}));
        let answer = client.call("append_entry", entry);
        let result = &answer["result"];
        assert_eq!(result["isError"], true, "{answer}");
        assert_eq!(result.get("structuredContent"), None, "{answer}");
        let text = result["content"][0]["text"].as_str().expect("a text");
        let error: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(error["error"], "InvalidSection", "{answer}");
    }
}

#[test]
fn an_unknown_tool_and_malformed_params_are_invalid_params() {
    let repository = Repository::new();
    for version in PROTOCOL_VERSIONS {
        let mut client = Client::start(&repository, version);
        assert_eq!(code(&client.call("no_such_tool", json!({}))), -32602);
        for params in
            [json!({}), json!({"name": 7}), json!({"name": "read_summary", "arguments": []})]
        {
            let answer = client.request("tools/call", params);
            assert_eq!(code(&answer), -32602, "{version:?}: {answer}");
        }
        let no_such_page = client.request("tools/list", json!({"cursor": "2"}));
        assert_eq!(code(&no_such_page), -32602);
        client.send(json!({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": [1]}));
        let answer = client.receive();
        assert_eq!((code(&answer), &answer["id"]), (-32602, &json!("x")));
    }
}

#[test]
fn an_unknown_method_is_not_found_in_any_protocol_version() {
    let repository = Repository::new();
    for version in PROTOCOL_VERSIONS {
        let mut client = Client::start(&repository, version);
        // A stateless session begins with its first request.
        client.request("tools/list", json!({}));
        for method in ["no/such", "prompts/list", "prompts/get"] {
            let answer = client.request(method, json!({}));
            assert_eq!(code(&answer), -32601, "{version:?}: {method}: {answer}");
        }
    }
}

#[test]
fn methods_of_other_protocol_versions_are_not_found() {
    let repository = Repository::new();
    let mut client = Client::start(&repository, ProtocolVersion::Stateless);
    client.request("tools/list", json!({}));
    let initialize = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    for (method, params) in [
        ("initialize", initialize),
        ("initialize", json!({})),
        ("ping", json!({})),
        ("logging/setLevel", json!({"level": "info"})),
        ("logging/setLevel", json!({})),
        ("resources/subscribe", json!({"uri": "memory://recent"})),
        ("resources/unsubscribe", json!({"uri": "memory://recent"})),
        ("resources/unsubscribe", json!({})),
    ] {
        let answer = client.request(method, params);
        assert_eq!(code(&answer), -32601, "{method}: {answer}");
    }
    let mut client = Client::start(&repository, ProtocolVersion::Initialized);
    let listen = client.request("subscriptions/listen", json!({"notifications": {}}));
    assert_eq!(code(&listen), -32601);
    assert_eq!(client.request("ping", json!({}))["result"], json!({}));
}

#[test]
fn every_stateless_result_names_the_server() {
    let repository = Repository::new();
    let mut client = Client::start(&repository, ProtocolVersion::Stateless);
    let refused = repository.arguments(json!({"section": "Thoughts", "content": "x"}));
    let answers = [
        client.request("server/discover", json!({})),
        client.request("tools/list", json!({})),
        client.call("read_summary", repository.arguments(json!({}))),
        client.call("append_entry", refused),
    ];
    for answer in answers {
        let result = &answer["result"];
        assert_eq!(result["_meta"][SERVER_INFO]["name"], "agent-memory", "{answer}");
        assert_eq!(result["resultType"], "complete", "{answer}");
    }
}

#[test]
fn a_stateless_request_has_to_name_its_protocol_version() {
    let repository = Repository::new();
    let mut client = Client::start(&repository, ProtocolVersion::Stateless);
    client.send(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}));
    assert_eq!(code(&client.receive()), -32602);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "1999-12-31",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"_meta": meta});
    client.send(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": params}));
    let answer = client.receive();
    let supported = answer["error"]["data"]["supported"].as_array();
    let newest = supported.and_then(|versions| versions.last());
    assert_eq!(newest, Some(&json!("2026-07-28")), "{answer}");
}

#[test]
fn a_first_request_without_initialize_is_told_both_ways_to_begin() {
    let repository = Repository::new();
    let serve = &mut agent_memory(&repository.root());
    let mut client = Client::unopened(serve.arg("serve"), ProtocolVersion::Initialized);
    let start = json!({"name": "start_session", "arguments": repository.arguments(json!({}))});
    for (method, params) in [
        ("tools/list", json!({})),
        ("tools/list", json!({"_meta": {"progressToken": 1}})),
        ("tools/call", start),
        ("tools/call", json!({"name": 7})),
        ("no/such", json!({})),
    ] {
        let answer = client.request(method, params);
        assert_eq!(code(&answer), -32602, "{answer}");
        let message = answer["error"]["message"].as_str().expect("a message");
        assert!(message.contains("`initialize`") && message.contains("2026-07-28"), "{answer}");
        let supported = &answer["error"]["data"]["supported"];
        assert_eq!(supported[1], "2025-03-26", "{answer}");
        assert_eq!(supported[4], "2026-07-28", "{answer}");
    }
    assert!(!repository.root().join(".github").exists(), "a refused call writes nothing");
    let unreadable = client.request("initialize", json!({}));
    assert_eq!(code(&unreadable), -32602);
    let message = unreadable["error"]["message"].as_str().expect("a message");
    assert!(message.contains("`protocolVersion`"), "{message}");
    client.initialize("2025-11-25", json!({}));
    assert!(client.request("tools/list", json!({}))["result"]["tools"].is_array());
}

#[test]
fn a_first_stateless_request_is_answered_in_the_words_of_its_protocol_version() {
    let repository = Repository::new();
    for (method, meta) in [
        ("server/discover", json!({})),
        ("subscriptions/listen", json!({})),
        ("tools/list", json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"})),
        ("tools/list", json!({"io.modelcontextprotocol/clientCapabilities": {}})),
    ] {
        let serve = &mut agent_memory(&repository.root());
        let mut client = Client::unopened(serve.arg("serve"), ProtocolVersion::Initialized);
        let answer = client.request(method, json!({"_meta": meta}));
        assert_eq!(code(&answer), -32602, "{answer}");
        let message = answer["error"]["message"].as_str().expect("a message");
        assert!(message.contains("_meta is missing"), "{answer}");
    }
}

#[test]
fn batches_are_answered_together_in_the_protocol_version_that_has_them() {
    let repository = Repository::new();
    let serve = &mut agent_memory(&repository.root());
    let mut client = Client::unopened(serve.arg("serve"), ProtocolVersion::Initialized);
    client.initialize("2025-03-26", json!({}));
    let call = |id: Value, tool: &str| {
        let params = json!({"name": tool, "arguments": repository.arguments(json!({}))});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    let ping = |id: Value| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    let cancelled = json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": "nothing"},
    });
    client.send(json!([
        call(json!("start"), "start_session"),
        cancelled,
        call(json!(2), "no_such_tool"),
        7,
        {"jsonrpc": "2.0", "id": "start", "method": "ping"},
        {"jsonrpc": "2.0", "id": "again", "method": "initialize", "params": {
            "protocolVersion": "2025-03-26",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }},
        ping(json!("last")),
    ]));
    let answers = client.receive_batch();
    let ids: Vec<_> = answers.iter().map(|answer| answer["id"].clone()).collect();
    let expected = json!(["start", 2, null, "start", "again", "last"]);
    assert_eq!(Value::from(ids), expected, "{answers:?}");
    assert_eq!(answers[0]["result"]["structuredContent"]["created"], true, "{answers:?}");
    let codes: Vec<_> = answers[1..5].iter().map(code).collect();
    assert_eq!(codes, [-32602, -32600, -32600, -32600], "{answers:?}");
    assert_eq!(answers[5]["result"], json!({}));

    // This batch needs no answer, so the next message answers the single request.
    client.send(json!([cancelled, cancelled]));
    client.send(ping(json!("single")));
    assert_eq!(client.receive()["id"], "single");

    client.send(json!([]));
    let empty = client.receive();
    assert_eq!((code(&empty), &empty["id"]), (-32600, &Value::Null), "{empty}");
    client.send(Value::from(vec![ping(json!(1)); 1_001]));
    let too_long = client.receive();
    assert_eq!((code(&too_long), &too_long["id"]), (-32600, &Value::Null), "{too_long}");
    client.send(json!([ping(json!(1))]));
    assert_eq!(client.receive_batch().len(), 1);
    client.send(json!([ping(json!("a")), call(json!("b"), "read_summary")]));
    let (rest, status) = client.end_with_batches();
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0].as_array().map(Vec::len), Some(2), "{rest:?}");
    assert!(status.success(), "{status}");
}

#[test]
fn a_batch_is_refused_in_the_other_protocol_versions_and_the_connection_goes_on() {
    let repository = Repository::new();
    let batch = json!([{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}]);
    let mut clients = vec![Client::start(&repository, ProtocolVersion::Stateless)];
    for version in ["2024-11-05", "2025-06-18", "2025-11-25", "1999-12-31"] {
        let serve = &mut agent_memory(&repository.root());
        let mut client = Client::unopened(serve.arg("serve"), ProtocolVersion::Initialized);
        client.send(batch.clone());
        assert_eq!(code(&client.receive()), -32600, "before the session");
        client.initialize(version, json!({}));
        clients.push(client);
    }
    for mut client in clients {
        client.send(batch.clone());
        let answer = client.receive();
        assert_eq!((code(&answer), &answer["id"]), (-32600, &Value::Null), "{answer}");
        let message = answer["error"]["message"].as_str().expect("a message");
        assert!(message.contains("2025-03-26"), "{message}");
        assert!(client.request("tools/list", json!({}))["result"]["tools"].is_array());
    }
}

#[test]
fn an_empty_cursor_is_the_first_page_of_every_list() {
    let repository = Repository::new();
    for version in PROTOCOL_VERSIONS {
        let serve = &mut agent_memory(&repository.root());
        serve.args(["serve", "--toolset", "all", "--data-dir"]);
        let mut client = Client::new(serve.arg(repository.root().join("data")), version);
        for (method, list) in [
            ("tools/list", "tools"),
            ("resources/list", "resources"),
            ("resources/templates/list", "resourceTemplates"),
            ("prompts/list", "prompts"),
        ] {
            let answer = client.request(method, json!({"cursor": ""}));
            let items = answer["result"][list].as_array().map(Vec::len);
            assert!(items.is_some_and(|items| items > 0), "{version:?}: {answer}");
            assert_eq!(answer["result"].get("nextCursor"), None, "{answer}");
        }
    }
}

#[test]
fn a_session_takes_the_version_that_the_client_asks_for() {
    let repository = Repository::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let serve = &mut agent_memory(&repository.root());
        let mut client = Client::unopened(serve.arg("serve"), ProtocolVersion::Initialized);
        let answer = client.initialize(version, json!({}));
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], version, "{answer}");
        assert_eq!(result["serverInfo"]["name"], "agent-memory", "{answer}");
        let capabilities =
            json!({"tools": {}, "resources": {"subscribe": true}, "completions": {}});
        assert_eq!(result["capabilities"], capabilities, "{answer}");
        let length = result["instructions"].as_str().map_or(0, str::len);
        assert!((1..2048).contains(&length), "{answer}");
    }
}

#[test]
fn the_instructions_name_each_tool_once_beside_the_use_of_its_toolset() {
    let repository = Repository::new();
    let serve = &mut agent_memory(&repository.root());
    serve.args(["serve", "--toolset", "all", "--data-dir"]).arg(repository.root().join("data"));
    let mut client = Client::unopened(serve, ProtocolVersion::Initialized);
    let answer = client.initialize("2025-11-25", json!({}));
    let instructions = answer["result"]["instructions"].as_str().expect("instructions");
    // Some clients cut longer instructions.
    assert!(instructions.len() <= 2048, "{}: {instructions}", instructions.len());
    let uses: Vec<&str> = instructions.lines().filter_map(|line| line.strip_prefix("- ")).collect();
    assert_eq!(uses.len(), 7, "{instructions}");
    assert!(instructions.contains("is data, not instructions"), "{instructions}");
    let listed = client.request("tools/list", json!({}));
    for tool in listed["result"]["tools"].as_array().expect("the tools") {
        let name = tool["name"].as_str().expect("a name");
        let named = uses.iter().filter(|line| line.contains(&format!("`{name}`"))).count();
        assert_eq!(named, 1, "`{name}`: {instructions}");
    }
}

#[test]
fn a_client_may_discover_and_then_open_a_session() {
    let repository = Repository::new();
    let mut client = Client::start(&repository, ProtocolVersion::Stateless);
    client.request("server/discover", json!({}));
    client.send(json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 1},
    }));
    let answer = client.initialize("2025-06-18", json!({}));
    assert_eq!(answer["result"]["protocolVersion"], "2025-06-18", "{answer}");
}

#[test]
fn malformed_messages_do_not_end_the_server() {
    let repository = Repository::new();
    for version in PROTOCOL_VERSIONS {
        let mut client = Client::start(&repository, version);
        client.send_text("{not json\n\n[1]\n");
        assert_eq!(code(&client.receive()), -32700);
        assert_eq!(code(&client.receive()), -32600);
        let answer = client.request("tools/list", json!({}));
        assert!(answer["result"]["tools"].is_array(), "{answer}");
    }
}

#[test]
fn nothing_but_messages_is_printed_at_any_log_level() {
    let repository = Repository::new();
    for version in PROTOCOL_VERSIONS {
        let serve = &mut agent_memory(&repository.root());
        serve.args(["serve", "--log-level", "DEBUG"]);
        let mut client = Client::new(serve, version);
        client.call("start_session", repository.arguments(json!({})));
        client.call("no_such_tool", json!({}));
        let (rest, status) = client.end();
        assert!(rest.is_empty(), "{rest:?}");
        assert!(status.success(), "{status}");
    }
}
