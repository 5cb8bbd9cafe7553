use super::refusal::Era;
use crate::{CallError, Memory, Outcome, Resource, ResourceTemplate};
use rmcp::ErrorData;
use rmcp::model::{self, ReadResourceResult, ResourceContents};
use serde::Deserialize;
use serde_json::json;

/// A resource as `resources/list` shows it: what the component says, and nothing else.
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

/// Whether a URI is that of a listed resource, or fits a template.
pub(super) fn is_resource(memory: &Memory, uri: &str) -> bool {
    memory.resources().iter().any(|resource| resource.uri == uri)
        || memory.resource_templates().iter().any(|template| fits(&template.uri_template, uri))
}

/// Whether a URI fits a template with one variable, a segment of a path.
fn fits(template: &str, uri: &str) -> bool {
    let Some((before, (_, after))) =
        template.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
    else {
        return template == uri;
    };
    let value = uri.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    value.is_some_and(|value| !value.is_empty() && !value.contains('/'))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Held {
    uri: String,
    mime_type: String,
    text: String,
}

/// What reading a resource answered, as MCP says it. A resource has no result that is an error: what
/// a toolset refuses is the message of a JSON-RPC error, with the toolset's own as its data.
pub(super) fn read(
    outcome: Result<Outcome, CallError>,
    uri: &str,
    era: Era,
) -> Result<ReadResourceResult, ErrorData> {
    let internal = |message: String| ErrorData::internal_error(message, None);
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(CallError::NotFound(_)) => return Err(unknown(uri, era)),
        Err(CallError::InvalidRequest(message)) => {
            return Err(ErrorData::invalid_params(message, None));
        }
        Err(CallError::Ended { message, .. }) => return Err(internal(message)),
    };
    let answer = outcome.answer.map_err(|refusal| {
        let data = serde_json::from_str(&refusal.json).ok();
        let message = format!("`{uri}` cannot be read: {}", refusal.message);
        ErrorData::internal_error(message, data)
    })?;
    let held: Vec<Held> = serde_json::from_str(&answer)
        .map_err(|error| internal(format!("the component's answer cannot be read: {error}")))?;
    let contents = held
        .into_iter()
        .map(|held| ResourceContents::text(held.text, held.uri).with_mime_type(held.mime_type));
    Ok(ReadResourceResult::new(contents.collect()))
}

/// The error for a URI that is no resource; the code depends on the era.
pub(super) fn unknown(uri: &str, era: Era) -> ErrorData {
    let message = format!(
        "there is no resource `{uri}`: `resources/list` and `resources/templates/list` name them"
    );
    let data = Some(json!({ "uri": uri }));
    match era {
        Era::Stateless => ErrorData::invalid_params(message, data),
        Era::Initialized => ErrorData::resource_not_found(message, data),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_fits_a_template_with_one_segment_in_place_of_the_variable() {
        let template = "memory://{name}/recent";
        for (uri, expected) in [
            ("memory://ada/recent", true),
            ("memory:///recent", false),
            ("memory://ada/grace/recent", false),
            ("memory://recent", false),
            ("memory://ada/stats", false),
        ] {
            assert_eq!(fits(template, uri), expected, "{uri}");
        }
        assert!(fits("memory://recent", "memory://recent"));
    }
}
