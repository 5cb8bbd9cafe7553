//! The component: connects the bindings generated from `wit/` to the plain functions of this crate.
//! No other module uses the bindings.

use crate::context::{Context, EmbeddedText, Settings};
use crate::storage::{self, Documents, Storage, Tree, Writer, database as sql};
use crate::time::Timestamp;
use crate::toolbox;
use crate::zone::{Zone, ZoneChange};

#[allow(missing_docs, reason = "generated from `wit/`, which documents each item")]
mod bindings {
    wit_bindgen::generate!({
        path: ["../wit/storage", "../wit/toolbox"],
        world: "agent-memory:toolbox/memory",
        // Arguments for the host are borrowed, not copied.
        ownership: Borrowing { duplicate_if_necessary: true },
        generate_all,
    });
}

use bindings::agent_memory::storage::{database, documents, types};
use bindings::exports::agent_memory::toolbox::toolbox as exported;

struct Component;

bindings::export!(Component with_types_in bindings);

impl exported::Guest for Component {
    fn describe() -> String {
        toolbox::describe()
    }

    fn call_tool(
        name: String,
        arguments: String,
        context: exported::Context,
    ) -> Result<exported::Outcome, exported::Failure> {
        let context = self::context(context)?;
        toolbox::call_tool(&HostStorage, &name, &arguments, &context).map(outcome).map_err(failure)
    }

    fn read_resource(
        uri: String,
        context: exported::Context,
    ) -> Result<exported::Outcome, exported::Failure> {
        let context = self::context(context)?;
        toolbox::read_resource(&HostStorage, &uri, &context).map(outcome).map_err(failure)
    }

    fn get_prompt(
        name: String,
        arguments: String,
        context: exported::Context,
    ) -> Result<exported::Outcome, exported::Failure> {
        let context = self::context(context)?;
        toolbox::get_prompt(&HostStorage, &name, &arguments, &context).map(outcome).map_err(failure)
    }

    fn complete(
        reference: exported::Reference,
        argument: String,
        value: String,
        others: String,
        context: exported::Context,
    ) -> Result<exported::Outcome, exported::Failure> {
        let context = self::context(context)?;
        let reference = match &reference {
            exported::Reference::Prompt(name) => toolbox::Reference::Prompt(name),
            exported::Reference::ResourceTemplate(uri) => toolbox::Reference::ResourceTemplate(uri),
        };
        toolbox::complete(&HostStorage, reference, &argument, &value, &others, &context)
            .map(outcome)
            .map_err(failure)
    }

    fn pending(context: exported::Context) -> Result<exported::Outcome, exported::Failure> {
        let context = self::context(context)?;
        toolbox::pending(&HostStorage, &context).map(outcome).map_err(failure)
    }

    fn claim(
        id: String,
        lease_seconds: u32,
        context: exported::Context,
    ) -> Result<exported::Outcome, exported::Failure> {
        let context = self::context(context)?;
        toolbox::claim(&HostStorage, &id, lease_seconds, &context).map(outcome).map_err(failure)
    }

    fn answer(
        id: String,
        payload: String,
        context: exported::Context,
    ) -> Result<exported::Outcome, exported::Failure> {
        let context = self::context(context)?;
        toolbox::answer(&HostStorage, &id, &payload, &context).map(outcome).map_err(failure)
    }

    fn parse_registry(text: String) -> Result<String, exported::Failure> {
        toolbox::parse_registry(&text).map_err(failure)
    }

    fn edit_registry(text: String, change: String) -> Result<String, exported::Failure> {
        toolbox::edit_registry(&text, &change).map_err(failure)
    }
}

fn context(given: exported::Context) -> Result<Context, exported::Failure> {
    let invalid =
        |message| exported::Failure { code: exported::FailureCode::InvalidRequest, message };
    let own = given.settings.of_toolsets.into_iter().map(|own| {
        let values = serde_json::from_str(&own.values).map_err(|error| {
            invalid(format!("the settings of `{}` cannot be read: {error}", own.toolset))
        })?;
        Ok((own.toolset, values))
    });
    let own = own.collect::<Result<_, exported::Failure>>()?;
    Ok(Context {
        settings: Settings { toolsets: given.settings.toolsets, own },
        now: Timestamp::from_milliseconds(given.now).ok_or_else(|| {
            invalid(format!("`now` is `{}`: it has to be in the years 0000 to 9999", given.now))
        })?,
        zone: zone(given.zone),
        agents: given.agents,
        stores: given.stores,
        models: given.models,
        embedder: given.embedder,
        vector: given.vector.map(|of| EmbeddedText { text: of.text, vector: of.vector }),
        seed: given.seed,
    })
}

fn zone(given: exported::Zone) -> Zone {
    let change = |change: exported::ZoneChange| ZoneChange {
        at: change.at,
        offset_minutes: change.offset_minutes,
    };
    Zone {
        offset_minutes: given.offset_minutes,
        changes: given.changes.into_iter().map(change).collect(),
    }
}

fn outcome(outcome: toolbox::Outcome) -> exported::Outcome {
    exported::Outcome {
        answer: outcome.answer.map_err(refusal),
        changed: outcome.changed,
        follow_ups: outcome.follow_ups.into_iter().map(follow_up).collect(),
        wants_vector: outcome.wants_vector.map(wanted_vector),
    }
}

fn wanted_vector(wanted: toolbox::WantedVector) -> exported::WantedVector {
    let toolbox::WantedVector { model, text, deadline_ms } = wanted;
    exported::WantedVector { model, text, deadline_ms }
}

fn follow_up(follow_up: toolbox::FollowUp) -> exported::FollowUp {
    let toolbox::FollowUp { id, kind, payload } = follow_up;
    exported::FollowUp { id, kind: kind.to_owned(), payload }
}

fn refusal(refusal: toolbox::Refusal) -> exported::Refusal {
    use exported::Category as To;
    use toolbox::Category as From;
    let category = match refusal.category {
        From::Invalid => To::Invalid,
        From::NotFound => To::NotFound,
        From::Limit => To::Limit,
        From::Damaged => To::Damaged,
        From::Busy => To::Busy,
        From::Denied => To::Denied,
        From::Storage => To::Storage,
        From::Internal => To::Internal,
    };
    let toolbox::Refusal { code, message, json, .. } = refusal;
    exported::Refusal { category, code, message, json }
}

fn failure(failure: toolbox::Failure) -> exported::Failure {
    let code = match failure.code {
        toolbox::FailureCode::InvalidRequest => exported::FailureCode::InvalidRequest,
        toolbox::FailureCode::NotFound => exported::FailureCode::NotFound,
    };
    exported::Failure { code, message: failure.message }
}

/// The storage that the component imports from its host.
struct HostStorage;

impl Storage for HostStorage {
    fn open(&self, place: &storage::Place) -> Result<Box<dyn Tree + '_>, storage::Error> {
        documents::open(self::place(place))
            .map(|tree| Box::new(tree) as Box<dyn Tree>)
            .map_err(error)
    }

    fn list_repositories(&self) -> Result<Vec<String>, storage::Error> {
        documents::list_places(types::PlaceKind::Repository).map_err(error)
    }

    fn list_places(&self, label: &str) -> Result<Vec<String>, storage::Error> {
        documents::list_places(types::PlaceKind::Named(label)).map_err(error)
    }

    fn create_place(&self, place: &storage::Place) -> Result<Box<dyn Tree + '_>, storage::Error> {
        documents::create_place(self::place(place))
            .map(|tree| Box::new(tree) as Box<dyn Tree>)
            .map_err(error)
    }

    fn open_database(
        &self,
        place: &storage::Place,
        name: &str,
        kind: sql::Kind,
        create: bool,
    ) -> Result<Box<dyn sql::Connection + '_>, storage::Error> {
        let of_host = match kind {
            sql::Kind::Kept => database::Kind::Kept,
            sql::Kind::Derived => database::Kind::Derived,
        };
        let handle = database::open(self::place(place), name, of_host, create).map_err(error)?;
        let dialect = dialect(handle.dialect());
        Ok(Box::new(HostDatabase { handle, dialect }))
    }
}

/// A connection or a transaction of the host.
struct HostDatabase<T> {
    handle: T,
    dialect: sql::Dialect,
}

fn dialect(dialect: database::Dialect) -> sql::Dialect {
    match dialect {
        database::Dialect::Sqlite => sql::Dialect::Sqlite,
        database::Dialect::Postgres => sql::Dialect::Postgres,
    }
}

impl sql::Connection for HostDatabase<database::Connection> {
    fn dialect(&self) -> sql::Dialect {
        self.dialect
    }

    fn query(&self, statement: &sql::Statement, max: u32) -> Result<sql::Rows, storage::Error> {
        let parameters = parameters(statement);
        self.handle.query(borrowed(statement, &parameters), max).map(rows).map_err(error)
    }

    fn begin(&self, mode: sql::Mode<'_>) -> Result<Box<dyn sql::Transaction + '_>, storage::Error> {
        let mode = match mode {
            sql::Mode::Read => database::Mode::Read,
            sql::Mode::Write(scope) => database::Mode::Write(scope),
        };
        let handle = self.handle.begin(mode).map_err(error)?;
        Ok(Box::new(HostDatabase { handle, dialect: self.dialect }))
    }
}

impl sql::Transaction for HostDatabase<database::Transaction> {
    fn dialect(&self) -> sql::Dialect {
        self.dialect
    }

    fn query(&self, statement: &sql::Statement, max: u32) -> Result<sql::Rows, storage::Error> {
        let parameters = parameters(statement);
        self.handle.query(borrowed(statement, &parameters), max).map(rows).map_err(error)
    }

    fn execute(&self, statements: &[sql::Statement]) -> Result<Vec<sql::Effect>, storage::Error> {
        let parameters: Vec<_> = statements.iter().map(parameters).collect();
        let with = statements.iter().zip(&parameters);
        let statements: Vec<_> = with.map(|(statement, with)| borrowed(statement, with)).collect();
        let effects = self.handle.execute(&statements).map_err(error)?;
        let effect = |effect: database::Effect| sql::Effect { changes: effect.changes };
        Ok(effects.into_iter().map(effect).collect())
    }

    fn commit(&self) -> Result<(), storage::Error> {
        self.handle.commit().map_err(error)
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

fn borrowed<'a>(
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

impl Documents for documents::Tree {
    fn stat(
        &self,
        area: storage::Area,
        path: &str,
    ) -> Result<Option<storage::Status>, storage::Error> {
        Ok(Self::stat(self, self::area(area), path).map_err(error)?.map(status))
    }

    fn read(
        &self,
        area: storage::Area,
        path: &str,
        max_bytes: u64,
    ) -> Result<Option<storage::Document>, storage::Error> {
        let document = Self::read(self, self::area(area), path, max_bytes).map_err(error)?;
        Ok(document.map(|document| storage::Document {
            contents: document.contents,
            version: document.version,
        }))
    }

    fn list(
        &self,
        area: storage::Area,
        directory: &str,
    ) -> Result<Option<Vec<storage::Entry>>, storage::Error> {
        let entries = Self::list(self, self::area(area), directory).map_err(error)?;
        Ok(entries.map(|entries| entries.into_iter().map(entry).collect()))
    }
}

impl Tree for documents::Tree {
    fn location(&self) -> String {
        Self::location(self)
    }

    fn has_atomic_commits(&self) -> bool {
        Self::has_atomic_commits(self)
    }

    fn lock(&self, scope: Option<&str>) -> Result<Box<dyn Writer + '_>, storage::Error> {
        Self::lock(self, scope).map(|writer| Box::new(writer) as Box<dyn Writer>).map_err(error)
    }
}

impl Writer for documents::Writer {
    fn commit(
        &self,
        changes: &[storage::Change],
    ) -> Result<Vec<Option<String>>, storage::CommitError> {
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

fn place(place: &storage::Place) -> types::Place<'_> {
    match place {
        storage::Place::Repository(path) => types::Place::Repository(path),
        storage::Place::Named { label, name } => {
            types::Place::Named(types::NamedPlace { label, name })
        }
    }
}

fn area(area: storage::Area) -> documents::Area {
    match area {
        storage::Area::Documents => documents::Area::Documents,
        storage::Area::Bookkeeping => documents::Area::Bookkeeping,
    }
}

fn entry(entry: documents::Entry) -> storage::Entry {
    storage::Entry { name: entry.name, status: status(entry.status) }
}

fn status(status: documents::Status) -> storage::Status {
    let kind = match status.kind {
        documents::EntryKind::File => storage::EntryKind::File,
        documents::EntryKind::Directory => storage::EntryKind::Directory,
        documents::EntryKind::Other => storage::EntryKind::Other,
    };
    storage::Status { kind, size: status.size, stamp: status.stamp }
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
        storage::Change::Put { area: of, path, contents, expects } => {
            documents::Change::Put(documents::Put {
                area: area(*of),
                path,
                contents,
                expects: expects.as_deref(),
            })
        }
        storage::Change::Edit { area: of, path, splices: _, expects } => {
            documents::Change::Edit(documents::Edit { area: area(*of), path, splices, expects })
        }
        storage::Change::Delete { area: of, path, expects } => {
            documents::Change::Delete(documents::Delete { area: area(*of), path, expects })
        }
        storage::Change::Copy { area: of, from, to, expects } => {
            documents::Change::Copy(documents::Backup { area: area(*of), from, to, expects })
        }
        storage::Change::Rename { area: of, from, to, expects } => {
            documents::Change::Rename(documents::Rename { area: area(*of), from, to, expects })
        }
    }
}

fn error(error: types::Error) -> storage::Error {
    macro_rules! same_name {
        ($($name:ident)+) => {
            match error.code {
                $(types::ErrorCode::$name => storage::ErrorCode::$name,)+
            }
        };
    }
    let code = storage::with_error_codes!(same_name!());
    storage::Error { code, message: error.message, detail: error.detail }
}
