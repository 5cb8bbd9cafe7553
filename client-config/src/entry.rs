//! The entry of this program in a client's list of servers.

use serde_json::{Map, Value, json};

use crate::{Client, Error, token};

/// The name of the entry.
pub const NAME: &str = "agent-memory";

/// The program that a client starts, or the address that it reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Server {
    /// A program that speaks MCP over standard input and output.
    Command {
        /// Its absolute path: programs with windows have no `PATH` of a shell.
        program: String,
        /// Its arguments.
        arguments: Vec<String>,
    },
    /// A server over HTTP.
    Url {
        /// Its address.
        url: String,
        /// The environment variable with the token that the client sends. The file names it, and never
        /// has the token.
        token_variable: Option<String>,
    },
}

impl Server {
    /// The program or the address of an entry of any client, as far as the entry names it.
    pub(crate) fn from_entry(entry: &Value) -> Self {
        let url = REACHED.iter().find_map(|name| entry[name].as_str());
        if let Some(url) = url {
            return Server::Url { url: url.to_owned(), token_variable: None };
        }
        let texts = |value: &Value| -> Vec<String> {
            let items = value.as_array().into_iter().flatten();
            items.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let mut command = match entry["command"].as_str() {
            Some(program) => vec![program.to_owned()],
            None => texts(&entry["command"]),
        };
        command.extend(texts(&entry["args"]));
        let mut command = command.into_iter();
        Server::Command {
            program: command.next().unwrap_or_default(),
            arguments: command.collect(),
        }
    }
}

/// The fields that say what a client starts, and what it reaches. An entry has one kind only.
const STARTED: [&str; 2] = ["command", "args"];
const REACHED: [&str; 3] = ["url", "httpUrl", "serverUrl"];
/// The other fields that an entry of ours may have.
const FURTHER: [&str; 3] = ["type", "source", "enabled"];

/// Whether an entry has no fields but those that this program writes.
pub(crate) fn has_only_our_fields(entry: &Value) -> bool {
    let is_known = |(name, value): (&String, &Value)| {
        let mut known = STARTED.iter().chain(&REACHED).chain(&FURTHER);
        known.any(|known| known == name) || token::is_ours(name, value)
    };
    entry.as_object().is_some_and(|entry| entry.iter().all(is_known))
}

impl Client {
    /// The fields of the entry of a server, in the form that the client reads. Null stands for a field
    /// that an entry of another kind would have.
    ///
    /// # Errors
    ///
    /// If the client reaches no server over HTTP by its configuration file, or takes no token from the
    /// environment.
    pub(crate) fn fields(self, server: &Server) -> Result<Map<String, Value>, Error> {
        let mut fields = match self.entry(server)? {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        for name in STARTED.into_iter().chain(REACHED) {
            fields.entry(name).or_insert(Value::Null);
        }
        Ok(fields)
    }

    fn entry(self, server: &Server) -> Result<Value, Error> {
        Ok(match server {
            Server::Command { program, arguments } => match self {
                Client::ClaudeCode | Client::VsCode => {
                    json!({"type": "stdio", "command": program, "args": arguments})
                }
                Client::Zed => {
                    json!({"source": "custom", "command": program, "args": arguments})
                }
                Client::Opencode => {
                    let command: Vec<&String> = [program].into_iter().chain(arguments).collect();
                    json!({"type": "local", "command": command, "enabled": true})
                }
                _ => json!({"command": program, "args": arguments}),
            },
            Server::Url { url, token_variable } => {
                let mut entry = self.entry_of_url(url)?;
                if let Some(variable) = token_variable {
                    let (name, value) = self.token_field(variable)?;
                    entry[name] = value;
                }
                entry
            }
        })
    }

    fn entry_of_url(self, url: &str) -> Result<Value, Error> {
        Ok(match self {
            Client::ClaudeCode | Client::VsCode => json!({"type": "http", "url": url}),
            Client::Gemini => json!({"httpUrl": url}),
            Client::Windsurf => json!({"serverUrl": url}),
            Client::Opencode => json!({"type": "remote", "url": url, "enabled": true}),
            Client::ClaudeDesktop => {
                let message = "Claude Desktop starts servers itself: leave `--http` out, or add the URL as \
                               a connector in its settings";
                return Err(Error::Unsupported(message.to_owned()));
            }
            _ => json!({"url": url}),
        })
    }
}
