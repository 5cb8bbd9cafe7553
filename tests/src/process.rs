//! A process that answers calls: the MCP server, or a program of Node or Python with the library.

use std::collections::VecDeque;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use agent_memory_conformance::case::Format;
use agent_memory_conformance::runner::Answer;
use serde_json::{Value, json};

use crate::TIMEOUT;
use crate::line_program::LineProgram;
use crate::product::{node_program, program};
use crate::runners::mcp::tool_answer;
use crate::runners::mcp_client::stateless;
use crate::runners::{node, python};

/// The file name of the Node program, below `dist`.
pub const NODE_PROGRAM: &str = "calls.js";

/// The file name of the Python program, which takes the same requests.
const PYTHON_PROGRAM: &str = "calls.py";

/// The setting `recent_capacity` of processes with the toolset `layers`. It is small, so that many
/// summaries are made.
pub const RECENT_CAPACITY: u32 = 5;

/// The host that a process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// `agent-memory serve`, with MCP 2026-07-28.
    Native,
    /// The Node program `calls.js`.
    Node,
    /// The Python program `calls.py`, which runs the library of the native host.
    Python,
}

impl Host {
    /// The native host, and Node unless it is left out. Python runs the code of the native host.
    #[track_caller]
    pub fn all() -> &'static [Host] {
        if node::left_out(NODE_PROGRAM) { &[Self::Native] } else { &[Self::Native, Self::Node] }
    }

    /// [`all`](Self::all), and Python unless it is left out.
    #[track_caller]
    pub fn all_with_python() -> Vec<Host> {
        let python = (!python::left_out()).then_some(Self::Python);
        Self::all().iter().copied().chain(python).collect()
    }
}

/// A tool and its arguments.
#[derive(Clone, Debug)]
pub struct Call {
    /// The tool's name.
    pub tool: &'static str,
    /// A JSON object.
    pub arguments: Value,
}

/// The grant of a process.
#[derive(Clone, Copy, Debug)]
enum Granted<'a> {
    /// One repository, with the toolset `sessions`.
    Repository(&'a Path),
    /// A directory of records, with the toolset `records`; new agents get this format.
    Records(&'a Path, Format),
    /// A database of layers, with the toolset `layers`. The programs of Node and Python write the
    /// summaries themselves.
    Layers(&'a Path),
    /// A data directory, with the toolset `stores`.
    Stores(&'a Path),
}

impl Granted<'_> {
    /// The arguments of `agent-memory serve`.
    fn arguments(self) -> Vec<String> {
        match self {
            Self::Repository(root) => vec![format!("--allow={}", root.display())],
            Self::Records(directory, format) => vec![
                "--toolset=records".into(),
                format!("--memory-dir={}", directory.display()),
                format!("--records-format={}", format.name()),
            ],
            Self::Layers(database) => vec![
                "--toolset=layers".into(),
                format!("--layers-db={}", database.display()),
                format!("--recent-capacity={RECENT_CAPACITY}"),
            ],
            Self::Stores(data) => {
                vec!["--toolset=stores".into(), format!("--data-dir={}", data.display())]
            }
        }
    }

    /// The request to a program that opens a memory.
    fn opening(self, host: Host) -> Value {
        let summarises = matches!(self, Self::Layers(_));
        let options =
            if host == Host::Python { self.python_options() } else { self.node_options() };
        json!({"open": options, "summarises": summarises})
    }

    /// The options of the Node host.
    fn node_options(self) -> Value {
        // Long enough for a busy machine.
        let limits = json!({"guestTime": 60_000});
        let wait = TIMEOUT.as_millis() as u64;
        match self {
            Self::Repository(root) => json!({"allow": [root], "limits": limits, "lockWait": wait}),
            Self::Records(directory, format) => json!({
                "allow": [], "toolsets": ["records"], "limits": limits, "lockWait": wait,
                "settings": {"records": {"directory": directory, "format": format.name()}},
            }),
            Self::Layers(database) => json!({
                "allow": [], "toolsets": ["layers"], "limits": limits, "lockWait": wait,
                "settings": {"layers": {"file": database, "recent_capacity": RECENT_CAPACITY}},
            }),
            Self::Stores(data) => json!({
                "allow": [], "toolsets": ["stores"], "dataDir": data, "limits": limits,
                "lockWait": wait,
            }),
        }
    }

    /// The options of the Python package.
    fn python_options(self) -> Value {
        let mut options = self.node_options();
        options["limits"] = json!({"guest_time": 60});
        options["lock_wait"] = json!(TIMEOUT.as_secs());
        let fields = options.as_object_mut().expect("an object");
        fields.remove("lockWait");
        if let Some(data) = fields.remove("dataDir") {
            fields.insert("data_dir".into(), data);
        }
        options
    }
}

/// A running host with one grant.
#[derive(Debug)]
pub struct Process {
    host: Host,
    program: LineProgram,
    /// The calls without an answer. A program answers in order, without ids.
    unanswered: VecDeque<usize>,
}

impl Process {
    /// Starts a host, and waits until it accepts calls.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn start(host: Host, repository: &Path) -> Self {
        Self::start_by(&[], host, repository)
    }

    /// Like `start`, with a launcher such as `setpriv`, which runs the command after its arguments.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn start_by(launcher: &[&str], host: Host, repository: &Path) -> Self {
        Self::start_with(launcher, host, Granted::Repository(repository))
    }

    /// Like `start`, with a directory of records instead of a repository.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn start_on_records(host: Host, directory: &Path, format: Format) -> Self {
        Self::start_on_records_by(&[], host, directory, format)
    }

    /// Like `start`, with a data directory for stores instead of a repository.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn start_on_stores(host: Host, data: &Path) -> Self {
        Self::start_with(&[], host, Granted::Stores(data))
    }

    /// Like `start_on_records`, with a launcher.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn start_on_records_by(
        launcher: &[&str],
        host: Host,
        directory: &Path,
        format: Format,
    ) -> Self {
        Self::start_with(launcher, host, Granted::Records(directory, format))
    }

    /// Like `start`, with a database of layers instead of a repository. The native host uses its
    /// built-in summariser. The programs of Node and Python summarise memories by joining them with
    /// blanks.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn start_on_layers(host: Host, database: &Path) -> Self {
        Self::start_with(&[], host, Granted::Layers(database))
    }

    fn start_with(launcher: &[&str], host: Host, granted: Granted<'_>) -> Self {
        let mut line: Vec<_> = launcher.iter().map(Into::into).collect();
        match host {
            Host::Native => {
                line.push(program("agent-memory").into_os_string());
                line.push("serve".into());
                line.push(format!("--lock-wait={}s", TIMEOUT.as_secs()).into());
                line.extend(granted.arguments().into_iter().map(Into::into));
            }
            Host::Node => {
                let (node, script) = node_program(NODE_PROGRAM).expect("it is built");
                line.extend([node.into(), script.into()]);
            }
            Host::Python => {
                let program = python::program(PYTHON_PROGRAM).expect("it is built");
                line.push(program.get_program().into());
                line.extend(program.get_args().map(Into::into));
            }
        }
        let mut command = Command::new(&line[0]);
        // Neither the working directory nor the environment grants anything.
        command.args(&line[1..]).current_dir("/").env_clear();
        command.stderr(Stdio::null());
        let program = LineProgram::start(command);
        let mut process = Self { host, program, unanswered: VecDeque::new() };
        if host != Host::Native {
            let opened = process.program.ask(&granted.opening(host));
            assert_eq!(opened, Ok(json!({})), "the program of {host:?} does not start");
        }
        process
    }

    /// Sends a call. It is lost if the process has ended.
    pub fn send(&mut self, id: usize, call: &Call) {
        let Call { tool, arguments } = call;
        match self.host {
            Host::Native => {
                let parameters = json!({"name": tool, "arguments": arguments});
                self.program.write(&stateless(id as u64, "tools/call", parameters));
            }
            Host::Node | Host::Python => {
                self.unanswered.push_back(id);
                self.program.write(&json!({"call": tool, "arguments": arguments}));
            }
        }
    }

    /// The next answer, with the number of its call; none if it does not come in time.
    ///
    /// # Panics
    ///
    /// If the process ends by itself.
    pub fn answer(&mut self, until: Instant) -> Option<(usize, Answer)> {
        let line = self.program.line(until).unwrap_or_else(|why| panic!("{:?}: {why}", self.host));
        line.map(|line| self.read(&line).expect("a running process writes whole lines"))
    }

    /// Makes one call and waits for its answer.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn call(&mut self, call: &Call) -> Answer {
        self.send(0, call);
        let answer = self.answer(Instant::now() + TIMEOUT);
        answer.unwrap_or_else(|| panic!("{:?} hangs in {call:?}", self.host)).1
    }

    /// Makes all these calls at once, and returns their answers in the order of the calls.
    ///
    /// # Panics
    ///
    /// If one has no answer.
    pub fn call_all(&mut self, calls: &[Call]) -> Vec<Answer> {
        let until = Instant::now() + TIMEOUT;
        if self.host != Host::Native {
            let one =
                |Call { tool, arguments }: &Call| json!({"call": tool, "arguments": arguments});
            let all = json!({"all": calls.iter().map(one).collect::<Vec<_>>()});
            let answers = self.program.ask(&all).expect("the program answers");
            return answers.as_array().expect("a list").iter().map(program_answer).collect();
        }
        for (id, call) in calls.iter().enumerate() {
            self.send(id, call);
        }
        let answers = calls.iter().map(|_| self.answer(until).expect("every call is answered"));
        let mut answers: Vec<_> = answers.collect();
        answers.sort_by_key(|(id, _)| *id);
        assert!(answers.iter().map(|(id, _)| *id).eq(0..calls.len()), "one is answered twice");
        answers.into_iter().map(|(_, answer)| answer).collect()
    }

    /// Kills the process with SIGKILL, waits until it is gone, and returns the unread answers.
    pub fn kill(self) -> Vec<(usize, Answer)> {
        let Self { host, program, mut unanswered } = self;
        // A line that was cut short is not an answer.
        let lines = program.kill();
        lines.iter().map_while(|line| read(host, line, &mut unanswered)).collect()
    }

    fn read(&mut self, line: &str) -> Option<(usize, Answer)> {
        read(self.host, line, &mut self.unanswered)
    }
}

/// The answer in a line of a host, with the number of its call. None if the line was cut short.
fn read(host: Host, line: &str, unanswered: &mut VecDeque<usize>) -> Option<(usize, Answer)> {
    let message: Value = serde_json::from_str(line).ok()?;
    match host {
        Host::Native => {
            let answer = tool_answer(&message["result"]);
            let answer = answer.unwrap_or_else(|why| panic!("{why} in {message}"));
            Some((message["id"].as_u64()? as usize, answer))
        }
        Host::Node | Host::Python => {
            let answer = program_answer(&message);
            Some((unanswered.pop_front()?, answer))
        }
    }
}

/// A program's answer to a call.
fn program_answer(message: &Value) -> Answer {
    match (message.get("result"), message.get("error")) {
        (Some(result), _) => Answer::Result(result.clone()),
        (None, Some(error)) => Answer::Error(error.clone()),
        (None, None) => panic!("the call has no outcome: {message}"),
    }
}
