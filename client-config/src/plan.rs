//! The change of a file: made as a whole, shown, and then carried out.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::client::Grammar;
use crate::diff::diff;
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
    /// Whether the state before is kept beside the file, or what was kept is removed.
    backup: Backup,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Backup {
    Made,
    Kept,
    Removed,
}

impl Plan {
    /// Adds the entry of a server to a client's file, or replaces it.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or the client cannot use the server.
    pub fn install(file: &Path, client: Client, server: &Server) -> Result<Self, Error> {
        let entry = client.entry(server)?;
        let file = behind_links(file);
        let before = read(&file)?;
        let text = before.as_deref().unwrap_or_default();
        let found = client.found(text).map_err(|reason| unreadable(&file, reason))?;
        if found.as_ref() == Some(&entry) {
            return Ok(Plan { file, after: before.clone(), before, backup: Backup::Kept });
        }
        // A change of our own entry begins with the state from before it came.
        let base = found.as_ref().and_then(|found| client.base(&file, text, found));
        let base = base.map_or_else(|| text.to_owned(), Option::unwrap_or_default);
        let after = client.with(&base, &entry).map_err(|reason| unreadable(&file, reason))?;
        let is_new = before.is_some() && found.is_none();
        let backup = if is_new { Backup::Made } else { Backup::Kept };
        Ok(Plan { file, before, after: Some(after), backup })
    }

    /// Takes the entry out of a client's file. The file gets the bytes that it had before, unless
    /// somebody else has changed it since; then the entry alone is taken out.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn uninstall(file: &Path, client: Client) -> Result<Self, Error> {
        let file = behind_links(file);
        let before = read(&file)?;
        let failed = |reason| unreadable(&file, reason);
        let text = before.as_deref().unwrap_or_default();
        let Some(entry) = client.found(text).map_err(failed)? else {
            return Ok(Plan { file, after: before.clone(), before, backup: Backup::Kept });
        };
        let after = match client.base(&file, text, &entry) {
            Some(base) => base,
            None => Some(client.without(text).map_err(failed)?),
        };
        Ok(Plan { file, before, after, backup: Backup::Removed })
    }

    /// Whether the file is as it should be already.
    pub fn is_done(&self) -> bool {
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

    /// The changed lines and those around them, for people.
    pub fn diff(&self) -> String {
        let text = |state: &Option<String>| state.clone().unwrap_or_default();
        diff(&text(&self.before), &text(&self.after))
    }

    /// Changes the file. It is replaced whole, and keeps its mode.
    ///
    /// # Errors
    ///
    /// If somebody else has changed it meanwhile, if it is read-only, or if the system refuses. Then it
    /// is as it was.
    pub fn carry_out(&self) -> Result<(), Error> {
        if self.is_done() {
            return Ok(());
        }
        let file = &self.file;
        if fs::metadata(file).is_ok_and(|found| found.permissions().readonly()) {
            let reason = "it is read-only: make it writable".to_owned();
            return Err(unreadable(file, reason));
        }
        if let Some(directory) = file.parent() {
            fs::create_dir_all(directory).map_err(|error| io("create", directory, error))?;
        }
        let backup = backup_of(file);
        if self.backup == Backup::Made {
            fs::copy(file, &backup).map_err(|error| io("write", &backup, error))?;
        }
        self.replace()?;
        if self.backup == Backup::Removed {
            match fs::remove_file(&backup) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(io("remove", &backup, error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn replace(&self) -> Result<(), Error> {
        let file = &self.file;
        let Some(after) = &self.after else {
            self.check_unchanged()?;
            return fs::remove_file(file).map_err(|error| io("remove", file, error));
        };
        let temporary = beside(file, "agent-memory-tmp");
        let written = write_new(&temporary, after, file).map_err(|error| io("write", file, error));
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

/// What a client's file starts or reaches under our name; none if it has no such entry.
///
/// # Errors
///
/// If the file cannot be read.
pub fn installed(file: &Path, client: Client) -> Result<Option<Server>, Error> {
    let file = behind_links(file);
    let text = read(&file)?.unwrap_or_default();
    let entry = client.found(&text).map_err(|reason| unreadable(&file, reason))?;
    Ok(entry.map(|entry| Server::of(&entry)))
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

    /// The state from before our entry came, if nothing else has changed since: the one beside the
    /// file, or none, if the file had none.
    fn base(self, file: &Path, text: &str, entry: &Value) -> Option<Option<String>> {
        let leads_here = |from: &str| self.with(from, entry).as_deref() == Ok(text);
        match read(&backup_of(file)).ok().flatten() {
            Some(kept) if leads_here(&kept) => Some(Some(kept)),
            None if leads_here("") => Some(None),
            _ => None,
        }
    }

    fn with(self, text: &str, entry: &Value) -> Result<String, String> {
        around_mark(text, |text| match self.grammar() {
            Grammar::Json => json::with(text, self.key(), NAME, entry),
            Grammar::Toml => toml::with(text, self.key(), NAME, entry),
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
fn behind_links(file: &Path) -> PathBuf {
    match file.symlink_metadata() {
        Ok(found) if found.is_symlink() => file.canonicalize().unwrap_or_else(|_| file.to_owned()),
        _ => file.to_owned(),
    }
}

fn read(file: &Path) -> Result<Option<String>, Error> {
    let bytes = match fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io("read", file, error)),
    };
    let text = String::from_utf8(bytes);
    text.map(Some).map_err(|_| unreadable(file, "it is not UTF-8: save it as UTF-8".to_owned()))
}

/// Writes a new file with the mode of another one, and syncs it.
fn write_new(path: &Path, text: &str, like: &Path) -> io::Result<()> {
    // What a run that was killed has left.
    let _ = fs::remove_file(path);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    // Servers of others may hold passwords.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file: File = options.open(path)?;
    file.write_all(text.as_bytes())?;
    if let Ok(found) = fs::metadata(like) {
        file.set_permissions(found.permissions())?;
    }
    file.sync_all()
}

fn backup_of(file: &Path) -> PathBuf {
    beside(file, "agent-memory-backup")
}

fn beside(file: &Path, suffix: &str) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!("{name}.{suffix}"))
}

fn unreadable(path: &Path, reason: String) -> Error {
    Error::Unreadable { path: path.to_owned(), reason }
}

fn io(attempt: &'static str, path: &Path, error: io::Error) -> Error {
    Error::Io { attempt, path: path.to_owned(), error }
}
