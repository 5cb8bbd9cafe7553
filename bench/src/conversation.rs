//! A program that reads requests and prints answers, each on a line.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub struct Conversation {
    child: Child,
    /// `None` after the end of the conversation.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    heard: String,
}

impl Conversation {
    /// Starts a program that ends by itself or with its input.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = piped.spawn()?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        Ok(Self { child, input, output, heard: String::new() })
    }

    pub fn process(&self) -> u32 {
        self.child.id()
    }

    pub fn say(&mut self, line: &str) -> io::Result<()> {
        self.input.as_mut().expect("it goes on").write_all(format!("{line}\n").as_bytes())
    }

    /// The last line that was read.
    pub fn heard(&self) -> &str {
        &self.heard
    }

    /// Reads the next line.
    ///
    /// # Errors
    ///
    /// If the program has ended.
    pub fn hear(&mut self) -> io::Result<&str> {
        self.heard.clear();
        match self.output.read_line(&mut self.heard)? {
            0 => Err(io::Error::other("the program ended before it answered")),
            _ => Ok(&self.heard),
        }
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        drop(self.input.take());
        // Its remaining output and its exit status do not matter.
        let _ = io::copy(&mut self.output, &mut io::sink());
        let _ = self.child.wait();
    }
}
