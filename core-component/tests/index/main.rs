//! Whatever happens to the index, a search gives the same answer as without an index.

mod scene;
mod texts;

use agent_memory_core::storage::{ErrorCode, Status};
use serde_json::{Value, json};

use scene::Scene;
use texts::{Random, WORDS, path, word};

#[test]
fn an_index_gives_the_hits_of_direct_reading_in_the_same_order() {
    Scene::both(24).into_iter().for_each(compare_with_direct_reading);
}

fn compare_with_direct_reading(scene: Scene) {
    let mut random = Random(7);
    let mut indexed_reads = 0;
    let rounds = if cfg!(debug_assertions) { 60 } else { 400 };
    for round in 0..rounds {
        match random.below(6) {
            0 => scene.remove(&scene.path(random.below(40))),
            1 | 2 => scene.put(&scene.path(random.below(60)), &scene.text(&mut random)),
            _ => {}
        }
        let words = (0..1 + random.below(4)).map(|_| word(&mut random));
        let mut arguments = json!({"query": words.collect::<Vec<_>>().join(" ")});
        match random.below(6) {
            0 => arguments["agent"] = json!("ada"),
            1 => arguments["from_date"] = json!("2025-02-10"),
            2 => arguments["limit"] = json!(50),
            3 => arguments["include_archived"] = json!(true),
            _ => {}
        }
        let answer = scene.search(&arguments);
        indexed_reads += scene.reads.get();
        let direct = scene.direct();
        assert_eq!(answer, direct.search(&arguments), "round {round}: {arguments}");
    }
    assert!(indexed_reads < rounds * 20, "{indexed_reads} documents were read");
    let segments = scene.rows("SELECT count(*) FROM segments").expect("an index");
    assert!(segments[0][0].as_u64().is_some_and(|segments| segments <= 2 * 7), "{segments:?}");
}

#[test]
fn no_error_of_the_index_shows() {
    for (is_store, is_indexed) in [(false, false), (false, true), (true, false), (true, true)] {
        let scene = Scene::with(is_store, 24);
        if is_indexed {
            let scene = &scene;
            (0..3).for_each(|_| drop(scene.check("kite", "indexing")));
        }
        let mut random = Random(3);
        let mut operation = 0;
        let mut faults = 0;
        loop {
            for code in [ErrorCode::Busy, ErrorCode::Corrupted] {
                if is_indexed {
                    // A new text gives each search something to index.
                    let text = scene.text(&mut random) + &format!("\n{operation} {code:?}\n");
                    scene.put(&scene.path(operation), &text);
                } else {
                    scene.memory.delete_derived();
                }
                scene.fails.set(Some((operation, code)));
                scene.check("kites of the zebra", &format!("{operation} {code:?}"));
                faults += usize::from(scene.operations.get() > operation);
            }
            if scene.operations.get() <= operation {
                break;
            }
            operation += 1;
        }
        assert!(faults > 12, "{faults} faults");
    }
}

#[test]
fn a_damaged_index_is_built_anew_or_ignored() {
    for damage in [
        "DROP TABLE segments",
        "DROP TABLE postings",
        "DELETE FROM index_version",
        "UPDATE index_version SET version = 99",
        "UPDATE segments SET documents = x'01'",
        "UPDATE segments SET documents = 'x', work = 'x'",
        "UPDATE segments SET documents = zeroblob(1)",
        "UPDATE segments SET gone = x'ff7f'",
        "UPDATE segments SET collection = 'other'",
        "UPDATE postings SET parts = 'x'",
        "UPDATE postings SET parts = x'80'",
        "UPDATE postings SET parts = x'ffff7f'",
        "ALTER TABLE segments RENAME COLUMN gone TO lost",
    ] {
        for scene in Scene::both(24).map(Scene::indexed) {
            scene.run(damage);
            for query in ["kites", "zebra drawer", "the planes"] {
                scene.check(query, damage);
            }
        }
    }
}

#[test]
fn an_index_of_wrong_numbers_gives_another_order_and_no_error() {
    for damage in ["UPDATE postings SET parts = x'0005'", "UPDATE postings SET stem = -stem"] {
        for scene in Scene::both(24).map(Scene::indexed) {
            scene.run(damage);
            let found = scene.search(&json!({"query": "zebra drawer"}));
            assert!(found["searched"].is_array(), "{damage}: {found}");
        }
    }
}

#[test]
fn a_deleted_index_is_built_anew() {
    let scene = Scene::with_logs(24).indexed();
    scene.memory.delete_derived();
    scene.indexed();
}

#[test]
fn a_small_place_has_no_index() {
    let scene = Scene::with_logs(8);
    (0..3).for_each(|_| drop(scene.check("kite", "a small place")));
    assert!(scene.rows("SELECT 1").is_err(), "there is a database");
}

#[test]
fn a_dash_in_the_title_of_a_log_does_not_slow_its_indexing() {
    let scene = Scene::new(false);
    let entry = "The kites collide. ".repeat(250);
    for number in 0..100 {
        let text =
            format!("# ada — a day\n\n## Header\n\n- Agent Name: ada\n\n## Context\n\n{entry}\n");
        scene.put(&path(number), &text);
    }
    scene.check("kite", "indexing");
    assert_eq!(scene.reads.get(), 102, "the logs and the summaries of two agents");
    // The logs have half a MiB, so one search has indexed all of them.
    scene.check("passport", "after indexing");
    assert_eq!(scene.reads.get(), 2, "no log is read");
}

#[test]
fn an_index_of_many_segments_gets_complete() {
    let scene = Scene::new(false);
    let entry = "हिन्दी ".repeat(700);
    let put = |number: usize| {
        scene.put(&path(number), &format!("# ada\n\n## Context\n\nA kite. {entry}\n"));
    };
    // A place with fewer bytes has no index.
    (0..6).for_each(put);
    scene.check("passport", "indexing");
    for number in 6..20 {
        put(number);
        scene.check("passport", "indexing");
        assert_eq!(scene.reads.get(), 3, "the summaries, and the log that is new");
    }
    scene.check("passport", "indexed");
    assert_eq!(scene.reads.get(), 2, "the summaries");
}

#[test]
fn a_stamp_that_may_stay_is_not_indexed() {
    let scene = Scene::with_logs(24).with_stamp(|status| format!("{}-1-1-1", status.size));
    scene.check("kite", "old");
    scene.check("passport of nobody", "old");
    assert!(scene.reads.get() < 24, "{} are read", scene.reads.get());
    // 2026-01-01T09:59:59 UTC, one second before the call.
    let young =
        |status: &Status| format!("{0}-{1}-{1}-1", status.size, 1_767_261_599_000_000_000_u64);
    let scene = Scene::with_logs(24).with_stamp(young);
    scene.check("kite", "young");
    assert!(scene.rows("SELECT 1").is_err(), "there is a database");
}

#[test]
fn a_hit_is_checked_against_its_document() {
    let same = |_: &Status| "1-1-1-1".to_owned();
    let scene = Scene::with(true, 24).with_stamp(same).indexed();
    let hit = scene.check("zebra kites", "before")["hits"][0].clone();
    let path = format!("{}.md", hit["path"].as_str().expect("a path"));
    scene.put(&path, "Nothing of the kind.\n");
    scene.check("zebra kites", "after");

    let scene = Scene::with_logs(24).with_stamp(same).indexed();
    let hit = scene.check("zebra kites", "before")["hits"][0].clone();
    let path = hit["path"].as_str().expect("a path").trim_start_matches(".github/agent-memory/");
    scene.put(path, "# another log\n\n## Section\n\nNothing of the kind.\n");
    scene.check("zebra kites", "after");
}

#[test]
fn the_index_has_no_word_of_a_document() {
    for scene in Scene::both(24).map(Scene::indexed) {
        has_no_word(&scene);
    }
}

fn has_no_word(scene: &Scene) {
    let bytes =
        "SELECT group_concat(CAST(documents AS TEXT) || CAST(gone AS TEXT), '') FROM segments";
    let postings = "SELECT group_concat(stem || CAST(parts AS TEXT), '') FROM postings";
    for sql in [bytes, postings] {
        for row in scene.rows(sql).expect("rows") {
            let text = row[0].to_string();
            for word in WORDS.iter().filter(|word| word.is_ascii() && word.len() > 3) {
                assert!(!text.contains(&word[..4]), "{word}: {text}");
            }
        }
    }
}

#[test]
fn documents_that_are_gone_leave_the_index_with_the_next_search() {
    let scene = Scene::with_logs(24).indexed();
    scene.remove(&path(7));
    scene.check("kite", "after");
    let gone = "SELECT count(*) FROM segments WHERE length(gone) > 0";
    assert_eq!(scene.rows(gone).expect("rows"), [[json!(1)]]);
    // A search for one agent keeps the logs of other agents in the index.
    let of_bob = "SELECT count(*) > 0 FROM segments WHERE collection = 'bob'";
    scene.search(&json!({"query": "kite", "agent": "ada"}));
    assert_eq!(scene.rows(of_bob).expect("rows"), [[json!(1)]]);
    // All logs of `bob` are removed by hand.
    (0..24).step_by(3).for_each(|number| scene.remove(&path(number)));
    scene.check("kite", "without the agent");
    assert_eq!(scene.rows(of_bob).expect("rows"), [[json!(0)]]);
}

#[test]
fn a_memory_that_is_removed_leaves_the_index_in_the_same_call() {
    let scene = Scene::with(true, 24);
    let path = scene.path(7);
    scene.put(&path, "A quetzal with the kite of a quokka.\n");
    let scene = scene.indexed();
    let stems = || scene.rows("SELECT count(*) FROM postings").expect("rows");
    let before = stems();
    let path = path.trim_end_matches(".md");
    scene.call("remove_memory", &json!({"store": "notes", "path": path}));
    let count = |rows: &[Vec<Value>]| rows[0][0].as_u64().expect("a number");
    assert!(count(&before) - count(&stems()) >= 2, "the words of no other memory");
    scene.check("kite", "after");
}

#[test]
fn a_text_that_is_forgotten_leaves_the_index_in_the_same_call() {
    for is_store in [true, false] {
        let scene = Scene::with(is_store, 24);
        let path = scene.path(7);
        scene.put(&path, "A quetzal with the kite of a quokka.\n");
        let scene = scene.indexed();
        let postings = || scene.rows("SELECT count(*) FROM postings").expect("rows");
        let count = |rows: &[Vec<Value>]| rows[0][0].as_u64().expect("a number");
        let before = count(&postings());
        let answer = scene.call("forget_memory", &json!({"text": "kite of a quokka"}));
        assert_eq!(answer["found"].as_array().map(Vec::len), Some(1), "{answer}");
        assert!(before - count(&postings()) >= 2, "the words of no other document");
        scene.check("kite", "after");
    }
}
