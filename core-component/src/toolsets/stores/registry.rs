//! The registry of stores: a YAML file with the names and directories of stores, in the format of
//! an earlier program ("spec 003"). The host reads and writes the file; these functions only work
//! on its text.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::names::name_error;
use crate::nearest::nearest;
use crate::yaml::{self, Editor, New, Node};

/// The maximum number of values and keys in a registry, enough for about 10,000 stores.
const MAX_NODES: usize = 100_000;

/// A change of the registry.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Change {
    Add(Registered),
    Remove { name: String },
}

/// A store to add to the registry.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Registered {
    pub name: String,
    pub path: String,
    pub description: Option<String>,
}

/// A store of the registry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
struct Listed {
    /// The directory of the store. Empty if the registry gives none.
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// The reason why the store cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    unusable: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// Returns the stores of a registry as a JSON object, by name. A store that cannot be used is
/// included, with the reason.
///
/// # Errors
///
/// The line and the reason why the text is not a registry.
pub(crate) fn parse(text: &str) -> Result<Value, String> {
    let (_, text) = split_mark(text);
    let root = root(text)?;
    let mut listed = Map::new();
    for (name, store) in stores(text, root.as_ref())? {
        let mut store_listed = listed_store(name, store);
        if listed.keys().any(|other| other.eq_ignore_ascii_case(name)) {
            let reason = "its name differs from another only in case: rename one of them";
            store_listed.unusable = Some(reason.to_owned());
        }
        let at_line = |reason: String| invalid(text, store, &reason);
        store_listed.unusable = store_listed.unusable.map(at_line);
        listed.insert(name.to_owned(), json!(store_listed));
    }
    Ok(Value::Object(listed))
}

fn listed_store(name: &str, store: &Node) -> Listed {
    let field = |of: &Node, key: &str| of.get(key).and_then(Node::text).map(str::to_owned);
    let path = store.get("properties").and_then(|properties| field(properties, "path"));
    let path = path.unwrap_or_default();
    let kind = field(store, "kind");
    let unusable = match (name_error(name), kind.as_deref()) {
        (Some(what), _) => Some(format!("its name {what}: rename it")),
        (None, None) => Some("it has no `kind`: write `kind: filesystem`".to_owned()),
        (None, Some("filesystem")) => path
            .is_empty()
            .then(|| "it has no `path` in its `properties`: write the path of a directory".into()),
        (None, Some(kind)) => Some(format!(
            "its kind `{}` is not supported: only `filesystem` is",
            kind.escape_debug()
        )),
    };
    let mode = store.get("categoryMode").and_then(Node::text);
    let ignored = mode.filter(|_| unusable.is_none()).map(|mode| {
        format!(
            "`categoryMode: {mode}` of the store `{name}` is ignored: every category is allowed"
        )
    });
    let warnings = ignored.into_iter().collect();
    Listed { path, description: field(store, "description"), unusable, warnings }
}

/// Returns the text of a registry with one change. Everything else stays as it was.
///
/// # Errors
///
/// The reason why the text is not a registry or the change is not possible.
pub(crate) fn edit(text: &str, change: &Change) -> Result<String, String> {
    let (mark, text) = split_mark(text);
    let registered = root(text)?;
    let before = stores(text, registered.as_ref())?;
    let edited = match change {
        Change::Add(store) => {
            if let Some(what) = name_error(&store.name) {
                return Err(format!("the name `{}` {what}: choose another", store.name));
            }
            let is_twin = |(name, _): &&(&str, _)| name.eq_ignore_ascii_case(&store.name);
            if let Some((twin, _)) = before.iter().find(is_twin) {
                return Err(format!(
                    "the store `{twin}` is registered already: choose another name"
                ));
            }
            add(text, registered.as_ref(), store)
        }
        Change::Remove { name } => {
            if !before.iter().any(|(other, _)| other == name) {
                return Err(format!("no store `{name}` is registered"));
            }
            let mut editor = Editor::new(text);
            let stores = registered.as_ref().and_then(|root| root.get("stores"));
            editor.remove(stores.expect("it has the name"), name);
            editor.finish()
        }
    };
    let edited =
        edited.filter(|edited| keeps_others(&before, edited, change)).ok_or_else(|| {
            "the registry has a form that cannot be changed here: edit the file by hand".to_owned()
        })?;
    Ok(format!("{mark}{edited}"))
}

/// Whether the edit did exactly what `change` asks for: it added or removed this store, and changed
/// no other store.
fn keeps_others(before: &[(&str, &Node)], edited: &str, change: &Change) -> bool {
    let Ok(registered) = root(edited) else { return false };
    let Ok(after) = stores(edited, registered.as_ref()) else { return false };
    let (name, is_added) = match change {
        Change::Add(store) => (&store.name, true),
        Change::Remove { name } => (name, false),
    };
    let others = |of: &[(&str, &Node)]| of.iter().filter(|(other, _)| other != name).count();
    let is_kept = |(other, store): &(&str, &Node)| {
        other == name || after.iter().any(|(name, kept)| name == other && kept.is_same(store))
    };
    after.iter().any(|(other, _)| other == name) == is_added
        && others(before) == others(&after)
        && before.iter().all(is_kept)
}

fn add(text: &str, root: Option<&Node>, store: &Registered) -> Option<String> {
    let mut fields = vec![("kind", New::plain("filesystem"))];
    fields.extend(store.description.as_ref().map(|text| ("description", New::text(text))));
    fields.push(("properties", New::mapping([("path", New::text(&store.path))])));
    let fields = New::mapping(fields);
    let mut editor = Editor::new(text);
    match root {
        // The name is written as a YAML string, because it can look like a number.
        Some(root) => match root.get("stores") {
            Some(stores) => editor.set(stores, &store.name, &fields),
            None => editor.set(root, "stores", &New::mapping([(store.name.clone(), fields)])),
        },
        None => {
            let new = New::mapping([(store.name.clone(), fields)]);
            let comments = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            return Some(format!("{text}{comments}stores:{}\n", new.after_colon(2, "\n")));
        }
    }
    editor.finish()
}

/// Splits a text after its byte order mark, if there is one.
fn split_mark(text: &str) -> (&str, &str) {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    text.split_at(start)
}

fn root(text: &str) -> Result<Option<Node>, String> {
    yaml::parse(text, MAX_NODES)
        .map_err(|error| format!("line {} of the registry: {}", error.line, error.message))
}

/// Returns the stores with their names.
fn stores<'a>(text: &str, root: Option<&'a Node>) -> Result<Vec<(&'a str, &'a Node)>, String> {
    let Some(root) = root.filter(|root| !root.is_null()) else { return Ok(Vec::new()) };
    if root.entries().is_none() {
        return Err(invalid(text, root, "a registry is a mapping with the key `stores`"));
    }
    let Some(stores) = root.get("stores") else {
        return misspelt(root).map_or(Ok(Vec::new()), |(key, value)| {
            let key = key.escape_debug();
            Err(invalid(text, value, &format!("the key `{key}` is not `stores`: rename it")))
        });
    };
    let entries =
        stores.entries().ok_or_else(|| invalid(text, stores, "`stores` maps names to stores"))?;
    let named = entries.iter().map(|entry| (entry.key.text().unwrap_or_default(), &entry.value));
    Ok(named.collect())
}

/// Returns a key of the registry that is probably a misspelt `stores`, with its value.
fn misspelt(root: &Node) -> Option<(&str, &Node)> {
    let known = ["stores".to_owned()];
    let mut entries = root.entries().into_iter().flatten();
    let is_meant = |key: &str| nearest(key, &known).is_some();
    entries.find_map(|entry| Some((entry.key.text().filter(|key| is_meant(key))?, &entry.value)))
}

fn invalid(text: &str, at: &Node, message: &str) -> String {
    format!("line {} of the registry: {message}", crate::text::line_of(text, at.span.start))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGISTRY: &str = "# Our stores\nversion: 2\nstores:\n  team: # shared\n    kind: filesystem\n    \
        categoryMode: free\n    categories: {}\n    description: Ours\n    properties:\n      path: \
        ~/team/memory\n  remote:\n    kind: s3\n    properties: {bucket: x}\n\n  'own':\n    kind: \
        filesystem\n    properties: { path: \"/data/own\" }\n# end\n";

    #[test]
    fn a_registry_names_its_stores_and_their_directories() {
        let expected = json!({
            "team": {
                "path": "~/team/memory",
                "description": "Ours",
                "warnings": ["`categoryMode: free` of the store `team` is ignored: every category is allowed"],
            },
            "remote": {
                "path": "",
                "unusable": "line 12 of the registry: its kind `s3` is not supported: only `filesystem` is",
            },
            "own": {"path": "/data/own"},
        });
        assert_eq!(parse(REGISTRY), Ok(expected));
        for empty in ["", "# nothing\n", "stores:\n", "stores: {}\n", "other: 1\n"] {
            assert_eq!(parse(empty), Ok(json!({})), "{empty:?}");
        }
    }

    fn store(name: &str) -> String {
        format!("  {name}:\n    kind: filesystem\n    properties: {{path: /x}}\n")
    }

    #[test]
    fn a_registry_that_cannot_be_used_is_refused_with_the_line() {
        for (text, says) in [
            ("stores: [a]\n".to_owned(), "line 1 of the registry: `stores` maps names"),
            ("- a\n".to_owned(), "line 1 of the registry: a registry is a mapping"),
            (format!("store:\n{}", store("a")), "the key `store` is not `stores`: rename it"),
            (format!("Stores:\n{}", store("a")), "the key `Stores` is not `stores`: rename it"),
            ("stores:\n  a: &x\n    kind: filesystem\n".to_owned(), "anchors"),
            (
                format!("stores:\n{}{}", store("a"), store("a")),
                "line 5 of the registry: the key `a` is there twice",
            ),
        ] {
            let error = parse(&text).expect_err(&text);
            assert!(error.contains(says), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_store_that_cannot_be_used_says_why_and_leaves_the_others_usable() {
        for (name, text, says) in [
            ("b", "  b:\n    properties: {path: /b}\n", "line 6 of the registry: it has no `kind`"),
            ("b", "  b:\n    kind: filesystem\n", "line 6 of the registry: it has no `path`"),
            ("b", "  b: text\n", "line 5 of the registry: it has no `kind`"),
            ("b", "  b:\n    kind: s3\n", "its kind `s3` is not supported"),
            ("a/b", &store("a/b"), "line 6 of the registry: its name is not 1 to 64"),
            ("NUL", &store("NUL"), "its name is the name of a device on Windows: rename it"),
            ("A", &store("A"), "its name differs from another only in case: rename one of them"),
        ] {
            let listed = parse(&format!("stores:\n{}{text}", store("a"))).expect(text);
            assert_eq!(listed["a"], json!({"path": "/x"}), "{text}");
            let unusable = listed[name]["unusable"].as_str().unwrap_or_default();
            assert!(unusable.contains(says), "{text}: {unusable}");
        }
    }

    #[test]
    fn a_change_leaves_every_other_byte_as_it_is() {
        let add = |text: &str, name: &str, description: Option<&str>| {
            let store = Registered {
                name: name.into(),
                path: "/data/new one".into(),
                description: description.map(str::to_owned),
            };
            edit(text, &Change::Add(store))
        };
        let remove = |text: &str, name: &str| edit(text, &Change::Remove { name: name.into() });
        let added = add(REGISTRY, "new", Some("New: one")).expect("it is added");
        let lines = "  new:\n    kind: filesystem\n    description: \"New: one\"\n    properties:\n      path: \
                     /data/new one\n";
        let (before, after) = REGISTRY.split_once("# end").expect("it has an end");
        assert_eq!(added, format!("{before}{lines}# end{after}"));
        assert_eq!(remove(&added, "new").as_deref(), Ok(REGISTRY));
        let without = remove(REGISTRY, "team").expect("it is removed");
        assert!(without.starts_with("# Our stores\nversion: 2\nstores:\n  remote:\n"), "{without}");

        let whole =
            "stores:\n  \"1\":\n    kind: filesystem\n    properties:\n      path: /data/new one\n";
        for (empty, begins) in
            [("", ""), ("# c\n", "# c\n"), ("# c", "# c\n"), ("v: 1\n", "v: 1\n")]
        {
            assert_eq!(add(empty, "1", None), Ok(format!("{begins}{whole}")), "{empty:?}");
        }
        for empty in ["stores:\n", "stores: {}\n"] {
            let added = add(empty, "1", None).expect("it is added");
            assert_eq!(parse(&added), Ok(json!({"1": {"path": "/data/new one"}})), "{added}");
            let again = remove(&added, "1").expect("it is removed");
            assert_eq!(parse(&again), Ok(json!({})), "{again}");
        }
        for (text, name) in
            [(REGISTRY, "team"), (REGISTRY, "TEAM"), (REGISTRY, "remote"), ("", "..")]
        {
            assert!(add(text, name, None).is_err(), "{name}");
        }
        assert!(remove(REGISTRY, "nothing").is_err());
    }

    #[test]
    fn a_registry_keeps_its_byte_order_mark() {
        for rest in [REGISTRY, "", "# nothing\n", "- a\n"] {
            let text = format!("\u{feff}{rest}");
            assert_eq!(parse(&text), parse(rest), "{rest:?}");
            let path = "/data/new".to_owned();
            let add = Change::Add(Registered { name: "new".into(), path, description: None });
            let edited = edit(rest, &add).map(|edited| format!("\u{feff}{edited}"));
            assert_eq!(edit(&text, &add), edited, "{rest:?}");
        }
        let marked = format!("\u{feff}{REGISTRY}");
        let removed =
            edit(&marked, &Change::Remove { name: "team".into() }).expect("it is removed");
        assert!(removed.starts_with("\u{feff}# Our stores\n"), "{removed}");
        assert_eq!(parse(&removed), parse(&removed[3..]));
    }
}
