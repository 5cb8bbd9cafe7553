//! Tests in which an editor or another program changes something between two stages of a commit.

use crate::commit::*;
use std::path::{Path, PathBuf};

use agent_memory_storage::{Splice, version_of};

use crate::{Durability, Grant, Layout, Repository};

/// A repository with the document `a.md`, its tree, and the path of the document.
pub(super) fn scene() -> (tempfile::TempDir, Tree, PathBuf) {
    let repository = tempfile::tempdir().unwrap();
    let grant = Grant::new(repository.path()).unwrap();
    let found = Repository::resolve(repository.path().to_str().unwrap(), &[grant]).unwrap();
    let tree = Tree::new(Layout::from_repository(found).unwrap(), Durability::Full);
    let document = repository.path().join(".github/agent-memory/a.md");
    std::fs::create_dir_all(document.parent().unwrap()).unwrap();
    std::fs::write(&document, "old").unwrap();
    (repository, tree, document)
}

pub(super) fn put_ours() -> Change {
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
        splices: vec![Splice { range: 0..3, inserts: b"ours".to_vec() }],
        expects: version_of(b"old"),
    }
}

/// Asserts that the directory has only the document, with the editor's contents.
fn assert_saved(document: &Path) {
    assert_eq!(std::fs::read_to_string(document).unwrap(), "the editor's");
    assert_eq!(std::fs::read_dir(document.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_document_that_an_editor_saves_after_the_check_is_not_replaced() {
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
    let failed = tree.commit(&changes, &|| !temporary.exists()).unwrap_err();
    assert_eq!((failed.error.code, failed.change, failed.applied), (ErrorCode::Io, None, 0));
    assert_eq!(std::fs::read_to_string(&document).unwrap(), "old");
    assert!(!temporary.exists());
}

#[test]
fn a_lock_that_is_removed_between_two_renames_stops_the_commit_there() {
    let (_repository, tree, document) = scene();
    let second = Change::Put {
        area: Area::Documents,
        path: "b.md".into(),
        contents: b"ours".to_vec(),
        expects: None,
    };
    let changes = [put_ours(), second];
    let is_locked = || std::fs::read_to_string(&document).unwrap() == "old";
    let failed = tree.commit(&changes, &is_locked).unwrap_err();
    assert_eq!((failed.error.code, failed.change, failed.applied), (ErrorCode::Io, None, 1));
    assert_eq!(std::fs::read_to_string(&document).unwrap(), "ours");
    assert_eq!(std::fs::read_dir(document.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_commit_stands_if_another_program_removes_the_directory_that_it_has_emptied() {
    let (repository, tree, _document) = scene();
    let directory = repository.path().join(".github/agent-memory/emptied");
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(directory.join("a.md"), "old").unwrap();
    let delete = Change::Delete {
        area: Area::Documents,
        path: "emptied/a.md".into(),
        expects: version_of(b"old"),
    };
    let changes = [delete];
    let mut attempt = Attempt::new(&tree);
    attempt.plan(&changes).unwrap();
    attempt.each(Attempt::check_version).unwrap();
    attempt.each(Attempt::apply).unwrap();
    attempt.open.clear();
    std::fs::remove_dir(&directory).unwrap();
    attempt.remove_emptied();
    attempt.sync_directories().unwrap();
}

#[test]
fn a_document_that_an_editor_saves_after_the_check_is_not_copied_or_edited() {
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
fn a_commit_stops_if_an_editor_writes_into_the_file_that_becomes_the_backup() {
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

/// A stale document in the cache must not replace the one that an editor saved.
#[test]
fn edits_of_a_long_document_apply_to_the_contents_of_the_file() {
    let (_repository, tree, document) = scene();
    let edit = |before: &str, splices: &[(usize, usize, &str)]| {
        let splice = |&(at, removes, text): &(usize, usize, &str)| Splice {
            range: at..at + removes,
            inserts: text.into(),
        };
        [Change::Edit {
            area: Area::Documents,
            path: "a.md".into(),
            splices: splices.iter().map(splice).collect(),
            expects: version_of(before.as_bytes()),
        }]
    };
    let commit = |changes: &[Change]| tree.commit(changes, &|| true);
    let refuses = |changes: &[Change]| {
        let failed = commit(changes).unwrap_err();
        assert_eq!((failed.error.code, failed.applied), (ErrorCode::VersionMismatch, 0));
    };
    let mut text = "0".repeat(3 << 20);
    std::fs::write(&document, &text).unwrap();
    for round in 0..6 {
        let end = text.len();
        // The cache does not have the document after a refused edit, or after an editor saved another
        // version.
        if round == 3 {
            refuses(&edit(&text, &[(end + 1, 0, "")]));
        }
        let is_cached = tree.cache().holds(&version_of(text.as_bytes()));
        assert_eq!(is_cached, [2, 5].contains(&round), "round {round}");
        let letter = char::from(b'a' + round).to_string();
        let edited = edit(&text, &[(1 << 20, 1, ""), (end, 0, &letter)]);
        text.remove(1 << 20);
        text.push_str(&letter);
        let versions = commit(&edited).unwrap();
        assert_eq!(versions, [Some(version_of(text.as_bytes()))]);
        assert!(std::fs::read_to_string(&document).unwrap() == text);
        if round % 3 == 0 {
            let before = text.clone();
            text.replace_range(10..11, &letter);
            std::fs::write(&document, &text).unwrap();
            refuses(&edit(&before, &[(0, 1, "")]));
        }
    }
}
