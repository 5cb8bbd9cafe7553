//! One agent's memories: where they are, who may reach them, reading them, making a change.

use super::error::{Code, Error};
use super::json::{JsonFile, JsonWriter};
use super::resources::changed_by;
use super::sqlite::{
    AgentRows, Known, Moving, SqliteReader, SqliteWriter, Standing, migrate, standing,
};
use super::store::{Reader, Writer};
use crate::context::RecordsFormat;
use crate::names::{AgentName, NAME_ACCEPTED};
use crate::storage::database::{Connection, Mode};
use crate::storage::{self, Document, EntryKind, ErrorCode, MAX_DOCUMENT_BYTES, Place, Side, Tree};
use crate::tool::Call;

/// The name of the database in the host's configuration.
const DATABASE: &str = "records";

/// How often memories are looked for anew, and a change is made anew, because the agent moved to the
/// other format or a program that takes no lock changed the file meanwhile.
const ATTEMPTS: usize = 4;

/// The memories of one agent.
pub(super) struct Agent<'a> {
    pub name: &'a str,
    pub(super) call: &'a Call<'a>,
    pub(super) tree: Box<dyn Tree + 'a>,
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

/// Where an agent's memories are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    File,
    Rows,
    /// In rows that a conversion may be taking away.
    Moving,
    None,
}

/// Why a change was not made.
enum Failed {
    /// The file changed, or the agent moved, between our reading and our writing: the change is made
    /// anew.
    Overtaken(Error),
    Refused(Error),
}

impl<E: Into<Error>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self::Refused(error.into())
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
        Ok(Self { name, call, tree: call.storage.open(&Place::records())? })
    }

    /// Reads from one view of the memories.
    pub fn read<T>(&self, read: impl Fn(&dyn Reader) -> Result<T, Error>) -> Result<T, Error> {
        self.check_case()?;
        for _ in 0..ATTEMPTS {
            match self.format()? {
                RecordsFormat::Json => match self.file()? {
                    // Converted since we looked.
                    None if self.in_database()? => {}
                    None => return read(&self.nothing()),
                    Some(file) => {
                        return read(&file).map_err(|error| self.told_of_backup(error));
                    }
                },
                RecordsFormat::Sqlite => {
                    let Some(database) = self.database(false)? else {
                        return read(&self.nothing());
                    };
                    let view = database.begin(Mode::Read)?;
                    let reader = SqliteReader::of(&*view, self.name)?;
                    if reader.has_agent() || !self.has_file()? {
                        return read(&reader);
                    }
                }
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
        self.check_case()?;
        let mut overtaken = None;
        for _ in 0..ATTEMPTS {
            let done = match self.home()? {
                Home::Rows => self.change_rows(false, &change),
                Home::None => {
                    // Nothing is made for a call that then makes no change.
                    let mut writer = JsonWriter::of(self.nothing(), self.call.context);
                    let done = change(&mut writer)?;
                    if !writer.has_changed() {
                        return Ok(done);
                    }
                    self.change_alone(purpose, &change)
                }
                Home::File | Home::Moving => self.change_alone(purpose, &change),
            };
            match done {
                Ok(done) => return Ok(done),
                Err(Failed::Overtaken(error)) => overtaken = Some(error),
                Err(Failed::Refused(error)) => return Err(error),
            }
        }
        Err(overtaken.unwrap_or_else(|| self.moving()))
    }

    /// Makes a change as the only writer of the tree, wherever the agent then is: a change of its
    /// file, the first one of an agent, so that nobody begins it in the other format meanwhile, and
    /// one of rows that a conversion may be taking away, which holds this lock while it does.
    fn change_alone<T>(
        &self,
        purpose: Purpose,
        change: impl Fn(&mut dyn Writer) -> Result<T, Error>,
    ) -> Result<T, Failed> {
        let lock = self.tree.lock()?;
        self.check_case()?;
        if let Some(file) = self.file()? {
            return self.write_file(&*lock, file, purpose, change);
        }
        // Who waited here goes on here: a second wait would be behind those who came later.
        if self.in_database()? {
            return self.change_rows(true, change);
        }
        if self.call.context.settings.records.format == RecordsFormat::Json {
            return self.write_file(&*lock, self.nothing(), Purpose::Change, change);
        }
        let database = self.database(true)?.ok_or_else(|| self.moving())?;
        let transaction = database.begin(Mode::Write)?;
        migrate(&*transaction)?;
        let mut writer = SqliteWriter::of(&*transaction, self.name, self.call.context)?;
        let done = change(&mut writer)?;
        if writer.has_changed() {
            transaction.commit()?;
            self.note_change();
        }
        Ok(done)
    }

    fn write_file<T>(
        &self,
        lock: &dyn storage::Writer,
        file: JsonFile,
        purpose: Purpose,
        change: impl Fn(&mut dyn Writer) -> Result<T, Error>,
    ) -> Result<T, Failed> {
        let mut writer = JsonWriter::of(file, self.call.context);
        let done = change(&mut writer).map_err(|error| self.told_of_backup(error))?;
        if writer.has_changed() {
            let committed = lock.commit(&writer.into_changes(purpose));
            committed.map_err(|failed| match failed.error.code {
                ErrorCode::VersionMismatch if failed.applied == 0 => {
                    Failed::Overtaken(failed.into())
                }
                _ => Failed::Refused(failed.into()),
            })?;
            self.note_change();
        }
        Ok(done)
    }

    /// Changes rows; `alone` where the tree's lock is held.
    fn change_rows<T>(
        &self,
        alone: bool,
        change: impl Fn(&mut dyn Writer) -> Result<T, Error>,
    ) -> Result<T, Failed> {
        let gone = || Failed::Overtaken(self.moving());
        let database = self.database(false)?.ok_or_else(gone)?;
        let transaction = database.begin(Mode::Write)?;
        migrate(&*transaction)?;
        let mut writer = SqliteWriter::of(&*transaction, self.name, self.call.context)?;
        // Converted since we looked; from here on nobody converts it.
        if !writer.has_agent() || self.has_file()? {
            return Err(gone());
        }
        let done = change(&mut writer)?;
        if writer.has_changed() {
            writer.keep(alone)?;
            transaction.commit()?;
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
        match self.tree.read(Side::Documents, &path, MAX_DOCUMENT_BYTES) {
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

    fn home(&self) -> Result<Home, Error> {
        if self.has_file()? {
            return Ok(Home::File);
        }
        Ok(match self.standing()? {
            Some(Standing::Settled) => Home::Rows,
            Some(Standing::Moving) => Home::Moving,
            // Taken to a file since we looked.
            None if self.has_file()? => Home::File,
            None => Home::None,
        })
    }

    /// Where to read the memories; where there are none yet, where the settings want them.
    fn format(&self) -> Result<RecordsFormat, Error> {
        if self.has_file()? {
            return Ok(RecordsFormat::Json);
        }
        match self.call.context.settings.records.format {
            RecordsFormat::Json if self.in_database()? => Ok(RecordsFormat::Sqlite),
            format => Ok(format),
        }
    }

    pub(super) fn has_file(&self) -> Result<bool, Error> {
        match self.tree.read(Side::Documents, &file_path(self.name), 0) {
            Ok(document) => Ok(document.is_some()),
            Err(error) if error.code == ErrorCode::TooLarge => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    fn in_database(&self) -> Result<bool, Error> {
        Ok(self.standing()?.is_some())
    }

    /// How the agent is kept in the database, where it is.
    fn standing(&self) -> Result<Option<Standing>, Error> {
        self.database(false)?.map_or(Ok(None), |database| standing(&*database, self.name))
    }

    /// Whether it has rows that nobody sees: another program has put a file in place since they
    /// were converted.
    pub fn hides_rows(&self) -> Result<bool, Error> {
        if !self.has_file()? || !self.in_database()? {
            return Ok(false);
        }
        let Some(database) = self.database(false)? else { return Ok(false) };
        let view = database.begin(Mode::Read)?;
        let rows = AgentRows::of(&*view, self.name);
        let Some(known) = rows.find()? else { return Ok(false) };
        // Taken to rows since we looked.
        let Some(file) = self.file()? else { return Ok(false) };
        Ok(!self.are_leftovers(&rows, &known, &file)?)
    }

    /// Whether rows beside a file are what a conversion left of them.
    pub(super) fn are_leftovers(
        &self,
        rows: &AgentRows<'_>,
        known: &Known,
        file: &JsonFile,
    ) -> Result<bool, Error> {
        match known.moving {
            None => Ok(false),
            Some(Moving::CopyOf(_)) => Ok(true),
            Some(Moving::Unproven) => {
                let text = rows.document(known, self.call.context.now)?;
                let (contents, version) = (text.into_bytes(), String::new());
                let written = JsonFile::parse(self.name, Document { contents, version })?;
                Ok(written.has_same_records(file))
            }
        }
    }

    /// The database; none where there is none and it is not to be created.
    pub(super) fn database(&self, create: bool) -> Result<Option<Box<dyn Connection + '_>>, Error> {
        match self.call.storage.open_database(DATABASE, create) {
            Ok(database) => Ok(Some(database)),
            Err(error) if error.code == ErrorCode::NotFound && !create => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Files travel to file systems that would merge two names that differ only in case.
    pub(super) fn check_case(&self) -> Result<(), Error> {
        let entries = self.tree.list(Side::Documents, "")?.unwrap_or_default();
        let names = entries
            .iter()
            .filter(|entry| entry.kind == EntryKind::File)
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
