//! A caller that may use one agent or one store only need not name it.

use serde_json::{Map, Value};

use crate::context::Context;

/// The arguments that name the agent, in the tools and prompts of all toolsets.
pub(super) const AGENT: [&str; 3] = ["agent_name", "agent_id", "agent"];

/// The argument that names the store.
pub(super) const STORE: &str = "store";

/// Sets the arguments for agent and store that are left out or null to the only ones that the caller
/// may use. `takes` says whether there is an argument of a name.
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
