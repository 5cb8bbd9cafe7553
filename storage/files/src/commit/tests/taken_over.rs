//! Tests of a plugin whose place a later plugin takes over. They do not run on Windows: also there, a
//! plugin uses the code for Unix.

use super::between_stages::{put_ours, scene};
use crate::commit::*;

use agent_memory_storage::version_of;

/// Takes the place of a tree over.
fn take_over(tree: &Tree, number: u64) -> Mark {
    let directory = tree.layout().create_lock_directory(false).unwrap();
    Mark::take(&directory, number, "notes").unwrap()
}

/// A plugin's commit, up to the writing of the temporary files.
fn prepared<'a>(tree: &'a Tree, changes: &'a [Change], mark: &'a Mark) -> Attempt<'a> {
    let mut attempt = Attempt { mark: Some(mark), ..Attempt::new(tree) };
    attempt.plan(changes).unwrap();
    attempt.each(Attempt::check_version).unwrap();
    attempt.each(Attempt::write_temporary).unwrap();
    attempt
}

fn put(path: &str, contents: &str, expects: Option<&str>) -> Change {
    Change::Put {
        area: Area::Documents,
        path: path.into(),
        contents: contents.into(),
        expects: expects.map(|text| version_of(text.as_bytes())),
    }
}

#[test]
fn a_plugin_whose_place_was_taken_over_is_refused_at_each_commit() {
    let (_repository, tree, document) = scene();
    let first = take_over(&tree, 1);
    let second = take_over(&tree, 2);
    for _ in 0..2 {
        let failed = tree.commit_as_plugin(&[put_ours()], &first).unwrap_err();
        assert_eq!((failed.error.code, failed.applied), (ErrorCode::ReadOnly, 0));
        assert!(failed.error.message.contains("open this one again"), "{failed:?}");
        assert_eq!(std::fs::read_to_string(&document).unwrap(), "old");
    }
    tree.commit_as_plugin(&[put_ours()], &second).unwrap();
    assert_eq!(std::fs::read_dir(document.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_place_that_is_taken_over_between_two_renames_keeps_the_first_change_only() {
    let (_repository, tree, document) = scene();
    let first = take_over(&tree, 1);
    let changes = [put_ours(), put("b.md", "ours", None), put("c/d.md", "ours", None)];
    let mut attempt = Attempt { mark: Some(&first), ..Attempt::new(&tree) };
    attempt.plan(&changes).unwrap();
    attempt.each(Attempt::make_directories).unwrap();
    attempt.each(Attempt::check_version).unwrap();
    attempt.each(Attempt::write_temporary).unwrap();
    attempt.check_lock(&|| true).unwrap();
    attempt.apply(0).unwrap();
    take_over(&tree, 2);
    attempt.check_lock(&|| true).unwrap_err();
    attempt.clean_up();
    assert_eq!(attempt.applied, 1);
    assert_eq!(std::fs::read_to_string(&document).unwrap(), "ours");
    // Neither temporary files nor new directories are left.
    assert_eq!(std::fs::read_dir(document.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_plugin_that_was_stopped_does_not_replace_what_the_next_one_changed() {
    let renamed = Change::Rename {
        area: Area::Documents,
        from: "a.md".into(),
        to: "b/c.md".into(),
        expects: version_of(b"old"),
    };
    let deleted =
        Change::Delete { area: Area::Documents, path: "a.md".into(), expects: version_of(b"old") };
    for theirs in [put("a.md", "theirs", Some("old")), deleted, renamed] {
        let (_repository, tree, document) = scene();
        let stopped = take_over(&tree, 1);
        let changes = [put_ours()];
        let mut attempt = prepared(&tree, &changes, &stopped);
        // The plugin has checked its mark, and is suspended before the rename.
        attempt.check_lock(&|| true).unwrap();
        let temporary = document.with_file_name(&attempt.steps[0].temporary);
        assert!(temporary.exists());

        tree.commit_as_plugin(&[theirs], &take_over(&tree, 2)).unwrap();
        assert!(!temporary.exists());
        let now = std::fs::read_to_string(&document).ok();
        attempt.each(Attempt::apply).unwrap_err();
        attempt.clean_up();
        assert_eq!(std::fs::read_to_string(&document).ok(), now);
        assert_ne!(now.as_deref(), Some("ours"));
    }
}

#[test]
fn a_plugin_removes_what_those_before_left_when_it_first_writes_in_a_directory() {
    let (_repository, tree, document) = scene();
    let names = || {
        let entries = std::fs::read_dir(document.parent().unwrap()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    // Two killed plugins leave temporary files, also of a document with a long name.
    let long = format!("{}.md", "x".repeat(250));
    for number in 1..3 {
        let mark = take_over(&tree, number);
        let changes = [put_ours(), put(&long, "ours", None)];
        std::mem::forget(prepared(&tree, &changes, &mark));
    }
    // This temporary file has no plugin's number.
    let other = document.with_file_name(path::temporary("b.md"));
    std::fs::write(&other, "").unwrap();
    assert_eq!(names().len(), 6);
    let next = take_over(&tree, 3);
    tree.commit_as_plugin(&[put_ours()], &next).unwrap();
    assert_eq!(names(), [other.file_name().unwrap(), document.file_name().unwrap()]);
    // A plugin cleans a directory only once, so it does not remove a later file of another plugin.
    let later = document.with_file_name(path::temporary_of_plugin("b.md", 2));
    std::fs::write(&later, "").unwrap();
    tree.commit_as_plugin(&[put("a.md", "more", Some("ours"))], &next).unwrap();
    assert!(later.exists());
}

#[test]
fn a_plugin_that_was_stopped_removes_no_temporary_file_of_the_next_one() {
    let (_repository, tree, document) = scene();
    let stopped = take_over(&tree, 1);
    let changes = [put_ours()];
    let mut before = Attempt { mark: Some(&stopped), ..Attempt::new(&tree) };
    before.plan(&changes).unwrap();
    before.each(Attempt::check_version).unwrap();
    let next = take_over(&tree, 2);
    let mut after = prepared(&tree, &changes, &next);
    before.each(Attempt::write_temporary).unwrap();
    before.check_lock(&|| true).unwrap_err();
    before.clean_up();
    after.each(Attempt::apply).unwrap();
    assert_eq!(std::fs::read_to_string(&document).unwrap(), "ours");
}

#[test]
fn a_plugin_that_was_stopped_before_it_cleans_keeps_the_temporary_file_of_the_next_one() {
    let (_repository, tree, document) = scene();
    let stopped = take_over(&tree, 1);
    let changes = [put_ours()];
    let mut before = Attempt { mark: Some(&stopped), ..Attempt::new(&tree) };
    before.check_lock(&|| true).unwrap();
    before.plan(&changes).unwrap();
    let next = take_over(&tree, 2);
    let mut after = prepared(&tree, &changes, &next);
    before.remove_temporaries_of_others(&stopped).unwrap_err();
    after.each(Attempt::apply).unwrap();
    assert_eq!(std::fs::read_to_string(&document).unwrap(), "ours");
}
