//! `bench languages`: the packages for Node and Python, and the plugin, beside the native library.

use std::io;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;

use crate::How;
use crate::comparison::{Comparison, Contestant, Cost};
use crate::contestants::{Program, path_text, turn};
use crate::programs::{self, PLUGIN};
use crate::work::{self, Calls, Work};

const NATIVE: &str = "the library";

/// A part of a program's start.
#[derive(Clone, Copy)]
enum Phase {
    Import,
    Open,
    FirstCall,
}

pub fn comparisons(how: &How, directory: &Path) -> io::Result<Vec<Comparison>> {
    let repository = Rc::new(work::repository(directory)?);
    Work::new(0, 1).put(repository.path())?;
    let phases = [
        (Phase::Import, "loading the package"),
        (Phase::Open, "opening a memory"),
        (Phase::FirstCall, "the first `read_summary` of a program"),
    ];
    let mut comparisons = Vec::new();
    for (phase, title) in phases {
        let mut contestants: Vec<Box<dyn Contestant>> = Vec::new();
        let mut absent = Vec::new();
        for (name, program) in all() {
            match (phase, name) {
                // The native library is linked in: there is nothing to load.
                (Phase::Import, NATIVE) => {}
                // Not measured: at the first start of each version of the plugin, wasmtime compiles it.
                (_, PLUGIN) => {}
                _ => match program {
                    Ok(mut program) => {
                        program.arg(repository.path());
                        let turn = read(&repository)?;
                        let _repository = repository.clone();
                        contestants.push(Box::new(Start {
                            name,
                            phase,
                            program,
                            turn,
                            _repository,
                        }));
                    }
                    Err(why) => absent.push(format!("{name}: {why}")),
                },
            }
        }
        if contestants.is_empty() {
            continue;
        }
        let title = title.to_owned();
        comparisons.push(Comparison {
            title,
            contestants,
            turns: how.either(1, 5),
            aims: Vec::new(),
            absent,
        });
    }
    comparisons.push(adds(how, directory)?);
    Ok(comparisons)
}

/// The programs, or the reasons why they do not take part.
fn all() -> Vec<(&'static str, Result<Command, String>)> {
    let native = programs::built("timed-calls").map(Command::new);
    let mut all = vec![(NATIVE, native.map_err(|error| error.to_string()))];
    all.extend(programs::packages());
    all
}

fn read(repository: &TempDir) -> io::Result<String> {
    let Calls { tool, arguments } = Calls::reads(path_text(repository.path())?, 1);
    Ok(turn(tool, &arguments))
}

/// Adds of a memory to a file, on disk.
fn adds(how: &How, directory: &Path) -> io::Result<Comparison> {
    let mut contestants: Vec<Box<dyn Contestant>> = Vec::new();
    let mut absent = Vec::new();
    for (name, program) in all() {
        match program {
            Ok(mut program) => {
                let repository = work::repository(directory)?;
                let program = Program::start(program.arg(repository.path()))?;
                let calls = how.either(2, 10);
                contestants.push(Box::new(Adds { name, program, calls, _repository: repository }));
            }
            Err(why) => absent.push(format!("{name}: {why}")),
        }
    }
    Ok(Comparison {
        title: "an add of a memory in JSON, on disk".to_owned(),
        contestants,
        turns: how.either(1, 5),
        aims: Vec::new(),
        absent,
    })
}

/// A program that is started in each turn. Only the time of one phase counts.
struct Start {
    name: &'static str,
    phase: Phase,
    program: Command,
    turn: String,
    /// Removed with the last contestant that uses it.
    _repository: Rc<TempDir>,
}

impl Contestant for Start {
    fn name(&self) -> &str {
        self.name
    }

    fn take_turn(&mut self) -> io::Result<Cost> {
        let mut program = Program::start(&mut self.program)?;
        let [import, open] = program.opened()?;
        let whole = |wall: Duration| Cost { calls: 1, wall, cpu: None };
        match self.phase {
            Phase::Import => Ok(whole(import)),
            Phase::Open => Ok(whole(open)),
            Phase::FirstCall => program.turn(&self.turn, 1),
        }
    }
}

/// A program that adds memories.
struct Adds {
    name: &'static str,
    program: Program,
    calls: usize,
    /// Removed with the program.
    _repository: TempDir,
}

impl Contestant for Adds {
    fn name(&self) -> &str {
        self.name
    }

    fn take_turn(&mut self) -> io::Result<Cost> {
        let memory = json!({"type": "learning", "content": work::ENTRY});
        let adds = vec![memory; self.calls];
        self.program.turn(&turn("store_memory", &adds), self.calls)
    }
}
