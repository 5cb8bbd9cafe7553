//! A disk whose power can be cut: an ext4 file system in a loop device. Its image lies on XFS, where
//! it can be cloned in one step.
//!
//! A clone holds all that ext4 had written to its device, and nothing that was only in memory. What
//! a disk may lose of its own cache is not part of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// Sizes of the images, as `truncate` takes them. They take what is written to them.
const XFS_SIZE: &str = "8G";
const EXT4_SIZE: &str = "1G";
/// Nothing is written to the device for a minute but what a program asks for.
const EXT4_OPTIONS: &str = "commit=60";
const IMAGE: &str = "ext4.img";

/// The disk.
#[derive(Debug)]
pub struct CutDisk {
    // Dropped in this order: the file system in the image goes before the one that holds it.
    ext4: Mounted,
    xfs: Mounted,
    _images: TempDir,
}

/// What the disk held at a moment, as a file system of its own, whose journal was replayed.
#[derive(Debug)]
pub struct Cut {
    mounted: Mounted,
    image: PathBuf,
}

impl CutDisk {
    /// A new one. Needs root, loop devices, `mkfs.xfs` and `mkfs.ext4`.
    ///
    /// # Errors
    ///
    /// What is missing, for a person.
    pub fn new() -> Result<Self, String> {
        let images = TempDir::with_prefix("agent-memory-power-").map_err(|e| e.to_string())?;
        let outer = images.path().join("xfs.img");
        run("truncate", &["--size", XFS_SIZE, text(&outer)])?;
        run("mkfs.xfs", &["-q", "-m", "reflink=1", text(&outer)])
            .map_err(|why| format!("{why} (Debian: `apt-get install xfsprogs`)"))?;
        let xfs = Mounted::of(&outer, "nouuid")?;
        let image = xfs.path().join(IMAGE);
        run("truncate", &["--size", EXT4_SIZE, text(&image)])?;
        run("mkfs.ext4", &["-q", "-i", "8192", text(&image)])
            .map_err(|why| format!("{why} (Debian: `apt-get install e2fsprogs`)"))?;
        let ext4 = Mounted::of(&image, EXT4_OPTIONS)?;
        Ok(Self { ext4, xfs, _images: images })
    }

    /// Where the file system is.
    pub fn path(&self) -> &Path {
        self.ext4.path()
    }

    /// What the disk holds now.
    ///
    /// # Errors
    ///
    /// Where it cannot be cloned, or the clone not mounted: then its journal is damaged.
    pub fn cut(&self) -> Result<Cut, String> {
        let image = self.xfs.path().join("cut.img");
        let from = self.xfs.path().join(IMAGE);
        run("cp", &["--reflink=always", text(&from), text(&image)])?;
        Ok(Cut { mounted: Mounted::of(&image, EXT4_OPTIONS)?, image })
    }
}

impl Cut {
    /// Where the file system is.
    pub fn path(&self) -> &Path {
        self.mounted.path()
    }
}

impl Drop for Cut {
    fn drop(&mut self) {
        // The file system goes on in the file that has no name any more, until it is unmounted.
        let _ = fs::remove_file(&self.image);
    }
}

/// A file system in a loop device, which goes with the mount.
#[derive(Debug)]
struct Mounted(TempDir);

impl Mounted {
    fn of(image: &Path, options: &str) -> Result<Self, String> {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let options = format!("loop,{options}");
        run("mount", &["-o", &options, text(image), text(directory.path())])?;
        Ok(Self(directory))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let directory = text(self.path());
        if run("umount", &[directory]).is_err() {
            // Somebody still has a file open there.
            let _ = run("umount", &["--lazy", directory]);
        }
    }
}

fn run(program: &str, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|error| format!("`{program}` cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(format!("`{program} {}` failed: {said}", arguments.join(" ")))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("scratch paths are UTF-8")
}
