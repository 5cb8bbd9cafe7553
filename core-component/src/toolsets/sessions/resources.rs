//! The resources: a log or a summary of an agent, as `read_session` and `read_summary` return it
//! for a call without `repo_root`. A URI does not name a repository.

use serde_json::{Value, json};

use super::agent::Agent;
use super::error::Error;
use super::uri::{Part, parse};
use super::{read_session, read_summary};
use crate::names::AgentName;
use crate::tool::Call;
use crate::toolset::{ReadResult, Resource, Resources};

pub(super) const SUMMARY: &str = "sessions://{agent}/summary";
pub(super) const LOG: &str = "sessions://{agent}/{date}";

pub(crate) const RESOURCES: Resources = Resources {
    list: &[],
    templates: &[
        Resource {
            uri: SUMMARY,
            name: "summary_of_agent",
            title: "Summary of an agent",
            description: "The summary of an agent in the only repository that is granted, as JSON.",
        },
        Resource {
            uri: LOG,
            name: "session_of_agent",
            title: "Session of an agent",
            description: "The session log of an agent and a day (`YYYY-MM-DD`) in the only \
                          repository that is granted, as JSON.",
        },
    ],
    read,
};

/// Reads a resource. Returns `None` for a URI that this toolset does not have.
fn read(call: &Call<'_>, uri: &str) -> Option<ReadResult> {
    let (agent, part) = parse(uri)?;
    Some(contents(call, &agent, &part).map_err(Into::into))
}

fn contents(call: &Call<'_>, agent: &AgentName, part: &Part) -> Result<Value, Error> {
    let agent = Agent::open(call, None, agent)?;
    Ok(match part {
        Part::Summary => json!(read_summary::read(call, &agent, 0, usize::MAX)?),
        Part::Log(date) => json!(read_session::read(call, &agent, *date, None, 0, usize::MAX)?),
    })
}
