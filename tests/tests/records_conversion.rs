//! An agent's records between the formats, and out and in: nothing is lost, wherever it ends.

use agent_memory_conformance::case::Format;
use agent_memory_conformance::in_memory::FullStorage;
use agent_memory_core::storage::database::{Mode, Statement, Value as Sql};
use agent_memory_core::storage::{Place, Side, Storage};
use agent_memory_core::toolbox;
use serde_json::{Value, json};

/// A file as the seed's program writes it, with what another may add.
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

struct Host {
    storage: FullStorage,
    format: Format,
    max_bytes: Option<u64>,
    calls: u64,
}

impl Host {
    fn new(format: Format) -> Self {
        let storage = FullStorage::new();
        storage.grant(Place::records());
        Self { storage, format, max_bytes: None, calls: 0 }
    }

    fn with_file(format: Format, file: &str) -> Self {
        let host = Self::new(format);
        host.put("default.json", file);
        host
    }

    fn put(&self, name: &str, text: &str) {
        self.storage.put(&Place::records(), Side::Documents, name, text);
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let context = json!({
            "settings": {
                "toolsets": ["records"],
                "records": {"format": self.format.name(), "max_bytes": self.max_bytes},
            },
            "now": "2025-02-01T10:00:00.000Z", "utc_offset_minutes": 0, "seed": self.calls,
        });
        self.calls += 1;
        self.storage.begin_call();
        let (arguments, context) = (arguments.to_string(), context.to_string());
        let outcome = toolbox::call_tool(&self.storage, tool, &arguments, &context).expect(tool);
        serde_json::from_str(&outcome.result).expect("JSON")
    }

    /// Converts to the end, and returns how many calls that took.
    fn convert(&mut self, to: &str) -> usize {
        for step in 1..1000 {
            let answer = self.call("convert_records", json!({"to": to}));
            assert!(answer.get("error").is_none(), "{answer}");
            if answer["finished"] == true {
                return step;
            }
        }
        panic!("a conversion to {to} does not end");
    }

    /// As a conversion that ended leaves its mark, see `sqlite/moving.rs` of the core.
    fn mark(&self, moving: &str) {
        self.storage.begin_call();
        let database = self.storage.open_database("records", false).expect("a database");
        let transaction = database.begin(Mode::Write).expect("a transaction");
        let sql = "UPDATE agents SET moving = ?1".to_owned();
        let mark = Statement { sql, parameters: vec![Sql::Text(moving.to_owned())] };
        transaction.execute(&[mark]).expect("marked");
        transaction.commit().expect("committed");
    }

    fn files(&self) -> Vec<(String, String)> {
        let files = self.storage.documents(&Place::records(), Side::Documents).into_iter();
        files.map(|(name, bytes)| (name, String::from_utf8(bytes).expect("UTF-8"))).collect()
    }

    fn remove_files(&mut self) {
        let storage = FullStorage::new();
        storage.grant(Place::records());
        if let Some(image) = self.storage.image() {
            storage.restore(&image);
        }
        self.storage = storage;
    }

    /// All pages of an export.
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
        let mut arguments = json!({"records": records, "on_conflict": on_conflict});
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

/// A file of so many memories, as this program writes it.
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
fn there_and_back_a_file_is_the_same_byte_for_byte() {
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
        // And nothing is left of the rows.
        host.remove_files();
        let answer = host.call("convert_records", json!({"to": "json"}));
        assert_eq!(answer["error"]["code"], "NOT_FOUND", "{answer}");
    }
}

/// In rows it reads as what a column holds at most.
#[test]
fn a_count_that_no_column_holds_stays_as_it_is() {
    let count = u64::MAX.to_string();
    let file = GOLDEN.replace(r#""access_count": 5"#, &format!(r#""access_count": {count}"#));
    let mut host = Host::with_file(Format::Json, &file);
    host.convert("sqlite");
    assert_eq!(host.exported("json"), file);
    assert!(host.exported("jsonl").contains(&count));
}

#[test]
fn what_changes_in_rows_is_in_the_file_and_nothing_else_is_another() {
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
    expected["core_memories"][0]["updated_at"] = json!("2025-02-01T10:00:00.000Z");
    expected["learnings"] = json!([answer["memory"]]);
    let [(name, text)] = &host.files()[..] else { panic!("{:?}", host.files()) };
    assert_eq!(name, "default.json");
    let found: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(found, expected);
    assert!(text.contains("[1.50, null]"), "{text}");
}

/// Whoever ends a conversion after any step goes on, or takes it back.
#[test]
fn a_conversion_that_ended_anywhere_goes_on_and_goes_back() {
    let file = large(5_500);
    let all = Host::with_file(Format::Json, &file).convert("sqlite");
    assert!(all > 4, "one page is enough: make a larger file");
    for steps in 0..all {
        for to in ["sqlite", "json"] {
            let mut host = Host::with_file(Format::Json, &file);
            for _ in 0..steps {
                host.call("convert_records", json!({"to": "sqlite"}));
            }
            assert_eq!(host.exported("json"), file, "after {steps} steps");
            let is_there = host.files().iter().any(|(name, _)| name == "default.json");
            if to == "json" && !is_there {
                host.remove_files();
            }
            host.convert(to);
            let name = if to == "json" { "default.json" } else { "default.json.converted" };
            assert_eq!(host.files(), [(name.to_owned(), file.clone())], "after {steps} steps");
            assert_eq!(host.exported("json"), file, "after {steps} steps");
        }
    }
}

#[test]
fn a_way_back_that_ended_anywhere_goes_on_and_goes_back() {
    let mut start = Host::with_file(Format::Json, GOLDEN);
    start.convert("sqlite");
    let image = start.storage.image().expect("a database");
    let host = || {
        let host = Host::new(Format::Json);
        host.storage.restore(&image);
        host
    };
    let all = host().convert("json");
    assert!(all > 3, "{all}");
    for steps in 0..all {
        for to in ["sqlite", "json"] {
            let mut host = host();
            for _ in 0..steps {
                host.call("convert_records", json!({"to": "json"}));
            }
            assert_eq!(host.exported("json"), GOLDEN, "after {steps} steps");
            host.convert(to);
            assert_eq!(host.exported("json"), GOLDEN, "after {steps} steps, to {to}");
            let answer = host.call("convert_records", json!({"to": to}));
            assert_eq!(answer, json!({"done": 3, "total": 3, "finished": true}));
        }
    }
}

/// Two people who want opposite formats, or one who changes their mind.
#[test]
fn a_conversion_may_turn_round_in_the_middle_of_its_rows() {
    let file = large(10_500);
    let mut host = Host::with_file(Format::Json, &file);
    for to in ["sqlite", "sqlite", "json"] {
        let answer = host.call("convert_records", json!({"to": to}));
        assert_eq!(answer["finished"], false, "{answer}");
    }
    host.convert("sqlite");
    assert_eq!(host.exported("json"), file);
}

#[test]
fn a_file_that_changes_during_a_conversion_is_copied_anew() {
    let file = large(5_500);
    let mut host = Host::with_file(Format::Json, &file);
    for step in 0..4 {
        host.call("convert_records", json!({"to": "sqlite"}));
        if step < 3 {
            let added = host.call("add_core_memory", json!({"content": format!("{step}")}));
            assert_eq!(added["created"], true, "{added}");
        }
    }
    let before = host.exported("json");
    host.convert("sqlite");
    assert_eq!(host.exported("json"), before);
    assert_eq!(host.call("get_memory_stats", json!({}))["total_memories"], 5_503);
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

/// Whatever file comes later, these rows are not what it says.
#[test]
fn rows_that_change_after_a_conversion_that_did_not_end_are_never_deleted() {
    let refused = |host: &mut Host| {
        host.max_bytes = Some(host.exported("json").len() as u64 - 1);
        let answer = host.call("convert_records", json!({"to": "json"}));
        assert_eq!(answer["error"]["code"], "LIMIT_EXCEEDED", "{answer}");
        host.max_bytes = None;
    };
    let killed_on_the_way_back = |host: &mut Host| host.mark("");
    let killed_on_the_way = |host: &mut Host| {
        host.convert("json");
        loop {
            host.call("convert_records", json!({"to": "sqlite"}));
            if host.files().iter().any(|(name, _)| name == "default.json.converted") {
                return host.remove_files();
            }
        }
    };
    let ends: [&dyn Fn(&mut Host); 3] = [&refused, &killed_on_the_way_back, &killed_on_the_way];
    for (index, end) in ends.iter().enumerate() {
        let mut host = Host::new(Format::Sqlite);
        host.call("add_core_memory", json!({"content": "before"}));
        end(&mut host);
        let added = host.call("add_core_memory", json!({"content": "after"}));
        assert_eq!(added["created"], true, "end {index}: {added}");
        host.put("default.json", GOLDEN);
        let recalled = host.call("recall_context", json!({"limit": 1}));
        let warnings = recalled["warnings"].as_array().expect("warnings");
        assert!(!warnings.is_empty(), "end {index}: {recalled}");
        for to in ["sqlite", "json"] {
            let answer = host.call("convert_records", json!({"to": to}));
            assert_eq!(answer["error"]["code"], "INVALID_INPUT", "end {index}: {answer}");
        }
        host.remove_files();
        assert_eq!(host.all()["total"], 2, "end {index}");
        host.convert("json");
        assert_eq!(host.all()["total"], 2, "end {index}");
    }
}

/// However the conversion ended: the file was not written, or another one was put in its place.
#[test]
fn rows_that_are_moving_are_no_leftovers_of_a_file_that_says_otherwise() {
    for from in ["sqlite", "json"] {
        let mut host = Host::new(Format::Sqlite);
        host.call("add_core_memory", json!({"content": "in rows"}));
        if from == "sqlite" {
            host.mark("");
        } else {
            // The last call is the one that was not made.
            host.convert("json");
            while !host.files().iter().any(|(name, _)| name == "default.json.converted") {
                host.call("convert_records", json!({"to": "sqlite"}));
            }
            host.remove_files();
        }
        hides_until_it_is_gone(host);
    }
}

fn hides_until_it_is_gone(mut host: Host) {
    host.put("default.json", GOLDEN);
    let recalled = host.call("recall_context", json!({"limit": 1}));
    assert_eq!(recalled["warnings"].as_array().map(Vec::len), Some(1), "{recalled}");
    for to in ["sqlite", "json"] {
        let answer = host.call("convert_records", json!({"to": to}));
        assert_eq!(answer["error"]["code"], "INVALID_INPUT", "{answer}");
    }
    host.remove_files();
    host.convert("json");
    assert_eq!(host.all()["memories"][0]["content"], "in rows");
}

#[test]
fn what_is_exported_is_imported_the_same_in_either_format() {
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
                // What other programs keep in a record comes along.
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
fn many_records_go_out_and_in_page_by_page() {
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

/// A further page is part of the first one's change: the backup is the file before all of them.
#[test]
fn the_backup_is_the_file_before_an_import_of_many_pages() {
    let mut host = Host::with_file(Format::Json, GOLDEN);
    host.import(&large(5_500), "refuse");
    assert!(host.files().contains(&golden("default.json.backup")));
    assert_eq!(host.call("get_memory_stats", json!({}))["total_memories"], 5_502);
}

#[test]
fn archiving_takes_what_is_old_page_by_page() {
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
