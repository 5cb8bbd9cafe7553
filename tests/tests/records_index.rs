//! New texts are added to the search index many at a time. The index is read without the product.

use std::path::Path;

use agent_memory_conformance::case::Format;
use agent_memory_conformance::runner::Answer;
use agent_memory_tests::process::{Call, Host, Process};
use rusqlite::Connection;
use serde_json::json;

/// How many texts wait for the index at most: the next add indexes all of them.
const GATHERED: usize = 32;

#[test]
fn fewer_than_32_new_texts_wait_for_the_index_and_all_others_are_in_it() {
    for host in Host::all() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let mut process = Process::start_on_records(*host, directory.path(), Format::Sqlite);
        for number in 1..=2 * GATHERED + 6 {
            let arguments = json!({"type": "task", "content": format!("text {number}")});
            let answer = process.call(&Call { tool: "store_memory", arguments });
            assert!(matches!(answer, Answer::Result(_)), "{host:?}: {answer:?}");
            let (waiting, indexed) = counts(directory.path());
            assert_eq!(waiting + indexed, number, "{host:?}: each is in one place");
            assert!(waiting < GATHERED, "{host:?}: {waiting} of {number} wait");
        }
        let (waiting, _) = counts(directory.path());
        assert!(waiting > 0, "{host:?}: each came into the index by itself");
    }
}

/// How many memories wait for the index, and how many are in it.
fn counts(directory: &Path) -> (usize, usize) {
    let database = Connection::open(directory.join("memories.db")).expect("the database opens");
    let count = |table: &str| {
        let sql = format!("SELECT count(*) FROM {table}");
        database.query_row(&sql, [], |row| row.get::<_, u32>(0)).expect("a count") as usize
    };
    (count("unindexed"), count("memories_words_docsize"))
}
