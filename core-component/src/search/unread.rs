//! Reading the hits that an index of documents brought.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry::{Occupied, Vacant};

use crate::index::is_version;
use crate::ranking::Ranked;
use crate::source::{Entry, Owner, UnreadDocument};
use crate::tool::Call;

/// A document is not as its index says, or cannot be read.
pub(super) struct Changed;

/// Reads the entries that come from an index, each document once.
pub(super) fn read_hits(
    call: &Call<'_>,
    owners: &[(Owner, u64)],
    documents: &[UnreadDocument],
    hits: &mut [Ranked<(usize, Entry)>],
) -> Result<(), Changed> {
    let mut read: BTreeMap<usize, Vec<Entry>> = BTreeMap::new();
    for (_, entry) in hits.iter_mut().map(|hit| &mut hit.entry) {
        let Some(unread) = entry.unread else { continue };
        let entries = match read.entry(unread.document) {
            Occupied(read) => read.into_mut(),
            Vacant(unread) => {
                let document = &documents[*unread.key()];
                unread.insert(entries(call, &owners[document.owner].0, document)?)
            }
        };
        *entry = entries.get(unread.at).ok_or(Changed)?.clone();
    }
    Ok(())
}

/// The entries of a document that is as its index says.
fn entries(
    call: &Call<'_>,
    owner: &Owner,
    document: &UnreadDocument,
) -> Result<Vec<Entry>, Changed> {
    let source = call.sources.iter().find(|source| source.toolset == owner.toolset);
    let read = (source.ok_or(Changed)?.read)(call, owner, &document.path);
    match read.map_err(|_| Changed)? {
        Some(read) if is_version(document.version, &read.version) => Ok(read.entries),
        _ => Err(Changed),
    }
}
