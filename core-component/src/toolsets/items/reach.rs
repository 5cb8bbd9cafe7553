//! The namespaces that a caller reaches.
//!
//! A caller of one agent sees the namespaces below that agent's label, without the label. A caller
//! of several agents sees the namespaces below their labels. A caller that is not limited to agents
//! sees everything.

use super::error::Error;
use super::namespace::{Below, Root, check};
use crate::context::Context;

/// The namespaces that a caller reaches.
pub(super) enum Reach<'a> {
    Everything,
    /// The namespaces below the only agent that the caller may use.
    Agent(&'a str),
    /// The namespaces below the agents that the caller may use.
    Agents(&'a [String]),
}

impl<'a> Reach<'a> {
    pub fn new(context: &'a Context) -> Self {
        match (context.only_agent(), context.agents.as_deref()) {
            (Some(agent), _) => Self::Agent(agent),
            (None, Some(agents)) => Self::Agents(agents),
            (None, None) => Self::Everything,
        }
    }

    /// Returns the name of the collection in the search index. Callers with different reach have
    /// different collections: a search reads only the items that its caller may use, and cannot
    /// keep an index of other items up to date.
    pub fn collection(&self) -> String {
        match self {
            Self::Everything => EVERYTHING.to_owned(),
            Self::Agent(agent) => format!("{EVERYTHING}/{agent}"),
            Self::Agents(agents) => format!("{EVERYTHING}//{}", agents.join("/")),
        }
    }

    /// Converts labels that the caller gives to the stored namespace.
    ///
    /// # Errors
    ///
    /// `PERMISSION_ERROR` if the caller may not use the namespace.
    pub fn stored(&self, labels: &[String]) -> Result<Vec<String>, Error> {
        match self {
            Self::Everything => Ok(labels.to_vec()),
            Self::Agent(agent) => Ok([&[(*agent).to_owned()], labels].concat()),
            Self::Agents(agents) => match labels.first() {
                Some(first) if agents.contains(first) && labels.len() > 1 => Ok(labels.to_vec()),
                _ => Err(Error::not_below_an_agent(labels, agents)),
            },
        }
    }

    /// Checks the labels of a new item by the rules of LangGraph. For a caller of several agents,
    /// the first label is the name of an agent and is not checked.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` for labels that break a rule of LangGraph.
    pub fn check_labels(&self, labels: &[String]) -> Result<(), Error> {
        let skipped = usize::from(matches!(self, Self::Agents(_)));
        check(labels.get(skipped..).unwrap_or_default())
    }

    /// Returns the labels of a stored namespace as the caller sees them.
    pub fn seen(&self, mut stored: Vec<String>) -> Vec<String> {
        if matches!(self, Self::Agent(_)) && !stored.is_empty() {
            stored.remove(0);
        }
        stored
    }

    /// Returns the namespaces below these labels that the caller may use.
    ///
    /// # Errors
    ///
    /// `PERMISSION_ERROR` if the caller may not use any of these namespaces.
    pub fn below(&self, labels: &[String]) -> Result<Below, Error> {
        let root = |labels: &[String], is_itself_in| Root { labels: labels.to_vec(), is_itself_in };
        Ok(match self {
            Self::Everything if labels.is_empty() => Below::Everything,
            Self::Everything => Below::Any(vec![root(labels, true)]),
            Self::Agent(_) => Below::Any(vec![root(&self.stored(labels)?, !labels.is_empty())]),
            Self::Agents(agents) => match labels {
                [] => {
                    let agents = agents.iter().map(std::slice::from_ref);
                    Below::Any(agents.map(|agent| root(agent, false)).collect())
                }
                [agent] if agents.contains(agent) => Below::Any(vec![root(labels, false)]),
                _ => Below::Any(vec![root(&self.stored(labels)?, true)]),
            },
        })
    }
}

/// The name of the collection for a caller without limits. The names of all other collections begin
/// with it.
const EVERYTHING: &str = "items";
