//! The mark of the plugin that writes a place, since WASI has no locks.
//!
//! The file `plugin.mark` in the lock directory holds the number of the plugin that took the place over
//! last. A plugin takes the place over at its first write there, without waiting for other plugins. It
//! reads the mark again before each rename of a commit. If the number is another plugin's, it stops
//! writing.
//!
//! A plugin may be suspended after that check. So the names of its temporary files have its number. The
//! plugin that takes the place over removes the temporary files of the others beside the documents that
//! it changes. Without its temporary file, a suspended plugin cannot replace such a document when it
//! resumes.
//!
//! A window remains. A plugin that is suspended between the check and the rename may still rename or
//! delete a document, or replace one in a directory where no other plugin has written since.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::Write;

use agent_memory_storage::{Area, Error, ErrorCode};

use super::directory::Directory;
use super::errno::{Errno, errno_of};
use super::error::{errno_error, lock_error};
use super::path;

const MARK: &str = "plugin.mark";
/// The maximum number of bytes that are read of a mark.
const MAX_BYTES: u64 = 32;

/// The mark of one plugin in a place.
#[derive(Debug)]
pub struct Mark {
    directory: Directory,
    number: u64,
    /// The directories from which the temporary files of other plugins were removed.
    cleaned: RefCell<BTreeSet<(Area, String)>>,
}

impl Mark {
    /// Takes a place over. `directory` is its lock directory, `location` its name for messages. `number`
    /// is the plugin's: no other plugin has ever had it.
    ///
    /// # Errors
    ///
    /// `read-only`, `no-space`, `invalid-path`, `io`.
    pub fn take(directory: &Directory, number: u64, location: &str) -> Result<Self, Error> {
        let own = format!("{MARK}.{number}");
        let write = || {
            let mut file = directory.create_file(&own, 0o666)?;
            let written = file.write_all(text(number).as_bytes());
            written.map_err(|error| errno_of(&error))?;
            drop(file);
            directory.rename(&own, directory, MARK)
        };
        write().map_err(|errno| {
            let _ = directory.remove_file(&own);
            failed(errno, location)
        })?;
        Ok(Mark { directory: directory.clone(), number, cleaned: RefCell::default() })
    }

    /// Checks that no other plugin has taken the place over.
    ///
    /// # Errors
    ///
    /// `read-only` if another plugin has, or if the mark was removed; the message tells what to do.
    /// Those of the operating system.
    pub fn check(&self, location: &str) -> Result<(), Error> {
        let found = self.directory.read_start(MARK, MAX_BYTES);
        let found = found.map_err(|errno| failed(errno, location))?;
        if found.is_some_and(|found| found == text(self.number).as_bytes()) {
            return Ok(());
        }
        let message = format!(
            "another plugin has taken over `{location}`, so this one can only read it: open this one \
             again to take it back. For several writers at once, let them share one plugin or a server"
        );
        Err(Error::new(ErrorCode::ReadOnly, message))
    }

    /// The number in the names of the plugin's temporary files.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Removes the temporary files of other plugins from the directory of documents with this `path`,
    /// once for each directory. Once is enough: a plugin that writes temporary files later fails its
    /// check before it renames them.
    ///
    /// # Errors
    ///
    /// Those of [`check`](Self::check), and `invalid-path` if a name there is not UTF-8.
    pub(crate) fn clean(
        &self,
        documents: &Directory,
        area: Area,
        path: &str,
        location: &str,
    ) -> Result<(), Error> {
        let key = (area, path.to_owned());
        if self.cleaned.borrow().contains(&key) {
            return Ok(());
        }
        let is_of_other = |name: &String| {
            path::plugin_of_temporary(name).is_some_and(|number| number != self.number)
        };
        let list =
            || documents.names()?.filter(|name| name.as_ref().map_or(true, is_of_other)).collect();
        let shown = if path.is_empty() { location } else { path };
        let cannot = |errno| errno_error(errno, &format!("write in `{shown}`"));
        let others: Result<Vec<String>, Errno> = list();
        let others = others.map_err(cannot)?;
        // The mark is still this plugin's, so none of these files is of a later plugin.
        self.check(location)?;
        for name in others {
            match documents.remove_file(&name) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(cannot(errno)),
            }
        }
        self.cleaned.borrow_mut().insert(key);
        Ok(())
    }
}

/// Removes the mark, so that plugins that have the place open can no longer write to it.
///
/// # Errors
///
/// The operating system's.
pub fn remove_mark(directory: &Directory) -> Result<(), Errno> {
    match directory.remove_file(MARK) {
        Err(Errno::NOENT) => Ok(()),
        removed => removed,
    }
}

fn failed(errno: Errno, location: &str) -> Error {
    lock_error(errno, &format!("lock `{location}` by the file `{MARK}` in its lock directory"))
}

fn text(number: u64) -> String {
    format!("{number}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock_directory() -> (tempfile::TempDir, Directory) {
        let scratch = tempfile::tempdir().unwrap();
        let directory = Directory::open(&scratch.path().canonicalize().unwrap()).unwrap();
        (scratch, directory)
    }

    fn take(directory: &Directory, number: u64) -> Mark {
        Mark::take(directory, number, "notes").unwrap()
    }

    #[track_caller]
    fn is_refused(mark: &Mark) {
        let refused = mark.check("notes").unwrap_err();
        assert_eq!(refused.code, ErrorCode::ReadOnly);
        for part in ["`notes`", "open this one again to take it back"] {
            assert!(refused.message.contains(part), "{refused}");
        }
    }

    fn names(scratch: &tempfile::TempDir) -> Vec<String> {
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
        let entries = std::fs::read_dir(scratch.path()).unwrap();
        entries.map(|entry| name(entry).into_string().unwrap()).collect()
    }

    #[test]
    fn whoever_comes_last_has_the_place_and_leaves_one_file() {
        let (scratch, directory) = lock_directory();
        let first = take(&directory, 9);
        first.check("notes").unwrap();
        let second = take(&directory, 3);
        is_refused(&first);
        second.check("notes").unwrap();
        is_refused(&first);
        // The first plugin opens the place again.
        let third = take(&directory, 5);
        third.check("notes").unwrap();
        is_refused(&second);
        assert_eq!(names(&scratch), [MARK]);
    }

    #[test]
    fn of_many_threads_the_last_has_the_place() {
        let (scratch, directory) = lock_directory();
        let marks = std::thread::scope(|scope| {
            let take_many = |thread: u64| {
                let directory = directory.clone();
                move || -> Vec<Mark> {
                    (0..50).map(|n| take(&directory, thread * 1000 + n)).collect()
                }
            };
            let threads: Vec<_> = (0..4).map(|thread| scope.spawn(take_many(thread))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        let has = |mark: &&Mark| mark.check("notes").is_ok();
        assert_eq!(marks.iter().flatten().filter(has).count(), 1);
        assert!(marks.iter().filter_map(|of_thread| of_thread.last()).any(|mark| has(&mark)));
        assert_eq!(names(&scratch), [MARK]);
    }

    #[test]
    fn a_mark_that_was_removed_is_not_written_again() {
        let (scratch, directory) = lock_directory();
        let mark = take(&directory, 1);
        remove_mark(&directory).unwrap();
        remove_mark(&directory).unwrap();
        is_refused(&mark);
        assert_eq!(names(&scratch), Vec::<String>::new());
    }

    #[test]
    fn another_text_is_the_mark_of_another() {
        for text in ["", "1", "1\n\n", "01\n", "garbage", "11\n"] {
            let (scratch, directory) = lock_directory();
            let mark = take(&directory, 1);
            std::fs::write(scratch.path().join(MARK), text).unwrap();
            is_refused(&mark);
            take(&directory, 2).check("notes").unwrap();
        }
    }

    #[test]
    fn a_directory_in_the_place_of_the_mark_is_named() {
        let (scratch, directory) = lock_directory();
        std::fs::create_dir(scratch.path().join(MARK)).unwrap();
        std::fs::write(scratch.path().join(MARK).join("theirs"), "").unwrap();
        let refused = Mark::take(&directory, 1, "notes").unwrap_err();
        for part in ["`notes`", "`plugin.mark`"] {
            assert!(refused.message.contains(part), "{refused}");
        }
        assert_eq!(names(&scratch), [MARK]);
    }
}
