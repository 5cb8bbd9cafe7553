//! The documents of one agent in one repository: their paths, reading them, and changing them under
//! the lock.

use std::cell::RefCell;

use super::error::{Code, Error};
use super::finding::{Finding, utf8};
use super::log::{Log, LogId, log_date};
use super::repo_root::{ROOT_ACCEPTED, check_root, default_root};
use super::schema::Schema;
use super::uri;
use crate::existing::{self, agent_not_granted, differs_only_in_case};
use crate::names::{AgentName, NAME_ACCEPTED, name_error};
use crate::source::Owner;
use crate::storage::{
    self, Area, Change, CommitError, Document, EntryKind, ErrorCode, Place, Tree, Writer,
    has_document,
};
use crate::time::Date;
use crate::tool::Call;

/// The path of the tree, relative to the top level of the repository.
const TREE: &str = ".github/agent-memory";

/// The maximum size of a document that is parsed, in bytes. A change parses a document twice, and
/// any document of this size must be parsed within the time and memory limits of a call.
pub(super) const MAX_PARSED_BYTES: u64 = 2 << 20;

/// The maximum number of attempts of a change. An attempt fails if a program that does not take the
/// lock changes the document between our read and our commit.
const MAX_ATTEMPTS: usize = 4;

/// The documents of one agent in one repository.
pub(super) struct Agent<'a> {
    pub name: &'a str,
    tree: Box<dyn Tree + 'a>,
}

impl<'a> Agent<'a> {
    /// Opens the documents of an agent. None of them has to exist.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the path is not absolute or does not exist, if it is left out and
    /// [`default_root`] fails, or if the name is invalid or differs from another agent's only in
    /// case. `RepositoryNotAllowed` if the repository is not granted. `PermissionDenied` if the
    /// caller may not use the agent.
    pub fn open(
        call: &Call<'a>,
        repo_root: Option<&str>,
        name: &'a AgentName,
    ) -> Result<Self, Error> {
        let name = checked(name)?;
        check_reach(call, name)?;
        let agent = Self { name, tree: open_tree(call, repo_root)? };
        agent.check_case(call)?;
        Ok(agent)
    }

    /// Takes the lock and runs `change`, which reads documents and commits. Runs `change` again if
    /// another program changed a document between the read and the commit. Reports the changed
    /// resources if exactly one repository is granted: the URIs of resources do not name a
    /// repository.
    pub fn change<T>(
        &self,
        call: &Call<'_>,
        change: impl Fn(&AgentWriter<'_>) -> Result<T, ChangeError>,
    ) -> Result<T, Error> {
        // Listed before the first write, so that an error here leaves all documents unchanged.
        let is_only_repository = call.storage.list_repositories()?.len() == 1;
        let writer = AgentWriter { writer: self.tree.lock(None)?, changed: RefCell::default() };
        // An agent with a similar name may have been created since `open`.
        self.check_case(call)?;
        let mut attempt = 1;
        let changed = loop {
            match change(&writer) {
                Err(ChangeError::Conflict(_)) if attempt < MAX_ATTEMPTS => attempt += 1,
                Err(ChangeError::Conflict(error) | ChangeError::Other(error)) => break Err(error),
                Ok(done) => break Ok(done),
            }
        };
        if !writer.changed.borrow().is_empty() {
            call.leave_vectors(&Owner::new("sessions").with_agent(self.name));
        }
        if is_only_repository {
            call.changed.borrow_mut().extend(writer.changed.into_inner());
        }
        changed
    }

    /// The path of the schema in the tree.
    pub fn schema_path(&self) -> String {
        format!("{}/_schema.md", self.name)
    }

    /// The path of the summary in the tree.
    pub fn summary_path(&self) -> String {
        format!("{}/_summary.md", self.name)
    }

    /// The path of a log in the tree.
    pub fn log_path(&self, date: Date) -> String {
        format!("{}/logs/{date}.md", self.name)
    }

    /// Reads the summary. `None` if it does not exist. Fails if it has more than `max_bytes`.
    pub fn summary(&self, max_bytes: u64) -> Result<Option<Text>, Error> {
        self.read(&self.summary_path(), max_bytes)
    }

    /// Reads the log of a day. `None` if it does not exist.
    pub fn log(&self, date: Date) -> Result<Option<Text>, Error> {
        self.read(&self.log_path(date), MAX_PARSED_BYTES)
    }

    fn read(&self, path: &str, max_bytes: u64) -> Result<Option<Text>, Error> {
        let document = self.tree.read(Area::Documents, path, max_bytes)?;
        document.map(|document| Text::from_document(document, path)).transpose()
    }

    /// Whether a document exists. Its contents are not read.
    pub fn exists(&self, path: &str) -> Result<bool, Error> {
        Ok(has_document(&*self.tree, Area::Documents, path)?)
    }

    /// The effective schema: the agent's own, or the default if the agent has neither schema nor
    /// logs.
    ///
    /// # Errors
    ///
    /// `SchemaMissing` if there are logs but no schema. `SchemaInvalid` if the schema cannot be
    /// parsed.
    pub fn schema(&self) -> Result<EffectiveSchema, Error> {
        let path = self.schema_path();
        let invalid = |Finding { line, what }: Finding| {
            let message = format!("`{}` line {line}: {what}", in_repository(&path));
            Error::new(Code::SchemaInvalid, message)
        };
        let read = || self.tree.read(Area::Documents, &path, MAX_PARSED_BYTES);
        let document = match read()? {
            None if !self.has_logs()? => {
                return Ok(EffectiveSchema { schema: Schema::default(), exists: false });
            }
            // Another writer may be starting the first session. It writes the schema before the
            // log, so the schema is there if the log is.
            None => read()?,
            document => document,
        };
        let Some(document) = document else {
            let message = format!(
                "`{}` is missing although `{}` has session logs: restore it, for example from \
                 version control, or copy that of another agent",
                in_repository(&path),
                self.name
            );
            return Err(Error::new(Code::SchemaMissing, message));
        };
        let schema = utf8(&document.contents).and_then(Schema::parse).map_err(invalid)?;
        Ok(EffectiveSchema { schema, exists: true })
    }

    fn has_logs(&self) -> Result<bool, Error> {
        Ok(!self.sessions()?.is_empty())
    }

    /// The days with a log, oldest first.
    pub fn sessions(&self) -> Result<Vec<Date>, Error> {
        Ok(self.sessions_and_others()?.0)
    }

    /// The days with a log, and the days whose log is a link or a directory instead of a file. Both
    /// lists begin with the oldest day.
    pub fn sessions_and_others(&self) -> Result<(Vec<Date>, Vec<Date>), Error> {
        let entries = self.tree.list(Area::Documents, &format!("{}/logs", self.name))?;
        let dated = entries.into_iter().flatten().filter_map(|entry| {
            Some((log_date(&entry.name)?, entry.status.kind == EntryKind::File))
        });
        let mut dated: Vec<(Date, bool)> = dated.collect();
        dated.sort();
        let (logs, others): (Vec<_>, Vec<_>) = dated.into_iter().partition(|(_, is_file)| *is_file);
        let dates = |dated: Vec<(Date, bool)>| dated.into_iter().map(|(date, _)| date).collect();
        Ok((dates(logs), dates(others)))
    }

    /// Returns a sentence that names the agents of the repository, for an answer without entries.
    /// `None` for a caller that may use only one agent.
    pub fn others(&self, call: &Call<'_>) -> Result<Option<String>, Error> {
        existing::agents(call.context, self.name, || agent_names(call, &*self.tree))
    }

    /// Fails if the name differs from that of another entry only in case: some file systems would
    /// use one directory for both.
    fn check_case(&self, call: &Call<'_>) -> Result<(), Error> {
        let entries = self.tree.list(Area::Documents, "")?.unwrap_or_default();
        let twin = entries
            .iter()
            .find(|entry| entry.name != self.name && entry.name.eq_ignore_ascii_case(self.name));
        let Some(twin) = twin else { return Ok(()) };
        let is_told = call.context.reaches(&twin.name);
        let message = differs_only_in_case("agent", self.name, &twin.name, is_told);
        let accepted = if is_told { format!("`{}`", twin.name) } else { "another name".into() };
        Err(Error::at(Code::InvalidInput, message, "agent_name", accepted))
    }
}

/// Commits changes under the lock of the tree, and collects the URIs of the changed resources.
pub(super) struct AgentWriter<'a> {
    writer: Box<dyn Writer + 'a>,
    changed: RefCell<Vec<String>>,
}

impl AgentWriter<'_> {
    pub fn commit(&self, changes: &[Change]) -> Result<(), CommitError> {
        let committed = self.writer.commit(changes);
        if committed.as_ref().err().is_none_or(|failed| failed.applied > 0) {
            let paths = changes.iter().filter_map(|change| match change {
                Change::Put { path, .. }
                | Change::Edit { path, .. }
                | Change::Delete { path, .. } => uri::changed_by(path),
                _ => None,
            });
            self.changed.borrow_mut().extend(paths);
        }
        committed.map(drop)
    }
}

/// Why a change failed.
pub(super) enum ChangeError {
    /// Another program changed the document since it was read. The change is tried again.
    Conflict(Error),
    Other(Error),
}

impl From<Error> for ChangeError {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl From<CommitError> for ChangeError {
    fn from(failed: CommitError) -> Self {
        match failed.error.code {
            // No second attempt if a part of the commit was applied: the error tells the caller so.
            ErrorCode::VersionMismatch if failed.applied == 0 => Self::Conflict(failed.into()),
            _ => Self::Other(failed.into()),
        }
    }
}

/// The names of the agents in a tree that the caller may use, in byte order.
pub(super) fn agent_names(call: &Call<'_>, tree: &dyn Tree) -> Result<Vec<String>, Error> {
    Ok(agents(call, tree)?.names)
}

/// The entries of a tree that have the name of an agent that the caller may use.
#[derive(Default)]
pub(super) struct Agents {
    /// The names of the directories, in byte order.
    pub names: Vec<String>,
    /// The names of links and files in place of an agent's directory, in byte order. Files with a
    /// dot in their name, such as `README.md`, are left out: they were not meant as agents.
    pub others: Vec<String>,
}

/// Lists the agents in a tree.
pub(super) fn agents(call: &Call<'_>, tree: &dyn Tree) -> Result<Agents, Error> {
    let mut agents = Agents::default();
    for entry in tree.list(Area::Documents, "")?.unwrap_or_default() {
        if name_error(&entry.name).is_some() || !call.context.reaches(&entry.name) {
            continue;
        }
        match entry.status.kind {
            EntryKind::Directory => agents.names.push(entry.name),
            EntryKind::File if entry.name.contains('.') => {}
            _ => agents.others.push(entry.name),
        }
    }
    agents.names.sort();
    agents.others.sort();
    Ok(agents)
}

/// Parses a log. The error is `MalformedLog`, which names the path and the line.
pub(super) fn parse_log<'a>(
    text: &'a str,
    schema: &'a Schema,
    id: LogId<'_>,
    path: &str,
) -> Result<Log<'a>, Error> {
    Log::parse(text, schema, id).map_err(|finding| malformed(path, &finding))
}

/// The error `MalformedLog`, for a document that a person has to fix.
pub(super) fn malformed(path: &str, Finding { line, what }: &Finding) -> Error {
    let path = in_repository(path);
    let message = format!("`{path}` line {line}: {what}; fix the file, which was not changed");
    Error::new(Code::MalformedLog, message)
}

/// The schema to use for an agent, and whether the agent has a `_schema.md`.
pub(super) struct EffectiveSchema {
    pub schema: Schema,
    pub exists: bool,
}

/// A document whose contents are UTF-8.
pub(super) struct Text {
    pub text: String,
    pub version: String,
}

impl Text {
    fn from_document(document: Document, path: &str) -> Result<Self, Error> {
        let text = utf8(&document.contents).map_err(|finding| malformed(path, &finding))?;
        Ok(Self { text: text.to_owned(), version: document.version })
    }
}

/// Turns a path in the tree into a path relative to the top level of the repository.
pub(super) fn in_repository(path: &str) -> String {
    format!("{TREE}/{path}")
}

/// Turns a path relative to the top level of the repository into a path in the tree. Returns any
/// other path as it is.
pub(super) fn in_tree(path: &str) -> &str {
    path.strip_prefix(TREE).and_then(|path| path.strip_prefix('/')).unwrap_or(path)
}

/// Opens the tree of a repository.
///
/// # Errors
///
/// `InvalidInput` if the path is not absolute or does not exist, or if it is left out and
/// [`default_root`] fails. `RepositoryNotAllowed` if the repository is not granted.
pub(super) fn open_tree<'a>(
    call: &Call<'a>,
    repo_root: Option<&str>,
) -> Result<Box<dyn Tree + 'a>, Error> {
    let place = match repo_root {
        Some(path) => {
            check_root(path)?;
            Place::repository(path)
        }
        None => Place::repository(default_root(call)?),
    };
    call.storage.open(&place).map_err(not_opened)
}

fn not_opened(error: storage::Error) -> Error {
    match error.code {
        ErrorCode::NotGranted => Error::new(Code::RepositoryNotAllowed, error.message),
        ErrorCode::NotFound | ErrorCode::InvalidPath => {
            Error::at(Code::InvalidInput, error.message, "repo_root", ROOT_ACCEPTED.to_owned())
        }
        _ => error.into(),
    }
}

fn checked(name: &AgentName) -> Result<&str, Error> {
    name.checked().map_err(|(name, what)| {
        let message = format!("`agent_name` `{name}` {what}: choose another name");
        Error::at(Code::InvalidInput, message, "agent_name", NAME_ACCEPTED.into())
    })
}

/// Refuses an agent that the caller may not use.
fn check_reach(call: &Call<'_>, name: &str) -> Result<(), Error> {
    if call.context.reaches(name) {
        return Ok(());
    }
    Err(Error::new(Code::PermissionDenied, agent_not_granted(call.context, name)))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::super::schema::DEFAULT;
    use super::*;
    use crate::storage::{Documents, Entry, Status};

    /// A tree in which another writer starts the first session after our first read.
    #[derive(Default)]
    struct RacingTree {
        has_started: Cell<bool>,
    }

    impl Documents for RacingTree {
        fn read(&self, _: Area, path: &str, _: u64) -> Result<Option<Document>, storage::Error> {
            assert_eq!(path, "ada/_schema.md");
            let document = Document { contents: DEFAULT.into(), version: "1".into() };
            Ok(self.has_started.replace(true).then_some(document))
        }

        fn list(&self, _: Area, directory: &str) -> Result<Option<Vec<Entry>>, storage::Error> {
            assert_eq!(directory, "ada/logs");
            let name = "2025-01-20.md".into();
            let status = Status { kind: EntryKind::File, size: 1, stamp: "1".into() };
            let log = Entry { name, status };
            Ok(self.has_started.replace(true).then(|| vec![log]))
        }

        fn stat(&self, _: Area, _: &str) -> Result<Option<Status>, storage::Error> {
            unreachable!("it only reads")
        }
    }

    impl Tree for RacingTree {
        fn location(&self) -> String {
            unreachable!("it only reads")
        }

        fn lock(&self, _: Option<&str>) -> Result<Box<dyn Writer + '_>, storage::Error> {
            unreachable!("it only reads")
        }
    }

    #[test]
    fn a_first_session_that_starts_while_the_schema_is_read_is_no_missing_schema() {
        let agent = Agent { name: "ada", tree: Box::new(RacingTree::default()) };
        let effective = agent.schema();
        assert!(effective.is_ok_and(|effective| effective.exists));
    }
}
