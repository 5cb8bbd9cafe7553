//! The URIs of the resources.

use super::log::log_date;
use crate::names::AgentName;
use crate::time::Date;

const SCHEME: &str = "sessions://";
const SUMMARY: &str = "summary";

/// A resource of an agent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    Summary,
    Log(Date),
}

/// The agent and the part that a URI names. `None` if the toolset has no resource with this URI.
pub(super) fn parse(uri: &str) -> Option<(AgentName, Part)> {
    let (agent, part) = uri.strip_prefix(SCHEME)?.split_once('/')?;
    let part = match part {
        SUMMARY => Part::Summary,
        date => Part::Log(Date::parse(date)?),
    };
    Some((AgentName::parse(agent)?, part))
}

/// The URI of the resource that shows a document of the tree. `None` if no resource shows it.
pub(super) fn changed_by(path: &str) -> Option<String> {
    let (agent, file) = path.split_once('/')?;
    let part = match file {
        "_summary.md" => SUMMARY.to_owned(),
        _ => log_date(file.strip_prefix("logs/")?)?.to_string(),
    };
    Some(format!("{SCHEME}{agent}/{part}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_and_a_summary_have_a_uri_and_other_files_have_none() {
        for (path, uri) in [
            ("ada/_summary.md", Some("sessions://ada/summary")),
            ("ada/logs/2025-01-20.md", Some("sessions://ada/2025-01-20")),
            ("ada/_schema.md", None),
            ("ada/logs/notes.md", None),
        ] {
            assert_eq!(changed_by(path).as_deref(), uri, "{path}");
            assert!(uri.is_none_or(|uri| parse(uri).is_some()), "{path}");
        }
        for uri in ["sessions://ada", "sessions://ada/", "sessions://ada/2025-02-30", "sessions://"]
        {
            assert!(parse(uri).is_none(), "{uri}");
        }
    }
}
