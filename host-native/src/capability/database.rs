//! The databases of a call.

use super::Answer;
use super::imports::database::{
    Connection, Dialect, Effect, Host, HostConnection, HostTransaction, Kind, Mode, Place, Rows,
    Statement, Transaction, Value,
};
use super::imports::types::Error;
use crate::call::{Call, DatabaseKey};
use crate::storage;
use crate::storage::api::database::Transaction as _;
use wasmtime::Result;
use wasmtime::component::Resource;

impl Host for Call {
    fn open(
        &mut self,
        place: Place,
        name: String,
        kind: Kind,
        create: bool,
    ) -> Answer<Resource<Connection>> {
        self.asked(|call| {
            Ok(match call.database((place.into(), name, kind.into()), create)? {
                Ok(database) => Ok(call.opened.push(database)?),
                Err(error) => Err(error.into()),
            })
        })
    }
}

impl Call {
    /// Opens a database. If the call has it open already, returns the same connection.
    fn database(
        &mut self,
        key: DatabaseKey,
        create: bool,
    ) -> Answer<storage::Database, storage::Error> {
        if let Some(open) = self.databases.get(&key) {
            return Ok(Ok(open));
        }
        let (place, name, kind) = &key;
        let opened = self.tree(place)?.and_then(|tree| tree.open_database(name, *kind, create));
        if let Ok(database) = &opened {
            self.databases.put(key, database.clone());
        }
        Ok(opened)
    }
}

impl HostConnection for Call {
    fn dialect(&mut self, connection: Resource<Connection>) -> Result<Dialect> {
        self.asked(|call| {
            Ok(match call.opened.get(&connection)?.dialect() {
                storage::Dialect::Sqlite => Dialect::Sqlite,
                storage::Dialect::Postgres => Dialect::Postgres,
            })
        })
    }

    fn query(
        &mut self,
        connection: Resource<Connection>,
        statement: Statement,
        max_rows: u32,
    ) -> Answer<Rows> {
        self.asked(|call| {
            let rows = call.opened.get(&connection)?.query(&statement.into(), max_rows);
            Ok(rows.map(Rows::from).map_err(Error::from))
        })
    }

    fn begin(
        &mut self,
        connection: Resource<Connection>,
        mode: Mode,
    ) -> Answer<Resource<Transaction>> {
        self.asked(|call| {
            let database = call.opened.get(&connection)?;
            let mode = match &mode {
                Mode::Read => storage::Mode::Read,
                Mode::Write(scope) => storage::Mode::Write(scope.as_deref()),
            };
            let lock = database.lock_key().filter(|_| mode.is_write());
            let lock = lock.cloned();
            if let Err(error) = call.lock_rules.check_begin(lock.as_ref()) {
                return Ok(Err(error.into()));
            }
            // Fails before any wait if the database cannot be written.
            if mode.is_write()
                && let Err(error) = database.check_writable()
            {
                return Ok(Err(error.into()));
            }
            let writer = call.lock_rules.writer.map(Resource::<storage::Writer>::new_borrow);
            let writer = writer.map(|writer| call.opened.get(&writer)).transpose()?;
            let turn = call.writer_turn.take_if(|_| lock.is_some());
            let timeout = storage::LockTimeout::new(call.storage.options().lock_wait);
            let begun =
                Call::in_turn(turn, timeout, |timeout| database.begin(mode, writer, timeout));
            Ok(match call.wait(begun)? {
                Ok(transaction) => {
                    let transaction = call.opened.push(transaction)?;
                    call.lock_rules.begun(lock.is_some());
                    Ok(transaction)
                }
                Err(error) => Err(error.into()),
            })
        })
    }

    fn drop(&mut self, connection: Resource<Connection>) -> Result<()> {
        self.opened.delete(connection)?;
        Ok(())
    }
}

impl HostTransaction for Call {
    fn query(
        &mut self,
        transaction: Resource<Transaction>,
        statement: Statement,
        max_rows: u32,
    ) -> Answer<Rows> {
        self.asked(|call| {
            let rows = call.opened.get(&transaction)?.query(&statement.into(), max_rows);
            Ok(rows.map(Rows::from).map_err(Error::from))
        })
    }

    fn execute(
        &mut self,
        transaction: Resource<Transaction>,
        statements: Vec<Statement>,
    ) -> Answer<Vec<Effect>> {
        self.asked(|call| {
            let statements: Vec<_> = statements.into_iter().map(storage::Statement::from).collect();
            let effects = call.opened.get(&transaction)?.execute(&statements);
            let effects = effects.map(|all| all.into_iter().map(Effect::from).collect());
            Ok(effects.map_err(Error::from))
        })
    }

    fn commit(&mut self, transaction: Resource<Transaction>) -> Answer<()> {
        self.asked(|call| Ok(call.opened.get(&transaction)?.commit().map_err(Error::from)))
    }

    fn drop(&mut self, transaction: Resource<Transaction>) -> Result<()> {
        // Dropping the transaction rolls it back. The time of the rollback does not count as the
        // component's own.
        self.asked(|call| {
            call.opened.delete(transaction)?;
            call.lock_rules.ended();
            Ok(())
        })
    }
}

impl From<Kind> for storage::DatabaseKind {
    fn from(kind: Kind) -> storage::DatabaseKind {
        match kind {
            Kind::Kept => storage::DatabaseKind::Kept,
            Kind::Derived => storage::DatabaseKind::Derived,
        }
    }
}

impl From<Statement> for storage::Statement {
    fn from(statement: Statement) -> storage::Statement {
        let parameters = statement.parameters.into_iter().map(storage::Value::from).collect();
        storage::Statement { sql: statement.sql, parameters }
    }
}

impl From<storage::Rows> for Rows {
    fn from(rows: storage::Rows) -> Rows {
        let row = |row: Vec<storage::Value>| row.into_iter().map(Value::from).collect();
        Rows {
            columns: rows.columns,
            rows: rows.rows.into_iter().map(row).collect(),
            truncated: rows.truncated,
        }
    }
}

impl From<storage::Effect> for Effect {
    fn from(effect: storage::Effect) -> Effect {
        Effect { changes: effect.changes }
    }
}

impl From<Value> for storage::Value {
    fn from(value: Value) -> storage::Value {
        match value {
            Value::Null => storage::Value::Null,
            Value::Integer(value) => storage::Value::Integer(value),
            Value::Real(value) => storage::Value::Real(value),
            Value::Text(value) => storage::Value::Text(value),
            Value::Blob(value) => storage::Value::Blob(value),
        }
    }
}

impl From<storage::Value> for Value {
    fn from(value: storage::Value) -> Value {
        match value {
            storage::Value::Null => Value::Null,
            storage::Value::Integer(value) => Value::Integer(value),
            storage::Value::Real(value) => Value::Real(value),
            storage::Value::Text(value) => Value::Text(value),
            storage::Value::Blob(value) => Value::Blob(value),
        }
    }
}
