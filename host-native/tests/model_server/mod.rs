//! An HTTP server on this machine that plays the API of a model.

#![allow(dead_code, reason = "each test file uses its own part")]

use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

/// How long a test waits before it fails.
pub const TIMEOUT: Duration = Duration::from_secs(300);

/// The server's reaction to a request.
pub enum Reply {
    /// Answers with a status, headers and a body.
    Answer(u16, &'static [(&'static str, &'static str)], String),
    /// Redirects to a URL.
    Redirect(String),
    /// Answers with status 200 and a body once the test releases it.
    Later(Receiver<()>, String),
    /// Never answers.
    Hang,
    /// Closes the connection.
    Close,
}

impl Reply {
    pub fn ok(body: impl ToString) -> Reply {
        Reply::Answer(200, &[], body.to_string())
    }

    /// A status that allows a retry at once.
    pub fn status(status: u16) -> Reply {
        Reply::Answer(status, &[("retry-after", "0")], "{}".to_owned())
    }

    /// A reply that waits, and the sender that releases it.
    pub fn later(body: impl ToString) -> (Sender<()>, Reply) {
        let (release, wait) = mpsc::channel();
        (release, Reply::Later(wait, body.to_string()))
    }
}

/// A request that the server got.
#[derive(Debug)]
pub struct Request {
    /// Method and path.
    pub line: String,
    /// The headers, with names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Value,
}

/// The server. It gives its replies in order, and then answers with status 404.
pub struct ModelServer {
    pub url: String,
    requests: Receiver<Request>,
}

impl ModelServer {
    pub fn start(replies: impl IntoIterator<Item = Reply>) -> ModelServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("its address"));
        let (sender, requests) = mpsc::channel();
        let mut replies = replies.into_iter().collect::<Vec<_>>().into_iter();
        thread::spawn(move || {
            let mut hanging = Vec::new();
            for stream in listener.incoming().map_while(Result::ok) {
                let Some(request) = read(&stream) else { continue };
                if sender.send(request).is_err() {
                    return;
                }
                let reply = replies.next().unwrap_or_else(|| Reply::status(404));
                // Errors are ignored: a client that was killed reads no answer.
                let _ = answer(&stream, reply, &mut hanging);
            }
        });
        ModelServer { url, requests }
    }

    /// The next request.
    pub fn request(&self) -> Request {
        self.requests.recv_timeout(TIMEOUT).expect("the model is asked")
    }

    /// How many more requests there have been.
    pub fn more_requests(&self) -> usize {
        self.requests.try_iter().count()
    }
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let headers: BTreeMap<_, _> = lines
        .iter()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let line = lines.first()?.trim_end_matches(" HTTP/1.1").to_owned();
    let mut body = vec![0; headers.get("content-length")?.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    Some(Request { line, headers, body: serde_json::from_slice(&body).ok()? })
}

fn answer(
    mut stream: &TcpStream,
    reply: Reply,
    hanging: &mut Vec<TcpStream>,
) -> std::io::Result<()> {
    let (status, headers, body) = match reply {
        Reply::Answer(status, headers, body) => {
            let headers = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
            (status, headers.collect(), body)
        }
        Reply::Redirect(url) => (307, format!("location: {url}\r\n"), String::new()),
        Reply::Later(wait, body) => {
            wait.recv().expect("the test releases it");
            (200, String::new(), body)
        }
        Reply::Hang => {
            hanging.push(stream.try_clone()?);
            return Ok(());
        }
        Reply::Close => return Ok(()),
    };
    let length = body.len();
    write!(stream, "HTTP/1.1 {status} -\r\n{headers}content-length: {length}\r\n\r\n{body}")
}
