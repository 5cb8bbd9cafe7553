//! A file grows after a host has asked for its length and before the host reads it. The call answers
//! for the whole file.
//!
//! With two processes, the test would depend on their timing. So the file is long from the start, and
//! `strace` makes the system answer with its earlier, shorter length.

use std::fmt::Write;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::time::Instant;

use agent_memory_conformance::case::Documents;
use agent_memory_conformance::runner::Answer;
use agent_memory_tests::TIMEOUT;
use agent_memory_tests::process::{Call, Host, Process};
use agent_memory_tests::scratch::Scratch;
use agent_memory_tests::skip::skip;
use agent_memory_tests::syscalls;
use agent_memory_tests::traced::{launcher, lines, wait_for};
use serde_json::json;

/// The longest document that is read.
const LONGEST: usize = 16 << 20;
const SUMMARY: &str = "aristotle/_summary.md";
const TEXT: &str = "# Agent Summary\n\n## Overview\n\nshort\n";

#[test]
fn a_file_that_grows_while_it_is_read_is_read_whole() {
    if let Err(why) = syscalls::available() {
        return skip(&why);
    }
    for host in Host::all() {
        // The text fits in one page of the answer.
        let grown = format!("{TEXT}{}", "more\n".repeat(9_000));
        let (answer, trace) = read_as_if_it_had_grown(*host, &grown);
        let Answer::Result(result) = answer else {
            panic!("{host:?}: {answer:?}:\n{trace}");
        };
        assert!(result["summary"] == *grown, "{host:?} returns another text:\n{trace}");
    }
}

#[test]
fn a_file_that_grows_beyond_the_limit_while_it_is_read_is_refused() {
    if let Err(why) = syscalls::available() {
        return skip(&why);
    }
    for host in Host::all() {
        let grown = format!("{TEXT}{}", "x".repeat(3 * LONGEST));
        let (answer, trace) = read_as_if_it_had_grown(*host, &grown);
        let Answer::Error(error) = answer else {
            panic!("{host:?} accepts {} bytes:\n{trace}", grown.len());
        };
        assert_eq!(error["error"], "StorageError", "{host:?}: {error}:\n{trace}");
        let message = error["message"].as_str().expect("a message");
        assert!(message.contains("longer than 16777216 bytes"), "{host:?}: {message}:\n{trace}");
        let read = bytes_read(&trace);
        // A host that doubles its buffer reads up to twice the limit before it sees the excess.
        assert!(read <= 2 * (LONGEST + 1), "{host:?} reads {read} bytes:\n{trace}");
    }
}

/// The answer of a host that reads this summary but is told the length of [`TEXT`], and the trace of
/// its system calls.
fn read_as_if_it_had_grown(host: Host, grown: &str) -> (Answer, String) {
    let scratch = Scratch::new(&Documents::from([
        ("aristotle/_schema.md".into(), source("schema-v1.md")),
        (SUMMARY.into(), grown.into()),
    ]));
    let summary = scratch.repo().join(".github/agent-memory").join(SUMMARY);
    let metadata = fs::metadata(&summary).expect("the summary exists");
    let trace = scratch.elsewhere().join("trace");
    let path = summary.to_str().expect("scratch paths are UTF-8");
    let stat = stat(&metadata, TEXT.len());
    let statx = statx(&metadata, TEXT.len());
    let calls = "trace=fstat,newfstatat,statx,read,pread64";
    let fstat = format!("inject=fstat:poke_exit=@arg2={stat}");
    let newfstatat = format!("inject=newfstatat:poke_exit=@arg3={stat}");
    let statx = format!("inject=statx:poke_exit=@arg5={statx}");
    let options = ["-P", path, "-e", calls, "-e", &fstat, "-e", &newfstatat, "-e", &statx];
    let launcher = launcher(&trace, &options);
    let launcher: Vec<&str> = launcher.iter().map(String::as_str).collect();
    let mut process = Process::start_by(&launcher, host, &scratch.repo());
    let arguments = json!({"agent_name": "aristotle", "repo_root": scratch.repo()});
    process.send(0, &Call { tool: "read_summary", arguments });
    let answer = process.answer(Instant::now() + TIMEOUT);
    let (_, answer) = answer.unwrap_or_else(|| {
        panic!("{host:?} hangs:\n{}", fs::read_to_string(&trace).unwrap_or_default())
    });
    let trace = wait_for(&trace, "no length was replaced", |text| {
        lines(text).iter().any(|line| is_replaced_length(line)).then(|| text.to_owned())
    });
    (answer, trace)
}

/// Whether a call asked for the length of an open file and got the one that the test chose.
fn is_replaced_length(line: &str) -> bool {
    let Some((name, arguments)) = line.split_once('(') else { return false };
    let has_descriptor = arguments.starts_with(|first: char| first.is_ascii_digit());
    name.contains("stat") && has_descriptor && line.contains("(INJECTED")
}

/// How many bytes of the summary a host has read.
fn bytes_read(trace: &str) -> usize {
    let lines = lines(trace);
    let reads =
        lines.iter().filter(|line| line.starts_with("read(") || line.starts_with("pread64("));
    reads.filter_map(|line| line.rsplit_once(" = ")?.1.parse::<usize>().ok()).sum()
}

/// The head of a `struct stat` up to the length, in hexadecimal, as Linux lays it out on x86-64.
fn stat(metadata: &Metadata, length: usize) -> String {
    let mut head = Vec::new();
    head.extend(metadata.dev().to_ne_bytes());
    head.extend(metadata.ino().to_ne_bytes());
    head.extend(metadata.nlink().to_ne_bytes());
    head.extend(metadata.mode().to_ne_bytes());
    head.extend(metadata.uid().to_ne_bytes());
    head.extend(metadata.gid().to_ne_bytes());
    head.extend(0_u32.to_ne_bytes());
    head.extend(metadata.rdev().to_ne_bytes());
    head.extend((length as u64).to_ne_bytes());
    hexadecimal(&head)
}

/// The head of a `struct statx` up to the length, in hexadecimal.
fn statx(metadata: &Metadata, length: usize) -> String {
    /// The mask which says that each field of `stat` and the time of birth are present.
    const MASK: u32 = 0xfff;
    let mut head = Vec::new();
    head.extend(MASK.to_ne_bytes());
    head.extend((metadata.blksize() as u32).to_ne_bytes());
    head.extend(0_u64.to_ne_bytes());
    head.extend((metadata.nlink() as u32).to_ne_bytes());
    head.extend(metadata.uid().to_ne_bytes());
    head.extend(metadata.gid().to_ne_bytes());
    head.extend((metadata.mode() as u16).to_ne_bytes());
    head.extend(0_u16.to_ne_bytes());
    head.extend(metadata.ino().to_ne_bytes());
    head.extend((length as u64).to_ne_bytes());
    hexadecimal(&head)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string can grow");
        text
    })
}

fn source(document: &str) -> Vec<u8> {
    agent_memory_conformance::workspace::source(&format!("tests/conformance/documents/{document}"))
        .into()
}
