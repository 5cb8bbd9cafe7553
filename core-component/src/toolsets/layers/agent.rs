//! The memories of one agent: checking access, reading and changing.

use super::agents::names;
use super::database::{Reader, Writer, collection_of};
use super::error::{Code, Error};
use super::place::{LABEL, database, existing_database};
use super::settings::LayersSettings;
use super::uri::summary_uri;
use crate::context::Context;
use crate::existing;
use crate::follow_up::FollowUp;
use crate::index;
use crate::names::AgentName;
use crate::source::Owner;
use crate::storage::Place;
use crate::storage::database::{Connection, Mode};
use crate::tool::Call;

/// The memories of one agent.
pub(super) struct Agent<'a> {
    pub name: &'a str,
    call: &'a Call<'a>,
}

impl<'a> Agent<'a> {
    /// Opens an agent. It may have no memories yet.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` for a name that no agent can have, `PERMISSION_ERROR` for an agent that the
    /// caller may not use.
    pub fn open(call: &'a Call<'a>, name: &'a AgentName) -> Result<Self, Error> {
        let name = name.checked().map_err(|(name, reason)| Error::invalid_agent(name, reason))?;
        Error::check_access(call, name)?;
        Ok(Self { name, call })
    }

    pub fn context(&self) -> &'a Context {
        self.call.context
    }

    /// Leaves a follow-up, which is a request to a model, to the host, if there is one.
    pub fn leave(&self, follow_up: Option<FollowUp>) {
        self.call.follow_ups.borrow_mut().extend(follow_up);
    }

    pub fn settings(&self) -> LayersSettings {
        LayersSettings::from_context(self.call.context)
    }

    /// Calls `read` with a consistent view of the memories and returns the result.
    pub fn read<T>(&self, read: impl FnOnce(&Reader<'_>) -> Result<T, Error>) -> Result<T, Error> {
        let Some(database) = existing_database(self.call)? else {
            return read(&Reader::empty(self.name));
        };
        let view = database.begin(Mode::Read)?;
        let reader = Reader::new(&*view, self.name);
        read(&reader.map_err(|error| error.for_caller(self.call.context))?)
    }

    /// The sentence that says which agents there are, for an answer without memories. `None` for a
    /// caller that may use only one agent.
    pub fn others(&self) -> Result<Option<String>, Error> {
        existing::agents(self.call.context, self.name, || names(self.call))
    }

    /// The note of an answer without memories: `what` is missing, and which agents there are.
    /// `None` for a caller that may use only one agent.
    pub fn note(&self, what: &str) -> Result<Option<String>, Error> {
        let others = self.others()?;
        Ok(others.map(|others| format!("{what} of agent `{}`; {others}", self.name)))
    }

    /// Adds to a `NOT_FOUND` error which agents there are. Returns other errors as they are.
    pub fn with_others(&self, error: Error) -> Error {
        if error.code != Code::NotFound {
            return error;
        }
        match self.others() {
            Ok(Some(others)) => error.with_suffix(&format!("; {others}")),
            Ok(None) => error,
            Err(failed) => failed,
        }
    }

    /// Runs a change under the write lock and commits it. Creates the database if it is missing.
    pub fn change<T>(
        &self,
        change: impl FnOnce(&mut Writer<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.change_in(&*database(self.call, true)?, change)
    }

    /// Like [`Agent::change`], but does not create a missing database. `None` if there is no
    /// database.
    pub fn change_existing<T>(
        &self,
        change: impl FnOnce(&mut Writer<'_>) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        let Some(database) = existing_database(self.call)? else { return Ok(None) };
        self.change_in(&*database, change).map(Some)
    }

    fn change_in<T>(
        &self,
        database: &dyn Connection,
        change: impl FnOnce(&mut Writer<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let transaction = database.begin(Mode::Write(Some(&self.scope())))?;
        let writer = Writer::new(&*transaction, self.name, self.call.context.now);
        let mut writer = writer.map_err(|error| error.for_caller(self.call.context))?;
        let done = change(&mut writer)?;
        if !writer.has_changed() {
            return Ok(done);
        }
        let forgotten = std::mem::take(&mut writer.forgotten);
        transaction.commit().map_err(Error::from_commit)?;
        // The index needs a transaction, and a call can have only one transaction at a time.
        drop(transaction);
        for (table, ids) in &forgotten {
            let collection = collection_of(self.name, table);
            index::forget_rows(self.call.storage, &Place::named(LABEL), &collection, ids);
        }
        self.call.leave_vectors(&Owner::new("layers").with_agent(self.name));
        let mut changed = self.call.changed.borrow_mut();
        let uri = summary_uri(self.name);
        // A call may make two changes, which report the URI once.
        if !changed.contains(&uri) {
            changed.push(uri);
        }
        Ok(done)
    }

    /// The scope of the write lock: the name in lower case, so that names that differ only in case
    /// share one lock.
    pub fn scope(&self) -> String {
        self.name.to_ascii_lowercase()
    }
}
