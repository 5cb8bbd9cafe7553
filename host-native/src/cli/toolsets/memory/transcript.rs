//! Reads the transcript of a session that a client writes: a file with a JSON object on each line.
//!
//! No client documents the form of its file, so unknown parts are skipped.

use super::json;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// The most bytes that are read, from the end.
const MAX_BYTES: u64 = 256 << 10;

/// The tools of clients that edit a file, and the arguments that name it.
const EDITS: [&str; 5] = ["Edit", "MultiEdit", "Write", "NotebookEdit", "write_file"];
const PATHS: [&str; 3] = ["file_path", "notebook_path", "path"];

/// The lines of a patch of Codex that name a file.
const PATCHED: [&str; 3] = ["*** Update File: ", "*** Add File: ", "*** Delete File: "];

/// Facts about a session from its transcript.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Transcript {
    /// The number of requests of the user.
    pub requests: usize,
    /// The number of files in calls of editing tools.
    pub files: usize,
    /// Whether the whole file was read, and each of its lines is valid JSON.
    pub is_whole: bool,
}

/// Reads the end of a transcript.
pub(super) fn read(path: &Path) -> io::Result<Transcript> {
    // Opening a FIFO could wait for ever.
    if !path.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file"));
    }
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let skipped = length.saturating_sub(MAX_BYTES);
    file.seek(SeekFrom::Start(skipped))?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes)?;
    let mut transcript = parse(&String::from_utf8_lossy(&bytes));
    transcript.is_whole &= skipped == 0;
    Ok(transcript)
}

fn parse(text: &str) -> Transcript {
    let mut transcript = Transcript { is_whole: true, ..Transcript::default() };
    let mut files = BTreeSet::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        // The first and the last line may be incomplete.
        let Ok(line) = json::parse(line) else {
            transcript.is_whole = false;
            continue;
        };
        transcript.requests += usize::from(is_request(&line));
        edited(&line, &mut files);
    }
    transcript.files = files.len();
    transcript
}

/// Whether the user asked for something in a line.
fn is_request(line: &Value) -> bool {
    let is_of_machine = ["isMeta", "isSidechain", "isCompactSummary"];
    if is_of_machine.iter().any(|name| line[*name] == true) {
        return false;
    }
    let payload = &line["payload"];
    let message = &line["message"];
    let content = if payload["type"] == "user_message" {
        // Codex.
        &payload["message"]
    } else if line["type"] == "user" || line["role"] == "user" {
        // Claude Code, Cursor and Gemini CLI.
        if message["content"].is_null() { &line["content"] } else { &message["content"] }
    } else {
        return false;
    };
    let text = match content {
        Value::Array(parts) => parts.iter().find_map(|part| part["text"].as_str()),
        content => content.as_str(),
    };
    let Some(text) = text else { return false };
    let text = text.trim_start().strip_prefix("<user_query>").unwrap_or(text).trim_start();
    // Texts that a client adds begin with a tag.
    !text.is_empty() && !text.starts_with('<')
}

/// Adds the files that a line says were edited.
fn edited(line: &Value, files: &mut BTreeSet<String>) {
    let parts = line["message"]["content"].as_array().into_iter().flatten();
    for part in parts.filter(|part| part["type"] == "tool_use") {
        if part["name"].as_str().is_some_and(|name| EDITS.contains(&name)) {
            let path = PATHS.iter().find_map(|name| part["input"][*name].as_str());
            files.extend(path.map(str::to_owned));
        }
    }
    let payload = &line["payload"];
    if payload["name"] == "apply_patch" {
        let patch = payload["input"].as_str().unwrap_or_default();
        let marked = |line| PATCHED.iter().find_map(move |mark| str::strip_prefix(line, mark));
        files.extend(patch.lines().filter_map(marked).map(str::to_owned));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_edited_files_of_each_client_are_counted() {
        let of_claude_code = r#"
cut off here"}}
{"type":"user","message":{"role":"user","content":"Fix the parser\nand its tests"}}
{"type":"user","isMeta":true,"message":{"role":"user","content":"a caveat"}}
{"type":"user","message":{"role":"user","content":"<command-name>/exit</command-name>"}}
{"type":"assistant","message":{"content":[{"type":"text","text":"I see"},{"type":"tool_use","name":"Edit","input":{"file_path":"/a.rs"}}]}}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"done"}]}}
{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Write","input":{"file_path":"/a.rs"}},{"type":"tool_use","name":"Read","input":{"file_path":"/b.rs"}}]}}
{"type":"user","message":{"role":"user","content":[{"type":"text","text":"Thanks"}]}}"#;
        let expected = Transcript { requests: 2, files: 1, is_whole: false };
        assert_eq!(parse(of_claude_code), expected);
        let of_codex = r#"{"type":"event_msg","payload":{"type":"user_message","message":"Add a test"}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Add a test"}]}}
{"type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch\n*** Add File: a.rs\n+x\n*** Update File: b.rs\n*** End Patch"}}"#;
        let expected = Transcript { requests: 1, files: 2, is_whole: true };
        assert_eq!(parse(of_codex), expected);
        let of_cursor = r#"{"role":"user","message":{"content":[{"type":"text","text":"<user_query>\nRename it\n</user_query>"}]}}"#;
        assert_eq!(parse(of_cursor).requests, 1);
        let cut = r#"{"type":"user","message":{"content":"Smile \ud83d"}}"#;
        assert_eq!(parse(cut), Transcript { requests: 1, files: 0, is_whole: true });
        assert_eq!(parse("{\n  \"messages\": [\n    1\n  ]\n}\n"), Transcript::default());
    }
}
