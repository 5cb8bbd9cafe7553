//! The steps of a case: requests, each with its expected answer.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::places::{Ids, Places};

/// One request and its expected answer.
#[derive(Clone, Debug, Deserialize)]
#[allow(missing_docs, reason = "`case.schema.json` documents each")]
pub struct Step {
    #[serde(flatten)]
    pub request: Request,
    pub has: Option<Value>,
    pub result: Option<Value>,
    pub error: Option<Value>,
    #[serde(default)]
    pub says: Vec<String>,
    pub failure: Option<String>,
    #[serde(default)]
    pub leaves: Vec<Value>,
}

/// A request of a step.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
#[allow(missing_docs, reason = "`case.schema.json` documents each")]
pub enum Request {
    Call {
        call: String,
        arguments: Value,
    },
    Read {
        read: String,
    },
    Prompt {
        prompt: String,
        arguments: Value,
    },
    Complete {
        complete: Completed,
        argument: String,
        value: String,
        #[serde(default)]
        others: Map<String, Value>,
    },
    Pending {
        pending: bool,
    },
    Claim {
        claim: String,
        lease_seconds: u32,
    },
    Answer {
        answer: String,
        payload: Value,
    },
}

/// The prompt or the resource template that has an argument to complete.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Completed {
    Prompt(String),
    ResourceTemplate(String),
}

impl Request {
    /// Whether it is about follow-ups.
    pub fn is_of_follow_ups(&self) -> bool {
        matches!(self, Self::Pending { .. } | Self::Claim { .. } | Self::Answer { .. })
    }

    /// The request with its placeholders filled.
    pub fn filled(&self, places: &Places, ids: &Ids) -> Self {
        let mut request = self.clone();
        match &mut request {
            Self::Call { arguments, .. } | Self::Prompt { arguments, .. } => {
                *arguments = ids.fill(&places.fill(arguments));
            }
            Self::Read { read } => *read = ids.fill_text(read),
            Self::Complete { .. }
            | Self::Pending { .. }
            | Self::Claim { .. }
            | Self::Answer { .. } => {}
        }
        request
    }
}

impl Step {
    /// The name of the tool that it calls, or of the component's other function.
    pub fn name(&self) -> &str {
        match &self.request {
            Request::Call { call, .. } => call,
            Request::Read { .. } => "read-resource",
            Request::Prompt { .. } => "get-prompt",
            Request::Complete { .. } => "complete",
            Request::Pending { .. } => "pending",
            Request::Claim { .. } => "claim",
            Request::Answer { .. } => "answer",
        }
    }

    /// Whether it calls a tool.
    pub fn is_call(&self) -> bool {
        matches!(self.request, Request::Call { .. })
    }

    /// The arguments of a tool or a prompt, or null.
    pub fn arguments(&self) -> &Value {
        match &self.request {
            Request::Call { arguments, .. } | Request::Prompt { arguments, .. } => arguments,
            _ => &Value::Null,
        }
    }

    /// Whether it calls a tool, by its own or its qualified name.
    pub fn calls(&self, tool: &str) -> bool {
        let toolset = self.name().strip_suffix(tool);
        toolset.is_some_and(|toolset| toolset.is_empty() || toolset.ends_with('_'))
    }
}
