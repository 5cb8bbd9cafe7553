//! Tests of the status of a path.

use super::*;
use std::os::unix::fs::MetadataExt;

fn stat(tree: &Tree, path: &str) -> Result<Option<Status>, Error> {
    tree.stat(Area::Documents, path)
}

#[test]
fn a_status_tells_kind_size_and_stamp_as_a_listing_does() {
    let repository = Repository::new();
    repository.write("a/b.md", "text");
    symlink("a", repository.at("link")).unwrap();
    let found = fs::metadata(repository.at("a/b.md")).unwrap();
    let nanoseconds =
        |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
    let stamp = format!(
        "4-{}-{}-{}",
        nanoseconds(found.mtime(), found.mtime_nsec()),
        nanoseconds(found.ctime(), found.ctime_nsec()),
        found.ino(),
    );
    let file = Status { kind: EntryKind::File, size: 4, stamp };
    let other = |kind| Status { kind, size: 0, stamp: String::new() };
    let tree = &repository.tree;
    for (path, expected) in [
        ("a/b.md", file.clone()),
        ("a", other(EntryKind::Directory)),
        ("", other(EntryKind::Directory)),
        ("link", other(EntryKind::Other)),
    ] {
        assert_eq!(stat(tree, path).unwrap(), Some(expected), "{path}");
    }
    let listed = tree.list(Area::Documents, "a").unwrap().unwrap();
    assert_eq!(listed, [Entry { name: "b.md".to_owned(), status: file }]);
    for missing in ["b", "b/c", "a/c"] {
        assert_eq!(stat(tree, missing).unwrap(), None);
    }
    assert_eq!(tree.stat(Area::Bookkeeping, "").unwrap(), None);
    for refused in ["a/b.md/c", "link/b.md", "../a", "/"] {
        assert_eq!(stat(tree, refused).unwrap_err().code, ErrorCode::InvalidPath, "{refused}");
    }
}

#[test]
fn the_stamp_of_a_file_stays_until_it_is_written() {
    let repository = Repository::new();
    repository.write("a.md", "text");
    let stamp = || stat(&repository.tree, "a.md").unwrap().unwrap().stamp;
    let before = stamp();
    assert_eq!(stamp(), before);
    repository.commit(&[put("a.md", "else", Some("text"))]).unwrap();
    let committed = stamp();
    assert_ne!(committed, before);
    // A file system measures time in steps. An edit within the same step might get the same stamp.
    std::thread::sleep(Duration::from_millis(20));
    repository.write("a.md", "edit");
    assert_ne!(stamp(), committed);
}
