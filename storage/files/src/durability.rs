//! Durability of commits.

/// The durability of an acknowledged commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// A commit survives a loss of power: every changed file and directory is synced.
    #[default]
    Full,
    /// A commit survives the end of the process. A loss of power may undo the last commits. The
    /// bytes of a new document are synced, so it is never left empty.
    Relaxed,
}
