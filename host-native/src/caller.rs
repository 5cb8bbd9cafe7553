//! The caller: the part of a call that its client brings.

use crate::model::{EmbeddedText, Model};
use crate::roots::Roots;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// The part of a call that its client brings, such as the client of an MCP server. By default it is
/// empty.
#[derive(Clone, Default)]
pub struct Caller {
    /// The source of further granted directories.
    pub roots: Option<Arc<dyn Roots>>,
    /// Models of the client. They are asked before those of the [`Builder`](crate::Builder).
    pub models: Vec<Arc<dyn Model>>,
    /// The agents, stores and repositories that the client may use.
    pub reach: Reach,
    /// The vector that an earlier [outcome](crate::Outcome::wants_vector) of this search asked for. Only
    /// a program that asks its embedder by itself sets it.
    pub vector: Option<EmbeddedText>,
    /// A key that the client has made for this call and sends with its repetitions, such as a UUID. Of
    /// all calls with one key in 24 hours, only the first is made, and the others get its answer. The
    /// key has no effect on a tool that only reads.
    ///
    /// A call that ended with an error is made anew, unless its message says that the change may have
    /// been made. This process remembers 10,000 keys and 32 MiB of answers, of all tenants together. A
    /// database server stores the key together with the change, so that a repetition in another process
    /// is not made, but ends with [`CallError::Repeated`](crate::CallError::Repeated).
    pub idempotency_key: Option<String>,
}

/// The agents, stores and repositories that a caller may use. Results, notes, completions, counts and
/// errors mention no others. By default all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// The agents that the caller reaches. `None`: all. With exactly one, a request that names no agent
    /// is for that agent.
    pub agents: Option<Vec<String>>,
    /// The stores that the caller reaches. `None`: all. With exactly one, a request that names no store
    /// is for that store.
    pub stores: Option<Vec<String>>,
    /// Canonical directories. The caller reaches the granted directories inside them. If a granted
    /// directory contains one of them, the caller reaches only that part of it. `None`: everything
    /// granted.
    pub repositories: Option<Vec<PathBuf>>,
    /// Whether the caller may only read: the tools that change something do not exist for it.
    pub read_only: bool,
}

impl Reach {
    /// Whether the caller reaches less than everything.
    pub fn is_limited(&self) -> bool {
        *self != Reach::default()
    }

    /// The agents of this reach that are also in `limit`, where `None` is no limit. Returns `None` if
    /// neither limits the agents.
    pub(crate) fn agents_within(&self, limit: Option<&[String]>) -> Option<Vec<String>> {
        match (&self.agents, limit) {
            (Some(own), Some(limit)) => {
                Some(own.iter().filter(|name| limit.contains(name)).cloned().collect())
            }
            (own, limit) => own.clone().or_else(|| limit.map(<[String]>::to_vec)),
        }
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let models: Vec<_> = self.models.iter().map(|model| model.name()).collect();
        formatter
            .debug_struct("Caller")
            .field("roots", &self.roots.is_some())
            .field("models", &models)
            .field("reach", &self.reach)
            .field("vector", &self.vector.is_some())
            .field("idempotency_key", &self.idempotency_key)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_reaches_the_agents_of_both_limits() {
        let named = |names: &[&str]| -> Vec<String> {
            names.iter().map(|name| (*name).to_owned()).collect()
        };
        let within = |own: Option<Vec<String>>, limit: Option<Vec<String>>| {
            Reach { agents: own, ..Reach::default() }.agents_within(limit.as_deref())
        };
        assert_eq!(within(None, None), None);
        assert_eq!(within(Some(named(&["ada"])), None), Some(named(&["ada"])));
        assert_eq!(within(None, Some(named(&["ada"]))), Some(named(&["ada"])));
        let both = within(Some(named(&["ada", "bob"])), Some(named(&["bob", "eve"])));
        assert_eq!(both, Some(named(&["bob"])));
        assert_eq!(within(Some(named(&["ada"])), Some(named(&["eve"]))), Some(Vec::new()));
    }
}
