use super::error::{call_error, toolset_error, unreadable};
use super::version::Version;
use crate::{AgentMemory, CallError, Category, Outcome, Resource, ResourceTemplate, ToolError};
use rmcp::ErrorData;
use rmcp::model::{self, ReadResourceResult, ResourceContents};
use serde::Deserialize;
use serde_json::{Value, json};

/// A resource as `resources/list` shows it: the component's description, unchanged.
pub(super) fn listed(resource: &Resource) -> model::Resource {
    model::Resource::new(&resource.uri, &resource.name)
        .with_title(&resource.title)
        .with_description(&resource.description)
        .with_mime_type(&resource.mime_type)
}

/// A template as `resources/templates/list` shows it.
pub(super) fn listed_template(template: &ResourceTemplate) -> model::ResourceTemplate {
    model::ResourceTemplate::new(&template.uri_template, &template.name)
        .with_title(&template.title)
        .with_description(&template.description)
        .with_mime_type(&template.mime_type)
}

/// Whether a URI is that of a listed resource or matches a template.
pub(super) fn is_resource(memory: &AgentMemory, uri: &str) -> bool {
    memory.resources().iter().any(|resource| resource.uri == uri)
        || memory
            .resource_templates()
            .iter()
            .any(|template| matches_template(&template.uri_template, uri))
}

/// Whether a URI matches a template. A variable matches text within one path segment, and a variable with
/// a `+` matches any text.
fn matches_template(template: &str, uri: &str) -> bool {
    let Some((before, (variable, after))) =
        template.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
    else {
        return template == uri;
    };
    let Some(rest) = uri.strip_prefix(before) else { return false };
    let is_any = variable.starts_with('+');
    let ends = (0..=rest.len()).filter(|end| rest.is_char_boundary(*end));
    let values = ends.map(|end| rest.split_at(end));
    let mut fitting = values
        .take_while(|(value, _)| is_any || !value.ends_with('/'))
        .filter(|(value, _)| is_any || !value.is_empty());
    fitting.any(|(_, rest)| matches_template(after, rest))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Contents {
    uri: String,
    mime_type: String,
    text: String,
}

/// The outcome of a read as an MCP result. MCP has no error results for resources, so a toolset's
/// error becomes a JSON-RPC error, with the toolset's JSON as its data.
pub(super) fn read(
    outcome: Result<Outcome, CallError>,
    uri: &str,
    version: Version,
) -> Result<ReadResourceResult, ErrorData> {
    let outcome = outcome.map_err(|error| match error {
        CallError::NotFound(_) => unknown(uri, version),
        error => call_error(error),
    })?;
    let answer = outcome.answer.map_err(|error| {
        let message = format!("`{uri}` cannot be read: {}", error.message);
        match error.category {
            Category::NotFound => {
                not_found(message, serde_json::from_str(&error.json).ok(), version)
            }
            _ => toolset_error(ToolError { message, ..error }),
        }
    })?;
    let contents: Vec<Contents> =
        serde_json::from_str(&answer).map_err(|error| unreadable(&error))?;
    let contents = contents
        .into_iter()
        .map(|part| ResourceContents::text(part.text, part.uri).with_mime_type(part.mime_type));
    Ok(ReadResourceResult::new(contents.collect()))
}

/// The error for a URI that names no resource.
pub(super) fn unknown(uri: &str, version: Version) -> ErrorData {
    let message = format!(
        "there is no resource `{uri}`: `resources/list` and `resources/templates/list` name them"
    );
    not_found(message, Some(json!({ "uri": uri })), version)
}

/// The error for a resource that does not exist; its code depends on the protocol version.
fn not_found(message: String, data: Option<Value>, version: Version) -> ErrorData {
    match version {
        Version::Stateless => ErrorData::invalid_params(message, data),
        Version::Initialized => ErrorData::resource_not_found(message, data),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_matches_a_template_with_values_in_place_of_the_variables() {
        let template = "memory://{name}/recent";
        for (uri, expected) in [
            ("memory://ada/recent", true),
            ("memory:///recent", false),
            ("memory://ada/grace/recent", false),
            ("memory://recent", false),
            ("memory://ada/stats", false),
        ] {
            assert_eq!(matches_template(template, uri), expected, "{uri}");
        }
        assert!(matches_template("memory://recent", "memory://recent"));
        for (uri, expected) in [
            ("things://ada/2025-01-20", true),
            ("things://ada/", false),
            ("things://ada", false),
            ("things://ada/more/2025-01-20", false),
        ] {
            assert_eq!(matches_template("things://{agent}/{date}", uri), expected, "{uri}");
        }
        for (uri, expected) in
            [("places://team/", true), ("places://team/notes/deploy", true), ("places:///x", false)]
        {
            assert_eq!(matches_template("places://{place}/{+path}", uri), expected, "{uri}");
        }
    }
}
