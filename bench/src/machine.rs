//! The description of the machine that is printed with the figures.

use std::path::Path;
use std::{fs, thread};

use serde_json::{Value, json};

pub struct Machine {
    pub cores: usize,
    pub file_system: String,
}

impl Machine {
    /// This machine, and the file system of the directory.
    pub fn new(directory: &Path) -> Self {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        Self {
            cores: thread::available_parallelism().map_or(1, usize::from),
            file_system: file_system(&mounts, directory).unwrap_or("unknown").to_owned(),
        }
    }

    pub fn shown(&self) -> String {
        let cores = if self.cores == 1 { "core" } else { "cores" };
        format!("{} {cores}, file system {}", self.cores, self.file_system)
    }

    pub fn to_json(&self) -> Value {
        json!({"cores": self.cores, "file_system": self.file_system})
    }
}

/// The file system type of the innermost mount that contains the directory.
fn file_system<'a>(mounts: &'a str, directory: &Path) -> Option<&'a str> {
    let mounts = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let at = fields.next()?;
        let kind = fields.next()?;
        directory.starts_with(at).then_some((at.len(), kind))
    });
    mounts.max_by_key(|(length, _)| *length).map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_on_the_innermost_mount_and_the_latest_one_there() {
        let mounts = "/dev/a / ext4 rw 0 0\nnone /tmp tmpfs rw 0 0\n/dev/b /tm xfs rw 0 0\n\
                      /dev/c /tmp btrfs rw 0 0\n";
        assert_eq!(file_system(mounts, Path::new("/tmp/x")), Some("btrfs"));
        assert_eq!(file_system(mounts, Path::new("/home")), Some("ext4"));
        assert_eq!(file_system("", Path::new("/home")), None);
    }
}
