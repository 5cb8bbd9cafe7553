//! The file system calls of a process, in the order in which they ended, from a trace of
//! `strace -f -y`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::TIMEOUT;

/// The calls that open, make, rename and sync files or write answers, for `strace -e`.
pub const CHANGES: &str =
    "trace=openat,mkdir,mkdirat,rename,renameat,renameat2,fsync,fdatasync,write,link,linkat";

/// A file system call, or an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A directory was made.
    Made(PathBuf),
    /// A file or directory was synced.
    Synced(PathBuf),
    /// One name became another.
    Renamed(PathBuf, PathBuf),
    /// An answer was written to a pipe: standard output, or a copy of its descriptor.
    Said,
}

/// The launcher that runs a command under `strace` with these options, and writes the trace to a file.
pub fn launcher(trace: &Path, options: &[&str]) -> Vec<String> {
    let trace = trace.to_str().expect("scratch paths are UTF-8");
    let words = ["strace", "-f", "-y", "-o", trace];
    words.iter().chain(options).map(|word| (*word).to_owned()).collect()
}

/// The trace of a running process, once the process has written this number of answers.
///
/// # Panics
///
/// If it does not write them in time.
pub fn answered(trace: &Path, answers: usize) -> String {
    wait_for(trace, "the answer is not in the trace", |text| {
        let said = events(text).iter().filter(|event| **event == Event::Said).count();
        (said >= answers).then(|| text.to_owned())
    })
}

/// Reads a trace again and again until `wanted` finds something in it.
///
/// # Panics
///
/// If it finds nothing in time; the message has the trace.
pub fn wait_for<T>(trace: &Path, what: &str, wanted: impl Fn(&str) -> Option<T>) -> T {
    let hang = Instant::now() + TIMEOUT;
    loop {
        let text = fs::read_to_string(trace).unwrap_or_default();
        if let Some(found) = wanted(&text) {
            return found;
        }
        assert!(Instant::now() < hang, "{what}:\n{text}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// The events of a trace.
pub fn events(trace: &str) -> Vec<Event> {
    let mut directories = BTreeMap::new();
    let mut events = Vec::new();
    for line in lines(trace) {
        note_directory(&line, &mut directories);
        events.extend(event(&line, &directories));
    }
    events
}

/// Notes the path of a directory that is opened with `O_PATH`, under its descriptor.
fn note_directory(line: &str, directories: &mut BTreeMap<String, PathBuf>) {
    let opened = line.rsplit_once(" = ").filter(|(call, _)| call.contains("O_PATH"));
    let Some((_, result)) = opened else { return };
    if let Some((number, _)) = result.split_once('<')
        && let Some(path) = descriptor(result)
    {
        directories.insert(number.to_owned(), path);
    }
}

/// The path that `/proc/self/fd/5/name` stands for: Node names a file by the descriptor of its
/// directory.
fn behind(path: PathBuf, directories: &BTreeMap<String, PathBuf>) -> PathBuf {
    let below = path.strip_prefix("/proc/self/fd").ok().map(Path::to_owned);
    let Some(below) = below else { return path };
    let mut names = below.iter();
    let number = names.next().and_then(|number| number.to_str()).unwrap_or_default();
    match directories.get(number) {
        Some(directory) => directory.join(names.as_path()),
        None => path,
    }
}

/// The calls of a trace without their thread ids. `strace` splits the line of a call that another
/// thread interrupts; such a line is joined.
pub fn lines(trace: &str) -> Vec<String> {
    let mut begun: BTreeMap<&str, &str> = BTreeMap::new();
    let mut lines = Vec::new();
    for line in trace.lines() {
        let Some((thread, call)) = line.split_once(char::is_whitespace) else { continue };
        let call = call.trim_start();
        if let Some(start) = call.strip_suffix("<unfinished ...>") {
            begun.insert(thread, start);
        } else if let Some((_, rest)) = call.split_once(" resumed>") {
            lines.push(format!("{}{rest}", begun.remove(thread).unwrap_or_default()));
        } else {
            lines.push(call.to_owned());
        }
    }
    lines
}

fn event(line: &str, directories: &BTreeMap<String, PathBuf>) -> Option<Event> {
    let (call, result) = line.rsplit_once(" = ")?;
    if result.starts_with('-') {
        return None;
    }
    let (name, arguments) = call.split_once('(')?;
    let mut paths = named(arguments).into_iter().map(|path| behind(path, directories));
    Some(match name {
        "mkdir" | "mkdirat" => Event::Made(paths.next()?),
        "rename" | "renameat" | "renameat2" => Event::Renamed(paths.next()?, paths.next()?),
        "fsync" | "fdatasync" => Event::Synced(descriptor(arguments)?),
        "write" if is_answer(arguments) => Event::Said,
        _ => return None,
    })
}

/// Whether JSON is written to a pipe.
fn is_answer(arguments: &str) -> bool {
    let descriptor = arguments.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let is_pipe = descriptor.starts_with("<pipe:");
    is_pipe && descriptor.split_once(", ").is_some_and(|(_, text)| text.starts_with("\"{"))
}

/// The paths of a call: each name, joined to the directory of the descriptor before it.
fn named(arguments: &str) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let mut directory = PathBuf::new();
    for (index, part) in arguments.split('"').enumerate() {
        if index % 2 == 1 {
            paths.push(directory.join(part));
        } else {
            directory = descriptor(part).unwrap_or_default();
        }
    }
    paths
}

/// The path of the last descriptor in a text.
fn descriptor(text: &str) -> Option<PathBuf> {
    let (_, rest) = text.rsplit_once('<')?;
    rest.split_once('>').map(|(path, _)| path.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_read_in_the_order_in_which_its_calls_ended() {
        let trace = "\
            7 mkdirat(5</r>, \"a\", 0777) = 0\n\
            7 mkdir(\"/r/b\", 0777)  = -1 EEXIST (File exists)\n\
            7 fsync(6</r> <unfinished ...>\n\
            8 renameat(5</r/a>, \".x\", 5</r/a>, \"x\") = 0\n\
            7 <... fsync resumed>)     = 0\n\
            8 rename(\"/r/y\", \"/r/z\") = 0\n\
            8 write(1<pipe:[1]>, \"{}\\n\", 3) = 3\n\
            8 write(6<anon_inode:[eventfd]>, \"\\1\", 8) = 8\n";
        let path = PathBuf::from;
        assert_eq!(
            events(trace),
            [
                Event::Made(path("/r/a")),
                Event::Renamed(path("/r/a/.x"), path("/r/a/x")),
                Event::Synced(path("/r")),
                Event::Renamed(path("/r/y"), path("/r/z")),
                Event::Said,
            ]
        );
    }
}
