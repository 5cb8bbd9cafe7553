//! One agent's memories: where they are, who may reach them, reading them, making a change.

use std::cell::OnceCell;

use super::error::{Code, Error};
use super::json::{JsonFile, JsonWriter};
use super::resources::changed_by;
use super::settings::{RecordsFormat, RecordsSettings};
use super::sqlite::{AgentRows, Known, SqliteReader, SqliteWriter, has_agent, migrate};
use super::store::{Reader, Writer};
use super::{DATABASE, PLACE};
use crate::names::{AgentName, NAME_ACCEPTED};
use crate::storage::database::{Connection, Kind, Mode};
use crate::storage::{
    Area, Document, EntryKind, ErrorCode, MAX_DOCUMENT_BYTES, Place, Tree, has_document,
};
use crate::tool::Call;

/// How often memories are looked for anew, and a change is made anew, because a conversion or a
/// program that takes no lock changed the file meanwhile.
const ATTEMPTS: usize = 4;

/// The memories of one agent.
pub(super) struct Agent<'a> {
    pub name: &'a str,
    pub(super) call: &'a Call<'a>,
    pub(super) tree: Box<dyn Tree + 'a>,
    place: Place,
    /// Once it is open.
    database: OnceCell<Box<dyn Connection + 'a>>,
}

/// Why a change is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Somebody asked for it: the version before it is kept as a backup.
    Change,
    /// As a further part of a change that has its backup.
    Continuation,
    /// To note that memories were accessed.
    Access,
}

/// Why a change was not made.
enum ChangeError {
    /// The file changed between our reading and our writing: the change is made anew.
    Conflict(Error),
    Other(Error),
}

impl<E: Into<Error>> From<E> for ChangeError {
    fn from(error: E) -> Self {
        Self::Other(error.into())
    }
}

impl<'a> Agent<'a> {
    /// Opens an agent's memories, which need not exist.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` for a name that no agent can have here, `PERMISSION_ERROR`.
    pub fn open(call: &'a Call<'a>, name: &'a AgentName) -> Result<Self, Error> {
        let name = checked(name)?;
        check_reach(call, name)?;
        let place = Place::named(PLACE);
        let tree = call.storage.open(&place)?;
        Ok(Self { name, call, tree, place, database: OnceCell::new() })
    }

    /// What a change relies on and changes: names that differ only in case are one agent.
    pub(super) fn scope(&self) -> String {
        self.name.to_ascii_lowercase()
    }

    /// Reads from one view of the memories.
    pub fn read<T>(&self, read: impl Fn(&dyn Reader) -> Result<T, Error>) -> Result<T, Error> {
        self.check_case()?;
        for _ in 0..ATTEMPTS {
            if let Some(file) = self.file()? {
                return read(&file).map_err(|error| self.told_of_backup(error));
            }
            let Some(database) = self.database(false)? else { return read(&self.nothing()) };
            let view = database.begin(Mode::Read)?;
            let reader = SqliteReader::of(&*view, self.name)?;
            // Otherwise it was converted to a file since we looked.
            if reader.has_agent() || !self.has_file()? {
                return read(&reader);
            }
        }
        Err(self.moving())
    }

    /// Runs a change that reads, decides and writes, as the only writer. It may be run several
    /// times, and the last one counts.
    pub fn change<T>(
        &self,
        purpose: Purpose,
        change: impl Fn(&mut dyn Writer) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if !self.has_file()? && !self.is_in_rows()? {
            // Nothing is made for a call that then makes no change.
            self.check_case()?;
            let mut writer = JsonWriter::of(self.nothing(), self.call.context);
            let done = change(&mut writer)?;
            if !writer.has_changed() {
                return Ok(done);
            }
        }
        let mut attempt = 1;
        loop {
            match self.change_once(purpose, &change) {
                Err(ChangeError::Conflict(_)) if attempt < ATTEMPTS => attempt += 1,
                Err(ChangeError::Conflict(error) | ChangeError::Other(error)) => return Err(error),
                Ok(done) => return Ok(done),
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
        let format = RecordsSettings::of(self.call.context).format;
        if file.is_none() && (format == RecordsFormat::Sqlite || self.is_in_rows()?) {
            return Ok(self.change_rows(change)?);
        }
        // A new file has no version before it.
        let purpose = if file.is_none() { Purpose::Change } else { purpose };
        let file = file.unwrap_or_else(|| self.nothing());
        let mut writer = JsonWriter::of(file, self.call.context);
        let done = change(&mut writer).map_err(|error| self.told_of_backup(error))?;
        if writer.has_changed() {
            let committed = lock.commit(&writer.into_changes(purpose));
            committed.map_err(|failed| match failed.error.code {
                ErrorCode::VersionMismatch if failed.applied == 0 => {
                    ChangeError::Conflict(failed.into())
                }
                _ => ChangeError::Other(failed.into()),
            })?;
            self.note_change();
        }
        Ok(done)
    }

    fn change_rows<T>(
        &self,
        change: impl Fn(&mut dyn Writer) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let Some(database) = self.database(true)? else { return Err(self.moving()) };
        let transaction = database.begin(Mode::Write(Some(&self.scope())))?;
        migrate(&*transaction)?;
        let mut writer = SqliteWriter::of(&*transaction, self.name, self.call.context)?;
        let done = change(&mut writer)?;
        if writer.has_changed() {
            transaction.commit().map_err(Error::of_commit)?;
            self.note_change();
        }
        Ok(done)
    }

    pub(super) fn note_change(&self) {
        self.call.changed.borrow_mut().extend(changed_by(self.name));
    }

    pub(super) fn file(&self) -> Result<Option<JsonFile>, Error> {
        JsonFile::read(&*self.tree, self.name).map_err(|error| self.told_of_backup(error))
    }

    /// The error of a file that is corrupted says where there is a backup that can be read.
    fn told_of_backup(&self, error: Error) -> Error {
        if error.code != Code::CorruptedData {
            return error;
        }
        let path = format!("{}.backup", file_path(self.name));
        match self.tree.read(Area::Documents, &path, MAX_DOCUMENT_BYTES) {
            Ok(None) => error,
            Ok(Some(document)) => match JsonFile::parse(self.name, document) {
                Ok(backup) if backup.is_sound() => error.adding(&format!(
                    ", or put `{path}` in its place, the version before its last change, which is \
                     then lost"
                )),
                // It is of no use: an add passes over a record that is damaged.
                _ => error,
            },
            Err(failed) => error.adding(&format!("; `{path}` cannot be read: {failed}")),
        }
    }

    fn nothing(&self) -> JsonFile {
        JsonFile::empty(self.name)
    }

    pub(super) fn has_file(&self) -> Result<bool, Error> {
        Ok(has_document(&*self.tree, Area::Documents, &file_path(self.name))?)
    }

    fn is_in_rows(&self) -> Result<bool, Error> {
        self.database(false)?.map_or(Ok(false), |database| has_agent(database, self.name))
    }

    /// Whether it has rows that nobody sees: another program has put a file in place since they
    /// were converted.
    pub fn hides_rows(&self) -> Result<bool, Error> {
        if !self.has_file()? || !self.is_in_rows()? {
            return Ok(false);
        }
        let Some(database) = self.database(false)? else { return Ok(false) };
        let view = database.begin(Mode::Read)?;
        let rows = AgentRows::of(&*view, self.name);
        let Some(known) = rows.find()? else { return Ok(false) };
        // Taken to rows since we looked.
        let Some(file) = self.file()? else { return Ok(false) };
        Ok(!self.are_in_file(&rows, &known, &file)?)
    }

    /// Whether a file holds all that rows beside it hold: they are a copy of it, or have the same
    /// records.
    pub(super) fn are_in_file(
        &self,
        rows: &AgentRows<'_>,
        known: &Known,
        file: &JsonFile,
    ) -> Result<bool, Error> {
        if known.copy_of.is_some() && known.copy_of == file.version {
            return Ok(true);
        }
        let text = rows.document(known, self.call.context.now)?;
        let (contents, version) = (text.into_bytes(), String::new());
        let written = JsonFile::parse(self.name, Document { contents, version })?;
        Ok(written.has_same_records(file))
    }

    /// The database; none where there is none and it is not to be created.
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

    /// Files travel to file systems that would merge two names that differ only in case.
    pub(super) fn check_case(&self) -> Result<(), Error> {
        let entries = self.tree.list(Area::Documents, "")?.unwrap_or_default();
        let names = entries
            .iter()
            .filter(|entry| entry.status.kind == EntryKind::File)
            .filter_map(|entry| entry.name.strip_suffix(".json"));
        let mut twins =
            names.filter(|name| *name != self.name && name.eq_ignore_ascii_case(self.name));
        twins.next().map_or(Ok(()), |twin| Err(case_twin(self.name, twin)))
    }

    /// The refusal of an agent that changes its format too often to be looked at or changed.
    pub(super) fn moving(&self) -> Error {
        let message = format!(
            "the memories of agent `{}` are being taken to the other format: try again",
            self.name
        );
        Error::new(Code::Busy, message)
    }
}

/// Where the JSON file of an agent is in the tree.
pub(super) fn file_path(agent: &str) -> String {
    format!("{agent}.json")
}

/// What to do about an agent whose file hides rows.
pub(super) fn rows_are_hidden(agent: &str) -> String {
    let file = file_path(agent);
    format!(
        "agent `{agent}` has records in `memories.db`, too, which `{file}` hides: move `{file}` \
         away, and import it where its records are wanted"
    )
}

/// The refusal of an agent whose name differs from another's only in case.
pub(super) fn case_twin(name: &str, twin: &str) -> Error {
    let message = format!(
        "agent `{name}` differs from the existing agent `{twin}` only in case: use that name"
    );
    Error::at(Code::InvalidInput, message, "agent_id", format!("`{twin}`"))
}

fn checked(name: &AgentName) -> Result<&str, Error> {
    name.checked().map_err(|(name, what)| {
        let message = format!("`agent_id` `{name}` {what}: choose another name");
        Error::at(Code::InvalidInput, message, "agent_id", NAME_ACCEPTED.into())
    })
}

/// What the caller may reach is enforced here, for every tool.
fn check_reach(call: &Call<'_>, name: &str) -> Result<(), Error> {
    if call.context.reaches(name) {
        return Ok(());
    }
    let message = format!("agent `{name}` is out of this caller's reach: ask for another grant");
    Err(Error::new(Code::PermissionError, message))
}
