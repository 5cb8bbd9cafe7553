//! The transactions of a call: one that reads, and one that changes items as the only writer.

use super::database::{Reader, Writer, has_tables, prepare};
use super::error::Error;
use super::place::{database, existing_database, place};
use super::scope::Scope;
use crate::index;
use crate::source::Owner;
use crate::storage::database::{Connection, Dialect, Mode};
use crate::tool::Call;

/// Reads the items in one transaction, so that all results are of the same moment.
pub(super) fn read_view<T>(
    call: &Call<'_>,
    read: impl FnOnce(&Reader<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let now = call.context.now;
    let Some(database) = existing_database(call)? else { return read(&Reader::new(None, now)) };
    let view = database.begin(Mode::Read)?;
    let has_tables = has_tables(view.dialect(), |statement| view.query(statement, 1))?;
    read(&Reader::new(has_tables.then_some(&*view), now))
}

/// Runs a change as the only writer in its scope. Creates the database if it is missing.
pub(super) fn change<T>(
    call: &Call<'_>,
    scope: &Scope,
    change: impl FnOnce(&mut Writer<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    change_in(call, &*database(call)?, scope, change)
}

/// Like [`change`], but returns `None` if there is no database.
pub(super) fn change_existing<T>(
    call: &Call<'_>,
    scope: &Scope,
    change: impl FnOnce(&mut Writer<'_>) -> Result<T, Error>,
) -> Result<Option<T>, Error> {
    let Some(database) = existing_database(call)? else { return Ok(None) };
    if !has_tables(database.dialect(), |statement| database.query(statement, 1))? {
        return Ok(None);
    }
    change_in(call, &*database, scope, change).map(Some)
}

fn change_in<T>(
    call: &Call<'_>,
    database: &dyn Connection,
    scope: &Scope,
    change: impl FnOnce(&mut Writer<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    // SQLite allows one writer for a whole database, so the scope does not matter.
    let scope = match database.dialect() {
        Dialect::Postgres => scope.name(),
        Dialect::Sqlite => None,
    };
    let transaction = database.begin(Mode::Write(scope.as_deref()))?;
    prepare(&*transaction)?;
    let mut writer = Writer::new(&*transaction, call.context.now);
    let done = change(&mut writer)?;
    if writer.has_changed() {
        writer.remove_expired()?;
        let forgotten = std::mem::take(&mut writer.forgotten);
        transaction.commit().map_err(Error::from_commit)?;
        // Closes the transaction first: a call has only one at a time, and the index needs its own.
        drop(transaction);
        index::forget_rows_everywhere(call.storage, &place(), &forgotten);
        call.leave_vectors(&Owner::new("items"));
    }
    Ok(done)
}
