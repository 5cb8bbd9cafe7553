//! The URIs of the resources.

use super::input::DEFAULT_AGENT;

pub(super) const SCHEME: &str = "memory://";

/// The URIs of the resources that change with an agent's memories.
pub(super) fn changed_by(agent: &str) -> Vec<String> {
    let mut paths = vec![format!("{agent}/recent"), format!("{agent}/stats")];
    if agent == DEFAULT_AGENT {
        paths.extend(["recent".to_owned(), "stats".to_owned()]);
    }
    paths.into_iter().map(|path| format!("{SCHEME}{path}")).collect()
}
