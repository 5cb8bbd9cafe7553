use crate::cli::output::print;
use crate::cli::{Error, help, program};
use agent_memory_storage_files::{canonical, display};
use clap::Args;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, ExitCode, Stdio};

/// Show a session in a scratch repository: start it, add an entry, read the summary.
///
/// It starts a server as an MCP client would, and shows the messages of the session.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[include_str!("help/demo.txt")]))]
pub struct Demo {
    /// Keep the scratch repository, and print its path
    #[arg(long)]
    keep: bool,
}

/// The agent of the demo.
const AGENT: &str = "aristotle";

impl Demo {
    pub(in crate::cli) fn run(self) -> Result<ExitCode, Error> {
        let scratch = Scratch::new(self.keep).map_err(failed("the scratch repository"))?;
        let root = display(&scratch.root);
        print(&format!("A scratch repository: {root}"))?;
        let mut server = Server::start(&scratch.root).map_err(failed("the server"))?;
        print("A server, started in it: agent-memory serve\n")?;

        print("An agent starts its session of today:")?;
        let started =
            server.call("start_session", json!({"agent_name": AGENT, "repo_root": root}))?;
        print("\nIt writes down what was decided:")?;
        let entry = json!({
            "agent_name": AGENT,
            "repo_root": root,
            "section": "Decisions",
            "content": "- Memory is kept as Markdown, so that people can review it.",
        });
        server.call("append_entry", entry)?;
        print("\nIts next session begins with the summary:")?;
        server.call("read_summary", json!({"agent_name": AGENT, "repo_root": root}))?;
        server.end().map_err(failed("the server"))?;

        print("\nThe repository now holds:")?;
        for file in files(&scratch.root.join(".github")).map_err(failed("the repository"))? {
            let shown = file.strip_prefix(&scratch.root).unwrap_or(&file);
            print(&format!("  {}", display(shown)))?;
        }
        if let Some(log) = started["session_file"].as_str() {
            let text = fs::read_to_string(scratch.root.join(log)).map_err(failed("the log"))?;
            print(&format!("\n{log}:"))?;
            for line in text.lines() {
                print(format!("  | {line}").trim_end())?;
            }
        }
        if self.keep {
            print(&format!("\nKept: {root}"))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn failed(what: &str) -> impl FnOnce(io::Error) -> Error {
    move |error| Error::storage(format!("{what} failed: {error}"))
}

/// A directory that looks like a new Git repository; it is removed unless it is kept.
struct Scratch {
    root: PathBuf,
    keep: bool,
}

impl Scratch {
    fn new(keep: bool) -> io::Result<Scratch> {
        let parent = canonical(&std::env::temp_dir())?;
        let root = parent.join(format!("agent-memory-demo-{}", std::process::id()));
        fs::create_dir(&root)?;
        let scratch = Scratch { root, keep };
        let git = scratch.root.join(".git");
        fs::create_dir_all(git.join("objects"))?;
        fs::create_dir_all(git.join("refs/heads"))?;
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n")?;
        fs::write(git.join("config"), "[core]\n\trepositoryformatversion = 0\n\tbare = false\n")?;
        Ok(scratch)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.keep {
            let _ = fs::remove_dir_all(&self.root);
        }
    }
}

/// A client of `agent-memory serve`, with protocol version 2026-07-28.
struct Server {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    last: u64,
}

impl Server {
    fn start(repository: &Path) -> io::Result<Server> {
        let mut serve = program::again();
        serve.args(["serve", "--log-level", "error"]);
        serve.current_dir(repository).env_remove("CLAUDE_PROJECT_DIR");
        // The settings of other servers must not change the demo.
        let ours = |name: &str| name.starts_with("AGENT_MEMORY_");
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(ours) {
                serve.env_remove(name);
            }
        }
        let mut process = serve.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        Ok(Server {
            requests: process.stdin.take().ok_or_else(gone)?,
            answers: BufReader::new(process.stdout.take().ok_or_else(gone)?),
            process,
            last: 0,
        })
    }

    /// Calls a tool, shows the request and the answer, and returns the structured result.
    fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, Error> {
        print(&format!("  -> {tool} {arguments}"))?;
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let mut answer = answer.map_err(failed("the server"))?;
        let result = &mut answer["result"];
        if result["isError"] == true || result["structuredContent"].is_null() {
            return Err(Error::tool(format!("`{tool}` answered {answer}")));
        }
        let result = result["structuredContent"].take();
        print(&format!("  <- {result}"))?;
        Ok(result)
    }

    fn request(&mut self, method: &str, mut params: Value) -> io::Result<Value> {
        self.last += 1;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {
                "name": "agent-memory demo",
                "version": env!("CARGO_PKG_VERSION"),
            },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let request =
            json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params});
        writeln!(self.requests, "{request}")?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        serde_json::from_str(&answer).map_err(io::Error::from)
    }

    /// Ends the server's input, as a client does, and waits for its end.
    fn end(self) -> io::Result<()> {
        let Server { mut process, requests, .. } = self;
        drop(requests);
        process.wait().map(drop)
    }
}

/// The files below a directory, sorted by name.
fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut entries: Vec<_> = fs::read_dir(directory)?.collect::<io::Result<_>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    let mut found = Vec::new();
    for entry in entries {
        if entry.file_type()?.is_dir() {
            found.extend(files(&entry.path())?);
        } else {
            found.push(entry.path());
        }
    }
    Ok(found)
}
