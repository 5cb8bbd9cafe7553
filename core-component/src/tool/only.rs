//! Fills in the agent or the store of a call if the caller may use only one agent or only one
//! store.

use serde_json::{Map, Value};

use crate::context::Context;

/// The arguments that name the agent, in the tools and prompts of all toolsets.
pub(super) const AGENT: [&str; 3] = ["agent_name", "agent_id", "agent"];

/// The argument that names the store.
pub(super) const STORE: &str = "store";

/// Sets each argument for the agent or the store that is missing or null, if the caller may use
/// only one agent or store. `takes` tells whether the tool has an argument of this name.
pub(crate) fn name_the_only(
    context: &Context,
    arguments: &mut Map<String, Value>,
    takes: impl Fn(&str) -> bool,
) {
    let of_agent = AGENT.iter().map(|name| (*name, context.only_agent()));
    for (name, only) in of_agent.chain([(STORE, context.only_store())]) {
        let is_given = arguments.get(name).is_some_and(|value| !value.is_null());
        if let Some(only) = only.filter(|_| takes(name) && !is_given) {
            arguments.insert(name.to_owned(), only.into());
        }
    }
}
