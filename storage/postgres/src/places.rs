//! The places of a database: those of groups are rows of a table.

use agent_memory_storage::{Error, ErrorCode, path};
use tokio_postgres::Row;

use super::query::Parameter;
use super::server::Server;
use super::single::InsertError;

impl Server {
    /// The names of the places with a label, in byte order.
    ///
    /// # Errors
    ///
    /// `busy` if the database cannot be reached now; `permission`, `io`.
    pub fn places(&self, label: &str) -> Result<Vec<String>, Error> {
        let server = self.clone();
        let prefix = format!("{label}/");
        let end = format!("{label}0");
        self.wait(async move {
            let sql = "SELECT place FROM agent_memory.places \
                       WHERE tenant = $1 AND place > $2 AND place < $3 ORDER BY place";
            let parameters = [
                Parameter::integer(server.tenant()),
                Parameter::text(prefix.as_str()),
                Parameter::text(end),
            ];
            let rows = server.rows(sql, &parameters).await?;
            let name = |row: &Row| row.get::<_, &str>(0)[prefix.len()..].to_owned();
            Ok(rows.iter().map(name).collect())
        })
    }

    /// Whether a place of a group exists.
    ///
    /// # Errors
    ///
    /// As for [`places`](Server::places).
    pub fn has_place(&self, label: &str, name: &str) -> Result<bool, Error> {
        let key = place_key(label, name);
        if self.known().has(&key) {
            return Ok(true);
        }
        let server = self.clone();
        let wanted = key.clone();
        let is_there = self.wait(async move { server.has_key(&wanted).await })?;
        if is_there {
            self.known().add(key);
        }
        Ok(is_there)
    }

    /// Creates a place of a group.
    ///
    /// # Errors
    ///
    /// `already-exists`; `invalid-path` if `name` is not a valid name for a place; those of
    /// [`places`](Server::places).
    pub fn create_place(&self, label: &str, name: &str) -> Result<(), Error> {
        if name.contains('/') || path::segments(name).is_err() {
            let message = format!("`{}` is not a name for a place", name.escape_debug());
            return Err(Error::new(ErrorCode::InvalidPath, message));
        }
        let server = self.clone();
        let key = place_key(label, name);
        let is_created = self.wait(async move { server.insert_place(&key).await })?;
        if !is_created {
            let message = format!("the place `{name}` is registered already");
            return Err(Error::new(ErrorCode::AlreadyExists, message));
        }
        Ok(())
    }

    /// Inserts the row of a place. Returns false if the place exists already, perhaps in another case.
    /// If the connection was lost, tries once more: an existing row may then come from the first
    /// attempt, so it counts as created.
    async fn insert_place(&self, key: &str) -> Result<bool, Error> {
        let sql = "INSERT INTO agent_memory.places (tenant, place) VALUES ($1, $2) \
                   ON CONFLICT DO NOTHING RETURNING 1::smallint";
        let parameters = [Parameter::integer(self.tenant()), Parameter::text(key)];
        match self.insert(sql, &parameters).await {
            Ok(rows) => return Ok(!rows.is_empty()),
            Err(InsertError::Unknown(_)) => {}
            Err(InsertError::NotMade(error)) => return Err(error),
        }
        Ok(!self.insert(sql, &parameters).await?.is_empty() || self.has_key(key).await?)
    }

    async fn has_key(&self, key: &str) -> Result<bool, Error> {
        let sql = "SELECT 1 FROM agent_memory.places WHERE tenant = $1 AND place = $2";
        let parameters = [Parameter::integer(self.tenant()), Parameter::text(key)];
        Ok(!self.rows(sql, &parameters).await?.is_empty())
    }
}

/// The text of the column `place` for a place, in every table.
pub(crate) fn place_key(label: &str, name: &str) -> String {
    if name.is_empty() { label.to_owned() } else { format!("{label}/{name}") }
}
