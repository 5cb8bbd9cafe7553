//! The core as a library, over storage in memory.

use agent_memory_conformance::case::{Documents, Places};
use agent_memory_conformance::core_runner::{REPOSITORY, answer, context_of};
use agent_memory_conformance::runner::Answer;
use agent_memory_core::storage::version_of;
use agent_memory_core::storage::{Area, Change, Place, Storage};
use agent_memory_core::toolbox;
use agent_memory_storage_memory::MemoryStorage;
use serde_json::{Value, json};

use super::{Host, HostOptions};

/// The library with one repository.
pub struct Core {
    storage: MemoryStorage,
    place: Place,
    options: HostOptions,
    calls: u32,
}

impl Core {
    /// Opens an empty repository.
    pub fn open(options: &HostOptions) -> Result<Box<dyn Host>, String> {
        let storage = MemoryStorage::new();
        let place = Place::repository(REPOSITORY);
        storage.grant(place.clone());
        Ok(Box::new(Self { storage, place, options: *options, calls: 0 }))
    }
}

impl Host for Core {
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Answer, String> {
        let context = json!({
            "settings": {"toolsets": [self.options.toolset]},
            "now": format!("{:.3}", self.options.moment(self.calls)),
            "zone": {"offset_minutes": self.options.utc_offset_minutes},
            "seed": self.options.seed + u64::from(self.calls),
        });
        self.calls += 1;
        let arguments = arguments.to_string();
        let context = context_of(&context);
        answer(toolbox::call_tool(&self.storage, tool, &arguments, &context))
    }

    fn put(&mut self, path: &str, contents: Option<&[u8]>) {
        if let Some(contents) = contents {
            return self.storage.put(&self.place, Area::Documents, path, contents);
        }
        let documents = self.documents();
        let tree = self.storage.open(&self.place).expect("it is granted");
        let writer = tree.lock(None).expect("no call is under way");
        let expects = version_of(&documents[path]);
        let delete = Change::Delete { area: Area::Documents, path: path.into(), expects };
        writer.commit(&[delete]).expect("the document is there");
    }

    fn documents(&self) -> Documents {
        self.storage.documents(&self.place, Area::Documents)
    }

    fn places(&self) -> Places {
        Places {
            repo: REPOSITORY.into(),
            elsewhere: "/scratch/elsewhere".into(),
            stores: "/stores".into(),
        }
    }

    fn end(self: Box<Self>) -> Result<(), String> {
        Ok(())
    }
}
