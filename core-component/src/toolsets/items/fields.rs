//! Makes the text of an item that a search reads: from all fields of its value, or from the fields
//! at given paths.

use serde_json::{Map, Value};

use super::error::Error;

/// The path of the whole value.
const WHOLE: &str = "$";

/// Returns the text of a value: a line for each text, number and boolean in it, after its path. If
/// `paths` is given, only values at or below these paths are included.
pub(super) fn text_of(value: &Map<String, Value>, paths: Option<&[String]>) -> String {
    let mut lines = Vec::new();
    match paths {
        None => fields(value, "", &mut lines),
        Some(paths) => {
            for path in paths {
                match steps(path) {
                    Ok(steps) => follow(&Value::Object(value.clone()), &steps, path, &mut lines),
                    // Cannot happen: paths are checked before they are stored.
                    Err(_) => continue,
                }
            }
        }
    }
    lines.join("\n")
}

/// Checks the form of paths before they are stored.
///
/// # Errors
///
/// `INVALID_INPUT` for a malformed path.
pub(super) fn check(paths: &[String]) -> Result<(), Error> {
    paths.iter().try_for_each(|path| steps(path).map(drop))
}

/// A step of a path.
enum Step<'p> {
    Field(&'p str),
    /// The item of a list at an index. A negative index counts from the end.
    Item(i64),
    /// Each item of a list, or each field of an object.
    Each,
}

/// Parses a path such as `chapters[*].title` into its steps.
fn steps(path: &str) -> Result<Vec<Step<'_>>, Error> {
    let bad = || Error::bad_path(path);
    if path == WHOLE {
        return Ok(Vec::new());
    }
    let mut steps = Vec::new();
    for part in path.split('.') {
        let (field, mut indexes) = part.split_at(part.find('[').unwrap_or(part.len()));
        match field {
            "" if indexes.is_empty() => return Err(bad()),
            "" => {}
            "*" => steps.push(Step::Each),
            field => steps.push(Step::Field(field)),
        }
        while !indexes.is_empty() {
            let inner = indexes.strip_prefix('[').ok_or_else(bad)?;
            let (index, rest) = inner.split_once(']').ok_or_else(bad)?;
            steps.push(match index {
                "*" => Step::Each,
                index => Step::Item(index.parse().map_err(|_| bad())?),
            });
            indexes = rest;
        }
    }
    Ok(steps)
}

fn follow(value: &Value, steps: &[Step<'_>], path: &str, lines: &mut Vec<String>) {
    let Some((first, rest)) = steps.split_first() else {
        let path = if path == WHOLE { "" } else { path };
        return add(value, path, lines);
    };
    match (first, value) {
        (Step::Field(name), Value::Object(fields)) => {
            if let Some(value) = fields.get(*name) {
                follow(value, rest, path, lines);
            }
        }
        (Step::Item(index), Value::Array(items)) => {
            let from_end = |index: i64| items.len().checked_sub(index.unsigned_abs() as usize);
            let at = if *index < 0 { from_end(*index) } else { usize::try_from(*index).ok() };
            if let Some(value) = at.and_then(|at| items.get(at)) {
                follow(value, rest, path, lines);
            }
        }
        (Step::Each, Value::Array(items)) => {
            items.iter().for_each(|value| follow(value, rest, path, lines));
        }
        (Step::Each, Value::Object(fields)) => {
            fields.values().for_each(|value| follow(value, rest, path, lines));
        }
        _ => {}
    }
}

/// Adds the texts in a value as lines, each after its path.
fn add(value: &Value, path: &str, lines: &mut Vec<String>) {
    let text = match value {
        Value::Null => return,
        Value::Object(object) => return fields(object, path, lines),
        Value::Array(items) => return items.iter().for_each(|item| add(item, path, lines)),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    };
    lines.push(if path.is_empty() { text } else { format!("{path}: {text}") });
}

fn fields(object: &Map<String, Value>, path: &str, lines: &mut Vec<String>) {
    for (name, value) in object {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        add(value, &path, lines);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(paths: Option<&[&str]>) -> String {
        let value = json!({
            "title": "Tea", "meta": {"lang": "en", "stars": 5, "draft": false, "gone": null},
            "parts": [{"text": "green"}, {"text": "black", "page": 2}], "tags": ["a", "b"],
        });
        let paths: Option<Vec<String>> =
            paths.map(|paths| paths.iter().map(|path| (*path).to_owned()).collect());
        if let Some(paths) = &paths {
            check(paths).unwrap_or_else(|error| panic!("{}", error.message()));
        }
        text_of(value.as_object().expect("an object"), paths.as_deref())
    }

    #[test]
    fn a_text_has_a_line_for_each_value() {
        let all = "title: Tea\nmeta.lang: en\nmeta.stars: 5\nmeta.draft: false\nparts.text: green\n\
                   parts.text: black\nparts.page: 2\ntags: a\ntags: b";
        assert_eq!(text(None), all);
        assert_eq!(text(Some(&["$"])), all);
    }

    #[test]
    fn paths_choose_fields_items_and_each_item() {
        assert_eq!(text(Some(&["title", "meta.lang"])), "title: Tea\nmeta.lang: en");
        assert_eq!(text(Some(&["parts[*].text"])), "parts[*].text: green\nparts[*].text: black");
        assert_eq!(text(Some(&["parts[-1].text", "tags[0]"])), "parts[-1].text: black\ntags[0]: a");
        assert_eq!(text(Some(&["*.lang", "meta.*"])), {
            "*.lang: en\nmeta.*: en\nmeta.*: 5\nmeta.*: false"
        });
        for nothing in [&[][..], &["none", "title.text", "tags[9]", "tags[-9]", "meta[0]"]] {
            assert_eq!(text(Some(nothing)), "", "{nothing:?}");
        }
    }

    #[test]
    fn a_path_that_cannot_be_followed_is_refused() {
        for bad in ["", ".", "a.", "a..b", "a[", "a[x]", "a[1]b", "a]["] {
            assert!(check(&[bad.to_owned()]).is_err() || bad == "a][", "{bad}");
        }
    }
}
