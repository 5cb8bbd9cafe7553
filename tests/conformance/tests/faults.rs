//! Storage faults in every operation of a call: no acknowledged change is lost, no change is half
//! done, and the call can be repeated.

use agent_memory_conformance::case::load_all;
use agent_memory_conformance::core_runner::toolsets;
use agent_memory_conformance::faults::{Call, Finding, State, Sweep, table};
use agent_memory_conformance::in_memory::InMemoryStorage;
use agent_memory_conformance::runner::Answer;
use agent_memory_conformance::workspace::{source, variants};
use agent_memory_core::storage::{Area, Change, CommitError, Error, ErrorCode, Place, Storage};
use serde_json::json;

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes: run it with `--release`")]
fn no_storage_fault_damages_the_documents_of_sessions() {
    // `validate` reports files that no tool can read.
    let unreadable = &[ErrorCode::TooLarge, ErrorCode::InvalidPath, ErrorCode::Permission];
    Sweep::new("sessions").reporting("validate", unreadable).run();
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes: run it with `--release`")]
fn no_storage_fault_damages_the_records() {
    let topics = &[
        "examples",
        "conversion",
        "import",
        "archive",
        "foreign",
        "storing",
        "update",
        "delete",
        "recall",
        "agents",
    ];
    Sweep::new("records").sampling(5, topics).run();
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes: run it with `--release`")]
fn no_storage_fault_damages_the_layers() {
    let topics = &[
        "examples",
        "summarization",
        "agent-summarizer",
        "clearing",
        "task",
        "foreign",
        "import",
        "forget",
        "follow-ups",
    ];
    // If a fault stops an add from summarising, the next add or clear does it. So these fields may
    // differ when the call is repeated.
    let summary = &["summarized", "compost_id", "needs_summary"];
    Sweep::new("layers").besides(summary).sampling(5, topics).run();
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes: run it with `--release`")]
fn no_storage_fault_damages_the_stores() {
    // A file that cannot be read stops only the calls about this file. Others warn of it.
    let unreadable = &[ErrorCode::TooLarge, ErrorCode::InvalidPath, ErrorCode::Permission];
    Sweep::new("stores")
        .reporting("cortex_get_recent_memories", unreadable)
        .reporting("list_memories", unreadable)
        .reporting("read-resource", unreadable)
        .reporting("complete", unreadable)
        .reporting("add_memory", unreadable)
        .reporting("update_memory", unreadable)
        .reporting("move_memory", unreadable)
        .reporting("remove_memory", unreadable)
        .reporting("prune_memories", unreadable)
        .reporting("reindex_store", unreadable)
        .reporting("put_memory_file", unreadable)
        .reporting("import_memories", unreadable)
        .run();
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes: run it with `--release`")]
fn no_storage_fault_damages_the_files() {
    // A view of a directory says what it could not list.
    let unreadable = &[ErrorCode::TooLarge, ErrorCode::InvalidPath, ErrorCode::Permission];
    Sweep::new("files").reporting("view_memory_file", unreadable).run();
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes: run it with `--release`")]
fn no_storage_fault_damages_the_items() {
    Sweep::new("items").sampling(5, &["examples", "storing", "batch", "expiry"]).run();
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes: run it with `--release`")]
fn no_storage_fault_hides_what_a_search_could_not_read() {
    // A search reports what it cannot read.
    let unreadable = &[ErrorCode::TooLarge, ErrorCode::InvalidPath, ErrorCode::Permission];
    let topics = &["logs", "resume"];
    Sweep::new("memory")
        .reporting("search_memory", unreadable)
        .reporting("resume_memory", unreadable)
        // See `forget_faults.rs`.
        .except("forget_memory")
        // Vectors are derived data, whose faults `records_faults.rs` tests.
        .except("drop_vectors")
        .sampling(4, topics)
        .run();
}

#[test]
fn every_toolset_has_a_sweep() {
    let this = source("tests/conformance/tests/faults.rs");
    for toolset in toolsets() {
        let sweep = format!("    Sweep::new(\"{toolset}\")");
        assert!(this.contains(&sweep), "add a test here that sweeps the calls of `{toolset}`");
    }
}

#[test]
fn each_storage_error_in_the_table_becomes_its_error_code_and_the_call_can_be_repeated() {
    let cases = load_all();
    let rows = table::load();
    let found: Vec<String> = rows.iter().flat_map(|row| row.check(&cases)).collect();
    assert!(found.is_empty(), "{} findings:\n{}", found.len(), found.join("\n"));
}

#[test]
fn every_error_of_the_interface_is_injected() {
    let errors = variants("wit/storage/storage.wit", "enum error-code {");
    let injected: Vec<String> = ErrorCode::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(injected, errors);
}

/// The mistakes of a tool that a sweep has to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    None,
    IgnoresAReadError,
    IgnoresACommitError,
    HidesThatChangesWereMade,
    RetriesACommitThatWasMade,
    WritesInTwoCommits,
    TakesTheLockToRead,
}

#[test]
fn a_sweep_finds_nothing_in_a_correct_tool() {
    assert_eq!(found(Mistake::None), Vec::<String>::new());
}

#[test]
fn a_sweep_finds_a_read_error_that_is_ignored() {
    let found = found(Mistake::IgnoresAReadError);
    assert!(found.contains(&"2:io:once 1 changes were made".into()), "{found:?}");
}

#[test]
fn a_sweep_finds_a_commit_error_that_is_ignored() {
    let found = found(Mistake::IgnoresACommitError);
    assert!(found.contains(&"3:no-space:once a result in spite of the fault".into()), "{found:?}");
}

#[test]
fn a_sweep_finds_an_error_that_hides_that_changes_were_made() {
    let found = found(Mistake::HidesThatChangesWereMade);
    assert!(found.contains(&"3:io:once:after-1 1 changes were made".into()), "{found:?}");
}

#[test]
fn a_sweep_finds_a_commit_that_is_retried_after_it_was_made() {
    let found = found(Mistake::RetriesACommitThatWasMade);
    assert!(found.contains(&"3:io:once:after-2 4 changes were made".into()), "{found:?}");
}

#[test]
fn a_sweep_finds_one_change_that_is_written_in_two_commits() {
    let found = found(Mistake::WritesInTwoCommits);
    assert!(found.contains(&"4:crash 1 of 2 changes were made".into()), "{found:?}");
}

#[test]
fn a_sweep_finds_a_reader_that_takes_the_lock() {
    let found = found(Mistake::TakesTheLockToRead);
    assert_eq!(found, ["a tool that reads takes the lock"]);
}

/// The findings of a sweep, each up to its first comma or colon. The swept tool counts its calls and
/// keeps the previous count as a backup.
fn found(mistake: Mistake) -> Vec<String> {
    let place = Place::repository("/repo");
    let memory = InMemoryStorage::new();
    memory.put(&place, Area::Documents, "count", "1");
    let make = |storage: &dyn Storage, _| match count(storage, &place, mistake) {
        Ok(count) => Answer::Result(json!(count)),
        Err(message) => Answer::Error(json!({"message": message})),
    };
    let call = Call {
        before: State::new(&memory, &place),
        place: &place,
        make: &make,
        writes: mistake != Mistake::TakesTheLockToRead,
        idempotent: false,
        reports: &[],
        besides: &[],
    };
    let (tally, found) = call.sweep(None);
    assert!(tally.faults > 100 || found.len() == 1, "{tally:?}");
    let found = found.into_iter().map(|Finding { point, message }| {
        let point = point.map(|point| format!("{point} ")).unwrap_or_default();
        let message = message.split([',', ':']).next().unwrap_or_default();
        format!("{point}{message}")
    });
    found.collect()
}

fn count(storage: &dyn Storage, place: &Place, mistake: Mistake) -> Result<u64, String> {
    let failed = |error: Error| error.message;
    let tree = storage.open(place).map_err(failed)?;
    let writer = tree.lock(None).map_err(failed)?;
    let document = match tree.read(Area::Documents, "count", 100) {
        Err(_) if mistake == Mistake::IgnoresAReadError => None,
        read => read.map_err(failed)?,
    };
    let before = document.as_ref().map_or("0", |found| str::from_utf8(&found.contents).unwrap());
    let count = before.parse::<u64>().unwrap() + 1;
    let version = document.map(|document| document.version);
    let put = |path: &str, expects: Option<String>| Change::Put {
        area: Area::Documents,
        path: path.into(),
        contents: count.to_string().into(),
        expects,
    };
    let sum = put("count", version.clone());
    let failed = |failed: CommitError| match failed.applied {
        1.. if mistake != Mistake::HidesThatChangesWereMade => {
            format!("{}; the change may have been made", failed.error)
        }
        _ => failed.error.message,
    };
    if mistake == Mistake::WritesInTwoCommits {
        writer.commit(&[put(&format!("list/{count}"), None)]).map_err(failed)?;
        writer.commit(&[sum]).map_err(failed)?;
        return Ok(count);
    }
    let backup = version.map(|expects| Change::Copy {
        area: Area::Documents,
        from: "count".into(),
        to: "count.backup".into(),
        expects,
    });
    let changes: Vec<Change> = backup.into_iter().chain([sum]).collect();
    match writer.commit(&changes) {
        Err(_) if mistake == Mistake::IgnoresACommitError => {}
        Err(CommitError { applied: 2, .. }) if mistake == Mistake::RetriesACommitThatWasMade => {
            drop(writer);
            return self::count(storage, place, mistake);
        }
        made => drop(made.map_err(failed)?),
    }
    Ok(count)
}
