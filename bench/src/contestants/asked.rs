//! An MCP server on standard input and output that stores its rows in a directory.

use std::io;
use std::process::Command;
use std::rc::Rc;

use tempfile::TempDir;

use super::{Server, refused, stateless_request};
use crate::comparison::{Contestant, Cost};
use crate::conversation::Conversation;
use crate::work::Calls;

/// An MCP server on standard input and output, ours or another one.
pub struct Asked {
    name: String,
    server: Conversation,
    /// The requests of the next turn, made before it is measured.
    requests: Vec<String>,
    make: Box<dyn FnMut() -> Vec<String>>,
    _directory: Rc<TempDir>,
}

impl Asked {
    /// Our own server, which gets the same requests in each turn.
    pub fn ours(mut command: Command, directory: Rc<TempDir>, calls: &Calls) -> io::Result<Self> {
        let request = |(id, arguments)| stateless_request(id, calls.tool, arguments).to_string();
        let requests: Vec<String> = calls.arguments.iter().enumerate().map(request).collect();
        let server = Conversation::start(&mut command)?;
        Ok(Self::new(Server::NAME.to_owned(), server, directory, move || requests.clone()))
    }

    pub fn new(
        name: String,
        server: Conversation,
        directory: Rc<TempDir>,
        make: impl FnMut() -> Vec<String> + 'static,
    ) -> Self {
        let make = Box::new(make);
        Self { name, server, requests: Vec::new(), make, _directory: directory }
    }

    pub fn named(self, name: String) -> Self {
        Self { name, ..self }
    }
}

/// Sends a line, and waits for its answer.
pub fn ask(server: &mut Conversation, request: &str) -> io::Result<()> {
    server.say(request)?;
    loop {
        let answer = server.hear()?;
        // Some servers send notifications, too.
        if !answer.contains(r#""result":"#) && !answer.contains(r#""error":"#) {
            continue;
        }
        return if answer.contains(r#""isError":true"#) || !answer.contains(r#""result":"#) {
            Err(refused(request, answer))
        } else {
            Ok(())
        };
    }
}

impl Contestant for Asked {
    fn name(&self) -> &str {
        &self.name
    }

    fn prepare(&mut self) -> io::Result<()> {
        self.requests = (self.make)();
        Ok(())
    }

    fn take_turn(&mut self) -> io::Result<Cost> {
        let Self { server, requests, .. } = self;
        Cost::between(server.process(), requests.len(), || {
            requests.iter().try_for_each(|request| ask(server, request))
        })
    }
}
