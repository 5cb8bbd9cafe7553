//! A directory with a file of a client.

use std::fs;
use std::path::PathBuf;

/// A directory with a file `settings`.
pub struct Scene {
    pub directory: tempfile::TempDir,
}

impl Scene {
    pub fn new() -> Self {
        Scene { directory: tempfile::tempdir().unwrap() }
    }

    pub fn file(&self) -> PathBuf {
        self.directory.path().join("settings")
    }

    pub fn with(bytes: &[u8]) -> Self {
        let scene = Scene::new();
        fs::write(scene.file(), bytes).unwrap();
        scene
    }

    pub fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.directory.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}
