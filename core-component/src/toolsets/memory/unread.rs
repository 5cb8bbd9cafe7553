//! Reads the hits that come from an index of documents.

use std::collections::BTreeMap;

use crate::ranking::Ranked;
use crate::source::{Entry, Owner, UnreadDocument};
use crate::tool::Call;

/// The error for a document that is missing, cannot be read, or has another version than the index
/// says. The caller then repeats the search without indexes.
pub(super) struct Changed;

/// Reads the text of each hit that comes from an index. Each document is read once, and the
/// documents of an owner are read together.
pub(super) fn read_hits(
    call: &Call<'_>,
    owners: &[(Owner, u64)],
    documents: &[UnreadDocument],
    hits: &mut [Ranked<(usize, Entry)>],
) -> Result<(), Changed> {
    let mut wanted: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for unread in hits.iter().filter_map(|hit| hit.entry.1.unread) {
        let of_owner = wanted.entry(documents[unread.document].owner).or_default();
        if !of_owner.contains(&unread.document) {
            of_owner.push(unread.document);
        }
    }
    let mut read: BTreeMap<usize, Vec<Entry>> = BTreeMap::new();
    for (owner, of_owner) in wanted {
        let of_owner: Vec<(usize, &UnreadDocument)> =
            of_owner.into_iter().map(|at| (at, &documents[at])).collect();
        read.extend(entries(call, &owners[owner].0, &of_owner)?);
    }
    for (_, entry) in hits.iter_mut().map(|hit| &mut hit.entry) {
        let Some(unread) = entry.unread else { continue };
        let similarity = entry.similarity;
        *entry = read[&unread.document].get(unread.at).ok_or(Changed)?.clone();
        entry.similarity = similarity;
    }
    Ok(())
}

/// Reads the entries of documents. Fails if a document has another version than the index says.
fn entries(
    call: &Call<'_>,
    owner: &Owner,
    documents: &[(usize, &UnreadDocument)],
) -> Result<Vec<(usize, Vec<Entry>)>, Changed> {
    let source = call.sources.iter().find(|source| source.toolset == owner.toolset);
    let keys: Vec<_> = documents.iter().map(|(_, document)| &document.key).collect();
    let read = (source.ok_or(Changed)?.read)(call, owner, &keys).map_err(|_| Changed)?;
    let is_read = read.len() == documents.len();
    let read = documents.iter().zip(read).map(|((at, document), read)| match read {
        Some(read) if read.version == document.version => Ok((*at, read.entries)),
        _ => Err(Changed),
    });
    if is_read { read.collect() } else { Err(Changed) }
}
