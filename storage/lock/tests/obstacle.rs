//! Tests with a file or a directory of another kind in place of the lock directory or of a file in it.

use std::fs;
use std::sync::Arc;

use agent_memory_storage::ErrorCode;
use agent_memory_storage_files::{Layout, owner};
use agent_memory_storage_lock::{IdleLocks, Request};

#[test]
fn what_is_in_the_way_of_the_lock_is_named_by_its_path() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().canonicalize().unwrap();
    let file = Layout::from_file(&directory, "one.db", "~/one.db", true).unwrap();
    let notes = Layout::from_directory(&directory, "notes", false, &[]).unwrap();
    let own = directory.join(".agent-memory");
    fs::write(&own, "mine").unwrap();
    for layout in [&file, &notes] {
        let refused = Request::open(layout, &Arc::default(), false).unwrap_err();
        assert_eq!(refused.code, ErrorCode::InvalidPath);
        let expected = format!("`{}` is not a directory", own.display());
        assert!(refused.message.starts_with(&expected), "{refused}");
        assert!(refused.message.ends_with("move it away"), "{refused}");
    }
    fs::remove_file(&own).unwrap();
    fs::create_dir(&own).unwrap();
    fs::write(own.join("one.db"), "mine").unwrap();
    let refused = Request::open(&file, &Arc::default(), false).unwrap_err();
    let expected = format!("`{}` is not a directory", own.join("one.db").display());
    assert!(refused.message.starts_with(&expected), "{refused}");
    fs::create_dir(own.join(owner::LOCK_FILE)).unwrap();
    let refused = Request::open(&notes, &Arc::<IdleLocks>::default(), false).unwrap_err();
    let expected = format!("`{}` is not a file", own.join(owner::LOCK_FILE).display());
    assert!(refused.message.starts_with(&expected), "{refused}");
}
