//! Items as entries of a search. Items belong to no agent.

use super::database::Rows;
use super::error::Error;
use super::item::Item;
use super::namespace::Below;
use super::place::place;
use super::reach::Reach;
use super::transaction::read_view;
use crate::index::RowIndex;
use crate::rows::read_rows;
use crate::source::{
    Collector, DocumentKey, Entry, EntryId, OwnedCollection, Owner, ReadArguments, ReadCall,
    ReadDocuments, UnreadDocument,
};
use crate::tool::{Call, Checked, Source};

pub(super) const SOURCE: Source = Source {
    toolset: "items",
    keeps_by_agent: false,
    collect,
    read: |call, _, keys| Ok(read(call, keys)?),
    collections,
};

/// Returns the collection that a search of this caller uses.
fn collections(call: &Call<'_>) -> Checked<Vec<OwnedCollection>> {
    let name = Reach::new(call.context).collection();
    Ok(vec![OwnedCollection { owner: owner(), place: place(), name }])
}

/// The first part of an item's id in a hit.
const ID: &str = "items/";

/// Adds the items that the caller may use.
fn collect(call: &Call<'_>, collector: &mut Collector<'_>) -> Checked<()> {
    if !collector.request.is_for(&owner()) {
        return Ok(());
    }
    collector.begin(owner());
    let skipped = add(call, &Reach::new(call.context), None, collector)?;
    collector.skip_some(owner(), skipped, "item", "items");
    Ok(())
}

pub(super) fn owner() -> Owner {
    Owner::new("items")
}

/// Returns the id that a hit of this row has.
pub(super) fn id_of(row: i64) -> EntryId {
    EntryId::Text(format!("{ID}{row}"))
}

/// Returns the row of a hit's id. `None` if the id is not that of an item.
pub(super) fn row_of_id(id: &str) -> Option<i64> {
    id.strip_prefix(ID)?.parse().ok()
}

/// Returns the row of an entry. The entry may come from the index, without its text. `None` if it
/// is not an item.
pub(super) fn row_of(entry: &Entry, documents: &[UnreadDocument]) -> Option<i64> {
    match (entry.unread, &entry.id) {
        (Some(unread), _) => match documents[unread.document].key {
            DocumentKey::Row { key, .. } => Some(key),
            DocumentKey::Path(_) => None,
        },
        (None, Some(EntryId::Text(id))) => row_of_id(id),
        (None, _) => None,
    }
}

/// Adds the items that the caller may use to the entries of the owner that `collector` began last.
/// Reads the items below `first` before the others. Returns how many items were skipped because the
/// budget was used up.
pub(super) fn add(
    call: &Call<'_>,
    reach: &Reach<'_>,
    first: Option<&Below>,
    collector: &mut Collector<'_>,
) -> Result<u64, Error> {
    let search = collector.request.for_index();
    let mut index = RowIndex::open(call.storage, place(), &reach.collection(), search);
    let below = reach.below(&[])?;
    let entry = |item: &Item| entry(call, reach, item);
    let skipped = read_view(call, |reader| {
        Rows { reader, below: &below, first, entry: &entry }.add_to(&mut index, collector)
    })?;
    index.update();
    Ok(skipped)
}

/// Reads the items with these keys, for hits from an index.
fn read(call: &Call<'_>, keys: &[&DocumentKey]) -> Result<ReadDocuments, Error> {
    let reach = Reach::new(call.context);
    let below = reach.below(&[])?;
    let entry = |item: &Item| entry(call, &reach, item);
    let ids = keys.iter().map(|key| match key {
        DocumentKey::Row { key, .. } => *key,
        DocumentKey::Path(_) => 0,
    });
    let ids: Vec<i64> = ids.collect();
    read_view(call, |reader| {
        read_rows(&Rows { reader, below: &below, first: None, entry: &entry }, &ids)
    })
}

/// Makes a search entry of an item. Words of its namespace and key find it, too.
fn entry(call: &Call<'_>, reach: &Reach<'_>, item: &Item) -> Entry {
    let namespace = reach.seen(item.namespace.clone());
    let about = if item.is_indexed() {
        format!("{} {}", namespace.join(" "), item.key)
    } else {
        String::new()
    };
    let key = Some(item.key.clone());
    let arguments = ReadArguments { namespace, key, ..ReadArguments::default() };
    Entry {
        id: Some(id_of(item.id)),
        created_at: Some(item.created_at),
        updated_at: Some(item.updated_at).filter(|updated_at| *updated_at > item.created_at),
        text: item.text(),
        about,
        read: Some(ReadCall { tool: call.listed("items", "get_item"), arguments }),
        ..Entry::default()
    }
}
