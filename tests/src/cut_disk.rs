//! A disk whose power can be cut: an ext4 file system in a loop device. Its image is on XFS, where it
//! can be cloned in one step.
//!
//! A clone holds everything that ext4 has written to its device, and nothing that is only in memory.
//! The loss of a disk's own cache is not simulated.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// The sizes of the sparse images, as `truncate` takes them.
const XFS_SIZE: &str = "8G";
const EXT4_SIZE: &str = "1G";
/// Data that no program syncs is written only once a minute, so a cut loses it.
const EXT4_OPTIONS: &str = "commit=60";
const IMAGE: &str = "ext4.img";

/// An ext4 file system whose power can be cut.
#[derive(Debug)]
pub struct CutDisk {
    // Dropped in this order, since the XFS file system holds the image of the ext4 one.
    ext4: Mounted,
    xfs: Mounted,
    _images: TempDir,
}

/// The contents of the disk at the moment of a cut, mounted after the replay of its journal.
#[derive(Debug)]
pub struct Cut {
    mounted: Mounted,
    image: PathBuf,
}

impl CutDisk {
    /// Makes a disk. Needs root, loop devices, `mkfs.xfs` and `mkfs.ext4`.
    ///
    /// # Errors
    ///
    /// A message that says what is missing.
    pub fn new() -> Result<Self, String> {
        let images = TempDir::with_prefix("agent-memory-power-").map_err(|e| e.to_string())?;
        let outer = images.path().join("xfs.img");
        run("truncate", &["--size", XFS_SIZE, text(&outer)])?;
        run("mkfs.xfs", &["-q", "-m", "reflink=1", text(&outer)])
            .map_err(|why| format!("{why} (Debian: `apt-get install xfsprogs`)"))?;
        let xfs = Mounted::new(&outer, "nouuid")?;
        let image = xfs.path().join(IMAGE);
        run("truncate", &["--size", EXT4_SIZE, text(&image)])?;
        run("mkfs.ext4", &["-q", "-i", "8192", text(&image)])
            .map_err(|why| format!("{why} (Debian: `apt-get install e2fsprogs`)"))?;
        let ext4 = Mounted::new(&image, EXT4_OPTIONS)?;
        Ok(Self { ext4, xfs, _images: images })
    }

    /// The directory of the file system.
    pub fn path(&self) -> &Path {
        self.ext4.path()
    }

    /// Cuts the power: mounts a clone of the disk as it is now.
    ///
    /// # Errors
    ///
    /// If it cannot be cloned, or if the clone cannot be mounted because its journal is damaged.
    pub fn cut(&self) -> Result<Cut, String> {
        let image = self.xfs.path().join("cut.img");
        let from = self.xfs.path().join(IMAGE);
        run("cp", &["--reflink=always", text(&from), text(&image)])?;
        Ok(Cut { mounted: Mounted::new(&image, EXT4_OPTIONS)?, image })
    }
}

impl Cut {
    /// The directory of the file system.
    pub fn path(&self) -> &Path {
        self.mounted.path()
    }
}

impl Drop for Cut {
    fn drop(&mut self) {
        // The mounted file system keeps the unlinked file until it is unmounted.
        let _ = fs::remove_file(&self.image);
    }
}

/// A mounted file system in a loop device, which is freed with the mount.
#[derive(Debug)]
struct Mounted(TempDir);

impl Mounted {
    fn new(image: &Path, options: &str) -> Result<Self, String> {
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
            // A file there is still open.
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
