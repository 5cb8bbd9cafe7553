//! Reading documents.

use std::sync::Arc;
use std::time::Duration;

use agent_memory_storage::{
    Area, CallKey, Document, Documents, Entry, EntryKind, Error, ErrorCode, MAX_DOCUMENT_BYTES,
    MAX_ENTRIES, Status, path,
};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::lock::{Lock, Scope};
use super::places::place_key;
use super::query::Parameter;
use super::server::Server;

const DIRECTORY: Status = Status { kind: EntryKind::Directory, size: 0, stamp: String::new() };

/// The documents of a place, with its lock.
#[derive(Clone, Debug)]
pub struct Tree {
    server: Server,
    place: String,
    key: Option<Arc<CallKey>>,
}

/// Reads the documents of a place, with any connection or with the connection of a lock.
#[derive(Clone, Debug)]
pub struct Reader {
    server: Server,
    place: String,
    lock: Option<Arc<Lock>>,
}

impl Server {
    /// The documents and the lock of a place. `name` is empty if the label has only one place.
    pub fn tree(&self, label: &str, name: &str) -> Tree {
        Tree { server: self.clone(), place: place_key(label, name), key: None }
    }
}

impl Tree {
    /// The same tree. Its commits store the key of a call, so that a repetition of the call is
    /// recognised.
    #[must_use]
    pub fn with_key(self, key: Arc<CallKey>) -> Self {
        Tree { key: Some(key), ..self }
    }

    /// A reader that may use any connection.
    pub fn reader(&self) -> Reader {
        Reader { server: self.server.clone(), place: self.place.clone(), lock: None }
    }

    /// Waits for the lock of the whole place, or of one scope. Getting a connection and getting the
    /// lock may each take `wait`. Dropping the future gives up the wait, and releases the lock if it
    /// was just taken.
    ///
    /// # Errors
    ///
    /// `busy` after that time, or if the database cannot be reached now; `permission`, `io`.
    pub async fn lock(&self, scope: Scope, wait: Duration) -> Result<Arc<Lock>, Error> {
        let Tree { server, place, key } = self.clone();
        let acquiring = Lock::acquire(server, place, key, scope, wait);
        Ok(Arc::new(self.server.run(acquiring).await?))
    }
}

impl Lock {
    /// A reader with the connection of the lock: a call that holds the lock needs no other connection.
    pub fn reader(self: &Arc<Self>) -> Reader {
        Reader { server: self.server.clone(), place: self.place.clone(), lock: Some(self.clone()) }
    }
}

/// The paths of the directories above a path, the uppermost first.
pub(crate) fn above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(end, _)| &path[..end])
}

/// Refuses a path that no tree can hold.
pub(crate) fn check_path(path: &str) -> Result<(), Error> {
    let refused = |reason| {
        let message = format!("`{}` {reason}", path.escape_debug());
        Error::new(ErrorCode::InvalidPath, message)
    };
    path::segments(path).map(drop).map_err(refused)
}

/// Refuses a path that is neither empty, for the root, nor a path that a tree can hold.
fn check_directory(path: &str) -> Result<(), Error> {
    if path.is_empty() { Ok(()) } else { check_path(path) }
}

pub(crate) fn area_number(area: Area) -> i16 {
    match area {
        Area::Documents => 0,
        Area::Bookkeeping => 1,
    }
}

fn file(row: &Row, size: usize, version: usize) -> Status {
    let size: i32 = row.get(size);
    Status { kind: EntryKind::File, size: size as u64, stamp: row.get(version) }
}

// Where the document of a row of the query in `Reader::find` is: at the path, above it or below it.
const ITSELF: i32 = 0;
const ABOVE: i32 = 1;
const BELOW: i32 = 2;

impl Reader {
    fn base(&self, area: Area) -> Vec<Parameter> {
        vec![
            Parameter::integer(self.server.tenant()),
            Parameter::text(self.place.as_str()),
            Parameter::new(area_number(area), Type::INT2),
        ]
    }

    fn rows(&self, sql: String, parameters: Vec<Parameter>) -> Result<Vec<Row>, Error> {
        let reader = self.clone();
        self.server.wait(async move {
            match &reader.lock {
                Some(lock) => lock.rows(&sql, &parameters).await,
                None => reader.server.rows(&sql, &parameters).await,
            }
        })
    }

    /// Finds the document at a path, or else one below it. A document longer than `most` bytes is
    /// returned without its bytes.
    ///
    /// # Errors
    ///
    /// `invalid-path` if a document is above the path; those of the database.
    fn find(&self, area: Area, path: &str, most: u64) -> Result<Option<Row>, Error> {
        let of_place = "FROM agent_memory.documents WHERE tenant = $1 AND place = $2 AND area = $3";
        let sql = format!(
            "(SELECT {ITSELF}, path, octet_length(bytes), version, \
              CASE WHEN octet_length(bytes) <= $6 THEN bytes END {of_place} AND path = $4) \
             UNION ALL \
             (SELECT {ABOVE}, path, 0, '', NULL {of_place} AND path = ANY($5) LIMIT 1) \
             UNION ALL \
             (SELECT {BELOW}, path, 0, '', NULL {of_place} \
              AND path > $4 || '/' AND path < $4 || '0' LIMIT 1)"
        );
        let mut parameters = self.base(area);
        parameters.extend([
            Parameter::text(path),
            Parameter::texts(above(path).map(str::to_owned).collect()),
            Parameter::integer(i64::try_from(most).unwrap_or(i64::MAX)),
        ]);
        let mut rows = self.rows(sql, parameters)?;
        if let Some(file) = rows.iter().find(|row| row.get::<_, i32>(0) == ABOVE) {
            let message = format!("`{}` is not a directory", file.get::<_, &str>(1));
            return Err(Error::new(ErrorCode::InvalidPath, message));
        }
        rows.sort_by_key(|row| row.get::<_, i32>(0));
        Ok(rows.into_iter().next())
    }
}

impl Documents for Reader {
    fn stat(&self, area: Area, path: &str) -> Result<Option<Status>, Error> {
        check_directory(path)?;
        if path.is_empty() {
            let sql = "SELECT 1 FROM agent_memory.documents \
                       WHERE tenant = $1 AND place = $2 AND area = $3 LIMIT 1";
            let rows = self.rows(sql.to_owned(), self.base(area))?;
            return Ok((!rows.is_empty()).then_some(DIRECTORY));
        }
        let found = self.find(area, path, 0)?;
        Ok(found
            .map(|row| if row.get::<_, i32>(0) == ITSELF { file(&row, 2, 3) } else { DIRECTORY }))
    }

    fn read(&self, area: Area, path: &str, max_bytes: u64) -> Result<Option<Document>, Error> {
        check_path(path)?;
        let bound = max_bytes.min(MAX_DOCUMENT_BYTES);
        let Some(row) = self.find(area, path, bound)? else { return Ok(None) };
        if row.get::<_, i32>(0) != ITSELF {
            let message = format!("`{path}` is not a file: move it away");
            return Err(Error::new(ErrorCode::InvalidPath, message));
        }
        let Some(contents) = row.get::<_, Option<Vec<u8>>>(4) else {
            let size: i32 = row.get(2);
            return Err(Error::new(
                ErrorCode::TooLarge,
                format!(
                    "`{path}` is longer than {bound} bytes (it has {size}): shorten it, or split it"
                ),
            ));
        };
        Ok(Some(Document { contents, version: row.get(3) }))
    }

    fn list(&self, area: Area, directory: &str) -> Result<Option<Vec<Entry>>, Error> {
        check_directory(directory)?;
        let mut parameters = self.base(area);
        let within = match directory {
            "" => "",
            _ => "AND path > $5 || '/' AND path < $5 || '0'",
        };
        let prefix = if directory.is_empty() { 0 } else { directory.chars().count() + 1 };
        parameters.push(Parameter::new(prefix as i32 + 1, Type::INT4));
        if !directory.is_empty() {
            parameters.push(Parameter::text(directory));
        }
        // No document is below another, so a name is a file or a directory.
        let sql = format!(
            "SELECT DISTINCT ON (name) name, is_file, size, version FROM ( \
                SELECT split_part(rest, '/', 1) COLLATE \"C\" AS name, \
                    position('/' in rest) = 0 AS is_file, size, version FROM ( \
                    SELECT substr(path, $4) AS rest, octet_length(bytes) AS size, version \
                    FROM agent_memory.documents \
                    WHERE tenant = $1 AND place = $2 AND area = $3 {within} \
                ) AS rests \
             ) AS names ORDER BY name LIMIT {}",
            MAX_ENTRIES + 1
        );
        let rows = self.rows(sql, parameters)?;
        if rows.len() > MAX_ENTRIES {
            let message = format!("`{directory}` has more than {MAX_ENTRIES} entries");
            return Err(Error::new(ErrorCode::TooLarge, message));
        }
        if rows.is_empty() && !directory.is_empty() {
            return match self.find(area, directory, 0)? {
                Some(row) if row.get::<_, i32>(0) == ITSELF => {
                    let message = format!("`{directory}` is not a directory");
                    Err(Error::new(ErrorCode::InvalidPath, message))
                }
                _ => Ok(None),
            };
        }
        let entry = |row: &Row| Entry {
            name: row.get(0),
            status: if row.get(1) { file(row, 2, 3) } else { DIRECTORY },
        };
        Ok((!rows.is_empty()).then(|| rows.iter().map(entry).collect()))
    }
}
