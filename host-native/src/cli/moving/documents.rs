//! Moves the documents of a place.

use super::work::{Counts, Pass, Work};
use crate::storage::api::{Documents, Writer as _, path};
use crate::storage::{
    Area, Change, EntryKind, Error, ErrorCode, MAX_CHANGES, MAX_DOCUMENT_BYTES, Tree,
};
use agent_memory_storage_postgres::MAX_PATH;
use std::collections::BTreeSet;

/// A batch is committed once it has this many bytes.
const BATCH_BYTES: usize = 8 << 20;

/// Carries out a pass on the documents of a place. Without a `target`, every document counts as missing
/// there.
pub(super) fn pass(
    work: &mut Work<'_>,
    pass: Pass,
    source: &Tree,
    target: Option<&Tree>,
    counts: &mut Counts,
) -> Result<(), Error> {
    for area in [Area::Documents, Area::Bookkeeping] {
        let Walked { documents, others } = walk(source, area)?;
        let mut there = match target {
            Some(target) => walk(target, area)?.documents,
            None => BTreeSet::new(),
        };
        for other in others {
            work.note(format!("{}: `{other}` is no document, and stays", source.location()));
        }
        let mut batch = Batch { area, changes: Vec::new(), bytes: 0 };
        for path in documents {
            let is_there = there.remove(&path);
            let mut problem = |problem: &str| {
                let of = source.location();
                work.problem(&format!("{of}: the document `{path}` {problem}"));
            };
            let contents = match source.read(area, &path, MAX_DOCUMENT_BYTES) {
                Ok(Some(document)) => document.contents,
                Ok(None) => {
                    problem("is gone: somebody writes to the source");
                    continue;
                }
                Err(error) if error.code == ErrorCode::TooLarge => {
                    problem(&format!("cannot be moved: {}", error.message));
                    continue;
                }
                Err(error) => return Err(error),
            };
            counts.documents += 1;
            match target.filter(|_| is_there) {
                Some(target) => {
                    let found = target.read(area, &path, MAX_DOCUMENT_BYTES)?;
                    if found.is_none_or(|found| found.contents != contents) {
                        problem("is another one in the target");
                    }
                    counts.there += 1;
                }
                None => match (pass, target) {
                    (Pass::Copy, Some(target)) => batch.put(work, target, path, contents)?,
                    (Pass::Check, _) if path.len() > MAX_PATH => {
                        let bytes = path.len();
                        problem(&format!("has a path of {bytes} bytes: shorten it to {MAX_PATH}"));
                    }
                    (Pass::Check, Some(target)) => {
                        if let Err(error) = target.stat(area, &path) {
                            problem(&format!("cannot be moved: {}", error.message));
                        }
                    }
                    (Pass::Check, None) => {}
                    (Pass::Copy | Pass::Verify, _) => problem("is not in the target"),
                },
            }
            work.advance(1);
        }
        if let Some(target) = target {
            batch.commit(work, target)?;
            there.iter().for_each(|path| report_other(work, target, path));
        }
    }
    Ok(())
}

/// Reports each document of a target as a problem: the source has no documents here.
pub(super) fn check_none(work: &mut Work<'_>, target: &Tree) -> Result<(), Error> {
    for area in [Area::Documents, Area::Bookkeeping] {
        walk(target, area)?.documents.iter().for_each(|path| report_other(work, target, path));
    }
    Ok(())
}

fn report_other(work: &mut Work<'_>, target: &Tree, path: &str) {
    let of = target.location();
    work.problem(&format!("{of}: the target has the document `{path}` of another memory"));
}

/// The paths in an area of a place.
struct Walked {
    documents: BTreeSet<String>,
    /// The paths of entries that are no documents, such as links, or names that no call accepts.
    others: Vec<String>,
}

fn walk(tree: &Tree, area: Area) -> Result<Walked, Error> {
    let mut walked = Walked { documents: BTreeSet::new(), others: Vec::new() };
    let mut directories = vec![String::new()];
    while let Some(directory) = directories.pop() {
        for entry in tree.list(area, &directory)?.unwrap_or_default() {
            let path = match directory.as_str() {
                "" => entry.name,
                _ => format!("{directory}/{}", entry.name),
            };
            match entry.status.kind {
                _ if path::segments(&path).is_err() => walked.others.push(path),
                EntryKind::File => drop(walked.documents.insert(path)),
                EntryKind::Directory => directories.push(path),
                EntryKind::Other => walked.others.push(path),
            }
        }
    }
    Ok(walked)
}

/// Documents that are written in one commit.
struct Batch {
    area: Area,
    changes: Vec<Change>,
    bytes: usize,
}

impl Batch {
    fn put(
        &mut self,
        work: &Work<'_>,
        target: &Tree,
        path: String,
        contents: Vec<u8>,
    ) -> Result<(), Error> {
        self.bytes += contents.len();
        self.changes.push(Change::Put { area: self.area, path, contents, expects: None });
        if self.bytes < BATCH_BYTES && self.changes.len() < MAX_CHANGES {
            return Ok(());
        }
        self.commit(work, target)
    }

    fn commit(&mut self, work: &Work<'_>, target: &Tree) -> Result<(), Error> {
        if !self.changes.is_empty() {
            work.lock(target)?.commit(&self.changes).map_err(|failed| failed.error)?;
        }
        self.changes.clear();
        self.bytes = 0;
        Ok(())
    }
}
