//! The writers of races, one program a host. A writer appends entries to a session log, and prints
//! `ok ID-N MILLISECONDS` or `error ...` for each.

use std::process::Command;

use crate::product::{node_program, program};
use crate::runners::{plugin, python};

/// The host of a writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// The library of the native host.
    Native,
    /// The Node package.
    Node,
    /// The Python package.
    Python,
    /// The plugin.
    Plugin,
}

impl Host {
    /// The name of the host, with which the names of its writers begin.
    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    /// The program of its writers. It takes `REPOSITORY AGENT COUNT ID LOCK-WAIT`, the wait in
    /// milliseconds.
    ///
    /// # Panics
    ///
    /// If it is not built, or is older than its sources.
    pub fn writer(self) -> Command {
        match self {
            Self::Native => Command::new(program("race-writer")),
            Self::Node => {
                let (node, writer) = node_program("race-writer.js").expect("it is built");
                let mut command = Command::new(node);
                command.arg(writer);
                command
            }
            Self::Python => python::program("race_writer.py").expect("it is built"),
            Self::Plugin => plugin::program("race_writer_of_plugin.py").expect("it is built"),
        }
    }
}
