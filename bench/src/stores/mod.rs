//! `bench stores`: adding, listing, recent memories and reindexing, beside bare file operations.

mod bare;
mod filled;
mod pages;
mod product;

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use crate::How;
use crate::comparison::{Aim, Comparison, Contestant, Quantity};
use crate::contestants::Server;
use crate::figure::thousands;
use crate::work::Calls;
use bare::{BareAdd, BareReads};
pub use filled::Filled;
pub use pages::Shape;
use pages::{Page, STORE, category};
pub use product::server;
use product::{Reindex, adding};

/// The aim for the processor time of an add, relative to writing the same bytes by hand.
const ADD: f64 = 3.0;

/// The number of the first added memory.
const FIRST_ADDED: usize = 100_000;

/// The default limits of `list_memories` and of `cortex_get_recent_memories`.
const LISTED: usize = 200;
const RECENT: usize = 5;

/// Runs each comparison as soon as it is prepared, so that no store is kept for long.
pub fn measure(
    how: &How,
    directory: &Path,
    run: &mut dyn FnMut(Comparison) -> io::Result<()>,
) -> io::Result<()> {
    let many = Shape::many(how);
    let one = Shape { categories: 1, memories: many.all() };
    for shape in [many, one] {
        let scene = Scene { how, directory, shape };
        run(scene.add()?)?;
        let filled = Filled::new(directory, shape)?;
        run(scene.list(&filled)?)?;
        run(scene.recent(&filled)?)?;
        run(scene.reindex(&filled)?)?;
    }
    Ok(())
}

/// The comparisons on stores of one shape.
struct Scene<'a> {
    how: &'a How,
    directory: &'a Path,
    shape: Shape,
}

impl Scene<'_> {
    fn title(&self, what: &str) -> String {
        let Shape { categories, memories } = self.shape;
        match categories {
            1 => format!("{what}, one category of {}", thousands(memories)),
            _ => format!("{what}, {categories} categories of {memories}"),
        }
    }

    /// Adds of memories. Each contestant has a store of its own.
    fn add(&self) -> io::Result<Comparison> {
        let calls = self.how.either(2, if self.shape.categories == 1 { 5 } else { 50 });
        let next = FIRST_ADDED..FIRST_ADDED + calls;
        let filled = || Filled::new(self.directory, self.shape);
        let bare = BareAdd::new(filled()?, self.shape, next.clone());
        let product = adding(filled()?.directory, self.shape, next)?;
        let aim = Aim { contestant: Server::NAME, quantity: Quantity::Cpu, at_most: ADD };
        let has_aim = self.shape.categories > 1;
        Ok(Comparison {
            title: self.title("an add"),
            contestants: vec![Box::new(bare), Box::new(product)],
            turns: 1,
            aims: has_aim.then_some(aim).into_iter().collect(),
            absent: Vec::new(),
        })
    }

    /// A list of one category. It reads the category's index, and the files of the listed memories.
    fn list(&self, filled: &Filled) -> io::Result<Comparison> {
        let arguments = json!({"store": STORE, "category": category(0)});
        let numbers = (0..self.shape.all()).step_by(self.shape.categories);
        let files = numbers.take(LISTED).map(|number| self.shape.page(number).file().0);
        let files = files.chain([filled.indexes.of(&category(0)).0]).collect();
        self.reading("a list of one category", "list_memories", arguments, files, filled)
    }

    /// The latest memories. The call reads all indexes, and the files of these memories.
    fn recent(&self, filled: &Filled) -> io::Result<Comparison> {
        let latest = (self.shape.all() - RECENT..self.shape.all()).map(|number| {
            let page = self.shape.page(number);
            page.file().0
        });
        let files = self.indexes(filled).into_iter().chain(latest).collect();
        let tool = "cortex_get_recent_memories";
        self.reading("the latest 5", tool, json!({"store": STORE}), files, filled)
    }

    /// The paths of all indexes.
    fn indexes(&self, filled: &Filled) -> Vec<String> {
        let of_categories =
            (0..self.shape.categories).map(|number| filled.indexes.of(&category(number)).0);
        of_categories.chain([filled.indexes.of_root().0]).collect()
    }

    fn reading(
        &self,
        what: &str,
        tool: &'static str,
        arguments: Value,
        files: Vec<String>,
        filled: &Filled,
    ) -> io::Result<Comparison> {
        let calls = self.how.either(2, 10);
        let bare = BareReads::new(filled, &[], &files, calls);
        let calls = Calls { tool, arguments: vec![arguments; calls] };
        self.reads(what, bare, server(filled.directory.clone(), &calls)?)
    }

    /// Reindexing. It reads all directories, indexes and memories.
    fn reindex(&self, filled: &Filled) -> io::Result<Comparison> {
        let categories = (0..self.shape.categories).map(category);
        let directories: Vec<String> = categories.chain([String::new()]).collect();
        let memories = (0..self.shape.all()).map(|number| self.shape.page(number).file().0);
        let files: Vec<String> = self.indexes(filled).into_iter().chain(memories).collect();
        let bare = BareReads::new(filled, &directories, &files, 1);
        self.reads("reindexing all", bare, Reindex::new(filled.directory.clone())?)
    }

    fn reads(
        &self,
        what: &str,
        bare: BareReads,
        product: impl Contestant + 'static,
    ) -> io::Result<Comparison> {
        Ok(Comparison {
            title: self.title(what),
            contestants: vec![Box::new(bare), Box::new(product)],
            turns: 1,
            aims: Vec::new(),
            absent: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use agent_memory_host::AgentMemory;

    use super::filled::store;
    use super::*;

    fn call(filled: &Filled, tool: &str, arguments: &Value) -> Value {
        let registry = filled::registry(&filled.directory);
        let builder = AgentMemory::builder().toolsets(["stores"]);
        let builder = builder.setting("stores", "registry", registry.to_str().expect("UTF-8"));
        let memory = builder.build().expect("it opens");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let arguments = arguments.to_string();
        let called = memory.call(tool, &arguments);
        let outcome = runtime.expect("a runtime").block_on(called).expect("an outcome");
        serde_json::from_str(&outcome.answer.expect("a result")).expect("JSON")
    }

    /// The lines of a file, without those that have a time.
    fn lines(text: &str) -> Vec<&str> {
        text.lines().filter(|line| !line.contains("_at: ")).collect()
    }

    #[test]
    fn the_bare_program_writes_what_the_product_writes() {
        let within = tempfile::tempdir().expect("a directory");
        let shape = Shape { categories: 2, memories: 3 };
        let filled = Filled::new(within.path(), shape).expect("it is filled");
        let mut bare =
            BareAdd::new(Filled::new(within.path(), shape).expect("filled"), shape, 7..9);
        bare.prepare().expect("its files");
        bare.take_turn().expect("it writes");
        for number in 7..9 {
            call(&filled, "add_memory", &shape.page(number).arguments());
        }
        let read = |directory, path: &str| {
            fs::read_to_string(store(directory).join(path)).expect("a file")
        };
        let of_category = |number| filled.indexes.of(&category(number)).0;
        for path in [shape.page(7).file().0, of_category(0), of_category(1), "index.yaml".into()] {
            let ours = read(&filled.directory, &path);
            let bare = read(bare.directory(), &path);
            assert_eq!(lines(&ours), lines(&bare), "{path}");
            assert_eq!(ours.len(), bare.len(), "{path}");
        }
    }

    #[test]
    fn the_product_finds_what_the_bare_program_reads() {
        let within = tempfile::tempdir().expect("a directory");
        let shape = Shape { categories: 2, memories: 3 };
        let filled = Filled::new(within.path(), shape).expect("it is filled");
        let paths = |answer: &Value| -> Vec<String> {
            let memories = answer["memories"].as_array().expect("a list").iter();
            memories
                .map(|memory| format!("{}.md", memory["path"].as_str().expect("a path")))
                .collect()
        };
        let page = |number| shape.page(number).file().0;
        let list = json!({"store": STORE, "category": category(0)});
        let listed = call(&filled, "list_memories", &list);
        assert_eq!(paths(&listed), [page(0), page(2), page(4)]);
        let latest = call(&filled, "cortex_get_recent_memories", &json!({"store": STORE}));
        assert_eq!(paths(&latest), [page(5), page(4), page(3), page(2), page(1)]);
        let reindexed = call(&filled, "reindex_store", &json!({"store": STORE}));
        assert_eq!((&reindexed["remaining"], &reindexed["warnings"]), (&json!(0), &json!([])));
        let index = fs::read_to_string(store(&filled.directory).join("area-001/index.yaml"));
        assert_eq!(index.expect("an index"), filled.indexes.of(&category(1)).1, "nothing to mend");
    }
}
