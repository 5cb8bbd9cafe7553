//! Removes a text from the file of a memory or from the index of a category. Does not change keys
//! or dates of front matter or paths in an index: a person has to do that.

use std::ops::Range;

use super::index::Index;
use super::memory::{Memory, Metadata};
use super::path::{CategoryPath, MemoryPath};
use crate::forget::{Removal, marks, ranges_of, without};
use crate::storage::Splice;
use crate::text::line_of;

/// Replaces a text by a mark in the file of a memory.
pub(super) fn remove_from_memory(path: &MemoryPath, text: &str, secret: &str) -> Removal {
    let (before, damage) = Memory::read_in_part(path, text);
    let ranges = ranges_of(secret, text);
    let splices = marks(ranges.iter().cloned());
    let cleaned = Splice::all_of_text(&splices, text);
    let (after, damage_after) = Memory::read_in_part(path, &cleaned);
    let expected = metadata_without(secret, &before.metadata);
    if after.metadata == expected && damage.is_some() == damage_after.is_some() {
        return Removal { splices, left: None };
    }
    let content = text.len() - before.content.len();
    let (stays, goes): (Vec<Range<usize>>, _) =
        ranges.into_iter().partition(|range| range.start < content);
    let line = stays.first().map_or(1, |range| line_of(text, range.start));
    let left = format!(
        "the front matter has it, from line {line} on, in a key, in a date or in another spelling: \
         edit it by hand"
    );
    Removal { splices: marks(goes), left: Some(left) }
}

fn metadata_without(secret: &str, metadata: &Metadata) -> Metadata {
    let cleaned = |text: &String| without(secret, text).unwrap_or_else(|| text.clone());
    let all = |texts: &[String]| texts.iter().map(cleaned).collect();
    Metadata {
        tags: all(&metadata.tags),
        source: metadata.source.as_ref().map(cleaned),
        citations: all(&metadata.citations),
        names: all(&metadata.names),
        ..metadata.clone()
    }
}

/// Replaces a text by a mark in the index of a category, for example in a description.
pub(super) fn remove_from_index(category: &CategoryPath, text: &str, secret: &str) -> Removal {
    let splices = marks(ranges_of(secret, text));
    if splices.is_empty() {
        return Removal::default();
    }
    let paths = |text: &str| {
        let index = Index::read(category, text).ok()?;
        let memories = index.memories().map(|(slug, of)| (slug.to_owned(), of.updated_at));
        let subcategories = index.subcategories().map(|(segment, _)| segment.to_owned());
        Some((memories.collect::<Vec<_>>(), subcategories.collect::<Vec<_>>()))
    };
    if paths(text).is_some_and(|before| paths(&Splice::all_of_text(&splices, text)) == Some(before))
    {
        return Removal { splices, left: None };
    }
    let left = "it is in a path, in a date or in what cannot be read: edit it by hand".to_owned();
    Removal::left(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> MemoryPath {
        MemoryPath::parse("notes/key").unwrap_or_else(|_| panic!("a path"))
    }

    fn after(text: &str, secret: &str) -> (String, bool) {
        let removal = remove_from_memory(&path(), text, secret);
        (Splice::all_of_text(&removal.splices, text), removal.left.is_none())
    }

    #[test]
    fn a_text_becomes_a_mark_in_front_matter_and_below_it() {
        let text = "---\ncreated_at: 2025-01-20T10:00:00.000Z\ntags: [hunter22, b]\n\
                    title: hunter22\ncitations:\n  - \"see hunter22\"\nours: hunter22 # hunter22\n---\n\
                    The key is hunter22.\n";
        assert_eq!(after(text, "hunter22"), (text.replace("hunter22", "(removed)"), true));
    }

    #[test]
    fn keys_and_dates_of_front_matter_stay_and_are_told() {
        let text =
            "---\ncreated_at: 2025-01-20T10:00:00.000Z\ntags: [a]\n---\ntags of 2025-01-20\n";
        for (secret, body) in
            [("tags", "(removed) of 2025-01-20"), ("2025-01-20", "tags of (removed)")]
        {
            let expected = text.replace("tags of 2025-01-20", body);
            assert_eq!(after(text, secret), (expected, false), "{secret}");
        }
        let text = "---\ntags: [\"a\\\"bcd\"]\n---\na\"bcd\n";
        assert_eq!(after(text, "a\"bcd"), (text.replace("\na\"bcd", "\n(removed)"), false));
    }

    #[test]
    fn a_damaged_file_loses_the_text_too() {
        let text = "---\ntags: [a\n---\nhunter22\n";
        assert_eq!(after(text, "hunter22"), (text.replace("hunter22", "(removed)"), true));
    }
}
