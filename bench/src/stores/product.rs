//! The product: the MCP server on a store.

use std::io;
use std::process::Command;
use std::rc::Rc;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::filled::registry;
use super::pages::{STORE, Shape};
use crate::comparison::{Contestant, Cost};
use crate::contestants::{Asked, Server, ask, path_text, stateless_request};
use crate::conversation::Conversation;
use crate::programs;
use crate::work::Calls;

fn command(directory: &TempDir) -> io::Result<Command> {
    let mut command = Command::new(programs::built("agent-memory")?);
    let registry = registry(directory);
    command.args(["serve", "--toolset", "stores", "--stores-config", path_text(&registry)?]);
    Ok(command)
}

/// The server, which gets the same requests in each turn.
pub fn server(directory: Rc<TempDir>, calls: &Calls) -> io::Result<Asked> {
    Asked::ours(command(&directory)?, directory, calls)
}

/// The server, which adds other memories in each turn.
pub fn adding(
    directory: Rc<TempDir>,
    shape: Shape,
    mut next: std::ops::Range<usize>,
) -> io::Result<Asked> {
    let server = Conversation::start(&mut command(&directory)?)?;
    Ok(Asked::new(Server::NAME.to_owned(), server, directory, move || {
        let pages = next.clone().map(|number| shape.page(number));
        let request = |page: super::Page| stateless_request(0, "add_memory", &page.arguments());
        let requests = pages.map(|page| request(page).to_string()).collect();
        next = next.end..next.end + next.len();
        requests
    }))
}

/// The server, which reindexes the whole store in each turn, call by call.
pub struct Reindex {
    server: Conversation,
    _directory: Rc<TempDir>,
}

impl Reindex {
    pub fn new(directory: Rc<TempDir>) -> io::Result<Self> {
        let server = Conversation::start(&mut command(&directory)?)?;
        Ok(Self { server, _directory: directory })
    }
}

impl Contestant for Reindex {
    fn name(&self) -> &str {
        Server::NAME
    }

    fn take_turn(&mut self) -> io::Result<Cost> {
        let server = &mut self.server;
        Cost::between(server.process(), 1, || {
            let mut arguments = json!({"store": STORE});
            loop {
                ask(server, &stateless_request(0, "reindex_store", &arguments).to_string())?;
                let answer: Value = serde_json::from_str(server.heard())?;
                match &answer["result"]["structuredContent"]["cursor"] {
                    Value::Null => return Ok(()),
                    cursor => arguments["cursor"] = cursor.clone(),
                }
            }
        })
    }
}
