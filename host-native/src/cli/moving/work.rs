//! The work on all places: its passes, its counts and its problems.

use crate::cli::output::print_note;
use crate::cli::progress::Progress;
use crate::storage::api::database::{Mode, Transaction as _};
use crate::storage::{Database, Error, LockTimeout, Statement, Transaction, Tree, Writer};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::runtime::Runtime;

/// The most problems that are printed.
const MAX_PROBLEMS: usize = 20;

/// A pass over all documents and rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// Counts documents and rows. It is a problem if the target cannot store one or has it with other
    /// contents. Nothing is written.
    Check,
    /// Copies documents and rows that the target does not have.
    Copy,
    /// Checks that the target has the same documents and rows.
    Verify,
}

/// The number of places, documents and rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub places: u64,
    pub documents: u64,
    pub rows: u64,
    /// The documents and rows that the target had before.
    pub there: u64,
}

impl Counts {
    pub fn with(self, other: Self) -> Self {
        Counts {
            places: self.places + other.places,
            documents: self.documents + other.documents,
            rows: self.rows + other.rows,
            there: self.there + other.there,
        }
    }

    pub fn all(self) -> u64 {
        self.documents + self.rows
    }

    /// The counts for people.
    pub fn shown(self) -> String {
        let some = |number: u64, one: &str| {
            let end = if number == 1 { "" } else { "s" };
            (number > 0).then(|| format!("{number} {one}{end}"))
        };
        let parts = [some(self.documents, "document"), some(self.rows, "row")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let mut shown = if parts.is_empty() { "nothing".to_owned() } else { parts.join(" and ") };
        if self.places > 1 {
            shown += &format!(" in {} places", self.places);
        }
        if self.there > 0 {
            shown += &format!(", {} of them there already", self.there);
        }
        shown
    }
}

/// The work on all places.
pub(super) struct Work<'a> {
    runtime: &'a Runtime,
    lock_wait: Duration,
    problems: usize,
    notes: BTreeSet<String>,
    progress: Progress,
    done: u64,
    total: u64,
}

impl<'a> Work<'a> {
    pub fn new(runtime: &'a Runtime, lock_wait: Duration) -> Self {
        let progress = Progress::new("documents and rows");
        Work {
            runtime,
            lock_wait,
            problems: 0,
            notes: BTreeSet::new(),
            progress,
            done: 0,
            total: 0,
        }
    }

    /// Waits for a future of the storage.
    pub fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    pub fn timeout(&self) -> LockTimeout {
        LockTimeout::new(self.lock_wait)
    }

    /// Waits for the lock of a place.
    pub fn lock(&self, tree: &Tree) -> Result<Writer, Error> {
        self.wait(async { tree.lock(self.timeout()).await })
    }

    /// Waits until a transaction has begun, under the lock of the place.
    pub fn begin_write(&self, database: &Database) -> Result<Transaction, Error> {
        self.wait(async { database.begin(Mode::Write(None), None, self.timeout()).await })
    }

    /// Runs statements in a transaction of their own.
    pub fn execute(&self, database: &Database, statements: &[Statement]) -> Result<(), Error> {
        let transaction = self.begin_write(database)?;
        transaction.execute(statements)?;
        transaction.commit()
    }

    /// Prints a problem. A problem in the check prevents the move; in a later pass it ends the move
    /// after the pass.
    pub fn problem(&mut self, problem: &str) {
        self.problems += 1;
        self.progress.clear();
        if self.problems <= MAX_PROBLEMS {
            print_note(problem);
        } else if self.problems == MAX_PROBLEMS + 1 {
            print_note("... and more of this kind");
        }
    }

    pub fn has_problems(&self) -> bool {
        self.problems > 0
    }

    /// Adds a note about what is not moved. Equal notes are shown once.
    pub fn note(&mut self, note: String) {
        self.notes.insert(note);
    }

    pub fn tell_notes(&mut self) {
        std::mem::take(&mut self.notes).iter().for_each(|note| print_note(note));
    }

    /// Begins to show the progress. `total` is the number of documents and rows.
    pub fn begin(&mut self, total: u64) {
        self.done = 0;
        self.total = total;
    }

    pub fn advance(&mut self, by: usize) {
        self.done += by as u64;
        if self.total > 0 {
            self.progress.show(self.done as usize, self.total as usize);
        }
    }

    pub fn end(&mut self) {
        self.progress.clear();
    }
}
