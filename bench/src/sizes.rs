//! The space of data on disk.

/// The sizes of several files, in bytes. Each is compared with the first.
pub struct Sizes {
    pub title: String,
    pub rows: Vec<(&'static str, u64)>,
    /// The aim: the highest ratio for the last row.
    pub at_most: f64,
}

impl Sizes {
    /// The ratio of a row to the first.
    pub fn ratio(&self, bytes: u64) -> f64 {
        bytes as f64 / self.rows[0].1 as f64
    }

    /// The last row.
    pub fn last(&self) -> (&'static str, u64) {
        self.rows[self.rows.len() - 1]
    }
}
