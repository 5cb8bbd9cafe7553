use super::error::{call_error, toolset_error, unreadable};
use crate::{CallError, Completion, Outcome, Prompt, Reference};
use rmcp::ErrorData;
use rmcp::model::{
    self, CompleteRequestParams, CompletionInfo, GetPromptResult, PromptArgument, PromptMessage,
    Role,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A prompt as `prompts/list` shows it: the component's description, unchanged.
pub(super) fn listed(prompt: &Prompt) -> model::Prompt {
    let arguments = prompt.arguments.iter().map(|argument| {
        PromptArgument::new(&argument.name)
            .with_description(&argument.description)
            .with_required(argument.required)
    });
    model::Prompt::new(&prompt.name, Some(&prompt.description), Some(arguments.collect()))
        .with_title(&prompt.title)
}

#[derive(Deserialize)]
struct PromptText {
    description: String,
    messages: Vec<Message>,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    text: String,
}

/// The outcome of getting a prompt as an MCP result. MCP has no error results for prompts, so a
/// toolset's error becomes a JSON-RPC error, with the toolset's JSON as its data.
pub(super) fn prompt(outcome: Result<Outcome, CallError>) -> Result<GetPromptResult, ErrorData> {
    let PromptText { description, messages } = read(outcome)?;
    let message = |message: Message| {
        let role = if message.role == "assistant" { Role::Assistant } else { Role::User };
        PromptMessage::new_text(role, message.text)
    };
    let messages = messages.into_iter().map(message).collect();
    Ok(GetPromptResult::new(messages).with_description(description))
}

/// The argument that a client wants to complete.
pub(super) fn completion(params: CompleteRequestParams) -> Result<Completion, ErrorData> {
    let reference = match params.r#ref {
        model::Reference::Prompt(prompt) => Reference::Prompt(prompt.name),
        model::Reference::Resource(resource) => Reference::ResourceTemplate(resource.uri),
        other => {
            let message = format!("the reference `{other:?}` is neither a prompt nor a resource");
            return Err(ErrorData::invalid_params(message, None));
        }
    };
    let others = params.context.and_then(|context| context.arguments).unwrap_or_default();
    Ok(Completion {
        reference,
        argument: params.argument.name,
        value: params.argument.value,
        others: others.into_iter().collect(),
    })
}

/// The outcome of a completion as an MCP result.
pub(super) fn completed(outcome: Result<Outcome, CallError>) -> Result<CompletionInfo, ErrorData> {
    let values = read(outcome)?;
    CompletionInfo::new(values).map_err(|error| ErrorData::internal_error(error, None))
}

fn read<T: DeserializeOwned>(outcome: Result<Outcome, CallError>) -> Result<T, ErrorData> {
    let answer = outcome.map_err(call_error)?.answer.map_err(toolset_error)?;
    serde_json::from_str(&answer).map_err(|error| unreadable(&error))
}
