//! Over MCP, a call that the host stops has a result that its model can read. It is not a JSON-RPC
//! error, since many clients do not show those to the model. The server goes on.

use std::time::Duration;

use agent_memory_host::{AgentMemory, Limits, mcp};
use agent_memory_tests::images::guests;
use agent_memory_tests::runners::mcp_client::stateless;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

/// Tools that the host stops, each with a part of the error message.
const WAYS: [(&str, &str); 6] = [
    ("spin", "it ran for more than"),
    ("spin-locked", "it ran for more than"),
    ("grow", "it needs more than"),
    ("storm", "it asked storage more than"),
    ("panic", "the guest panics"),
    ("trap-while-locked", "`trap-while-locked` was stopped"),
];

/// A client in this process.
struct Client {
    input: WriteHalf<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    is_stateless: bool,
    asked: u64,
}

impl Client {
    async fn start(memory: AgentMemory, is_stateless: bool) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(theirs);
        tokio::spawn(mcp::serve(memory, reader, writer, std::future::pending()));
        let (output, input) = tokio::io::split(ours);
        let output = BufReader::new(output).lines();
        let mut client = Self { input, output, is_stateless, asked: 0 };
        if !is_stateless {
            let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"}});
            client.ask("initialize", hello).await;
            client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        }
        client
    }

    async fn send(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.expect("it reads");
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        let message = if self.is_stateless {
            stateless(id, method, params)
        } else {
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        };
        self.send(&message).await;
        let line = self.output.next_line().await.expect("UTF-8").expect("the server goes on");
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    async fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_call_has_a_result_with_its_reason_and_is_not_a_protocol_error() {
    for is_stateless in [true, false] {
        let repository = tempfile::tempdir().expect("a scratch directory");
        let limits = Limits {
            guest_time: Duration::from_millis(200),
            storage_calls: 1_000,
            memory: 64 << 20,
            ..Limits::default()
        };
        let memory = AgentMemory::builder().image(guests()).allow(repository.path());
        let memory = memory.limits(limits).build().expect("the memory opens");
        let mut client = Client::start(memory, is_stateless).await;
        let arguments = json!({"repo_root": repository.path(), "line": "a line"});
        for (tool, why) in WAYS {
            let answer = client.call(tool, &arguments).await;
            assert_eq!(answer.get("error"), None, "`{tool}`: {answer}");
            let result = &answer["result"];
            assert_eq!(result["isError"], true, "`{tool}`: {answer}");
            assert_eq!(result.get("structuredContent"), None, "`{tool}`: {answer}");
            let text = result["content"][0]["text"].as_str().expect("a text");
            let error: Value = serde_json::from_str(text).expect("the error is JSON");
            assert_eq!(error["error"]["code"], "CALL_ENDED", "`{tool}`: {error}");
            let message = error["error"]["message"].as_str().expect("a message");
            assert!(message.contains(why), "`{tool}`: {message}");

            let answer = client.call("append", &arguments).await;
            assert_eq!(answer["result"]["isError"], false, "after `{tool}`: {answer}");
        }
    }
}
