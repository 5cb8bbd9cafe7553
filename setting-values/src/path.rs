//! Finds paths that are mistakes, such as one with a variable that a client or a shell has not
//! replaced.

/// The reason why a path must be a mistake, and what to write instead. `None` if no mistake is found.
///
/// Without this check, such a path would create a directory with that name, perhaps in a repository.
pub fn path_mistake(path: &str) -> Option<&'static str> {
    if path.trim() != path {
        return Some("has white space at an end: leave it out");
    }
    if is_quoted(path) {
        return Some("has quotation marks around it: leave them out");
    }
    if path.contains("${") {
        return Some("has a `${...}` that nothing has replaced: write the path itself");
    }
    if has_between(path, "$(", ")") || has_between(path, "`", "`") {
        return Some("has a command that no shell has run: write the path itself");
    }
    if has_between(path, "{{", "}}") {
        return Some("has a `{{...}}` that nothing has replaced: write the path itself");
    }
    if path.split(['/', '\\']).any(is_shell_variable) {
        return Some(
            "begins a name with a `$` variable that nothing has replaced: write the path itself",
        );
    }
    if path.split(['/', '\\']).any(is_variable_in_braces) {
        return Some("has a `{NAME}` that nothing has replaced: write the path itself");
    }
    if path.split(['/', '\\']).any(is_placeholder) {
        return Some("has a placeholder in `<...>`: write the path itself");
    }
    if matches!(path, "null" | "undefined" | "None" | "[object Object]") {
        return Some("is the text of a missing value: write a path, or leave the option out");
    }
    if has_percent_variable(path) {
        return Some("has a `%...%` that nothing has replaced: write the path itself");
    }
    if is_uri(path) {
        return Some("is a URI: write the path itself, such as `/home/ada/memory`");
    }
    if cfg!(not(windows)) && (begins_with_drive(path) || path.starts_with("\\\\")) {
        return Some("is a path of Windows: write a path of this system");
    }
    if path.starts_with('~') && path != "~" && !path.starts_with("~/") {
        return Some(
            "begins with `~` and a name, which is not replaced here: write the path itself",
        );
    }
    None
}

fn is_quoted(path: &str) -> bool {
    let mut characters = path.chars();
    let first = characters.next();
    let last = characters.next_back();
    matches!(
        (first, last),
        (Some('\''), Some('\'')) | (Some('"'), Some('"')) | (Some('“' | '„'), Some('”' | '“'))
    )
}

fn has_between(path: &str, begin: &str, end: &str) -> bool {
    path.split_once(begin).is_some_and(|(_, after)| after.contains(end))
}

fn is_shell_variable(segment: &str) -> bool {
    let name = segment.strip_prefix('$');
    name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

/// Whether the segment is `{NAME}`, in capitals. A directory `{a}` can be meant.
fn is_variable_in_braces(segment: &str) -> bool {
    let name = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    name.is_some_and(|name| {
        name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
            && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    })
}

/// Whether the segment is a text in `<...>`, as documentation marks a part that a reader has to replace.
fn is_placeholder(segment: &str) -> bool {
    let name = segment.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    name.is_some_and(|name| !name.is_empty() && !name.contains(['<', '>']))
}

/// Whether the path has `%NAME%`, as a shell of Windows writes a variable.
fn has_percent_variable(path: &str) -> bool {
    let is_name = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '(' | ')'))
    };
    let parts: Vec<&str> = path.split('%').collect();
    parts.len() > 2 && parts[1..parts.len() - 1].iter().any(|part| is_name(part))
}

/// Whether the path begins with `file:`, or with another scheme and `://`.
fn is_uri(path: &str) -> bool {
    let Some((scheme, rest)) = path.split_once(':') else { return false };
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    is_scheme && (scheme.eq_ignore_ascii_case("file") || rest.starts_with("//"))
}

/// Whether the path begins with a drive letter and `:`, also after a `/` as in a `file:` URI. A capital
/// letter counts before any text, as in `C:memory`; a small letter only before a separator or the end.
fn begins_with_drive(path: &str) -> bool {
    if let [b'A'..=b'Z', b':', ..] = path.as_bytes() {
        return true;
    }
    let mut bytes = path.strip_prefix('/').unwrap_or(path).bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.next() == Some(b':')
        && matches!(bytes.next(), None | Some(b'/' | b'\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_cannot_be_meant_exactly_if_the_list_of_paths_says_so() {
        let list = include_str!("../../tests/setting-paths.json");
        let list: serde_json::Value = serde_json::from_str(list).expect("JSON");
        let paths = |name: &str| {
            let paths = list[name].as_array().expect("a list").iter();
            paths.map(|path| path.as_str().expect("a text").to_owned()).collect::<Vec<_>>()
        };
        for path in paths("mistakes") {
            assert!(path_mistake(&path).is_some(), "{path}");
        }
        for path in paths("drives") {
            assert_eq!(path_mistake(&path).is_some(), cfg!(not(windows)), "{path}");
        }
        for path in paths("meant") {
            assert_eq!(path_mistake(&path), None, "{path}");
        }
    }
}
