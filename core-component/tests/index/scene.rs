//! Storage for the tests of the index.

use std::cell::Cell;

use agent_memory_core::storage::database::{
    Connection, Effect, Kind, Mode, Rows, Statement, Transaction,
};
use agent_memory_core::storage::{
    Area, Document, Documents, Entry, Error, ErrorCode, Place, Status, Storage, Tree, Writer,
};
use agent_memory_core::toolbox;
use agent_memory_storage_memory::InMemoryStorage;
use serde_json::{Value, json};

use super::texts::{Random, memory_text, path, text};

const DATABASE: &str = "search.db";

/// Storage in memory that counts the documents that a call reads, and whose derived databases and
/// stamps a test can change.
pub struct Scene {
    pub memory: InMemoryStorage,
    place: Place,
    /// Whether the place is a store. Otherwise it is a repository.
    is_store: bool,
    pub reads: Cell<usize>,
    /// The number of operations on derived databases in the call. `fails` has the number of the
    /// operation that fails, and its error.
    pub operations: Cell<usize>,
    pub fails: Cell<Option<(usize, ErrorCode)>>,
    has_derived: bool,
    /// Computes the stamp of a file. If not set, the stamp is a hash of the contents.
    stamp: Option<fn(&Status) -> String>,
}

impl Scene {
    pub fn new(is_store: bool) -> Self {
        let memory = InMemoryStorage::new();
        let place =
            if is_store { Place::in_group("stores", "notes") } else { Place::repository("/repo") };
        memory.grant_family("stores");
        memory.grant(place.clone());
        let reads = Cell::new(0);
        let operations = Cell::new(0);
        let fails = Cell::new(None);
        Self { memory, place, is_store, reads, operations, fails, has_derived: true, stamp: None }
    }

    pub fn with(is_store: bool, documents: usize) -> Self {
        let scene = Self::new(is_store);
        let mut random = Random(documents as u64);
        (0..documents).for_each(|number| scene.put(&scene.path(number), &scene.text(&mut random)));
        scene
    }

    /// A repository with this number of logs.
    pub fn with_logs(logs: usize) -> Self {
        Self::with(false, logs)
    }

    /// A repository and a store, each with this number of documents.
    pub fn both(documents: usize) -> [Self; 2] {
        [false, true].map(|is_store| Self::with(is_store, documents))
    }

    /// The same scene, in which `stamp` computes the stamp of each file.
    pub fn with_stamp(self, stamp: fn(&Status) -> String) -> Self {
        Self { stamp: Some(stamp), ..self }
    }

    pub fn path(&self, number: usize) -> String {
        if self.is_store {
            format!("topic-{}/deep/note-{number}.md", number % 3)
        } else {
            path(number)
        }
    }

    pub fn text(&self, random: &mut Random) -> String {
        if self.is_store { memory_text(random) } else { text(random) }
    }

    pub fn put(&self, path: &str, contents: &str) {
        self.memory.put(&self.place, Area::Documents, path, contents);
    }

    pub fn remove(&self, path: &str) {
        self.memory.remove(&self.place, Area::Documents, path);
    }

    /// A scene with the same documents and without derived databases: a search reads all documents.
    pub fn direct(&self) -> Self {
        let direct = Self { has_derived: false, ..Self::new(self.is_store) };
        for (path, contents) in self.memory.documents(&self.place, Area::Documents) {
            direct.memory.put(&self.place, Area::Documents, &path, contents);
        }
        direct
    }

    pub fn search(&self, arguments: &Value) -> Value {
        self.call("search_memory", arguments)
    }

    pub fn call(&self, tool: &str, arguments: &Value) -> Value {
        let toolset = if self.is_store { "stores" } else { "sessions" };
        let context = json!({
            "settings": {"toolsets": [toolset, "memory"]}, "now": "2026-01-01T10:00:00.000Z",
            "zone": {"offset_minutes": 60}, "seed": 1,
        });
        let context = serde_json::from_value(context).expect("a context");
        self.memory.begin_call();
        self.reads.set(0);
        self.operations.set(0);
        let outcome = toolbox::call_tool(self, tool, &arguments.to_string(), &context);
        serde_json::from_str(outcome.expect("an outcome").json()).expect("JSON")
    }

    /// Searches, and checks that the answer is the same without an index.
    pub fn check(&self, query: &str, what: &str) -> Value {
        let arguments = json!({"query": query});
        let answer = self.search(&arguments);
        assert_eq!(answer, self.direct().search(&arguments), "{what}: {query}");
        answer
    }

    /// Searches until everything is indexed.
    pub fn indexed(self) -> Self {
        (0..3).for_each(|_| drop(self.check("kite", "indexing")));
        let reads = self.reads.get();
        assert!(reads <= 10, "{reads}: the summaries of two agents, and a log for each hit");
        self
    }

    pub fn rows(&self, sql: &str) -> Result<Vec<Vec<Value>>, String> {
        self.memory.query_derived_sql(&self.place, DATABASE, sql)
    }

    pub fn run(&self, sql: &str) {
        self.memory.run_derived_sql(&self.place, DATABASE, &[sql]);
    }

    fn operate(&self) -> Result<(), Error> {
        let operation = self.operations.replace(self.operations.get() + 1);
        match self.fails.get() {
            Some((at, code)) if at == operation => Err(Error::new(code, "a fault")),
            _ => Ok(()),
        }
    }

    fn status(&self, status: Status) -> Status {
        match self.stamp {
            Some(stamp) if !status.stamp.is_empty() => Status { stamp: stamp(&status), ..status },
            _ => status,
        }
    }
}

impl Storage for Scene {
    fn open(&self, place: &Place) -> Result<Box<dyn Tree + '_>, Error> {
        Ok(Box::new(SceneTree { tree: self.memory.open(place)?, scene: self }))
    }

    fn list_repositories(&self) -> Result<Vec<String>, Error> {
        self.memory.list_repositories()
    }

    fn list_places(&self, label: &str) -> Result<Vec<String>, Error> {
        self.memory.list_places(label)
    }

    fn create_place(&self, place: &Place) -> Result<Box<dyn Tree + '_>, Error> {
        self.memory.create_place(place)
    }

    fn open_database(
        &self,
        place: &Place,
        name: &str,
        kind: Kind,
        create: bool,
    ) -> Result<Box<dyn Connection + '_>, Error> {
        assert_eq!(kind, Kind::Derived);
        if !self.has_derived {
            return Err(Error::new(ErrorCode::NotGranted, "this host has no databases"));
        }
        self.operate()?;
        let connection = self.memory.open_database(place, name, kind, create)?;
        Ok(Box::new(SceneConnection { connection, scene: self }))
    }
}

struct SceneTree<'a> {
    tree: Box<dyn Tree + 'a>,
    scene: &'a Scene,
}

impl Documents for SceneTree<'_> {
    fn stat(&self, area: Area, path: &str) -> Result<Option<Status>, Error> {
        Ok(self.tree.stat(area, path)?.map(|status| self.scene.status(status)))
    }

    fn read(&self, area: Area, path: &str, max_bytes: u64) -> Result<Option<Document>, Error> {
        self.scene.reads.set(self.scene.reads.get() + 1);
        self.tree.read(area, path, max_bytes)
    }

    fn list(&self, area: Area, directory: &str) -> Result<Option<Vec<Entry>>, Error> {
        let status = |Entry { name, status }| Entry { name, status: self.scene.status(status) };
        let entries = self.tree.list(area, directory)?;
        Ok(entries.map(|entries| entries.into_iter().map(status).collect()))
    }
}

impl Tree for SceneTree<'_> {
    fn location(&self) -> String {
        self.tree.location()
    }

    fn lock(&self, scope: Option<&str>) -> Result<Box<dyn Writer + '_>, Error> {
        self.tree.lock(scope)
    }
}

struct SceneConnection<'a> {
    connection: Box<dyn Connection + 'a>,
    scene: &'a Scene,
}

impl Connection for SceneConnection<'_> {
    fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        self.scene.operate()?;
        self.connection.query(statement, max_rows)
    }

    fn begin(&self, mode: Mode<'_>) -> Result<Box<dyn Transaction + '_>, Error> {
        self.scene.operate()?;
        let transaction = self.connection.begin(mode)?;
        Ok(Box::new(SceneTransaction { transaction, scene: self.scene }))
    }
}

struct SceneTransaction<'a> {
    transaction: Box<dyn Transaction + 'a>,
    scene: &'a Scene,
}

impl Transaction for SceneTransaction<'_> {
    fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        self.scene.operate()?;
        self.transaction.query(statement, max_rows)
    }

    fn execute(&self, statements: &[Statement]) -> Result<Vec<Effect>, Error> {
        self.scene.operate()?;
        self.transaction.execute(statements)
    }

    fn commit(&self) -> Result<(), Error> {
        self.scene.operate()?;
        self.transaction.commit()
    }
}
