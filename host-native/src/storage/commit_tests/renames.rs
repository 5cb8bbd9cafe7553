//! Tests of renames.

use super::*;
use std::os::unix::fs::MetadataExt;

fn rename_in(area: Area, from: &str, to: &str, expects: &str) -> Change {
    Change::Rename {
        area,
        from: from.to_owned(),
        to: to.to_owned(),
        expects: version_of(expects.as_bytes()),
    }
}

fn rename(from: &str, to: &str, expects: &str) -> Change {
    rename_in(Area::Documents, from, to, expects)
}

#[test]
fn a_rename_moves_the_file_between_directories_of_its_area() {
    for area in [Area::Documents, Area::Bookkeeping] {
        let repository = Repository::new();
        let root = match area {
            Area::Documents => repository.at(""),
            Area::Bookkeeping => {
                repository.tree.lock_key().directory().unwrap().join("bookkeeping")
            }
        };
        fs::create_dir_all(root.join("a")).unwrap();
        fs::write(root.join("a/b.md"), "text").unwrap();
        fs::set_permissions(root.join("a/b.md"), PermissionsExt::from_mode(0o640)).unwrap();
        let inode = fs::metadata(root.join("a/b.md")).unwrap().ino();
        for (from, to) in [("a/b.md", "a/c.md"), ("a/c.md", "new/d/e.md"), ("new/d/e.md", "f")] {
            let versions = repository.commit(&[rename_in(area, from, to, "text")]).unwrap();
            assert_eq!(versions, [version("text")]);
            assert!(!root.join(from).exists());
            let moved = fs::metadata(root.join(to)).unwrap();
            assert_eq!((moved.ino(), moved.mode() & 0o777), (inode, 0o640));
        }
    }
}

#[test]
fn a_rename_to_an_existing_path_is_refused() {
    let repository = Repository::new();
    repository.write("a.md", "text");
    repository.write("b.md", "text");
    repository.write("directory/c.md", "");
    symlink("b.md", repository.at("link")).unwrap();
    for to in ["b.md", "directory", "link"] {
        let failed = repository.refuses(&[put("first.md", "", None), rename("a.md", to, "text")]);
        assert_eq!((failed.error.code, failed.change), (ErrorCode::AlreadyExists, Some(1)));
        assert!(failed.error.message.contains(to), "{failed}");
    }
}

#[test]
fn a_rename_expects_the_version_of_its_document() {
    let repository = Repository::new();
    repository.write("a.md", "saved by an editor");
    for from in ["a.md", "missing.md", "missing/a.md"] {
        let failed = repository.refuses(&[rename(from, "new/b.md", "what I read")]);
        assert_eq!(failed.error.code, ErrorCode::VersionMismatch);
        assert!(failed.error.message.contains(from), "{failed}");
    }
}

#[test]
fn no_other_change_is_at_a_path_of_a_rename() {
    let repository = Repository::new();
    repository.write("a", "text");
    for other in [
        put("a", "new", Some("text")),
        put("b", "", None),
        put("b/c", "", None),
        delete("a", "text"),
        rename("a", "c", "text"),
        rename("b", "c", "text"),
        rename("a", "a", "text"),
        rename("a", "a/b", "text"),
    ] {
        for changes in
            [[rename("a", "b", "text"), other.clone()], [other, rename("a", "b", "text")]]
        {
            assert_eq!(repository.refuses(&changes).error.code, ErrorCode::InvalidPath);
        }
    }
    let both = [copies::copy("a", "kept", "text"), rename("a", "b", "text")];
    assert_eq!(repository.commit(&both).unwrap(), [version("text"), version("text")]);
    assert_eq!(snapshot(&repository.at("")).len(), 2);
}

#[test]
fn a_rename_syncs_the_directories_that_it_changes() {
    let repository = Repository::new();
    repository.write("a/b.md", "text");
    repository.write("a/e.md", "");
    repository.write("c/d.md", "");
    drop(writer(&repository.tree));
    let Some(synced) = syncs(&repository, &format!("{}::renames_one", module_path!())) else {
        return;
    };
    let at = |path| repository.at(path).canonicalize().unwrap();
    assert_eq!(synced, [at("c"), at("a")]);
}

#[test]
#[ignore = "run by another test, which counts its syncs"]
fn renames_one() {
    writer(&open(&traced())).commit(&[rename("a/b.md", "c/b.md", "text")]).unwrap();
}

#[test]
fn with_relaxed_durability_only_the_bytes_of_new_documents_are_synced() {
    let repository = Repository::new();
    repository.write("old.md", "old");
    repository.write("old.md.backup", "older");
    drop(writer(&repository.tree));
    let Some(synced) = syncs(&repository, &format!("{}::writes_relaxed", module_path!())) else {
        return;
    };
    let root = repository.at(".").canonicalize().unwrap();
    let temporary =
        ["new.md", "copied.md"].map(|name| root.join(format!(".{name}.agent-memory-tmp")));
    assert_eq!(synced, temporary);
}

#[test]
#[ignore = "run by another test, which counts its syncs"]
fn writes_relaxed() {
    let options = StorageOptions { durability: Durability::Relaxed, ..Default::default() };
    let storage = Storage::new(options);
    storage.grant(&traced()).unwrap();
    let tree = storage.open(&Place::repository(traced().to_str().unwrap()), &[]).unwrap();
    let changes = [
        put("new.md", "new", None),
        put("old.md", "newer", Some("old")),
        copies::copy("old.md", "old.md.backup", "old"),
    ];
    writer(&tree).commit(&changes).unwrap();
    writer(&tree).commit(&[copies::copy("old.md", "copied.md", "newer")]).unwrap();
}

#[test]
fn a_directory_that_a_commit_empties_is_removed() {
    let repository = Repository::new();
    repository.write("a/b/c.md", "c");
    repository.write("a/b/d.md", "d");
    repository.write("e/f.md", "f");
    repository.write("e/kept.md", "k");
    let delete = |path: &str, expects: &str| Change::Delete {
        area: Area::Documents,
        path: path.to_owned(),
        expects: version_of(expects.as_bytes()),
    };
    repository.commit(&[rename("a/b/c.md", "a/x/c.md", "c"), delete("e/f.md", "f")]).unwrap();
    assert!(repository.at("a/b").exists() && repository.at("e").exists());
    repository.commit(&[rename("a/x/c.md", "c.md", "c"), delete("a/b/d.md", "d")]).unwrap();
    assert!(!repository.at("a").exists() && repository.at("e/kept.md").exists());
    repository.commit(&[put("a", "a file", None)]).unwrap();
    fs::create_dir(repository.at("empty")).unwrap();
    repository.commit(&[delete("a", "a file"), delete("c.md", "c")]).unwrap();
    assert!(repository.at("empty").exists(), "no document of the commit was in it");
}
