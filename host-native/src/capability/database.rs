//! Databases, of which this host grants none yet.

use super::imports::database::{
    Connection, Dialect, Effect, Host, HostConnection, HostTransaction, Rows, Statement,
    Transaction, TransactionMode,
};
use super::imports::storage_types::{Error, ErrorCode};
use crate::engine::Call;
use wasmtime::component::Resource;
use wasmtime::{Result, bail};

impl Host for Call {
    fn open(
        &mut self,
        name: String,
        _create: bool,
    ) -> Result<std::result::Result<Resource<Connection>, Error>> {
        self.asked(|_| {
            Ok(Err(Error {
                code: ErrorCode::NotGranted,
                message: format!("the database `{name}` is not granted: this host keeps none"),
                detail: None,
            }))
        })
    }
}

// Nobody has a connection, so that nobody can call these.

impl HostConnection for Call {
    fn dialect(&mut self, _: Resource<Connection>) -> Result<Dialect> {
        bail!("there is no connection")
    }

    fn query(
        &mut self,
        _: Resource<Connection>,
        _: Statement,
        _: u32,
    ) -> Result<std::result::Result<Rows, Error>> {
        bail!("there is no connection")
    }

    fn begin(
        &mut self,
        _: Resource<Connection>,
        _: TransactionMode,
    ) -> Result<std::result::Result<Resource<Transaction>, Error>> {
        bail!("there is no connection")
    }

    fn drop(&mut self, _: Resource<Connection>) -> Result<()> {
        bail!("there is no connection")
    }
}

impl HostTransaction for Call {
    fn query(
        &mut self,
        _: Resource<Transaction>,
        _: Statement,
        _: u32,
    ) -> Result<std::result::Result<Rows, Error>> {
        bail!("there is no transaction")
    }

    fn execute(
        &mut self,
        _: Resource<Transaction>,
        _: Vec<Statement>,
    ) -> Result<std::result::Result<Vec<Effect>, Error>> {
        bail!("there is no transaction")
    }

    fn commit(&mut self, _: Resource<Transaction>) -> Result<std::result::Result<(), Error>> {
        bail!("there is no transaction")
    }

    fn drop(&mut self, _: Resource<Transaction>) -> Result<()> {
        bail!("there is no transaction")
    }
}
