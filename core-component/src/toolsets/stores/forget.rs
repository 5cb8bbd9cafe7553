//! Removes a text from the memories and indexes of stores, or removes one memory, for
//! `forget_memory`.

use serde_json::Value;

use super::change::{CommitMode, Planned, change};
use super::error::Error;
use super::index::indexed;
use super::intent;
use super::memory::Memory;
use super::operations::remove_memory;
use super::path::{CategoryPath, INDEX, MemoryPath};
use super::place::{COLLECTION, LABEL};
use super::removal::{remove_from_index, remove_from_memory};
use super::search::owner;
use super::store::{Store, names};
use super::walk::{Files, files};
use crate::forget::{Forgetting, Found, IN_GIT, NO_WORK_LEFT, Removal, Wanted, in_json, ranges_of};
use crate::index;
use crate::names::StoreName;
use crate::storage::{Area, Change, MAX_DOCUMENT_BYTES, Place, Splice};
use crate::tool::{Call, Checked, Forget};

/// The directory of the bookkeeping area for intent records that were set aside.
const SET_ASIDE: &str = "set-aside";

pub(super) const FORGET: Forget = Forget { toolset: "stores", run };

/// Removes the wanted text or memory from the stores that the caller may use.
fn run(call: &Call<'_>, forgetting: &mut Forgetting<'_>) -> Checked<()> {
    if matches!(forgetting.wanted, Wanted::Record(_) | Wanted::Row { .. }) {
        return Ok(());
    }
    let mut names = names(call)?;
    names.retain(|name| forgetting.within.store.is_none_or(|only| only == name));
    for name in &names {
        let Some(name) = StoreName::parse(name) else {
            let name = name.escape_debug();
            forgetting
                .leave(format!("store `{name}` was not searched: register it under a valid name"));
            continue;
        };
        let done = Store::open(call, &name).and_then(|store| match forgetting.wanted {
            Wanted::Text(secret) => look_through(&store, secret, forgetting),
            Wanted::Document(path) => forget_page(&store, path, forgetting),
            Wanted::Record(_) | Wanted::Row { .. } => Ok(()),
        });
        if let Err(error) = done {
            let message = error.message();
            forgetting.leave(format!(
                "store `{}` was not searched or not changed: {message}",
                name.as_str()
            ));
        }
    }
    Ok(())
}

/// Completes an interrupted call: otherwise the next writer would write its texts into the store again.
/// Does nothing in a dry run.
fn complete_interrupted(store: &Store<'_>, forgetting: &mut Forgetting<'_>) {
    if forgetting.dry_run {
        return;
    }
    let warnings = intent::complete(store).unwrap_or_else(|error| {
        vec![format!("an interrupted call was not completed: {}", error.message())]
    });
    for warning in warnings {
        forgetting.leave(format!("store `{}`: {warning}", store.name));
    }
}

/// Removes a whole memory, and the intent records that name its file.
fn forget_page(
    store: &Store<'_>,
    path: &str,
    forgetting: &mut Forgetting<'_>,
) -> Result<(), Error> {
    let Ok(path) = MemoryPath::parse(path) else { return Ok(()) };
    let was_there = store.memory(&path)?.is_some();
    complete_interrupted(store, forgetting);
    if store.memory(&path)?.is_none() {
        if was_there {
            forgetting.leave(format!(
                "`{path}` of store `{}` was moved or removed by an interrupted call, which was completed \
                 now: search for it again",
                store.name
            ));
        }
    } else {
        if !forgetting.dry_run {
            remove_memory(store, &path)?;
        }
        forgetting.remains(IN_GIT);
        forgetting.add(Found::at(owner(store.name), path.to_string()));
    }
    forget_records(store, &Sought::File(&path.file()), forgetting)
}

fn look_through(
    store: &Store<'_>,
    secret: &str,
    forgetting: &mut Forgetting<'_>,
) -> Result<(), Error> {
    complete_interrupted(store, forgetting);
    let Files { files, categories, warnings } = files(store)?;
    forgetting.remains(IN_GIT);
    for warning in warnings {
        forgetting.leave(format!("store `{}`: {warning}", store.name));
    }
    for (path, status) in files {
        let file = path.file();
        if !forgetting.take(status.size) {
            forgetting.leave(format!("`{file}` of store `{}` {NO_WORK_LEFT}", store.name));
            continue;
        }
        if path.to_string().contains(secret) {
            let tool = store.call.listed("stores", "move_memory");
            let what = "has it in its path: give it another one with";
            forgetting.leave(format!("`{file}` of store `{}` {what} `{tool}`", store.name));
        }
        let done = forget_in_page(store, &path, secret, forgetting.dry_run);
        note(store, path.to_string(), &file, done, forgetting);
    }
    for category in categories {
        let file = category.index();
        let done = forget_in_index(store, &category, secret, forgetting.dry_run);
        note(store, file.clone(), &file, done, forgetting);
    }
    forget_records(store, &Sought::Text(secret), forgetting)
}

/// Notes the intent records that have what is sought, and deletes them except in a dry run.
fn forget_records(
    store: &Store<'_>,
    sought: &Sought<'_>,
    forgetting: &mut Forgetting<'_>,
) -> Result<(), Error> {
    for (path, version) in records_with(store, sought, forgetting)? {
        if !forgetting.dry_run {
            let change =
                Change::Delete { area: Area::Bookkeeping, path: path.clone(), expects: version };
            store.tree.lock(None)?.commit(&[change])?;
        }
        forgetting.add(Found::at(owner(store.name), path));
    }
    Ok(())
}

/// The text or the file for which intent records are searched.
enum Sought<'a> {
    Text(&'a str),
    /// The path of a file.
    File(&'a str),
}

impl Sought<'_> {
    fn in_record(&self, contents: &[u8]) -> Match {
        let record: Result<Value, _> = serde_json::from_slice(contents);
        match (self, record) {
            (Self::Text(text), Ok(record)) => {
                let has_it = |(_, value): &(&str, &str)| !ranges_of(text, value).is_empty();
                if texts_of(&record).iter().any(has_it) { Match::Whole } else { Match::None }
            }
            // No call has written such a record.
            (Self::Text(text), Err(_)) => {
                let contents = String::from_utf8_lossy(contents);
                let has_it = contents.contains(text) || contents.contains(&in_json(text));
                if has_it { Match::Whole } else { Match::None }
            }
            (Self::File(file), Ok(record)) => {
                let paths = texts_of(&record).into_iter().filter(|(key, _)| PATHS.contains(key));
                let memories = paths.filter(|(_, path)| !is_index(path));
                let (same, others): (Vec<_>, Vec<_>) = memories.partition(|(_, path)| path == file);
                match (same.is_empty(), others.is_empty()) {
                    (true, _) => Match::None,
                    (false, true) => Match::Whole,
                    (false, false) => Match::BesideOthers,
                }
            }
            (Self::File(_), Err(_)) => Match::None,
        }
    }
}

/// The part of a record that has to go.
enum Match {
    None,
    Whole,
    /// One memory, but the record also has others.
    BesideOthers,
}

/// The keys of paths in a record.
const PATHS: [&str; 3] = ["path", "from", "to"];

/// The keys of a record whose values the program makes.
const OF_FORMAT: [&str; 3] = ["tool", "before", "after"];

fn is_index(path: &str) -> bool {
    path.rsplit('/').next() == Some(INDEX)
}

/// The texts and paths in a record, with their keys.
fn texts_of(record: &Value) -> Vec<(&str, &str)> {
    match record {
        Value::Object(fields) => {
            let of_fields = fields.iter().flat_map(|(key, value)| match value {
                Value::String(text) if !OF_FORMAT.contains(&key.as_str()) => {
                    vec![(key.as_str(), text.as_str())]
                }
                value => texts_of(value),
            });
            of_fields.collect()
        }
        Value::Array(items) => items.iter().flat_map(texts_of).collect(),
        _ => Vec::new(),
    }
}

/// Whether the document has the text at a place where it can be removed. Also a message about other
/// places, if there are any.
type Done = (bool, Option<String>);

/// Reports the result for one document.
fn note(
    store: &Store<'_>,
    path: String,
    file: &str,
    done: Result<Done, Error>,
    forgetting: &mut Forgetting<'_>,
) {
    let (is_found, left) = done.unwrap_or_else(|error| (false, Some(error.message().to_owned())));
    if is_found {
        forgetting.add(Found::at(owner(store.name), path));
    }
    if let Some(left) = left {
        forgetting.leave(format!("`{file}` of store `{}`: {left}", store.name));
    }
}

fn forget_in_page(
    store: &Store<'_>,
    path: &MemoryPath,
    secret: &str,
    dry_run: bool,
) -> Result<Done, Error> {
    let Some(before) = store.memory(path)? else { return Ok((false, None)) };
    let Removal { splices, left } = remove_from_memory(path, &before.text, secret);
    if splices.is_empty() || dry_run {
        return Ok((!splices.is_empty(), left));
    }
    change(store, CommitMode::Once, |plan| {
        let Some(before) = store.memory(path)? else { return Ok(Planned::Done(())) };
        let Removal { splices, .. } = remove_from_memory(path, &before.text, secret);
        if !splices.is_empty() {
            let text = Splice::all_of_text(&splices, &before.text);
            let (memory, _) = Memory::read_in_part(path, &text);
            plan.edit(path, &before, splices, indexed(&memory));
        }
        Ok(Planned::Done(()))
    })?;
    let place = Place::in_group(LABEL, store.name);
    index::forget(store.call.storage, &place, COLLECTION, &[&path.file()]);
    Ok((true, left))
}

fn forget_in_index(
    store: &Store<'_>,
    category: &CategoryPath,
    secret: &str,
    dry_run: bool,
) -> Result<Done, Error> {
    let path = category.index();
    let Some(before) = store.text(&path)? else { return Ok((false, None)) };
    let Removal { splices, left } = remove_from_index(category, &before.text, secret);
    if splices.is_empty() || dry_run {
        return Ok((!splices.is_empty(), left));
    }
    let writer = store.tree.lock(None)?;
    // Completes an interrupted call first, because its intent names the version of the unchanged
    // index.
    intent::recover(&*store.tree, &*writer, false)?;
    let Some(before) = store.text(&path)? else { return Ok((false, None)) };
    let Removal { splices, left } = remove_from_index(category, &before.text, secret);
    let area = Area::Documents;
    let expects = before.version;
    if !splices.is_empty() {
        writer.commit(&[Change::Edit { area, path, splices, expects }])?;
    }
    Ok((true, left))
}

/// Returns the paths and versions of the intent records that have what is sought: those that were set
/// aside and, in a dry run, that of an interrupted call.
fn records_with(
    store: &Store<'_>,
    sought: &Sought<'_>,
    forgetting: &mut Forgetting<'_>,
) -> Result<Vec<(String, String)>, Error> {
    let aside = store.tree.list(Area::Bookkeeping, SET_ASIDE)?.unwrap_or_default();
    let aside = aside.into_iter().map(|entry| format!("{SET_ASIDE}/{}", entry.name));
    let pending = forgetting.dry_run.then(|| intent::PATH.to_owned());
    let mut found = Vec::new();
    for path in aside.chain(pending) {
        let document = match store.tree.read(Area::Bookkeeping, &path, MAX_DOCUMENT_BYTES) {
            Ok(document) => document,
            Err(error) => {
                forgetting.leave(format!("`{path}` of store `{}`: {}", store.name, error.message));
                continue;
            }
        };
        let Some(document) = document else { continue };
        match sought.in_record(&document.contents) {
            Match::None => {}
            // The call will be completed.
            Match::BesideOthers if path == intent::PATH => {}
            Match::Whole => found.push((path, document.version)),
            Match::BesideOthers => forgetting.leave(format!(
                "`{path}` of store `{}` has it beside other memories of an interrupted call: keep what \
                 you need of them, and delete it",
                store.name
            )),
        }
    }
    Ok(found)
}
