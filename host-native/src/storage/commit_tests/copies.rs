//! Tests of backups.

use super::*;
use std::os::unix::fs::MetadataExt;

pub(super) fn copy(from: &str, to: &str, expects: &str) -> Change {
    Change::Copy {
        area: Area::Documents,
        from: from.to_owned(),
        to: to.to_owned(),
        expects: version_of(expects.as_bytes()),
    }
}

fn text(path: PathBuf) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn a_backup_is_the_document_before_the_commit_wherever_in_it_the_copy_is() {
    let keep = || copy("a.json", "kept/a.json", "old");
    let put = || put("a.json", "new", Some("old"));
    let old = version("old");
    let new = version("new");
    for (changes, versions) in [([keep(), put()], [&old, &new]), ([put(), keep()], [&new, &old])] {
        let repository = Repository::new();
        repository.write("a.json", "old");
        assert_eq!(repository.commit(&changes).unwrap().iter().collect::<Vec<_>>(), versions);
        assert_eq!(text(repository.at("a.json")), "new");
        assert_eq!(text(repository.at("kept/a.json")), "old");
        assert_eq!(snapshot(&repository.at("")).len(), 3);
    }
    let repository = Repository::new();
    repository.write("a.json", "old");
    repository.commit(&[keep(), delete("a.json", "old")]).unwrap();
    assert!(!repository.at("a.json").exists());
    assert_eq!(text(repository.at("kept/a.json")), "old");
}

#[test]
fn a_backup_replaces_the_earlier_one_even_if_that_was_edited() {
    let repository = Repository::new();
    repository.write("a.json", "1");
    for (old, new) in [("1", "2"), ("2", "3"), ("3", "4")] {
        let changes = [copy("a.json", "a.json.backup", old), put("a.json", new, Some(old))];
        repository.commit(&changes).unwrap();
        assert_eq!(text(repository.at("a.json.backup")), old);
        assert_eq!(text(repository.at("a.json")), new);
        repository.write("a.json.backup", "written by hand");
    }
}

#[test]
fn a_backup_has_the_permission_bits_of_the_document() {
    let repository = Repository::new();
    repository.write("a.json", "text");
    repository.write("replaced.json", "");
    fs::set_permissions(repository.at("a.json"), PermissionsExt::from_mode(0o600)).unwrap();
    for to in ["new.json", "replaced.json"] {
        repository.commit(&[copy("a.json", to, "text")]).unwrap();
        assert_eq!(mode(&repository.at(to)), 0o600);
    }
}

#[test]
fn a_copy_expects_the_version_of_its_document() {
    let repository = Repository::new();
    repository.write("a.json", "saved by an editor");
    let first = put("new/directory/b.md", "b", None);
    for from in ["a.json", "missing.json", "missing/a.json"] {
        let failed = repository.refuses(&[first.clone(), copy(from, "c.json", "what I read")]);
        assert_eq!((failed.error.code, failed.change), (ErrorCode::VersionMismatch, Some(1)));
        assert!(failed.error.message.contains(from), "{failed}");
    }
}

#[test]
fn a_copy_between_paths_that_no_document_can_have_is_refused() {
    let repository = Repository::new();
    repository.write("a.json", "text");
    repository.write("directory/b.json", "");
    symlink("a.json", repository.at("link.json")).unwrap();
    let paths = [
        ("a.json", "directory"),
        ("a.json", "link.json"),
        ("a.json", "a.json/below"),
        ("a.json", "../a.json"),
        ("a.json", ""),
        ("directory", "c.json"),
        ("link.json", "c.json"),
        ("../a.json", "c.json"),
    ];
    for (from, to) in paths {
        let failed = repository.refuses(&[put("b.md", "b", None), copy(from, to, "text")]);
        let found = (failed.error.code, failed.change);
        assert_eq!(found, (ErrorCode::InvalidPath, Some(1)), "`{from}` to `{to}`");
    }
}

#[test]
fn no_other_change_is_at_the_path_of_a_backup_or_below() {
    let repository = Repository::new();
    repository.write("a.json", "text");
    for other in [put("b", "", None), put("b/c", "", None), copy("a.json", "b/c", "text")] {
        for changes in
            [[copy("a.json", "b", "text"), other.clone()], [other, copy("a.json", "b", "text")]]
        {
            assert_eq!(repository.refuses(&changes).error.code, ErrorCode::InvalidPath);
        }
    }
    let both = [copy("a.json", "b", "text"), copy("a.json", "c", "text")];
    assert!(repository.commit(&both).is_ok());
}

#[test]
fn a_document_that_is_too_large_gets_no_backup() {
    let repository = Repository::new();
    let longest = "x".repeat(MAX_DOCUMENT_BYTES as usize);
    repository.write("a.json", &longest);
    repository.commit(&[copy("a.json", "b.json", &longest)]).unwrap();
    assert_eq!(text(repository.at("b.json")), longest);
    let longer = longest + "x";
    repository.write("a.json", &longer);
    let failed = repository.refuses(&[copy("a.json", "b.json", &longer)]);
    assert_eq!((failed.error.code, failed.change), (ErrorCode::TooLarge, Some(0)));
}

#[test]
fn a_failure_before_the_first_rename_leaves_no_backup() {
    let repository = Repository::new();
    repository.write("a.json", "old");
    repository.write("a.json.backup", "older");
    // A directory at the path of the temporary file, so that writing it fails.
    fs::create_dir_all(repository.at(".b.md.agent-memory-tmp/x")).unwrap();
    let failed = repository.refuses(&[
        copy("a.json", "a.json.backup", "old"),
        copy("a.json", "new/a.json.backup", "old"),
        put("a.json", "new", Some("old")),
        put("b.md", "b", None),
    ]);
    assert_eq!((failed.error.code, failed.change), (ErrorCode::InvalidPath, Some(3)));
}

#[test]
fn the_old_file_becomes_the_backup_if_a_new_one_replaces_it() {
    let repository = Repository::new();
    repository.write("a.json", "old");
    let inode = |path: &str| fs::metadata(repository.at(path)).unwrap().ino();
    let old = inode("a.json");
    repository
        .commit(&[copy("a.json", "b.json", "old"), put("a.json", "new", Some("old"))])
        .unwrap();
    assert_eq!(inode("b.json"), old);

    // Nothing replaces `a.json` here. If `c.json` were a hard link to it, an editor that writes in
    // place would change both.
    repository.commit(&[copy("a.json", "c.json", "new")]).unwrap();
    assert_ne!(inode("c.json"), inode("a.json"));
}

#[test]
fn a_backup_that_shares_its_file_with_the_document_after_a_crash_gets_its_own() {
    let repository = Repository::new();
    repository.write("a.json", "old");
    fs::hard_link(repository.at("a.json"), repository.at("a.json.backup")).unwrap();
    fs::hard_link(repository.at("a.json"), repository.at(".a.json.backup.agent-memory-tmp"))
        .unwrap();
    let keep = copy("a.json", "a.json.backup", "old");
    repository.commit(&[keep, put("a.json", "new", Some("old"))]).unwrap();
    assert_eq!(text(repository.at("a.json.backup")), "old");
    assert_eq!(text(repository.at("a.json")), "new");
    assert_eq!(snapshot(&repository.at("")).len(), 2);
}

#[test]
fn a_backup_and_the_change_after_it_sync_one_file_and_one_directory() {
    let repository = Repository::new();
    repository.write("a.json", "old");
    repository.write("a.json.backup", "older");
    drop(writer(&repository.tree));
    let Some(synced) = syncs(&repository, &format!("{}::keeps_a_backup", module_path!())) else {
        return;
    };
    let documents = repository.at(".").canonicalize().unwrap();
    assert_eq!(synced, [documents.join(".a.json.agent-memory-tmp"), documents]);
}

#[test]
#[ignore = "run by another test, which counts its syncs"]
fn keeps_a_backup() {
    let changes = [copy("a.json", "a.json.backup", "old"), put("a.json", "new", Some("old"))];
    writer(&open(&traced())).commit(&changes).unwrap();
}
