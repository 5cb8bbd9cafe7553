use super::api::Writer as _;
use super::api::database::Transaction as _;
use super::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

const LABEL: &str = "things";
/// The database's name for the component. The file may have another name.
const NAME: &str = "things.db";

fn place(label: &str, kind: NamedPlaceKind, path: &Path) -> NamedPlace {
    let databases = vec![NAME.to_owned()];
    NamedPlace { label: label.to_owned(), kind, path: path.to_owned(), is_private: true, databases }
}

fn grant(path: &Path) -> Result<Storage, Error> {
    let storage = Storage::new(StorageOptions::default());
    storage.grant_place(place(LABEL, NamedPlaceKind::File, path))?;
    Ok(storage)
}

fn tree(storage: &Storage) -> Tree {
    storage.open(&Place::named(LABEL), &[]).unwrap()
}

fn open(storage: &Storage, create: bool) -> Result<Database, Error> {
    tree(storage).open_database(NAME, DatabaseKind::Kept, create)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
}

fn begin(database: &Database) -> Transaction {
    let timeout = LockTimeout::new(Duration::from_secs(60));
    runtime().block_on(database.begin(Mode::Write(None), None, timeout)).unwrap()
}

fn create_table(database: &Database) {
    let transaction = begin(database);
    let sql = "CREATE TABLE t (x)".to_owned();
    transaction.execute(&[Statement { sql, parameters: Vec::new() }]).unwrap();
    transaction.commit().unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

fn code<T>(done: Result<T, Error>) -> ErrorCode {
    done.map(drop).unwrap_err().code
}

/// A scratch directory with its canonical path.
fn scratch() -> (tempfile::TempDir, PathBuf) {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().canonicalize().unwrap();
    (scratch, path)
}

#[test]
fn a_new_database_file_and_its_lock_are_for_their_owner_alone() {
    let (_scratch, base) = scratch();
    let file = base.join("a/b/mine.sqlite");
    let storage = grant(&file).unwrap();
    let missing = open(&storage, false).unwrap_err();
    assert_eq!(missing.code, ErrorCode::NotFound);
    assert!(missing.message.contains("a/b/mine.sqlite`"), "{missing}");
    assert!(!base.join("a").exists(), "looking makes nothing");

    let database = open(&storage, true).unwrap();
    assert!(database.location().ends_with("a/b/mine.sqlite"), "{}", database.location());
    create_table(&database);
    let lock = base.join("a/b/.agent-memory/mine.sqlite");
    assert_eq!(tree(&storage).lock_key().directory().unwrap(), lock);
    assert_eq!(database.lock_key().unwrap().directory(), Some(lock.as_path()));
    for directory in ["a", "a/b", "a/b/.agent-memory", "a/b/.agent-memory/mine.sqlite"] {
        assert_eq!(mode(&base.join(directory)), 0o700, "{directory}");
    }
    for file in [&file, &lock.join("turn.sqlite")] {
        assert_eq!(mode(file), 0o600, "{}", file.display());
    }
    assert!(!lock.join(".gitignore").exists());
}

#[test]
fn an_existing_file_and_its_directory_keep_their_modes() {
    let (_scratch, base) = scratch();
    let directory = base.join("shared");
    let file = base.join("shared/mine.sqlite");
    fs::create_dir(&directory).unwrap();
    fs::write(&file, "").unwrap();
    set_mode(&directory, 0o755);
    set_mode(&file, 0o644);
    create_table(&open(&grant(&file).unwrap(), true).unwrap());
    assert_eq!((mode(&directory), mode(&file)), (0o755, 0o644));
    assert_eq!(mode(&directory.join(".agent-memory")), 0o700);
}

#[test]
fn links_to_a_file_and_to_its_directory_are_followed_when_it_is_granted() {
    let (_scratch, base) = scratch();
    fs::create_dir(base.join("real")).unwrap();
    symlink(base.join("real"), base.join("directory")).unwrap();
    // Below a linked directory, a file can be granted before it exists.
    let storage = grant(&base.join("directory/mine.sqlite")).unwrap();
    create_table(&open(&storage, true).unwrap());
    symlink(base.join("real/mine.sqlite"), base.join("link.sqlite")).unwrap();
    let lock = base.join("real/.agent-memory/mine.sqlite");
    for path in ["real/mine.sqlite", "directory/mine.sqlite", "link.sqlite"] {
        let storage = grant(&base.join(path)).unwrap();
        assert_eq!(tree(&storage).lock_key().directory().unwrap(), lock, "{path}");
        assert_eq!(storage.place_directory(LABEL), Some(base.join("real")), "{path}");
        open(&storage, false).unwrap();
    }
    // A dangling link is not followed, and neither is a link that was made after the grant.
    for name in ["dangling.sqlite", "later.sqlite"] {
        let storage = match name {
            "later.sqlite" => Some(grant(&base.join(name)).unwrap()),
            _ => None,
        };
        symlink(base.join("away"), base.join(name)).unwrap();
        let storage = storage.unwrap_or_else(|| grant(&base.join(name)).unwrap());
        assert_eq!(code(open(&storage, true)), ErrorCode::InvalidPath, "{name}");
    }
    assert!(!base.join("away").exists());
}

#[test]
fn a_path_that_is_no_file_is_refused() {
    let (_scratch, base) = scratch();
    fs::create_dir(base.join("directory")).unwrap();
    fs::write(base.join("document"), "").unwrap();
    for path in [
        "directory",
        "directory/",
        "missing/",
        "missing/..",
        "missing/../x.sqlite",
        "document/x.sqlite",
        ".agent-memory",
        ".Agent-Memory",
    ] {
        assert_eq!(code(grant(&base.join(path))), ErrorCode::InvalidPath, "{path}");
    }
    let storage = grant(&base.join("later.sqlite")).unwrap();
    fs::create_dir(base.join("later.sqlite")).unwrap();
    assert_eq!(code(open(&storage, true)), ErrorCode::InvalidPath);
}

#[test]
fn a_place_that_is_occupied_at_the_grant_opens_once_it_is_free() {
    let (_scratch, base) = scratch();
    let file = base.join("memory.sqlite");
    fs::create_dir(&file).unwrap();
    let storage = Storage::new(StorageOptions::default());
    let wanted = |path: &Path| Wanted::Place(place(LABEL, NamedPlaceKind::File, path));
    let refused = storage.grant_once_possible(wanted(&file)).unwrap().unwrap();
    assert!(refused.message.contains("something other than a file"), "{refused}");
    let at = Place::Named { label: LABEL.to_owned(), name: String::new() };
    assert_eq!(storage.open(&at, &[]).unwrap_err(), refused);
    fs::remove_dir(&file).unwrap();
    create_table(&open(&storage, true).unwrap());
    assert!(file.is_file());
    // A path that can never lead to a file is refused at once.
    assert_eq!(code(storage.grant_once_possible(wanted(&base.join("a/")))), ErrorCode::InvalidPath);
}

#[test]
fn a_relative_path_begins_at_the_working_directory() {
    let storage = grant(Path::new("missing.sqlite")).unwrap();
    let working_directory = std::env::current_dir().unwrap().canonicalize().unwrap();
    assert_eq!(storage.place_directory(LABEL), Some(working_directory));
}

#[test]
fn a_database_file_has_no_documents_and_no_other_database() {
    let (_scratch, base) = scratch();
    fs::write(base.join("beside.md"), "theirs").unwrap();
    let storage = grant(&base.join("mine.sqlite")).unwrap();
    create_table(&open(&storage, true).unwrap());
    let tree = tree(&storage);
    assert_eq!(tree.list(Area::Documents, "").unwrap(), None);
    assert_eq!(tree.stat(Area::Documents, "").unwrap(), None);
    let timeout = LockTimeout::new(Duration::from_secs(60));
    for path in ["beside.md", "mine.sqlite", "mine.sqlite-wal", "new.md", "a/new.md"] {
        assert_eq!(code(tree.read(Area::Documents, path, 1024)), ErrorCode::InvalidPath, "{path}");
        assert_eq!(code(tree.list(Area::Documents, path)), ErrorCode::InvalidPath, "{path}");
        let put = Change::Put {
            area: Area::Documents,
            path: path.to_owned(),
            contents: b"ours".to_vec(),
            expects: None,
        };
        let writer = runtime().block_on(tree.lock(timeout)).unwrap();
        let committed = writer.commit(&[put]).map_err(|failed| failed.error);
        assert_eq!(code(committed), ErrorCode::InvalidPath, "{path}");
    }
    assert_eq!(fs::read(base.join("beside.md")).unwrap(), b"theirs");
    assert!(!base.join("new.md").exists());
    for name in ["mine.sqlite", "other.db", "../things.db"] {
        let opened = tree.open_database(name, DatabaseKind::Kept, true);
        assert_eq!(code(opened), ErrorCode::NotGranted, "{name}");
    }
    tree.open_database("index.db", DatabaseKind::Derived, true).unwrap();
    assert!(base.join(".agent-memory/mine.sqlite/derived/index.db").exists());
}

#[test]
fn files_in_one_directory_have_locks_of_their_own() {
    let (_scratch, base) = scratch();
    let [one, other] = ["one.sqlite", "other.sqlite"].map(|name| grant(&base.join(name)).unwrap());
    let [one, other] = [one, other].map(|storage| open(&storage, true).unwrap());
    let transaction = begin(&one);
    create_table(&other);
    transaction.commit().unwrap();
}

#[test]
fn no_named_place_lies_inside_another() {
    use NamedPlaceKind::{Directory, File};
    let (_scratch, base) = scratch();
    let storage = Storage::new(StorageOptions::default());
    let grant = |label, kind, path: &str| storage.grant_place(place(label, kind, &base.join(path)));
    grant("directory", Directory, "a/b").unwrap();
    grant("file", File, "a/c.sqlite").unwrap();
    for (kind, path) in [
        (File, "a/b/x.sqlite"),
        (File, "a/c.sqlite"),
        (Directory, "a/b"),
        (Directory, "a/b/c"),
        (Directory, "a"),
        (Directory, "."),
    ] {
        let refused = grant("third", kind, path).unwrap_err();
        assert_eq!(refused.code, ErrorCode::InvalidPath, "{path}");
        let names_other = ["`directory`", "`file`"].iter().any(|at| refused.message.contains(at));
        assert!(names_other, "{refused}");
    }
    grant("third", File, "a/b.sqlite").unwrap();
    // A further grant for a label gives its place another path.
    grant("file", File, "a/d.sqlite").unwrap();
    grant("directory", Directory, "a/b/c").unwrap();
}
