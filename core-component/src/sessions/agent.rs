//! One agent's memory in one repository: where its documents are, and the schema that rules them.

use super::error::{Code, Error};
use super::finding::{Finding, utf8};
use super::log::{Log, Owner};
use super::repo_root::{ROOT_ACCEPTED, check_root};
use super::schema::Schema;
use crate::names::{AgentName, NAME_ACCEPTED};
use crate::storage::{
    self, Area, CommitError, Document, EntryKind, ErrorCode, Place, Tree, Writer, has_document,
};
use crate::time::Date;
use crate::tool::Call;

/// The tree's path from the top level of the repository.
const TREE: &str = ".github/agent-memory";

/// The longest document that is parsed: before and after a change well within the time and the
/// memory of a call, whatever it holds.
pub(super) const MAX_PARSED_BYTES: u64 = 2 << 20;

/// How often a change is made anew because a program that takes no lock changed a document
/// between our reading and our writing.
const ATTEMPTS: usize = 4;

/// The documents of one agent.
pub(super) struct Agent<'a> {
    pub name: &'a str,
    tree: Box<dyn Tree + 'a>,
}

impl<'a> Agent<'a> {
    /// Opens an agent's memory, which need not exist.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a path that is not absolute or leads nowhere and for a name that the
    /// repository cannot hold; `RepositoryNotAllowed`.
    pub fn open(call: &Call<'a>, repo_root: &str, name: &'a AgentName) -> Result<Self, Error> {
        let name = checked(name)?;
        check_reach(call, name)?;
        let agent = Self { name, tree: open_tree(call, repo_root)? };
        agent.check_case()?;
        Ok(agent)
    }

    /// Runs a change that reads, decides and commits, as the only writer; anew where what it had
    /// read was changed meanwhile.
    pub fn change<T>(
        &self,
        change: impl Fn(&dyn Writer) -> Result<T, ChangeError>,
    ) -> Result<T, Error> {
        let writer = self.tree.lock(None)?;
        // A twin may have been created since the agent was opened.
        self.check_case()?;
        let mut attempt = 1;
        loop {
            match change(&*writer) {
                Err(ChangeError::Conflict(_)) if attempt < ATTEMPTS => attempt += 1,
                Err(ChangeError::Conflict(error) | ChangeError::Other(error)) => return Err(error),
                Ok(done) => return Ok(done),
            }
        }
    }

    /// The paths of the documents in the tree.
    pub fn schema_path(&self) -> String {
        format!("{}/_schema.md", self.name)
    }

    pub fn summary_path(&self) -> String {
        format!("{}/_summary.md", self.name)
    }

    pub fn log_path(&self, date: Date) -> String {
        format!("{}/logs/{date}.md", self.name)
    }

    /// The summary's text, of at most `max_bytes`; none where there is none.
    pub fn summary(&self, max_bytes: u64) -> Result<Option<Text>, Error> {
        self.read(&self.summary_path(), max_bytes)
    }

    /// A log's text; none where there is none.
    pub fn log(&self, date: Date) -> Result<Option<Text>, Error> {
        self.read(&self.log_path(date), MAX_PARSED_BYTES)
    }

    fn read(&self, path: &str, max_bytes: u64) -> Result<Option<Text>, Error> {
        let document = self.tree.read(Area::Documents, path, max_bytes)?;
        document.map(|document| Text::of(document, path)).transpose()
    }

    /// Whether there is a document, whatever it holds.
    pub fn exists(&self, path: &str) -> Result<bool, Error> {
        Ok(has_document(&*self.tree, Area::Documents, path)?)
    }

    /// The schema that rules the agent's logs: its own or, where it has no log, the default.
    ///
    /// # Errors
    ///
    /// `SchemaMissing` where there are logs without it, `SchemaInvalid`.
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
            // Another writer may have begun the first session just now: the schema before the log.
            None => read()?,
            document => document,
        };
        let Some(document) = document else {
            let message = format!(
                "`{}` is missing although `{}` has session logs: restore it, for example from \
                 version control",
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

    /// The days that have a log, the oldest first.
    pub fn sessions(&self) -> Result<Vec<Date>, Error> {
        let entries = self.tree.list(Area::Documents, &format!("{}/logs", self.name))?;
        let files =
            entries.into_iter().flatten().filter(|entry| entry.status.kind == EntryKind::File);
        let mut dates: Vec<Date> = files.filter_map(|entry| log_date(&entry.name)).collect();
        dates.sort();
        Ok(dates)
    }

    /// Version control carries these trees to file systems that would merge two names that differ
    /// only in case.
    fn check_case(&self) -> Result<(), Error> {
        let entries = self.tree.list(Area::Documents, "")?.unwrap_or_default();
        let twin = entries
            .iter()
            .find(|entry| entry.name != self.name && entry.name.eq_ignore_ascii_case(self.name));
        let Some(twin) = twin else { return Ok(()) };
        let message = format!(
            "agent `{}` differs from the existing agent `{}` only in case: use that name",
            self.name, twin.name
        );
        Err(Error::at(Code::InvalidInput, message, "agent_name", format!("`{}`", twin.name)))
    }
}

/// Why a change was not made.
pub(super) enum ChangeError {
    /// A document was not at the version that was read.
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
            // Where a change stands already, whatever follows has to say so.
            ErrorCode::VersionMismatch if failed.applied == 0 => Self::Conflict(failed.into()),
            _ => Self::Other(failed.into()),
        }
    }
}

/// The day whose log a file of that name is; none where it is no log's name.
pub(super) fn log_date(file_name: &str) -> Option<Date> {
    file_name.strip_suffix(".md").and_then(Date::parse)
}

/// A log, or `MalformedLog` with the place.
pub(super) fn parse_log<'a>(
    text: &'a str,
    schema: &'a Schema,
    owner: Owner<'_>,
    path: &str,
) -> Result<Log<'a>, Error> {
    Log::parse(text, schema, owner).map_err(|finding| malformed(path, &finding))
}

/// `MalformedLog` for a document that a person has to mend.
pub(super) fn malformed(path: &str, Finding { line, what }: &Finding) -> Error {
    let path = in_repository(path);
    let message = format!("`{path}` line {line}: {what}; mend the file, which was left as it is");
    Error::new(Code::MalformedLog, message)
}

/// The schema in force, and whether it stands in a document.
pub(super) struct EffectiveSchema {
    pub schema: Schema,
    pub exists: bool,
}

/// A document that is UTF-8.
pub(super) struct Text {
    pub text: String,
    pub version: String,
}

impl Text {
    fn of(document: Document, path: &str) -> Result<Self, Error> {
        let text = utf8(&document.contents).map_err(|finding| malformed(path, &finding))?;
        Ok(Self { text: text.to_owned(), version: document.version })
    }
}

/// A path of the tree as a path from the top level of the repository.
pub(super) fn in_repository(path: &str) -> String {
    format!("{TREE}/{path}")
}

/// The documents of a repository.
///
/// # Errors
///
/// `InvalidInput` for a path that is not absolute or leads nowhere, `RepositoryNotAllowed`.
pub(super) fn open_tree<'a>(call: &Call<'a>, repo_root: &str) -> Result<Box<dyn Tree + 'a>, Error> {
    check_root(repo_root)?;
    call.storage.open(&Place::repository(repo_root)).map_err(not_opened)
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

/// What the caller may reach is enforced here, for every tool.
fn check_reach(call: &Call<'_>, name: &str) -> Result<(), Error> {
    if call.context.reaches(name) {
        return Ok(());
    }
    let message = format!("agent `{name}` is out of this caller's reach: ask for another grant");
    Err(Error::new(Code::PermissionDenied, message))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::super::schema::DEFAULT;
    use super::*;
    use crate::storage::{Documents, Entry, Status};

    /// A tree in which another writer begins the first session after our first look.
    #[derive(Default)]
    struct Beginning {
        has_begun: Cell<bool>,
    }

    impl Documents for Beginning {
        fn read(&self, _: Area, path: &str, _: u64) -> Result<Option<Document>, storage::Error> {
            assert_eq!(path, "ada/_schema.md");
            let document = Document { contents: DEFAULT.into(), version: "1".into() };
            Ok(self.has_begun.replace(true).then_some(document))
        }

        fn list(&self, _: Area, directory: &str) -> Result<Option<Vec<Entry>>, storage::Error> {
            assert_eq!(directory, "ada/logs");
            let name = "2025-01-20.md".into();
            let status = Status { kind: EntryKind::File, size: 1, stamp: "1".into() };
            let log = Entry { name, status };
            Ok(self.has_begun.replace(true).then(|| vec![log]))
        }

        fn stat(&self, _: Area, _: &str) -> Result<Option<Status>, storage::Error> {
            unreachable!("it only reads")
        }
    }

    impl Tree for Beginning {
        fn lock(&self, _: Option<&str>) -> Result<Box<dyn Writer + '_>, storage::Error> {
            unreachable!("it only reads")
        }
    }

    #[test]
    fn a_first_session_that_begins_while_the_schema_is_looked_for_is_no_missing_schema() {
        let agent = Agent { name: "ada", tree: Box::new(Beginning::default()) };
        let effective = agent.schema();
        assert!(effective.is_ok_and(|effective| effective.exists));
    }
}
