//! Leases: the lock of a place among plugins, since WASI has no locks.
//!
//! A lease is a file in the lock directory of the place, `plugin.lease.<number>`. Its first line is the
//! time at which it ends, in milliseconds since 1970, or zeros once it has ended. The highest number is
//! the current lease. It is a fencing number: a writer checks before each rename of a commit that no
//! higher one exists. If a plugin dies, its lease ends by itself after [`LEASE`].
//!
//! Such a lease is abandoned, and its plugin may only be stopped. The second line has the numbers of
//! the abandoned leases before. A commit removes their temporary files beside the documents that it
//! changes, so such a plugin cannot replace these documents when it goes on.
//!
//! A window remains. A plugin that is stopped between that check and the rename, until its lease has
//! ended, may still rename or delete a document, or replace one that nobody has changed since.

use std::io::Write;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use agent_memory_storage::{Error, ErrorCode};

use super::directory::Directory;
use super::errno::{Errno, errno_of};
use super::error::errno_error;

/// How long a lease lasts. No call of a plugin takes so long.
pub const LEASE: Duration = Duration::from_secs(30);

const PREFIX: &str = "plugin.lease.";
/// The most bytes of a lease that are read.
const MAX_BYTES: u64 = 512;
/// How many abandoned leases are remembered.
const MAX_ABANDONED: usize = 8;
const PAUSE: Duration = Duration::from_millis(5);
/// How often a listing that fails is repeated.
const LISTINGS: usize = 20;

/// The lock of a place. Dropping it ends the lease.
#[derive(Debug)]
pub struct Lease {
    directory: Directory,
    number: u64,
    taken: Instant,
    /// On the clock of the system, in milliseconds since 1970.
    until: u64,
    abandoned: Vec<u64>,
}

impl Lease {
    /// Waits for the lease of a place. `directory` is its lock directory, `location` its name for
    /// messages.
    ///
    /// # Errors
    ///
    /// `busy` if plugins have the lease for longer than `wait`; `read-only`, `no-space`, `io`.
    pub fn acquire(directory: &Directory, wait: Duration, location: &str) -> Result<Self, Error> {
        let deadline = Instant::now() + wait;
        loop {
            let attempt = attempt(directory);
            if let Ok(Attempt::Taken(lease)) = attempt {
                return Ok(lease);
            }
            if Instant::now() < deadline {
                std::thread::sleep(PAUSE);
                continue;
            }
            return Err(match attempt {
                Err(errno) => errno_error(errno, &format!("lock `{location}`")),
                Ok(Attempt::NoNumber(newest)) => no_number(newest, location),
                Ok(Attempt::Busy(remaining)) => busy(remaining, location),
                Ok(Attempt::Taken(_)) => unreachable!("returned before"),
            });
        }
    }

    /// Whether the lease has not ended, and no other plugin has one.
    pub fn is_held(&self) -> bool {
        // The clock of the system may be set back meanwhile.
        let is_over = self.taken.elapsed() >= LEASE || now() >= self.until;
        !is_over && newest(&self.directory) == Ok(Some(self.number))
    }

    /// Its number: higher than that of every lease before.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The numbers of leases before, whose plugins were killed or are stopped.
    pub(crate) fn abandoned(&self) -> &[u64] {
        &self.abandoned
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // One small write, so a reader sees the time before or after it.
        if write(&self.directory, self.number, &time(0)).is_err() {
            // If this fails too, the lease ends by itself.
            let _ = self.directory.remove_file(&name(self.number));
        }
    }
}

/// Whether plugins have had a lease of the place.
///
/// # Errors
///
/// The operating system's.
pub fn has_lease(directory: &Directory) -> Result<bool, Errno> {
    Ok(newest(directory)?.is_some())
}

enum Attempt {
    Taken(Lease),
    /// Another plugin has a lease, for this time at most.
    Busy(Duration),
    /// No number is left after this one.
    NoNumber(u64),
}

/// Takes the next lease. Another plugin may remove files meanwhile, so an error may pass.
fn attempt(directory: &Directory) -> Result<Attempt, Errno> {
    let Some(number) = newest(directory)? else { return take(directory, 1, Vec::new()) };
    let Contents { until, mut abandoned } = read(directory, number)?;
    if let Some(until) = until {
        let remaining = Duration::from_millis(until.saturating_sub(now()));
        if remaining > LEASE {
            // The clock was set back. The plugin itself has measured its lease with another clock.
            write(directory, number, &time(now() + millis(LEASE)))?;
        }
        if !remaining.is_zero() {
            return Ok(Attempt::Busy(remaining.min(LEASE)));
        }
        abandoned.push(number);
        abandoned.drain(..abandoned.len().saturating_sub(MAX_ABANDONED));
    }
    match number.checked_add(1) {
        Some(next) => take(directory, next, abandoned),
        None => Ok(Attempt::NoNumber(number)),
    }
}

/// Takes the lease with a number.
fn take(directory: &Directory, number: u64, abandoned: Vec<u64>) -> Result<Attempt, Errno> {
    let taken = Instant::now();
    let until = now() + millis(LEASE);
    // The file appears only if no other plugin has taken the number.
    match directory.create_file(&name(number), 0o666) {
        Ok(_) => {}
        Err(Errno::EXIST) => return Ok(Attempt::Busy(LEASE)),
        Err(errno) => return Err(errno),
    }
    let numbers: Vec<String> = abandoned.iter().map(u64::to_string).collect();
    let text = format!("{}{}\n", time(until), numbers.join(" "));
    // Dropping the lease ends it.
    let lease = Lease { directory: directory.clone(), number, taken, until, abandoned };
    write(directory, number, &text)?;
    // Between the look at the numbers and the creation, others may have taken and removed this one.
    if newest(directory)? != Some(number) {
        return Ok(Attempt::Busy(LEASE));
    }
    for other in directory.names()?.flatten() {
        if number_of(&other).is_some_and(|other| other < number) {
            let _ = directory.remove_file(&other);
        }
    }
    Ok(Attempt::Taken(lease))
}

fn name(number: u64) -> String {
    format!("{PREFIX}{number}")
}

fn number_of(file: &str) -> Option<u64> {
    let number = file.strip_prefix(PREFIX)?.parse().ok()?;
    // Not `007` or `+7`.
    (name(number) == file).then_some(number)
}

/// The highest number. A listing may fail when a name vanishes meanwhile, so it is repeated.
fn newest(directory: &Directory) -> Result<Option<u64>, Errno> {
    let list = || {
        let mut newest = None;
        for name in directory.names()? {
            newest = newest.max(number_of(&name?));
        }
        Ok(newest)
    };
    let mut listed = list();
    for _ in 0..LISTINGS {
        match listed {
            Ok(_) => break,
            Err(_) => listed = list(),
        }
    }
    listed
}

/// The contents of a lease.
struct Contents {
    /// When it ends, in milliseconds since 1970. `None` if its plugin has ended it.
    until: Option<u64>,
    abandoned: Vec<u64>,
}

/// Reads a lease. One with another text has ended: only a loss of power tears such a file, and nobody
/// survives that.
fn read(directory: &Directory, number: u64) -> Result<Contents, Errno> {
    let name = name(number);
    let start = directory.read_start(&name, MAX_BYTES)?;
    if start.as_ref().is_some_and(Vec::is_empty) {
        // Its plugin is about to write the time, or was killed before it could.
        let made = directory.metadata(&name)?.map(|found| milliseconds_of(found.modified));
        let until = made.map(|made| made.saturating_add(millis(LEASE)));
        return Ok(Contents { until, abandoned: Vec::new() });
    }
    let start = start.unwrap_or_default();
    let text = String::from_utf8_lossy(&start);
    let mut lines = text.lines();
    let until = lines.next().and_then(|line| line.parse().ok()).filter(|&until| until != 0);
    let numbers = lines.next().unwrap_or_default().split(' ');
    Ok(Contents { until, abandoned: numbers.filter_map(|number| number.parse().ok()).collect() })
}

/// Writes to the start of a lease. The rest of the file stays.
fn write(directory: &Directory, number: u64, start: &str) -> Result<(), Errno> {
    let mut file = directory.overwrite_file(&name(number), 0o666)?;
    let written = file.write_all(start.as_bytes());
    written.map_err(|error| errno_of(&error))
}

/// The first line of a lease. All have the same length, so one replaces another.
fn time(milliseconds: u64) -> String {
    format!("{milliseconds:013}\n")
}

fn millis(duration: Duration) -> u64 {
    duration.as_millis() as u64
}

fn milliseconds_of((seconds, nanoseconds): (i64, i64)) -> u64 {
    let seconds = u64::try_from(seconds).unwrap_or(0);
    seconds.saturating_mul(1000).saturating_add(u64::try_from(nanoseconds).unwrap_or(0) / 1_000_000)
}

fn now() -> u64 {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

fn busy(remaining: Duration, location: &str) -> Error {
    let message = format!(
        "a plugin writes to `{location}`: try again. If it was killed, its lease ends in {} s",
        remaining.as_secs() + 1
    );
    Error::new(ErrorCode::Busy, message)
}

fn no_number(newest: u64, location: &str) -> Error {
    let message = format!(
        "cannot lock `{location}`: no number follows that of `{}`: end the plugins, then remove this \
         file from the lock directory",
        name(newest)
    );
    Error::new(ErrorCode::Io, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(20);

    fn lock_directory() -> (tempfile::TempDir, Directory) {
        let scratch = tempfile::tempdir().unwrap();
        let directory = Directory::open(&scratch.path().canonicalize().unwrap()).unwrap();
        (scratch, directory)
    }

    fn acquire(directory: &Directory) -> Result<Lease, Error> {
        Lease::acquire(directory, SHORT, "notes")
    }

    fn names(scratch: &tempfile::TempDir) -> Vec<String> {
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
        let entries = std::fs::read_dir(scratch.path()).unwrap();
        entries.map(|entry| name(entry).into_string().unwrap()).collect()
    }

    #[test]
    fn one_lease_excludes_another_until_it_is_dropped_and_leaves_one_file() {
        let (scratch, directory) = lock_directory();
        for number in 1..=3 {
            let lease = acquire(&directory).unwrap();
            assert!(lease.is_held());
            let refused = acquire(&directory).unwrap_err();
            assert_eq!(refused.code, ErrorCode::Busy);
            assert!(refused.message.contains("`notes`"), "{refused}");
            assert!(lease.is_held());
            drop(lease);
            assert_eq!(names(&scratch), [name(number)]);
        }
    }

    /// Ends a lease as time does.
    fn let_end(directory: &Directory, number: u64) {
        write(directory, number, &time(now() - 1)).unwrap();
    }

    #[test]
    fn a_lease_of_a_killed_plugin_ends_by_itself() {
        let (scratch, directory) = lock_directory();
        let killed = acquire(&directory).unwrap();
        let_end(&directory, 1);
        let next = acquire(&directory).unwrap();
        assert_eq!((next.number, next.abandoned()), (2, &[1][..]));
        assert!(next.is_held() && !killed.is_held());
        // The plugin was only stopped, and goes on: it ends its own lease.
        drop(killed);
        assert!(next.is_held());
        drop(next);
        assert_eq!(acquire(&directory).unwrap().number, 3);
        assert_eq!(names(&scratch), [name(3)]);
    }

    #[test]
    fn the_last_abandoned_leases_are_remembered() {
        let (_scratch, directory) = lock_directory();
        // Every second plugin is killed.
        for number in (1..40).step_by(2) {
            std::mem::forget(acquire(&directory).unwrap());
            let_end(&directory, number);
            drop(acquire(&directory).unwrap());
        }
        let lease = acquire(&directory).unwrap();
        assert_eq!((lease.number, lease.abandoned()), (41, &[25, 27, 29, 31, 33, 35, 37, 39][..]));
    }

    #[test]
    fn a_lease_without_its_text_ends_after_its_file_was_made() {
        let (scratch, directory) = lock_directory();
        let path = scratch.path().join(name(7));
        let file = std::fs::File::create(&path).unwrap();
        assert_eq!(acquire(&directory).unwrap_err().code, ErrorCode::Busy);
        file.set_modified(SystemTime::now() - LEASE).unwrap();
        assert_eq!(acquire(&directory).unwrap().number, 8);
    }

    #[test]
    fn a_lease_lasts_no_longer_when_the_clock_is_set_back() {
        let (scratch, directory) = lock_directory();
        let until = |number| read(&directory, number).unwrap().until.unwrap();
        for end in [now() + 3_600_000, u64::MAX] {
            std::fs::write(scratch.path().join(name(1)), time(end)).unwrap();
            assert_eq!(acquire(&directory).unwrap_err().code, ErrorCode::Busy);
            assert!(until(1) <= now() + millis(LEASE), "{end}");
        }
        let file = std::fs::File::create(scratch.path().join(name(2))).unwrap();
        file.set_modified(SystemTime::now() + Duration::from_secs(3600)).unwrap();
        acquire(&directory).unwrap_err();
        assert!(until(2) <= now() + millis(LEASE));
    }

    #[test]
    fn a_lease_that_has_lasted_for_its_time_is_not_held_when_the_clock_is_set_back() {
        let (_scratch, directory) = lock_directory();
        let mut lease = acquire(&directory).unwrap();
        lease.taken = lease.taken.checked_sub(LEASE).unwrap();
        assert!(!lease.is_held());
    }

    #[test]
    fn other_texts_and_files_are_no_lease() {
        let garbage: [&[u8]; 5] = [b"0\n", b"garbage", b"\xff\xfe", b"-1\n", b"\ngarbage\n"];
        for text in garbage {
            let (scratch, directory) = lock_directory();
            std::fs::write(scratch.path().join(name(4)), text).unwrap();
            let lease = acquire(&directory).unwrap();
            assert_eq!((lease.number, lease.abandoned()), (5, &[][..]), "{text:?}");
        }
        let (scratch, directory) = lock_directory();
        std::fs::create_dir(scratch.path().join(name(4))).unwrap();
        for other in ["plugin.lease.", "plugin.lease.+9", "plugin.lease.009", "plugin.lease.9.bak"]
        {
            std::fs::write(scratch.path().join(other), time(u64::MAX)).unwrap();
        }
        assert_eq!(acquire(&directory).unwrap().number, 5);
    }

    #[test]
    fn the_last_number_is_refused_with_the_file_to_remove() {
        let (scratch, directory) = lock_directory();
        let last = name(u64::MAX);
        std::fs::write(scratch.path().join(&last), time(0)).unwrap();
        let refused = acquire(&directory).unwrap_err();
        assert!(refused.message.contains(&format!("`{last}`")), "{refused}");
    }

    #[test]
    fn of_many_threads_one_at_a_time_has_the_lease() {
        let (_scratch, directory) = lock_directory();
        let counter = std::sync::Mutex::new(0);
        let busy = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let lease = Lease::acquire(&directory, LEASE, "notes").unwrap();
                        assert!(!busy.swap(true, std::sync::atomic::Ordering::SeqCst));
                        assert!(lease.is_held());
                        *counter.lock().unwrap() += 1;
                        busy.store(false, std::sync::atomic::Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(counter.into_inner().unwrap(), 200);
        assert_eq!(newest(&directory), Ok(Some(200)));
    }
}
