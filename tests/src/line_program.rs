//! A program that answers lines of JSON with lines of JSON.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Instant;

use serde_json::Value;

use crate::TIMEOUT;

/// A running program. Dropping it kills it.
#[derive(Debug)]
pub struct LineProgram {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl LineProgram {
    /// Starts a program.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let input = child.stdin.take().expect("it is piped");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            let mut lines = output.split(b'\n').map_while(Result::ok);
            lines.try_for_each(|line| sender.send(String::from_utf8(line).expect("UTF-8")))
        });
        Self { child, input, lines }
    }

    /// Sends a line. It is lost if the program has ended.
    pub fn write(&mut self, message: &Value) {
        let _ = writeln!(self.input, "{message}");
    }

    /// The next line; none if it does not come in time.
    ///
    /// # Errors
    ///
    /// A message if the program has ended by itself.
    pub fn line(&mut self, until: Instant) -> Result<Option<String>, String> {
        match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                Err(format!("the program ended by itself: {:?}", self.child.try_wait()))
            }
        }
    }

    /// Sends a request, and waits for its answer.
    ///
    /// # Errors
    ///
    /// A message if there is no answer, or if it is not JSON.
    pub fn ask(&mut self, request: &Value) -> Result<Value, String> {
        self.write(request);
        let line = self.line(Instant::now() + TIMEOUT)?;
        let line = line.ok_or_else(|| format!("the program hangs in {request}"))?;
        serde_json::from_str(&line).map_err(|error| format!("{error} in {line}"))
    }

    /// Kills the program with SIGKILL, waits until it is gone, and returns the lines that nobody read.
    pub fn kill(mut self) -> Vec<String> {
        self.child.kill().and_then(|()| self.child.wait()).expect("a process can be killed");
        self.lines.iter().collect()
    }
}

impl Drop for LineProgram {
    fn drop(&mut self) {
        // Both fail if the program was killed already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
