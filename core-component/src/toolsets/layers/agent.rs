//! One agent's memories: access to them, reading them, changing them.

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
    /// `INVALID_INPUT` for a name that no agent can have, `PERMISSION_ERROR`.
    pub fn open(call: &'a Call<'a>, name: &'a AgentName) -> Result<Self, Error> {
        let name = name.checked().map_err(|(name, reason)| Error::invalid_agent(name, reason))?;
        Error::check_access(call, name)?;
        Ok(Self { name, call })
    }

    pub fn context(&self) -> &'a Context {
        self.call.context
    }

    /// Leaves a follow-up to the host.
    pub fn leave(&self, follow_up: Option<FollowUp>) {
        self.call.follow_ups.borrow_mut().extend(follow_up);
    }

    pub fn settings(&self) -> LayersSettings {
        LayersSettings::from_context(self.call.context)
    }

    /// Reads from one view of the memories.
    pub fn read<T>(&self, read: impl FnOnce(&Reader<'_>) -> Result<T, Error>) -> Result<T, Error> {
        let Some(database) = existing_database(self.call)? else {
            return read(&Reader::empty(self.name));
        };
        let view = database.begin(Mode::Read)?;
        let reader = Reader::new(&*view, self.name);
        read(&reader.map_err(|error| error.for_caller(self.call.context))?)
    }

    /// Says which agents have memories, if it may tell the caller of others.
    pub fn others(&self) -> Result<Option<String>, Error> {
        existing::agents(self.call.context, self.name, || names(self.call))
    }

    /// The note of an answer without memories. `what` begins it.
    pub fn note(&self, what: &str) -> Result<Option<String>, Error> {
        let others = self.others()?;
        Ok(others.map(|others| format!("{what} of agent `{}`; {others}", self.name)))
    }

    /// Adds to `NOT_FOUND` what there is instead: the agents.
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

    /// Runs a change as the only writer; the database is made where it is missing.
    pub fn change<T>(
        &self,
        change: impl FnOnce(&mut Writer<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.change_in(&*database(self.call, true)?, change)
    }

    /// As [`Agent::change`], but does not create a missing database: `None` if there is none.
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
        // A call has one transaction at a time, and the index needs one.
        drop(transaction);
        for (table, ids) in &forgotten {
            let collection = collection_of(self.name, table);
            index::forget_rows(self.call.storage, &Place::named(LABEL), &collection, ids);
        }
        self.call.leave_vectors(&Owner::new("layers").with_agent(self.name));
        let mut changed = self.call.changed.borrow_mut();
        let uri = summary_uri(self.name);
        // A call may be two changes.
        if !changed.contains(&uri) {
            changed.push(uri);
        }
        Ok(done)
    }

    /// The scope of the write lock that a change takes. Names that differ only in case share one.
    pub fn scope(&self) -> String {
        self.name.to_ascii_lowercase()
    }
}
