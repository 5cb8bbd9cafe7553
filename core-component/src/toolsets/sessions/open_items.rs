//! The items of a log or a summary, and which of them are still open.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::search::{Block, blocks};
use crate::words::fold;

/// A part of a document that is open or closed as a whole: a paragraph, a list item, or a sentence
/// that ends with a colon and the list after it. The list stays with its sentence, because an item
/// without the sentence could say the opposite.
pub(super) struct Item<'t> {
    pub section: Option<Rc<str>>,
    /// The nearest heading above the item and below the heading of the section. Empty if there is
    /// none.
    heading: Rc<str>,
    text: &'t str,
    /// The items of the list that the sentence introduces.
    list: Vec<&'t str>,
}

impl Item<'_> {
    /// The text of the item, after its heading.
    pub fn text(&self) -> String {
        self.below(&self.heading)
    }

    /// The text of the item, after its section and its heading.
    pub fn text_with_section(&self) -> String {
        let headings = [self.section.as_deref().unwrap_or_default(), &*self.heading];
        let headings: Vec<&str> = headings.into_iter().filter(|text| !text.is_empty()).collect();
        self.below(&headings.join(", "))
    }

    fn below(&self, headings: &str) -> String {
        let own = without_bullet(self.text).unwrap_or(self.text);
        let first = if headings.is_empty() { own.to_owned() } else { format!("{headings}: {own}") };
        [&*first].into_iter().chain(self.list.iter().copied()).collect::<Vec<_>>().join("\n")
    }
}

/// The items of a document.
pub(super) fn items(text: &str, is_log: bool) -> Vec<Item<'_>> {
    let mut items: Vec<Item<'_>> = Vec::new();
    for Block { section, heading, text, .. } in blocks(text, is_log) {
        let text = text.trim();
        let leads = |item: &&mut Item<'_>| {
            let is_sentence = without_bullet(item.text).is_none();
            let is_beside = item.section == section && item.heading == heading;
            is_sentence && item.text.ends_with([':', '：']) && is_beside
        };
        match items.last_mut().filter(leads) {
            Some(item) if without_bullet(text).is_some() => item.list.push(text),
            _ => items.push(Item { section, heading, text, list: Vec::new() }),
        }
    }
    items
}

/// Finds the open items of a section. The items of all logs have to come from the newest to the
/// oldest.
///
/// An item is closed if it is ticked, or if a later item with the same text is ticked below the
/// same headings or below none. Of open items with the same text and headings, only the newest is
/// returned. The compared text of an item ends where a list below it begins. A ticked item is still
/// returned if a box in that list is open.
#[derive(Default)]
pub(super) struct OpenItems {
    /// The headings and texts of the ticked items.
    closed: BTreeSet<(String, String)>,
    /// The headings and texts of the open items that were returned.
    told: BTreeSet<(String, String)>,
    ignores_ticks: bool,
}

impl OpenItems {
    /// If `ignores_ticks`, a tick closes no item: in a decision, a tick can mark one of several
    /// choices.
    pub fn new(ignores_ticks: bool) -> Self {
        Self { ignores_ticks, ..Self::default() }
    }

    /// Returns the open part of an item: of a list after a sentence, only its open items. `None` if
    /// nothing is open. Call this for the newest item first.
    pub fn open<'t>(&mut self, mut item: Item<'t>) -> Option<Item<'t>> {
        let heading = plain(&item.heading);
        if item.list.is_empty() {
            return self.is_open(heading, item.text).then_some(item);
        }
        let heading = format!("{heading}\n{}", plain(item.text));
        let newest = std::mem::take(&mut item.list).into_iter().rev();
        item.list = newest.filter(|listed| self.is_open(heading.clone(), listed)).collect();
        item.list.reverse();
        (!item.list.is_empty()).then_some(item)
    }

    fn is_open(&mut self, heading: String, text: &str) -> bool {
        let (tick, text) = tick(text);
        let below = Below::new(text);
        let text = plain(&own(text));
        if tick == Some(true) && !self.ignores_ticks {
            return self.closed.insert((heading, text)) && below.is_open;
        }
        let is_done = tick.is_none() && below.is_ticked && !below.is_open;
        if is_done && !self.ignores_ticks {
            return false;
        }
        let below_none = (String::new(), text.clone());
        let key = (heading, text);
        !self.closed.contains(&below_none) && !self.closed.contains(&key) && self.told.insert(key)
    }
}

/// The text after `- `, `* ` or `+ `. `None` if the text does not begin with one of these.
fn without_bullet(text: &str) -> Option<&str> {
    ["- ", "* ", "+ "].iter().find_map(|mark| text.strip_prefix(mark))
}

/// The text of a list item after its bullet or number. A text without either is returned as it is.
fn without_mark(text: &str) -> &str {
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = [". ", ") "].iter().find_map(|mark| number.strip_prefix(mark));
    let numbered = numbered.filter(|_| number.len() < text.len());
    without_bullet(text).or(numbered).unwrap_or(text)
}

/// Whether the checkbox of an item is ticked, and the text after the checkbox. `None` if there is
/// no checkbox.
fn tick(text: &str) -> (Option<bool>, &str) {
    let text = without_mark(text).trim_start();
    let boxes = [("[ ] ", false), ("[x] ", true), ("[X] ", true)];
    let boxed = boxes
        .into_iter()
        .find_map(|(mark, is_ticked)| text.strip_prefix(mark).map(|text| (Some(is_ticked), text)));
    boxed.unwrap_or((None, text))
}

/// Whether the list below an item has open checkboxes, and whether it has ticked ones.
struct Below {
    is_open: bool,
    is_ticked: bool,
}

impl Below {
    fn new(text: &str) -> Self {
        let ticks = || text.lines().skip(1).filter_map(|line| tick(line.trim()).0);
        Self {
            is_open: ticks().any(|is_ticked| !is_ticked),
            is_ticked: ticks().any(|is_ticked| is_ticked),
        }
    }
}

/// The text of an item without the list, code block or paragraph below it.
fn own(text: &str) -> String {
    let is_text = |line: &&str| {
        let line = line.trim();
        !line.is_empty() && without_mark(line) == line && !line.starts_with("```")
    };
    let mut lines = text.lines();
    let first = lines.next().into_iter();
    first.chain(lines.take_while(is_text)).collect::<Vec<_>>().join(" ")
}

/// The form in which texts of items are compared: case-folded, on one line, without a full stop at
/// the end.
fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    fold(words.join(" ").trim_end_matches(['.', '。']))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The open items of a section, which is given from its oldest item to its newest.
    fn open(section: &str, ignores_ticks: bool) -> Vec<String> {
        let text = format!("# a\n\n## Next Actions\n\n{section}\n");
        let mut open_items = OpenItems::new(ignores_ticks);
        let newest = items(&text, true).into_iter().rev();
        let open = newest.filter_map(|item| open_items.open(item));
        let mut open: Vec<String> = open.map(|item| item.text()).collect();
        open.reverse();
        open
    }

    #[test]
    fn a_tick_closes_the_items_of_the_same_text_before_it() {
        for (section, left) in [
            ("- [ ] a\n- [ ] b\n- [x] a", &["[ ] b"][..]),
            ("- a\n- b\n- [X] A.", &["b"]),
            ("1. a\n2. [ ] b\n3. [x] b", &["1. a"]),
            ("a\n\n- [x] a", &[]),
            ("- [ ] a\n  b\n- [x] a b", &[]),
            ("- [x] a done\n- [ ] a", &["[ ] a"]),
            ("- [x] a\n- [ ] a", &["[ ] a"]),
            ("- [ ] a\n- [ ] a", &["[ ] a"]),
            ("- [ ] a\n- a more", &["[ ] a", "a more"]),
            ("- [x](link) a", &["[x](link) a"]),
            ("- [ ] a\n  - [ ] b\n- [x] a\n  - [x] b", &[]),
            ("- [x] a\n  - [ ] b", &["[x] a\n  - [ ] b"]),
            ("- [x] a\n  - [ ] b\n- [x] a\n  - [x] b", &[]),
            ("- a:\n  - [x] b", &[]),
            ("- [ ] a\n\n  More of it.\n- [x] a", &[]),
            ("- [ ] 修复。\n- [x] 修复", &[]),
        ] {
            assert_eq!(open(section, false), left, "{section}");
        }
    }

    #[test]
    fn a_tick_below_a_heading_closes_nothing_below_another_one() {
        let section = "### One\n\n- [ ] a\n\n### Two\n\n- [ ] a\n- [x] a";
        assert_eq!(open(section, false), ["One: [ ] a"]);
        let section = "- [ ] b\n\n### One\n\n- [ ] a";
        assert_eq!(open(section, false), ["[ ] b", "One: [ ] a"]);
    }

    #[test]
    fn a_list_is_told_with_its_sentence_as_far_as_it_is_open() {
        assert_eq!(open("To do:\n\n- [ ] a\n- [x] b", false), ["To do:\n- [ ] a"]);
        assert_eq!(open("To do:\n\n- [x] a\n- [x] b", false), [""; 0]);
        assert_eq!(open("To do:\n\nThis.", false), ["To do:", "This."]);
    }

    #[test]
    fn a_tick_in_a_decision_closes_nothing() {
        assert_eq!(open("- [ ] a\n- [x] b", true), ["[ ] a", "[x] b"]);
    }
}
