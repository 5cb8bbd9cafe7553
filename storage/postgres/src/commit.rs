//! A commit: every change is checked before the first is made, and all are one transaction.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agent_memory_storage::{
    Area, Change, CommitError, Error, ErrorCode, Splice, already_exists, check_consistent,
    check_count, check_size, version_mismatch, version_of,
};
use futures_util::future::try_join_all;
use tokio::time::timeout;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::documents::{above, area_number, check_path};
use super::error::silent;
use super::lock::Lock;
use super::query::{self, Parameter};
use super::statement_error::StatementError;

/// An error with the index of the change that caused it. Without an index, the error of the whole
/// commit.
type Refused = (Option<usize>, Error);

impl Lock {
    /// Makes all changes or none, and releases the lock. Returns the new version of each document.
    ///
    /// During a transaction on rows, the changes become part of it: they are made when it commits, and
    /// an error rolls it back.
    ///
    /// # Errors
    ///
    /// Those of `commit` in `wit/storage`. `busy`, with the advice to try again, if the connection was
    /// lost and nothing was changed. After `io` the changes may have been made, and the message says
    /// so.
    pub fn commit(
        self: &Arc<Self>,
        changes: Vec<Change>,
    ) -> Result<Vec<Option<String>>, CommitError> {
        let lock = self.clone();
        let committed = self.server.wait(async move { lock.committed(&changes).await });
        committed.map_err(|(index, error)| CommitError {
            error,
            change: index.map(|index| index as u32),
            applied: 0,
        })
    }

    async fn committed(&self, changes: &[Change]) -> Result<Vec<Option<String>>, Refused> {
        check_changes(changes)?;
        let mut state = self.state.lock().await;
        self.ensure(&mut state).await.map_err(|error| (None, error))?;
        let client = state.client().map_err(|error| (None, error))?;
        let applied =
            match timeout(self.server.answer_timeout(1), self.apply(client, changes)).await {
                Ok(applied) => applied,
                Err(_) => Err((None, StatementError::Stopped(silent()))),
            };
        let versions = applied.map_err(|(index, failed)| (index, state.fail(failed)))?;
        if !state.has_rows() {
            self.conclude(&mut state).await.map_err(|error| (None, error))?;
        }
        Ok(versions)
    }

    /// Makes the changes in the open transaction, in two round trips, or three if something is copied.
    async fn apply(
        &self,
        client: &Client,
        changes: &[Change],
    ) -> Result<Vec<Option<String>>, (Option<usize>, StatementError)> {
        let before = self.before(client, changes).await.map_err(|error| (None, error.into()))?;
        let mut writes = Vec::new();
        let mut versions = Vec::new();
        for (index, change) in changes.iter().enumerate() {
            let write = before.write(changes, change);
            let write = write.map_err(|error| (Some(index), error.into()))?;
            versions.push(write.version.clone());
            writes.push((index, write));
        }
        // A copy gets the contents from before the commit, so copies are made first.
        let (copies, others): (Vec<_>, Vec<_>) = writes
            .into_iter()
            .partition(|(index, _)| matches!(changes[*index], Change::Copy { .. }));
        for writes in [copies, others] {
            let sent = writes.iter().map(|(index, write)| async {
                let done = query::execute(client, write.sql, &self.parameters(write)).await;
                let failed = match done {
                    Ok(1) => return Ok(()),
                    Ok(_) => version_mismatch(changes[*index].checked_path()).into(),
                    Err(error) => error.into(),
                };
                Err((Some(*index), failed))
            });
            try_join_all(sent).await?;
        }
        Ok(versions)
    }

    fn parameters(&self, write: &Write) -> Vec<Parameter> {
        let mut parameters = vec![
            Parameter::integer(self.server.tenant()),
            Parameter::text(self.place.as_str()),
            Parameter::new(area_number(write.area), Type::INT2),
            Parameter::text(write.path.as_str()),
        ];
        if let Some((version, contents)) = &write.new {
            parameters.push(Parameter::text(version.as_str()));
            parameters.push(Parameter::new(contents.clone(), Type::BYTEA));
        }
        parameters.extend(write.more.iter().map(|text| Parameter::text(text.as_str())));
        parameters
    }

    /// Reads the versions of all documents that the changes name, and of documents at paths above them,
    /// in one query.
    async fn before(
        &self,
        client: &Client,
        changes: &[Change],
    ) -> Result<Before, tokio_postgres::Error> {
        let mut asked: BTreeSet<(Area, &str)> = BTreeSet::new();
        let mut edited: BTreeSet<(Area, &str)> = BTreeSet::new();
        let mut written: BTreeSet<(Area, &str)> = BTreeSet::new();
        for change in changes {
            for path in [change.path(), change.checked_path()] {
                asked.insert((change.area(), path));
                asked.extend(above(path).map(|path| (change.area(), path)));
            }
            if matches!(change, Change::Edit { .. }) {
                edited.insert((change.area(), change.path()));
            }
            if !change.is_delete() {
                written.insert((change.area(), change.path()));
            }
        }
        let sql = "SELECT a.area, a.path, d.version, octet_length(d.bytes), \
                CASE WHEN a.edited THEN d.bytes END, \
                a.written AND EXISTS (SELECT 1 FROM agent_memory.documents AS b \
                    WHERE b.tenant = $1 AND b.place = $2 AND b.area = a.area \
                    AND b.path > a.path || '/' AND b.path < a.path || '0') \
            FROM unnest($3::smallint[], $4::text[], $5::boolean[], $6::boolean[]) \
                AS a(area, path, edited, written) \
            LEFT JOIN agent_memory.documents AS d \
                ON d.tenant = $1 AND d.place = $2 AND d.area = a.area AND d.path = a.path";
        let flags = |set: &BTreeSet<(Area, &str)>| {
            let flags: Vec<bool> = asked.iter().map(|key| set.contains(key)).collect();
            Parameter::new(flags, Type::BOOL_ARRAY)
        };
        let areas: Vec<i16> = asked.iter().map(|(area, _)| area_number(*area)).collect();
        let parameters = [
            Parameter::integer(self.server.tenant()),
            Parameter::text(self.place.as_str()),
            Parameter::new(areas, Type::INT2_ARRAY),
            Parameter::texts(asked.iter().map(|(_, path)| (*path).to_owned()).collect()),
            flags(&edited),
            flags(&written),
        ];
        let rows = query::rows(client, sql, &parameters).await?;
        let found = rows.iter().map(|row| {
            let found = Found {
                version: row.get(2),
                size: row.get::<_, Option<i32>>(3).unwrap_or_default() as u64,
                contents: row.get(4),
                has_documents_below: row.get(5),
            };
            ((row.get(0), row.get(1)), found)
        });
        Ok(Before(found.collect()))
    }
}

/// The documents at the paths of a commit as they were before it, by area and path.
struct Before(BTreeMap<(i16, String), Found>);

/// The state of a path before the commit.
struct Found {
    /// The version of the document. `None` if the path had no document.
    version: Option<String>,
    size: u64,
    /// The contents, if the commit edits the document.
    contents: Option<Vec<u8>>,
    has_documents_below: bool,
}

/// A statement that makes one change.
struct Write {
    area: Area,
    path: String,
    sql: &'static str,
    /// The version and the contents to write. `None` for a deletion, a copy and a rename.
    new: Option<(String, Vec<u8>)>,
    /// Further text parameters of the statement.
    more: Vec<String>,
    /// The version of the document after the change. `None` after a deletion.
    version: Option<String>,
}

impl Before {
    fn at(&self, area: Area, path: &str) -> Option<&Found> {
        self.0.get(&(area_number(area), path.to_owned()))
    }

    fn version(&self, area: Area, path: &str) -> Option<&str> {
        self.at(area, path)?.version.as_deref()
    }

    /// Checks a change, and returns the statement that makes it.
    fn write(&self, changes: &[Change], change: &Change) -> Result<Write, Error> {
        let area = change.area();
        let path = change.path();
        let checked = change.checked_path();
        let new_size = match change {
            Change::Put { contents, .. } => contents.len() as u64,
            Change::Edit { .. } | Change::Copy { .. } => {
                self.at(area, checked).map_or(0, |found| found.size)
            }
            Change::Delete { .. } | Change::Rename { .. } => 0,
        };
        check_size(path, new_size)?;
        if self.version(area, checked) != change.expects() {
            return Err(version_mismatch(checked));
        }
        if !change.is_delete() {
            self.check_free(changes, area, path)?;
        }
        let expects = change.expects().unwrap_or_default().to_owned();
        let write = |sql, new: Option<Vec<u8>>, more, version| {
            let new = new.map(|contents| (version_of(&contents), contents));
            let version = new.as_ref().map(|(version, _)| version.clone()).or(version);
            Write { area, path: path.to_owned(), sql, new, more, version }
        };
        Ok(match change {
            Change::Put { contents, expects: None, .. } => {
                write(INSERT, Some(contents.clone()), vec![], None)
            }
            Change::Put { contents, .. } => {
                write(UPDATE, Some(contents.clone()), vec![expects], None)
            }
            Change::Edit { splices, .. } => {
                let contents = self.at(area, path).and_then(|found| found.contents.clone());
                let contents = contents.and_then(|contents| Splice::all(splices, contents));
                let contents = contents.ok_or_else(|| version_mismatch(checked))?;
                check_size(path, contents.len() as u64)?;
                write(UPDATE, Some(contents), vec![expects], None)
            }
            Change::Delete { .. } => write(DELETE, None, vec![expects], None),
            Change::Copy { .. } => {
                write(COPY, None, vec![checked.to_owned(), expects.clone()], Some(expects))
            }
            Change::Rename { .. } => {
                if self.version(area, path).is_some() {
                    return Err(already_exists(path));
                }
                write(RENAME, None, vec![checked.to_owned(), expects.clone()], Some(expects))
            }
        })
    }

    /// Refuses a path that is below a document, or is a directory with documents.
    fn check_free(&self, changes: &[Change], area: Area, path: &str) -> Result<(), Error> {
        let is_removed = |path: &str| {
            changes
                .iter()
                .any(|change| change.area() == area && change.removed_path() == Some(path))
        };
        let is_document = |path: &&str| self.version(area, path).is_some() && !is_removed(path);
        if let Some(file) = above(path).find(is_document) {
            let message = format!("`{file}` is not a directory");
            return Err(Error::new(ErrorCode::InvalidPath, message));
        }
        if self.at(area, path).is_some_and(|found| found.has_documents_below) {
            let message = format!("`{path}` is a directory");
            return Err(Error::new(ErrorCode::InvalidPath, message));
        }
        Ok(())
    }
}

const INSERT: &str = "INSERT INTO agent_memory.documents (tenant, place, area, path, version, bytes) \
    VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";

const UPDATE: &str = "UPDATE agent_memory.documents SET version = $5, bytes = $6 \
    WHERE tenant = $1 AND place = $2 AND area = $3 AND path = $4 AND version = $7";

const DELETE: &str = "DELETE FROM agent_memory.documents \
    WHERE tenant = $1 AND place = $2 AND area = $3 AND path = $4 AND version = $5";

const COPY: &str = "INSERT INTO agent_memory.documents (tenant, place, area, path, version, bytes) \
    SELECT tenant, place, area, $4, version, bytes FROM agent_memory.documents \
    WHERE tenant = $1 AND place = $2 AND area = $3 AND path = $5 AND version = $6 \
    ON CONFLICT (tenant, place, area, path) \
    DO UPDATE SET version = excluded.version, bytes = excluded.bytes";

const RENAME: &str = "UPDATE agent_memory.documents SET path = $4 \
    WHERE tenant = $1 AND place = $2 AND area = $3 AND path = $5 AND version = $6";

fn check_changes(changes: &[Change]) -> Result<(), Refused> {
    check_count(changes).map_err(|error| (None, error))?;
    for (index, change) in changes.iter().enumerate() {
        for path in [change.path(), change.checked_path()] {
            check_path(path)
                .and_then(|()| check_length(path))
                .map_err(|error| (Some(index), error))?;
        }
    }
    check_consistent(changes).map_err(|(index, error)| (Some(index), error))
}

/// The maximum length of a path in bytes: an entry in an index of PostgreSQL has at most 2,704 bytes.
pub const MAX_PATH: usize = 2_500;

fn check_length(path: &str) -> Result<(), Error> {
    if path.len() <= MAX_PATH {
        return Ok(());
    }
    let message = format!(
        "a path in a database has at most {MAX_PATH} bytes, and this one has {}: shorten it",
        path.len()
    );
    Err(Error::new(ErrorCode::InvalidPath, message))
}
