//! Examines the files of a repository for `validate`. A problem is an error if it makes a tool
//! refuse to work. It is a warning if a tool also returns it as a warning, or if no tool uses the
//! file.

use std::collections::BTreeMap;

use super::agent::MAX_PARSED_BYTES;
use super::error::Error;
use super::finding::{Finding, Severity, merge_conflict, utf8};
use super::log::{Log, LogId, log_date};
use super::schema::Schema;
use super::summary::Summary;
use crate::names::name_error;
use crate::storage::{self, Area, Entry, EntryKind, ErrorCode, Tree};
use crate::time::Date;
use crate::tool::Call;

type Findings = Vec<(Severity, Finding)>;

/// A file to examine, or a problem that the directory listing already shows.
pub(super) struct Subject {
    /// The path in the tree.
    pub path: String,
    /// The size of the file in bytes. 0 for a problem, because its file is not read.
    pub size: u64,
    kind: Kind,
}

enum Kind {
    Schema {
        agent: String,
    },
    Summary,
    Log {
        agent: String,
        date: Date,
    },
    /// A problem that is known without reading the file.
    Problem(Severity, String),
}

/// Everything to examine, sorted by path.
pub(super) fn subjects(call: &Call<'_>, tree: &dyn Tree) -> Result<Vec<Subject>, Error> {
    let mut subjects = Vec::new();
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for entry in tree.list(Area::Documents, "")?.unwrap_or_default() {
        let name = entry.name;
        if entry.status.kind == EntryKind::File || !call.context.reaches(&name) {
            continue;
        }
        let mut report = |severity, what: String| {
            let kind = Kind::Problem(severity, what);
            subjects.push(Subject { path: name.clone(), size: 0, kind });
        };
        if entry.status.kind == EntryKind::Other {
            report(Severity::Warning, "neither a directory nor a file: no tool reads it".into());
        } else if let Some(what) = name_error(&name) {
            report(Severity::Warning, format!("no agent can have this name: it {what}"));
        } else {
            if let Some(twin) = names.insert(name.to_ascii_lowercase(), name.clone()) {
                let what = format!("differs from agent `{twin}` only in case: rename one of them");
                report(Severity::Error, what);
            }
            add_agent(tree, &name, &mut subjects)?;
        }
    }
    subjects.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(subjects)
}

fn add_agent(tree: &dyn Tree, agent: &str, subjects: &mut Vec<Subject>) -> Result<(), Error> {
    let mut add = |path, size, kind| subjects.push(Subject { path, size, kind });
    // `None` if no tool can list the directory. Then a finding is added.
    let mut listed = |directory: &str| -> Result<Option<Vec<Entry>>, Error> {
        match tree.list(Area::Documents, directory) {
            Ok(entries) => Ok(Some(entries.unwrap_or_default())),
            Err(error) => {
                let what = unreadable(&error).ok_or(error)?;
                add(directory.to_owned(), 0, Kind::Problem(Severity::Error, what));
                Ok(None)
            }
        }
    };
    // Lists the logs before the schema, because a writer that starts the first session writes the
    // schema before the log. So whenever a log is found, its schema is found, too.
    let logs = listed(&format!("{agent}/logs"))?.unwrap_or_default();
    let entries = listed(agent)?;
    let mut has_schema = entries.is_none();
    for entry in entries.into_iter().flatten() {
        let path = format!("{agent}/{}", entry.name);
        match entry.name.as_str() {
            "_schema.md" | "_summary.md" if entry.status.kind != EntryKind::File => {
                add(path, 0, not_a_file());
                has_schema |= entry.name == "_schema.md";
            }
            "_schema.md" => {
                has_schema = true;
                add(path, entry.status.size, Kind::Schema { agent: agent.to_owned() });
            }
            "_summary.md" => add(path, entry.status.size, Kind::Summary),
            _ => {}
        }
    }
    let mut has_logs = false;
    for entry in logs {
        let path = format!("{agent}/logs/{}", entry.name);
        match log_date(&entry.name) {
            Some(_) if entry.status.kind != EntryKind::File => add(path, 0, not_a_file()),
            Some(date) => {
                has_logs = true;
                add(path, entry.status.size, Kind::Log { agent: agent.to_owned(), date });
            }
            None => {
                let what = "not a session log: its name has to be a date, such as `2025-01-20.md`";
                add(path, 0, Kind::Problem(Severity::Warning, what.into()));
            }
        }
    }
    if has_logs && !has_schema {
        let what = format!(
            "missing although `{agent}` has session logs: restore it, for example from version \
             control, or copy that of another agent"
        );
        add(format!("{agent}/_schema.md"), 0, Kind::Problem(Severity::Error, what));
    }
    Ok(())
}

fn not_a_file() -> Kind {
    let what = "not a file, so that no tool can read or write it: move it away";
    Kind::Problem(Severity::Error, what.into())
}

/// Examines subjects one by one. It compares a log with the schema of its agent, and caches the
/// schema until the next agent.
pub(super) struct Examination<'a> {
    tree: &'a dyn Tree,
    schema: Option<(String, Option<Schema>)>,
}

impl<'a> Examination<'a> {
    pub fn new(tree: &'a dyn Tree) -> Self {
        Self { tree, schema: None }
    }

    /// Examines a file and returns what is wrong with it, sorted by line.
    ///
    /// # Errors
    ///
    /// An error of storage that also stops other files from being read. An error of this file alone is
    /// a finding.
    pub fn examine(&mut self, subject: &Subject) -> Result<Findings, Error> {
        if let Kind::Problem(severity, what) = &subject.kind {
            return Ok(vec![(*severity, Finding { line: 1, what: what.clone() })]);
        }
        if let Kind::Log { agent, .. } = &subject.kind {
            self.read_schema(agent)?;
        }
        let contents = match read(self.tree, &subject.path)? {
            Ok(Some(contents)) => contents,
            // The file was removed after it was listed.
            Ok(None) => return Ok(Findings::new()),
            Err(finding) => return Ok(vec![(Severity::Error, finding)]),
        };
        let text = match utf8(&contents) {
            Ok(text) => text,
            Err(finding) => return Ok(vec![(Severity::Error, finding)]),
        };
        let (errors, warnings) = match &subject.kind {
            Kind::Problem(..) => unreachable!("reported above"),
            Kind::Summary => (Summary::parse(text).findings(), Vec::new()),
            Kind::Schema { agent } => match Schema::parse(text) {
                Ok(schema) => {
                    let warning = schema.warning();
                    self.schema = Some((agent.clone(), Some(schema)));
                    (Vec::new(), warning.into_iter().collect())
                }
                Err(finding) => (vec![finding], Vec::new()),
            },
            Kind::Log { agent, date } => match &self.schema {
                Some((_, Some(schema))) => {
                    match Log::parse(text, schema, LogId { agent, date: *date }) {
                        Ok(log) => (Vec::new(), log.warnings()),
                        Err(finding) => (vec![finding], Vec::new()),
                    }
                }
                // The schema is missing or invalid. The subject of the schema reports it.
                _ => (Vec::new(), Vec::new()),
            },
        };
        let errors = errors.into_iter().map(|finding| (Severity::Error, finding));
        let warnings = warnings.into_iter().chain(merge_conflict(text));
        let warnings = warnings.map(|finding| (Severity::Warning, finding));
        let mut findings: Findings = errors.chain(warnings).collect();
        findings.sort_by_key(|(_, finding)| finding.line);
        Ok(findings)
    }

    fn read_schema(&mut self, agent: &str) -> Result<(), Error> {
        if self.schema.as_ref().is_some_and(|(of, _)| of == agent) {
            return Ok(());
        }
        let contents = read(self.tree, &format!("{agent}/_schema.md"))?.ok().flatten();
        let schema = contents.and_then(|contents| Schema::parse(utf8(&contents).ok()?).ok());
        self.schema = Some((agent.to_owned(), schema));
        Ok(())
    }
}

/// Reads a document. `None` if it does not exist. The inner error is a finding: no tool can read
/// this file.
fn read(tree: &dyn Tree, path: &str) -> Result<Result<Option<Vec<u8>>, Finding>, Error> {
    let what = match tree.read(Area::Documents, path, MAX_PARSED_BYTES) {
        Ok(document) => return Ok(Ok(document.map(|document| document.contents))),
        Err(error) if error.code == ErrorCode::TooLarge => {
            format!("longer than {MAX_PARSED_BYTES} bytes: no tool can change it")
        }
        Err(error) => unreadable(&error).ok_or(error)?,
    };
    Ok(Err(Finding { line: 1, what }))
}

/// The text of a finding for a storage error that concerns only this path. `None` for any other
/// error.
fn unreadable(error: &storage::Error) -> Option<String> {
    let is_of_this_path = matches!(error.code, ErrorCode::InvalidPath | ErrorCode::Permission);
    is_of_this_path.then(|| format!("no tool can read it: {}", error.message))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::storage::{Document, Documents, Status, Writer};

    /// A tree in which another writer starts the first session after our first listing.
    #[derive(Default)]
    struct RacingTree(Cell<bool>);

    impl Documents for RacingTree {
        fn read(&self, _: Area, _: &str, _: u64) -> Result<Option<Document>, storage::Error> {
            unreachable!("it only lists")
        }

        fn list(&self, _: Area, directory: &str) -> Result<Option<Vec<Entry>>, storage::Error> {
            let status = || Status { kind: EntryKind::File, size: 1, stamp: "1".into() };
            let file = |name: &str| Entry { name: name.into(), status: status() };
            let entries = match directory {
                "ada" => vec![file("_schema.md"), file("_summary.md")],
                _ => vec![file("2025-01-20.md")],
            };
            Ok(self.0.replace(true).then_some(entries))
        }

        fn stat(&self, _: Area, _: &str) -> Result<Option<Status>, storage::Error> {
            unreachable!("it only lists")
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
    fn a_first_session_that_starts_during_the_listing_is_no_missing_schema() {
        let mut subjects = Vec::new();
        assert!(add_agent(&RacingTree::default(), "ada", &mut subjects).is_ok());
        assert!(subjects.iter().all(|subject| !matches!(subject.kind, Kind::Problem(..))));
    }
}
