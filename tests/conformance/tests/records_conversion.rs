//! Conversion, export and import of records: nothing is lost, even if a conversion is interrupted.

use agent_memory_conformance::case::Format;
use agent_memory_conformance::core_runner::{answer, context_of};
use agent_memory_conformance::faults::{Call, State};
use agent_memory_conformance::in_memory::InMemoryStorage;
use agent_memory_core::storage::database::{Kind, Mode, Statement, Value as Sql};
use agent_memory_core::storage::{Area, Place, Storage};
use agent_memory_core::toolbox;
use serde_json::{Value, json};

/// A file as the program of spec 001 writes it, with additions of another program.
const GOLDEN: &str = r#"{
  "schema": 7,
  "learnings": [],
  "core_memories": [
    {
      "id": "aaaaaaaa-0000-4000-8000-000000000001",
      "type": "core",
      "content": "caf\u00e9 \ud83d\ude00 é",
      "category": "fact",
      "created_at": "2025-01-01T09:30:00.123456",
      "updated_at": "2025-01-01T09:30:00Z",
      "accessed_at": "2025-01-02T08:00:00+01:00",
      "access_count": 3,
      "tags": ["food", "x"],
      "importance": "high",
      "archived": false,
      "more": {"a": [1.50, null]}
    },
    {
      "id": "aaaaaaaa-0000-4000-8000-000000000002",
      "type": "core",
      "content": "x",
      "created_at": "2025-01-20T10:00:00.000Z",
      "updated_at": "2025-01-20T10:00:00.000Z",
      "accessed_at": "2025-01-20T10:00:00.000Z",
      "access_count": 5,
      "tags": [],
      "importance": "medium",
      "archived": true
    }
  ],
  "tasks": [
    {"id": "of another program", "content": "t", "created_at": "2025-01-01T07:00:00"}
  ],
  "metadata": {"created_at": "2025-01-01T07:00:00", "updated_at": "2025-01-02T08:00:00", "by": [ 1 ]}
}
"#;

/// The directory of records.
fn place() -> Place {
    Place::named("records")
}

/// Makes a call and returns its answer as JSON.
fn answered(storage: &dyn Storage, tool: &str, arguments: &Value, context: &Value) -> Value {
    let context = context_of(context);
    let outcome = toolbox::call_tool(storage, tool, &arguments.to_string(), &context);
    serde_json::from_str(outcome.expect(tool).json()).expect("JSON")
}

struct Host {
    storage: InMemoryStorage,
    format: Format,
    max_bytes: Option<u64>,
    calls: u64,
}

impl Host {
    fn new(format: Format) -> Self {
        let storage = InMemoryStorage::new();
        storage.grant(place());
        Self { storage, format, max_bytes: None, calls: 0 }
    }

    /// A host whose storage is like a database server.
    fn on_server(format: Format) -> Self {
        let storage = InMemoryStorage::like_a_server();
        storage.grant(place());
        Self { storage, ..Self::new(format) }
    }

    fn with_file(format: Format, file: &str) -> Self {
        let host = Self::new(format);
        host.put("default.json", file);
        host
    }

    fn put(&self, name: &str, text: &str) {
        self.storage.put(&place(), Area::Documents, name, text);
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.calls += 1;
        self.storage.begin_call();
        answered(&self.storage, tool, &arguments, &self.context())
    }

    /// Removes a text from all that the host has.
    fn forget(&mut self, text: &str) {
        let mut context = self.context();
        context["settings"]["toolsets"] = json!(["records", "memory"]);
        self.storage.begin_call();
        let answer = answered(&self.storage, "forget_memory", &json!({"text": text}), &context);
        assert_eq!(answer.get("error"), None, "{answer}");
    }

    fn context(&self) -> Value {
        let mut own = json!({"format": self.format.name()});
        if let Some(most) = self.max_bytes {
            own["max_bytes"] = json!(most);
        }
        json!({
            "settings": {"toolsets": ["records"], "records": own},
            "now": "2025-02-01T10:00:00.000Z", "seed": self.calls,
        })
    }

    /// Converts the agent. Returns whether its records were in the other format.
    fn convert(&mut self, to: &str) -> bool {
        let answer = self.call("convert_records", json!({"to": to}));
        answer["converted"].as_bool().unwrap_or_else(|| panic!("{answer}"))
    }

    /// Changes the database directly.
    fn execute(&self, sql: &[&str]) {
        self.storage.begin_call();
        let database = self.storage.open_database(&place(), "memories.db", Kind::Kept, false);
        let database = database.expect("a database");
        let transaction = database.begin(Mode::Write(None)).expect("a transaction");
        let statement = |sql: &&str| Statement { sql: (*sql).to_owned(), parameters: Vec::new() };
        let statements: Vec<_> = sql.iter().map(statement).collect();
        transaction.execute(&statements).expect("executed");
        transaction.commit().expect("committed");
    }

    /// The only value in a query's result.
    fn value(&self, sql: &str) -> Sql {
        self.storage.begin_call();
        let database = self.storage.open_database(&place(), "memories.db", Kind::Kept, false);
        let statement = Statement { sql: sql.to_owned(), parameters: Vec::new() };
        let rows = database.expect("a database").query(&statement, 1).expect("rows");
        rows.rows[0][0].clone()
    }

    fn files(&self) -> Vec<(String, String)> {
        let files = self.storage.documents(&place(), Area::Documents).into_iter();
        files.map(|(name, bytes)| (name, String::from_utf8(bytes).expect("UTF-8"))).collect()
    }

    fn has_file(&self) -> bool {
        self.files().iter().any(|(name, _)| name == "default.json")
    }

    fn remove_files(&mut self) {
        let storage = InMemoryStorage::new();
        storage.grant(place());
        if let Some(image) = self.storage.image() {
            storage.restore(&image);
        }
        self.storage = storage;
    }

    /// The text of all pages of an export.
    fn exported(&mut self, format: &str) -> String {
        let mut text = String::new();
        let mut arguments = json!({"format": format});
        loop {
            let page = self.call("export_records", arguments.clone());
            text += page["text"].as_str().unwrap_or_else(|| panic!("{page}"));
            match page.get("cursor") {
                Some(cursor) => arguments["cursor"] = cursor.clone(),
                None => return text,
            }
        }
    }

    fn all(&mut self) -> Value {
        let query = json!({"archived": true, "limit": 100, "sort_by": "created_at"});
        self.call("query_memories", query)
    }

    /// Imports all pages.
    fn import(&mut self, records: &str, on_conflict: &str) -> Value {
        let mut arguments =
            json!({"agent_id": "default", "records": records, "on_conflict": on_conflict});
        loop {
            let page = self.call("import_records", arguments.clone());
            match page.get("cursor") {
                Some(cursor) => arguments["cursor"] = cursor.clone(),
                None => return page,
            }
        }
    }
}

fn golden(name: &str) -> (String, String) {
    (name.to_owned(), GOLDEN.to_owned())
}

/// A file of many memories, as this program writes it.
fn large(memories: usize) -> String {
    let record = |index: usize| {
        json!({
            "id": format!("{index:08}-0000-4000-8000-000000000000"), "type": "learning",
            "content": format!("memory {index}"),
            "created_at": "2025-01-20T10:00:00.000Z", "updated_at": "2025-01-20T10:00:00.000Z",
            "accessed_at": "2025-01-20T10:00:00.000Z", "access_count": index, "tags": ["x"],
            "importance": "low", "archived": false,
        })
    };
    let records: Vec<Value> = (0..memories).map(record).collect();
    let file = json!({
        "core_memories": [], "learnings": records, "tasks": [],
        "metadata": {"created_at": "2025-01-20T10:00:00Z", "updated_at": "2025-01-20T10:00:00Z"},
    });
    serde_json::to_string_pretty(&file).expect("JSON")
}

#[test]
fn a_file_converted_to_sqlite_and_back_has_the_same_bytes() {
    for file in [GOLDEN.to_owned(), large(5_500)] {
        let mut host = Host::with_file(Format::Json, &file);
        let before = host.all();
        host.convert("sqlite");
        assert_eq!(host.files(), [("default.json.converted".to_owned(), file.clone())]);
        assert_eq!(host.all(), before);
        assert_eq!(host.exported("json"), file);
        host.remove_files();
        host.convert("json");
        assert_eq!(host.files(), [("default.json".to_owned(), file.clone())]);
        assert_eq!(host.all(), before);
        // No row is left.
        host.remove_files();
        let answer = host.call("convert_records", json!({"to": "json"}));
        assert_eq!(answer["error"]["code"], "NOT_FOUND", "{answer}");
    }
}

/// In SQLite, the count is read as the largest integer of a column.
#[test]
fn a_count_that_is_too_large_for_a_column_survives_a_conversion() {
    let count = u64::MAX.to_string();
    let file = GOLDEN.replace(r#""access_count": 5"#, &format!(r#""access_count": {count}"#));
    let mut host = Host::with_file(Format::Json, &file);
    host.convert("sqlite");
    assert_eq!(host.exported("json"), file);
    assert!(host.exported("jsonl").contains(&count));
}

#[test]
fn changes_of_rows_are_in_the_converted_file_and_all_else_is_the_same() {
    let mut host = Host::with_file(Format::Json, GOLDEN);
    host.convert("sqlite");
    host.remove_files();
    let id = "aaaaaaaa-0000-4000-8000-000000000001";
    let answer = host.call("update_memory", json!({"id": id, "content": "new"}));
    assert_eq!(answer["updated_fields"], json!(["content"]));
    let answer = host.call("add_recent_learning", json!({"content": "more"}));
    assert_eq!(answer["created"], true);
    host.convert("json");
    let mut expected: Value = serde_json::from_str(GOLDEN).expect("JSON");
    expected["core_memories"][0]["content"] = json!("new");
    for changed in ["updated_at", "accessed_at"] {
        expected["core_memories"][0][changed] = json!("2025-02-01T10:00:00.000Z");
    }
    expected["learnings"] = json!([answer["memory"]]);
    let [(name, text)] = &host.files()[..] else { panic!("{:?}", host.files()) };
    assert_eq!(name, "default.json");
    let found: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(found, expected);
    assert!(text.contains("[1.50, null]"), "{text}");
}

/// The states before a conversion and after each of its changes.
fn states_of_conversion(before: &Host, to: &str) -> Vec<State> {
    let context = before.context();
    let place = place();
    let call = Call {
        place: &place,
        before: State::new(&before.storage, &place),
        make: &|storage, _| {
            let outcome = toolbox::call_tool(
                storage,
                "convert_records",
                &json!({"to": to}).to_string(),
                &context_of(&context),
            );
            answer(outcome).expect("JSON")
        },
        writes: true,
        idempotent: false,
        reports: &[],
        besides: &[],
    };
    call.states()
}

#[test]
fn an_interrupted_conversion_can_be_completed_and_undone() {
    let in_file = Host::with_file(Format::Json, GOLDEN);
    let mut in_rows = Host::with_file(Format::Json, GOLDEN);
    in_rows.convert("sqlite");
    in_rows.remove_files();
    for (start, to) in [(&in_file, "sqlite"), (&in_rows, "json")] {
        let states = states_of_conversion(start, to);
        assert!(states.len() > 2, "a conversion makes several changes");
        for (changes, state) in states.iter().enumerate() {
            for target in ["sqlite", "json"] {
                let what =
                    format!("to {to}, interrupted after {changes} changes, then to {target}");
                let mut host = Host::new(Format::Json);
                host.storage = state.reopened(&place());
                assert_eq!(host.exported("json"), GOLDEN, "{what}");
                // A conversion to JSON refuses if the file of an earlier conversion exists.
                if target == "json" && !host.has_file() {
                    host.remove_files();
                }
                host.convert(target);
                assert_eq!(host.exported("json"), GOLDEN, "{what}");
                assert!(!host.convert(target), "{what}");
                assert_eq!(host.has_file(), target == "json", "{what}");
            }
        }
    }
}

#[test]
fn a_database_of_a_later_version_is_not_changed() {
    let mut host = Host::new(Format::Sqlite);
    host.call("add_core_memory", json!({"content": "kept"}));
    host.execute(&["PRAGMA user_version = 2"]);
    for (tool, arguments) in
        [("add_core_memory", json!({"content": "new"})), ("convert_records", json!({"to": "json"}))]
    {
        let answer = host.call(tool, arguments);
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("a later version of this program"), "{answer}");
    }
    assert_eq!(host.all()["total"], 1);
}

#[test]
fn rows_that_a_file_hides_are_never_deleted() {
    let mut host = Host::new(Format::Sqlite);
    host.call("add_core_memory", json!({"content": "in rows"}));
    host.put("default.json", GOLDEN);
    for to in ["sqlite", "json"] {
        let answer = host.call("convert_records", json!({"to": to}));
        assert_eq!(answer["error"]["code"], "INVALID_INPUT", "{answer}");
    }
    assert_eq!(host.files(), [golden("default.json")]);
    let recalled = host.call("recall_context", json!({"limit": 1}));
    let warning = recalled["warnings"][0].as_str().expect("a warning");
    assert!(warning.contains("`default.json` hides"), "{warning}");
    host.remove_files();
    assert_eq!(host.all()["memories"][0]["content"], "in rows");
    assert_eq!(host.call("recall_context", json!({}))["warnings"], json!([]));
}

/// A conversion is interrupted after it renamed the file: the database still says that the rows are
/// a copy of that file.
#[test]
fn rows_that_changed_since_they_were_copied_are_never_deleted() {
    for changes in [true, false] {
        let mut host = Host::with_file(Format::Json, GOLDEN);
        let states = states_of_conversion(&host, "sqlite");
        host.storage = states[2].reopened(&place());
        assert!(!host.has_file());
        assert_ne!(host.value("SELECT moving FROM agents"), Sql::Null);
        if changes {
            host.call("add_core_memory", json!({"content": "after"}));
            assert_eq!(host.value("SELECT moving FROM agents"), Sql::Null);
        }
        let total = host.all()["total"].clone();
        // The file is renamed back. If no row has changed, it has all records of the rows.
        host.remove_files();
        host.put("default.json", GOLDEN);
        let answer = host.call("convert_records", json!({"to": "json"}));
        assert_eq!(answer.get("error").is_some(), changes, "{answer}");
        host.remove_files();
        if changes {
            assert_eq!(host.all()["total"], total);
        }
    }
}

/// The database notes that the rows are a copy of a file, but the file is another one by now.
#[test]
fn rows_that_are_a_copy_of_another_file_are_never_lost() {
    for to in ["sqlite", "json"] {
        let mut host = Host::with_file(Format::Json, &large(2));
        let states = states_of_conversion(&host, "sqlite");
        host.storage = states[2].reopened(&place());
        host.remove_files();
        host.put("default.json", GOLDEN);
        let recalled = host.call("recall_context", json!({"limit": 1}));
        assert_eq!(recalled["warnings"].as_array().map(Vec::len), Some(1), "{recalled}");
        // The first call has counted an access in the file.
        let file = host.exported("json");
        assert_eq!(host.convert(to), to == "sqlite");
        let own = if to == "json" { "default.json" } else { "default.json.converted" };
        let own = (own.to_owned(), file.clone());
        assert_eq!(host.files(), [own, ("default.json.hidden".to_owned(), large(2))]);
        assert_eq!(host.exported("json"), file);
        assert_eq!(host.call("recall_context", json!({}))["warnings"], json!([]));
    }
}

/// A conversion to SQLite is interrupted before it renames the file, and the file is changed after.
#[test]
fn a_conversion_goes_on_if_the_file_was_changed_since_it_was_interrupted() {
    for to in ["sqlite", "json"] {
        for forgets in [false, true] {
            let mut host = Host::with_file(Format::Json, GOLDEN);
            let states = states_of_conversion(&host, "sqlite");
            host.storage = states[1].reopened(&place());
            assert!(host.has_file());
            assert_ne!(host.value("SELECT moving FROM agents"), Sql::Null);
            host.call("add_core_memory", json!({"content": "after"}));
            if forgets {
                host.forget("food");
            }
            let recalled = host.call("recall_context", json!({"limit": 1}));
            let warning = recalled["warnings"][0].as_str().expect("a warning");
            assert!(warning.contains("convert the agent again"), "{warning}");
            let before = host.all();
            assert_eq!(before["total"], 4);
            assert_eq!(host.convert(to), to == "sqlite");
            assert!(!host.convert(to));
            assert_eq!(host.all(), before);
            assert_eq!(host.has_file(), to == "json");
            let files = host.files();
            let hidden = files.iter().find(|(name, _)| name == "default.json.hidden");
            let (_, hidden) = hidden.expect("the rows that were left");
            assert_eq!(hidden == GOLDEN, !forgets, "{hidden}");
            assert_eq!(hidden.contains("food"), !forgets, "{hidden}");
            assert_eq!(host.call("recall_context", json!({}))["warnings"], json!([]));
        }
    }
}

/// Rows that an interrupted conversion left are written to `default.json.hidden`. An existing document
/// of that name with other contents is not overwritten.
#[test]
fn rows_that_were_left_replace_no_document() {
    let mut host = Host::with_file(Format::Json, GOLDEN);
    let states = states_of_conversion(&host, "sqlite");
    host.storage = states[1].reopened(&place());
    host.put("default.json", &large(2));
    host.put("default.json.hidden", "{}");
    for to in ["sqlite", "json"] {
        let answer = host.call("convert_records", json!({"to": to}));
        assert_eq!(answer["error"]["code"], "INVALID_INPUT", "{answer}");
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(message.starts_with("`default.json.hidden` exists"), "{message}");
    }
    host.put("default.json.hidden", GOLDEN);
    host.convert("json");
    assert_eq!(host.exported("json"), large(2));
}

/// If documents are in a database, too, only an interrupted conversion leaves rows beside a file. The
/// rows have a note that they are a copy.
#[test]
fn rows_that_were_left_in_a_database_are_deleted_by_the_next_conversion() {
    for to in ["sqlite", "json"] {
        let mut host = Host::on_server(Format::Sqlite);
        host.call("add_core_memory", json!({"content": "deleted since"}));
        host.execute(&["UPDATE agents SET moving = 'the version of an older file'"]);
        host.put("default.json", GOLDEN);
        assert_eq!(host.convert(to), to == "sqlite");
        assert!(!host.convert(to));
        let own = if to == "json" { "default.json" } else { "default.json.converted" };
        assert_eq!(host.files(), [golden(own)]);
        assert_eq!(host.exported("json"), GOLDEN);
        let rows = if to == "json" { 0 } else { 3 };
        assert_eq!(host.value("SELECT count(*) FROM memories"), Sql::Integer(rows));
    }
}

/// On a server, nobody could move the copy away.
#[test]
fn a_conversion_in_a_database_replaces_the_copy_of_an_earlier_one() {
    let mut host = Host::on_server(Format::Json);
    host.put("default.json", GOLDEN);
    for round in 1..=2 {
        let file = host.exported("json");
        assert!(host.convert("sqlite"));
        assert_eq!(host.files(), [("default.json.converted".to_owned(), file)]);
        assert_eq!(host.value("SELECT moving FROM agents"), Sql::Null);
        host.call("add_core_memory", json!({"content": format!("added {round}")}));
        let rows = host.exported("json");
        assert!(host.convert("json"));
        assert_eq!(host.files(), [("default.json".to_owned(), rows)]);
        assert_eq!(host.value("SELECT count(*) FROM agents"), Sql::Integer(0));
        // A copy may be there beside a file, too: an earlier version of this program left it.
        host.put("default.json.converted", GOLDEN);
    }
    assert_eq!(host.all()["total"], 5);
}

#[test]
fn exported_records_are_imported_unchanged_in_both_formats() {
    for from in Format::ALL {
        let mut source = Host::with_file(from, GOLDEN);
        if from == Format::Sqlite {
            source.convert("sqlite");
        }
        for form in ["jsonl", "json"] {
            let text = source.exported(form);
            for to in Format::ALL {
                let mut target = Host::new(to);
                let answer = target.import(&text, "refuse");
                assert_eq!(answer, json!({"added": 3, "replaced": 0, "skipped": 0}));
                assert_eq!(target.all(), source.all());
                // Fields of other programs are kept.
                assert!(target.exported("jsonl").contains(r#""more":{"a":[1.50,null]}"#));
                assert_eq!(target.exported("jsonl"), source.exported("jsonl"));

                let before = target.exported("json");
                let answer = target.import(&text, "skip");
                assert_eq!(answer, json!({"added": 0, "replaced": 0, "skipped": 3}));
                assert_eq!(target.exported("json"), before);
                let answer = target.import(&text, "replace");
                assert_eq!(answer, json!({"added": 0, "replaced": 3, "skipped": 0}));
                assert_eq!(target.all(), source.all());
                let answer = target.import(&text, "refuse");
                assert_eq!(answer["error"]["code"], "INVALID_INPUT", "{answer}");
            }
        }
    }
}

#[test]
fn many_records_are_exported_and_imported_in_pages() {
    let file = large(5_500);
    for format in Format::ALL {
        let mut source = Host::with_file(format, &file);
        if format == Format::Sqlite {
            source.convert("sqlite");
            let page = source.call("export_records", json!({}));
            assert_eq!((&page["count"], &page["total"]), (&json!(5_000), &json!(5_500)));
        }
        let lines = source.exported("jsonl");
        assert_eq!(lines.lines().count(), 5_500);
        let mut target = Host::new(format);
        for text in [&lines, &file] {
            target.import(text, "replace");
            assert_eq!(target.exported("jsonl"), lines, "{format:?}");
        }
        let first: Value = target.call("import_records", json!({"records": lines}));
        assert_eq!(first["error"]["code"], "INVALID_INPUT", "{first}");
    }
}

/// All pages of an import are one change.
#[test]
fn the_backup_is_the_file_before_an_import_of_many_pages() {
    let mut host = Host::with_file(Format::Json, GOLDEN);
    host.import(&large(5_500), "refuse");
    assert!(host.files().contains(&golden("default.json.backup")));
    assert_eq!(host.call("get_memory_stats", json!({}))["total_memories"], 5_502);
}

#[test]
fn old_memories_are_archived_in_pages() {
    for format in Format::ALL {
        let mut host = Host::with_file(Format::Json, &large(5_500));
        if format == Format::Sqlite {
            host.convert("sqlite");
        }
        host.call("add_recent_learning", json!({"content": "new"}));
        let mut arguments = json!({"older_than_days": 10, "type": "learning"});
        let mut archived = Vec::new();
        loop {
            let page = host.call("archive_memories", arguments.clone());
            archived.push(page["archived"].as_u64().unwrap_or_else(|| panic!("{page}")));
            let Some(cursor) = page.get("cursor") else { break };
            arguments["cursor"] = cursor.clone();
        }
        assert_eq!(archived, [5_000, 500]);
        let stats = host.call("get_memory_stats", json!({}));
        assert_eq!(
            (&stats["total_memories"], &stats["archived_count"]),
            (&json!(1), &json!(5_500))
        );
    }
}
