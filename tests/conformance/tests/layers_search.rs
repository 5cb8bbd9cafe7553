//! The searches of `layers` among many episodes, whatever other programs do to the rows.

use agent_memory_conformance::core_runner::context_of;
use agent_memory_conformance::in_memory::InMemoryStorage;
use agent_memory_core::storage::Place;
use agent_memory_core::toolbox;
use serde_json::{Value, json};

/// Too many rows for a search that compares each row with its index. Among so many, a search notices
/// a change by another program only when a hit has changed.
const MANY: usize = 1_500;

struct Memory(InMemoryStorage);

impl Memory {
    fn new() -> Self {
        let storage = InMemoryStorage::new();
        storage.grant(Place::named("layers"));
        Self(storage)
    }

    fn call(&self, tool: &str, arguments: Value) -> Value {
        self.0.begin_call();
        let context = context_of(&json!({
            "settings": {"toolsets": ["layers", "memory"]}, "now": "2025-01-20T10:00:00.000Z",
            "seed": 1,
        }));
        let outcome = toolbox::call_tool(&self.0, tool, &arguments.to_string(), &context);
        serde_json::from_str(outcome.expect(tool).json()).expect("JSON")
    }

    fn add(&self, agent: &str, memory: &str) {
        let added = self.call("add_episodic_memory", json!({"agent_id": agent, "memory": memory}));
        assert_eq!(added["created"], true, "{added}");
    }

    fn found(&self, agent: &str, keywords: &str) -> Vec<i64> {
        self.search(json!({"agent_id": agent, "keywords": keywords, "limit": 1000}))
    }

    /// The ids that a search gives.
    fn search(&self, arguments: Value) -> Vec<i64> {
        let result = self.call("search_episodic_memories", arguments);
        let memories = result["memories"].as_array().expect("memories").iter();
        memories.map(|memory| memory["id"].as_i64().expect("an id")).collect()
    }

    fn number(&self, sql: &str) -> i64 {
        self.0.query_sql(sql).expect(sql)[0][0].as_i64().expect("a number")
    }

    /// The first column of a query of the index.
    fn derived(&self, sql: &str) -> Vec<String> {
        let rows = self.0.query_derived_sql(&Place::named("layers"), "search.db", sql);
        let rows = rows.expect(sql).into_iter();
        rows.map(|row| row[0].as_str().expect("a text").to_owned()).collect()
    }

    /// Adds episodes as the program of spec 002 does.
    fn insert(&self, agent: &str, count: usize, memory: &str) {
        self.0.run_sql(&[format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) \
             INSERT INTO episodic_memories (agent_id, memory) SELECT '{agent}', {memory} FROM n"
        )]);
    }
}

#[test]
fn what_another_program_adds_is_found() {
    let memory = Memory::new();
    memory.add("ada", "The first episode");
    memory.insert(
        "ada",
        MANY,
        "'Episode ' || i || ' of ' || CASE WHEN i % 500 THEN 'many' ELSE 'few' END",
    );
    memory.insert("bob", MANY, "'Few of bob'");
    let few = || memory.found("ada", "few epis");
    assert_eq!(few(), [1501, 1001, 501]);
    (0..8).for_each(|number| memory.add("ada", &format!("Added {number}")));
    assert_eq!(few(), [1501, 1001, 501]);
    assert_eq!(memory.found("ada", "added"), (3002..3010).rev().collect::<Vec<_>>());
    assert_eq!(memory.found("ada", "bob"), [0; 0]);
    assert_eq!(memory.found("ada", "first"), [1]);
}

#[test]
fn a_word_is_found_whatever_the_case_and_the_script_of_the_text() {
    let memory = Memory::new();
    for text in ["The STRASSE of Ada", "Die Straße", "Kelvin is \u{212a}", "eine strasse", "東京都"]
    {
        memory.add("ada", text);
    }
    assert_eq!(memory.found("ada", "Straße"), [4, 2, 1]);
    assert_eq!(memory.found("ada", "strass"), [4, 2, 1]);
    assert_eq!(memory.found("ada", "k"), [3]);
    assert_eq!(memory.found("ada", "東"), [5]);
    assert_eq!(memory.found("ada", "rasse"), [0; 0]);
}

#[test]
fn rows_that_are_edited_or_deleted_are_not_found_by_their_old_words() {
    let memory = Memory::new();
    for (agent, count) in [("ada", 40), ("bob", MANY)] {
        memory.add(agent, "Begin");
        memory.insert(agent, count, "'Old words of n' || i || 'x'");
        (0..7).for_each(|_| memory.add(agent, "More"));
    }
    let all = memory.found("bob", "old");
    assert_eq!(all.len(), 1_000);
    memory.0.run_sql(&[
        "UPDATE episodic_memories SET memory = 'New text' WHERE memory IN ('Old words of n7x', 'Old words of n8x')",
        "DELETE FROM episodic_memories WHERE memory = 'Old words of n9x'",
    ]);
    for agent in ["ada", "bob"] {
        assert_eq!(memory.found(agent, "old n7x"), [0; 0].to_vec(), "{agent}");
        assert_eq!(memory.found(agent, "words n9x old"), [0; 0].to_vec(), "{agent}");
    }
    for agent in ["ada", "bob"] {
        assert_eq!(memory.found(agent, "new").len(), 2, "{agent}");
    }
}

#[test]
fn rows_between_two_dates_are_found_whatever_the_order_and_the_form_of_their_dates() {
    let memory = Memory::new();
    memory.add("ada", "Begin");
    // The dates go up and down; 30 rows share each.
    for (agent, count) in [("ada", 12_000), ("bob", MANY)] {
        memory.0.run_sql(&[format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) \
             INSERT INTO episodic_memories (agent_id, memory, created_at) \
             SELECT '{agent}', CASE WHEN i % 3 THEN 'One' ELSE 'Two' END, \
             datetime('2020-01-01', '+' || (i * 7919 % 400) || ' days', '+' || (i % 24) || ' hours') \
             FROM n"
        )]);
    }
    (0..8).for_each(|_| memory.add("ada", "More"));
    let odd = memory.number("SELECT max(id) FROM episodic_memories") + 1;
    memory.0.run_sql(&["INSERT INTO episodic_memories (agent_id, memory, created_at) VALUES \
         ('ada', 'Two', '2020-05-01T23:30:00-05:00'), ('ada', 'Two', NULL), ('ada', 'Two', 'May'), \
         ('ada', 'Two', '2030-01-01 00:00:00')"]);
    // A search is limited to the ids of the rows between two dates. The last range has too many rows
    // for that.
    for (from, to) in
        [("2020-05-02", "2020-05-02"), ("2019-01-01", "2020-01-01"), ("2020-01-03", "2021-12-31")]
    {
        for (keywords, condition) in [(None, "1"), (Some("two"), "memory = 'Two'")] {
            let mut arguments =
                json!({"agent_id": "ada", "from_date": from, "to_date": to, "limit": 1000});
            if let Some(keywords) = keywords {
                arguments["keywords"] = json!(keywords);
            }
            let expected = memory.0.query_sql(&format!(
                "SELECT id FROM episodic_memories WHERE agent_id = 'ada' AND {condition} \
                 AND datetime(created_at) BETWEEN '{from}' AND '{to} 23:59:59' \
                 ORDER BY id DESC LIMIT 1000"
            ));
            let rows = expected.expect("rows");
            let expected: Vec<_> = rows.iter().map(|row| row[0].as_i64().expect("an id")).collect();
            assert!(!expected.is_empty());
            assert_eq!(expected[0] == odd, from != "2019-01-01", "{expected:?}");
            assert_eq!(memory.search(arguments), expected, "{from} {to} {keywords:?}");
        }
    }
    let none = json!({"agent_id": "ada", "from_date": "2025-06-01", "to_date": "2025-06-30"});
    assert_eq!(memory.search(none), [0; 0]);
}

#[test]
fn a_search_and_a_read_write_nothing() {
    let memory = Memory::new();
    memory.add("ada", "Begin");
    memory.insert("ada", MANY, "'Episode ' || i");
    let before = memory.0.image();
    for tool in ["search_episodic_memories", "get_memory_summary", "get_recent_memories"] {
        memory.call(tool, json!({"agent_id": "ada"}));
    }
    memory.found("ada", "episode");
    memory.call("search_memory", json!({"agent": "ada", "query": "episode"}));
    assert!(memory.0.image() == before);
}

/// Adds `MANY` episodes ten minutes apart, with a pause of some hours after each fifty, and as many
/// summaries.
fn filled_for_ranking() -> Memory {
    let memory = Memory::new();
    memory.add("ada", "Begin");
    memory.0.run_sql(&[
        format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {MANY}) \
             INSERT INTO episodic_memories (agent_id, memory, tags, created_at) \
             SELECT 'ada', 'Step ' || i || CASE WHEN i % 3 THEN ' in the harbour' ELSE '' END \
             || CASE i % 90 WHEN 7 THEN ': ships collided' WHEN 8 THEN ', 東京都へ' ELSE '' END, \
             CASE WHEN i % 40 = 9 THEN 'lanterns,ropes' END, \
             datetime('2024-01-01', '+' || (i * 10 + i / 50 * 300) || ' minutes') FROM n"
        ),
        format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {MANY}) \
             INSERT INTO memory_compost (agent_id, summary, archived_at) \
             SELECT 'ada', 'Summary ' || i || CASE i % 200 WHEN 5 THEN ' of a lantern' ELSE '' END, \
             datetime('2024-01-01', '+' || i || ' hours') FROM n"
        ),
    ]);
    for _ in 0..7 {
        memory.add("ada", "More steps");
        memory.call("add_recent_memory", json!({"agent_id": "ada", "memory": "Parsed"}));
        memory.call("clear_recent_memories", json!({"agent_id": "ada"}));
    }
    memory
}

/// The answers of `search_memory` to questions of rare and of common words.
fn ranked(memory: &Memory) -> Vec<Value> {
    let questions = [
        json!({"query": "Which ship was colliding?"}),
        json!({"query": "the lantern and the rope"}),
        json!({"query": "東京都"}),
        // More than 500 episodes have each of these words.
        json!({"query": "steps", "limit": 50}),
        json!({"query": "a harbour step with lanterns", "limit": 50}),
        json!({"query": "harbour", "from_date": "2024-01-03", "to_date": "2024-01-04", "limit": 50}),
        json!({"query": "harbour", "from_date": "2023-01-01", "to_date": "2024-01-01"}),
        json!({"query": "harbour", "from_date": "2030-01-01"}),
        json!({"query": "lantern summaries", "include_archived": true, "limit": 50}),
        json!({"query": "lantern summaries"}),
        json!({"query": "nothing has this"}),
    ];
    let answer = |mut arguments: Value| {
        arguments["agent"] = json!("ada");
        memory.call("search_memory", arguments)
    };
    questions.into_iter().map(answer).collect()
}

fn hits(answer: &Value) -> usize {
    answer["hits"].as_array().map_or(0, Vec::len)
}

#[test]
fn a_ranked_search_by_the_index_gives_what_reading_each_row_gives() {
    let memory = filled_for_ranking();
    let read = ranked(&memory);
    let collections = memory.derived("SELECT DISTINCT collection FROM segments ORDER BY 1");
    assert_eq!(collections, ["ada episodic_memories", "ada memory_compost"]);
    let indexed = ranked(&memory);
    assert!(indexed[0]["hits"][0]["passage"].as_str().expect("text").ends_with("ships collided"));
    assert!(indexed[2]["hits"][0]["passage"].as_str().expect("text").ends_with("東京都へ"));
    let numbers: Vec<usize> = indexed.iter().map(hits).collect();
    assert_eq!(numbers, [8, 8, 8, 50, 50, 50, 8, 0, 50, 8, 0]);
    let summaries = |answer: &Value| {
        let hits = answer["hits"].as_array().expect("hits").iter();
        hits.filter(|hit| hit["section"] == "compost").count()
    };
    assert!(summaries(&indexed[8]) > 0);
    assert_eq!(summaries(&indexed[9]), 0);
    for (read, indexed) in read.iter().zip(&indexed) {
        assert_eq!(read, indexed);
    }
    memory.0.delete_derived();
    assert_eq!(ranked(&memory), indexed);
}

/// With few rows, the next search notices the change. With many, a search notices it when a hit differs
/// from the index, and the search after it finds the row.
#[test]
fn a_ranked_search_finds_a_row_that_another_program_changed() {
    for rows in [MANY, 700] {
        let memory = Memory::new();
        memory.add("ada", "Begin");
        memory.insert("ada", rows, "'Step ' || i || ' with some more words in the harbour'");
        let search = |query: &str| {
            let arguments = json!({"agent": "ada", "query": query, "limit": 1});
            memory.call("search_memory", arguments)["hits"][0]["passage"].clone()
        };
        search("step");
        assert!(!memory.derived("SELECT DISTINCT collection FROM segments").is_empty());
        memory.0.run_sql(&[
            "UPDATE episodic_memories SET memory = 'Step 77 went another way, of lanterns' WHERE id = 78",
        ]);
        if rows == MANY {
            assert_eq!(search("lanterns"), Value::Null);
        }
        if rows == MANY {
            assert_ne!(search("step 77"), Value::Null);
        }
        assert_eq!(search("lanterns"), "Step 77 went another way, of lanterns", "{rows}");
    }
}

#[test]
fn a_ranked_search_does_not_find_what_another_program_deleted() {
    let memory = filled_for_ranking();
    memory.0.run_sql(&[
        "DELETE FROM episodic_memories WHERE memory LIKE '%collided%' OR memory LIKE '%harbour%' AND id < 400",
        "DELETE FROM memory_compost",
    ]);
    let answer =
        |query: &str| memory.call("search_memory", json!({"agent": "ada", "query": query}));
    assert_eq!(hits(&answer("collided")), 0);
    assert_eq!(hits(&answer("harbour")), 8);
    // Every row has this stem, also the deleted rows that the index still has.
    assert_eq!(hits(&answer("steps")), 8);
}

#[test]
fn compost_among_much_of_it_is_found_by_its_words() {
    let memory = Memory::new();
    memory.add("ada", "Begin");
    memory.0.run_sql(&[format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {MANY}) \
         INSERT INTO memory_compost (agent_id, summary) SELECT 'ada', 'Summary ' || i FROM n"
    )]);
    for _ in 0..7 {
        memory.call("add_recent_memory", json!({"agent_id": "ada", "memory": "Parsed"}));
        memory.call("clear_recent_memories", json!({"agent_id": "ada"}));
    }
    let compost = |keywords: &str| {
        let arguments = json!({"agent_id": "ada", "keywords": keywords, "include_compost": true});
        let found = memory.call("search_episodic_memories", arguments);
        assert_eq!(found["count"], 0, "{found}");
        found["compost"].as_array().expect("compost").len()
    };
    assert_eq!([compost("summary 1234"), compost("parsed"), compost("summary")], [1, 7, 50]);
}

#[test]
fn the_index_of_a_text_that_was_forgotten_does_not_hold_it() {
    let memory = Memory::new();
    memory.add("ada", "Begin");
    memory.insert(
        "ada",
        MANY,
        "CASE i % 100 WHEN 0 THEN 'The key hunter22' ELSE 'Episode ' || i END",
    );
    (0..7).for_each(|_| memory.add("ada", "More"));
    memory.call("search_memory", json!({"agent": "ada", "query": "hunter22"}));
    let stems = || memory.derived("SELECT DISTINCT stem || '' FROM postings ORDER BY 1");
    let before = stems();
    assert_eq!(memory.found("ada", "hunter").len(), 15);
    let forgotten = memory.call("forget_text", json!({"agent_id": "ada", "text": "hunter22"}));
    assert_eq!(forgotten, json!({"changed": 15, "is_done": true}));
    let after = stems();
    // `key`, `hunter22` and its parts were in no other row.
    assert!(after.len() + 3 <= before.len(), "{} of {}", after.len(), before.len());
    assert_eq!(memory.found("ada", "hunter"), [0; 0]);
    assert_eq!(memory.found("ada", "key removed").len(), 15);
    assert_eq!(memory.found("ada", "episode 1499"), [1500]);
}

#[test]
fn many_entries_go_out_and_in_page_by_page() {
    let memory = Memory::new();
    memory.add("ada", "Begin");
    memory.insert("ada", 3 * MANY, "'Episode ' || i");
    let pages = |agent: &str| {
        let mut pages = Vec::new();
        let mut cursor = Value::Null;
        loop {
            let mut arguments = json!({"agent_id": agent});
            if !cursor.is_null() {
                arguments["cursor"] = cursor;
            }
            let page = memory.call("export_layers", arguments);
            assert_eq!(page["total"], 3 * MANY + 1, "{page}");
            pages.push(page["text"].as_str().expect("text").to_owned());
            cursor = page["cursor"].clone();
            if cursor.is_null() {
                return pages;
            }
        }
    };
    let out = pages("ada");
    assert_eq!(out.len(), 3);
    let mut cursor = None::<String>;
    let mut added = 0;
    loop {
        let mut arguments = json!({"agent_id": "bob", "entries": out.concat()});
        if let Some(cursor) = &cursor {
            arguments["cursor"] = json!(cursor);
        }
        let page = memory.call("import_layers", arguments);
        added += page["added"].as_u64().expect("a number");
        cursor = page["cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(added as usize, 3 * MANY + 1);
    assert_eq!(pages("bob").concat(), out.concat());
}

#[test]
fn a_search_of_all_toolsets_between_dates_says_what_has_no_date() {
    let memory = Memory::new();
    memory.add("ada", "The parser works");
    memory.call("add_core_memory", json!({"agent_id": "ada", "memory": "The parser is ours"}));
    memory.0.run_sql(&[
        "INSERT INTO episodic_memories (agent_id, memory, created_at) \
         VALUES ('ada', 'The parser slept', NULL), ('ada', 'The parser ran', '20/01/2025')",
        "UPDATE core_memories SET created_at = 'once'",
    ]);
    let dated = json!({"agent": "ada", "query": "parser", "from_date": "2025-01-01"});
    let answer = memory.call("search_memory", dated);
    assert_eq!(answer["hits"][0]["passage"], "The parser works", "{answer}");
    assert_eq!(
        answer["warnings"],
        json!([
            "layers of agent `ada`: 2 episodes have no date that can be read, so `from_date` and \
             `to_date` leave them out: search without dates to find them",
            "1 document with words of the query has no date, so `from_date` and `to_date` leave it \
             out: `core 1` of agent `ada` in layers; search without dates to find it",
        ])
    );
    let undated = memory.call("search_memory", json!({"agent": "ada", "query": "parser"}));
    assert_eq!(undated.get("warnings"), None, "{undated}");
}
