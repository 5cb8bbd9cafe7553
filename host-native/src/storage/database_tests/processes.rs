//! Tests with several processes, some of which are killed.

use super::*;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

const DIRECTORY: &str = "AGENT_MEMORY_TEST_DIRECTORY";
const FIRST: &str = "AGENT_MEMORY_TEST_FIRST";

/// The full name of a test of this module.
fn path_of(test: &str) -> String {
    format!("{}::{test}", module_path!().split_once("::").unwrap().1)
}

fn child(test: &str, base: &Path, first: i64) -> (Child, BufReader<ChildStdout>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--nocapture", "--exact", &path_of(test)])
        .env(DIRECTORY, base)
        .env(FIRST, first.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

#[test]
fn acknowledged_rows_outlive_killed_processes() {
    let (scene, database) = Scene::with_table();
    let mut acknowledged = BTreeSet::new();
    let mut seen = |line: String| {
        if let Some(number) = line.strip_prefix("kept ") {
            acknowledged.insert(number.parse::<i64>().unwrap());
        }
    };
    for round in 0..4 {
        let writers =
            [0, 1].map(|place| child("writes", scene.base.path(), (2 * round + place) * 1_000_000));
        let mut readers = Vec::new();
        for (mut child, output) in writers {
            let (kept, keeps) = std::sync::mpsc::channel();
            let reader = std::thread::spawn(move || {
                output.lines().map_while(Result::ok).for_each(|line| kept.send(line).unwrap());
            });
            // The process is killed in the middle of its work.
            for line in keeps.iter() {
                let is_enough = line.strip_prefix("kept ").is_some_and(|kept| kept.ends_with("20"));
                seen(line);
                if is_enough {
                    break;
                }
            }
            child.kill().unwrap();
            child.wait().unwrap();
            readers.push((reader, keeps));
        }
        for (reader, keeps) in readers {
            reader.join().unwrap();
            keeps.try_iter().for_each(&mut seen);
        }
        write(&database, &[insert(-1 - round)]).expect("the lock is free");
    }
    assert!(acknowledged.len() >= 4 * 2 * 20, "{}", acknowledged.len());
    let rows = database.query(&sql("SELECT x FROM t WHERE x >= 0"), u32::MAX).unwrap().rows;
    let kept: BTreeSet<i64> = rows
        .concat()
        .into_iter()
        .map(|value| match value {
            Value::Integer(number) => number,
            other => panic!("{other:?}"),
        })
        .collect();
    let lost: Vec<_> = acknowledged.difference(&kept).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    let sound = database.query(&sql("PRAGMA integrity_check"), 10).unwrap();
    assert_eq!(sound.rows, [[Value::Text("ok".into())]]);
}

#[test]
#[ignore = "run by another test, which kills it"]
fn writes() {
    let base = std::env::var_os(DIRECTORY).expect("run by another test");
    let first: i64 = std::env::var(FIRST).unwrap().parse().unwrap();
    let storage = storage(Path::new(&base), StorageOptions::default());
    for number in first.. {
        let database = open(&storage, true).unwrap();
        match write(&database, &[insert(number)]) {
            Ok(_) => println!("kept {number}"),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_commit_syncs_the_write_ahead_log_once_and_the_first_of_a_connection_its_directory() {
    if Command::new("strace").arg("-V").output().is_err() {
        return crate::skip::skip("`strace` is not installed");
    }
    // Closing the last connection would write the log back into the database, so this one stays open.
    let (scene, _stays_open) = Scene::with_table();
    let trace = tempfile::NamedTempFile::new().unwrap();
    let output = Command::new("strace")
        .args(["-f", "-y", "-e", "trace=fsync,fdatasync", "-o"])
        .arg(trace.path())
        .arg(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", &path_of("writes_thrice")])
        .env(DIRECTORY, scene.base.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let trace = fs::read_to_string(trace.path()).unwrap();
    let syncs =
        trace.lines().filter_map(|line| line.split_once("sync(")?.1.split(['<', '>']).nth(1));
    let directory = scene.at("").canonicalize().unwrap();
    let log = directory.join("things.db-wal");
    let expected = [&*log, &*directory, &*log, &*log];
    assert_eq!(syncs.map(PathBuf::from).collect::<Vec<_>>(), expected, "{trace}");
}

#[test]
#[ignore = "run by another test, which counts its syncs"]
fn writes_thrice() {
    let base = std::env::var_os(DIRECTORY).expect("run by another test");
    let storage = storage(Path::new(&base), StorageOptions::default());
    for number in 1..=3 {
        let database = open(&storage, true).unwrap();
        write(&database, &[insert(number)]).unwrap();
    }
}
