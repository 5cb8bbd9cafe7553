//! `bench start`: exec to the first result of `read_summary`.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, io};

use clap::Args;
use serde_json::{Value, json};

/// What the ratio may be at most.
const GATE: f64 = 3.0;

const SUMMARY: &str = "# Agent Summary\n\n## Overview\n\nWhat lasts.\n";

#[derive(Args)]
pub struct Start {
    /// Rounds: in each, all contestants take turns.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Starts of each contestant in a round; their median counts.
    #[arg(long, default_value_t = 11)]
    starts: usize,
}

impl Start {
    /// Prints the ratios; whether all of them are within the gate.
    pub fn run(&self) -> io::Result<bool> {
        let repository = repository()?;
        let contestants = contestants(repository.path())?;
        let mut rounds: Vec<Vec<Duration>> = vec![Vec::new(); contestants.len()];
        for _ in 0..self.rounds {
            let mut times = vec![Vec::new(); contestants.len()];
            for _ in 0..self.starts {
                for (contestant, times) in contestants.iter().zip(&mut times) {
                    times.push(contestant.time()?);
                }
            }
            for (times, round) in times.into_iter().zip(&mut rounds) {
                round.push(median(times));
            }
        }
        Ok(report(&contestants, &rounds))
    }
}

fn report(contestants: &[Contestant], rounds: &[Vec<Duration>]) -> bool {
    let bare = &rounds[0];
    let mut within = true;
    println!("exec to the first result of `read_summary`, {} rounds", bare.len());
    println!("{:<32} {:>8} {:>18} {:>10}", "", "ratio", "of the rounds", "median ms");
    for (contestant, times) in contestants.iter().zip(rounds) {
        let mut ratios: Vec<f64> = times
            .iter()
            .zip(bare)
            .map(|(time, bare)| time.as_secs_f64() / bare.as_secs_f64())
            .collect();
        ratios.sort_by(f64::total_cmp);
        let ratio = ratios[ratios.len() / 2];
        within &= ratio <= GATE;
        let spread = format!("{:.2} to {:.2}", ratios[0], ratios[ratios.len() - 1]);
        let milliseconds = median(times.clone()).as_secs_f64() * 1e3;
        println!("{:<32} {ratio:>8.2} {spread:>18} {milliseconds:>10.2}", contestant.name);
    }
    let verdict = if within { "within" } else { "over" };
    println!("median ratios are {verdict} the gate of {GATE}");
    within
}

/// A program that answers one call, and what it is asked.
struct Contestant {
    name: &'static str,
    program: PathBuf,
    arguments: Vec<String>,
    /// Lines to write; after each that has an id, a line is read.
    requests: Vec<Value>,
}

impl Contestant {
    /// From exec to the line that holds the summary.
    fn time(&self) -> io::Result<Duration> {
        let started = Instant::now();
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let answered = self.converse(&mut child);
        let time = started.elapsed();
        drop(child.stdin.take());
        child.wait()?;
        let line = answered?;
        match line.contains("What lasts.") {
            true => Ok(time),
            false => Err(io::Error::other(format!("{} answered {line:?}", self.name))),
        }
    }

    fn converse(&self, child: &mut Child) -> io::Result<String> {
        let mut stdin = child.stdin.as_ref().expect("piped");
        let mut stdout = BufReader::new(child.stdout.as_mut().expect("piped"));
        let mut line = String::new();
        for request in &self.requests {
            stdin.write_all(format!("{request}\n").as_bytes())?;
            if request.get("id").is_some() {
                line.clear();
                stdout.read_line(&mut line)?;
            }
        }
        if self.requests.is_empty() {
            stdout.read_line(&mut line)?;
        }
        Ok(line)
    }
}

fn contestants(repository: &Path) -> io::Result<Vec<Contestant>> {
    let own = env::current_exe()?;
    let beside = |name: &str| own.with_file_name(name);
    let root = repository.to_str().ok_or_else(|| io::Error::other("the path is not UTF-8"))?;
    let server = |name, requests| Contestant {
        name,
        program: beside("agent-memory"),
        arguments: ["serve", "--allow", root].map(str::to_owned).into(),
        requests,
    };
    let found = vec![
        Contestant {
            name: "bare host",
            program: beside("bare-host"),
            arguments: vec![root.into()],
            requests: Vec::new(),
        },
        server("agent-memory, MCP 2026-07-28", modern(root)),
        server("agent-memory, MCP 2025-11-25", older(root)),
    ];
    for contestant in &found {
        if !contestant.program.is_file() {
            let missing = contestant.program.display();
            return Err(io::Error::other(format!(
                "`{missing}` is missing: build it with `cargo build --release --workspace`"
            )));
        }
    }
    Ok(found)
}

fn call(root: &str) -> Value {
    json!({"name": "read_summary", "arguments": {"agent_name": "ada", "repo_root": root}})
}

/// One request, which carries all that the server needs to know.
fn modern(root: &str) -> Vec<Value> {
    let mut params = call(root);
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    vec![json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})]
}

/// The handshake, then the request.
fn older(root: &str) -> Vec<Value> {
    let client = json!({
        "protocolVersion": "2025-11-25",
        "clientInfo": {"name": "bench", "version": "1"},
        "capabilities": {},
    });
    vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call(root)}),
    ]
}

/// A repository in which `ada` has a summary.
fn repository() -> io::Result<tempfile::TempDir> {
    let root = tempfile::tempdir()?;
    fs::create_dir(root.path().join(".git"))?;
    fs::write(root.path().join(".git/HEAD"), "ref: refs/heads/main\n")?;
    let memory = root.path().join(".github/agent-memory/ada");
    fs::create_dir_all(&memory)?;
    fs::write(memory.join("_summary.md"), SUMMARY)?;
    Ok(root)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
