//! Whatever fails in storage, wherever in a call: nothing that was acknowledged is lost, nothing is
//! half done, and the call can be made again.

use agent_memory_conformance::faults::{Call, ERRORS, Found, State, Sweep};
use agent_memory_conformance::in_memory::FullStorage;
use agent_memory_conformance::runner::Answer;
use agent_memory_conformance::workspace::variants;
use agent_memory_core::storage::{Area, Change, CommitError, Error, ErrorCode, Place, Storage};
use serde_json::json;

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes: run it with `--release`")]
fn no_fault_of_storage_harms_what_the_tools_of_sessions_keep() {
    // A file that no tool could read is what `validate` is there to report.
    let unreadable = &[ErrorCode::TooLarge, ErrorCode::InvalidPath, ErrorCode::Permission];
    Sweep::of("sessions").reporting("validate", unreadable).run();
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes: run it with `--release`")]
fn no_fault_of_storage_harms_what_the_tools_of_records_keep() {
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
    Sweep::of("records").sampling(5, topics).run();
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes: run it with `--release`")]
fn no_fault_of_storage_harms_what_the_tools_of_layers_keep() {
    let topics = &[
        "examples",
        "summarization",
        "agent-summarizer",
        "clearing",
        "task",
        "foreign",
        "import",
        "forget",
    ];
    // The next add or clear summarises what an add could not.
    let summary = &["summarized", "compost_id", "needs_summary"];
    Sweep::of("layers").besides(summary).sampling(5, topics).run();
}

#[test]
fn every_error_of_the_interface_is_injected() {
    let errors = variants("wit/storage/storage.wit", "enum error-code {");
    assert_eq!(ERRORS.map(|(name, _)| name.to_owned()).to_vec(), errors);
}

/// What a careless tool gets wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    None,
    TakesAFailedReadForEmpty,
    TakesAFailedCommitForSuccess,
    KeepsSilentAboutWhatStands,
    TriesAFailedCommitAgain,
    WritesInTwoCommits,
    TakesTheLockToRead,
}

#[test]
fn a_careful_tool_is_found_to_do_no_harm() {
    assert_eq!(found(Mistake::None), Vec::<String>::new());
}

#[test]
fn a_failed_read_that_is_taken_for_empty_is_found() {
    let found = found(Mistake::TakesAFailedReadForEmpty);
    assert!(found.contains(&"2:io:once 1 changes were made".into()), "{found:?}");
}

#[test]
fn a_failed_commit_that_is_taken_for_success_is_found() {
    let found = found(Mistake::TakesAFailedCommitForSuccess);
    assert!(found.contains(&"3:no-space:once an answer in spite of the fault".into()), "{found:?}");
}

#[test]
fn an_error_that_keeps_silent_about_what_stands_is_found() {
    let found = found(Mistake::KeepsSilentAboutWhatStands);
    assert!(found.contains(&"3:io:once:after-1 1 changes were made".into()), "{found:?}");
}

#[test]
fn a_commit_that_stood_and_is_made_again_is_found() {
    let found = found(Mistake::TriesAFailedCommitAgain);
    assert!(found.contains(&"3:io:once:after-2 4 changes were made".into()), "{found:?}");
}

#[test]
fn a_death_between_two_commits_that_belong_together_is_found() {
    let found = found(Mistake::WritesInTwoCommits);
    assert!(found.contains(&"4:death 1 of 2 changes stood".into()), "{found:?}");
}

#[test]
fn a_reader_that_takes_the_lock_is_found() {
    let found = found(Mistake::TakesTheLockToRead);
    assert_eq!(found, ["a tool that reads takes the lock"]);
}

/// What a sweep finds in a tool that counts its calls and keeps the count before, up to the first
/// comma.
fn found(mistake: Mistake) -> Vec<String> {
    let place = Place::repository("/repo");
    let memory = FullStorage::new();
    memory.put(&place, Area::Documents, "count", "1");
    let make = |storage: &dyn Storage, _| match count(storage, &place, mistake) {
        Ok(count) => Answer::Result(json!(count)),
        Err(message) => Answer::Error(json!({"message": message})),
    };
    let call = Call {
        before: State::of(&memory, &place),
        place: &place,
        make: &make,
        writes: mistake != Mistake::TakesTheLockToRead,
        idempotent: false,
        reports: &[],
        besides: &[],
    };
    let (tally, found) = call.sweep(None);
    assert!(tally.faults > 100 || found.len() == 1, "{tally:?}");
    let found = found.into_iter().map(|Found { point, what }| {
        let point = point.map(|point| format!("{point} ")).unwrap_or_default();
        let what = what.split([',', ':']).next().unwrap_or_default();
        format!("{point}{what}")
    });
    found.collect()
}

fn count(storage: &dyn Storage, place: &Place, mistake: Mistake) -> Result<u64, String> {
    let failed = |error: Error| error.message;
    let tree = storage.open(place).map_err(failed)?;
    let writer = tree.lock(None).map_err(failed)?;
    let document = match tree.read(Area::Documents, "count", 100) {
        Err(_) if mistake == Mistake::TakesAFailedReadForEmpty => None,
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
        1.. if mistake != Mistake::KeepsSilentAboutWhatStands => {
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
        Err(_) if mistake == Mistake::TakesAFailedCommitForSuccess => {}
        Err(CommitError { applied: 2, .. }) if mistake == Mistake::TriesAFailedCommitAgain => {
            drop(writer);
            return self::count(storage, place, mistake);
        }
        made => drop(made.map_err(failed)?),
    }
    Ok(count)
}
