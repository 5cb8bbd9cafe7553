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
        /// The absolute path of the program, since desktop programs do not have the `PATH` of a shell;
        /// or the first word of a [`Runner`](crate::Runner).
        program: String,
        /// The arguments of the program.
        arguments: Vec<String>,
    },
    /// A server over HTTP.
    Url {
        /// The URL of the server.
        url: String,
        /// The environment variable with the token that the client sends. The file has only the name of
        /// the variable, never the token.
        token_variable: Option<String>,
    },
}

impl Server {
    /// Reads the program or the URL from an entry of any client. Missing parts are empty.
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

/// The fields for a program that the client starts, and for a URL. An entry has only one kind.
const STARTED: [&str; 2] = ["command", "args"];
const REACHED: [&str; 3] = ["url", "httpUrl", "serverUrl"];
/// Further fields that this program may write into its entry.
const FURTHER: [&str; 3] = ["type", "source", "enabled"];

/// Whether an entry has only fields that this program writes.
pub(crate) fn has_only_our_fields(entry: &Value) -> bool {
    let is_known = |(name, value): (&String, &Value)| {
        let mut known = STARTED.iter().chain(&REACHED).chain(&FURTHER);
        known.any(|known| known == name) || token::is_ours(name, value)
    };
    entry.as_object().is_some_and(|entry| entry.iter().all(is_known))
}

impl Client {
    /// The fields of the entry of a server, in the form that the client reads. A field that is null has
    /// to be removed from an existing entry: it belongs to the other kind of entry.
    ///
    /// # Errors
    ///
    /// If the client cannot have a server over HTTP in its configuration file, or cannot read a token
    /// from an environment variable.
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
