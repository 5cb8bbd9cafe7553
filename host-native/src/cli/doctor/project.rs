//! The project of the working directory, and its agent.

use super::finding::Finding;
use crate::cli::project::{ProjectOptions, agent_of_here};

const ABOUT: &str = "project";

/// The finding about the agent to which calls are bound, or would be bound with `--agent-from project`.
/// `None` if no project is found and none is needed.
pub(super) fn finding(options: &ProjectOptions) -> Option<Finding> {
    match options.agent() {
        Ok(Some(agent)) => {
            Some(Finding::good(ABOUT, format!("calls are for the agent `{agent}` alone")))
        }
        Ok(None) => {
            let agent = agent_of_here().ok()?;
            let message = format!("its agent is `{agent}` with `--agent-from project`");
            Some(Finding::good(ABOUT, message))
        }
        // Wrong options are reported with the settings.
        Err(_) if options.check().is_err() => None,
        Err(error) => Some(Finding::error(ABOUT, error)),
    }
}
