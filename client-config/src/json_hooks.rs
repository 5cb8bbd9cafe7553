//! Hooks in JSON with comments. The object `hooks` has a list for each event. In Codex, Claude Code and
//! Gemini CLI, the elements of the list are groups, each with a list of hooks.

use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject};
use serde_json::Value;

use crate::Client;
use crate::hooks::{self, Event, Handlers};
use crate::json::{entry_of, merge, only, parse, top_level};

const KEY: &str = "hooks";

/// A hook that starts this program, the list that holds it, and the group of that list, if any.
struct Place {
    event: Event,
    handler: CstObject,
    list: CstArray,
    group: Option<CstObject>,
}

/// The hooks in a text that start this program.
pub(crate) fn found(text: &str, client: Client) -> Result<Handlers, String> {
    let Some(top_level) = top_level(&parse(text)?)? else { return Ok(Vec::new()) };
    let places = places(&top_level, client)?.into_iter();
    let value = |place: Place| (place.event, place.handler.to_serde_value().unwrap_or_default());
    let mut found: Handlers = places.map(value).collect();
    found.sort_by_key(|(event, _)| *event);
    Ok(found)
}

/// The text with these hooks, and no others that start this program. An existing hook keeps its other
/// fields.
pub(crate) fn with(
    text: &str,
    client: Client,
    wanted: &[(Event, Value)],
) -> Result<String, String> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let root = parse(text)?;
    let top_level = top_level(&root)?.unwrap_or_else(|| root.object_value_or_set());
    let places = places(&top_level, client)?;
    let mut is_there = Vec::new();
    for place in places {
        match wanted.iter().find(|(event, _)| *event == place.event) {
            Some((event, handler)) if !is_there.contains(event) => {
                merge(&place.handler, &hooks::fields(handler))?;
                is_there.push(*event);
            }
            _ => place.remove(),
        }
    }
    for (event, handler) in wanted.iter().filter(|(event, _)| !is_there.contains(event)) {
        add(&top_level, client, *event, handler)?;
    }
    Ok(root.to_string())
}

/// The text without the hooks that start this program.
pub(crate) fn without(text: &str, client: Client) -> Result<String, String> {
    let root = parse(text)?;
    if let Some(top_level) = top_level(&root)? {
        places(&top_level, client)?.into_iter().for_each(Place::remove);
    }
    Ok(root.to_string())
}

fn places(top_level: &CstObject, client: Client) -> Result<Vec<Place>, String> {
    let mut places = Vec::new();
    let Some(hooks) = hooks_of(top_level)? else { return Ok(places) };
    for event in Event::ALL {
        let Some(list) = list_of(&hooks, client.key_of(event))? else { continue };
        for element in objects(&list) {
            let (list, group) = if client.groups_hooks() {
                let in_group = only(&element, KEY)?.and_then(|property| property.array_value());
                // A group without a list of hooks is not this program's.
                let Some(list) = in_group else { continue };
                (list, Some(element.clone()))
            } else {
                (list.clone(), None)
            };
            let handlers = if group.is_some() { objects(&list) } else { vec![element] };
            for handler in handlers {
                let value = handler.to_serde_value().unwrap_or_default();
                if client.event_of(&value) == Some(event) {
                    let list = list.clone();
                    let group = group.clone();
                    places.push(Place { event, handler, list, group });
                }
            }
        }
    }
    Ok(places)
}

impl Place {
    /// Removes the hook, and then its group and the list of the event if they are empty. A group with a
    /// condition stays, and so does anything with a comment in it or beside it.
    fn remove(self) {
        self.handler.remove();
        let mut list = self.list;
        if let Some(group) = self.group {
            let is_alone = list.elements().is_empty() && group.properties().len() == 1;
            if !is_alone || has_comment(&group.clone().into()) {
                return;
            }
            let Some(groups) = group.parent().and_then(|parent| parent.as_array()) else { return };
            group.remove();
            list = groups;
        }
        if list.elements().is_empty()
            && let Some(property) = list.parent().and_then(|parent| parent.as_object_prop())
            && !has_comment(&property.clone().into())
        {
            property.remove();
        }
    }
}

/// Whether a comment is in a node, or on the line on which it begins or ends.
fn has_comment(node: &CstNode) -> bool {
    let of_line = |node: &CstNode| !node.is_newline();
    let before = node.previous_siblings().take_while(of_line);
    let after = node.next_siblings().take_while(of_line);
    before.chain(after).any(|node| node.is_comment()) || holds_comment(node)
}

fn holds_comment(node: &CstNode) -> bool {
    node.children().iter().any(|node| node.is_comment() || holds_comment(node))
}

/// Adds a hook at the end of its list.
fn add(top_level: &CstObject, client: Client, event: Event, handler: &Value) -> Result<(), String> {
    if client == Client::Cursor && only(top_level, "version")?.is_none() {
        top_level.append("version", CstInputValue::Number("1".to_owned()));
    }
    let hooks = match hooks_of(top_level)? {
        Some(hooks) => hooks,
        None => top_level.append(KEY, CstInputValue::Object(Vec::new())).object_value_or_set(),
    };
    let key = client.key_of(event);
    let handler = entry_of(&hooks::fields(handler));
    let element = if client.groups_hooks() {
        let list = CstInputValue::Array(vec![handler]);
        CstInputValue::Object(vec![(KEY.to_owned(), list)])
    } else {
        handler
    };
    match list_of(&hooks, key)? {
        Some(list) => drop(list.append(element)),
        None => drop(hooks.append(key, CstInputValue::Array(vec![element]))),
    }
    Ok(())
}

fn hooks_of(top_level: &CstObject) -> Result<Option<CstObject>, String> {
    let Some(property) = only(top_level, KEY)? else { return Ok(None) };
    let hooks = property.object_value();
    hooks.map(Some).ok_or_else(|| format!("its `{KEY}` is no object: mend it"))
}

fn list_of(hooks: &CstObject, key: &str) -> Result<Option<CstArray>, String> {
    let Some(property) = only(hooks, key)? else { return Ok(None) };
    let list = property.array_value();
    list.map(Some).ok_or_else(|| format!("its `{KEY}.{key}` is no list: mend it"))
}

fn objects(list: &CstArray) -> Vec<CstObject> {
    list.elements().iter().filter_map(CstNode::as_object).collect()
}
