//! Memories of about 1 KB, and the files of a store that has them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::How;
use crate::texts::{FIRST_MOMENT, Moment, lengthened};

/// The name of the store.
pub const STORE: &str = "team";

/// The numbers of categories and memories of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub categories: usize,
    /// The number of memories in each category.
    pub memories: usize,
}

impl Shape {
    /// Many categories.
    pub fn many(how: &How) -> Self {
        Self { categories: how.either(4, 100), memories: how.either(5, 100) }
    }

    pub fn all(self) -> usize {
        self.categories * self.memories
    }

    /// The memory with a number. Memories go to the categories in turn.
    pub fn page(self, number: usize) -> Page {
        Page { number, category: category(number % self.categories) }
    }
}

/// The name of a category.
pub fn category(number: usize) -> String {
    format!("area-{number:03}")
}

/// A memory. Its number determines its text and its time: one memory is added each second.
pub struct Page {
    number: usize,
    pub category: String,
}

impl Page {
    /// The last segment of its path.
    fn slug(&self) -> String {
        format!("note-{:06}", self.number)
    }

    /// Its path in the store.
    fn path(&self) -> String {
        format!("{}/{}", self.category, self.slug())
    }

    pub fn content(&self) -> String {
        let heading = format!("# Note {}\n\nToday", self.number);
        lengthened(heading, self.number, 1_000)
    }

    fn tags(&self) -> [String; 2] {
        [format!("tag{}", self.number % 50), format!("area{}", self.number % 7)]
    }

    /// The arguments of `add_memory`.
    pub fn arguments(&self) -> Value {
        json!({"store": STORE, "path": self.path(), "content": self.content(), "tags": self.tags()})
    }

    fn moment(&self) -> Moment {
        Moment(FIRST_MOMENT + self.number as i64 * 1_000)
    }

    /// The path of its file in the store, and the text of the file.
    pub fn file(&self) -> (String, String) {
        let moment = self.moment();
        let [first, second] = self.tags();
        let text = format!(
            "---\ncreated_at: {moment}\nupdated_at: {moment}\ntags:\n  - {first}\n  - {second}\n\
             source: mcp\n---\n{}",
            self.content()
        );
        (format!("{}.md", self.path()), text)
    }

    /// Its item in the index of its category.
    fn item(&self) -> String {
        let tokens = self.content().chars().count().div_ceil(4);
        let path = self.path();
        let moment = self.moment();
        format!("  - path: {path}\n    token_estimate: {tokens}\n    updated_at: {moment}\n")
    }
}

/// The indexes of a store.
#[derive(Default)]
pub struct Indexes {
    /// The items of each category, by path.
    items: BTreeMap<String, BTreeMap<String, String>>,
}

impl Indexes {
    pub fn add(&mut self, page: &Page) {
        let items = self.items.entry(page.category.clone()).or_default();
        items.insert(page.slug(), page.item());
    }

    /// The path and the text of a category's index.
    pub fn of(&self, category: &str) -> (String, String) {
        let items: String = self.items[category].values().map(String::as_str).collect();
        let text = format!("memories:\n{items}subcategories: []\n");
        (format!("{category}/index.yaml"), text)
    }

    /// The path and the text of the root's index.
    pub fn of_root(&self) -> (String, String) {
        let items = self.items.iter().map(|(category, items)| {
            format!("  - path: {category}\n    memory_count: {}\n", items.len())
        });
        let text = format!("memories: []\nsubcategories:\n{}", items.collect::<String>());
        ("index.yaml".to_owned(), text)
    }
}
