//! The change of a file: made as a whole, shown, and then carried out.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::client::Grammar;
use crate::diff::diff;
use crate::entry::is_ours;
use crate::{Client, Error, NAME, Server, json, toml};

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The change of a client's file. Nothing is changed before [`carry_out`](Plan::carry_out).
#[derive(Debug)]
pub struct Plan {
    /// The file, behind all links.
    file: PathBuf,
    before: Option<String>,
    /// None: the file is removed, since it holds nothing else.
    after: Option<String>,
    /// The treatment of the backup beside the file.
    backup: Backup,
    client: Client,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Backup {
    Made,
    Kept,
    Removed,
}

impl Plan {
    /// Adds the entry of a server to a client's file. An entry of this name is changed: it keeps the
    /// fields that are not ours, such as `env`.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or the client cannot use the server.
    pub fn install(file: &Path, client: Client, server: &Server) -> Result<Self, Error> {
        let fields = client.fields(server)?;
        let file = behind_links(file)?;
        let before = read(&file)?;
        let failed = |reason| unreadable(&file, reason);
        let text = before.as_deref().unwrap_or_default();
        let found = client.found(text).map_err(failed)?;
        if found.as_ref().is_some_and(|found| has(found, &fields)) {
            return Ok(Plan { file, after: before.clone(), before, backup: Backup::Kept, client });
        }
        // Our own entry is made anew, from the state before it came.
        let own = found.as_ref().filter(|found| is_ours(found));
        let own = own.and_then(|found| client.base(&file, text, found));
        let (from, backup) = match &own {
            Some(base) => (base.clone().unwrap_or_default(), Backup::Kept),
            // A state with an entry of ours is no state from before, and one that somebody wrote by
            // hand may have its only copy beside the file.
            None if found.as_ref().is_some_and(is_ours) || client.has_kept_entry(&file) => {
                (text.to_owned(), Backup::Kept)
            }
            None if before.is_some() => (text.to_owned(), Backup::Made),
            // One that is left from a file that is gone.
            None => (String::new(), Backup::Removed),
        };
        let after = Some(client.with(&from, &fields).map_err(failed)?);
        Ok(Plan { file, before, after, backup, client })
    }

    /// Takes the entry out of a client's file. The file gets the bytes that it had before, unless
    /// somebody else has changed it since, or it had an entry of this name; then the entry alone is
    /// taken out.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn uninstall(file: &Path, client: Client) -> Result<Self, Error> {
        let file = behind_links(file)?;
        let before = read(&file)?;
        let failed = |reason| unreadable(&file, reason);
        let text = before.as_deref().unwrap_or_default();
        let Some(entry) = client.found(text).map_err(failed)? else {
            return Ok(Plan { file, after: before.clone(), before, backup: Backup::Kept, client });
        };
        let (after, backup) = match client.base(&file, text, &entry) {
            Some(base) => (base, Backup::Removed),
            None => {
                let backup = if client.has_kept_entry(&file) {
                    // It may be the only copy of an entry that somebody wrote by hand.
                    Backup::Kept
                } else if is_ours(&entry) {
                    Backup::Removed
                } else {
                    Backup::Made
                };
                (Some(client.without(text).map_err(failed)?), backup)
            }
        };
        Ok(Plan { file, before, after, backup, client })
    }

    /// The same, without the state before beside the file. A project has its history, and its
    /// directory is no place for another copy of its secrets.
    #[must_use]
    pub fn without_backup(mut self) -> Self {
        if self.backup == Backup::Made {
            self.backup = Backup::Kept;
        }
        self
    }

    /// Whether the file is as it should be already.
    pub fn changes_nothing(&self) -> bool {
        self.before == self.after
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The file with the state before, if carrying out makes one.
    pub fn backup(&self) -> Option<PathBuf> {
        (self.backup == Backup::Made).then(|| backup_of(&self.file))
    }

    /// The entry that the client has afterwards.
    pub fn entry(&self) -> Option<Value> {
        self.client.found(self.after.as_deref()?).ok().flatten()
    }

    /// The changed lines and those around them, for people.
    pub fn diff(&self) -> String {
        let text = |state: &Option<String>| state.clone().unwrap_or_default();
        diff(&text(&self.before), &text(&self.after))
    }

    /// Changes the file. It is replaced whole, and keeps its mode and its owner.
    ///
    /// # Errors
    ///
    /// If somebody else has changed it meanwhile, if it is read-only, or if the system refuses. Then it
    /// is as it was.
    pub fn carry_out(&self) -> Result<(), Error> {
        if self.changes_nothing() {
            return Ok(());
        }
        let file = &self.file;
        let backup = backup_of(&self.file);
        if fs::metadata(file).is_ok_and(|found| found.permissions().readonly()) {
            let reason = "it is read-only: make it writable".to_owned();
            return Err(unreadable(file, reason));
        }
        if let Some(directory) = file.parent() {
            fs::create_dir_all(directory).map_err(|error| io("create", directory, error))?;
        }
        self.check_unchanged()?;
        if let (Backup::Made, Some(before)) = (self.backup, &self.before) {
            // Not through a link that somebody has put there.
            remove(&backup).map_err(|error| io("replace", &backup, error))?;
            let written = write_new(&backup, before, file);
            written.map_err(|error| io("write", &backup, error))?;
        }
        let replaced = self.replace();
        let is_needless = match &replaced {
            Ok(()) => self.backup == Backup::Removed,
            // If another program has changed the file, the copy may be of its making.
            Err(_) => self.backup == Backup::Made && self.check_unchanged().is_ok(),
        };
        if is_needless {
            let _ = remove(&backup);
        }
        replaced
    }

    fn replace(&self) -> Result<(), Error> {
        let file = &self.file;
        let Some(after) = &self.after else {
            self.check_unchanged()?;
            return fs::remove_file(file).map_err(|error| io("remove", file, error));
        };
        // Of this process alone, so that two runs do not write the same file.
        let temporary = beside(file, &format!("{}.agent-memory-tmp", std::process::id()));
        let written = remove(&temporary).and_then(|()| write_new(&temporary, after, file));
        let written = written.map_err(|error| io("write", file, error));
        let replaced = written.and_then(|()| self.check_unchanged()).and_then(|()| {
            fs::rename(&temporary, file).map_err(|error| io("replace", file, error))
        });
        if replaced.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        replaced
    }

    fn check_unchanged(&self) -> Result<(), Error> {
        if read(&self.file)? == self.before {
            return Ok(());
        }
        let reason = "another program has changed it meanwhile: run the command again".to_owned();
        Err(unreadable(&self.file, reason))
    }
}

/// The program or the address of our entry in a client's file; none if it has no such entry.
///
/// # Errors
///
/// If the file cannot be read.
pub fn installed(file: &Path, client: Client) -> Result<Option<Server>, Error> {
    let file = behind_links(file)?;
    let text = read(&file)?.unwrap_or_default();
    let entry = client.found(&text).map_err(|reason| unreadable(&file, reason))?;
    Ok(entry.map(|entry| Server::from_entry(&entry)))
}

/// Whether an entry has these fields, and none that is null here.
fn has(entry: &Value, fields: &Map<String, Value>) -> bool {
    fields.iter().all(|(name, value)| entry.get(name).unwrap_or(&Value::Null) == value)
}

impl Client {
    /// Its entry of this program in a text.
    fn found(self, text: &str) -> Result<Option<Value>, String> {
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        match self.grammar() {
            _ if text.trim().is_empty() => Ok(None),
            Grammar::Json => json::entry(text, self.key(), NAME),
            Grammar::Toml => toml::entry(text, self.key(), NAME),
        }
    }

    /// Whether the state beside the file has an entry of this name.
    fn has_kept_entry(self, file: &Path) -> bool {
        let kept = read(&backup_of(file)).ok().flatten();
        kept.is_some_and(|kept| self.found(&kept) != Ok(None))
    }

    /// The state from before our entry came, if nothing else has changed since: the one beside the
    /// file, or none, if there was no file.
    fn base(self, file: &Path, text: &str, entry: &Value) -> Option<Option<String>> {
        let fields = entry.as_object()?;
        let leads_here = |from: &str| self.with(from, fields).as_deref() == Ok(text);
        match read(&backup_of(file)).ok().flatten() {
            Some(kept) if self.found(&kept) == Ok(None) && leads_here(&kept) => Some(Some(kept)),
            None if leads_here("") => Some(None),
            _ => None,
        }
    }

    fn with(self, text: &str, fields: &Map<String, Value>) -> Result<String, String> {
        around_mark(text, |text| match self.grammar() {
            Grammar::Json => json::with(text, self.key(), NAME, fields),
            Grammar::Toml => toml::with(text, self.key(), NAME, fields),
        })
    }

    fn without(self, text: &str) -> Result<String, String> {
        around_mark(text, |text| match self.grammar() {
            Grammar::Json => json::without(text, self.key(), NAME),
            Grammar::Toml => toml::without(text, self.key(), NAME),
        })
    }
}

/// Edits a text behind its byte order mark.
fn around_mark(
    text: &str,
    edit: impl FnOnce(&str) -> Result<String, String>,
) -> Result<String, String> {
    match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(text) => Ok(format!("{BYTE_ORDER_MARK}{}", edit(text)?)),
        None => edit(text),
    }
}

/// The file that a path leads to: people keep their settings elsewhere and link them.
fn behind_links(file: &Path) -> Result<PathBuf, Error> {
    match file.symlink_metadata() {
        Ok(found) if found.is_symlink() => file.canonicalize().map_err(|_| {
            let reason = "it is a link that leads nowhere: make its target, or remove it";
            unreadable(file, reason.to_owned())
        }),
        _ => Ok(file.to_owned()),
    }
}

fn read(file: &Path) -> Result<Option<String>, Error> {
    match fs::metadata(file) {
        // A FIFO would wait for ever.
        Ok(found) if !found.is_file() => {
            return Err(unreadable(file, "it is no file: name another one".to_owned()));
        }
        _ => {}
    }
    let bytes = match fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io("read", file, error)),
    };
    let text = String::from_utf8(bytes);
    text.map(Some).map_err(|_| unreadable(file, "it is not UTF-8: save it as UTF-8".to_owned()))
}

fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Writes a new file with the mode and the owner of another one, and syncs it.
fn write_new(path: &Path, text: &str, like: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    // Servers of others may hold passwords.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file: File = options.open(path)?;
    file.write_all(text.as_bytes())?;
    if let Ok(found) = fs::metadata(like) {
        // Only root may give a file away.
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, fchown};
            let _ = fchown(&file, Some(found.uid()), Some(found.gid()));
        }
        let permissions: Permissions = found.permissions();
        file.set_permissions(permissions)?;
    }
    file.sync_all()
}

fn backup_of(file: &Path) -> PathBuf {
    beside(file, "agent-memory-backup")
}

fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(suffix);
    file.with_file_name(name)
}

fn unreadable(path: &Path, reason: String) -> Error {
    Error::Unreadable { path: path.to_owned(), reason }
}

fn io(attempt: &'static str, path: &Path, error: io::Error) -> Error {
    Error::Io { attempt, path: path.to_owned(), error }
}
