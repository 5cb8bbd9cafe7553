//! Leases: the lock of a place among plugins, since WASI has no locks.
//!
//! A lease is a file in the lock directory of the place, `plugin.lease.<number>`, with the time at
//! which it ends. The highest number is the current lease. It is a fencing number: a writer checks
//! before the first rename of a commit that no higher one exists. If a plugin dies, its lease ends by
//! itself after [`LEASE`].
//!
//! One window remains. A writer that is stopped after that check for longer than the rest of its lease
//! may overwrite what the next writer has written.

use std::io::Write;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use agent_memory_storage::{Error, ErrorCode, hexadecimal};
use agent_memory_storage_files::{Directory, errno_error};
use rustix::io::Errno;

/// How long a lease lasts. No call of a plugin takes so long.
pub const LEASE: Duration = Duration::from_secs(30);

const PREFIX: &str = "plugin.lease.";
const TEMPORARY: &str = ".plugin.lease-";
const PAUSE: Duration = Duration::from_millis(5);
/// How often a listing that fails is repeated.
const LISTINGS: usize = 20;

/// The lock of a place. Dropping it ends the lease.
#[derive(Debug)]
pub struct Lease {
    directory: Directory,
    number: u64,
    until: u64,
}

impl Lease {
    /// Waits for the lease of a place. `directory` is its lock directory, `location` its name for
    /// messages.
    ///
    /// # Errors
    ///
    /// `busy` if other plugins have the lease for longer than `wait`; `read-only`, `no-space`, `io`.
    pub fn acquire(directory: &Directory, wait: Duration, location: &str) -> Result<Self, Error> {
        let failed = |errno| errno_error(errno, &format!("lock `{location}`"));
        let deadline = Instant::now() + wait;
        loop {
            let failure = match attempt(directory) {
                Ok(Some(lease)) => return Ok(lease),
                Ok(None) => None,
                Err(errno) => Some(errno),
            };
            if Instant::now() < deadline {
                std::thread::sleep(PAUSE);
            } else if let Some(errno) = failure {
                return Err(failed(errno));
            } else {
                let message = format!(
                    "another plugin writes to `{location}`: call again. If it was killed, its lease \
                     ends after {} s",
                    LEASE.as_secs()
                );
                return Err(Error::new(ErrorCode::Busy, message));
            }
        }
    }

    /// Whether the lease has not ended, and no other plugin has one.
    pub fn is_held(&self) -> bool {
        now() < self.until && newest(&self.directory) == Ok(Some(self.number))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // One small write, so a reader sees the time before or after it. If it fails, the lease ends
        // by itself.
        if let Ok(mut file) = self.directory.overwrite_file(&name(self.number), 0o666) {
            let _ = file.write_all(b"0\n");
        }
    }
}

/// Takes the next lease. `None` if another plugin has one. Another plugin may remove files meanwhile,
/// so an error may pass.
fn attempt(directory: &Directory) -> Result<Option<Lease>, Errno> {
    let newest = newest(directory)?;
    if let Some(number) = newest
        && end_of(directory, number)? > now()
    {
        return Ok(None);
    }
    take(directory, newest.unwrap_or(0) + 1)
}

/// Takes the lease with a number. `None` if another plugin has taken it.
fn take(directory: &Directory, number: u64) -> Result<Option<Lease>, Errno> {
    let until = now() + LEASE.as_millis() as u64;
    let random = getrandom::u64().map_err(|_| Errno::IO)?;
    let temporary = format!("{TEMPORARY}{}", hexadecimal(random.to_be_bytes()));
    let mut file = directory.create_file(&temporary, 0o666)?;
    let written = writeln!(file, "{until}");
    let linked = match written.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO)) {
        // The file appears under its name with its text, and only if the name is free.
        Ok(()) => directory.link(&temporary, &name(number)),
        Err(errno) => Err(errno),
    };
    let _ = directory.remove_file(&temporary);
    match linked {
        Ok(()) => {}
        Err(Errno::EXIST) => return Ok(None),
        Err(errno) => return Err(errno),
    }
    let lease = Lease { directory: directory.clone(), number, until };
    // Between the look at the numbers and the link, others may have taken and removed this number.
    // Dropping the lease ends it.
    if newest(directory)? != Some(number) {
        return Ok(None);
    }
    for other in directory.names()?.flatten() {
        if number_of(&other).is_some_and(|other| other < number) {
            let _ = directory.remove_file(&other);
        }
    }
    Ok(Some(lease))
}

fn name(number: u64) -> String {
    format!("{PREFIX}{number}")
}

fn number_of(name: &str) -> Option<u64> {
    name.strip_prefix(PREFIX)?.parse().ok()
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

/// When a lease ends, in milliseconds since 1970; 0 if it has ended or cannot be read: only a loss
/// of power tears such a file, and nobody survives that.
fn end_of(directory: &Directory, number: u64) -> Result<u64, Errno> {
    let start = directory.read_start(&name(number), 32)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&start);
    Ok(text.lines().next().and_then(|line| line.parse().ok()).unwrap_or(0))
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_millis() as u64
}
