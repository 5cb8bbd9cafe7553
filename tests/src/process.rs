//! A process of either host, which answers calls as they come: the MCP server, and a Node program
//! with the library in it.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Instant;

use agent_memory_conformance::case::Format;
use agent_memory_conformance::runner::Answer;
use serde_json::{Value, json};

use crate::TIMEOUT;
use crate::product::{node_program, program};
use crate::runners::mcp::tool_answer;
use crate::runners::mcp_client::stateless;
use crate::runners::node::left_out;

/// The file name of the Node program, below `dist`.
pub const NODE_PROGRAM: &str = "calls.js";

/// What a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// `agent-memory serve`, which speaks MCP 2026-07-28.
    Native,
    /// A Node program.
    Node,
}

impl Host {
    /// Both, or the native one alone where the Node host is left out.
    #[track_caller]
    pub fn all() -> &'static [Host] {
        if left_out(NODE_PROGRAM) { &[Self::Native] } else { &[Self::Native, Self::Node] }
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

/// What a process may reach.
#[derive(Clone, Copy, Debug)]
enum Granted<'a> {
    /// One repository, with the toolset `sessions`.
    Repository(&'a Path),
    /// A directory of records, with their toolset; new agents are kept in this format.
    Records(&'a Path, Format),
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
        }
    }

    /// The options of the Node host.
    fn options(self) -> Value {
        // A machine with much else to do is slow, which is not what the tests are after.
        let (limits, wait) = (json!({"guestTime": 60_000}), TIMEOUT.as_millis() as u64);
        match self {
            Self::Repository(root) => json!({"allow": [root], "limits": limits, "lockWait": wait}),
            Self::Records(directory, format) => json!({
                "allow": [], "toolsets": ["records"], "limits": limits, "lockWait": wait,
                "settings": {"records": {"directory": directory, "format": format.name()}},
            }),
        }
    }
}

/// A running host that was granted one thing.
#[derive(Debug)]
pub struct Process {
    host: Host,
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    /// In the order in which the Node program answers them, which names none.
    unanswered: VecDeque<usize>,
}

impl Process {
    /// Starts a host, and waits until it takes calls.
    ///
    /// # Panics
    ///
    /// Where it does not start.
    pub fn start(host: Host, repository: &Path) -> Self {
        Self::start_by(&[], host, repository)
    }

    /// As `start`, by a program that runs the command at the end of its arguments: `setpriv`.
    ///
    /// # Panics
    ///
    /// Where it does not start.
    pub fn start_by(launcher: &[&str], host: Host, repository: &Path) -> Self {
        Self::start_with(launcher, host, Granted::Repository(repository))
    }

    /// As `start`, with a directory of records instead of a repository.
    ///
    /// # Panics
    ///
    /// Where it does not start.
    pub fn start_on_records(host: Host, directory: &Path, format: Format) -> Self {
        Self::start_on_records_by(&[], host, directory, format)
    }

    /// As `start_on_records`, by a program as for `start_by`.
    ///
    /// # Panics
    ///
    /// Where it does not start.
    pub fn start_on_records_by(
        launcher: &[&str],
        host: Host,
        directory: &Path,
        format: Format,
    ) -> Self {
        Self::start_with(launcher, host, Granted::Records(directory, format))
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
        }
        let mut command = Command::new(&line[0]);
        // In a directory that nothing is granted by, and without the variables that would.
        command.args(&line[1..]).current_dir("/").env_clear();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("a host starts");
        let input = child.stdin.take().expect("it is piped");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            let mut lines = output.split(b'\n').map_while(Result::ok);
            lines.try_for_each(|line| sender.send(String::from_utf8(line).expect("UTF-8")))
        });
        let mut process = Self { host, child, input, lines, unanswered: VecDeque::new() };
        if host == Host::Node {
            process.write(&json!({"open": granted.options()}));
            let opened = process.lines.recv_timeout(TIMEOUT);
            assert_eq!(opened.as_deref(), Ok("{}"), "the Node program does not start");
        }
        process
    }

    /// Makes a call. A process that has ended does not hear it.
    pub fn send(&mut self, id: usize, call: &Call) {
        let Call { tool, arguments } = call;
        match self.host {
            Host::Native => {
                let parameters = json!({"name": tool, "arguments": arguments});
                self.write(&stateless(id as u64, "tools/call", parameters));
            }
            Host::Node => {
                self.unanswered.push_back(id);
                self.write(&json!({"call": tool, "arguments": arguments}));
            }
        }
    }

    fn write(&mut self, message: &Value) {
        let _ = writeln!(self.input, "{message}");
    }

    /// The next answer, with the number of its call; none where there is none by the moment.
    ///
    /// # Panics
    ///
    /// Where the process ends by itself.
    pub fn answer(&mut self, until: Instant) -> Option<(usize, Answer)> {
        match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(line) => Some(self.read(&line).expect("a process that lives writes whole lines")),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                panic!("{:?} ended by itself: {:?}", self.host, self.child.try_wait());
            }
        }
    }

    /// Makes one call and waits for its answer.
    ///
    /// # Panics
    ///
    /// Where there is none.
    pub fn call(&mut self, call: &Call) -> Answer {
        self.send(0, call);
        let answer = self.answer(Instant::now() + TIMEOUT);
        answer.unwrap_or_else(|| panic!("{:?} hangs in {call:?}", self.host)).1
    }

    /// Makes all these calls at once, and returns their answers in the order of the calls.
    ///
    /// # Panics
    ///
    /// Where one has no answer.
    pub fn call_all(&mut self, calls: &[Call]) -> Vec<Answer> {
        let until = Instant::now() + TIMEOUT;
        if self.host == Host::Node {
            let one =
                |Call { tool, arguments }: &Call| json!({"call": tool, "arguments": arguments});
            self.write(&json!({"all": calls.iter().map(one).collect::<Vec<_>>()}));
            let line = self.lines.recv_timeout(TIMEOUT).expect("the Node program answers");
            let answers: Vec<Value> = serde_json::from_str(&line).expect("a list");
            return answers.iter().map(node_answer).collect();
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

    /// Kills the process with SIGKILL, waits until it is gone, and returns what it had answered.
    pub fn kill(mut self) -> Vec<(usize, Answer)> {
        self.child.kill().and_then(|()| self.child.wait()).expect("a process can be killed");
        let rest: Vec<String> = self.lines.iter().collect();
        // A line that was cut short is no answer.
        rest.iter().map_while(|line| self.read(line)).collect()
    }

    fn read(&mut self, line: &str) -> Option<(usize, Answer)> {
        let message: Value = serde_json::from_str(line).ok()?;
        match self.host {
            Host::Native => {
                let answer = tool_answer(&message["result"]);
                let answer = answer.unwrap_or_else(|why| panic!("{why} in {message}"));
                Some((message["id"].as_u64()? as usize, answer))
            }
            Host::Node => {
                let answer = node_answer(&message);
                Some((self.unanswered.pop_front()?, answer))
            }
        }
    }
}

/// What the Node program says of a call.
fn node_answer(message: &Value) -> Answer {
    match (message.get("result"), message.get("error")) {
        (Some(result), _) => Answer::Result(result.clone()),
        (None, Some(error)) => Answer::Error(error.clone()),
        (None, None) => panic!("the call has no outcome: {message}"),
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail where the process was killed, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
