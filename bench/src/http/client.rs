//! A client of the HTTP server, with a connection that it keeps.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// A server process, which ends when this value is dropped.
pub struct HttpServer {
    child: Child,
    /// The address with the port, such as `127.0.0.1:40123`.
    address: String,
}

impl HttpServer {
    /// Starts a program that prints its URL.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let piped = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = piped.spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("it is piped")).read_line(&mut line)?;
        let address = line.trim().strip_prefix("http://").and_then(|at| at.strip_suffix("/mcp"));
        let address = address.map(str::to_owned);
        let mut server = Self { child, address: String::new() };
        server.address = address.ok_or_else(|| io::Error::other("the server prints no URL"))?;
        Ok(server)
    }

    /// Connects a client.
    pub fn connect(&self) -> io::Result<Client> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        let output = BufReader::new(stream.try_clone()?);
        Ok(Client { stream, output, host: self.address.clone() })
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection.
pub struct Client {
    stream: TcpStream,
    output: BufReader<TcpStream>,
    host: String,
}

impl Client {
    /// Sends a stateless call of a tool, and returns the body of the answer.
    ///
    /// # Errors
    ///
    /// If the status is not 200.
    pub fn ask(&mut self, tool: &str, body: &str) -> io::Result<String> {
        let host = &self.host;
        let length = body.len();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nAccept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\
             MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n\r\n\
             {body}"
        );
        self.stream.write_all(request.as_bytes())?;
        let status = self.line()?;
        let mut length = 0;
        loop {
            let line = self.line()?.to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body)?;
        let body = String::from_utf8_lossy(&body).into_owned();
        if status.contains(" 200 ") {
            Ok(body)
        } else {
            Err(io::Error::other(format!("{status}: {body}")))
        }
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        match self.output.read_line(&mut line)? {
            0 => Err(io::Error::other("the server hung up")),
            _ => Ok(line.trim_end().to_owned()),
        }
    }
}
