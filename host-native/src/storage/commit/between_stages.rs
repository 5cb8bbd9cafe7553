//! What others do between the stages of a commit.

use super::*;
use crate::storage::{Place, Splice, Storage, StorageOptions, version_of};
use std::path::{Path, PathBuf};

/// A repository with the document `a.md`, and where that is.
fn scene() -> (tempfile::TempDir, Tree, PathBuf) {
    let repository = tempfile::tempdir().unwrap();
    let storage = Storage::new(StorageOptions::default());
    storage.grant(repository.path()).unwrap();
    let place = Place::repository(repository.path().to_str().unwrap());
    let tree = storage.open(&place, &[]).unwrap();
    let document = repository.path().join(".github/agent-memory/a.md");
    std::fs::create_dir_all(document.parent().unwrap()).unwrap();
    std::fs::write(&document, "old").unwrap();
    (repository, tree, document)
}

fn put_ours() -> Change {
    Change::Put {
        area: Area::Documents,
        path: "a.md".into(),
        contents: b"ours".to_vec(),
        expects: Some(version_of(b"old")),
    }
}

fn edit_ours() -> Change {
    Change::Edit {
        area: Area::Documents,
        path: "a.md".into(),
        splices: vec![Splice { at: 0, removes: 3, inserts: b"ours".to_vec() }],
        expects: version_of(b"old"),
    }
}

/// Only the document is there, and as the editor saved it.
fn assert_saved(document: &Path) {
    assert_eq!(std::fs::read_to_string(document).unwrap(), "the editor's");
    assert_eq!(std::fs::read_dir(document.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn what_an_editor_saves_after_the_check_is_seen_before_the_rename() {
    for ours in [put_ours(), edit_ours()] {
        let (_repository, tree, document) = scene();
        let changes = [ours];
        let mut attempt = Attempt::new(&tree);
        attempt.plan(&changes).unwrap();
        attempt.each(Attempt::check_version).unwrap();
        attempt.each(Attempt::write_temporary).unwrap();
        std::fs::write(&document, "the editor's").unwrap();
        let refused = attempt.each(Attempt::apply).unwrap_err();
        attempt.clean_up();
        assert_eq!(refused.code, ErrorCode::VersionMismatch);
        assert_saved(&document);
    }
}

#[test]
fn a_lock_that_is_removed_during_a_commit_stops_it_before_the_first_rename() {
    let (_repository, tree, document) = scene();
    let changes = [put_ours()];
    let temporary = document.with_file_name(path::temporary("a.md"));
    let failed = commit(&tree, &changes, &|| !temporary.exists()).unwrap_err();
    assert_eq!((failed.error.code, failed.change, failed.applied), (ErrorCode::Io, None, 0));
    assert_eq!(std::fs::read_to_string(&document).unwrap(), "old");
    assert!(!temporary.exists());
}

#[test]
fn what_an_editor_saves_after_the_check_is_not_kept_or_edited_as_what_was_checked() {
    let copy = Change::Copy {
        area: Area::Documents,
        from: "a.md".into(),
        to: "b.md".into(),
        expects: version_of(b"old"),
    };
    for ours in [copy, edit_ours()] {
        let (_repository, tree, document) = scene();
        let changes = [ours];
        let mut attempt = Attempt::new(&tree);
        attempt.plan(&changes).unwrap();
        attempt.each(Attempt::check_version).unwrap();
        std::fs::write(&document, "the editor's").unwrap();
        let refused = attempt.each(Attempt::write_temporary).unwrap_err();
        attempt.clean_up();
        assert_eq!(refused.code, ErrorCode::VersionMismatch);
        assert_saved(&document);
    }
}

#[test]
fn what_an_editor_writes_into_the_file_that_becomes_the_backup_stops_the_commit() {
    let (_repository, tree, document) = scene();
    let keep = Change::Copy {
        area: Area::Documents,
        from: "a.md".into(),
        to: "b.md".into(),
        expects: version_of(b"old"),
    };
    let changes = [keep, put_ours()];
    let mut attempt = Attempt::new(&tree);
    attempt.plan(&changes).unwrap();
    attempt.each(Attempt::check_version).unwrap();
    attempt.each(Attempt::write_temporary).unwrap();
    std::fs::write(&document, "the editor's").unwrap();
    let refused = attempt.each(Attempt::apply).unwrap_err();
    attempt.clean_up();
    assert_eq!((refused.code, attempt.applied), (ErrorCode::VersionMismatch, 0));
    assert_saved(&document);
}
