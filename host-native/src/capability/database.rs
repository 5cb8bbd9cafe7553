//! Databases, lent to a call.

use super::Answer;
use super::documents::nested;
use super::imports::database::{
    Connection, Dialect, Effect, Host, HostConnection, HostTransaction, Rows, Statement,
    Transaction, TransactionMode, Value,
};
use super::imports::storage_types::Error;
use crate::engine::Call;
use crate::storage;
use wasmtime::Result;
use wasmtime::component::Resource;

impl Host for Call {
    fn open(&mut self, name: String, create: bool) -> Answer<Resource<Connection>> {
        self.asked(|call| {
            Ok(match call.database(&name, create) {
                Ok(database) => Ok(call.opened.push(database)?),
                Err(error) => Err(error.into()),
            })
        })
    }
}

impl Call {
    /// The database of this name: the same connection for the whole of the call.
    fn database(
        &mut self,
        name: &str,
        create: bool,
    ) -> std::result::Result<storage::Database, storage::Error> {
        if let Some(open) = self.databases.get(name) {
            return Ok(open);
        }
        let database = self.storage.open_database(name, create)?;
        self.databases.put(name.to_owned(), database.clone());
        Ok(database)
    }
}

impl HostConnection for Call {
    fn dialect(&mut self, _: Resource<Connection>) -> Result<Dialect> {
        self.asked(|_| Ok(Dialect::Sqlite))
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
        mode: TransactionMode,
    ) -> Answer<Resource<Transaction>> {
        self.asked(|call| {
            if call.transacts {
                let message = "the call has a transaction already: a call takes one at a time";
                return Ok(Err(nested(message)));
            }
            let database = call.opened.get(&connection)?;
            // Who cannot write learns it at once.
            if mode == TransactionMode::Write
                && let Err(error) = database.check_writable()
            {
                return Ok(Err(error.into()));
            }
            let place = call.writer_place.take_if(|_| mode == TransactionMode::Write);
            let writer = call.writer.map(Resource::<storage::Writer>::new_borrow);
            let writer = writer.map(|writer| call.opened.get(&writer)).transpose()?;
            let patience = storage::Patience::new(call.storage.options().lock_wait);
            let begun = match (mode, writer) {
                (TransactionMode::Read, _) => {
                    call.wait(database.begin(storage::Mode::Read, patience))
                }
                (TransactionMode::Write, Some(writer)) => {
                    call.wait(database.begin_with(writer, patience))
                }
                (TransactionMode::Write, None) => {
                    call.wait(Call::in_turn(place, patience, |patience| {
                        database.begin(storage::Mode::Write, patience)
                    }))
                }
            };
            Ok(match begun? {
                Ok(transaction) => {
                    let transaction = call.opened.push(transaction)?;
                    call.transacts = true;
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
        self.asked(|call| {
            call.has_committed = true;
            Ok(call.opened.get(&transaction)?.commit().map_err(Error::from))
        })
    }

    fn drop(&mut self, transaction: Resource<Transaction>) -> Result<()> {
        // A rollback is the host's work.
        self.asked(|call| {
            call.opened.delete(transaction)?;
            call.transacts = false;
            Ok(())
        })
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
        Effect { changes: effect.changes, last_insert_id: effect.last_insert_id }
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
