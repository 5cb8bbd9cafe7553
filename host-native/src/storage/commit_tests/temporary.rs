//! Tests of temporary files that killed writers have left.

use super::*;
use agent_memory_storage_files::{Durability, Layout, Tree as Files};

const TEMPORARY: &str = ".killed.md.agent-memory-tmp";

#[test]
fn a_writer_that_lists_a_directory_removes_what_killed_writers_have_left() {
    let repository = Repository::new();
    repository.write("a/b.md", "text");
    let temporary = repository.at("a").join(TEMPORARY);
    fs::write(&temporary, "half").unwrap();
    let names = |entries: Option<Vec<Entry>>| -> Vec<String> {
        entries.unwrap().into_iter().map(|entry| entry.name).collect()
    };
    assert_eq!(names(repository.tree.list(Area::Documents, "a").unwrap()), ["b.md"]);
    assert!(temporary.exists(), "a reader removes nothing");

    let writer = writer(&repository.tree);
    assert_eq!(names(writer.list(Area::Documents, "a").unwrap()), ["b.md"]);
    assert!(!temporary.exists());

    // Storage makes no directories with this name, so the directory stays.
    fs::create_dir(&temporary).unwrap();
    assert_eq!(names(writer.list(Area::Documents, "a").unwrap()), ["b.md"]);
    fs::remove_dir(&temporary).unwrap();

    // Without its lock, the writer removes nothing: the temporary file may be another writer's.
    fs::write(&temporary, "half").unwrap();
    fs::remove_dir_all(writer.lock_key().directory().unwrap()).unwrap();
    assert_eq!(names(writer.list(Area::Documents, "a").unwrap()), ["b.md"]);
    assert!(temporary.exists());
}

#[test]
fn beside_databases_temporary_files_stay() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().canonicalize().unwrap();
    let temporary = path.join(TEMPORARY);
    for (databases, stays) in [(vec!["things.db".to_owned()], true), (Vec::new(), false)] {
        fs::write(&temporary, "half").unwrap();
        let layout = Layout::from_directory(&path, "things", true, &databases).unwrap();
        let tree = Files::new(layout, Durability::Full);
        assert_eq!(tree.list_and_clean(Area::Documents, "", &|| true), Ok(Some(Vec::new())));
        assert_eq!(temporary.exists(), stays);
    }
}
