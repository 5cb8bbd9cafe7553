mod copies;
mod edits;
mod media;
mod renames;
mod status;
mod temporary;

use super::*;
use agent_memory_storage::Writer as _;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

/// A granted repository without Git.
struct Repository {
    directory: tempfile::TempDir,
    tree: Tree,
}

impl Repository {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let tree = open(directory.path());
        Repository { directory, tree }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.directory.path().join(".github/agent-memory").join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    fn commit(&self, changes: &[Change]) -> Result<Vec<Option<String>>, CommitError> {
        writer(&self.tree).commit(changes)
    }

    /// Asserts that a commit fails and changes nothing. Returns its error.
    fn refuses(&self, changes: &[Change]) -> CommitError {
        let writer = writer(&self.tree);
        let before = snapshot(self.directory.path());
        let failed = writer.commit(changes).expect_err("it should be refused");
        assert_eq!(snapshot(self.directory.path()), before);
        assert_eq!(failed.applied, 0);
        failed
    }
}

fn open(directory: &Path) -> Tree {
    let storage = Storage::new(StorageOptions::default());
    storage.grant(directory).unwrap();
    storage.open(&Place::repository(directory.to_str().unwrap()), &[]).unwrap()
}

fn writer(tree: &Tree) -> Writer {
    acquire(tree).unwrap()
}

fn acquire(tree: &Tree) -> Result<Writer, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.unwrap().block_on(tree.lock(LockTimeout::new(Duration::from_secs(5))))
}

fn put(path: &str, text: &str, expects: Option<&str>) -> Change {
    Change::Put {
        area: Area::Documents,
        path: path.to_owned(),
        contents: text.as_bytes().to_vec(),
        expects: expects.map(|text| version_of(text.as_bytes())),
    }
}

fn delete(path: &str, expects: &str) -> Change {
    Change::Delete {
        area: Area::Documents,
        path: path.to_owned(),
        expects: version_of(expects.as_bytes()),
    }
}

/// The version that a commit returns for a document with this text.
fn version(text: &str) -> Option<String> {
    Some(version_of(text.as_bytes()))
}

/// Every path below a directory, with the text of the files.
fn snapshot(directory: &Path) -> BTreeMap<PathBuf, Option<String>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.symlink_metadata().unwrap().is_dir() {
            all.extend(snapshot(&path));
            all.insert(path, None);
        } else {
            let text = fs::read_to_string(&path).unwrap();
            all.insert(path, Some(text));
        }
    }
    all
}

/// Runs another test under `strace`, and returns the paths that it synced, in order. `None` without
/// `strace`.
#[track_caller]
fn syncs(repository: &Repository, test: &str) -> Option<Vec<PathBuf>> {
    if Command::new("strace").arg("-V").output().is_err() {
        crate::skip::skip("`strace` is not installed");
        return None;
    }
    let trace = tempfile::NamedTempFile::new().unwrap();
    let output = Command::new("strace")
        .args(["-f", "-y", "-e", "trace=fsync,fdatasync", "-o"])
        .arg(trace.path())
        .arg(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", test.split_once("::").unwrap().1])
        .env(TRACED, repository.directory.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let trace = fs::read_to_string(trace.path()).unwrap();
    let synced =
        trace.lines().filter_map(|line| line.split_once("sync(")?.1.split(['<', '>']).nth(1));
    Some(synced.map(PathBuf::from).collect())
}

const TRACED: &str = "AGENT_MEMORY_TEST_REPOSITORY";

/// The repository that the outer test made for the traced test.
fn traced() -> PathBuf {
    std::env::var_os(TRACED).expect("run by another test").into()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_commit_makes_its_changes_and_returns_their_versions() {
    let repository = Repository::new();
    repository.write("old.md", "old");
    repository.write("gone.md", "gone");
    let versions = repository.commit(&[
        put("a/b/new.md", "new", None),
        put("old.md", "newer", Some("old")),
        delete("gone.md", "gone"),
    ]);
    assert_eq!(versions.unwrap(), [version("new"), version("newer"), None]);
    let documents = snapshot(&repository.at(""));
    let text = |path: &str| documents.get(&repository.at(path)).cloned().flatten();
    assert_eq!(text("a/b/new.md").as_deref(), Some("new"));
    assert_eq!(text("old.md").as_deref(), Some("newer"));
    assert_eq!(documents.len(), 4, "{documents:?}");
}

#[test]
fn bookkeeping_is_kept_beside_the_lock() {
    let repository = Repository::new();
    let note = Change::Put {
        area: Area::Bookkeeping,
        path: "intent.json".into(),
        contents: b"{}".to_vec(),
        expects: None,
    };
    repository.commit(&[note]).unwrap();
    let kept = repository.tree.lock_key().directory().unwrap().join("bookkeeping/intent.json");
    assert_eq!(fs::read_to_string(kept).unwrap(), "{}");
    let read = repository.tree.read(Area::Bookkeeping, "intent.json", 10).unwrap();
    assert_eq!(read.unwrap().contents, b"{}");
    assert_eq!(repository.tree.read(Area::Documents, "intent.json", 10).unwrap(), None);
}

#[test]
fn a_version_that_differs_stops_the_whole_commit_and_leaves_nothing() {
    let repository = Repository::new();
    repository.write("a.md", "saved by an editor");
    let first = put("new/directory/b.md", "b", None);
    for second in [
        put("a.md", "mine", Some("what I read")),
        put("a.md", "mine", None),
        put("missing.md", "mine", Some("what I read")),
        delete("a.md", "what I read"),
    ] {
        let failed = repository.refuses(&[first.clone(), second]);
        assert_eq!((failed.error.code, failed.change), (ErrorCode::VersionMismatch, Some(1)));
    }
}

#[test]
fn an_editors_change_of_a_byte_is_noticed_in_a_long_document_that_the_writer_has_cached() {
    let repository = Repository::new();
    let mut text = "long ".repeat(1 << 18);
    let writer = writer(&repository.tree);
    for next in ["one", "two", "three"] {
        let before = (next != "one").then(|| text.clone());
        text.push_str(next);
        let changes = vec![put("a.md", &text, before.as_deref())];
        let versions = writer.commit_and_cache(changes).unwrap();
        assert_eq!(versions, [version(&text)]);
        let read = repository.tree.read(Area::Documents, "a.md", u64::MAX).unwrap().unwrap();
        assert_eq!(
            (read.version, read.contents == text.as_bytes()),
            (version_of(text.as_bytes()), true)
        );
    }
    let modified = fs::metadata(repository.at("a.md")).unwrap().modified().unwrap();
    let edited = text.replacen("long", "lone", 1);
    repository.write("a.md", &edited);
    let file = fs::File::options().write(true).open(repository.at("a.md")).unwrap();
    file.set_modified(modified).unwrap();
    let failed = writer.commit(&[put("a.md", "mine", Some(&text))]).unwrap_err();
    assert_eq!(failed.error.code, ErrorCode::VersionMismatch);
    assert_eq!(fs::read_to_string(repository.at("a.md")).unwrap(), edited);
    let read = repository.tree.read(Area::Documents, "a.md", u64::MAX).unwrap().unwrap();
    assert_eq!(read.version, version_of(edited.as_bytes()));
}

#[test]
fn a_commit_that_contradicts_itself_is_refused() {
    let repository = Repository::new();
    let twice = repository.refuses(&[put("a.md", "1", None), put("a.md", "2", None)]);
    assert_eq!((twice.error.code, twice.change), (ErrorCode::InvalidPath, Some(1)));
    for changes in [
        [put("a", "1", None), put("a/b", "2", None)],
        [put("a/b/c", "1", None), put("a", "2", None)],
    ] {
        assert_eq!(repository.refuses(&changes).error.code, ErrorCode::InvalidPath);
    }
    let same_name = [put("a", "1", None), put("b/a", "2", None)];
    assert!(repository.commit(&same_name).is_ok());
}

#[test]
fn a_document_may_have_16_mib_and_a_commit_1000_changes_and_no_more() {
    let repository = Repository::new();
    let document = |bytes: u64| Change::Put {
        area: Area::Documents,
        path: "large.bin".into(),
        contents: vec![b'x'; bytes as usize],
        expects: None,
    };
    let failed = repository.refuses(&[document(MAX_DOCUMENT_BYTES + 1)]);
    assert_eq!((failed.error.code, failed.change), (ErrorCode::TooLarge, Some(0)));
    repository.commit(&[document(MAX_DOCUMENT_BYTES)]).unwrap();
    let read = |max| repository.tree.read(Area::Documents, "large.bin", max);
    assert!(read(u64::MAX).is_ok());
    assert_eq!(read(MAX_DOCUMENT_BYTES - 1).unwrap_err().code, ErrorCode::TooLarge);
    fs::write(repository.at("large.bin"), vec![0; MAX_DOCUMENT_BYTES as usize + 1]).unwrap();
    assert_eq!(read(u64::MAX).unwrap_err().code, ErrorCode::TooLarge);

    let many: Vec<Change> = (0..=MAX_CHANGES).map(|n| put(&format!("{n}"), "", None)).collect();
    let failed = repository.refuses(&many);
    assert_eq!((failed.error.code, failed.change), (ErrorCode::TooLarge, None));
}

#[test]
fn a_commit_may_touch_more_directories_than_a_process_may_open() {
    let repository = Repository::new();
    let changes: Vec<Change> =
        (0..MAX_CHANGES).map(|n| put(&format!("{n}/a.md"), "text", None)).collect();
    let storage = Storage::new(StorageOptions {
        durability: Durability::Relaxed,
        ..StorageOptions::default()
    });
    storage.grant(repository.directory.path()).unwrap();
    let place = Place::repository(repository.directory.path().to_str().unwrap());
    let tree = storage.open(&place, &[]).unwrap();
    assert_eq!(writer(&tree).commit(&changes).unwrap().len(), MAX_CHANGES);
}

#[test]
fn permission_bits_are_kept_and_new_files_follow_the_umask() {
    let repository = Repository::new();
    repository.write("odd.md", "old");
    for bits in [0o640, 0o444, 0o666, 0o751] {
        fs::set_permissions(repository.at("odd.md"), PermissionsExt::from_mode(bits)).unwrap();
        repository.commit(&[put("odd.md", "old", Some("old"))]).unwrap();
        assert_eq!(mode(&repository.at("odd.md")), bits);
    }
    repository.write("by-hand/plain.md", "");
    repository.commit(&[put("made/plain.md", "", None)]).unwrap();
    for path in ["plain.md", ""] {
        let made = repository.at("made").join(path);
        assert_eq!(mode(&made), mode(&repository.at("by-hand").join(path)));
    }
    let lock = repository.tree.lock_key().directory().unwrap();
    assert_eq!(mode(&lock.join("turn.sqlite")), mode(lock) & 0o666);
}

#[test]
fn a_private_place_is_for_its_owner_alone() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("made/things");
    let storage = Storage::new(StorageOptions::default());
    let place = NamedPlace {
        label: "things".to_owned(),
        kind: NamedPlaceKind::Directory,
        path: root.clone(),
        is_private: true,
        databases: Vec::new(),
    };
    storage.grant_place(place).unwrap();
    let tree = storage.open(&Place::named("things"), &[]).unwrap();
    let bookkeeping = Change::Put {
        area: Area::Bookkeeping,
        path: "x".to_owned(),
        contents: Vec::new(),
        expects: None,
    };
    writer(&tree).commit(&[put("a/b.json", "old", None), bookkeeping]).unwrap();
    let document = root.join("a/b.json");
    assert_eq!(mode(&document), 0o600);
    // Others could read this document. They must not be able to read its replacement or its backup.
    fs::set_permissions(&document, PermissionsExt::from_mode(0o644)).unwrap();
    let backup = Change::Copy {
        area: Area::Documents,
        from: "a/b.json".to_owned(),
        to: "a/b.json.backup".to_owned(),
        expects: version_of(b"old"),
    };
    writer(&tree).commit(&[backup, put("a/b.json", "new", Some("old"))]).unwrap();
    for directory in ["..", "", "a", ".agent-memory", ".agent-memory/bookkeeping"] {
        assert_eq!(mode(&root.join(directory)), 0o700, "{directory}");
    }
    let locks = [".agent-memory/queue.sqlite", ".agent-memory/turn.sqlite"];
    for file in ["a/b.json", "a/b.json.backup", ".agent-memory/bookkeeping/x"].iter().chain(&locks)
    {
        assert_eq!(mode(&root.join(file)), 0o600, "{file}");
    }
}

#[test]
fn a_directory_in_place_of_the_temporary_file_is_left_alone() {
    let repository = Repository::new();
    let taken = repository.at(".b.md.agent-memory-tmp/x");
    fs::create_dir_all(&taken).unwrap();
    let failed = repository.refuses(&[put("a.md", "a", None), put("b.md", "b", None)]);
    assert_eq!((failed.error.code, failed.change), (ErrorCode::InvalidPath, Some(1)));
}

#[test]
fn files_whose_names_are_not_utf_8_are_not_listed() {
    use std::os::unix::ffi::OsStrExt;
    let repository = Repository::new();
    repository.write("a.md", "");
    let unnamed = std::ffi::OsStr::from_bytes(b"caf\xe9.md");
    fs::write(repository.at("").join(unnamed), "").unwrap();
    let listed = repository.tree.list(Area::Documents, "").unwrap().unwrap();
    assert_eq!(listed.len(), 1);
}

#[test]
fn a_listing_of_too_many_entries_is_refused() {
    let repository = Repository::new();
    repository.write("0", "");
    for n in 1..MAX_ENTRIES {
        fs::hard_link(repository.at(&(n - n % 1000).to_string()), repository.at(&n.to_string()))
            .or_else(|_| fs::write(repository.at(&n.to_string()), ""))
            .unwrap();
    }
    let list = || repository.tree.list(Area::Documents, "");
    assert_eq!(list().unwrap().unwrap().len(), MAX_ENTRIES);
    repository.write("one-more", "");
    assert_eq!(list().unwrap_err().code, ErrorCode::TooLarge);
}

#[test]
fn a_link_that_replaces_a_directory_of_a_path_is_not_followed() {
    let repository = Repository::new();
    let away = tempfile::tempdir().unwrap();
    repository.write("a/b.md", "old");
    let writer = writer(&repository.tree);
    fs::remove_dir_all(repository.at("a")).unwrap();
    symlink(away.path(), repository.at("a")).unwrap();
    let failed = writer.commit(&[put("a/c.md", "x", None)]).unwrap_err();
    assert_eq!(failed.error.code, ErrorCode::InvalidPath);
    assert!(snapshot(away.path()).is_empty());
}

#[test]
fn repositories_are_listed_by_name_and_none_is_created() {
    let base = tempfile::tempdir().unwrap();
    let storage = Storage::new(StorageOptions::default());
    // This directory contains the repositories, but is not a repository itself, so it is not listed.
    storage.grant(base.path()).unwrap();
    let mut names = Vec::new();
    for name in ["b", "a", "root"] {
        let directory = base.path().canonicalize().unwrap().join(name);
        fs::create_dir_all(directory.join(".git")).unwrap();
        fs::write(directory.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        names.push(directory.to_str().unwrap().to_owned());
    }
    names[..2].iter().for_each(|name| storage.grant(Path::new(name)).unwrap());
    names[..2].sort();
    let listed = |roots: &[PathBuf]| storage.list_places(&PlaceKind::Repository, roots).unwrap();
    assert_eq!(listed(&[]), names[..2]);
    assert_eq!(listed(&[PathBuf::from(&names[2]), base.path().to_owned()]), names);
    let place = Place::repository(&names[0]);
    let created = storage.create_place(&place, LockTimeout::new(Duration::ZERO));
    let created = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(created);
    assert_eq!(created.unwrap_err().code, ErrorCode::NotGranted);
}

#[test]
fn the_roots_of_a_call_are_granted_for_that_call_alone() {
    let repository = tempfile::tempdir().unwrap();
    let storage = Storage::new(StorageOptions::default());
    let place = Place::repository(repository.path().to_str().unwrap());
    let roots = [PathBuf::from("/no/such/root"), repository.path().to_owned()];
    assert!(storage.open(&place, &roots).is_ok());
    let refused = storage.open(&place, &[]).unwrap_err();
    assert_eq!(refused.code, ErrorCode::NotGranted);
    assert!(refused.message.contains("--allow"), "{refused}");
}
