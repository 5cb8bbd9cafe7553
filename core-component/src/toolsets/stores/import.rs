//! Imports the files of a person's folder. First decides which memories they become, and then
//! writes the memories page by page.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::change::{CommitMode, Planned, change};
use super::error::Error;
use super::index::indexed;
use super::memory::{Memory, OF_PEOPLE, Update, text_of_person, updated};
use super::path::{CategoryPath, FileNameError, MemoryPath};
use super::plan::Plan;
use super::store::{ReadError, Store, Text};
use super::walk::Warnings;
use crate::front_matter::FrontMatter;
use crate::storage::{MAX_DOCUMENT_BYTES, Splice};

/// The memories that the files of a folder become, decided by the names of the files alone.
#[derive(Default)]
pub(super) struct ImportPlan {
    /// The names of the files to import, each with the path of its memory; sorted by path.
    pub memories: Vec<(String, MemoryPath)>,
    /// The names of the files that cannot be imported, each with the reason.
    pub skipped: Vec<(String, String)>,
    /// The number of files that are not Markdown.
    pub others: usize,
}

/// Decides by its name which memory each file of a folder becomes. If several files would get the
/// same path, a hash of the file's name is added to each path. Only a file that has exactly the
/// name for that path keeps the path.
pub(super) fn plan_import(category: &CategoryPath, names: Vec<String>) -> ImportPlan {
    let mut plan = ImportPlan::default();
    let mut found: BTreeMap<MemoryPath, Vec<String>> = BTreeMap::new();
    for name in names {
        match category.memory_of_file(&name) {
            Ok(path) => found.entry(path).or_default().push(name),
            Err(FileNameError::NotMarkdown) => plan.others += 1,
            Err(error) => plan.skipped.push((name, reason(&error).to_owned())),
        }
    }
    let mut files: BTreeMap<MemoryPath, Vec<String>> = BTreeMap::new();
    for (path, names) in found {
        let is_shared = names.len() > 1;
        for name in names {
            let is_marked = is_shared && category.child(&name).as_str() != path.file();
            let path = if is_marked { path.marked(&name) } else { path.clone() };
            files.entry(path).or_default().push(name);
        }
    }
    for (path, mut names) in files {
        if let [_] = names[..] {
            plan.memories.extend(names.pop().map(|name| (name, path)));
            continue;
        }
        // These names are equal after Unicode normalisation. None of the files is imported, because
        // their order must not decide which of them becomes the memory.
        let first = names[0].clone();
        let second = names[1].clone();
        for name in names {
            let other = if name == first { &second } else { &first };
            let reason = format!(
                "it would become `{path}`, and so would `{}`: rename one",
                other.escape_debug()
            );
            plan.skipped.push((name, reason));
        }
    }
    plan.skipped.sort();
    plan
}

fn reason(error: &FileNameError) -> &'static str {
    match error {
        FileNameError::NotMarkdown => "it is not Markdown",
        FileNameError::NoName => "a part of its path is no name: rename it",
        FileNameError::TooDeep => {
            "its path would have more than 10 segments: move it up, or import its directory alone"
        }
    }
}

/// A file to import.
pub(super) struct ImportFile {
    pub path: MemoryPath,
    pub text: String,
}

/// The policy for a file whose memory exists with another text.
#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum OnConflict {
    #[default]
    Skip,
    Replace,
    Refuse,
}

/// The result for one file.
pub(super) enum Outcome {
    Added,
    Replaced,
    /// The memory has exactly the text of the file already.
    Unchanged,
    /// The file was not imported, for this reason.
    Skipped(String),
}

/// The decision about a file.
enum Decision {
    Create(String),
    /// Edits the memory by these splices, which result in this text.
    Edit(Text, Vec<Splice>, String),
    Keep(Text),
    Skip(String),
}

/// Imports all of the files, or none of them if there is an error.
///
/// # Errors
///
/// `MEMORY_EXISTS` if a memory has another text and `on_conflict` is `Refuse`.
pub(super) fn import_memories(
    store: &Store<'_>,
    files: &[ImportFile],
    on_conflict: OnConflict,
) -> Result<(Vec<Outcome>, Warnings), Error> {
    // Several files need an intent, one document with all their texts. A single file needs none, so
    // its text may be as long as a document.
    let mode = match files {
        [_] => CommitMode::Once,
        _ => CommitMode::WithIntent("import_memories"),
    };
    let (outcomes, mut warnings) = change(store, mode, |plan| {
        // An error of a file is returned as the plan's error, so that nothing is committed. With
        // [`Planned::Refused`], the changes planned so far would be committed.
        let outcomes = files.iter().map(|file| {
            let decision = decide(store, file, on_conflict)?;
            Ok(add(plan, &file.path, decision))
        });
        outcomes.collect::<Result<Vec<_>, Error>>().map(Planned::Done)
    })?;
    warnings.extend(damage(files, &outcomes));
    Ok((outcomes, warnings))
}

/// Returns what [`import_memories`] would do. Takes no lock and changes nothing.
///
/// # Errors
///
/// Those of [`import_memories`].
pub(super) fn import_dry_run(
    store: &Store<'_>,
    files: &[ImportFile],
    on_conflict: OnConflict,
) -> Result<(Vec<Outcome>, Warnings), Error> {
    let outcomes = files.iter().map(|file| decide(store, file, on_conflict).map(Outcome::from));
    let outcomes: Vec<_> = outcomes.collect::<Result<_, Error>>()?;
    let warnings = damage(files, &outcomes);
    Ok((outcomes, warnings))
}

/// Returns a warning for each imported file whose front matter cannot be read.
fn damage(files: &[ImportFile], outcomes: &[Outcome]) -> Warnings {
    let imported = files.iter().zip(outcomes).filter(|(_, outcome)| outcome.is_written());
    let damage = imported.filter_map(|(ImportFile { path, text }, _)| {
        let error = Memory::read(path, text).err()?;
        Some(format!("imported as it is: {}", error.message()))
    });
    damage.collect()
}

impl Outcome {
    fn is_written(&self) -> bool {
        matches!(self, Self::Added | Self::Replaced)
    }
}

impl From<Decision> for Outcome {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Create(_) => Self::Added,
            Decision::Edit(..) => Self::Replaced,
            Decision::Keep(_) => Self::Unchanged,
            Decision::Skip(reason) => Self::Skipped(reason),
        }
    }
}

/// Adds the change for one file to a plan.
fn add(plan: &mut Plan<'_>, path: &MemoryPath, decision: Decision) -> Outcome {
    let indexed = |text: &str| indexed(&Memory::read_in_part(path, text).0);
    match &decision {
        Decision::Create(text) => plan.create(path, text.clone(), indexed(text)),
        Decision::Edit(before, splices, text) => {
            plan.edit(path, before, splices.clone(), indexed(text));
        }
        Decision::Keep(before) => plan.index(path, indexed(&before.text)),
        Decision::Skip(_) => {}
    }
    decision.into()
}

fn decide(
    store: &Store<'_>,
    file: &ImportFile,
    on_conflict: OnConflict,
) -> Result<Decision, Error> {
    let ImportFile { path, text } = file;
    let skip = |error: Error| Ok(Decision::Skip(error.message().to_owned()));
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Ok(Decision::Skip("it is blank".to_owned()));
    }
    let new = match text_of_person(path, text, store.now()) {
        Ok(new) => new,
        // Imports a file with damaged front matter unchanged: a person can repair it later, and
        // search finds its text until then.
        Err(_) if FrontMatter::read_in_part(text).0.is_there() => text.clone(),
        Err(error) => return skip(error),
    };
    let before = match store.memory(path) {
        // With `Refuse`, a memory that cannot be read is an error, because it cannot be compared.
        Err(ReadError::Unusable(error)) if !matches!(on_conflict, OnConflict::Refuse) => {
            return skip(error);
        }
        read => read?,
    };
    let Some(before) = before else {
        return Ok(if is_too_long(&new) { too_long() } else { Decision::Create(new) });
    };
    let splices = match changes(store, file, &before) {
        Ok(Some(splices)) => splices,
        Ok(None) => return Ok(Decision::Keep(before)),
        Err(error) => return skip(error),
    };
    let new = Splice::all_of_text(&splices, &before.text);
    match on_conflict {
        OnConflict::Skip => Ok(Decision::Skip(Error::another_memory(path))),
        OnConflict::Refuse => Err(Error::import_refused(path)),
        OnConflict::Replace if is_too_long(&new) => Ok(too_long()),
        OnConflict::Replace => Ok(Decision::Edit(before, splices, new)),
    }
}

fn is_too_long(text: &str) -> bool {
    text.len() as u64 > MAX_DOCUMENT_BYTES
}

fn too_long() -> Decision {
    Decision::Skip("it has more than 16 MiB with its front matter: split it".to_owned())
}

/// Returns the splices that replace the text of a memory by that of a file. `None` if both are
/// equal. If the file has no front matter, the memory keeps its front matter.
fn changes(
    store: &Store<'_>,
    file: &ImportFile,
    before: &Text,
) -> Result<Option<Vec<Splice>>, Error> {
    let ImportFile { path, text } = file;
    let (front, _) = FrontMatter::read_in_part(text);
    if !front.is_there() {
        let update = Update { content: Some(front.body().to_owned()), ..Update::default() };
        return updated(path, &before.text, &update, store.now(), OF_PEOPLE);
    }
    let splice = Splice { range: 0..before.text.len(), inserts: text.clone().into_bytes() };
    Ok((before.text != *text).then(|| vec![splice]))
}
