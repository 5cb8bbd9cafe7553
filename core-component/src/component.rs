//! The component: joins the bindings of `wit/` to the plain functions of this crate. Nothing else
//! here knows them.

use talc::cell::TalcSyncCell;
use talc::wasm::WasmBinning;

use crate::allocator::SizeClasses;
use crate::pages::Pages;
use crate::storage::{self, Storage, Tree, Writer, database as sql};
use crate::toolbox;

#[allow(missing_docs, reason = "generated from `wit/`, which documents each item")]
mod bindings {
    wit_bindgen::generate!({
        path: "../wit",
        world: "memory",
        // What is handed to the host is not copied for it.
        ownership: Borrowing { duplicate_if_necessary: true },
    });
}

use bindings::agent_memory::core::{database, documents, storage_types};
use bindings::exports::agent_memory::core::toolbox as exported;

#[global_allocator]
static ALLOCATOR: SizeClasses<TalcSyncCell<Pages, WasmBinning>> =
    SizeClasses::over(TalcSyncCell::new_wasm(Pages::Untouched));

struct Component;

bindings::export!(Component with_types_in bindings);

impl exported::Guest for Component {
    fn list_tools(settings: String) -> Result<String, exported::Failure> {
        toolbox::list_tools(&settings).map_err(failure)
    }

    fn call_tool(
        name: String,
        arguments: String,
        context: String,
    ) -> Result<exported::Outcome, exported::Failure> {
        toolbox::call_tool(&Granted, &name, &arguments, &context).map(outcome).map_err(failure)
    }

    fn list_resources(context: String) -> Result<String, exported::Failure> {
        toolbox::list_resources(&context).map_err(failure)
    }

    fn list_resource_templates(context: String) -> Result<String, exported::Failure> {
        toolbox::list_resource_templates(&context).map_err(failure)
    }

    fn read_resource(uri: String, context: String) -> Result<exported::Outcome, exported::Failure> {
        toolbox::read_resource(&Granted, &uri, &context).map(outcome).map_err(failure)
    }

    fn list_prompts(context: String) -> Result<String, exported::Failure> {
        toolbox::list_nothing(&context).map_err(failure)
    }

    fn get_prompt(
        name: String,
        _arguments: String,
        _context: String,
    ) -> Result<String, exported::Failure> {
        Err(nothing("prompt", &name))
    }

    fn complete(
        reference: String,
        _argument: String,
        _context: String,
    ) -> Result<String, exported::Failure> {
        Err(nothing("prompt or resource template", &reference))
    }

    fn pending(context: String) -> Result<Vec<exported::FollowUp>, exported::Failure> {
        toolbox::list_nothing(&context).map(|_| Vec::new()).map_err(failure)
    }

    fn answer(
        id: String,
        _payload: String,
        _context: String,
    ) -> Result<exported::Outcome, exported::Failure> {
        Err(nothing("follow-up", &id))
    }

    fn parse_registry(_text: String) -> Result<String, exported::Failure> {
        Err(nothing("toolset", "stores"))
    }

    fn edit_registry(_text: String, _change: String) -> Result<String, exported::Failure> {
        Err(nothing("toolset", "stores"))
    }
}

fn outcome(outcome: toolbox::Outcome) -> exported::Outcome {
    exported::Outcome {
        result: outcome.result,
        is_error: outcome.is_error,
        changed: outcome.changed,
        follow_ups: Vec::new(),
    }
}

fn failure(failure: toolbox::Failure) -> exported::Failure {
    let code = match failure.code {
        toolbox::FailureCode::InvalidRequest => exported::FailureCode::InvalidRequest,
        toolbox::FailureCode::NotFound => exported::FailureCode::NotFound,
    };
    exported::Failure { code, message: failure.message }
}

fn nothing(what: &str, name: &str) -> exported::Failure {
    let message = format!("no {what} `{name}` is mounted");
    exported::Failure { code: exported::FailureCode::NotFound, message }
}

/// The storage that this component's host lends.
struct Granted;

impl Storage for Granted {
    fn open(&self, place: &storage::Place) -> Result<Box<dyn Tree + '_>, storage::Error> {
        let place = documents::Place { kind: place_kind(place.kind), name: &place.name };
        documents::open(place).map(|tree| Box::new(tree) as Box<dyn Tree>).map_err(error)
    }

    fn open_database(
        &self,
        name: &str,
        create: bool,
    ) -> Result<Box<dyn sql::Connection + '_>, storage::Error> {
        database::open(name, create)
            .map(|connection| Box::new(connection) as Box<dyn sql::Connection>)
            .map_err(error)
    }
}

impl sql::Connection for database::Connection {
    fn query(&self, statement: &sql::Statement, max: u32) -> Result<sql::Rows, storage::Error> {
        let parameters = parameters(statement);
        Self::query(self, lent(statement, &parameters), max).map(rows).map_err(error)
    }

    fn begin(&self, mode: sql::Mode) -> Result<Box<dyn sql::Transaction + '_>, storage::Error> {
        let mode = match mode {
            sql::Mode::Read => database::TransactionMode::Read,
            sql::Mode::Write => database::TransactionMode::Write,
        };
        Self::begin(self, mode)
            .map(|transaction| Box::new(transaction) as Box<dyn sql::Transaction>)
            .map_err(error)
    }
}

impl sql::Transaction for database::Transaction {
    fn query(&self, statement: &sql::Statement, max: u32) -> Result<sql::Rows, storage::Error> {
        let parameters = parameters(statement);
        Self::query(self, lent(statement, &parameters), max).map(rows).map_err(error)
    }

    fn execute(&self, statements: &[sql::Statement]) -> Result<Vec<sql::Effect>, storage::Error> {
        let parameters: Vec<_> = statements.iter().map(parameters).collect();
        let with = statements.iter().zip(&parameters);
        let statements: Vec<_> = with.map(|(statement, with)| lent(statement, with)).collect();
        let effects = Self::execute(self, &statements).map_err(error)?;
        let effect = |effect: database::Effect| sql::Effect {
            changes: effect.changes,
            last_insert_id: effect.last_insert_id,
        };
        Ok(effects.into_iter().map(effect).collect())
    }

    fn commit(&self) -> Result<(), storage::Error> {
        Self::commit(self).map_err(error)
    }
}

fn parameters(statement: &sql::Statement) -> Vec<database::ValueParam<'_>> {
    let parameter = |value| match value {
        &sql::Value::Null => database::ValueParam::Null,
        &sql::Value::Integer(value) => database::ValueParam::Integer(value),
        &sql::Value::Real(value) => database::ValueParam::Real(value),
        sql::Value::Text(value) => database::ValueParam::Text(value),
        sql::Value::Blob(value) => database::ValueParam::Blob(value),
    };
    statement.parameters.iter().map(parameter).collect()
}

fn lent<'a>(
    statement: &'a sql::Statement,
    parameters: &'a [database::ValueParam<'a>],
) -> database::Statement<'a> {
    database::Statement { sql: &statement.sql, parameters }
}

fn rows(rows: database::Rows) -> sql::Rows {
    let value = |value| match value {
        database::ValueResult::Null => sql::Value::Null,
        database::ValueResult::Integer(value) => sql::Value::Integer(value),
        database::ValueResult::Real(value) => sql::Value::Real(value),
        database::ValueResult::Text(value) => sql::Value::Text(value),
        database::ValueResult::Blob(value) => sql::Value::Blob(value),
    };
    let row = |row: Vec<database::ValueResult>| row.into_iter().map(value).collect();
    sql::Rows {
        columns: rows.columns,
        rows: rows.rows.into_iter().map(row).collect(),
        truncated: rows.truncated,
    }
}

impl Tree for documents::Tree {
    fn read(
        &self,
        side: storage::Side,
        path: &str,
        max_bytes: u64,
    ) -> Result<Option<storage::Document>, storage::Error> {
        let document = Self::read(self, self::side(side), path, max_bytes).map_err(error)?;
        Ok(document.map(|document| storage::Document {
            contents: document.contents,
            version: document.version,
        }))
    }

    fn list(
        &self,
        side: storage::Side,
        directory: &str,
    ) -> Result<Option<Vec<storage::Entry>>, storage::Error> {
        let entries = Self::list(self, self::side(side), directory).map_err(error)?;
        Ok(entries.map(|entries| entries.into_iter().map(entry).collect()))
    }

    fn lock(&self) -> Result<Box<dyn Writer + '_>, storage::Error> {
        Self::lock(self).map(|writer| Box::new(writer) as Box<dyn Writer>).map_err(error)
    }
}

impl Writer for documents::Writer {
    fn commit(&self, changes: &[storage::Change]) -> Result<Vec<String>, storage::CommitError> {
        let splices: Vec<_> = changes.iter().map(splices).collect();
        let changes: Vec<_> =
            changes.iter().zip(&splices).map(|(of, splices)| change(of, splices)).collect();
        Self::commit(self, &changes).map_err(|failed| storage::CommitError {
            error: error(failed.error),
            change: failed.change,
            applied: failed.applied,
        })
    }
}

fn place_kind(kind: storage::PlaceKind) -> documents::PlaceKind {
    match kind {
        storage::PlaceKind::Repository => documents::PlaceKind::Repository,
        storage::PlaceKind::Records => documents::PlaceKind::Records,
        storage::PlaceKind::Store => documents::PlaceKind::Store,
        storage::PlaceKind::Data => documents::PlaceKind::Data,
    }
}

fn side(side: storage::Side) -> documents::Side {
    match side {
        storage::Side::Documents => documents::Side::Documents,
        storage::Side::Bookkeeping => documents::Side::Bookkeeping,
    }
}

fn entry(entry: documents::Entry) -> storage::Entry {
    let kind = match entry.kind {
        documents::EntryKind::File => storage::EntryKind::File,
        documents::EntryKind::Directory => storage::EntryKind::Directory,
        documents::EntryKind::Other => storage::EntryKind::Other,
    };
    storage::Entry { name: entry.name, kind, size: entry.size }
}

fn splices(change: &storage::Change) -> Vec<documents::Splice<'_>> {
    let storage::Change::Edit { splices, .. } = change else { return Vec::new() };
    splices.iter().map(splice).collect()
}

fn splice(splice: &storage::Splice) -> documents::Splice<'_> {
    documents::Splice {
        at: splice.range.start as u64,
        removes: splice.range.len() as u64,
        inserts: &splice.inserts,
    }
}

fn change<'a>(
    change: &'a storage::Change,
    splices: &'a [documents::Splice<'a>],
) -> documents::Change<'a> {
    match change {
        storage::Change::Put { side: on, path, contents, expects } => {
            documents::Change::Put(documents::Put {
                side: side(*on),
                path,
                contents,
                expects: expects.as_deref(),
            })
        }
        storage::Change::Edit { side: on, path, splices: _, expects } => {
            documents::Change::Edit(documents::Edit { side: side(*on), path, splices, expects })
        }
        storage::Change::Delete { side: on, path, expects } => {
            documents::Change::Delete(documents::Delete { side: side(*on), path, expects })
        }
        storage::Change::Copy { side: on, from, to, expects } => {
            documents::Change::Copy(documents::Backup { side: side(*on), from, to, expects })
        }
    }
}

fn error(error: storage_types::Error) -> storage::Error {
    use storage::ErrorCode as To;
    use storage_types::ErrorCode as From;
    let code = match error.code {
        From::NotFound => To::NotFound,
        From::AlreadyExists => To::AlreadyExists,
        From::VersionMismatch => To::VersionMismatch,
        From::NotGranted => To::NotGranted,
        From::NoSpace => To::NoSpace,
        From::ReadOnly => To::ReadOnly,
        From::Permission => To::Permission,
        From::TooLarge => To::TooLarge,
        From::InvalidPath => To::InvalidPath,
        From::Busy => To::Busy,
        From::Nested => To::Nested,
        From::Cancelled => To::Cancelled,
        From::Corrupted => To::Corrupted,
        From::Io => To::Io,
    };
    storage::Error { code, message: error.message, detail: error.detail }
}
