//! The tenants of a database, and whether row-level security keeps them apart.

use agent_memory_storage::{Error, ErrorCode};
use tokio_postgres::Row;

use super::query::Parameter;
use super::server::Server;

/// A tenant with a name. The tenant 0 has no name and is not listed: data that is stored without naming
/// a tenant belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantName {
    /// The number of the tenant in all tables.
    pub number: i64,
    /// The name of the tenant, for people.
    pub name: String,
}

impl TenantName {
    fn from_row(row: &Row) -> Self {
        TenantName { number: row.get(0), name: row.get(1) }
    }
}

/// Whether the database itself keeps tenants apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowSecurity {
    /// Row-level security keeps tenants apart.
    InForce,
    /// Row-level security does not hold for the user of the connection: a superuser, or one with
    /// `BYPASSRLS`.
    PassedByUser,
    /// Row-level security is turned off for at least one table.
    TurnedOff,
}

impl RowSecurity {
    /// A warning for the operator, which says what to do. `None` if the database keeps tenants apart.
    pub fn warning(self) -> Option<&'static str> {
        match self {
            RowSecurity::InForce => None,
            RowSecurity::PassedByUser => Some(
                "row-level security does not hold for the database's user, so only this program keeps \
                 tenants apart: use a user that is no superuser and has no `BYPASSRLS`",
            ),
            RowSecurity::TurnedOff => Some(
                "row-level security is turned off for a table, so only this program keeps tenants apart: \
                 turn it on with `ALTER TABLE ... ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`",
            ),
        }
    }
}

impl Server {
    /// Makes a tenant, and returns its number. Other programs find the tenant at once.
    ///
    /// # Errors
    ///
    /// `already-exists` if a tenant has the name, also in another case; `io` if it is not known whether
    /// the tenant was made; those of [`places`](Server::places).
    pub fn create_tenant(&self, name: &str) -> Result<i64, Error> {
        let server = self.clone();
        let parameters = [Parameter::text(name)];
        let made = self.wait(async move {
            let sql = "INSERT INTO agent_memory.tenants (name) VALUES ($1) \
                       ON CONFLICT DO NOTHING RETURNING number";
            server.insert(sql, &parameters).await.map_err(Error::from)
        })?;
        made.first().map(|row| row.get(0)).ok_or_else(|| {
            let message = format!(
                "there is a tenant `{name}` already, perhaps in another case: `agent-memory database \
                 tenant list` shows it"
            );
            Error::new(ErrorCode::AlreadyExists, message)
        })
    }

    /// All tenants with a name, in the order in which they were made.
    ///
    /// # Errors
    ///
    /// Those of [`places`](Server::places).
    pub fn tenants(&self) -> Result<Vec<TenantName>, Error> {
        let server = self.clone();
        let rows = self.wait(async move {
            let sql = "SELECT number, name FROM agent_memory.tenants ORDER BY number";
            server.rows(sql, &[]).await
        })?;
        Ok(rows.iter().map(TenantName::from_row).collect())
    }

    /// The number of the tenant with a name. `None` if no tenant has the name in any mixture of upper
    /// and lower case.
    ///
    /// # Errors
    ///
    /// `not-found` if a tenant's name differs only in case; those of [`places`](Server::places).
    pub fn find_tenant(&self, name: &str) -> Result<Option<i64>, Error> {
        let server = self.clone();
        let parameters = [Parameter::text(name)];
        let rows = self.wait(async move {
            let sql = "SELECT number, name FROM agent_memory.tenants \
                       WHERE lower(name) = lower($1 COLLATE \"C\")";
            server.rows(sql, &parameters).await
        })?;
        let Some(TenantName { number, name: found }) = rows.first().map(TenantName::from_row)
        else {
            return Ok(None);
        };
        if found == name {
            return Ok(Some(number));
        }
        let message = format!("there is no tenant `{name}`, but one that is written `{found}`");
        Err(Error::new(ErrorCode::NotFound, message))
    }

    /// Whether the database itself keeps tenants apart on the connections of this server.
    ///
    /// # Errors
    ///
    /// Those of [`places`](Server::places).
    pub fn row_security(&self) -> Result<RowSecurity, Error> {
        let server = self.clone();
        let rows = self.wait(async move {
            let sql = "SELECT \
                (SELECT rolsuper OR rolbypassrls FROM pg_catalog.pg_roles \
                    WHERE rolname = current_user), \
                EXISTS (SELECT 1 FROM pg_catalog.pg_class AS c \
                    JOIN pg_catalog.pg_attribute AS a \
                        ON a.attrelid = c.oid AND a.attname = 'tenant' AND NOT a.attisdropped \
                    WHERE c.relnamespace = 'agent_memory'::regnamespace \
                        AND c.relkind IN ('r', 'p') \
                        AND NOT (c.relrowsecurity AND c.relforcerowsecurity))";
            server.rows(sql, &[]).await
        })?;
        Ok(match rows.first().map(|row| (row.get(0), row.get(1))) {
            Some((true, _)) => RowSecurity::PassedByUser,
            Some((false, true)) => RowSecurity::TurnedOff,
            _ => RowSecurity::InForce,
        })
    }
}
