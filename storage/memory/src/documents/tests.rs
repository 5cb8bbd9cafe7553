//! Commits and locks in memory.

use super::*;
use agent_memory_storage::Splice;
use std::ops::Range;

#[test]
fn a_path_that_is_changed_twice_or_below_a_written_one_is_refused() {
    let put = |path: &str| Change::Put {
        area: Area::Documents,
        path: path.into(),
        contents: b"new".to_vec(),
        expects: None,
    };
    let place = Place::repository("/repo");
    let storage = MemoryStorage::new();
    storage.grant(place.clone());
    let tree = storage.open(&place).unwrap();
    let writer = tree.lock(None).unwrap();
    for (changes, refused) in
        [([put("a"), put("a")], 1), ([put("a"), put("a/b")], 1), ([put("a/b/c"), put("a")], 0)]
    {
        let failed = writer.commit(&changes).unwrap_err();
        assert_eq!(failed.error.code, ErrorCode::InvalidPath);
        assert_eq!((failed.change, failed.applied), (Some(refused), 0));
        assert!(storage.documents(&place, Area::Documents).is_empty());
    }
    writer.commit(&[put("a/b"), put("a/bc")]).unwrap();
}

#[test]
fn an_edit_applies_its_splices_and_refuses_those_that_do_not_fit() {
    let place = Place::repository("/repo");
    let edited = |splices: &[(Range<usize>, &str)]| {
        let storage = MemoryStorage::new();
        storage.put(&place, Area::Documents, "a", "0123456789");
        let splice = |(range, text): &(Range<usize>, &str)| Splice {
            range: range.clone(),
            inserts: text.as_bytes().to_vec(),
        };
        let edit = Change::Edit {
            area: Area::Documents,
            path: "a".into(),
            splices: splices.iter().map(splice).collect(),
            expects: version_of(b"0123456789"),
        };
        let committed = storage.open(&place).unwrap().lock(None).unwrap().commit(&[edit]);
        let after = storage.documents(&place, Area::Documents).remove("a").unwrap();
        committed.map(|_| String::from_utf8(after).unwrap()).map_err(|failed| failed.error.code)
    };
    assert_eq!(edited(&[]).as_deref(), Ok("0123456789"));
    assert_eq!(
        edited(&[(0..0, "a"), (0..3, ""), (4..5, "bc"), (10..10, "d")]).as_deref(),
        Ok("a3bc56789d")
    );
    #[allow(clippy::reversed_empty_ranges, reason = "they have to be refused")]
    for unfit in [
        vec![(5..11, "")],
        vec![(2..4, ""), (3..5, "")],
        vec![(4..4, ""), (3..3, "")],
        vec![(4..3, "")],
    ] {
        assert_eq!(edited(&unfit), Err(ErrorCode::VersionMismatch));
    }
}

#[test]
fn a_backup_has_the_contents_before_the_commit_at_any_position_of_the_copy() {
    let place = Place::repository("/repo");
    let copy = || Change::Copy {
        area: Area::Documents,
        from: "a.json".into(),
        to: "a.json.backup".into(),
        expects: version_of(b"old"),
    };
    let put = || Change::Put {
        area: Area::Documents,
        path: "a.json".into(),
        contents: b"new".to_vec(),
        expects: Some(version_of(b"old")),
    };
    for changes in [[copy(), put()], [put(), copy()]] {
        let storage = MemoryStorage::new();
        storage.put(&place, Area::Documents, "a.json", "old");
        storage.put(&place, Area::Documents, "a.json.backup", "older");
        let tree = storage.open(&place).unwrap();
        let writer = tree.lock(None).unwrap();
        writer.commit(&changes).unwrap();
        let documents = storage.documents(&place, Area::Documents);
        assert_eq!(documents["a.json"], b"new");
        assert_eq!(documents["a.json.backup"], b"old");
        let failed = writer.commit(&changes).unwrap_err();
        assert_eq!(failed.error.code, ErrorCode::VersionMismatch);
    }
}

#[test]
fn a_rename_moves_a_document_to_a_path_where_nothing_exists() {
    let place = Place::repository("/repo");
    let storage = MemoryStorage::new();
    storage.put(&place, Area::Documents, "a", "a");
    storage.put(&place, Area::Documents, "b", "b");
    let rename = |to: &str| Change::Rename {
        area: Area::Documents,
        from: "a".into(),
        to: to.into(),
        expects: version_of(b"a"),
    };
    let tree = storage.open(&place).unwrap();
    let writer = tree.lock(None).unwrap();
    let refused = writer.commit(&[rename("b")]).unwrap_err();
    assert_eq!(refused.error.code, ErrorCode::AlreadyExists);
    assert_eq!(writer.commit(&[rename("c/a")]).unwrap(), [Some(version_of(b"a"))]);
    let documents = storage.documents(&place, Area::Documents);
    assert_eq!(documents.keys().collect::<Vec<_>>(), ["b", "c/a"]);
    let refused = writer.commit(&[rename("d")]).unwrap_err();
    assert_eq!(refused.error.code, ErrorCode::VersionMismatch);
}

#[test]
fn a_call_locks_one_place_at_a_time_and_its_transaction_goes_on_under_its_writer() {
    let [one, other] = ["/one", "/other"].map(Place::repository);
    let storage = MemoryStorage::new();
    for place in [&one, &other] {
        storage.grant(place.clone());
    }
    let code = |tree: &dyn Tree| tree.lock(None).err().map(|error| error.code);
    let first = storage.open(&one).unwrap();
    let second = storage.open(&other).unwrap();
    let writer = first.lock(None).unwrap();
    assert_eq!(code(&*first), Some(ErrorCode::Nested));
    assert_eq!(code(&*second), Some(ErrorCode::Nested), "another place");
    let transaction = storage.lock_for_transaction(&one, None).unwrap();
    drop(writer);
    assert_eq!(code(&*first), Some(ErrorCode::Nested), "a transaction holds the lock");
    assert_eq!(code(&*second), Some(ErrorCode::Nested), "another place");
    drop(transaction);
    assert_eq!(code(&*first), None);
    assert_eq!(code(&*second), None, "the first place is free");
    assert_eq!(code(&*storage.another().open(&other).unwrap()), None);
}
