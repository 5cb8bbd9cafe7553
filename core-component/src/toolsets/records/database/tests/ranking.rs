//! A search in rows has the same hits as a search in a file with the same memories, with and
//! without an index.

use serde_json::{Value as Json, json};

use super::Host;

/// The words of the memories. The word at index `n` is in one of `n + 1` memories, on average.
const WORDS: [&str; 8] = ["run", "kites", "fly", "planes", "collide", "東京都", "tests", "straße"];

/// Enough memories for two things: common words have more matches than the limit, and the index has
/// several segments.
const MEMORIES: usize = 1_700;

const QUESTIONS: [&str; 11] = [
    "rare1",
    "rare2 kites",
    "straße",
    "tests collide",
    "run",
    "running kite planes",
    "東京",
    "rare1 rare2 rare3 tests",
    "nothing",
    "1 2 3 flies 44 changed",
    "tag",
];

/// A generator of pseudo-random numbers, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
        (self.0 >> 33) % most
    }

    fn id(&mut self) -> String {
        format!("{:08}-0000-4000-8000-000000000000", self.below(100_000_000))
    }

    fn content(&mut self, number: usize) -> String {
        let words = (0..WORDS.len()).filter(|at| self.below(*at as u64 + 1) == 0);
        let mut words: Vec<String> = words.map(|at| WORDS[at].to_owned()).collect();
        words.extend((self.below(40) == 0).then(|| format!("rare{}", self.below(9))));
        format!("{} {number}", words.join(" "))
    }
}

/// The agents that have the same memories, in rows and in a file.
const AGENTS: [&str; 2] = ["rows", "file"];

fn each(host: &Host, tool: &str, arguments: &Json) {
    for agent in AGENTS {
        let mut arguments = arguments.clone();
        arguments["agent_id"] = json!(agent);
        host.call_at(0, tool, &arguments);
    }
}

/// The answer of a search, with `agent` in place of the agent's name: so the answers for two agents
/// are comparable.
fn answer(host: &Host, agent: &str, question: &str, others: &Json) -> Json {
    let mut arguments = others.clone();
    arguments["query"] = json!(question);
    arguments["agent"] = json!(agent);
    arguments["limit"] = json!(20);
    let answer = host.call_at(1, "search_memory", &arguments).to_string();
    assert!(!answer.contains("\"warnings\""), "{question}: {answer}");
    let answer = answer.replace(&format!("\"{agent}\""), "\"agent\"");
    serde_json::from_str(&answer).expect("JSON")
}

fn compare(host: &Host, what: &str) {
    let all = [json!({}), json!({"include_archived": true}), json!({"from_date": "2023-11-24"})];
    for question in QUESTIONS {
        for others in &all {
            let [rows, file] = AGENTS.map(|agent| answer(host, agent, question, others));
            assert_eq!(rows["hits"], file["hits"], "{what}: {question} {others}");
            assert_eq!(rows["searched"], file["searched"], "{what}: {question} {others}");
        }
    }
}

#[test]
fn rows_and_a_file_with_the_same_memories_have_the_same_hits_after_any_change() {
    let host = Host::new();
    let mut random = Random(5);
    let mut ids = Vec::new();
    let mut minutes = 0;
    let mut records = Vec::new();
    for number in 0..MEMORIES {
        minutes += [0, 1, 20, 45][random.below(4) as usize];
        let moment = 1_700_000_000_000 + 60_000 * minutes;
        let moment = crate::time::Timestamp::from_milliseconds(moment).expect("in range");
        ids.push(random.id());
        let record = json!({
            "id": ids.last(),
            "type": (["core", "learning", "task"][random.below(3) as usize]),
            "content": random.content(number),
            "tags": if random.below(9) == 0 { json!(["running", "tag"]) } else { json!([]) },
            "archived": random.below(6) == 0,
            "created_at": moment.to_string(),
        });
        records.push(record.to_string());
    }
    for page in records.chunks(500) {
        each(&host, "import_records", &json!({"records": page.join("\n")}));
        host.add("other", "kites of another agent fly too");
    }
    host.call("convert_records", &json!({"agent_id": "file", "to": "json"}));
    compare(&host, "imported");
    for agent in AGENTS {
        let sql = format!("SELECT count(*) FROM segments WHERE collection = '{agent}'");
        assert!(host.derived(&sql) > 0, "a search has made an index of {agent}");
    }
    for step in 0..30 {
        let id = ids.swap_remove(random.below(ids.len() as u64) as usize);
        match random.below(4) {
            0 => {
                each(&host, "delete_memory", &json!({"id": id, "permanent": true}));
                continue;
            }
            1 => each(&host, "delete_memory", &json!({"id": id})),
            2 => {
                let content = format!("changed {}", random.content(step));
                each(&host, "update_memory", &json!({"id": id, "content": content}));
            }
            _ => {
                let content = random.content(step);
                let kind = ["core", "learning", "task"][random.below(3) as usize];
                let memory = json!({"id": id, "type": kind, "content": content});
                each(&host, "store_memory", &memory);
            }
        }
        ids.push(id);
        if step % 10 == 9 {
            compare(&host, &format!("step {step}"));
        }
    }
    host.call("convert_records", &json!({"agent_id": "rows", "to": "json"}));
    assert_eq!(host.derived("SELECT count(*) FROM segments WHERE collection = 'rows'"), 0);
    host.call("convert_records", &json!({"agent_id": "rows", "to": "sqlite"}));
    compare(&host, "converted");
    host.storage.delete_derived();
    compare(&host, "without an index");
}

#[test]
fn the_words_of_a_memory_that_is_deleted_for_good_leave_the_index() {
    for format in ["sqlite", "json"] {
        let host = Host::new();
        let content = |number: usize| format!("common words {}", "filler ".repeat(number % 7 + 9));
        (0..300).for_each(|number| drop(host.add("ada", &content(number))));
        let secret = host.add("ada", "common hunter2");
        host.call("convert_records", &json!({"agent_id": "ada", "to": format}));
        let search = |word: &str| {
            let arguments = json!({"query": word, "agent": "ada"});
            host.call("search_memory", &arguments)["hits"].as_array().map_or(0, Vec::len)
        };
        assert!(search("hunter2") > 0);
        let stem = crate::index::number_of("hunter2");
        let postings = format!("SELECT count(*) FROM postings WHERE stem = {stem}");
        assert_eq!(host.derived(&postings), 1, "{format}");
        let secret = json!({"agent_id": "ada", "id": secret, "permanent": true});
        host.call("delete_memory", &secret);
        assert_eq!(host.derived(&postings), 0, "{format}");
        assert_eq!(search("hunter2"), 0);
    }
}
