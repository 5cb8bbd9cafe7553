//! The owner of a place: plugins, or the other hosts. WASI has no locks, so a place is never written
//! by plugins and by other hosts.
//!
//! Plugins write a marker file into the lock directory; the other hosts create their lock file there.
//! Each then looks for the file of the other kind. So if a plugin and another host come at once, at
//! most one of them may write. Reading needs no owner.
//!
//! A marker file contains its own modification time, in seconds. In a copy, the file has another time,
//! so the marker is ignored. A copy that keeps times has to be handed over: a copy by `cp -a`, and any
//! copy on Windows and macOS. `tests/owners.json` tests on every host which markers count.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agent_memory_storage::{Error, ErrorCode};

use super::directory::{Directory, kind_at};
use super::errno::{Errno, errno_of};
use super::error::lock_error;
use super::mark::Mark;

/// The lock file of the hosts that have locks.
pub const LOCK_FILE: &str = "turn.sqlite";

/// The marker of plugins that own a place.
const OWNER: &str = "plugin.owner";

/// The marker of a plugin that wants to own a place, and has not looked for other hosts yet. The plugin
/// renames it to [`OWNER`], so code that looks for both markers has to look for this one first.
const CLAIM: &str = "plugin.claim";

/// The maximum length of a marker in bytes.
const MAX_BYTES: u64 = 32;

/// Checks that the other hosts do not own a place. A plugin calls this before it takes the place over.
/// So it leaves no file in a place of other hosts, such as a claim that would keep them out. `location`
/// is the place for messages.
///
/// # Errors
///
/// `read-only` if other hosts have written to it; the message tells how to hand it over. `read-only`
/// too if the lock directory cannot be read. `io`.
pub fn check_for_plugins(directory: &Directory, location: &str) -> Result<(), Error> {
    let failed = |errno| cannot_lock(errno, location);
    for marker in [CLAIM, OWNER] {
        // If there is a claim, do not look for the lock file: the plugin that took the place over last
        // does so, and then keeps or removes the claim.
        if is_marked(directory, marker).map_err(failed)? {
            return Ok(());
        }
    }
    match directory.metadata(LOCK_FILE).map_err(failed)? {
        None => Ok(()),
        Some(_) => Err(of_hosts(location)),
    }
}

/// Makes plugins the owner of a place, unless other hosts have written to it. `mark` is the mark of the
/// calling plugin.
///
/// # Errors
///
/// Those of [`check_for_plugins`] and of [`Mark::check`]; `no-space`; `io`, also if the file system
/// does not keep the times of files.
pub fn claim_for_plugins(directory: &Directory, mark: &Mark, location: &str) -> Result<(), Error> {
    let failed = |errno| cannot_lock(errno, location);
    loop {
        if is_marked(directory, OWNER).map_err(failed)? {
            return Ok(());
        }
        // A claim of another plugin is kept: another host may have been refused because of it.
        if !is_marked(directory, CLAIM).map_err(failed)? {
            check_for_plugins(directory, location)?;
            put(directory, CLAIM, mark.number(), location, || mark.check(location))?;
        }
        let is_of_hosts = directory.metadata(LOCK_FILE).map_err(failed)?.is_some();
        mark.check(location)?;
        if is_of_hosts {
            remove(directory, CLAIM).map_err(failed)?;
            return Err(of_hosts(location));
        }
        match directory.rename(CLAIM, directory, OWNER) {
            // A plugin that has just lost the place moved or removed the claim.
            Err(Errno::NOENT) => {}
            renamed => return renamed.and_then(|()| directory.sync()).map_err(failed),
        }
    }
}

/// The error for a plugin in a place that other hosts own.
fn of_hosts(location: &str) -> Error {
    let message = format!(
        "`{location}` is written by hosts that are no plugins: end them, then run `agent-memory \
         hand-over --to plugins {location}`"
    );
    Error::new(ErrorCode::ReadOnly, message)
}

/// Checks that plugins do not own a place. A host calls this before it creates the lock file, so that
/// it leaves no lock file in a place of plugins, and again once it has the lock. `lock_path` is the
/// lock directory.
///
/// # Errors
///
/// `read-only` if plugins own it; the message tells how to hand it over. `read-only` too if the lock
/// directory cannot be read. `io`.
pub fn check_for_hosts(lock_path: &Path, location: &str) -> Result<(), Error> {
    let failed = |errno| cannot_lock(errno, location);
    for marker in [CLAIM, OWNER] {
        // Usually no marker exists. This check for it is a single system call.
        if kind_at(&lock_path.join(marker), false) == Err(Errno::NOENT) {
            continue;
        }
        let directory = Directory::open(lock_path).map_err(failed)?;
        if is_marked(&directory, marker).map_err(failed)? {
            return Err(Error::new(
                ErrorCode::ReadOnly,
                format!(
                    "`{location}` is written by plugins: end them, then run `agent-memory hand-over \
                     --to hosts {location}`"
                ),
            ));
        }
    }
    Ok(())
}

fn cannot_lock(errno: Errno, location: &str) -> Error {
    lock_error(errno, &format!("lock `{location}`"))
}

/// Whether plugins own a place.
///
/// # Errors
///
/// The operating system's.
pub fn is_of_plugins(directory: &Directory) -> Result<bool, Errno> {
    is_marked(directory, OWNER)
}

/// Makes plugins the owner of a place. The caller has the lock of the place.
///
/// # Errors
///
/// Those of [`claim_for_plugins`] on the file system.
pub fn hand_over_to_plugins(directory: &Directory, location: &str) -> Result<(), Error> {
    put(directory, OWNER, std::process::id().into(), location, || Ok(()))
}

/// Ends the ownership of plugins. No plugin may use the place meanwhile. The other hosts own it as soon
/// as one of them has its lock.
///
/// # Errors
///
/// The operating system's.
pub fn take_from_plugins(directory: &Directory) -> Result<(), Errno> {
    remove(directory, CLAIM)?;
    remove(directory, OWNER)?;
    directory.sync()
}

/// Whether the marker exists and did not come with a copy. A marker that is incomplete after a loss of
/// power counts as missing: its plugin had not written to the place yet.
fn is_marked(directory: &Directory, marker: &str) -> Result<bool, Errno> {
    let Some(text) = directory.read_start(marker, MAX_BYTES)? else { return Ok(false) };
    let Some(found) = directory.metadata(marker)? else { return Ok(false) };
    let (seconds, nanoseconds) = found.modified;
    Ok(nanoseconds == 0 && text == format!("{seconds}\n").as_bytes())
}

fn remove(directory: &Directory, name: &str) -> Result<(), Errno> {
    match directory.remove_file(name) {
        Err(Errno::NOENT) => Ok(()),
        removed => removed,
    }
}

/// Writes a marker, replacing an existing one atomically. `writer` is a number that no other writer
/// has. `check` is called just before the replacement.
fn put(
    directory: &Directory,
    marker: &str,
    writer: u64,
    location: &str,
    check: impl FnOnce() -> Result<(), Error>,
) -> Result<(), Error> {
    let failed = |errno| cannot_lock(errno, location);
    // FAT stores times in steps of two seconds.
    let seconds =
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / 2 * 2;
    let own = format!("{marker}.{writer}");
    let put = || {
        write(directory, &own, seconds).map_err(failed)?;
        // If the file system changed the time, other hosts would take the marker for a copy.
        if !is_marked(directory, &own).map_err(failed)? {
            let message = format!(
                "cannot lock `{location}`: the file system does not keep the times of files as they \
                 are set: use another one"
            );
            return Err(Error::new(ErrorCode::Io, message));
        }
        check()?;
        directory.rename(&own, directory, marker).map_err(failed)
    };
    if let Err(error) = put() {
        let _ = remove(directory, &own);
        return Err(error);
    }
    directory.sync().map_err(failed)
}

fn write(directory: &Directory, name: &str, seconds: u64) -> Result<(), Errno> {
    remove(directory, name)?;
    let mut file = directory.create_file(name, 0o666)?;
    let written = writeln!(file, "{seconds}")
        .and_then(|()| file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)))
        .and_then(|()| file.sync_all());
    written.map_err(|error| errno_of(&error))
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// The number of the next plugin.
    static NUMBER: AtomicU64 = AtomicU64::new(1);

    fn lock_directory() -> (tempfile::TempDir, Directory) {
        let scratch = tempfile::tempdir().unwrap();
        let directory = Directory::open(&scratch.path().canonicalize().unwrap()).unwrap();
        (scratch, directory)
    }

    /// Claims the place for a plugin that takes it over.
    fn claim(directory: &Directory) -> Result<(), Error> {
        check_for_plugins(directory, "notes")?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        claim_for_plugins(directory, &Mark::take(directory, number, "notes")?, "notes")
    }

    #[test]
    fn the_second_kind_of_host_is_refused_and_leaves_no_sign() {
        let (scratch, directory) = lock_directory();
        claim(&directory).unwrap();
        claim(&directory).unwrap();
        let refused = check_for_hosts(scratch.path(), "notes").unwrap_err();
        assert_eq!(refused.code, ErrorCode::ReadOnly);
        assert!(refused.message.contains("hand-over --to hosts"), "{refused}");

        let (scratch, directory) = lock_directory();
        std::fs::write(scratch.path().join(LOCK_FILE), "").unwrap();
        let refused = claim(&directory).unwrap_err();
        assert_eq!(refused.code, ErrorCode::ReadOnly);
        assert!(refused.message.contains("hand-over --to plugins"), "{refused}");
        assert_eq!(check_for_plugins(&directory, "notes").unwrap_err(), refused);
        check_for_hosts(scratch.path(), "notes").unwrap();
        assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 1);
    }

    #[test]
    fn of_two_kinds_that_come_at_once_at_most_one_may_write() {
        // A plugin writes its claim (`p`), then looks for the lock file (`P`). A host creates the lock
        // file (`h`), then looks for a marker (`H`). These are all orders of the four steps.
        for order in ["pPhH", "phPH", "phHP", "hpPH", "hpHP", "hHpP"] {
            let (scratch, directory) = lock_directory();
            let mut plugin = None;
            let mut host = None;
            for step in order.chars() {
                match step {
                    'p' => put(&directory, CLAIM, 7, "notes", || Ok(())).unwrap(),
                    'P' => plugin = Some(claim(&directory).is_ok()),
                    'h' => std::fs::write(scratch.path().join(LOCK_FILE), "").unwrap(),
                    _ => host = Some(check_for_hosts(scratch.path(), "notes").is_ok()),
                }
            }
            assert_ne!((plugin, host), (Some(true), Some(true)), "{order}");
        }
    }

    #[test]
    fn of_plugins_and_a_host_in_threads_at_most_one_kind_may_write() {
        for plugins in [1, 2, 3].repeat(150) {
            let (scratch, directory) = lock_directory();
            let start = Barrier::new(plugins + 1);
            let claims = || {
                start.wait();
                claim(&directory).is_ok()
            };
            std::thread::scope(|scope| {
                let plugins: Vec<_> = (0..plugins).map(|_| scope.spawn(claims)).collect();
                start.wait();
                std::fs::write(scratch.path().join(LOCK_FILE), "").unwrap();
                let host = check_for_hosts(scratch.path(), "notes").is_ok();
                for plugin in plugins {
                    assert!(!(host && plugin.join().unwrap()));
                }
            });
        }
    }

    #[test]
    fn plugins_that_come_at_once_own_the_place_and_the_last_may_write() {
        for _ in 0..200 {
            let (scratch, directory) = lock_directory();
            let start = Barrier::new(3);
            let claimed = std::thread::scope(|scope| {
                let claims = || {
                    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
                    start.wait();
                    let mark = Mark::take(&directory, number, "notes").unwrap();
                    (claim_for_plugins(&directory, &mark, "notes").is_ok(), mark)
                };
                let plugins: Vec<_> = (0..3).map(|_| scope.spawn(claims)).collect();
                plugins.into_iter().map(|plugin| plugin.join().unwrap()).collect::<Vec<_>>()
            });
            let last = claimed.iter().filter(|(_, mark)| mark.check("notes").is_ok());
            assert_eq!(last.map(|(owns, _)| *owns).collect::<Vec<_>>(), [true]);
            check_for_hosts(scratch.path(), "notes").unwrap_err();
        }
    }

    #[test]
    fn a_claim_of_a_plugin_that_stopped_refuses_other_hosts_until_the_next_plugin_looks() {
        let (scratch, directory) = lock_directory();
        put(&directory, CLAIM, 7, "notes", || Ok(())).unwrap();
        let before = directory.metadata(CLAIM).unwrap();
        check_for_hosts(scratch.path(), "notes").unwrap_err();
        claim(&directory).unwrap();
        // The marker is the claim of the first plugin, renamed: other hosts were refused all the time.
        assert_eq!(directory.metadata(OWNER).unwrap(), before);
    }

    #[test]
    fn a_claim_in_a_place_of_other_hosts_is_removed_by_the_next_plugin() {
        let (scratch, directory) = lock_directory();
        std::fs::write(scratch.path().join(LOCK_FILE), "").unwrap();
        put(&directory, CLAIM, 7, "notes", || Ok(())).unwrap();
        check_for_hosts(scratch.path(), "notes").unwrap_err();
        check_for_plugins(&directory, "notes").unwrap();
        claim(&directory).unwrap_err();
        check_for_hosts(scratch.path(), "notes").unwrap();
    }

    #[test]
    fn a_marker_is_valid_as_the_cases_say() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/owners.json");
        let cases = std::fs::read_to_string(path).unwrap();
        let cases: serde_json::Value = serde_json::from_str(&cases).unwrap();
        for case in cases["markers"].as_array().unwrap() {
            for marker in [CLAIM, OWNER] {
                let (scratch, directory) = lock_directory();
                let path = scratch.path().join(marker);
                if let Some(text) = case["text"].as_str() {
                    std::fs::write(&path, text).unwrap();
                    let [seconds, nanoseconds] = [0, 1].map(|at| case["modified"][at].as_u64());
                    let modified =
                        Duration::new(seconds.unwrap(), nanoseconds.unwrap().try_into().unwrap());
                    let file = std::fs::File::options().write(true).open(&path).unwrap();
                    file.set_modified(UNIX_EPOCH + modified).unwrap();
                } else {
                    std::fs::create_dir(&path).unwrap();
                }
                let checked = check_for_hosts(scratch.path(), "notes");
                assert_eq!(checked.is_err(), case["holds"], "{marker}: {case}");
                if let Err(refused) = checked {
                    assert_eq!(refused.code, ErrorCode::ReadOnly);
                    assert_eq!(refused.message, cases["refusal"], "{marker}");
                }
                assert_eq!(is_marked(&directory, marker) == Ok(true), case["holds"], "{case}");
            }
        }
    }

    #[test]
    fn a_marker_is_written_with_an_even_second() {
        let (_scratch, directory) = lock_directory();
        put(&directory, OWNER, 7, "notes", || Ok(())).unwrap();
        assert_eq!(directory.metadata(OWNER).unwrap().unwrap().modified.0 % 2, 0);
    }

    #[test]
    fn a_marker_that_came_with_a_copy_is_ignored() {
        let (from, directory) = lock_directory();
        claim(&directory).unwrap();
        let (to, _) = lock_directory();
        // Copies a moment later: `std::fs::copy` keeps the time only on Windows and macOS.
        std::thread::sleep(Duration::from_millis(5));
        std::fs::copy(from.path().join(OWNER), to.path().join(OWNER)).unwrap();
        let keeps_times = cfg!(any(windows, target_os = "macos"));
        assert_eq!(check_for_hosts(to.path(), "notes").is_err(), keeps_times);
    }

    #[test]
    fn a_lock_file_that_comes_later_does_not_end_the_ownership_of_plugins() {
        let (scratch, directory) = lock_directory();
        claim(&directory).unwrap();
        std::fs::write(scratch.path().join(LOCK_FILE), "").unwrap();
        check_for_hosts(scratch.path(), "notes").unwrap_err();
        claim(&directory).unwrap();
    }

    #[test]
    fn a_place_is_handed_over_both_ways() {
        let (scratch, directory) = lock_directory();
        claim(&directory).unwrap();
        assert_eq!(is_of_plugins(&directory), Ok(true));
        take_from_plugins(&directory).unwrap();
        assert_eq!(is_of_plugins(&directory), Ok(false));
        check_for_hosts(scratch.path(), "notes").unwrap();
        std::fs::write(scratch.path().join(LOCK_FILE), "").unwrap();
        hand_over_to_plugins(&directory, "notes").unwrap();
        claim(&directory).unwrap();
    }
}
