//! The warning about documents that a search did not read, because its budget was used up.

use crate::source::{Owner, Request, Skipped};

/// The maximum number of owners that the warning names.
const MAX_NAMED: usize = 10;

/// Says which documents were not read, and how to search them. `None` if nothing was skipped.
pub(super) fn not_read(request: &Request, skipped: &[Skipped]) -> Option<String> {
    if skipped.is_empty() {
        return None;
    }
    let named = skipped.iter().take(MAX_NAMED);
    let mut parts: Vec<String> =
        named.map(|Skipped { owner, what }| format!("{what} of {}", name(owner))).collect();
    if skipped.len() > MAX_NAMED {
        parts.push(format!("parts of {} more", skipped.len() - MAX_NAMED));
    }
    let parts = parts.join(", ");
    let narrower = [
        ("`agent`", request.agent.is_none()),
        ("`repo_root`", request.repo_root.is_none()),
        ("`toolsets`", true),
    ];
    let narrower: Vec<&str> =
        narrower.into_iter().filter(|(_, helps)| *helps).map(|(field, _)| field).collect();
    let narrower = narrower.join(" or ");
    Some(format!(
        "there is more text than one search reads, and these were not read: {parts}; search less \
         at once with {narrower}"
    ))
}

/// Names an owner for a message.
pub(super) fn name(owner: &Owner) -> String {
    let Owner { toolset, repo_root, store, agent } = owner;
    match (agent, store, repo_root) {
        (Some(agent), _, Some(root)) => format!("agent `{agent}` in {toolset} of `{root}`"),
        (Some(agent), ..) => format!("agent `{agent}` in {toolset}"),
        (_, Some(store), _) => format!("store `{store}`"),
        (.., Some(root)) => format!("{toolset} of `{root}`"),
        _ => (*toolset).to_owned(),
    }
}
