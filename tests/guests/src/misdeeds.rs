//! The tools, a function for each.

use crate::agent_memory::storage::database::{
    self, Connection, Kind, Mode, Statement, Transaction, Value as Column,
};
use crate::agent_memory::storage::documents::{self, Area, Backup, Change, Put, Tree};
use crate::agent_memory::storage::types::{Error, NamedPlace, Place};
use crate::exports::agent_memory::toolbox::toolbox::{
    Category, Context, Failure, FailureCode, Outcome, Refusal,
};
use serde_json::{Value, json};
use std::cell::Cell;
use std::hint::black_box;
use std::io::{Write, stderr};

/// The document that `append`, `read` and `storm` work on.
const DOCUMENT: &str = "guest/lines.txt";
const ENOUGH: u64 = 1 << 24;
/// The length of an answer that is too long for any host.
const VAST: usize = 80 << 20;

/// Runs the tool of this name; none if there is no such tool.
pub fn commit(
    name: &str,
    argument: impl Fn(&str) -> String,
    context: &Context,
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
        "lock-after-commit" => with_row(|transaction| transaction.commit()).and_then(|_| {
            let tree = own_tree()?;
            tree.lock(None).map(|_writer| json!({}))
        }),
        "lock-after-rollback" => with_row(|_| Ok(())).and_then(|_| {
            let tree = own_tree()?;
            tree.lock(None).map(|_writer| json!({}))
        }),
        "lock-in-transaction" => {
            with_row(|_| own_tree().and_then(|tree| tree.lock(None).map(|_writer| ())))
        }
        "lock-two-places" => open().and_then(|tree| {
            let _writer = tree.lock(None)?;
            with_row(|_| Ok(()))
        }),
        "lock-two-places-in-turn" => open().and_then(|tree| {
            drop(tree.lock(None)?);
            with_row(|transaction| transaction.commit())?;
            tree.lock(None).map(|_writer| json!({}))
        }),
        "write-under-lock" => own_tree().and_then(|tree| {
            let writer = tree.lock(None)?;
            add_row_and(|| drop(writer))
        }),
        "go-on-after-error" => with_row(|transaction| {
            let _ = transaction.execute(&[statement("INSERT INTO nowhere VALUES (1)")]);
            transaction.commit()
        }),
        "lock-twice" => open().and_then(|tree| lock_twice(&tree)),
        "panic" => panic!("the guest panics"),
        "probe-database" => own_database().map(|_| json!({})),
        "read" => open().and_then(|tree| read(&tree)).map(|lines| json!({ "lines": lines })),
        "recurse" => Ok(json!({ "depth": recurse(0) })),
        "recurse-in-memory" => Ok(json!({ "depth": recurse_in_memory(0) })),
        "recurse-locked" => {
            open().and_then(|tree| tree.lock(None)).map(|_writer| json!({ "depth": recurse(0) }))
        }
        "spin" => spin(),
        "spin-in-transaction" => with_row(|_| spin()),
        "spin-locked" => open().and_then(|tree| tree.lock(None)).and_then(|_writer| spin()),
        "storm" => open().and_then(|tree| storm(&tree)),
        "transact-twice" => own_database().and_then(|database| {
            let _first = database.begin(&Mode::Write(None))?;
            database.begin(&Mode::Read).map(|_second| json!({}))
        }),
        "trap" => core::arch::wasm32::unreachable(),
        "trap-in-transaction" => {
            with_row(|_| -> Result<(), Error> { core::arch::wasm32::unreachable() })
        }
        "trap-while-locked" => open().and_then(|tree| trap_while_locked(&tree)),
        _ => return None,
    })
}

/// The answer of a tool that misbehaves only by its answer. `None` for other tools.
pub fn answer(name: &str) -> Option<Result<Outcome, Failure>> {
    let outcome = |answer| {
        Some(Ok(Outcome {
            answer,
            changed: Vec::new(),
            follow_ups: Vec::new(),
            wants_vector: None,
        }))
    };
    // Allocated at its full length, since growing would copy it.
    let vast = |before: &str, after: &str| {
        let mut text = String::with_capacity(before.len() + VAST + after.len());
        text.push_str(before);
        text.extend(std::iter::repeat_n('x', VAST));
        text + after
    };
    match name {
        "babble" => outcome(Ok("this is {no JSON".to_owned())),
        "vast-error" => {
            let json = vast(r#"{"error":"Vast","message":""#, r#""}"#);
            let code = "Vast".to_owned();
            let message = String::new();
            outcome(Err(Refusal { category: Category::Invalid, code, message, json }))
        }
        "vast-failure" => {
            Some(Err(Failure { code: FailureCode::InvalidRequest, message: vast("", "") }))
        }
        "vast-result" => outcome(Ok(vast(r#"{"vast":""#, r#""}"#))),
        _ => None,
    }
}

fn open(repository: String) -> Result<Tree, Error> {
    documents::open(&Place::Repository(repository))
}

/// The place that this component describes.
fn own_place() -> Place {
    Place::Named(NamedPlace { label: crate::PLACE.to_owned(), name: String::new() })
}

fn own_tree() -> Result<Tree, Error> {
    documents::open(&own_place())
}

fn read(tree: &Tree) -> Result<String, Error> {
    let document = tree.read(Area::Documents, DOCUMENT, ENOUGH)?;
    let contents = document.map(|document| document.contents);
    Ok(String::from_utf8_lossy(&contents.unwrap_or_default()).into_owned())
}

/// No misdeed: adds a line with the time of the call to the document. Tests see from the lines that the
/// lock was free, and in which order the calls ran.
fn append(tree: &Tree, line: &str, context: &Context) -> Result<Value, Error> {
    let writer = tree.lock(None)?;
    let before = tree.read(Area::Documents, DOCUMENT, ENOUGH)?;
    let (mut contents, expects) = match before {
        Some(document) => (document.contents, Some(document.version)),
        None => (Vec::new(), None),
    };
    contents.extend_from_slice(line.as_bytes());
    contents.push(b'\n');
    let put = Put { area: Area::Documents, path: DOCUMENT.to_owned(), contents, expects };
    writer.commit(&[Change::Put(put)]).map_err(|failed| failed.error)?;
    Ok(json!({ "now": context.now, "seed": context.seed }))
}

/// No misdeed: copies the document to a backup, and empties it.
fn keep(tree: &Tree) -> Result<Value, Error> {
    let writer = tree.lock(None)?;
    let version = tree.read(Area::Documents, DOCUMENT, ENOUGH)?.map(|document| document.version);
    let backup = Backup {
        area: Area::Documents,
        from: DOCUMENT.to_owned(),
        to: format!("{DOCUMENT}.backup"),
        expects: version.clone().unwrap_or_default(),
    };
    let put = Put {
        area: Area::Documents,
        path: DOCUMENT.to_owned(),
        contents: Vec::new(),
        expects: version,
    };
    let changes = [Change::Copy(backup), Change::Put(put)];
    let versions = writer.commit(&changes).map_err(|failed| failed.error)?;
    Ok(json!({ "versions": versions }))
}

/// Counts the calls in this instance's linear memory.
fn count() -> u32 {
    thread_local!(static CALLS: Cell<u32> = const { Cell::new(0) });
    CALLS.set(CALLS.get() + 1);
    CALLS.get()
}

/// A statement that never ends.
const ENDLESS: &str = "INSERT INTO guest WITH RECURSIVE n (x) AS \
                       (SELECT 1 UNION ALL SELECT x + 1 FROM n) \
                       SELECT a.x FROM n AS a, n AS b WHERE b.x < 0";

fn statement(sql: &str) -> Statement {
    Statement { sql: sql.to_owned(), parameters: Vec::new() }
}

fn own_database() -> Result<Connection, Error> {
    database::open(&own_place(), crate::DATABASE, Kind::Kept, true)
}

/// Adds a row in a transaction, and calls `then` before the commit.
fn with_row<T>(then: impl FnOnce(&Transaction) -> Result<T, Error>) -> Result<Value, Error> {
    let database = own_database()?;
    let transaction = database.begin(&Mode::Write(None))?;
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

/// No misdeed: adds a row and returns the number of rows. Tests see from it that the database was free,
/// and which rows other calls have committed.
fn add_row() -> Result<Value, Error> {
    add_row_and(|| ())
}

/// Like `add_row`, but calls `meanwhile` before the commit.
fn add_row_and(meanwhile: impl FnOnce()) -> Result<Value, Error> {
    let database = own_database()?;
    let transaction = database.begin(&Mode::Write(None))?;
    insert(&transaction)?;
    meanwhile();
    transaction.commit()?;
    let rows = database.query(&statement("SELECT count(*) FROM guest"), 1)?;
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
    let _writer = tree.lock(None)?;
    core::arch::wasm32::unreachable()
}

fn lock_twice(tree: &Tree) -> Result<Value, Error> {
    let _first = tree.lock(None)?;
    tree.lock(None).map(|_second| json!({}))
}

/// Prints more to standard error than a host keeps, and panics.
fn complain() -> ! {
    let line = [b'x'; 1 << 16];
    for _ in 0..VAST / line.len() {
        let _ = stderr().write_all(&line);
    }
    panic!("the guest panics")
}

/// Recurses until the stack of the thread is used up.
#[expect(unconditional_recursion, reason = "that is the misdeed")]
fn recurse(depth: u64) -> u64 {
    black_box(recurse(black_box(depth + 1))) + 1
}

/// Recurses until the stack in the component's linear memory is used up.
#[expect(unconditional_recursion, reason = "that is the misdeed")]
fn recurse_in_memory(depth: u64) -> u64 {
    let mut frame = [depth; 1024];
    black_box(&mut frame);
    recurse_in_memory(depth + 1) + black_box(&frame)[7]
}

/// Allocates memory until there is none.
fn grow() -> usize {
    loop {
        let pages = core::arch::wasm32::memory_grow(0, 1024);
        if pages == usize::MAX {
            return core::arch::wasm32::memory_size(0);
        }
    }
}

/// Passes more data to the host in one call than the host accepts.
fn flood() -> String {
    documents::version_of(&vec![0; 100 << 20])
}

/// Opens trees and never closes them.
fn hoard(repository: String) -> Result<Value, Error> {
    for _ in 0..1_000_000 {
        core::mem::forget(open(repository.clone())?);
    }
    Ok(json!({}))
}

/// Makes a million storage calls.
fn storm(tree: &Tree) -> Result<Value, Error> {
    for _ in 0..1_000_000 {
        black_box(tree.location());
    }
    Ok(json!({}))
}
