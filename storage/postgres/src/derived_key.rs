//! The key of the rows of a derived database: one whose data can be made again from other data, such as
//! a search index.

use super::query::literal;

/// The place and the name of a derived database.
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
