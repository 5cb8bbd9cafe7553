//! The key of a derived database: its place and its name.

use super::query::literal;

/// A derived database of a place.
#[derive(Debug)]
pub(crate) struct Derived {
    pub place: String,
    /// Its name, which is the scope that its writers lock. Scopes of a place begin with `/`.
    pub name: String,
}

impl Derived {
    /// The statement that says whose rows a transaction reads and makes, beside the tenant.
    pub fn set_place(&self) -> String {
        format!("; SELECT set_config('agent_memory.place', {}, true)", literal(&self.place))
    }
}
