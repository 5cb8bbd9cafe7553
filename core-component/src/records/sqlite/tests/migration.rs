use super::super::schema::{CLEAN_UP, TABLES};
use super::super::sql::{integer, statement};
use super::Host;
use crate::storage::database::Mode;
use crate::storage::{Place, Storage};

/// The number of memories of the old database.
const OLD: i64 = 700;

/// A host with a database of version 2.
fn with_old_database() -> Host {
    let host = Host::new();
    let place = Place::named("records");
    let kind = super::Kind::Kept;
    let database = host.storage.open_database(&place, "memories.db", kind, true).expect("new");
    let transaction = database.begin(Mode::Write(None)).expect("a transaction");
    let mut statements: Vec<_> =
        TABLES.iter().chain(CLEAN_UP).map(|sql| statement(sql, [])).collect();
    let memories = format!(
        "WITH RECURSIVE n (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < {OLD}) \
         INSERT INTO memories SELECT n, 1, printf('%08d-0000-4000-8000-000000000000', n), n % 3, \
         'old kite ' || n, NULL, n, n, n, 0, '[]', 1, 0, 100, '', NULL FROM n"
    );
    for sql in [
        "INSERT INTO agents (name) VALUES ('ada')",
        &memories,
        "INSERT INTO memories_text (rowid, folded) SELECT key, content FROM memories WHERE key < 600",
        "INSERT INTO unindexed SELECT key FROM memories WHERE key >= 600",
        "PRAGMA user_version = 2",
    ] {
        statements.push(statement(sql, []));
    }
    transaction.execute(&statements).expect("executed");
    transaction.commit().expect("committed");
    drop(transaction);
    drop(database);
    host
}

fn version(host: &Host) -> i64 {
    let rows = host.database().query(&statement("PRAGMA user_version", []), 1).expect("rows");
    integer(&rows.rows[0][0]).expect("a number")
}

#[test]
fn an_old_database_is_searched_before_during_and_after_its_index_is_rebuilt() {
    let host = with_old_database();
    assert_eq!(host.total("ada", "KITE 69"), 17, "a reader does not migrate");
    assert_eq!(version(&host), 2);
    let mut pending = OLD as usize;
    for added in 1.. {
        host.add("ada", "new kite 69");
        assert_eq!(version(&host), 4);
        assert_eq!(host.total("ada", "KITE 69"), 17 + added);
        assert_eq!(host.total("ada", "ite"), OLD + added);
        host.check_index();
        let before = std::mem::replace(&mut pending, host.pending().len());
        let indexed = before + 1 - pending;
        assert!(indexed <= 257, "one call indexed {indexed}");
        if pending < 32 {
            break;
        }
        assert!(indexed >= 200, "one call indexed only {indexed}");
    }
}
