//! A folder to import: its files and their texts.

use crate::cli::Error;
use crate::storage::MAX_DOCUMENT_BYTES;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The maximum number of files in a folder.
const MAX_FILES: usize = 100_000;

/// The files of a folder. Names that begin with a dot are left out.
pub(super) struct Folder {
    root: PathBuf,
    /// The paths of its files, with `/` between their segments, in order.
    pub(super) files: Vec<String>,
    /// The files that cannot be imported, with the reasons.
    pub(super) skipped: Vec<(String, String)>,
}

impl Folder {
    /// Finds the files of a folder. It follows no symbolic links below it.
    pub(super) fn new(root: &Path) -> Result<Folder, Error> {
        let mut folder = Folder { root: root.to_owned(), files: Vec::new(), skipped: Vec::new() };
        let shown = root.display();
        // The name of the folder itself may be a link.
        if !fs::metadata(root).is_ok_and(|found| found.is_dir()) {
            return Err(Error::usage(format!("`{shown}` is no directory")));
        }
        let mut directories = vec![String::new()];
        while let Some(directory) = directories.pop() {
            if let Err(error) = folder.list(&directory, &mut directories) {
                if directory.is_empty() {
                    return Err(Error::usage(format!("`{shown}` cannot be read: {error}")));
                }
                folder.skipped.push((directory, format!("it cannot be read: {error}")));
            }
            if folder.files.len() > MAX_FILES {
                return Err(Error::usage(format!(
                    "`{shown}` has more than {MAX_FILES} files: import its directories one by one"
                )));
            }
        }
        folder.files.sort();
        folder.skipped.sort();
        Ok(folder)
    }

    /// Adds the files and directories that are directly in a directory.
    fn list(&mut self, directory: &str, directories: &mut Vec<String>) -> std::io::Result<()> {
        for entry in fs::read_dir(self.root.join(directory))? {
            let entry = entry?;
            let name = entry.file_name();
            let path = join(directory, &name.to_string_lossy());
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            if name.to_str().is_none() {
                self.skipped.push((path, "its name is not UTF-8: rename it".to_owned()));
                continue;
            }
            let kind = entry.file_type()?;
            if kind.is_symlink() {
                self.skipped.push((path, "it is a symbolic link".to_owned()));
            } else if kind.is_dir() {
                directories.push(path);
            } else if kind.is_file() {
                self.files.push(path);
            } else {
                self.skipped.push((path, "it is neither a file nor a directory".to_owned()));
            }
        }
        Ok(())
    }

    /// The text of a file, or the reason why it cannot be imported.
    pub(super) fn read(&self, file: &str) -> Result<String, String> {
        let mut bytes = Vec::new();
        let opened = File::open(self.root.join(file));
        let opened = opened.map(|file| file.take(MAX_DOCUMENT_BYTES + 1));
        let read = opened.and_then(|mut file| file.read_to_end(&mut bytes));
        read.map_err(|error| format!("it cannot be read: {error}"))?;
        if bytes.len() as u64 > MAX_DOCUMENT_BYTES {
            return Err("it has more than 16 MiB: split it".to_owned());
        }
        String::from_utf8(bytes).map_err(|_| "it is not UTF-8: save it as UTF-8".to_owned())
    }
}

fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}
