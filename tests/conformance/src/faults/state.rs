//! What storage holds, to be compared and to begin anew from.

use std::collections::BTreeMap;

use agent_memory_core::storage::{Change, Place, Side, Splice};

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
    documents: BTreeMap<(Side, String), Vec<u8>>,
    /// None where nobody has made anything in one.
    database: Option<Image>,
}

impl State {
    /// What a storage holds.
    pub fn of(memory: &FullStorage, place: &Place) -> Self {
        let sides = [Side::Documents, Side::Bookkeeping];
        let of_side = |side| {
            let documents = memory.documents(place, side).into_iter();
            documents.map(move |(path, contents)| ((side, path), contents))
        };
        let database = memory.image().filter(|image| !image.is_empty());
        Self { documents: sides.into_iter().flat_map(of_side).collect(), database }
    }

    /// Documents where users look for them, and nothing else.
    pub fn given(documents: Documents) -> Self {
        let documents = documents.into_iter();
        let documents = documents.map(|(path, text)| ((Side::Documents, path), text)).collect();
        Self { documents, database: None }
    }

    /// Fresh storage that holds this: what a process finds that starts now.
    pub fn reopened(&self, place: &Place) -> FullStorage {
        let memory = FullStorage::new();
        memory.grant(place.clone());
        for ((side, path), contents) in &self.documents {
            memory.put(place, *side, path, contents.clone());
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
                Alteration::Document(Change::Put { side, path, contents, .. }) => {
                    state.documents.insert((side, path), contents);
                }
                Alteration::Document(Change::Edit { side, path, splices, .. }) => {
                    let before = &self.documents[&(side, path.clone())];
                    let contents = Splice::all(&splices, before).expect("splices that fit");
                    state.documents.insert((side, path), contents);
                }
                Alteration::Document(Change::Delete { side, path, .. }) => {
                    state.documents.remove(&(side, path));
                }
                Alteration::Document(Change::Copy { side, from, to, .. }) => {
                    let contents = self.documents[&(side, from)].clone();
                    state.documents.insert((side, to), contents);
                }
                Alteration::Database(image) => state.database = Some(image),
            }
            state.clone()
        };
        changes.iter().map(after).collect()
    }

    /// What stands where users look for it.
    pub fn documents(&self) -> Documents {
        let documents = self.documents.iter().filter(|((side, _), _)| *side == Side::Documents);
        documents.map(|((_, path), contents)| (path.clone(), contents.clone())).collect()
    }

    /// Bytes of all documents.
    pub fn size(&self) -> usize {
        self.documents.values().map(Vec::len).sum()
    }
}
