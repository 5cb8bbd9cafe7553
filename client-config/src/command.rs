//! Command lines of hooks: splitting them into words, and finding those that start this program.

use std::path::Path;

use serde_json::Value;

use crate::{Client, Error, runner};

/// The words of a hook's command line: from its fields `command` and `args`, or from `command` alone as
/// a line for a shell. `None` if a field has another form, or if a shell would do more than start one
/// program with arguments.
pub(crate) fn command_line(handler: &Value) -> Option<Vec<String>> {
    let command = handler["command"].as_str()?;
    let Some(arguments) = handler.get("args").filter(|arguments| !arguments.is_null()) else {
        return words(command);
    };
    let arguments = arguments.as_array()?.iter().map(Value::as_str);
    let line = [Some(command)].into_iter().chain(arguments);
    line.map(|word| word.map(str::to_owned)).collect()
}

/// The name of the event for which a command line starts this program for a client. `None` if the line
/// does anything else.
pub(crate) fn event_of(line: &[String], client: Client) -> Option<&str> {
    let own = line.strip_prefix(start_of(line)?)?;
    let [hook, name, event, options @ ..] = own else { return None };
    let is_ours = hook == "hook" && name == client.name() && are_options(options);
    is_ours.then_some(event)
}

/// Whether a command line starts as the hooks of this program do: with an absolute path, or with a
/// runner.
pub(crate) fn starts_as_written(line: &[String]) -> bool {
    let program = line.first().map(String::as_str).unwrap_or_default();
    let is_from_root = program.starts_with('/') || Path::new(program).is_absolute();
    is_from_root || runner::start_of(line).is_some()
}

/// The words that start this program, without the arguments. `None` if the line starts another program.
fn start_of(line: &[String]) -> Option<&[String]> {
    let program = line.first()?;
    let separators = ['/', '\\'];
    // A shell reads `NAME=value` before a program as the assignment of a variable.
    if program.split_once('=').is_some_and(|(name, _)| !name.contains(separators)) {
        return None;
    }
    if ["agent-memory", "agent-memory.exe"].contains(&program.rsplit(separators).next()?) {
        return line.get(..1);
    }
    // `python -m agent_memory`. The interpreter may have any name.
    let with_python = line.get(..3).filter(|start| start[1..] == ["-m", "agent_memory"]);
    with_python.or_else(|| runner::start_of(line))
}

/// Whether words are options that begin with `--`, each with at most one value.
fn are_options(words: &[String]) -> bool {
    let mut may_be_value = false;
    words.iter().all(|word| {
        let is_option = word.strip_prefix("--").is_some_and(|name| !name.is_empty());
        let is_known = is_option || may_be_value && !word.starts_with('-');
        may_be_value = is_option && !word.contains('=');
        is_known
    })
}

/// The words of a line for a shell, without their quotation marks. `None` if the line has a character
/// with another meaning for a shell, or a quotation mark is not closed.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words: Vec<String> = Vec::new();
    let mut quoted: Option<char> = None;
    let mut is_inside = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_escape = letter == '\\' && letters.peek() == Some(&'\'');
        let kept = match (quoted, letter) {
            (Some(mark), _) if mark == letter => {
                quoted = None;
                continue;
            }
            (Some('"'), '$' | '`') => return None,
            (Some('"'), '\\') if letters.peek() == Some(&'"') => return None,
            (Some(_), _) => Some(letter),
            (None, ' ' | '\t') => {
                is_inside = false;
                continue;
            }
            (None, '\'' | '"') => {
                quoted = Some(letter);
                None
            }
            // `\'`, which `shell_line` writes for a quotation mark.
            (None, _) if is_escape => letters.next(),
            (None, '~' | '\\') => Some(letter),
            (None, _) if is_plain(letter) => Some(letter),
            (None, _) => return None,
        };
        if !is_inside {
            words.push(String::new());
            is_inside = true;
        }
        words.last_mut()?.extend(kept);
    }
    if quoted.is_some() { None } else { Some(words) }
}

/// A command line for the shell of a client.
///
/// # Errors
///
/// If the shell may not find the program.
pub(crate) fn shell_line(client: Client, line: &[&String]) -> Result<String, Error> {
    let quoted = |word: &&String| {
        let is_same = |letter| is_plain(letter) || cfg!(windows) && letter == '\\';
        if !word.is_empty() && word.chars().all(is_same) {
            return Ok((*word).clone());
        }
        if cfg!(windows) {
            // The line may be for `cmd` or for PowerShell, which quote differently.
            return Err(Error::Unsupported(format!(
                "{} starts hooks through a shell, which may not find `{word}`: move the program to a \
                 path without spaces and signs",
                client.title()
            )));
        }
        Ok(format!("'{}'", word.replace('\'', r"'\''")))
    };
    Ok(line.iter().map(quoted).collect::<Result<Vec<_>, _>>()?.join(" "))
}

/// Whether a character has no special meaning in any shell.
fn is_plain(letter: char) -> bool {
    letter.is_alphanumeric() || "_-./:=,+@".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_words_of_a_line_are_those_that_were_written() {
        let line = ["/opt/it's here/agent-memory", "hook", "codex", "session-end", ""];
        let line = line.map(str::to_owned);
        let written = shell_line(Client::Codex, &line.iter().collect::<Vec<_>>());
        if cfg!(windows) {
            assert!(written.is_err());
        } else {
            assert_eq!(words(&written.unwrap()).unwrap(), line);
        }
        let line = words(r#""C:\a b\c.exe" hook  codex"#).unwrap();
        assert_eq!(line, [r"C:\a b\c.exe", "hook", "codex"]);
    }

    #[test]
    fn only_a_hook_that_starts_this_program_and_nothing_else_is_ours() {
        let event = |client: Client, line: &str| {
            let line = command_line(&json!({ "command": line }))?;
            event_of(&line, client).map(str::to_owned)
        };
        for line in [
            "/bin/agent-memory hook codex session-end --agent ada",
            "agent-memory hook codex session-end --agent=ada --budget 500",
            "'/it is/agent-memory' hook codex session-end '--agent=a;b'",
            r#""C:\a b\agent-memory.exe" hook codex session-end"#,
            "/usr/bin/python3.12 -m agent_memory hook codex session-end",
            "npx -y agent-memory hook codex session-end --toolset=all",
            "cmd /c npx -y agent-memory hook codex session-end",
            "uvx agent-memory hook codex session-end",
        ] {
            assert_eq!(event(Client::Codex, line).as_deref(), Some("session-end"), "{line}");
            assert_eq!(event(Client::Gemini, line), None, "{line}");
        }
        for line in [
            "",
            "/bin/other hook codex session-end",
            "/bin/agent-memory hook codex",
            "/bin/agent-memory call hook codex session-end",
            "/bin/agent-memory hook codex session-end more",
            "/bin/agent-memory hook codex session-end --agent ada more",
            "/bin/agent-memory hook codex session-end ; /home/me/save-my-notes.sh",
            "/bin/agent-memory hook codex session-end; save",
            "/bin/agent-memory hook codex session-end --agent=ada&&save",
            "/bin/agent-memory hook codex session-end\nsave",
            "/bin/agent-memory hook codex session-end | save",
            "/bin/agent-memory hook codex session-end > file",
            "/bin/agent-memory hook codex session-end --agent=$(save)",
            "/bin/agent-memory hook codex session-end --agent=\"`save`\"",
            "/bin/agent-memory hook codex session-end # save",
            "/bin/agent-memory hook codex session-end '",
            "echo agent-memory; other-tool hook codex session-end",
            "sudo agent-memory hook codex session-end",
            "node ~/dev/my-agent-memory-dashboard/cli.js hook codex session-end",
            "/bin/agent-memory-dashboard hook codex session-end",
            "START=/bin/agent-memory hook codex session-end",
            "python3 -c pass -m agent_memory hook codex session-end",
            "npx -y agent-memory-dashboard hook codex session-end",
            "npx -y other agent-memory hook codex session-end",
        ] {
            assert_eq!(event(Client::Codex, line), None, "{line}");
        }
        let handler = |args: Value| json!({ "command": "/bin/agent-memory", "args": args });
        let ours = handler(json!(["hook", "codex", "session-end"]));
        let line = command_line(&ours).unwrap();
        assert_eq!(event_of(&line, Client::Codex), Some("session-end"));
        assert_eq!(command_line(&handler(json!(["hook", "codex", "session-end", 1]))), None);
        assert_eq!(command_line(&handler(json!("hook"))), None);
    }
}
