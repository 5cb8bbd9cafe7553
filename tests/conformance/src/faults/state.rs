//! What storage holds, to be compared and to begin anew from.

use std::collections::BTreeMap;

use agent_memory_core::storage::{Area, Change, Place, Splice};

use crate::case::Documents;
use crate::in_memory::{FullStorage, Image};

/// One step of what an operation changes.
#[derive(Clone, Debug)]
pub enum Alteration {
    /// Of a document.
    Document(Change),
    /// Of the database, which holds this afterwards.
    Database(Image),
}

/// The documents of one place, and the database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    documents: BTreeMap<(Area, String), Vec<u8>>,
    /// None where nobody has made anything in one.
    database: Option<Image>,
}

impl State {
    /// What a storage holds.
    pub fn of(memory: &FullStorage, place: &Place) -> Self {
        let areas = [Area::Documents, Area::Bookkeeping];
        let of_area = |area| {
            let documents = memory.documents(place, area).into_iter();
            documents.map(move |(path, contents)| ((area, path), contents))
        };
        let database = memory.image().filter(|image| !image.is_empty());
        Self { documents: areas.into_iter().flat_map(of_area).collect(), database }
    }

    /// Documents where users look for them, and nothing else.
    pub fn given(documents: Documents) -> Self {
        let documents = documents.into_iter();
        let documents = documents.map(|(path, text)| ((Area::Documents, path), text)).collect();
        Self { documents, database: None }
    }

    /// Fresh storage that holds this: what a process finds that starts now.
    pub fn reopened(&self, place: &Place) -> FullStorage {
        let memory = FullStorage::new();
        memory.grant(place.clone());
        for ((area, path), contents) in &self.documents {
            memory.put(place, *area, path, contents.clone());
        }
        if let Some(image) = &self.database {
            memory.restore(image);
        }
        memory
    }

    /// The states after the first change of an operation, the first two, and so on.
    pub fn after_each(&self, changes: &[Alteration]) -> Vec<Self> {
        let mut state = self.clone();
        let after = |change: &Alteration| {
            match change.clone() {
                Alteration::Document(Change::Put { area, path, contents, .. }) => {
                    state.documents.insert((area, path), contents);
                }
                Alteration::Document(Change::Edit { area, path, splices, .. }) => {
                    let before = self.documents[&(area, path.clone())].clone();
                    let contents = Splice::all(&splices, before).expect("splices that fit");
                    state.documents.insert((area, path), contents);
                }
                Alteration::Document(Change::Delete { area, path, .. }) => {
                    state.documents.remove(&(area, path));
                }
                Alteration::Document(Change::Copy { area, from, to, .. }) => {
                    let contents = self.documents[&(area, from)].clone();
                    state.documents.insert((area, to), contents);
                }
                Alteration::Document(Change::Rename { area, from, to, .. }) => {
                    let contents = state.documents.remove(&(area, from)).expect("it is there");
                    state.documents.insert((area, to), contents);
                }
                Alteration::Database(image) => state.database = Some(image),
            }
            state.clone()
        };
        changes.iter().map(after).collect()
    }

    /// What stands where users look for it.
    pub fn documents(&self) -> Documents {
        let documents = self.documents.iter().filter(|((area, _), _)| *area == Area::Documents);
        documents.map(|((_, path), contents)| (path.clone(), contents.clone())).collect()
    }

    /// Bytes of all documents.
    pub fn size(&self) -> usize {
        self.documents.values().map(Vec::len).sum()
    }
}
