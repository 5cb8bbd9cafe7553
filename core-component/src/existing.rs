//! The parts of an answer that tell which names exist, for a call that finds nothing or names something
//! that its caller may not use. Names that the caller may not use are in no answer.

use std::collections::BTreeSet;

use crate::context::Context;
use crate::listing::listed;
use crate::names::name_error;
use crate::nearest::nearest;
use crate::time::Date;

/// The most names of a list in a message.
pub(crate) const MAX_NAMES: usize = 10;

/// Says which agents have memories, and which of their names is nearest to `wanted` if the agent
/// `wanted` has none. `None` for a caller that may use only one agent, since it must not hear of
/// others. `list` returns the names of all agents.
///
/// # Errors
///
/// The error of `list`.
pub(crate) fn agents<Names: IntoIterator<Item = String>, Error>(
    context: &Context,
    wanted: &str,
    list: impl FnOnce() -> Result<Names, Error>,
) -> Result<Option<String>, Error> {
    if context.only_agent().is_some() {
        return Ok(None);
    }
    let names = list()?.into_iter();
    let names = names.filter(|name| context.reaches(name) && name_error(name).is_none());
    let names: Vec<String> = names.collect::<BTreeSet<_>>().into_iter().collect();
    if names.is_empty() {
        return Ok(Some("no agent has memories yet".to_owned()));
    }
    let there_are = format!("agents with memories: {}", listed(&names, MAX_NAMES));
    Ok(Some(match did_you_mean(wanted, &names) {
        Some(question) => format!("{there_are}; {question}"),
        None => there_are,
    }))
}

/// Says which stores exist. `None` if `store` is the only one that the caller may use. `list` returns
/// the names of all stores.
///
/// # Errors
///
/// The error of `list`.
pub(crate) fn other_stores<Error>(
    context: &Context,
    store: &str,
    list: impl FnOnce() -> Result<Vec<String>, Error>,
) -> Result<Option<String>, Error> {
    if context.only_store().is_some() {
        return Ok(None);
    }
    let mut names = list()?;
    names.retain(|name| name != store && context.reaches_store(name));
    names.sort();
    Ok((!names.is_empty()).then(|| format!("other stores: {}", listed(&names, MAX_NAMES))))
}

/// Asks whether the nearest of the names was meant. `None` if `wanted` is one of `names`, or if no name
/// is near.
pub(crate) fn did_you_mean(wanted: &str, names: &[String]) -> Option<String> {
    nearest(wanted, names).map(|name| format!("did you mean `{name}`?"))
}

/// The first and the last of some days, such as `2025-01-03 to 2025-02-01`. `None` if there are none.
pub(crate) fn days(days: impl IntoIterator<Item = Date>) -> Option<String> {
    let days: BTreeSet<Date> = days.into_iter().collect();
    let first = days.first()?;
    let last = days.last()?;
    Some(if first == last { first.to_string() } else { format!("{first} to {last}") })
}

/// A text with a full stop, unless it ends with the question of [`did_you_mean`].
pub(crate) fn sentence(text: &str) -> String {
    let end = if text.ends_with('?') { "" } else { "." };
    format!("{text}{end}")
}

/// The message for an agent that the caller may not use.
pub(crate) fn agent_not_granted(context: &Context, name: &str) -> String {
    not_granted("agent", name, context.agents.as_deref().unwrap_or_default())
}

/// The message for a store that the caller may not use.
pub(crate) fn store_not_granted(context: &Context, name: &str) -> String {
    not_granted("store", name, context.stores.as_deref().unwrap_or_default())
}

fn not_granted(kind: &str, name: &str, granted: &[String]) -> String {
    let remedy = match granted {
        [] => "ask for a grant".to_owned(),
        [only] => format!("leave it out to use `{only}`"),
        several => format!("use {}", listed(several, MAX_NAMES)),
    };
    format!("{kind} `{name}` is not granted to this caller: {remedy}")
}

/// The message for a name that differs only in case from that of an existing agent or store. `is_told`
/// says whether the caller may hear of the existing name.
pub(crate) fn differs_only_in_case(kind: &str, name: &str, twin: &str, is_told: bool) -> String {
    if is_told {
        format!(
            "{kind} `{name}` differs from the existing {kind} `{twin}` only in case: use that name"
        )
    } else {
        format!(
            "{kind} `{name}` cannot be used: its name differs only in case from one that is taken; \
             ask for another"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(agents: Option<&[&str]>) -> Context {
        let context = serde_json::json!({
            "settings": {"toolsets": []}, "now": "2025-01-20T10:00:00.000Z", "seed": 1,
            "agents": agents,
        });
        serde_json::from_value(context).expect("a context")
    }

    fn told(agents: Option<&[&str]>, wanted: &str, names: &[&str]) -> Option<String> {
        let list = || Ok::<_, ()>(names.iter().map(|name| (*name).to_owned()));
        super::agents(&context(agents), wanted, list).expect("a list")
    }

    #[test]
    fn agents_are_told_in_byte_order_with_the_nearest_name() {
        let told_of = |wanted| told(None, wanted, &["bob", "Ada", "alice"]);
        assert_eq!(told_of("bob").as_deref(), Some("agents with memories: `Ada`, `alice`, `bob`"));
        assert_eq!(told_of("zoe").as_deref(), Some("agents with memories: `Ada`, `alice`, `bob`"));
        assert_eq!(
            told_of("alcie").as_deref(),
            Some("agents with memories: `Ada`, `alice`, `bob`; did you mean `alice`?")
        );
        assert_eq!(told(None, "bob", &[]).as_deref(), Some("no agent has memories yet"));
    }

    #[test]
    fn only_agents_that_the_caller_may_use_are_told() {
        let told_of = |agents| told(Some(agents), "bbo", &["ada", "bob", "eve"]);
        assert_eq!(told_of(&["bbo"]), None);
        assert_eq!(
            told_of(&["bbo", "eve"]).as_deref(),
            Some("agents with memories: `eve`"),
            "nothing tells that `bob` exists"
        );
        assert_eq!(told_of(&["bbo", "zoe"]).as_deref(), Some("no agent has memories yet"));
    }
}
