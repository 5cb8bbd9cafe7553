//! The entries that a search looks through. Each toolset contributes its entries, see
//! [`Source`](crate::tool::Source).

mod collector;
mod entry;
mod newest;
mod request;

pub(crate) use self::collector::{Collector, Results, Skipped, Undated};
pub(crate) use self::entry::{
    DocumentKey, Entry, EntryId, OwnedCollection, Owner, ReadArguments, ReadCall, ReadDocuments,
    ReadEntries, UnreadDocument, id_schema, read_paths,
};
pub(crate) use self::request::Request;
