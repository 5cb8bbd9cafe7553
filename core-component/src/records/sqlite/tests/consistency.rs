use serde_json::{Value, json};

use super::Host;

const WORDS: [&str; 11] =
    ["kite", "Kites", "Straße", "東京都", "v1.2", "don't", "café", "cafe\u{301}", "नमस्ते", "x", "—"];

/// Numbers without pattern.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
        (self.0 >> 33) as usize % most
    }

    fn text(&mut self) -> String {
        let mut words: Vec<String> =
            (0..self.below(5)).map(|_| WORDS[self.below(WORDS.len())].to_owned()).collect();
        words.push(format!("only{}", self.below(400)));
        words.join(" ")
    }
}

#[test]
fn the_index_is_that_of_the_rows_after_any_change() {
    let mut random = Random(7);
    let host = Host::new();
    let mut ids: Vec<(&str, Value)> = Vec::new();
    for step in 0..400 {
        let agent = ["ada", "bob"][random.below(2)];
        let known = (!ids.is_empty()).then(|| random.below(ids.len()));
        match (random.below(10), known) {
            (0, Some(at)) => {
                let (agent, id) = ids.swap_remove(at);
                let arguments = json!({"agent_id": agent, "id": id, "permanent": true});
                host.call("delete_memory", &arguments);
            }
            (1, Some(at)) => {
                let (agent, id) = &ids[at];
                let arguments = json!({"agent_id": agent, "id": id, "content": random.text()});
                host.call("update_memory", &arguments);
            }
            (2, Some(at)) => {
                // The row of a memory whose type changes is deleted and inserted again.
                let (agent, id) = &ids[at];
                let kind = ["core", "learning", "task"][random.below(3)];
                let memory = json!({
                    "agent_id": agent, "id": id, "type": kind, "content": random.text(),
                    "tags": [random.text(), "tag"], "category": "Fact",
                });
                host.call("store_memory", &memory);
            }
            _ => ids.push((agent, host.add(agent, &random.text()))),
        }
        assert!(host.pending().len() < 32, "step {step}");
        if step % 25 == 0 {
            host.check_index();
        }
    }
    host.check_index();
    for to in ["json", "sqlite"] {
        host.call("convert_records", &json!({"agent_id": "ada", "to": to}));
        host.check_index();
    }
}

#[test]
fn an_import_is_indexed_except_for_fewer_than_a_batch() {
    let host = Host::new();
    let mut random = Random(3);
    let record = |number: usize, random: &mut Random| {
        json!({"id": format!("{number:08}-0000-4000-8000-000000000000"), "type": "task",
            "content": random.text(), "created_at": "2025-01-01T10:00:00.000Z"})
        .to_string()
    };
    for (first, end) in [(0, 20), (20, 700)] {
        let lines: Vec<String> = (first..end).map(|number| record(number, &mut random)).collect();
        host.call("import_records", &json!({"records": lines.join("\n")}));
        host.check_index();
        assert!(host.pending().len() < 32);
    }
}

#[test]
fn what_a_long_import_leaves_pending_is_found_and_is_indexed_step_by_step() {
    let host = Host::new();
    let record = |number: usize| {
        json!({"id": format!("{number:08}-0000-4000-8000-000000000000"), "type": "task",
            "content": format!("kite {number}"), "created_at": "2025-01-01T10:00:00.000Z"})
        .to_string()
    };
    let lines: Vec<String> = (0..2_600).map(record).collect();
    host.call("import_records", &json!({"agent_id": "ada", "records": lines.join("\n")}));
    let mut pending = host.pending().len();
    assert!(pending > 500, "{pending} are pending");
    for added in 1.. {
        assert_eq!(host.total("ada", "KITE 259"), 13);
        host.add("ada", "another");
        let before = std::mem::replace(&mut pending, host.pending().len());
        let indexed = before + 1 - pending;
        assert!(indexed <= 257, "one call indexed {indexed}");
        assert_eq!(host.total("ada", "ite"), 2_600);
        assert_eq!(host.total("ada", "nother"), added);
        if pending < 32 {
            break;
        }
        assert!(indexed >= 200, "one call indexed only {indexed}");
    }
    host.check_index();
}

/// The texts of a page would not fit into one answer of storage, and those of a call would take too
/// long.
#[test]
fn long_memories_are_indexed_a_few_at_a_time_and_very_long_ones_never() {
    let host = Host::new();
    let record = |number: usize, content: &str| {
        json!({"id": format!("{number:08}-0000-4000-8000-000000000000"), "type": "task",
            "content": content, "created_at": "2025-01-01T10:00:00.000Z"})
        .to_string()
    };
    let long = |name: &str, length: usize| format!("{name} {}", "kite ".repeat(length / 5));
    let import = |agent: &str, record: String| {
        host.call("import_records", &json!({"agent_id": agent, "records": record}));
    };
    for number in 0..33 {
        let content = long(&format!("long{number}"), 500_000);
        import(&format!("agent{}", number / 11), record(number, &content));
    }
    import("ada", record(40, &long("overlong", 600_000)));
    for number in 0..40 {
        host.add("ada", &format!("short {number}"));
    }
    assert!(host.pending().len() < 64, "{} are pending", host.pending().len());
    let found =
        [("agent0", "long0"), ("agent2", "long32"), ("ada", "overlong"), ("ada", "short 39")];
    for (agent, term) in found {
        assert_eq!(host.total(agent, term), 1, "{term}");
    }
}

#[test]
fn the_words_of_a_deleted_memory_leave_the_vocabulary_unless_another_memory_has_them() {
    let host = Host::new();
    for number in 0..31 {
        host.add("ada", &format!("shared filler {number}"));
    }
    let secret = host.add("ada", "shared secret hunter2");
    assert!(host.pending().is_empty());
    let words = |word: &str| {
        let sql = "SELECT key FROM words WHERE word = ?1";
        host.keys(sql, [super::text(word)]).len()
    };
    assert_eq!([words("shared"), words("secret"), words("hunter2")], [1, 1, 1]);
    host.call("delete_memory", &json!({"agent_id": "ada", "id": secret, "permanent": true}));
    assert_eq!([words("shared"), words("secret"), words("hunter2")], [1, 0, 0]);
    host.check_index();
}
