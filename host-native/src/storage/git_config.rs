//! As much of Git's configuration as tells where a submodule's work tree is.

use std::iter::Peekable;
use std::str::Chars;

/// The value of `core.worktree`: the last one, as for Git. None where there is none, it has no
/// value, or the text is not a configuration.
pub(super) fn core_worktree(text: &str) -> Option<String> {
    let text = text.replace("\r\n", "\n");
    let mut rest = text.chars().peekable();
    let mut in_core = false;
    let mut found = None;
    loop {
        match rest.peek().copied() {
            None => return found,
            Some(c) if c.is_ascii_whitespace() => {
                rest.next();
            }
            Some('#' | ';') => skip_line(&mut rest),
            Some('[') => in_core = section(&mut rest)?.eq_ignore_ascii_case("core"),
            Some(c) if c.is_ascii_alphabetic() => {
                let (key, value) = setting(&mut rest)?;
                if in_core && key.eq_ignore_ascii_case("worktree") {
                    found = value;
                }
            }
            Some(_) => return None,
        }
    }
}

fn skip_line(rest: &mut Peekable<Chars>) {
    while rest.peek().is_some_and(|&c| c != '\n') {
        rest.next();
    }
}

/// What stands between the brackets.
fn section(rest: &mut Peekable<Chars>) -> Option<String> {
    rest.next();
    let mut name = String::new();
    let mut quoted = false;
    loop {
        match rest.next()? {
            '\n' => return None,
            '\\' if quoted => name.push(rest.next()?),
            '"' => {
                quoted = !quoted;
                name.push('"');
            }
            ']' if !quoted => return Some(name),
            c => name.push(c),
        }
    }
}

fn setting(rest: &mut Peekable<Chars>) -> Option<(String, Option<String>)> {
    let mut key = String::new();
    while let Some(c) = rest.next_if(|c| c.is_ascii_alphanumeric() || *c == '-') {
        key.push(c);
    }
    while rest.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
    match rest.next() {
        None | Some('\n') => Some((key, None)),
        Some('#' | ';') => {
            skip_line(rest);
            Some((key, None))
        }
        Some('=') => Some((key, Some(value(rest)?))),
        Some(_) => None,
    }
}

/// Up to the end of the line: white space around it goes, unless it is quoted.
fn value(rest: &mut Peekable<Chars>) -> Option<String> {
    let mut value = String::new();
    let mut kept = 0;
    let mut quoted = false;
    loop {
        match rest.next() {
            None | Some('\n') if quoted => return None,
            None | Some('\n') => break,
            Some('"') => {
                quoted = !quoted;
                kept = value.len();
            }
            Some('\\') => {
                match rest.next()? {
                    '\n' => continue,
                    'n' => value.push('\n'),
                    't' => value.push('\t'),
                    'b' => value.push('\u{8}'),
                    c @ ('\\' | '"') => value.push(c),
                    _ => return None,
                }
                kept = value.len();
            }
            Some('#' | ';') if !quoted => {
                skip_line(rest);
                break;
            }
            Some(c) if c.is_ascii_whitespace() && !quoted => {
                if kept > 0 {
                    value.push(c);
                }
            }
            Some(c) => {
                value.push(c);
                kept = value.len();
            }
        }
    }
    value.truncate(kept);
    Some(value)
}
