//! The index of a category: the file `index.yaml`, which lists its memories and its subcategories.

use std::collections::{BTreeMap, BTreeSet};

use super::memory::{Memory, token_estimate};
use super::path::CategoryPath;
use crate::storage::Splice;
use crate::time::Timestamp;
use crate::yaml::{self, Editor, Entry, New, NewEntry, Node, YamlError};

/// The maximum number of keys and values in an index, enough for about 100,000 memories.
const MAX_NODES: usize = 1_000_000;

const MEMORIES: &str = "memories";
const SUBCATEGORIES: &str = "subcategories";

/// The keys that this program writes in a memory's item. Other programs may add further keys.
const KEYS: [&str; 3] = ["path", "token_estimate", "updated_at"];

/// The values that an index lists for a memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct IndexedMemory {
    pub token_estimate: Option<u64>,
    pub updated_at: Option<Timestamp>,
}

/// The values that an index lists for a subcategory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct IndexedCategory {
    pub memory_count: Option<u64>,
    pub description: Option<String>,
}

/// An index that has been read.
pub(super) struct Index {
    root: Option<Node>,
    /// The items of the list `memories`.
    memories: Items,
    subcategories: Items,
}

/// The positions of a list's items. `by_segment` has the items directly in the category, by the
/// last segment of their path. `others` has all further items, such as duplicates.
#[derive(Default)]
struct Items {
    by_segment: BTreeMap<String, usize>,
    others: Vec<usize>,
    count: usize,
}

/// The content that an index should have. Other items are removed, except in a list that is `None`.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    /// The memories, by slug. A memory that is `None` keeps its values in the index. If the map is
    /// `None`, no item of a memory changes.
    pub memories: Option<BTreeMap<String, Option<IndexedMemory>>>,
    /// Keys of other programs for the items of new memories, by slug.
    pub more: BTreeMap<String, Vec<NewEntry>>,
    /// The segments of all subcategories. `None` removes no subcategory.
    pub subcategories: Option<BTreeSet<String>>,
    /// New memory counts of subcategories. Missing subcategories are added.
    pub counts: BTreeMap<String, u64>,
}

impl Index {
    /// Reads the index of a category.
    ///
    /// # Errors
    ///
    /// The line and the reason why the index cannot be read.
    pub fn read(category: &CategoryPath, text: &str) -> Result<Self, YamlError> {
        let wrong = |node: &Node, message: &str| YamlError {
            line: crate::text::line_of(text, node.span.start),
            message: message.to_owned(),
        };
        let root = yaml::parse(text, MAX_NODES)?.filter(|root| !root.is_null());
        if let Some(root) = root.as_ref().filter(|root| root.entries().is_none()) {
            return Err(wrong(root, "an index is a mapping of `memories` and `subcategories`"));
        }
        let items = |key: &str| {
            let Some(list) = root.as_ref().and_then(|root| root.get(key)) else {
                return Ok(Items::default());
            };
            let nodes = list.items().ok_or_else(|| wrong(list, "this is no list"))?;
            let mut items = Items { count: nodes.len(), ..Items::default() };
            for (number, node) in nodes.iter().enumerate() {
                let path = node.get("path").and_then(Node::text);
                let path = path.ok_or_else(|| wrong(node, "this item has no `path`"))?;
                match category.segment_of(path) {
                    Some(segment) if !items.by_segment.contains_key(segment) => {
                        items.by_segment.insert(segment.to_owned(), number);
                    }
                    // The item's path is not directly in this category, or the item is a duplicate,
                    // for example after a merge in Git.
                    _ => items.others.push(number),
                }
            }
            Ok(items)
        };
        let memories = items(MEMORIES)?;
        let subcategories = items(SUBCATEGORIES)?;
        Ok(Self { root, memories, subcategories })
    }

    /// Returns the memories with their slugs.
    pub fn memories(&self) -> impl Iterator<Item = (&str, IndexedMemory)> {
        let memory = |number: usize| match self.item(MEMORIES, number) {
            None => IndexedMemory::default(),
            Some(node) => IndexedMemory {
                token_estimate: number_in(node, "token_estimate"),
                updated_at: node
                    .get("updated_at")
                    .and_then(Node::text)
                    .and_then(Timestamp::parse_stored),
            },
        };
        self.memories.by_segment.iter().map(move |(slug, at)| (slug.as_str(), memory(*at)))
    }

    /// Returns the subcategories with their segments.
    pub fn subcategories(&self) -> impl Iterator<Item = (&str, IndexedCategory)> {
        let category = |number: usize| match self.item(SUBCATEGORIES, number) {
            None => IndexedCategory::default(),
            Some(node) => IndexedCategory {
                memory_count: number_in(node, "memory_count"),
                description: node.get("description").and_then(Node::text).map(str::to_owned),
            },
        };
        self.subcategories
            .by_segment
            .iter()
            .map(move |(segment, at)| (segment.as_str(), category(*at)))
    }

    /// Returns the entries that other programs added to a memory's item.
    pub fn more_of(&self, slug: &str) -> Vec<NewEntry> {
        let at = self.memories.by_segment.get(slug);
        let entries = at.and_then(|at| self.item(MEMORIES, *at)?.entries());
        let is_known = |entry: &&Entry| entry.key.text().is_some_and(|key| KEYS.contains(&key));
        let others = entries.into_iter().flatten().filter(|entry| !is_known(entry));
        others.map(New::entry_of).collect()
    }

    pub fn has_memory(&self, slug: &str) -> bool {
        self.memories.by_segment.contains_key(slug)
    }

    pub fn has_subcategory(&self, segment: &str) -> bool {
        self.subcategories.by_segment.contains_key(segment)
    }

    /// Returns the splices that give the index the wanted content. Empty if it has that content
    /// already.
    ///
    /// # Errors
    ///
    /// The index has a form that splices cannot change correctly.
    pub fn change(
        &self,
        category: &CategoryPath,
        text: &str,
        wanted: &Wanted,
    ) -> Result<Vec<Splice>, YamlError> {
        let form = "the index has a form that cannot be changed here".to_owned();
        let form = || YamlError { line: 1, message: form.clone() };
        let Some(root) = &self.root else {
            let lines = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            let inserts = format!("{lines}{}", new_text(category, wanted)).into_bytes();
            let splices = vec![Splice { range: text.len()..text.len(), inserts }];
            // Lines may not be added to a `null`.
            return says(category, text, &splices, wanted).then_some(splices).ok_or_else(form);
        };
        let mut editor = Editor::new(text);
        self.set_values(&mut editor, wanted);
        self.change_lists(&mut editor, root, category, wanted);
        let splices = editor.splices();
        // In YAML's block style, splices replace whole lines and cannot overlap, so the result is not
        // checked. Only an explicit key, as in `? key`, may lack its colon.
        let may_lack_colon = text.contains('?');
        let is_block = |list| root.get(list).is_none_or(|list| list.is_list_of_blocks(text));
        if !may_lack_colon && is_block(MEMORIES) && is_block(SUBCATEGORIES) && !root.is_flow()
            || says(category, text, &splices, wanted)
        {
            return Ok(splices);
        }
        // In YAML's flow style (`[a, b]`), the splices for new items and for new values overlap. So
        // the values are changed first, and then the items of the changed text.
        let mut editor = Editor::new(text);
        self.set_values(&mut editor, wanted);
        let with_values = editor.finish().ok_or_else(form)?;
        let again = Self::read(category, &with_values).map_err(|_| form())?;
        let mut editor = Editor::new(&with_values);
        again.change_lists(&mut editor, again.root.as_ref().ok_or_else(form)?, category, wanted);
        let inserts = editor.finish().ok_or_else(form)?.into_bytes();
        let splices = vec![Splice { range: 0..text.len(), inserts }];
        says(category, text, &splices, wanted).then_some(splices).ok_or_else(form)
    }

    /// Sets the new values of existing items.
    fn set_values(&self, editor: &mut Editor<'_>, wanted: &Wanted) {
        for (slug, values) in wanted.memories.iter().flatten() {
            let at = self.memories.by_segment.get(slug);
            let item = at.and_then(|at| self.item(MEMORIES, *at));
            if let (Some(item), Some(new)) = (item, values) {
                set_memory(editor, item, *new);
            }
        }
        for (segment, count) in &wanted.counts {
            let at = self.subcategories.by_segment.get(segment);
            let item = at.and_then(|at| self.item(SUBCATEGORIES, *at));
            if let Some(item) = item.filter(|item| number_in(item, "memory_count") != Some(*count))
            {
                editor.set(item, "memory_count", &New::plain(count));
            }
        }
    }

    /// Adds the wanted memories and subcategories that the index lacks, and removes those that are
    /// not wanted. Does not touch the memories if `wanted.memories` is `None`. Removes no
    /// subcategory if `wanted.subcategories` is `None`.
    fn change_lists(
        &self,
        editor: &mut Editor<'_>,
        root: &Node,
        category: &CategoryPath,
        wanted: &Wanted,
    ) {
        if let Some(memories) = &wanted.memories {
            let new = memories.iter().filter(|(slug, _)| !self.has_memory(slug));
            let new = new.map(|(slug, values)| {
                let item = memory_item(category, slug, *values, wanted);
                (self.place_of(MEMORIES, category, slug), item)
            });
            let removed = self.memories.without(|slug| memories.contains_key(slug));
            editor.change_items(root, MEMORIES, &removed, &new.collect::<Vec<_>>());
        }
        let new = wanted.counts.iter().filter(|(segment, _)| !self.has_subcategory(segment));
        let new = new.map(|(segment, count)| {
            let item = category_item(category, segment, *count);
            (self.place_of(SUBCATEGORIES, category, segment), item)
        });
        let removed = match &wanted.subcategories {
            Some(all) => self.subcategories.without(|segment| all.contains(segment)),
            None => Vec::new(),
        };
        editor.change_items(root, SUBCATEGORIES, &removed, &new.collect::<Vec<_>>());
    }

    fn item(&self, list: &str, number: usize) -> Option<&Node> {
        self.root.as_ref()?.get(list)?.items()?.get(number)
    }

    /// Returns the position at which a new item is inserted. Items are sorted by path.
    fn place_of(&self, list: &str, category: &CategoryPath, segment: &str) -> usize {
        let new = category.child(segment);
        let items = self.root.as_ref().and_then(|root| root.get(list)?.items());
        let is_greater = |item: &Node| {
            item.get("path").and_then(Node::text).is_some_and(|path| path > new.as_str())
        };
        let items = items.unwrap_or_default();
        items.iter().position(is_greater).unwrap_or(items.len())
    }
}

impl Items {
    /// Returns the numbers of the items that are not kept, in ascending order.
    fn without(&self, is_kept: impl Fn(&str) -> bool) -> Vec<usize> {
        let gone = self.by_segment.iter().filter(|(segment, _)| !is_kept(segment));
        let mut removed: Vec<usize> = gone.map(|(_, at)| *at).chain(self.others.clone()).collect();
        removed.sort_unstable();
        removed
    }
}

/// Returns the values that an index should list for a memory.
pub(super) fn indexed(memory: &Memory<'_>) -> IndexedMemory {
    IndexedMemory {
        token_estimate: Some(token_estimate(memory.content)),
        updated_at: memory.metadata.updated_at,
    }
}

/// Returns the text of a new index.
pub(super) fn new_text(category: &CategoryPath, wanted: &Wanted) -> String {
    let memories = wanted.memories.iter().flatten();
    let memories =
        memories.map(|(slug, values)| memory_item(category, slug, *values, wanted)).collect();
    let counts = wanted.counts.iter();
    let subcategories =
        counts.map(|(segment, count)| category_item(category, segment, *count)).collect();
    let list =
        |key: &str, items: Vec<New>| format!("{key}:{}\n", New::Items(items).after_colon(2, "\n"));
    list(MEMORIES, memories) + &list(SUBCATEGORIES, subcategories)
}

fn memory_item(
    category: &CategoryPath,
    slug: &str,
    values: Option<IndexedMemory>,
    wanted: &Wanted,
) -> New {
    let values = values.unwrap_or_default();
    let mut fields = vec![("path", New::text(category.child(slug).as_str()))];
    fields.extend(values.token_estimate.map(|tokens| ("token_estimate", New::plain(tokens))));
    fields.extend(values.updated_at.map(|at| ("updated_at", New::plain(at))));
    let fields = fields.into_iter().map(|(key, value)| (New::text(key), value));
    New::Mapping(fields.chain(wanted.more.get(slug).cloned().unwrap_or_default()).collect())
}

fn category_item(category: &CategoryPath, segment: &str, count: u64) -> New {
    let path = New::text(category.child(segment).as_str());
    New::mapping([("path", path), ("memory_count", New::plain(count))])
}

fn set_memory(editor: &mut Editor<'_>, item: &Node, new: IndexedMemory) {
    let tokens =
        new.token_estimate.filter(|_| number_in(item, "token_estimate") != new.token_estimate);
    if let Some(tokens) = tokens {
        editor.set(item, "token_estimate", &New::plain(tokens));
    }
    let text = item.get("updated_at").and_then(Node::text);
    match new.updated_at {
        Some(at) if text.and_then(Timestamp::parse_stored) != Some(at) => {
            editor.set(item, "updated_at", &New::plain(at));
        }
        None => editor.remove(item, "updated_at"),
        Some(_) => {}
    }
}

fn number_in(node: &Node, key: &str) -> Option<u64> {
    node.get(key)?.text()?.parse().ok()
}

/// Whether the index has the wanted content after these splices.
fn says(category: &CategoryPath, text: &str, splices: &[Splice], wanted: &Wanted) -> bool {
    let changed = Splice::all(splices, text.as_bytes().to_vec());
    let changed = changed.and_then(|bytes| String::from_utf8(bytes).ok());
    let Some(index) = changed.and_then(|text| Index::read(category, &text).ok()) else {
        return false;
    };
    let memories: BTreeMap<_, _> = index.memories().collect();
    let categories: BTreeMap<_, _> = index.subcategories().collect();
    let has_memory = |(slug, values): (&String, &Option<IndexedMemory>)| {
        let found = memories.get(slug.as_str());
        found.is_some_and(|found| values.is_none_or(|wanted| wanted == *found))
    };
    let has_count = |(segment, count): (&String, &u64)| {
        categories.get(segment.as_str()).is_some_and(|of| of.memory_count == Some(*count))
    };
    wanted.memories.as_ref().is_none_or(|wanted| {
        wanted.len() == memories.len()
            && index.memories.count == memories.len()
            && wanted.iter().all(has_memory)
    }) && wanted.counts.iter().all(has_count)
        && wanted.subcategories.as_ref().is_none_or(|all| {
            categories.len() == all.len() && index.subcategories.count == categories.len()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(text: &str, wanted: &Wanted) -> String {
        let category = CategoryPath::parse("a").expect("a path");
        let index = Index::read(&category, text).expect(text);
        let splices = index.change(&category, text, wanted).expect(text);
        Splice::all_of_text(&splices, text)
    }

    fn values(tokens: u64) -> Option<IndexedMemory> {
        let updated_at = Timestamp::parse("2025-01-20T10:00:00.000Z");
        Some(IndexedMemory { token_estimate: Some(tokens), updated_at })
    }

    fn wanted(memories: &[(&str, Option<IndexedMemory>)], counts: &[(&str, u64)]) -> Wanted {
        let memories = memories.iter().map(|(slug, values)| ((*slug).to_owned(), *values));
        Wanted {
            memories: Some(memories.collect()),
            more: BTreeMap::new(),
            subcategories: None,
            counts: counts.iter().map(|(of, count)| ((*of).to_owned(), *count)).collect(),
        }
    }

    #[test]
    fn an_index_changes_only_where_it_says_something_else() {
        let text = "memories: \n  - path: a/b # mine\n    token_estimate: 2\n    kind: x\n  - path: a/d\n    \
            token_estimate: 4\n    updated_at: 2025-01-19T00:00:00.000Z\nsubcategories: \n  - path: a/s\n    \
            memory_count: 1\n    description: Ours\nversion: 1";
        assert_eq!(changed(text, &wanted(&[("b", None), ("d", None)], &[("s", 1)])), text);
        assert_eq!(
            changed(text, &wanted(&[("b", values(3)), ("c", values(1))], &[("s", 2), ("t", 1)])),
            "memories: \n  - path: a/b # mine\n    token_estimate: 3\n    kind: x\n    updated_at: \
            2025-01-20T10:00:00.000Z\n  - path: a/c\n    token_estimate: 1\n    updated_at: \
            2025-01-20T10:00:00.000Z\nsubcategories: \n  - path: a/s\n    memory_count: 2\n    description: \
            Ours\n  - path: a/t\n    memory_count: 1\nversion: 1"
        );
        let flow =
            "{memories: [{path: a/b, token_estimate: 1}, {path: a/b}], subcategories: []} # c\n";
        assert_eq!(
            changed(flow, &wanted(&[("b", values(2)), ("1", values(3))], &[("s", 1)])),
            "{memories: [{path: a/1, token_estimate: 3, updated_at: 2025-01-20T10:00:00.000Z}, {path: a/b, \
            token_estimate: 2, updated_at: 2025-01-20T10:00:00.000Z}], subcategories: [{path: a/s, \
            memory_count: 1}]} # c\n"
        );
        let new = "memories:\n  - path: a/b\nsubcategories: []\n";
        for empty in ["", "memories:\nsubcategories: []\n", "memories: []\nsubcategories: []\n"] {
            assert_eq!(changed(empty, &wanted(&[("b", None)], &[])), new, "{empty:?}");
        }
        assert_eq!(changed("# c", &wanted(&[("b", None)], &[])), format!("# c\n{new}"));
        for null in ["~\n", "null # c", "--- ~", "---\n..."] {
            let index = Index::read(&CategoryPath::ROOT, null).expect(null);
            let changed = index.change(&CategoryPath::ROOT, null, &wanted(&[("b", None)], &[]));
            assert!(changed.is_err(), "{null:?}");
        }
    }

    #[test]
    fn an_index_with_a_key_without_a_colon_is_changed_correctly_or_not_at_all() {
        let text = "memories:\n  - path: a/b\n    ? token_estimate\n  - path: a/c\n";
        let category = CategoryPath::parse("a").expect("a path");
        let index = Index::read(&category, text).expect(text);
        for (memories, is_changed) in [
            (&[("b", values(5))][..], false),
            (&[("b", values(5)), ("c", None)][..], false),
            (&[("b", None)][..], true),
        ] {
            let wanted = wanted(memories, &[]);
            let changed = index.change(&category, text, &wanted);
            assert_eq!(changed.is_ok(), is_changed, "{memories:?}: {changed:?}");
            let is_right = |splices: Vec<Splice>| says(&category, text, &splices, &wanted);
            assert!(changed.is_err() || changed.is_ok_and(is_right), "{memories:?}");
        }
    }

    #[test]
    fn an_index_of_another_form_is_refused_with_the_line() {
        let category = CategoryPath::ROOT;
        for (text, line) in [
            ("- a\n", 1),
            ("memories: {}\n", 1),
            ("memories:\n  - a\n", 2),
            ("memories:\n  - path: a\n  - tokens: 1\n", 3),
            ("<<<<<<< ours\nmemories: []\n=======\n", 2),
        ] {
            let error = Index::read(&category, text).err().expect(text);
            assert_eq!(error.line, line, "{text:?}: {}", error.message);
        }
    }
}
