use super::error::call_error;
use crate::{Annotations, CallError, Outcome, Tool};
use rmcp::ErrorData;
use rmcp::model::{self, CallToolResult, ContentBlock, JsonObject, MetaObject, ToolAnnotations};
use serde_json::{Value, json};

/// The metadata key of tools that a client always shows to its model. Without such a tool, Claude's own
/// agent shows its model no tools of this server until it searches for them.
const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

/// A tool as `tools/list` shows it: the component's description, unchanged.
pub(super) fn listed(tool: &Tool) -> model::Tool {
    let Annotations { read_only_hint, destructive_hint, idempotent_hint, open_world_hint } =
        tool.annotations;
    let annotations = ToolAnnotations::new()
        .read_only(read_only_hint)
        .destructive(destructive_hint)
        .idempotent(idempotent_hint)
        .open_world(open_world_hint);
    let mut listed =
        model::Tool::new(tool.name.clone(), tool.description.clone(), tool.input_schema.clone())
            .with_title(&tool.title)
            .with_raw_output_schema(tool.output_schema.clone())
            .with_annotations(annotations);
    let mark = || MetaObject(JsonObject::from_iter([(ALWAYS_LOAD.to_owned(), json!(true))]));
    listed.meta = tool.always_visible.then(mark);
    listed
}

/// The outcome of a call as an MCP result.
///
/// An error is text only: clients check structured content against the output schema, which
/// describes no errors.
pub(super) fn answer(outcome: Result<Outcome, CallError>) -> Result<CallToolResult, ErrorData> {
    match outcome {
        Ok(outcome) => Ok(match outcome.answer {
            Ok(result) => success(result),
            Err(refused) => error(refused.json),
        }),
        Err(CallError::Ended { message, .. }) => Ok(internal(&message)),
        Err(error) => Err(call_error(error)),
    }
}

fn success(result: String) -> CallToolResult {
    let structured = match serde_json::from_str::<Value>(&result) {
        Ok(structured @ Value::Object(_)) => structured,
        _ => return internal("the component's result is not a JSON object"),
    };
    let mut success = CallToolResult::success(vec![ContentBlock::text(result)]);
    success.structured_content = Some(structured);
    success
}

fn error(json: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(json)])
}

fn internal(message: &str) -> CallToolResult {
    error(CallError::ended_json(message))
}
