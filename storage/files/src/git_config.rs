//! A parser of Git's configuration files, to find a submodule's work tree. It follows Git's own
//! rules, so that a host and Git read the same `core.worktree`.

use std::collections::BTreeMap;
use std::str::Chars;

/// Settings by `section.name`, both in lower case, or by `section.subsection.name`. A setting
/// without `=` has no value.
pub type Settings = BTreeMap<String, Option<String>>;

/// Parses a configuration. The last setting of a name counts. `None` if the text is not valid.
pub fn parse(text: &str) -> Option<Settings> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let mut rest = text.chars();
    let mut section = String::new();
    let mut settings = Settings::new();
    while let Some(c) = rest.next() {
        match c {
            c if is_space(c) => {}
            '#' | ';' => skip_line(&mut rest),
            '[' => section = header(&mut rest)?,
            c if c.is_ascii_alphabetic() => {
                let (name, value) = setting(c, &mut rest)?;
                settings.insert(format!("{section}.{name}"), value);
            }
            _ => return None,
        }
    }
    Some(settings)
}

/// Whether a setting is true. Git's other forms of numbers, such as `0x1`, are not supported.
pub fn is_true(value: Option<&str>) -> bool {
    let Some(value) = value else { return true };
    let digits = value.strip_prefix(['+', '-']).unwrap_or(value);
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    ["true", "yes", "on"].iter().any(|word| value.eq_ignore_ascii_case(word))
        || (is_number && digits.bytes().any(|byte| byte != b'0'))
}

/// The next character. The end of the text counts as a line feed.
fn next(rest: &mut Chars) -> char {
    rest.next().unwrap_or('\n')
}

fn skip_line(rest: &mut Chars) {
    while next(rest) != '\n' {}
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-'
}

/// The section name between the brackets.
fn header(rest: &mut Chars) -> Option<String> {
    let mut name = String::new();
    loop {
        match next(rest) {
            ']' => return (!name.is_empty()).then_some(name),
            '\n' => return None,
            c if is_space(c) => return Some(format!("{name}.{}", subsection(rest)?)),
            c if is_of_name(c) || c == '.' => name.push(c.to_ascii_lowercase()),
            _ => return None,
        }
    }
}

/// The quoted subsection, up to the closing bracket.
fn subsection(rest: &mut Chars) -> Option<String> {
    let mut name = String::new();
    loop {
        match next(rest) {
            '"' => break,
            c if is_space(c) && c != '\n' => {}
            _ => return None,
        }
    }
    loop {
        match next(rest) {
            '"' => return (next(rest) == ']').then_some(name),
            '\n' => return None,
            '\\' => match next(rest) {
                '\n' => return None,
                c => name.push(c),
            },
            c => name.push(c),
        }
    }
}

fn setting(first: char, rest: &mut Chars) -> Option<(String, Option<String>)> {
    let mut name = String::new();
    let mut c = first;
    while is_of_name(c) {
        name.push(c.to_ascii_lowercase());
        c = next(rest);
    }
    while matches!(c, ' ' | '\t') {
        c = next(rest);
    }
    match c {
        '\n' => Some((name, None)),
        '=' => Some((name, Some(value(rest)?))),
        _ => None,
    }
}

/// The value up to the end of the line, which may be continued. White space around it is removed,
/// unless it is quoted.
fn value(rest: &mut Chars) -> Option<String> {
    let mut value = String::new();
    let mut kept = 0;
    let mut quoted = false;
    loop {
        match next(rest) {
            '\n' if quoted => return None,
            '\n' => break,
            '#' | ';' if !quoted => {
                skip_line(rest);
                break;
            }
            c if is_space(c) && !quoted => {
                if !value.is_empty() {
                    value.push(c);
                }
                continue;
            }
            '"' => quoted = !quoted,
            '\\' => match next(rest) {
                '\n' => {}
                'n' => value.push('\n'),
                't' => value.push('\t'),
                'b' => value.push('\u{8}'),
                c @ ('\\' | '"') => value.push(c),
                _ => return None,
            },
            c => value.push(c),
        }
        kept = value.len();
    }
    value.truncate(kept);
    Some(value)
}
