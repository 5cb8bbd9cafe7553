//! Changes a store under its lock.

use std::collections::BTreeSet;

use super::error::Error;
use super::intent::{self, CommitError, Step};
use super::place::{COLLECTION, LABEL};
use super::plan::Plan;
use super::store::Store;
use super::uri::changed_by;
use crate::index;
use crate::source::Owner;
use crate::storage::{Place, Writer};

/// The maximum number of attempts of a change. An attempt fails if a program that does not take the
/// lock changes the same files meanwhile.
const ATTEMPTS: usize = 4;

/// How the changes of a plan become durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommitMode {
    /// In one commit, without an intent record. Either the tree has atomic commits, or the plan
    /// changes one memory: then the store is consistent wherever the commit stops.
    Once,
    /// After an intent record was written. If the change is interrupted, the next writer completes
    /// it. Holds the name of the tool.
    WithIntent(&'static str),
}

/// The answer of a plan. In both cases its changes are committed.
pub(super) enum Planned<T> {
    /// The call succeeds with this result.
    Done(T),
    /// The call fails. The changes of the plan only correct indexes that were out of date.
    Refused(Error),
}

/// Plans a change under the lock and commits it. Returns the result of `plan` and the warnings.
/// Calls `plan` again for each attempt. If `plan` returns an error, nothing is committed.
pub(super) fn change<T>(
    store: &Store<'_>,
    mode: CommitMode,
    plan: impl Fn(&mut Plan<'_>) -> Result<Planned<T>, Error>,
) -> Result<(T, Vec<String>), Error> {
    let writer = store.tree.lock(None)?;
    let mode = if store.tree.has_atomic_commits() { CommitMode::Once } else { mode };
    let is_replaced = mode != CommitMode::Once;
    let warnings = intent::recover(&*store.tree, &*writer, is_replaced)?;
    // An intent that was set aside gives a warning only once, so an error has to include the
    // warning.
    let warn = |error: Error| match warnings.first() {
        Some(warning) => error.with_suffix(&format!("; {warning}")),
        None => error,
    };
    attempts(store, &*writer, mode, &warnings, plan).map_err(warn)
}

fn attempts<T>(
    store: &Store<'_>,
    writer: &dyn Writer,
    mode: CommitMode,
    warnings: &[String],
    plan: impl Fn(&mut Plan<'_>) -> Result<Planned<T>, Error>,
) -> Result<(T, Vec<String>), Error> {
    let mut attempt = 1;
    loop {
        let mut planned = Plan::new(store, warnings.to_vec());
        let answer = plan(&mut planned)?;
        let finished = planned.finish()?;
        match commit(writer, mode, &finished.changes) {
            Err(CommitError::Conflict(_)) if attempt < ATTEMPTS => attempt += 1,
            Err(CommitError::Conflict(error) | CommitError::Other(error)) => return Err(error),
            Ok(()) => {
                let changed = finished.changes.iter().flat_map(Step::paths);
                let uris = changed.flat_map(|path| changed_by(store.name, path));
                store.call.changed.borrow_mut().extend(uris.collect::<BTreeSet<_>>());
                if !finished.changes.is_empty() {
                    store.call.leave_vectors(&Owner::new("stores").with_store(store.name));
                }
                let deleted: Vec<_> = finished.changes.iter().filter_map(Step::deleted).collect();
                let place = Place::in_group(LABEL, store.name);
                index::forget(store.call.storage, &place, COLLECTION, &deleted);
                return match answer {
                    Planned::Done(result) => Ok((result, finished.warnings)),
                    Planned::Refused(error) => Err(error),
                };
            }
        }
    }
}

fn commit(writer: &dyn Writer, mode: CommitMode, steps: &[Step]) -> Result<(), CommitError> {
    if steps.is_empty() {
        return Ok(());
    }
    if let CommitMode::WithIntent(tool) = mode {
        return intent::commit(writer, tool, steps);
    }
    let changes: Vec<_> = steps.iter().map(Step::change).collect();
    writer.commit(&changes).map(drop).map_err(CommitError::from_storage)
}
