use serde_json::json;

use super::Host;

/// A host with three memories of one agent. The SQL assignment `set` damages the second one.
fn damaged(set: &str) -> Host {
    let host = Host::new();
    for content in ["first kite", "second kite", "third kite"] {
        host.add("ada", content);
    }
    let sql = format!("UPDATE memories SET {set} WHERE content = 'second kite'");
    host.storage.run_sql(&[sql]);
    host
}

const DAMAGES: [(&str, &str); 5] = [
    ("content = CAST(x'6bff' AS TEXT)", "holds bytes that are not UTF-8 where text is expected"),
    ("category = CAST(x'ff' AS TEXT)", "holds bytes that are not UTF-8 where text is expected"),
    ("type = 9", "holds an integer where a smaller integer is expected"),
    ("importance = -1", "holds an integer where a smaller integer is expected"),
    ("tags = 'x'", "holds text where a JSON array is expected"),
];

#[test]
fn a_row_that_cannot_be_read_hides_no_other_and_is_named() {
    for (set, says) in DAMAGES {
        let host = damaged(set);
        for tool in ["query_memories", "recall_context"] {
            let answer = host.call(tool, &json!({"agent_id": "ada"}));
            assert_eq!(answer["memories"].as_array().map(Vec::len), Some(2), "{tool} {set}");
            assert_eq!(answer["total"], 2, "{tool} {set}");
            let text = answer.to_string();
            assert!(text.contains("third kite") && text.contains("first kite"), "{tool} {set}");
            let warning = answer["warnings"][0].as_str().expect("a warning");
            assert!(warning.starts_with("1 record of `memories.db` cannot be read"), "{warning}");
            assert!(warning.contains(&format!("row 2 of `memories`: `memories.db` {says}")));
        }
        host.call("get_memory_stats", &json!({"agent_id": "ada"}));
        host.add("ada", "fourth kite");
    }
}

#[test]
fn pages_around_a_row_that_cannot_be_read_miss_no_memory() {
    let host = damaged("type = 9");
    let mut offset = 0;
    let mut found = Vec::new();
    loop {
        let page = json!({"agent_id": "ada", "limit": 1, "offset": offset});
        let answer = host.call("query_memories", &page);
        found.extend(answer["memories"].as_array().expect("a list").iter().cloned());
        offset += 1;
        if answer["has_more"] == false {
            break;
        }
    }
    let contents: Vec<_> = found.iter().map(|memory| memory["content"].as_str()).collect();
    assert_eq!(contents, [Some("third kite"), Some("first kite")]);
}

#[test]
fn an_agent_whose_name_is_invalid_hides_no_other_from_a_search() {
    for name in ["'a b'", "CAST(x'ff' AS TEXT)"] {
        let host = Host::new();
        host.add("ada", "the kite flies");
        host.add("bob", "the kite rests");
        host.storage.run_sql(&[format!("UPDATE agents SET name = {name} WHERE name = 'bob'")]);
        let answer = host.searched("kite");
        assert_eq!(answer["hits"][0]["passage"], "the kite flies", "{answer}");
        assert_eq!(
            answer["warnings"],
            json!([
                "1 agent in `memories.db` has a name that is not valid, so their memories cannot be \
                 reached: correct it in the table `agents`"
            ])
        );
    }
}
