//! The memories of one agent: their format, checking access, reading and changing.

use std::any::Any;
use std::cell::OnceCell;
use std::rc::Rc;

use super::agents::Files;
use super::database::{
    AgentRows, RowReader, RowWriter, StoredAgent, has_agent, has_agent_of_same_case, prepare,
};
use super::entries::{forget, forget_others};
use super::error::{Code, Error};
use super::json::{JsonFile, JsonWriter, file_path};
use super::place::{DATABASE, LABEL};
use super::settings::{RecordsFormat, RecordsSettings};
use super::store::{Purpose, View, Writer};
use super::uri::changed_by;
use crate::names::AgentName;
use crate::source::Owner;
use crate::storage::database::{Connection, Dialect, Kind, Mode};
use crate::storage::{Area, Document, ErrorCode, MAX_DOCUMENT_BYTES, Place, Tree, has_document};
use crate::tool::Call;

/// The most attempts of a call. An attempt fails if a conversion, or a program that takes no lock,
/// changes the agent's file during the attempt.
const ATTEMPTS: usize = 4;

/// The memories of one agent.
pub(super) struct Agent<'a> {
    pub name: &'a str,
    pub(super) call: &'a Call<'a>,
    pub(super) tree: Box<dyn Tree + 'a>,
    place: Place,
    /// The listing of the directory of records, made once for a call that opens several agents.
    files: Option<&'a Files>,
    /// The connection to the database, set when the database is first opened.
    database: OnceCell<Box<dyn Connection + 'a>>,
    /// Whether a file that is read is kept for the rest of the call.
    keeps_file: bool,
}

/// Why a change was not made.
enum ChangeError {
    /// Another program changed the file between reading and writing. Nothing was written, and the
    /// change is tried again.
    Conflict(Error),
    Other(Error),
}

impl<E: Into<Error>> From<E> for ChangeError {
    fn from(error: E) -> Self {
        Self::Other(error.into())
    }
}

impl<'a> Agent<'a> {
    /// Opens an agent's memories. The agent need not have any.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` for a name that is not valid, `PERMISSION_ERROR` for an agent that the caller
    /// may not use.
    pub fn open(call: &'a Call<'a>, name: &'a AgentName) -> Result<Self, Error> {
        let name = name.checked().map_err(|(name, reason)| Error::invalid_agent(name, reason))?;
        Error::check_access(call, name)?;
        let place = Place::named(LABEL);
        let tree = call.storage.open(&place)?;
        let database = OnceCell::new();
        Ok(Self { name, call, tree, place, files: None, database, keeps_file: false })
    }

    /// Opens the memories of one of several agents for reading. `files` is the listing of the
    /// directory, so that opening each agent does not list the directory again.
    ///
    /// # Errors
    ///
    /// As for [`Agent::open`].
    pub fn open_listed(
        call: &'a Call<'a>,
        name: &'a AgentName,
        files: &'a Files,
    ) -> Result<Self, Error> {
        Ok(Self { files: Some(files), ..Self::open(call, name)? })
    }

    /// Keeps a file that is read, for the rest of the call: a search reads its hits from it.
    pub fn keeping_file(self) -> Self {
        Self { keeps_file: true, ..self }
    }

    /// The scope of the agent's lock: the name in lower case, so that names that differ only in
    /// case share one lock.
    pub(super) fn scope(&self) -> String {
        self.name.to_ascii_lowercase()
    }

    /// Calls `read` with a consistent view of the memories and returns the result.
    pub fn read<T>(&self, read: impl FnMut(&dyn View) -> Result<T, Error>) -> Result<T, Error> {
        self.read_any(read).map_err(|error| error.for_caller(self.call.context))
    }

    fn read_any<T>(&self, mut read: impl FnMut(&dyn View) -> Result<T, Error>) -> Result<T, Error> {
        self.check_case()?;
        for _ in 0..ATTEMPTS {
            if let Some(file) = self.file_to_read()? {
                return read(&*file).map_err(|error| self.with_backup_hint(error));
            }
            let Some(database) = self.database(false)? else { return read(&self.empty_file()) };
            let view = database.begin(Mode::Read)?;
            let reader = RowReader::new(&*view, self.name)?;
            // Without rows, the memories may be in a file by now: a conversion to JSON may have
            // ended after this call looked for the file.
            if reader.has_agent() || !self.has_file()? {
                return read(&reader);
            }
        }
        Err(self.being_converted())
    }

    /// Runs `change` under the agent's lock and commits the changes that it made. `change` may run
    /// several times: only the changes and the result of the last run count.
    pub fn change<T>(
        &self,
        purpose: Purpose,
        change: impl Fn(&mut dyn Writer) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.change_any(purpose, change).map_err(|error| error.for_caller(self.call.context))
    }

    fn change_any<T>(
        &self,
        purpose: Purpose,
        change: impl Fn(&mut dyn Writer) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if !self.exists()? {
            // Tries the change on an empty file: a call that changes nothing must not create a lock
            // or a database.
            self.check_case()?;
            let mut writer = JsonWriter::new(self.empty_file(), self.call.context);
            let output = change(&mut writer)?;
            if !writer.has_changed() {
                return Ok(output);
            }
        }
        let mut attempt = 1;
        loop {
            match self.change_once(purpose, &change) {
                Err(ChangeError::Conflict(_)) if attempt < ATTEMPTS => attempt += 1,
                Err(ChangeError::Conflict(error) | ChangeError::Other(error)) => return Err(error),
                Ok(output) => return Ok(output),
            }
        }
    }

    fn change_once<T>(
        &self,
        purpose: Purpose,
        change: impl Fn(&mut dyn Writer) -> Result<T, Error>,
    ) -> Result<T, ChangeError> {
        let lock = self.tree.lock(Some(&self.scope()))?;
        self.check_case()?;
        let file = self.file()?;
        if file.is_none() && (self.begins_as_rows()? || self.has_rows()?) {
            return Ok(self.change_rows(|writer| change(writer))?);
        }
        let file = file.unwrap_or_else(|| self.empty_file());
        let mut writer = JsonWriter::new(file, self.call.context);
        let output = change(&mut writer).map_err(|error| self.with_backup_hint(error))?;
        if writer.has_changed() {
            let kept = writer.keys_if_removed();
            let committed = lock.commit(&writer.into_changes(purpose));
            committed.map_err(|failed| match failed.error.code {
                ErrorCode::VersionMismatch if failed.applied == 0 => {
                    ChangeError::Conflict(failed.into())
                }
                _ => ChangeError::Other(failed.into()),
            })?;
            if let Some(kept) = kept {
                forget_others(self.call, self.name, &kept);
            }
            self.note_change();
        }
        Ok(output)
    }

    /// Changes the rows of the agent, even if the agent has a file. Other calls then use the file
    /// and not the rows.
    pub(super) fn change_rows<T>(
        &self,
        change: impl FnOnce(&mut RowWriter<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let Some(database) = self.database(true)? else { return Err(self.being_converted()) };
        let transaction = database.begin(Mode::Write(Some(&self.scope())))?;
        prepare(&*transaction)?;
        let mut writer = RowWriter::new(&*transaction, self.name, self.call.context)?;
        let output = change(&mut writer)?;
        if !writer.has_changed() {
            return Ok(output);
        }
        let removed = writer.removed().to_vec();
        transaction.commit().map_err(Error::from_commit)?;
        // The index needs a transaction, and a call can have only one transaction at a time.
        drop(transaction);
        forget(self.call, self.name, &removed);
        self.note_change();
        Ok(output)
    }

    /// Notes that the agent's resources have changed, and asks the host to embed the agent's texts.
    pub(super) fn note_change(&self) {
        self.call.leave_vectors(&Owner::new("records").with_agent(self.name));
        self.call.changed.borrow_mut().extend(changed_by(self.name));
    }

    pub(super) fn file(&self) -> Result<Option<JsonFile>, Error> {
        JsonFile::read(&*self.tree, self.name).map_err(|error| self.with_backup_hint(error))
    }

    /// Reads the file, or takes the one that the call has kept.
    fn file_to_read(&self) -> Result<Option<Rc<JsonFile>>, Error> {
        if !self.keeps_file {
            return Ok(self.file()?.map(Rc::new));
        }
        let kept = self.call.kept_file.take().and_then(|kept| kept.downcast::<JsonFile>().ok());
        let file = match kept.filter(|kept| kept.agent == self.name) {
            Some(kept) => Some(kept),
            None => self.file()?.map(Rc::new),
        };
        *self.call.kept_file.borrow_mut() = file.clone().map(|file| file as Rc<dyn Any>);
        Ok(file)
    }

    /// If the error is that of a corrupted file, adds that its backup is valid, or that its backup
    /// cannot be read.
    fn with_backup_hint(&self, error: Error) -> Error {
        if error.code != Code::CorruptedData {
            return error;
        }
        let path = format!("{}.backup", file_path(self.name));
        match self.tree.read(Area::Documents, &path, MAX_DOCUMENT_BYTES) {
            Ok(None) => error,
            Ok(Some(document)) => match JsonFile::parse(self.name, document) {
                Ok(backup) if backup.is_valid() => error.with_suffix(&format!(
                    ", or replace it with `{path}`, the version before the last change; that \
                     change is then lost"
                )),
                // The backup may be damaged too: a call that adds a memory copies the file to it
                // without reading the other records.
                _ => error,
            },
            Err(failed) => error.with_suffix(&format!("; `{path}` cannot be read: {failed}")),
        }
    }

    fn empty_file(&self) -> JsonFile {
        JsonFile::empty(self.name)
    }

    pub(super) fn has_file(&self) -> Result<bool, Error> {
        Ok(has_document(&*self.tree, Area::Documents, &file_path(self.name))?)
    }

    /// Whether the agent has memories in either format.
    pub fn exists(&self) -> Result<bool, Error> {
        // Atomic commits mean a database server. There most agents have rows, and each query is a
        // round trip, so rows are looked for first.
        let looks_for_rows_first = self.tree.has_atomic_commits();
        if looks_for_rows_first && self.has_rows()? {
            return Ok(true);
        }
        Ok(self.has_file()? || (!looks_for_rows_first && self.has_rows()?))
    }

    pub(super) fn has_rows(&self) -> Result<bool, Error> {
        self.database(false)?.map_or(Ok(false), |database| has_agent(database, self.name))
    }

    /// Whether a new agent is stored as rows. The setting `format` decides. If the setting is not
    /// set, agents in PostgreSQL are stored as rows.
    fn begins_as_rows(&self) -> Result<bool, Error> {
        Ok(match RecordsSettings::from_context(self.call.context).format {
            Some(format) => format == RecordsFormat::Sqlite,
            None => self
                .database(false)?
                .is_some_and(|database| database.dialect() == Dialect::Postgres),
        })
    }

    /// The message about rows that the agent's file hides: calls use the file, which has other
    /// records. Either an interrupted conversion to SQLite has left the rows, or another program
    /// has created the file after a conversion.
    pub fn hidden_rows(&self) -> Result<Option<String>, Error> {
        if !self.has_file()? || !self.has_rows_of_same_case()? {
            return Ok(None);
        }
        let Some(database) = self.database(false)? else { return Ok(None) };
        let view = database.begin(Mode::Read)?;
        let rows = AgentRows::new(&*view, self.name);
        let Some(stored) = rows.find()? else { return Ok(None) };
        // Without a file nothing is hidden: a conversion to SQLite may have ended after this call
        // looked for the file.
        let Some(file) = self.file()? else { return Ok(None) };
        if self.are_in_file(&rows, &stored, &file)? {
            return Ok(None);
        }
        Ok(Some(match stored.copy_of {
            Some(_) => left_rows_message(self.name),
            None => hidden_rows_message(self.name),
        }))
    }

    /// Whether the rows are a copy of this version of the file, or have the same records as the
    /// file.
    pub(super) fn are_in_file(
        &self,
        rows: &AgentRows<'_>,
        stored: &StoredAgent,
        file: &JsonFile,
    ) -> Result<bool, Error> {
        if stored.copy_of.is_some() && stored.copy_of == file.version {
            return Ok(true);
        }
        let text = rows.document(stored, self.call.context.now)?;
        let contents = text.into_bytes();
        let version = String::new();
        let as_file = JsonFile::parse(self.name, Document { contents, version })?;
        Ok(as_file.has_same_records(file))
    }

    /// Opens the database. Returns `None` if the database does not exist and `create` is false.
    pub(super) fn database(&self, create: bool) -> Result<Option<&(dyn Connection + 'a)>, Error> {
        if let Some(open) = self.database.get() {
            return Ok(Some(&**open));
        }
        let storage = self.call.storage;
        match storage.open_database(&self.place, DATABASE, Kind::Kept, create) {
            Ok(database) => Ok(Some(&**self.database.get_or_init(|| database))),
            Err(error) if error.code == ErrorCode::NotFound && !create => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Fails if another agent's name differs from this one only in case: a file system that ignores
    /// case could not hold the files of both agents. Succeeds if this agent has a file or rows
    /// already.
    pub(super) fn check_case(&self) -> Result<(), Error> {
        let checked = match self.files {
            Some(files) => files.check_case(self.name),
            None => Files::list(&*self.tree)?.check_case(self.name),
        };
        let Err(error) = checked else { return Ok(()) };
        // An agent with rows under exactly this name is not new: another program may have created
        // the file whose name differs only in case.
        if self.has_rows_of_same_case()? {
            return Ok(());
        }
        Err(error.for_caller(self.call.context))
    }

    fn has_rows_of_same_case(&self) -> Result<bool, Error> {
        let database = self.database(false)?;
        database.map_or(Ok(false), |database| has_agent_of_same_case(database, self.name))
    }

    /// The error of a call that gives up because the agent's memories are being converted.
    fn being_converted(&self) -> Error {
        let message = format!(
            "the memories of agent `{}` are being converted to the other format: try again",
            self.name
        );
        Error::new(Code::Busy, message)
    }
}

/// The message about an agent that has a file and also rows with other records, which the file
/// hides.
pub(super) fn hidden_rows_message(agent: &str) -> String {
    let file = file_path(agent);
    format!(
        "agent `{agent}` also has records in `memories.db`, which `{file}` hides: move `{file}` \
         away, and import it if its records are wanted"
    )
}

/// The message about an agent that has a file and also rows with other records, which an interrupted
/// conversion has left.
fn left_rows_message(agent: &str) -> String {
    let file = file_path(agent);
    format!(
        "agent `{agent}` also has records in `memories.db`, left by an interrupted conversion, which \
         `{file}` hides: convert the agent again"
    )
}
