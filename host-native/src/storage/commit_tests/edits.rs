//! Changes of parts of a document.

use super::*;

fn edit(path: &str, before: &str, splices: &[(u64, u64, &str)]) -> Change {
    let splice = |&(at, removes, text): &(u64, u64, &str)| Splice {
        at,
        removes,
        inserts: text.as_bytes().to_vec(),
    };
    Change::Edit {
        area: Area::Documents,
        path: path.to_owned(),
        splices: splices.iter().map(splice).collect(),
        expects: version_of(before.as_bytes()),
    }
}

#[test]
fn an_edit_changes_what_its_splices_say_beside_a_backup_too() {
    let repository = Repository::new();
    repository.write("a.json", "0123456789");
    let versions = repository.commit(&[
        copies::copy("a.json", "b.json", "0123456789"),
        edit("a.json", "0123456789", &[(0, 3, ""), (4, 1, "bc"), (10, 0, "d")]),
    ]);
    assert_eq!(versions.unwrap(), [version("0123456789"), version("3bc56789d")]);
    let text = |path: &str| fs::read_to_string(repository.at(path)).unwrap();
    assert_eq!((text("a.json").as_str(), text("b.json").as_str()), ("3bc56789d", "0123456789"));
    let same = repository.commit(&[edit("b.json", "0123456789", &[])]);
    assert_eq!(same.unwrap(), [version("0123456789")]);
}

#[test]
fn an_edit_that_does_not_fit_changes_nothing() {
    let repository = Repository::new();
    repository.write("a.md", "0123456789");
    let long = "x".repeat(MAX_DOCUMENT_BYTES as usize);
    repository.write("long.md", &format!("{long}x"));
    for (refused, code) in [
        (edit("a.md", "0123456789", &[(5, 6, "")]), ErrorCode::VersionMismatch),
        (edit("a.md", "other", &[(0, 0, "a")]), ErrorCode::VersionMismatch),
        (edit("b.md", "0123456789", &[]), ErrorCode::VersionMismatch),
        (edit("a.md", "0123456789", &[(0, 0, &long)]), ErrorCode::TooLarge),
        (edit("long.md", "other", &[]), ErrorCode::TooLarge),
    ] {
        let failed = repository.refuses(&[put("first.md", "", None), refused]);
        assert_eq!((failed.error.code, failed.change), (code, Some(1)));
    }
}

/// What is kept in memory of a long document is never taken for what an editor made of it.
#[test]
fn edits_of_a_long_document_go_on_from_what_stands_in_the_file() {
    let repository = Repository::new();
    let mut text = "0".repeat(3 << 20);
    repository.write("a.json", &text);
    for round in 0..6 {
        let end = text.len() as u64;
        // What is kept is there once, and is not where an edit was refused, or an editor saved.
        if round == 3 {
            let refused = edit("a.json", &text, &[(end + 1, 0, "")]);
            let failed = repository.refuses(&[refused]);
            assert_eq!(failed.error.code, ErrorCode::VersionMismatch);
        }
        let is_kept = repository.tree.0.storage.kept.holds(&version_of(text.as_bytes()));
        assert_eq!(is_kept, [2, 5].contains(&round), "round {round}");
        let letter = char::from(b'a' + round).to_string();
        let edited = edit("a.json", &text, &[(1 << 20, 1, ""), (end, 0, &letter)]);
        text.remove(1 << 20);
        text.push_str(&letter);
        let versions = repository.commit(&[edited]).unwrap();
        assert_eq!(versions, [version(&text)]);
        assert!(fs::read_to_string(repository.at("a.json")).unwrap() == text);
        if round % 3 == 0 {
            let before = text.clone();
            text.replace_range(10..11, &letter);
            repository.write("a.json", &text);
            let stale = repository.refuses(&[edit("a.json", &before, &[(0, 1, "")])]);
            assert_eq!(stale.error.code, ErrorCode::VersionMismatch);
        }
    }
}
