//! Damage to the two lock files. A writer of either host works all the same, or fails at once with a
//! helpful message. No data is lost, and removing both files repairs the lock.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use agent_memory_conformance::case::Documents;
use agent_memory_conformance::runner::Answer;
use agent_memory_tests::process::{Call, Host, Process};
use agent_memory_tests::scratch::Scratch;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;
use tempfile::TempDir;

const FILES: [&str; 2] = ["queue.sqlite", "turn.sqlite"];

/// Damages to a file, with their names.
type Damage = (&'static str, fn(&Path));

const DAMAGES: [Damage; 12] = [
    ("emptied", |path| write(path, b"")),
    ("one byte", |path| write(path, b"S")),
    ("garbage", |path| write(path, &[0x5a; 8192])),
    ("a header that is cut", |path| write(path, b"SQLite format 3\0")),
    ("a header with garbage", |path| {
        write(path, &[b"SQLite format 3\0", &[0xa5; 4080][..]].concat())
    }),
    ("another journal mode", |path| write(path, &write_ahead())),
    ("a journal beside it", |path| write(&beside(path, "-journal"), &[0x5a; 4096])),
    ("a write-ahead log beside it", |path| write(&beside(path, "-wal"), &[0x5a; 4096])),
    ("removed", |path| fs::remove_file(path).expect("it is there")),
    ("a directory", |path| instead(path, |path| fs::create_dir(path).expect("a directory"))),
    ("a link", |path| instead(path, |path| symlink("../HEAD", path).expect("a link"))),
    ("a pipe", |path| {
        instead(path, |path| {
            mknodat(CWD, path, FileType::Fifo, Mode::from(0o666), 0).expect("a pipe");
        });
    }),
];

#[test]
fn damaged_lock_files_lose_no_data_and_block_no_writer_for_good() {
    for host in Host::all() {
        let began = Instant::now();
        let above = tempfile::tempdir().expect("a scratch directory");
        let mut process = Process::start(*host, above.path());
        let mut another = Process::start(Host::Native, above.path());
        let mut worked = 0;
        let mut refused = 0;
        for (name, damage) in DAMAGES {
            for file in FILES {
                // The process has used the lock before the damage, or starts after it.
                for has_written in [true, false] {
                    println!("{host:?}, `{file}`: {name}, has written: {has_written}");
                    let within = TempDir::new_in(&above).expect("a scratch directory");
                    let scratch = Scratch::within(within, &Documents::new());
                    let first = if has_written { &mut process } else { &mut another };
                    assert_result(&first.call(&start(&scratch.places().repo)));
                    damage(&lock_directory(&scratch).join(file));
                    if meet(&scratch, &mut process) { worked += 1 } else { refused += 1 }
                }
            }
        }
        println!("{host:?}: {worked} worked, {refused} were refused, in {:.1?}", began.elapsed());
        assert!(worked > 0 && refused > 0);
    }
}

/// Makes a call with damaged lock files; returns whether it works.
fn meet(scratch: &Scratch, process: &mut Process) -> bool {
    let root = scratch.places().repo;
    let before = scratch.documents();
    let answer = process.call(&append(&root, "while it is damaged"));
    let works = match &answer {
        Answer::Result(_) => true,
        Answer::Error(error) => {
            assert_eq!(error["error"], "StorageError", "{error}");
            assert!(error["message"].as_str().is_some_and(|text| text.contains("lock")), "{error}");
            assert!(scratch.documents() == before, "an error changes nothing");
            false
        }
        Answer::Refused(_) => panic!("{answer:?}"),
    };
    assert_eq!(count(scratch, "while it is damaged"), usize::from(works));
    // The message says to remove both files.
    for entry in fs::read_dir(lock_directory(scratch)).expect("the lock's directory") {
        let path = entry.expect("an entry").path();
        let _ = if path.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) };
    }
    assert_result(&process.call(&append(&root, "once it is repaired")));
    assert_eq!(count(scratch, "once it is repaired"), 1);
    assert_eq!(count(scratch, "while it is damaged"), usize::from(works));
    assert_eq!(scratch.strays(), Vec::<String>::new());
    let mut kept: Vec<_> = scratch.documents().into_keys().collect();
    kept.retain(|path| path.contains("/."));
    assert_eq!(kept, Vec::<String>::new());
    works
}

#[test]
fn entries_acknowledged_while_lock_files_are_overwritten_are_not_lost() {
    const ENTRIES: usize = 60;
    let scratch = Scratch::new(&Documents::new());
    let root = scratch.places().repo;
    let hosts = [Host::Native, *Host::all().last().expect("a host")];
    let mut processes = hosts.map(|host| Process::start(host, &scratch.repo()));
    assert_result(&processes[0].call(&start(&root)));
    for number in 0..ENTRIES {
        for (writer, process) in processes.iter_mut().enumerate() {
            process.send(number, &append(&root, &entry(writer, number)));
        }
    }
    let lock = lock_directory(&scratch);
    let until = Instant::now() + Duration::from_secs(60);
    let mut acknowledged = Vec::new();
    let mut answers = [0; 2];
    for turn in 0.. {
        let contents: &[u8] = if turn % 2 == 0 { &[0x5a; 8192] } else { b"" };
        write(&lock.join(FILES[turn / 2 % 2]), contents);
        for (writer, process) in processes.iter_mut().enumerate() {
            while answers[writer] < ENTRIES
                && let Some((number, answer)) = process.answer(Instant::now())
            {
                answers[writer] += 1;
                match answer {
                    Answer::Result(_) => acknowledged.push(entry(writer, number)),
                    Answer::Error(error) => assert_eq!(error["error"], "StorageError", "{error}"),
                    Answer::Refused(_) => panic!("{answer:?}"),
                }
            }
        }
        if answers == [ENTRIES; 2] {
            break;
        }
        assert!(Instant::now() < until, "the writers hang");
        thread::sleep(Duration::from_millis(1));
    }
    for entry in &acknowledged {
        assert_eq!(count(&scratch, entry), 1, "{entry}");
    }
    let written = count(&scratch, "- entry ");
    println!("{} of {} were acknowledged, {written} written", acknowledged.len(), 2 * ENTRIES);
    assert_eq!(written, acknowledged.len(), "an error changes nothing");
}

fn lock_directory(scratch: &Scratch) -> PathBuf {
    scratch.repo().join(".git/agent-memory")
}

fn entry(writer: usize, number: usize) -> String {
    format!("- entry {writer}-{number}.")
}

fn start(root: &str) -> Call {
    let arguments = json!({"agent_name": "aristotle", "repo_root": root, "date": "2025-01-20"});
    Call { tool: "start_session", arguments }
}

fn append(root: &str, content: &str) -> Call {
    let mut arguments = start(root).arguments;
    arguments["section"] = json!("Context");
    arguments["content"] = json!(content);
    Call { tool: "append_entry", arguments }
}

fn assert_result(answer: &Answer) {
    assert!(matches!(answer, Answer::Result(_)), "{answer:?}");
}

/// How often the log contains a text.
fn count(scratch: &Scratch, text: &str) -> usize {
    let documents = scratch.documents();
    String::from_utf8_lossy(&documents["aristotle/logs/2025-01-20.md"]).matches(text).count()
}

fn write(path: &Path, contents: &[u8]) {
    fs::write(path, contents).expect("the lock's directory can be written");
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn instead(path: &Path, make: impl Fn(&Path)) {
    fs::remove_file(path).expect("it is there");
    make(path);
}

/// The first page of an empty database with a write-ahead log.
fn write_ahead() -> Vec<u8> {
    let mut page = vec![0; 4096];
    page[..16].copy_from_slice(b"SQLite format 3\0");
    page[16..24].copy_from_slice(&[0x10, 0x00, 2, 2, 0, 64, 32, 32]);
    page[28..32].copy_from_slice(&1_u32.to_be_bytes());
    page[44..48].copy_from_slice(&4_u32.to_be_bytes());
    page[56..60].copy_from_slice(&1_u32.to_be_bytes());
    page[100..108].copy_from_slice(&[0x0d, 0, 0, 0, 0, 0x10, 0x00, 0]);
    page
}
