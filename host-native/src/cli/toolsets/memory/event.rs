//! Reads the description of an event that a client gives, as JSON on standard input.

use super::deadline::Deadline;
use super::json;
use crate::cli::Error;
use serde_json::Value;
use std::io::{ErrorKind, IsTerminal, Read, stdin};

/// The longest event that is read, in bytes.
const MAX_EVENT: usize = 1 << 20;

/// Reads the event. Returns null if standard input is a terminal: then a person started the hook.
///
/// # Errors
///
/// If no event comes before the deadline, or if it cannot be read.
pub(super) fn read_event(deadline: Deadline) -> Result<Value, Error> {
    if stdin().is_terminal() {
        return Ok(Value::Null);
    }
    let event = deadline.in_time(|| first_object(stdin().lock()));
    let event = event.unwrap_or_else(|| Err("it is not there in time".to_owned()));
    event.map_err(|reason| Error::usage(format!("the event cannot be read: {reason}")))
}

/// The directory of the session that an event names, if it names one.
fn directory_of(event: &Value) -> Result<Option<&str>, Error> {
    // `workspace_roots` is from Cursor: the open directories.
    let named = [&event["cwd"], &event["workspace_roots"][0]];
    let Some(named) = named.into_iter().find(|named| !named.is_null()) else { return Ok(None) };
    let directory = named.as_str();
    let reason = "the event cannot be read: its directory is no text";
    directory.map(Some).ok_or_else(|| Error::usage(reason))
}

/// Changes to the directory of the session: a client may start its hooks elsewhere.
///
/// # Errors
///
/// If the event names a directory that cannot be entered.
pub(super) fn enter_directory(event: &Value) -> Result<(), Error> {
    let Some(directory) = directory_of(event)? else { return Ok(()) };
    std::env::set_current_dir(directory).map_err(|error| {
        // Leaves the current directory: its repository may be another one than that of the session.
        let _ = std::env::set_current_dir("/");
        Error::usage(format!("`{directory}` cannot be entered: {error}"))
    })
}

/// Reads the first JSON object of an input. Does not read to the end of the input, which some clients
/// leave open.
fn first_object(mut input: impl Read) -> Result<Value, String> {
    let mut bytes = Vec::new();
    let mut chunk = vec![0; 64 << 10];
    loop {
        if let Some(object) = object_in(&bytes)? {
            // Bytes that are not UTF-8 become replacement characters.
            let object = String::from_utf8_lossy(object);
            return json::parse(&object).map_err(|error| error.to_string());
        }
        if bytes.len() > MAX_EVENT {
            return Err("it is longer than 1 MiB".to_owned());
        }
        match input.read(&mut chunk) {
            Ok(0) if bytes.is_empty() => return Err("there is none".to_owned()),
            Ok(0) => return Err("it does not end".to_owned()),
            Ok(length) => bytes.extend_from_slice(&chunk[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// The JSON object with which the bytes begin, perhaps after a byte order mark. `None` if the object is
/// not complete yet.
fn object_in(bytes: &[u8]) -> Result<Option<&[u8]>, String> {
    let is_before = |byte: &u8| b" \t\r\n\xef\xbb\xbf".contains(byte);
    let Some(begin) = bytes.iter().position(|byte| !is_before(byte)) else { return Ok(None) };
    if bytes[begin] != b'{' {
        return Err("it is no object of JSON".to_owned());
    }
    let mut depth = 0;
    let mut is_in_text = false;
    let mut is_escaped = false;
    for (at, byte) in bytes.iter().enumerate().skip(begin) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_in_text,
            b'"' => is_in_text = !is_in_text,
            _ if is_in_text => {}
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Ok(Some(&bytes[begin..=at]));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_object_is_read_as_far_as_it_can_be() {
        let read = |bytes: &[u8]| first_object(bytes);
        let event = json!({ "cwd": "/a}\"", "b": [{}] });
        let text = format!("\u{feff} {event}");
        assert_eq!(read(text.as_bytes()), Ok(event.clone()));
        // Bytes that arrive one at a time. The bytes after the object are not read.
        let more = format!("{text}more");
        let slowly = more
            .as_bytes()
            .chunks(1)
            .fold(Box::new(std::io::empty()) as Box<dyn Read>, |read, byte| {
                Box::new(read.chain(byte))
            });
        assert_eq!(first_object(slowly), Ok(event));
        assert_eq!(read(br#"{"a": "\ud83d"}"#), Ok(json!({ "a": "\u{fffd}" })));
        assert_eq!(read(b"{\"a\": \"\xff\"}"), Ok(json!({ "a": "\u{fffd}" })));
        let long = format!("{{\"a\": \"{}\"}}", "x".repeat(2 * MAX_EVENT));
        for (bytes, reason) in [
            (&b""[..], "there is none"),
            (b"{\"a\": \"}\"", "does not end"),
            (b"null", "no object"),
            (b"[{}]", "no object"),
            (b"{a}", "key must be a string"),
            (long.as_bytes(), "longer than 1 MiB"),
        ] {
            let error = read(bytes).expect_err(reason);
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn a_directory_that_is_no_text_is_not_taken_for_none() {
        let named = |event: &Value| directory_of(event).ok().map(|named| named.map(str::to_owned));
        assert_eq!(named(&json!({})), Some(None));
        assert_eq!(named(&json!({ "cwd": "/a" })), Some(Some("/a".to_owned())));
        let of_cursor = json!({ "cwd": null, "workspace_roots": ["/a", "/b"] });
        assert_eq!(named(&of_cursor), Some(Some("/a".to_owned())));
        assert_eq!(named(&json!({ "cwd": 1 })), None);
        assert_eq!(named(&json!({ "workspace_roots": [[]] })), None);
    }
}
