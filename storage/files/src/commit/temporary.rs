//! Writing the temporary files, which a commit later renames to the documents.

use std::io::{self, Read, Write};
use std::thread;

use agent_memory_storage::{
    Change, Error, MAX_DOCUMENT_BYTES, Splice, check_size, hexadecimal, version_mismatch,
    version_of,
};
use sha2::{Digest, Sha256};

use super::{Attempt, Step};
use crate::cache::LONG;
use crate::directory::{File, set_mode};
use crate::durability::Durability;
use crate::errno::Errno;
use crate::error::{errno_error, io_error};

impl Attempt<'_> {
    pub fn write_temporary(&mut self, index: usize) -> Result<(), Error> {
        let change = self.steps[index].change;
        let is_written = !matches!(change, Change::Delete { .. } | Change::Rename { .. });
        if !is_written || self.link_temporary(index)? {
            return Ok(());
        }
        let attempt = || format!("write `{}`", change.path());
        let edited = self.edited(index)?;
        let parent = self.existing(&self.steps[index].parent.clone())?;
        let step = &mut self.steps[index];
        // A backup, like a new version, gets the mode of the document: not more users may read it.
        let mode = match step.found {
            _ if self.tree.layout().is_private() => 0o600,
            Some(found) => found.mode,
            None => 0o666,
        };
        let mut file = match parent.create_file(&step.temporary, mode) {
            // A writer that died left the file behind.
            Err(Errno::EXIST) => parent
                .remove_file(&step.temporary)
                .and_then(|()| parent.create_file(&step.temporary, mode)),
            other => other,
        }
        .map_err(|errno| errno_error(errno, &attempt()))?;
        step.written = true;
        if step.found.is_some() || self.tree.layout().is_private() {
            set_mode(&file, mode).map_err(|errno| errno_error(errno, &attempt()))?;
        }
        // Also with relaxed durability, a new document is synced: it could be empty after a loss of
        // power.
        let is_synced = self.tree.durability() == Durability::Full || !step.replaces;
        let sync = |file: &File| if is_synced { file.sync_data() } else { Ok(()) };
        let contents = match change {
            Change::Put { contents, .. } => Some(contents),
            _ => edited.as_ref(),
        };
        let written = match (change, contents) {
            (_, Some(contents)) => {
                let write = || file.write_all(contents).and_then(|()| sync(&file));
                let (written, version) = while_hashed(contents, write);
                step.version = Some(version);
                written
            }
            (Change::Copy { from, expects, .. }, None) => {
                // An editor may have saved the document since its version was checked.
                let Some((source, _)) = self.open_checked(index)? else {
                    return Err(version_mismatch(from));
                };
                match pass_on(source.take(MAX_DOCUMENT_BYTES), &mut file) {
                    Ok(version) if version != *expects => return Err(version_mismatch(from)),
                    copied => copied.and_then(|_| sync(&file)),
                }
            }
            _ => unreachable!("what is put or edited has contents, and nothing else is written"),
        };
        written.map_err(|error| io_error(&error, &attempt()))?;
        // Only the last edited document is kept, to bound the memory of a commit with many edits.
        self.edited = edited.map(|contents| (index, contents));
        Ok(())
    }

    /// The new contents of an edited document, or `None` for any other change. The old contents
    /// come from the cache or from the file.
    fn edited(&mut self, index: usize) -> Result<Option<Vec<u8>>, Error> {
        let Change::Edit { path, splices, expects, .. } = self.steps[index].change else {
            return Ok(None);
        };
        self.edited = None;
        let before = match self.tree.cache().take(expects) {
            Some(contents) => contents,
            None => {
                let mut contents = Vec::new();
                let Some((file, metadata)) = self.open_checked(index)? else {
                    return Err(version_mismatch(path));
                };
                contents.reserve_exact(metadata.size as usize);
                file.take(MAX_DOCUMENT_BYTES + 1)
                    .read_to_end(&mut contents)
                    .map_err(|error| io_error(&error, &format!("read `{path}`")))?;
                // An editor may have saved the document since its version was checked.
                if version_of(&contents) != *expects {
                    return Err(version_mismatch(path));
                }
                contents
            }
        };
        let edited = Splice::all(splices, before).ok_or_else(|| version_mismatch(path))?;
        check_size(path, edited.len() as u64)?;
        Ok(Some(edited))
    }

    /// Makes a hard link to the document as the temporary file of its backup, instead of a copy. Returns
    /// false if only a copy is possible: the medium does not link the file, its mode is not private
    /// enough, or no change of the commit replaces the document. In the last case, document and backup
    /// would stay one file, and an editor that writes in place would change both.
    fn link_temporary(&mut self, index: usize) -> Result<bool, Error> {
        let Change::Copy { area, from, to, .. } = self.steps[index].change else {
            return Ok(false);
        };
        let replaces = |step: &Step<'_>| step.change.area() == *area && step.change.path() == from;
        let found = self.steps[index].found.expect("its version was checked");
        if !self.steps.iter().any(replaces)
            || self.tree.layout().is_private() && found.mode != 0o600
        {
            return Ok(false);
        }
        let (location, name) = self.steps[index].checked.clone();
        let document = self.existing(&location)?;
        let parent = self.existing(&self.steps[index].parent.clone())?;
        let step = &mut self.steps[index];
        let link = || document.link_into(name, &parent, &step.temporary);
        let linked = match link() {
            // A writer that died left the file behind.
            Err(Errno::EXIST) => parent.remove_file(&step.temporary).and_then(|()| link()),
            other => other,
        };
        let failed = |errno| errno_error(errno, &format!("write `{to}`"));
        match linked {
            Ok(()) => {}
            Err(Errno::NOENT) => return Err(version_mismatch(from)),
            // The medium does not support hard links, or allows none to this file.
            Err(
                Errno::PERM
                | Errno::ACCESS
                | Errno::OPNOTSUPP
                | Errno::NOSYS
                | Errno::MLINK
                | Errno::XDEV,
            ) => return Ok(false),
            Err(errno) => return Err(failed(errno)),
        }
        step.written = true;
        step.linked = true;
        if parent.metadata(&step.temporary).map_err(failed)? != step.found {
            return Err(version_mismatch(from));
        }
        Ok(true)
    }
}

/// Does `work`, and returns its result and the version of `contents`. Long contents are hashed at the
/// same time on another thread, if the system has threads.
fn while_hashed<T>(contents: &[u8], work: impl FnOnce() -> T) -> (T, String) {
    if contents.len() < LONG {
        return (work(), version_of(contents));
    }
    thread::scope(|scope| {
        let hashing = thread::Builder::new().spawn_scoped(scope, || version_of(contents));
        let done = work();
        let hashed = hashing.ok().and_then(|thread| thread.join().ok());
        (done, hashed.unwrap_or_else(|| version_of(contents)))
    })
}

/// Copies a document, and returns its version.
fn pass_on(mut from: impl Read, mut to: impl Write) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(hexadecimal(digest.finalize())),
            count => {
                digest.update(&buffer[..count]);
                to.write_all(&buffer[..count])?;
            }
        }
    }
}
