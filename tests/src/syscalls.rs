//! Programs whose system calls fail, with `strace`.
//!
//! Only calls for files below one directory fail, so that the program can be loaded.
//!
//! `strace` counts the calls of each thread separately. So the n-th call of the first thread is
//! reached by tracing only that thread. The n-th call of another thread is reached if no other thread
//! makes its n-th call earlier.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long a program may run before it counts as hanging.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Calls whose failure changes nothing: the file is closed all the same, or nothing has started yet.
const IGNORED: [&str; 2] = ["close", "execve"];

/// A system call of a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    /// Its name.
    pub syscall: String,
    /// Its number among the calls of that name in its thread, from 1.
    pub nth: usize,
    /// Whether its thread is the program's first.
    pub first_thread: bool,
}

/// The way in which a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It fails with this `errno`.
    Once(&'static str),
    /// It fails, and so do all later calls of its name in its thread.
    ForEver(&'static str),
    /// The process is killed before it.
    Kill,
}

/// A call, and how it fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Injection {
    /// The call.
    pub point: Point,
    /// The failure.
    pub how: How,
}

/// A run under `strace`.
#[derive(Debug)]
pub struct Traced {
    /// The program's exit status and output.
    pub output: Output,
    /// The trace.
    pub trace: String,
}

/// The calls of a program.
#[derive(Debug, Default)]
pub struct Points {
    /// The calls that can be reached.
    pub reached: Vec<Point>,
    /// The number of calls that cannot be reached, because another thread makes as many calls earlier.
    pub masked: usize,
}

/// Checks that `strace` works on this machine.
///
/// # Errors
///
/// The reason why not, for a person.
pub fn available() -> Result<(), String> {
    match Command::new("strace").args(["-f", "-o", "/dev/null", "true"]).output() {
        Err(error) => Err(format!("`strace` cannot be started: {error}")),
        Ok(output) if !output.status.success() => {
            let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Err(format!("`strace` cannot trace here: {why}"))
        }
        Ok(_) => Ok(()),
    }
}

/// The paths below a directory that a program uses, relative to it.
pub fn paths(command: &[String], below: &Path) -> BTreeSet<String> {
    let options = ["-f", "-y", "-e", "trace=%file,%desc"].map(str::to_owned);
    let Traced { trace, .. } = strace(&options, command, below);
    let below = format!("{}/", text(below));
    let named = trace.split(['"', '<', '>']).filter_map(|path| path.strip_prefix(&below));
    named.map(str::to_owned).chain([String::new()]).collect()
}

/// The calls that a program makes for these paths.
pub fn points(command: &[String], below: &Path, paths: &BTreeSet<String>) -> Points {
    let options = words(["-f", "-e", "trace=%file,%desc"], below, paths);
    let Traced { trace, .. } = strace(&options, command, below);
    let lines = || trace.lines().filter_map(|line| line.split_once(char::is_whitespace));
    // The last line is about the first thread, which ends last.
    let (first, _) = lines().next_back().expect("a program ends");
    let mut counts = BTreeMap::<(&str, &str), usize>::new();
    let mut taken = BTreeSet::new();
    let mut points = Points::default();
    for (thread, line) in lines() {
        let Some((syscall, _)) = line.trim_start().split_once('(') else { continue };
        let is_name = syscall.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_name || IGNORED.contains(&syscall) {
            continue;
        }
        let nth = counts.entry((thread, syscall)).or_default();
        *nth += 1;
        let first_thread = thread == first;
        let is_first = taken.insert((syscall, *nth));
        if first_thread || is_first {
            points.reached.push(Point { syscall: syscall.into(), nth: *nth, first_thread });
        } else {
            points.masked += 1;
        }
    }
    points
}

impl Point {
    /// The failures to test.
    pub fn injections(&self) -> Vec<Injection> {
        let errors: &[&str] = match self.syscall.as_str() {
            "open" | "openat" => &["EIO", "EACCES", "EROFS", "ENOSPC", "EMFILE"],
            "write" | "pwrite64" | "ftruncate" | "fsync" | "fdatasync" => &["EIO", "ENOSPC"],
            // EAGAIN: another process holds the lock.
            "fcntl" => &["EIO", "EAGAIN"],
            name if ["rename", "unlink", "mkdir", "rmdir"]
                .iter()
                .any(|at| name.starts_with(at)) =>
            {
                &["EIO", "ENOSPC", "EACCES", "EROFS"]
            }
            _ => &["EIO", "EACCES"],
        };
        let once = errors.iter().map(|error| How::Once(error));
        let all = once.chain([How::ForEver("EIO"), How::Kill]);
        all.map(|how| Injection { point: self.clone(), how }).collect()
    }
}

impl Injection {
    /// Runs a program with this failure.
    pub fn run(&self, command: &[String], below: &Path, paths: &BTreeSet<String>) -> Traced {
        let Point { syscall, nth, first_thread } = &self.point;
        let what = match self.how {
            How::Once(error) => format!("error={error}:when={nth}"),
            How::ForEver(error) => format!("error={error}:when={nth}+"),
            How::Kill => format!("signal=KILL:when={nth}"),
        };
        let (traced, injected) =
            (format!("trace={syscall},fcntl"), format!("inject={syscall}:{what}"));
        let mut options = words(["-y", "-e", &traced, "-e", &injected], below, paths);
        if !first_thread {
            options.push("-f".into());
        }
        // This option is faster, but it cannot send signals.
        if !first_thread && self.how != How::Kill {
            options.push("--seccomp-bpf".into());
        }
        strace(&options, command, below)
    }
}

impl Traced {
    /// Whether the call was reached.
    pub fn is_injected(&self) -> bool {
        self.trace.contains("(INJECTED)") || self.is_killed()
    }

    /// Whether the process was killed.
    pub fn is_killed(&self) -> bool {
        self.output.status.signal() == Some(9)
    }

    /// Whether the program got a write lock on a byte of the file.
    pub fn took_lock(&self, file: &str) -> bool {
        self.trace.lines().any(|line| {
            line.contains(file) && line.contains("F_WRLCK") && line.trim_end().ends_with(" = 0")
        })
    }
}

impl fmt::Display for Injection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Point { syscall, nth, first_thread } = &self.point;
        let thread = if *first_thread { ":first-thread" } else { "" };
        write!(f, "{syscall}:{nth}{thread}:")?;
        match self.how {
            How::Once(error) => write!(f, "{error}:once"),
            How::ForEver(error) => write!(f, "{error}:for-ever"),
            How::Kill => f.write_str("kill"),
        }
    }
}

/// Runs a program to its end.
///
/// # Panics
///
/// If it hangs; it is killed then.
pub fn run(command: &[String]) -> Output {
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a program that starts");
    let start = Instant::now();
    while child.try_wait().expect("a child can be waited for").is_none() {
        if start.elapsed() > TIMEOUT {
            child.kill().expect("a child can be killed");
            panic!("no end after {} s: {}", TIMEOUT.as_secs(), command.join(" "));
        }
        thread::sleep(Duration::from_millis(1));
    }
    child.wait_with_output().expect("what it said is short")
}

fn strace(options: &[String], command: &[String], below: &Path) -> Traced {
    let to = below.with_file_name("trace");
    let head = ["strace", "-o", text(&to)].map(str::to_owned);
    let output = run(&[&head, options, command].concat());
    // Removed, so that the directory can be used again.
    let trace = fs::read_to_string(&to).unwrap_or_default();
    let _ = fs::remove_file(&to);
    Traced { output, trace }
}

fn words<const N: usize>(
    options: [&str; N],
    below: &Path,
    paths: &BTreeSet<String>,
) -> Vec<String> {
    let path = |path: &String| match path.as_str() {
        "" => text(below).to_owned(),
        path => format!("{}/{path}", text(below)),
    };
    let paths = paths.iter().flat_map(|relative| ["-P".to_owned(), path(relative)]);
    options.iter().map(|word| (*word).to_owned()).chain(paths).collect()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("scratch paths are UTF-8")
}
