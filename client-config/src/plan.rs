//! The change of a file: planned as a whole, shown to a person, and then carried out.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::command::command_line;
use crate::diff::diff;
use crate::disk::{backup_of, behind_links, beside, io, malformed, read, remove, write_new};
use crate::format::{Format, Ours, Wanted};
use crate::{Client, Error, Event, Hooks, Server, token};

/// The change of a client's file. Nothing is changed before [`carry_out`](Plan::carry_out).
#[derive(Debug)]
pub struct Plan {
    /// The path of the file, with symbolic links resolved.
    file: PathBuf,
    before: Option<String>,
    /// `None` if the file is to be removed: there was no file before the entry was added.
    after: Option<String>,
    /// The treatment of the backup beside the file.
    backup: Backup,
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Backup {
    Made,
    Kept,
    Removed,
}

impl Plan {
    /// Adds the entry of a server to a client's file. An existing entry of this name is changed: it keeps
    /// fields that this program does not write, such as `env`.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or the client cannot use the server.
    pub fn install(file: &Path, client: Client, server: &Server) -> Result<Self, Error> {
        let wanted = Wanted { fields: Some(client.fields(server)?), hooks: None };
        Self::with(file, Format::of_servers(client), wanted)
    }

    /// Adds hooks to the file in which a client keeps them. Existing hooks that start this program are
    /// changed: they keep fields that this program does not write, such as `timeout`.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or the client cannot start the hooks.
    pub fn install_hooks(file: &Path, client: Client, hooks: &Hooks) -> Result<Self, Error> {
        let wanted = Wanted { fields: None, hooks: Some(client.handlers(hooks)?) };
        Self::with(file, Format::of_hooks(client), wanted)
    }

    /// Adds the entry of a server and hooks to the file of a client that keeps both in one.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or the client cannot use the server or start the hooks.
    pub fn install_both(
        file: &Path,
        client: Client,
        server: &Server,
        hooks: &Hooks,
    ) -> Result<Self, Error> {
        let fields = client.fields(server)?;
        let hooks = client.handlers(hooks)?;
        let wanted = Wanted { fields: Some(fields), hooks: Some(hooks) };
        Self::with(file, Format::of_servers(client), wanted)
    }

    fn with(file: &Path, format: Format, mut wanted: Wanted) -> Result<Self, Error> {
        let file = behind_links(file)?;
        let before = read(&file)?;
        let failed = |reason| malformed(&file, reason);
        let text = before.as_deref().unwrap_or_default();
        let found = format.found(text).map_err(failed)?;
        if let Some(fields) = &mut wanted.fields {
            token::keep(fields, found.entry.as_ref()).map_err(failed)?;
        }
        if wanted.is_in(&found) {
            return Ok(Plan { file, after: before.clone(), before, backup: Backup::Kept, format });
        }
        // If this program's parts are unchanged, add the new parts to the file as it was before them.
        // Then the backup stays valid.
        let is_own = !found.is_empty() && found.has_only_our_fields();
        let base = if is_own { base(format, &file, text, &found) } else { None };
        let (from, wanted, backup) = match base {
            Some(base) => (base.unwrap_or_default(), wanted.or(&found), Backup::Kept),
            // No new backup: the file already has parts of this program, or the existing backup has such
            // parts and may be the only copy of what a person wrote by hand.
            None if is_own || has_kept_ours(format, &file) => {
                (text.to_owned(), wanted, Backup::Kept)
            }
            None if before.is_some() => (text.to_owned(), wanted, Backup::Made),
            // There is no file, so an existing backup is of a file that was removed.
            None => (String::new(), wanted, Backup::Removed),
        };
        let after = Some(format.with(&from, &wanted).map_err(failed)?);
        Ok(Plan { file, before, after, backup, format })
    }

    /// Removes the entry from a client's file, and the hooks if the client keeps both in one file. This
    /// restores the bytes of the file before the entry. If the file has been changed otherwise since, or
    /// had an entry of this name before, only the entry is removed.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn uninstall(file: &Path, client: Client) -> Result<Self, Error> {
        Self::without(file, Format::of_servers(client))
    }

    /// Removes the hooks that start this program from the file in which a client keeps them, as
    /// [`uninstall`](Plan::uninstall) does with the entry.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn uninstall_hooks(file: &Path, client: Client) -> Result<Self, Error> {
        Self::without(file, Format::of_hooks(client))
    }

    fn without(file: &Path, format: Format) -> Result<Self, Error> {
        let file = behind_links(file)?;
        let before = read(&file)?;
        let failed = |reason| malformed(&file, reason);
        let text = before.as_deref().unwrap_or_default();
        let found = format.found(text).map_err(failed)?;
        if found.is_empty() {
            return Ok(Plan { file, after: before.clone(), before, backup: Backup::Kept, format });
        }
        let (after, backup) = match base(format, &file, text, &found) {
            Some(base) => (base, Backup::Removed),
            None => {
                let backup = if has_kept_ours(format, &file) {
                    // The backup may be the only copy of what a person wrote by hand.
                    Backup::Kept
                } else if found.has_only_our_fields() {
                    Backup::Removed
                } else {
                    Backup::Made
                };
                (Some(format.without(text).map_err(failed)?), backup)
            }
        };
        Ok(Plan { file, before, after, backup, format })
    }

    /// The same plan without a backup: a project has a version history, and a backup would be another
    /// copy of its secrets. A file that would be removed is emptied: without a backup, nobody knows
    /// whether it existed before as an empty object.
    #[must_use]
    pub fn without_backup(mut self) -> Self {
        if self.backup == Backup::Made {
            self.backup = Backup::Kept;
        }
        if self.before.is_some() && self.after.is_none() {
            self.after = Some(self.format.empty().to_owned());
        }
        self
    }

    /// Whether the file already has the planned contents.
    pub fn changes_nothing(&self) -> bool {
        self.before == self.after
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The path of the backup. `None` if the plan makes no backup.
    pub fn backup(&self) -> Option<PathBuf> {
        (self.backup == Backup::Made).then(|| backup_of(&self.file))
    }

    /// This program's entry in the client's file after the change.
    pub fn entry(&self) -> Option<Value> {
        self.format.found(self.after.as_deref()?).ok()?.entry
    }

    /// The changed lines and those around them, for people.
    pub fn diff(&self) -> String {
        let text = |state: &Option<String>| state.clone().unwrap_or_default();
        diff(&text(&self.before), &text(&self.after))
    }

    /// Replaces the file as a whole. It keeps its mode and its owner.
    ///
    /// # Errors
    ///
    /// If another program has changed the file meanwhile, if it is read-only, or if the system refuses.
    /// Then the file stays as it was.
    pub fn carry_out(&self) -> Result<(), Error> {
        if self.changes_nothing() {
            return Ok(());
        }
        let file = &self.file;
        let backup = backup_of(&self.file);
        if fs::metadata(file).is_ok_and(|found| found.permissions().readonly()) {
            let reason = "it is read-only: make it writable".to_owned();
            return Err(malformed(file, reason));
        }
        if let Some(directory) = file.parent() {
            fs::create_dir_all(directory).map_err(|error| io("create", directory, error))?;
        }
        self.check_unchanged()?;
        if let (Backup::Made, Some(before)) = (self.backup, &self.before) {
            // Remove an existing backup first: it may be a link, which must not be followed.
            remove(&backup).map_err(|error| io("replace", &backup, error))?;
            let written = write_new(&backup, before, file);
            written.map_err(|error| io("write", &backup, error))?;
        }
        let replaced = self.replace();
        let is_needless = match &replaced {
            Ok(()) => self.backup == Backup::Removed,
            // If the file has changed meanwhile, keep the backup: another program may have made it.
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
        // The name has the process id, so that two runs do not write the same file.
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
        Err(malformed(&self.file, reason))
    }
}

/// The program or the URL in this program's entry in a client's file. `None` if it has no such entry.
///
/// # Errors
///
/// If the file cannot be read.
pub fn installed(file: &Path, client: Client) -> Result<Option<Server>, Error> {
    let entry = found(file, Format::of_servers(client))?.entry;
    Ok(entry.map(|entry| Server::from_entry(&entry)))
}

/// The hooks in a client's file that start this program, each with the words of its command line.
///
/// # Errors
///
/// If the file cannot be read.
pub fn installed_hooks(file: &Path, client: Client) -> Result<Vec<(Event, Vec<String>)>, Error> {
    let hooks = found(file, Format::of_hooks(client))?.hooks;
    let line = |handler| command_line(handler).unwrap_or_default();
    Ok(hooks.iter().map(|(event, handler)| (*event, line(handler))).collect())
}

fn found(file: &Path, format: Format) -> Result<Ours, Error> {
    let file = behind_links(file)?;
    let text = read(&file)?.unwrap_or_default();
    format.found(&text).map_err(|reason| malformed(&file, reason))
}

/// Whether the backup beside the file has parts of this program.
fn has_kept_ours(format: Format, file: &Path) -> bool {
    let kept = read(&backup_of(file)).ok().flatten();
    kept.is_some_and(|kept| format.found(&kept).is_ok_and(|found| !found.is_empty()))
}

/// The file without this program's parts: the backup, or `Some(None)` if there was no file. `None` if
/// it is unknown: the file must have changed otherwise since, because adding the parts does not give
/// its present text.
fn base(format: Format, file: &Path, text: &str, found: &Ours) -> Option<Option<String>> {
    let ours = found.as_wanted();
    let leads_here = |from: &str| format.with(from, &ours).as_deref() == Ok(text);
    match read(&backup_of(file)).ok().flatten() {
        Some(kept) if format.found(&kept) == Ok(Ours::default()) && leads_here(&kept) => {
            Some(Some(kept))
        }
        None if leads_here("") => Some(None),
        _ => None,
    }
}
