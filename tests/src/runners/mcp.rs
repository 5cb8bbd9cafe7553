//! The built binary over MCP: JSON lines on its standard input and output, in both protocol versions,
//! or stateless requests over HTTP. Each case has a process of its own.

use agent_memory_conformance::case::{Case, CaseClock, Completed, Documents, Places, Request};
use agent_memory_conformance::core_runner::resource_answer;
use agent_memory_conformance::runner::{Answer, Session};
use serde_json::{Value, json};
use std::path::Path;

use crate::runners::mcp_client::{Client, ProtocolVersion};
use crate::runners::{flags, utc_offset};
use crate::scratch::Scratch;
use crate::wine;

/// A case over MCP.
pub struct McpSession {
    scratch: Scratch,
    client: Client,
}

impl McpSession {
    /// Starts a case over standard input and output.
    pub fn start(case: &Case, version: ProtocolVersion) -> Result<Box<dyn Session>, String> {
        Self::with(case, "", |arguments, directory| Client::start(arguments, directory, version))
    }

    /// Starts a case with the program for Windows, under Wine.
    pub fn start_in_wine(case: &Case) -> Result<Box<dyn Session>, String> {
        Self::with(case, wine::DRIVE, |arguments, directory| {
            Client::start_command(wine::command(), arguments, directory, ProtocolVersion::Stateless)
        })
    }

    /// Starts a case over HTTP.
    pub fn start_http(case: &Case) -> Result<Box<dyn Session>, String> {
        Self::with(case, "", |arguments, directory| Ok(Client::start_http(arguments, directory)))
    }

    fn with(
        case: &Case,
        drive: &'static str,
        start: impl FnOnce(&[String], &Path) -> Result<Client, String>,
    ) -> Result<Box<dyn Session>, String> {
        let scratch = Scratch::on_drive(case, drive);
        let clock = &case.text.clock;
        let repo = scratch.places().repo;
        let mut arguments = vec![
            format!("--toolset={}", case.toolsets().join(",")),
            format!("--fixed-clock={}+{}ms", clock.now, clock.step_ms),
            format!("--fixed-random={}", case.text.seed),
            zone_option(clock),
            format!("--allow={repo}"),
            format!("--data-dir={}", scratch.shown(&scratch.data_dir())),
        ];
        let flags = flags(case, &scratch)?.into_iter();
        // An option that is on or off has no value.
        arguments.extend(flags.map(|(flag, value)| match value.as_str() {
            "true" => format!("--{flag}"),
            _ => format!("--{flag}={value}"),
        }));
        let client = start(&arguments, &scratch.elsewhere())?;
        Ok(Box::new(Self { scratch, client }))
    }
}

/// The option for the time zone of a case.
fn zone_option(clock: &CaseClock) -> String {
    match &clock.time_zone {
        Some(name) => format!("--time-zone={name}"),
        None => format!("--utc-offset={}", utc_offset(clock)),
    }
}

impl Session for McpSession {
    fn request(&mut self, request: &Request) -> Result<Answer, String> {
        match request {
            Request::Call { call, arguments } => self.call(call, arguments),
            Request::Read { read } => self.read(read),
            Request::Prompt { prompt, arguments } => self.prompt(prompt, arguments),
            Request::Complete { complete, argument, value, others } => {
                let reference = match complete {
                    Completed::Prompt(name) => json!({ "type": "ref/prompt", "name": name }),
                    Completed::ResourceTemplate(uri) => {
                        json!({ "type": "ref/resource", "uri": uri })
                    }
                };
                self.complete(json!({
                    "ref": reference,
                    "argument": { "name": argument, "value": value },
                    "context": { "arguments": others },
                }))
            }
            _ => Err("MCP has no request for follow-ups".into()),
        }
    }

    fn places(&self) -> Places {
        self.scratch.places()
    }

    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Value>>, String> {
        self.scratch.query(sql)
    }

    fn finish(self: Box<Self>) -> Result<Documents, String> {
        self.client.end()?;
        self.scratch.end()
    }
}

impl McpSession {
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Answer, String> {
        let answer =
            self.client.ask("tools/call", json!({"name": tool, "arguments": arguments}))?;
        match refusal(&answer)? {
            Some(refused) => Ok(refused),
            None => tool_answer(&answer["result"]),
        }
    }

    fn prompt(&mut self, name: &str, arguments: &Value) -> Result<Answer, String> {
        let params = json!({ "name": name, "arguments": arguments });
        let answer = self.client.ask("prompts/get", params)?;
        if let Some(refused) = refusal(&answer)? {
            return Ok(refused);
        }
        let result = &answer["result"];
        let messages = result["messages"].as_array().ok_or("a prompt has messages")?.iter();
        let messages: Vec<_> = messages
            .map(|message| json!({ "role": message["role"], "text": message["content"]["text"] }))
            .collect();
        Ok(Answer::Result(json!({ "description": result["description"], "messages": messages })))
    }

    fn complete(&mut self, params: Value) -> Result<Answer, String> {
        let answer = self.client.ask("completion/complete", params)?;
        let refused = refusal(&answer)?;
        Ok(refused
            .unwrap_or_else(|| Answer::Result(answer["result"]["completion"]["values"].clone())))
    }

    fn read(&mut self, uri: &str) -> Result<Answer, String> {
        let answer = self.client.ask("resources/read", json!({ "uri": uri }))?;
        let Some(error) = answer.get("error") else {
            return resource_answer(uri, Answer::Result(answer["result"]["contents"].clone()));
        };
        let data = &error["data"];
        match error["code"].as_i64() {
            // MCP has no error results for resources: `data` of the JSON-RPC error has the toolset's
            // error.
            Some(-32603 | -32602 | -32002) if data.get("error").is_some() => {
                Ok(Answer::Error(data.clone()))
            }
            // Older protocol versions use -32002 for a missing resource.
            Some(-32602 | -32002) => Ok(Answer::Refused(&["not-found"])),
            _ => Err(format!("the request failed: {error}")),
        }
    }
}

/// The refusal in an answer. MCP has no error results for prompts and completion: `data` of the
/// JSON-RPC error has the toolset's error.
fn refusal(answer: &Value) -> Result<Option<Answer>, String> {
    let Some(error) = answer.get("error") else { return Ok(None) };
    match error["code"].as_i64() {
        _ if error["data"].is_object() => Ok(Some(Answer::Error(error["data"].clone()))),
        Some(-32602) => Ok(Some(Answer::Refused(&["not-found", "invalid-request"]))),
        _ => Err(format!("the request failed: {error}")),
    }
}

/// A `tools/call` result as an answer, checked by the rules that clients enforce.
pub fn tool_answer(result: &Value) -> Result<Answer, String> {
    let text = match result["content"].as_array().map(Vec::as_slice) {
        Some([block]) if block["type"] == "text" => block["text"].as_str(),
        _ => None,
    };
    let text = text.ok_or_else(|| format!("not one block of text: {result}"))?;
    let value: Value =
        serde_json::from_str(text).map_err(|error| format!("the text is not JSON: {error}"))?;
    let structured = result.get("structuredContent");
    if result["isError"] == true {
        return match structured {
            None => Ok(Answer::Error(value)),
            Some(_) => Err(format!("an error with structured content: {result}")),
        };
    }
    if structured != Some(&value) {
        return Err(format!("text and structured content differ: {result}"));
    }
    Ok(Answer::Result(value))
}
