use super::*;
use agent_memory_storage::Writer as _;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

const SHORT: Duration = Duration::from_millis(30);
const LONG: Duration = Duration::from_secs(60);

/// Opens a tree in a storage of its own, as another process would: two storages share only the lock
/// files.
fn open(repository: &Path) -> Tree {
    let storage = Storage::new(StorageOptions {
        durability: Durability::Relaxed,
        ..StorageOptions::default()
    });
    storage.grant(repository).unwrap();
    storage.open(&Place::repository(repository.to_str().unwrap()), &[]).unwrap()
}

async fn acquire(tree: &Tree, lock_wait: Duration) -> Result<Writer, Error> {
    tree.lock(LockTimeout::new(lock_wait)).await
}

fn put(text: &str, expects: Option<String>) -> Change {
    Change::Put {
        area: Area::Documents,
        path: "counter".into(),
        contents: text.as_bytes().to_vec(),
        expects,
    }
}

/// Adds one to the number in the document.
fn count(tree: &Tree, writer: &Writer) {
    let document = tree.read(Area::Documents, "counter", 100).unwrap();
    let (counted, version) = match document {
        Some(document) => {
            let text = String::from_utf8(document.contents).unwrap();
            (text.parse().unwrap(), Some(document.version))
        }
        None => (0, None),
    };
    writer.commit(&[put(&(counted + 1).to_string(), version)]).unwrap();
}

#[tokio::test]
async fn one_writer_excludes_another_storage_until_it_is_dropped() {
    let repository = tempfile::tempdir().unwrap();
    let one = open(repository.path());
    let other = open(repository.path());
    let writer = acquire(&one, SHORT).await.unwrap();
    let busy = acquire(&other, SHORT).await.unwrap_err();
    assert_eq!(busy.code, ErrorCode::Busy);
    assert!(busy.message.contains("try again") && busy.message.contains(" s "), "{busy}");
    drop(writer);
    acquire(&other, SHORT).await.unwrap();
}

#[tokio::test]
async fn a_writer_gets_the_lock_within_its_timeout() {
    let repository = tempfile::tempdir().unwrap();
    let one = open(repository.path());
    let other = open(repository.path());
    let writer = acquire(&one, SHORT).await.unwrap();
    let waits = tokio::spawn(async move { acquire(&other, LONG).await });
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!waits.is_finished());
    drop(writer);
    waits.await.unwrap().unwrap();
}

#[tokio::test]
async fn an_infinite_timeout_counts_as_the_longest() {
    let repository = tempfile::tempdir().unwrap();
    let timeout = LockTimeout::new(Duration::MAX);
    assert!(timeout.deadline() <= Instant::now() + MAX_LOCK_WAIT);
    open(repository.path()).lock(timeout).await.unwrap();
}

#[tokio::test]
async fn the_lock_is_taken_even_if_its_gitignore_is_no_file() {
    let repository = tempfile::tempdir().unwrap();
    let tree = open(repository.path());
    fs::create_dir(tree.lock_key().directory().unwrap()).unwrap();
    let path = tree.lock_key().directory().unwrap().join(".gitignore");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    acquire(&tree, SHORT).await.unwrap();
    assert!(!path.symlink_metadata().unwrap().is_file());
}

#[tokio::test]
async fn writers_of_one_storage_are_served_in_the_order_in_which_they_asked() {
    let repository = tempfile::tempdir().unwrap();
    let tree = open(repository.path());
    let writer = acquire(&tree, LONG).await.unwrap();
    let served = Arc::new(std::sync::Mutex::new(Vec::new()));
    let mut waiting = Vec::new();
    for number in 0..20 {
        let asks = tree.lock(LockTimeout::new(LONG));
        waiting.push((number, asks));
    }
    let tasks: Vec<_> = waiting
        .into_iter()
        .rev()
        .map(|(number, asks)| {
            let served = served.clone();
            tokio::spawn(async move {
                let _writer = asks.await.unwrap();
                served.lock().unwrap().push(number);
            })
        })
        .collect();
    drop(writer);
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(*served.lock().unwrap(), (0..20).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_writer_that_gives_up_waiting_leaves_the_queue() {
    let repository = tempfile::tempdir().unwrap();
    let [one, other, third] = [(); 3].map(|()| open(repository.path()));
    let writer = acquire(&one, LONG).await.unwrap();
    // This writer gets as far as locking the file of the queue.
    let gives_up = tokio::time::timeout(SHORT, acquire(&other, LONG)).await;
    assert!(gives_up.is_err());
    drop(one.lock(LockTimeout::new(LONG)));
    drop(writer);
    acquire(&third, SHORT).await.unwrap();
    acquire(&one, SHORT).await.unwrap();
    acquire(&other, SHORT).await.unwrap();
}

#[tokio::test]
async fn a_writer_that_asks_again_at_once_does_not_overtake_a_waiting_one() {
    let repository = tempfile::tempdir().unwrap();
    let greedy = open(repository.path());
    let other = open(repository.path());
    for _ in 0..10 {
        let writer = acquire(&greedy, LONG).await.unwrap();
        let was_served = Arc::new(AtomicUsize::new(0));
        let served = was_served.clone();
        let asks = other.lock(LockTimeout::new(LONG));
        let waits = tokio::spawn(async move {
            let _writer = asks.await.unwrap();
            served.store(1, Ordering::SeqCst);
        });
        let queues = async {
            while !is_taken(&greedy, "queue.sqlite") {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(LONG, queues)
            .await
            .expect("the other waits in the queue of the processes");
        drop(writer);
        let _writer = acquire(&greedy, LONG).await.unwrap();
        assert_eq!(was_served.load(Ordering::SeqCst), 1);
        waits.await.unwrap();
    }
}

/// Whether a writer holds this file of the lock.
fn is_taken(tree: &Tree, file: &str) -> bool {
    let connection =
        rusqlite::Connection::open(tree.lock_key().directory().unwrap().join(file)).unwrap();
    connection.busy_timeout(Duration::ZERO).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK").is_err()
}

#[test]
fn nothing_is_lost_between_storages_that_share_no_queue() {
    const ROUNDS: usize = 100;
    let repository = tempfile::tempdir().unwrap();
    let holders = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let tree = open(repository.path());
                let runtime =
                    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
                for _ in 0..ROUNDS {
                    let writer = runtime.block_on(acquire(&tree, LONG)).unwrap();
                    assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0);
                    count(&tree, &writer);
                    holders.fetch_sub(1, Ordering::SeqCst);
                }
            });
        }
    });
    let tree = open(repository.path());
    let counted = tree.read(Area::Documents, "counter", 100).unwrap().unwrap();
    assert_eq!(counted.contents, (4 * ROUNDS).to_string().as_bytes());
    for file in ["queue.sqlite", "turn.sqlite"] {
        assert_eq!(fs::metadata(tree.lock_key().directory().unwrap().join(file)).unwrap().len(), 0);
    }
    let kept = fs::read_dir(tree.lock_key().directory().unwrap()).unwrap().count();
    assert_eq!(kept, 3, "the two files and `.gitignore`");
}

#[tokio::test]
async fn a_running_commit_keeps_the_lock_after_its_writer_was_dropped() {
    let repository = tempfile::tempdir().unwrap();
    let one = open(repository.path());
    let other = open(repository.path());
    let writer = Arc::new(acquire(&one, LONG).await.unwrap());
    let (go, going) = std::sync::mpsc::channel::<()>();
    let commits = writer.clone();
    let thread = std::thread::spawn(move || {
        going.recv().unwrap();
        commits.commit(&[put("1", None)]).unwrap();
    });
    drop(writer);
    assert_eq!(acquire(&other, SHORT).await.unwrap_err().code, ErrorCode::Busy);
    go.send(()).unwrap();
    thread.join().unwrap();
    acquire(&other, SHORT).await.unwrap();
    assert!(other.read(Area::Documents, "counter", 100).unwrap().is_some());
}

#[tokio::test]
async fn a_repository_that_was_removed_and_made_anew_can_be_locked() {
    let base = tempfile::tempdir().unwrap();
    let repository = base.path().join("repo");
    fs::create_dir(&repository).unwrap();
    let storage = Storage::new(StorageOptions::default());
    storage.grant(base.path()).unwrap();
    let place = Place::repository(repository.to_str().unwrap());
    drop(acquire(&storage.open(&place, &[]).unwrap(), SHORT).await.unwrap());
    // This writer holds the lock files that are removed below.
    let _writer = acquire(&open(&repository), SHORT).await.unwrap();

    fs::remove_dir_all(&repository).unwrap();
    fs::create_dir(&repository).unwrap();
    let tree = storage.open(&place, &[]).unwrap();
    let writer = acquire(&tree, SHORT).await.unwrap();
    assert_eq!(acquire(&open(&repository), SHORT).await.unwrap_err().code, ErrorCode::Busy);
    count(&tree, &writer);

    fs::remove_dir_all(tree.lock_key().directory().unwrap()).unwrap();
    let failed = writer.commit(&[put("2", None)]).unwrap_err();
    assert!(failed.error.message.contains("removed"), "{failed}");
}

#[tokio::test]
async fn a_writer_that_waits_for_a_removed_lock_takes_the_new_one() {
    let repository = tempfile::tempdir().unwrap();
    let [one, other, third] = [(); 3].map(|()| open(repository.path()));
    let writer = acquire(&one, LONG).await.unwrap();
    let waits = tokio::spawn(async move { acquire(&other, LONG).await });
    tokio::time::sleep(SHORT).await;
    fs::remove_dir_all(one.lock_key().directory().unwrap()).unwrap();
    drop(writer);
    let _writer = waits.await.unwrap().unwrap();
    assert_eq!(acquire(&third, SHORT).await.unwrap_err().code, ErrorCode::Busy);
}

#[tokio::test]
async fn a_lock_file_that_is_no_database_is_refused() {
    for file in ["queue.sqlite", "turn.sqlite"] {
        let repository = tempfile::tempdir().unwrap();
        let tree = open(repository.path());
        fs::create_dir(tree.lock_key().directory().unwrap()).unwrap();
        let path = tree.lock_key().directory().unwrap().join(file);
        let code = async || acquire(&tree, SHORT).await.unwrap_err().code;

        symlink(repository.path().join("away"), &path).unwrap();
        assert_eq!(code().await, ErrorCode::InvalidPath);
        assert!(!repository.path().join("away").exists());
        fs::remove_file(&path).unwrap();

        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert_eq!(code().await, ErrorCode::InvalidPath);
        fs::remove_file(&path).unwrap();

        fs::write(&path, "neither empty nor a database".repeat(100)).unwrap();
        assert_eq!(code().await, ErrorCode::Io);
        fs::remove_file(&path).unwrap();
        acquire(&tree, SHORT).await.unwrap();
    }
}

#[tokio::test]
async fn a_process_that_is_killed_leaves_the_lock_free() {
    let repository = tempfile::tempdir().unwrap();
    let name = module_path!().split_once("::").unwrap().1;
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--nocapture", "--exact", &format!("{name}::holds_the_lock")])
        .env("AGENT_MEMORY_TEST_REPOSITORY", repository.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("it holds the lock")));
    let tree = open(repository.path());
    assert_eq!(acquire(&tree, SHORT).await.unwrap_err().code, ErrorCode::Busy);
    child.kill().unwrap();
    child.wait().unwrap();
    acquire(&tree, SHORT).await.unwrap();
}

#[tokio::test]
#[ignore = "run by another test, which kills it"]
async fn holds_the_lock() {
    let repository = std::env::var_os("AGENT_MEMORY_TEST_REPOSITORY").expect("run by another test");
    let _writer = acquire(&open(Path::new(&repository)), LONG).await.unwrap();
    println!("it holds the lock");
    tokio::time::sleep(LONG).await;
}
