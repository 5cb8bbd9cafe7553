//! The contents of storage, to be compared and restored.

use std::collections::BTreeMap;

use agent_memory_core::storage::{Area, Change, Place, Splice, Storage};

use crate::case::Documents;
use crate::in_memory::{Image, InMemoryStorage};

/// A change of storage.
#[derive(Clone, Debug)]
pub enum StateChange {
    /// A change of a document.
    Document(Change),
    /// A change of the database: its new contents.
    Database(Image),
}

/// The documents of one place, and the database.
#[derive(Clone, Debug)]
pub struct State {
    /// Whether the place exists. It does not count when states are compared: an empty store may be
    /// left behind by a call that failed.
    exists: bool,
    documents: BTreeMap<(Area, String), Vec<u8>>,
    /// `None` if the database does not exist or has no table.
    database: Option<Image>,
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.documents == other.documents && self.database == other.database
    }
}

impl Eq for State {}

impl State {
    /// The contents of storage.
    pub fn new(memory: &InMemoryStorage, place: &Place) -> Self {
        let areas = [Area::Documents, Area::Bookkeeping];
        let of_area = |area| {
            let documents = memory.documents(place, area).into_iter();
            documents.map(move |(path, contents)| ((area, path), contents))
        };
        let database = memory.image().filter(|image| !image.is_empty());
        let exists = match place {
            Place::Named { label, name } if !name.is_empty() => {
                memory.list_places(label).is_ok_and(|names| names.contains(name))
            }
            _ => true,
        };
        Self { exists, documents: areas.into_iter().flat_map(of_area).collect(), database }
    }

    /// Documents in the area that users see, and nothing else.
    pub fn given(documents: Documents) -> Self {
        let documents = documents.into_iter();
        let documents = documents.map(|(path, text)| ((Area::Documents, path), text)).collect();
        Self { exists: true, documents, database: None }
    }

    /// New storage with these contents, as a process that starts now finds it.
    pub fn reopened(&self, place: &Place) -> InMemoryStorage {
        let memory = InMemoryStorage::new();
        match place {
            Place::Named { label, name } if !name.is_empty() => {
                memory.grant_family(label);
                if self.exists {
                    memory.grant(place.clone());
                }
            }
            _ => memory.grant(place.clone()),
        }
        for ((area, path), contents) in &self.documents {
            memory.put(place, *area, path, contents.clone());
        }
        if let Some(image) = &self.database {
            memory.restore(image);
        }
        memory
    }

    /// The states after the first change of an operation, after the first two, and so on.
    pub fn after_each(&self, changes: &[StateChange]) -> Vec<Self> {
        let mut state = self.clone();
        let after = |change: &StateChange| {
            match change.clone() {
                StateChange::Document(Change::Put { area, path, contents, .. }) => {
                    state.documents.insert((area, path), contents);
                }
                StateChange::Document(Change::Edit { area, path, splices, .. }) => {
                    let before = self.documents[&(area, path.clone())].clone();
                    let contents = Splice::all(&splices, before).expect("splices that fit");
                    state.documents.insert((area, path), contents);
                }
                StateChange::Document(Change::Delete { area, path, .. }) => {
                    state.documents.remove(&(area, path));
                }
                StateChange::Document(Change::Copy { area, from, to, .. }) => {
                    let contents = self.documents[&(area, from)].clone();
                    state.documents.insert((area, to), contents);
                }
                StateChange::Document(Change::Rename { area, from, to, .. }) => {
                    let contents = state.documents.remove(&(area, from)).expect("it is there");
                    state.documents.insert((area, to), contents);
                }
                StateChange::Database(image) => state.database = Some(image),
            }
            state.clone()
        };
        changes.iter().map(after).collect()
    }

    /// The documents in the area that users see.
    pub fn documents(&self) -> Documents {
        let documents = self.documents.iter().filter(|((area, _), _)| *area == Area::Documents);
        documents.map(|((_, path), contents)| (path.clone(), contents.clone())).collect()
    }

    /// The same contents without the documents of this file name.
    pub fn without(&self, name: &str) -> Self {
        let mut state = self.clone();
        state.documents.retain(|(_, path), _| path.rsplit('/').next() != Some(name));
        state
    }

    /// The size of all documents in bytes.
    pub fn size(&self) -> usize {
        self.documents.values().map(Vec::len).sum()
    }
}
