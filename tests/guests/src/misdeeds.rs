//! What the tools do, one function each.

use crate::agent_memory::core::database::{
    self, Connection, Statement, Transaction, TransactionMode, Value as Column,
};
use crate::agent_memory::core::documents::{
    self, Backup, Change, Place, PlaceKind, Put, Side, Tree,
};
use crate::agent_memory::core::storage_types::Error;
use crate::exports::agent_memory::core::toolbox::{Failure, FailureCode, Outcome};
use serde_json::{Value, json};
use std::cell::Cell;
use std::hint::black_box;
use std::io::{Write, stderr};

/// The document that `append`, `read` and `storm` work on.
const DOCUMENT: &str = "guest/lines.txt";
const ENOUGH: u64 = 1 << 24;
/// Characters of an answer that is longer than any host wants.
const VAST: usize = 80 << 20;

/// Runs the tool of this name, or none where there is none.
pub fn commit(
    name: &str,
    argument: impl Fn(&str) -> String,
    context: &Value,
) -> Option<Result<Value, Error>> {
    let open = || open(argument("repo_root"));
    Some(match name {
        "add-row" => add_row(),
        "append" => open().and_then(|tree| append(&tree, &argument("line"), context)),
        "append-without-lock" => open().and_then(|tree| append(&tree, &argument("line"), context)),
        "attach" => with_row(|transaction| {
            transaction.execute(&[statement("ATTACH '/tmp/away.db' AS away")])
        }),
        "complain" => complain(),
        "count" => Ok(json!({ "count": count() })),
        "endless-statement" => with_row(|transaction| transaction.execute(&[statement(ENDLESS)])),
        "flood" => Ok(json!({ "version": flood() })),
        "grow" => Ok(json!({ "pages": grow() })),
        "hoard" => hoard(argument("repo_root")),
        "keep" => open().and_then(|tree| keep(&tree)),
        "lock-after-commit" => open().and_then(|tree| {
            with_row(|transaction| transaction.commit())?;
            tree.lock().map(|_writer| json!({}))
        }),
        "lock-after-rollback" => open().and_then(|tree| {
            with_row(|_| Ok(()))?;
            tree.lock().map(|_writer| json!({}))
        }),
        "lock-in-transaction" => {
            open().and_then(|tree| with_row(|_| tree.lock().map(|_writer| ())))
        }
        "lock-twice" => open().and_then(|tree| lock_twice(&tree)),
        "panic" => panic!("the guest panics"),
        "probe-database" => database::open("records", true).map(|_| json!({})),
        "read" => open().and_then(|tree| read(&tree)).map(|lines| json!({ "lines": lines })),
        "recurse" => Ok(json!({ "depth": recurse(0) })),
        "recurse-in-memory" => Ok(json!({ "depth": recurse_in_memory(0) })),
        "recurse-locked" => {
            open().and_then(|tree| tree.lock()).map(|_writer| json!({ "depth": recurse(0) }))
        }
        "spin" => spin(),
        "spin-in-transaction" => with_row(|_| spin()),
        "spin-locked" => open().and_then(|tree| tree.lock()).and_then(|_writer| spin()),
        "storm" => open().and_then(|tree| storm(&tree)),
        "transact-twice" => records().and_then(|records| {
            let _first = records.begin(TransactionMode::Write)?;
            records.begin(TransactionMode::Read).map(|_second| json!({}))
        }),
        "trap" => core::arch::wasm32::unreachable(),
        "trap-in-transaction" => {
            with_row(|_| -> Result<(), Error> { core::arch::wasm32::unreachable() })
        }
        "trap-while-locked" => open().and_then(|tree| trap_while_locked(&tree)),
        _ => return None,
    })
}

/// The answer of a tool whose misdeed is its answer.
pub fn answer(name: &str) -> Option<Result<Outcome, Failure>> {
    let outcome = |result, is_error| {
        Some(Ok(Outcome { result, is_error, changed: Vec::new(), follow_ups: Vec::new() }))
    };
    // Made at once: a text that grows is copied.
    let vast = |before: &str, after: &str| {
        let mut text = String::with_capacity(before.len() + VAST + after.len());
        text.push_str(before);
        text.extend(std::iter::repeat_n('x', VAST));
        text + after
    };
    match name {
        "babble" => outcome("this is {no JSON".to_owned(), false),
        "vast-error" => outcome(vast(r#"{"error":"Vast","message":""#, r#""}"#), true),
        "vast-failure" => {
            Some(Err(Failure { code: FailureCode::InvalidRequest, message: vast("", "") }))
        }
        "vast-result" => outcome(vast(r#"{"vast":""#, r#""}"#), false),
        _ => None,
    }
}

fn open(repository: String) -> Result<Tree, Error> {
    documents::open(&Place { kind: PlaceKind::Repository, name: repository })
}

fn read(tree: &Tree) -> Result<String, Error> {
    let document = tree.read(Side::Documents, DOCUMENT, ENOUGH)?;
    let contents = document.map(|document| document.contents);
    Ok(String::from_utf8_lossy(&contents.unwrap_or_default()).into_owned())
}

/// Well behaved: a line at the end of the document, with the time of the call. It shows that the
/// lock was free, and in what order the calls went.
fn append(tree: &Tree, line: &str, context: &Value) -> Result<Value, Error> {
    let writer = tree.lock()?;
    let before = tree.read(Side::Documents, DOCUMENT, ENOUGH)?;
    let (mut contents, expects) = match before {
        Some(document) => (document.contents, Some(document.version)),
        None => (Vec::new(), None),
    };
    contents.extend_from_slice(line.as_bytes());
    contents.push(b'\n');
    let put = Put { side: Side::Documents, path: DOCUMENT.to_owned(), contents, expects };
    writer.commit(&[Change::Put(put)]).map_err(|failed| failed.error)?;
    Ok(json!({ "now": context["now"], "seed": context["seed"] }))
}

/// Well behaved, too: empties the document, and keeps what it held beside it.
fn keep(tree: &Tree) -> Result<Value, Error> {
    let writer = tree.lock()?;
    let version = tree.read(Side::Documents, DOCUMENT, ENOUGH)?.map(|document| document.version);
    let backup = Backup {
        side: Side::Documents,
        from: DOCUMENT.to_owned(),
        to: format!("{DOCUMENT}.backup"),
        expects: version.clone().unwrap_or_default(),
    };
    let put = Put {
        side: Side::Documents,
        path: DOCUMENT.to_owned(),
        contents: Vec::new(),
        expects: version,
    };
    let changes = [Change::Copy(backup), Change::Put(put)];
    let versions = writer.commit(&changes).map_err(|failed| failed.error)?;
    Ok(json!({ "versions": versions }))
}

/// Counts the calls that this instance's memory has seen.
fn count() -> u32 {
    thread_local!(static CALLS: Cell<u32> = const { Cell::new(0) });
    CALLS.set(CALLS.get() + 1);
    CALLS.get()
}

/// A statement that comes to no end.
const ENDLESS: &str = "INSERT INTO guest WITH RECURSIVE n (x) AS \
                       (SELECT 1 UNION ALL SELECT x + 1 FROM n) \
                       SELECT a.x FROM n AS a, n AS b WHERE b.x < 0";

fn statement(sql: &str) -> Statement {
    Statement { sql: sql.to_owned(), parameters: Vec::new() }
}

fn records() -> Result<Connection, Error> {
    database::open("records", true)
}

/// A transaction with a row that is not committed, and what is done then.
fn with_row<T>(then: impl FnOnce(&Transaction) -> Result<T, Error>) -> Result<Value, Error> {
    let records = records()?;
    let transaction = records.begin(TransactionMode::Write)?;
    insert(&transaction)?;
    then(&transaction).map(|_| json!({}))
}

fn insert(transaction: &Transaction) -> Result<(), Error> {
    let table = statement("CREATE TABLE IF NOT EXISTS guest (x INTEGER)");
    let row = Statement {
        sql: "INSERT INTO guest VALUES (?1)".to_owned(),
        parameters: vec![Column::Integer(1)],
    };
    transaction.execute(&[table, row]).map(drop)
}

/// Well behaved: adds a row, and says how many there are. It shows that the database was free, and
/// what others left in it.
fn add_row() -> Result<Value, Error> {
    let records = records()?;
    let transaction = records.begin(TransactionMode::Write)?;
    insert(&transaction)?;
    transaction.commit()?;
    let rows = records.query(&statement("SELECT count(*) FROM guest"), 1)?;
    match rows.rows[0][0] {
        Column::Integer(count) => Ok(json!({ "rows": count })),
        _ => unreachable!("a count is a number"),
    }
}

fn spin() -> Result<Value, Error> {
    let mut turns = 0_u64;
    loop {
        turns = black_box(turns.wrapping_add(1));
    }
}

fn trap_while_locked(tree: &Tree) -> Result<Value, Error> {
    let _writer = tree.lock()?;
    core::arch::wasm32::unreachable()
}

fn lock_twice(tree: &Tree) -> Result<Value, Error> {
    let _first = tree.lock()?;
    tree.lock().map(|_second| json!({}))
}

/// Prints more than anybody reads, and panics.
fn complain() -> ! {
    let line = [b'x'; 1 << 16];
    for _ in 0..VAST / line.len() {
        let _ = stderr().write_all(&line);
    }
    panic!("the guest panics")
}

/// Calls itself until the machine's stack is used up.
#[expect(unconditional_recursion, reason = "that is the misdeed")]
fn recurse(depth: u64) -> u64 {
    black_box(recurse(black_box(depth + 1))) + 1
}

/// Calls itself until the stack that Rust keeps in the component's memory is used up.
#[expect(unconditional_recursion, reason = "that is the misdeed")]
fn recurse_in_memory(depth: u64) -> u64 {
    let mut frame = [depth; 1024];
    black_box(&mut frame);
    recurse_in_memory(depth + 1) + black_box(&frame)[7]
}

/// Takes memory as long as there is any.
fn grow() -> usize {
    loop {
        let pages = core::arch::wasm32::memory_grow(0, 1024);
        if pages == usize::MAX {
            return core::arch::wasm32::memory_size(0);
        }
    }
}

/// Hands the host more than a call may at once.
fn flood() -> String {
    documents::version_of(&vec![0; 100 << 20])
}

/// Opens trees and never lets go of them.
fn hoard(repository: String) -> Result<Value, Error> {
    for _ in 0..1_000_000 {
        core::mem::forget(open(repository.clone())?);
    }
    Ok(json!({}))
}

/// Asks storage a million times.
fn storm(tree: &Tree) -> Result<Value, Error> {
    for _ in 0..1_000_000 {
        black_box(tree.location());
    }
    Ok(json!({}))
}
