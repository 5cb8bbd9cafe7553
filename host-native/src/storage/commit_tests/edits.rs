//! Tests of edits.

use super::*;

fn edit(path: &str, before: &str, splices: &[(usize, usize, &str)]) -> Change {
    let splice = |&(at, removes, text): &(usize, usize, &str)| Splice {
        range: at..at.saturating_add(removes),
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
fn an_edit_applies_its_splices_also_beside_a_backup() {
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
