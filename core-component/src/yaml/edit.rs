//! Changes a YAML text by splices. Each change concerns one entry or item and leaves all other
//! bytes as they are.

use std::ops::Range;

use super::node::{Entry, Node, Value};
use super::write::{New, scalar};
use crate::storage::Splice;
use crate::text::{line_after, line_start};

/// Collects changes to one text.
pub(crate) struct Editor<'a> {
    text: &'a str,
    splices: Vec<(Range<usize>, String)>,
    /// New values of existing keys. They are sorted before other splices at the same offset.
    values: Vec<(Range<usize>, String)>,
}

impl<'a> Editor<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, splices: Vec::new(), values: Vec::new() }
    }

    pub fn has_changes(&self) -> bool {
        !self.splices.is_empty() || !self.values.is_empty()
    }

    /// Returns the changes as splices, in ascending order.
    pub fn splices(mut self) -> Vec<Splice> {
        self.values.append(&mut self.splices);
        self.values.sort_by_key(|(range, _)| (range.start, range.end));
        let splice = |(range, text): (_, String)| Splice { range, inserts: text.into_bytes() };
        self.values.into_iter().map(splice).collect()
    }

    /// Returns the text with all changes. `None` if two changes overlap.
    pub fn finish(self) -> Option<String> {
        let text = self.text;
        let spliced = Splice::all(&self.splices(), text.as_bytes().to_vec())?;
        String::from_utf8(spliced).ok()
    }

    /// Sets the value of a key of a mapping. A new key becomes the last key.
    pub fn set(&mut self, mapping: &Node, key: &str, new: &New) {
        match mapping.entry(key) {
            Some(entry) => self.replace(mapping, entry, new),
            None => self.append(mapping, key, new),
        }
    }

    /// Removes a key of a mapping. Does nothing if the mapping does not have the key.
    pub fn remove(&mut self, mapping: &Node, key: &str) {
        let Value::Mapping { entries, is_flow } = &mapping.value else { return };
        let is_it = |entry: &Entry| entry.key.text() == Some(key);
        let Some(at) = entries.iter().position(is_it) else { return };
        if *is_flow {
            let spans: Vec<_> =
                entries.iter().map(|of| of.key.span.start..self.end_of(of)).collect();
            self.splice(without(&spans, at), String::new());
        } else if entries.len() == 1 && !self.has_changes() {
            // A block mapping cannot be empty, so it becomes `{}`, unless there are other changes,
            // which may add a key.
            self.splice(mapping.span.clone(), "{}".into());
        } else {
            let start = entries[at].key.span.start;
            let range = match entries.get(at + 1) {
                // The key is on the line of an item's dash. The dash stays, and the next key moves
                // up to it.
                Some(next) if !self.begins_line(start) => start..next.key.span.start,
                _ => self.lines(start, self.end_of(&entries[at])),
            };
            self.splice(range, String::new());
        }
    }

    /// Removes the items of a sequence with the indexes in `removed`. Inserts each new item before
    /// the item that now has its index, or after the last item. Both lists are in ascending order.
    /// A missing sequence is added to the parent as its last key.
    pub fn change_items(
        &mut self,
        parent: &Node,
        key: &str,
        removed: &[usize],
        inserted: &[(usize, New)],
    ) {
        if removed.is_empty() && inserted.is_empty() {
            return;
        }
        let Some(entry) = parent.entry(key) else {
            let new = New::Items(inserted.iter().map(|(_, new)| new.clone()).collect());
            return self.append(parent, key, &new);
        };
        match &entry.value.value {
            Value::Sequence { items, is_flow: false } if removed.len() < items.len() => {
                for at in removed {
                    let item = &items[*at];
                    let lines = self.lines(self.dash(item), item.span.end);
                    self.splice(lines, String::new());
                }
                let column = self.column_at(self.dash(&items[0]));
                for (at, new) in inserted {
                    let lines = New::Items(vec![new.clone()]).after_colon(column, self.line_end());
                    let item =
                        format!("{}{}", lines.trim_start_matches(['\n', '\r']), self.line_end());
                    match items.get(*at) {
                        Some(before) => {
                            let at = self.line_start(self.dash(before));
                            self.splice(at..at, item);
                        }
                        None => self.insert_lines_after(entry.value.span.end, &item),
                    }
                }
            }
            // A list in flow style is rewritten as a whole from the texts of its items.
            Value::Sequence { items, is_flow: true } if removed.len() < items.len() => {
                let mut texts = Vec::new();
                for at in 0..=items.len() {
                    let new =
                        inserted.iter().filter(|(before, _)| (*before).min(items.len()) == at);
                    texts.extend(new.map(|(_, new)| new.flow()));
                    if let Some(item) = items.get(at).filter(|_| !removed.contains(&at)) {
                        texts.push(self.text[item.span.clone()].to_owned());
                    }
                }
                self.values.push((self.value_range(entry), format!(" [{}]", texts.join(", "))));
            }
            // No old item stays, or the value is not a list: the whole value is written anew.
            _ => {
                let new = New::Items(inserted.iter().map(|(_, new)| new.clone()).collect());
                let column = self.column_at(entry.key.span.start) + 2;
                let text = if parent.is_flow() {
                    format!(" {}", new.flow())
                } else {
                    new.after_colon(column, self.line_end())
                };
                self.values.push((self.value_range(entry), text));
            }
        }
    }

    fn replace(&mut self, mapping: &Node, entry: &Entry, new: &New) {
        // An empty list is always in flow style, so its style does not count.
        let is_empty = entry.value.items().is_some_and(<[_]>::is_empty);
        let is_flow = mapping.is_flow() || !is_empty && entry.value.is_flow();
        let text = match (is_flow, &entry.value.value) {
            (true, _) => format!(" {}", new.flow()),
            (false, Value::Sequence { items, .. }) if !items.is_empty() => {
                let column = self.column_at(self.dash(&items[0]));
                new.after_colon(column, self.line_end())
            }
            (false, _) => {
                new.after_colon(self.column_at(entry.key.span.start) + 2, self.line_end())
            }
        };
        self.values.push((self.value_range(entry), text));
    }

    /// Adds an entry after the last entry of a mapping.
    fn append(&mut self, mapping: &Node, key: &str, new: &New) {
        let entries = mapping.entries().unwrap_or_default();
        match (mapping.is_flow(), entries.last()) {
            (true, last) => {
                let at = last.map_or(mapping.span.start + 1, |last| self.end_of(last));
                let comma = if last.is_some() { ", " } else { "" };
                self.splice(at..at, format!("{comma}{}: {}", scalar(key), new.flow()));
            }
            (false, _) => {
                let column = self.column(mapping);
                let margin = " ".repeat(column);
                let line_end = self.line_end();
                let value = new.after_colon(column + 2, line_end);
                self.insert_lines_after(
                    mapping.span.end,
                    &format!("{margin}{}:{value}{line_end}", scalar(key)),
                );
            }
        }
    }

    /// Inserts whole lines after the line that contains the offset `end`.
    fn insert_lines_after(&mut self, end: usize, lines: &str) {
        let at = self.line_after(self.trimmed(end));
        let is_unended = at > 0 && !self.text[..at].ends_with(['\n', '\r']);
        let text = if is_unended {
            format!("{}{}", self.line_end(), lines.trim_end_matches(['\n', '\r']))
        } else {
            lines.to_owned()
        };
        self.splice(at..at, text);
    }

    /// The range after the colon of an entry, up to the end of its value.
    fn value_range(&self, entry: &Entry) -> Range<usize> {
        let colon = self.colon(entry);
        colon + 1..self.end_of(entry)
    }

    fn colon(&self, entry: &Entry) -> usize {
        let end = entry.key.span.end;
        end + self.text[end..].find(':').unwrap_or(0)
    }

    /// The end of an entry, without trailing white space.
    fn end_of(&self, entry: &Entry) -> usize {
        self.trimmed(entry.value.span.end).max(self.colon(entry) + 1)
    }

    fn trimmed(&self, end: usize) -> usize {
        // Only YAML white space: other Unicode white space is part of a value.
        self.text[..end].trim_end_matches([' ', '\t', '\n', '\r']).len()
    }

    /// The offset of the dash of an item of a block sequence.
    fn dash(&self, item: &Node) -> usize {
        let before = &self.text[..item.span.start];
        before.rfind('-').unwrap_or(0)
    }

    /// The range of the whole lines from offset `start` to offset `end`.
    fn lines(&self, start: usize, end: usize) -> Range<usize> {
        self.line_start(start)..self.line_after(self.trimmed(end))
    }

    /// The offset at which the line of `at` begins. The first line begins after a byte order mark.
    fn line_start(&self, at: usize) -> usize {
        match line_start(self.text, at) {
            0 if self.text.starts_with('\u{feff}') => '\u{feff}'.len_utf8().min(at),
            start => start,
        }
    }

    fn line_after(&self, at: usize) -> usize {
        line_after(self.text, at)
    }

    fn begins_line(&self, at: usize) -> bool {
        self.text[self.line_start(at)..at].trim().is_empty()
    }

    /// The column of the keys of a block mapping.
    fn column(&self, mapping: &Node) -> usize {
        let first = mapping.entries().and_then(<[_]>::first);
        first.map_or(0, |entry| self.column_at(entry.key.span.start))
    }

    fn column_at(&self, at: usize) -> usize {
        self.text[self.line_start(at)..at].chars().count()
    }

    /// The line ending of the text, which is that of its first line.
    fn line_end(&self) -> &'static str {
        let first = self.text.find(['\n', '\r']).map(|at| &self.text[at..]);
        match first {
            Some(end) if end.starts_with("\r\n") => "\r\n",
            Some(end) if end.starts_with('\r') => "\r",
            _ => "\n",
        }
    }

    fn splice(&mut self, range: Range<usize>, text: String) {
        self.splices.push((range, text));
    }
}

/// The range to cut so that an item is removed together with one comma.
fn without(spans: &[Range<usize>], at: usize) -> Range<usize> {
    match (at, spans.get(at + 1)) {
        (0, Some(next)) => spans[0].start..next.start,
        (0, None) => spans[0].clone(),
        _ => spans[at - 1].end..spans[at].end,
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;

    fn edited(text: &str, edit: impl FnOnce(&mut Editor<'_>, &Node)) -> String {
        let root = parse(text, 1_000).expect("YAML").expect("a value");
        let mut editor = Editor::new(text);
        edit(&mut editor, &root);
        editor.finish().expect("changes that fit")
    }

    #[test]
    fn a_value_is_replaced_and_everything_around_it_stays() {
        let set = |text: &str, new: New| edited(text, |editor, root| editor.set(root, "k", &new));
        let one = || New::text("new");
        let two = || New::texts(&["x".into(), "1".into()]);
        for (text, with_one, with_two) in [
            ("k: a # c\nz: 1\n", "k: new # c\nz: 1\n", "k:\n  - x\n  - \"1\" # c\nz: 1\n"),
            ("k:\n- a\n- b\n# c\nz: 1", "k: new\n# c\nz: 1", "k:\n- x\n- \"1\"\n# c\nz: 1"),
            ("k:\n    - a # c\n", "k: new # c\n", "k:\n    - x\n    - \"1\" # c\n"),
            ("k: [a, b] # c\n", "k: new # c\n", "k: [x, \"1\"] # c\n"),
            ("k: [] # c\n", "k: new # c\n", "k:\n  - x\n  - \"1\" # c\n"),
            ("k: |\n  a\n  b\n\nz: 1\n", "k: new\n\nz: 1\n", "k:\n  - x\n  - \"1\"\n\nz: 1\n"),
            ("k:\nz: 1\n", "k: new\nz: 1\n", "k:\n  - x\n  - \"1\"\nz: 1\n"),
            ("k:\n- a: 1\n  b: \n", "k: new \n", "k:\n- x\n- \"1\" \n"),
            ("z:\n  y: # c\n", "z:\n  y: # c\nk: new\n", "z:\n  y: # c\nk:\n  - x\n  - \"1\"\n"),
            ("k:\r\nz: 1\r\n", "k: new\r\nz: 1\r\n", "k:\r\n  - x\r\n  - \"1\"\r\nz: 1\r\n"),
            ("k:\rz: 1\r", "k: new\rz: 1\r", "k:\r  - x\r  - \"1\"\rz: 1\r"),
            ("k: a\u{3000}\nz: 1", "k: new\nz: 1", "k:\n  - x\n  - \"1\"\nz: 1"),
            ("{é: 1, k: 2}", "{é: 1, k: new}", "{é: 1, k: [x, \"1\"]}"),
            ("z: 1 # c\n# d\n", "z: 1 # c\nk: new\n# d\n", "z: 1 # c\nk:\n  - x\n  - \"1\"\n# d\n"),
            ("z: 1", "z: 1\nk: new", "z: 1\nk:\n  - x\n  - \"1\""),
            ("\u{feff}z: 1", "\u{feff}z: 1\nk: new", "\u{feff}z: 1\nk:\n  - x\n  - \"1\""),
            ("{z: 1 }", "{z: 1, k: new }", "{z: 1, k: [x, \"1\"] }"),
            ("{}", "{k: new}", "{k: [x, \"1\"]}"),
        ] {
            assert_eq!(set(text, one()), with_one, "{text:?}");
            assert_eq!(set(text, two()), with_two, "{text:?}");
        }
    }

    #[test]
    fn a_key_is_removed_with_its_lines() {
        for (text, without) in [
            ("a: 1\nk:\n  - x # c\nz: 1\n", "a: 1\nz: 1\n"),
            ("a: 1\nk: 2", "a: 1\n"),
            ("# c\nk: 2\n", "# c\n{}\n"),
            ("\u{feff}k: 2\nz: 1\n", "\u{feff}z: 1\n"),
            ("{a: 1, k: [x], z: 2}", "{a: 1, z: 2}"),
            ("{k: 1, z: 2}", "{z: 2}"),
            ("{k: 1}", "{}"),
            ("z: 1\n", "z: 1\n"),
        ] {
            assert_eq!(edited(text, |editor, root| editor.remove(root, "k")), without, "{text:?}");
        }
    }

    #[test]
    fn items_are_removed_and_inserted_where_they_belong() {
        let item = |path: &str| New::mapping([("p", New::text(path)), ("m", New::plain(1))]);
        let changed = |text: &str, removed: &[usize], inserted: &[(usize, New)]| {
            edited(text, |editor, root| editor.change_items(root, "l", removed, inserted))
        };
        let text = "l: \n  - p: a\n    m: 1\n  # of c\n  - p: c\n\n  -\n    p: e\nz: 1\n";
        assert_eq!(
            changed(text, &[1], &[(1, item("b")), (3, item("f"))]),
            "l: \n  - p: a\n    m: 1\n  # of c\n  - p: b\n    m: 1\n\n  -\n    p: e\n  - p: f\n    m: 1\nz: 1\n"
        );
        assert_eq!(changed(text, &[0, 1, 2], &[]), "l: []\nz: 1\n");
        assert_eq!(changed(text, &[0, 1, 2], &[(0, item("x"))]), "l:\n  - p: x\n    m: 1\nz: 1\n");
        assert_eq!(changed("l: []\nz: 1", &[], &[(0, item("x"))]), "l:\n  - p: x\n    m: 1\nz: 1");
        assert_eq!(changed("l:\nz: 1", &[], &[(0, item("x"))]), "l:\n  - p: x\n    m: 1\nz: 1");
        assert_eq!(changed("z: 1", &[], &[(0, item("x"))]), "z: 1\nl:\n  - p: x\n    m: 1");
        assert_eq!(
            changed("l: [{p: a}, {p: c}]", &[0], &[(1, item("b"))]),
            "l: [{p: b, m: 1}, {p: c}]"
        );
        assert_eq!(changed("l:\n- p: a", &[], &[(1, item("b"))]), "l:\n- p: a\n- p: b\n  m: 1");
        assert_eq!(changed("{l: []}", &[], &[(0, item("b"))]), "{l: [{p: b, m: 1}]}");
    }

    #[test]
    fn the_items_of_a_last_key_stay_below_it_if_another_key_follows() {
        let text = edited("z: 1\nl:", |editor, root| {
            editor.change_items(root, "m", &[], &[(0, New::text("a"))]);
            editor.change_items(root, "l", &[], &[(0, New::text("b"))]);
        });
        assert_eq!(text, "z: 1\nl:\n  - b\nm:\n  - a");
    }
}
