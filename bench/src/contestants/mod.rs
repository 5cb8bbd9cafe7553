//! The contestants, from bare operations to a client of the MCP server.

mod asked;
mod bare;
mod component;
mod core;
mod library;
mod package;
mod server;

pub use asked::{Asked, ask};
pub use bare::{BareAppend, BareRead, CoreThenBare};
pub use component::Component;
pub use core::Core;
pub use library::Library;
pub use package::{Package, Program, turn};
pub use server::{Server, handshake, request, serve, stateless_request};

use std::io;
use std::path::Path;

use crate::comparison::{Aim, Comparison, Contestant};
use crate::work::{self, Calls, Work};

/// Two comparisons for one kind of call. In memory, the component is compared with the same code
/// compiled natively. On disk, the product is compared with bare file operations.
pub struct Lineup<'a> {
    pub title: &'a str,
    pub work: Work,
    /// Makes the calls of a turn, for the repository at a path.
    pub calls: &'a dyn Fn(&Work, &str) -> Calls,
    /// The turns of a round in memory, and on disk.
    pub turns: [usize; 2],
}

impl Lineup<'_> {
    /// With storage in memory.
    pub fn in_memory(&self, aims: Vec<Aim>) -> io::Result<Comparison> {
        let calls = || (self.calls)(&self.work, work::NOWHERE);
        Ok(Comparison {
            title: format!("{}, storage in memory", self.title),
            contestants: vec![
                Box::new(Core::new(self.work.clone(), &calls())),
                Box::new(Component::new(self.work.clone(), &calls()).map_err(io::Error::other)?),
            ],
            turns: self.turns[0],
            aims,
            absent: Vec::new(),
        })
    }

    /// On disk, where each contestant has a repository of its own.
    pub fn on_disk(
        &self,
        directory: &Path,
        bare: &[&dyn Fn(Disk) -> Box<dyn Contestant>],
        aims: Vec<Aim>,
    ) -> io::Result<Comparison> {
        let disk = || Disk::new(directory, self.work.clone(), self.calls);
        let mut contestants = Vec::new();
        for bare in bare {
            contestants.push(bare(disk()?));
        }
        contestants.push(Box::new(Library::new(disk()?)?));
        contestants.push(Box::new(Server::new(disk()?)?));
        let mut absent = Vec::new();
        for (name, program) in crate::programs::packages() {
            match program {
                Ok(program) => contestants.push(Box::new(Package::new(name, disk()?, program)?)),
                Err(why) => absent.push(format!("{name}: {why}")),
            }
        }
        let title = format!("{}, on disk", self.title);
        Ok(Comparison { title, contestants, turns: self.turns[1], aims, absent })
    }
}

/// A repository on disk, and the calls on it.
pub struct Disk {
    repository: tempfile::TempDir,
    work: Work,
    calls: Calls,
}

impl Disk {
    fn new(directory: &Path, work: Work, calls: &dyn Fn(&Work, &str) -> Calls) -> io::Result<Self> {
        let repository = work::repository(directory)?;
        let calls = calls(&work, path_text(repository.path())?);
        Ok(Self { repository, work, calls })
    }

    fn put_back(&self) -> io::Result<()> {
        self.work.put(self.repository.path())
    }
}

pub fn path_text(path: &Path) -> io::Result<&str> {
    path.to_str().ok_or_else(|| io::Error::other(format!("{} is not UTF-8", path.display())))
}

/// The error for a call that did not succeed.
pub fn refused(tool: &str, answer: &str) -> io::Error {
    io::Error::other(format!("`{tool}` answered {answer}"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use agent_memory_core::storage::{Area, Place};
    use agent_memory_storage_memory::MemoryStorage;

    use super::*;

    fn appends(work: &Work, repository: &str) -> Calls {
        work.appends(repository)
    }

    fn takes_a_turn(contestant: &mut dyn Contestant) {
        contestant.prepare().expect("storage is put back");
        contestant.take_turn().expect("the calls are made");
    }

    fn logs_in_memory(storage: &MemoryStorage) -> Vec<Vec<u8>> {
        let documents = storage.documents(&Place::repository(work::NOWHERE), Area::Documents);
        let logs = documents.into_iter().filter(|(path, _)| path.contains("/logs/"));
        logs.map(|(_, contents)| contents).collect()
    }

    #[test]
    fn every_way_to_append_leaves_the_same_logs_turn_after_turn() {
        let work = Work::new(4 << 10, 2);
        let calls = work.appends(work::NOWHERE);
        let mut core = Core::new(work.clone(), &calls);
        let mut component = Component::new(work.clone(), &calls).expect("the image loads");
        let elsewhere = tempfile::tempdir().expect("a directory");
        let disk = || Disk::new(elsewhere.path(), work.clone(), &appends).expect("a repository");
        let bare = disk();
        let library = disk();
        let on_disk = [&bare, &library].map(|disk| work.logs(disk.repository.path()));
        let mut bare = BareAppend::new(bare);
        let mut library = Library::new(library).expect("the library opens it");
        for _ in 0..2 {
            takes_a_turn(&mut core);
            takes_a_turn(&mut component);
            takes_a_turn(&mut bare);
            takes_a_turn(&mut library);
            let expected = logs_in_memory(core.storage());
            let text = String::from_utf8_lossy(&expected[0]);
            assert_eq!(text.matches(work::ENTRY).count(), 1, "{text}");
            assert!((4000..4400).contains(&text.len()), "{}", text.len());
            assert!(logs_in_memory(component.storage()) == expected, "the component's differ");
            for logs in &on_disk {
                let logs: Vec<_> = logs.iter().map(|log| fs::read(log).expect("a log")).collect();
                assert!(logs == expected, "those on disk differ");
            }
        }
    }
}
