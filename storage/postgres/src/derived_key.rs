//! The key of a derived database: its place and its name.

use super::query::literal;

/// A derived database of a place.
#[derive(Debug)]
pub(crate) struct Derived {
    pub place: String,
    /// The name of the database. Its writers lock the row of `scopes` with this name. The scopes of a
    /// place begin with `/`, so they are other rows.
    pub name: String,
}

impl Derived {
    /// The statement that sets the place whose rows a transaction reads and inserts. The tenant is set
    /// separately.
    pub fn set_place(&self) -> String {
        format!("; SELECT set_config('agent_memory.place', {}, true)", literal(&self.place))
    }
}
