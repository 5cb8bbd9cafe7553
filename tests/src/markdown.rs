//! The structure of a document by CommonMark, for the structure tests. It uses the parser directly and
//! shares no code with the core.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};

/// A top-level block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Its source, without white space at the end.
    pub source: String,
    /// The parser's events: kinds, texts and the targets of links.
    pub events: Vec<String>,
    /// The sources of its items, if it is a list.
    items: Vec<String>,
}

/// The top-level blocks of a text.
pub fn blocks(text: &str) -> Vec<Block> {
    // Without a line end, the parser gives other events for the last line.
    let text = if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
    let mut blocks: Vec<Block> = Vec::new();
    let mut depth = 0;
    for (event, range) in Parser::new_ext(&text, Options::empty()).into_offset_iter() {
        let source = text[range].trim_end();
        if depth == 0 {
            blocks.push(Block { source: source.into(), ..Block::default() });
        }
        let block = blocks.last_mut().expect("an event is in a block");
        if depth == 1 && matches!(event, Event::Start(Tag::Item)) {
            block.items.push(source.into());
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            _ => {}
        }
        match event {
            // Fences and HTML that end with their list item include the blank lines after them.
            Event::Text(text) | Event::Html(text) => {
                let text = text.trim_end();
                block.events.extend((!text.is_empty()).then(|| format!("{text:?}")));
            }
            event => block.events.push(format!("{event:?}")),
        }
    }
    blocks
}

/// A heading of level 1 or 2.
struct Heading<'a> {
    start: usize,
    source: &'a str,
    /// Whether it is in a list or a quote.
    is_inner: bool,
}

/// The headings of level 1 and 2 of a text, at any depth.
fn great_headings(text: &str) -> Vec<Heading<'_>> {
    let mut headings = Vec::new();
    let mut depth = 0;
    for (event, range) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if matches!(tag, Tag::Heading { level, .. } if level <= HeadingLevel::H2) {
                    let start = range.start;
                    let is_inner = depth > 0;
                    headings.push(Heading { start, source: text[range].trim_end(), is_inner });
                }
                depth += 1;
            }
            Event::End(_) => depth -= 1,
            _ => {}
        }
    }
    headings
}

/// The place of an entry: the end of a section. Headings are given as in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The section with this heading, which is unique in the document.
    Below(String),
    /// A section that the document lacks: its heading goes to the end of another section.
    New {
        /// The heading that has to be added.
        heading: String,
        /// The heading of the other section.
        after: String,
    },
}

/// The damage that an append did to a document, besides adding a text at the target; none if there is
/// no damage.
pub fn damage(before: &str, after: &str, target: &Target) -> Option<String> {
    let found = damage_as_read(before, after, target, &insertions(before, after))?;
    // The parser does not always follow CommonMark if CR alone ends lines. So a damage counts only if
    // the parser also finds it after each such CR is replaced by LF.
    match (line_feeds(before), line_feeds(after)) {
        (fed, _) if fed == before => Some(found),
        (fed, fed_after) => damage_as_read(&fed, &fed_after, target, &insertions(before, after)),
    }
}

fn damage_as_read(before: &str, after: &str, target: &Target, places: &[usize]) -> Option<String> {
    let document = Grown {
        headings: (great_headings(before), great_headings(after)),
        blocks: (blocks(before), blocks(after)),
        before,
    };
    // A text that ends as it begins can have been inserted at several places. One without damage is
    // enough.
    let mut found = "the bytes that were there are not all there, in their order".to_owned();
    for at in places {
        found = document.damage(*at, target)?;
    }
    Some(found)
}

/// A document before and after an insertion.
struct Grown<'a> {
    before: &'a str,
    headings: (Vec<Heading<'a>>, Vec<Heading<'a>>),
    blocks: (Vec<Block>, Vec<Block>),
}

impl Grown<'_> {
    fn damage(&self, at: usize, target: &Target) -> Option<String> {
        let Self { before, headings: (headings, headings_after), blocks: (old, new) } = self;
        let (own, section) = match target {
            Target::Below(heading) => (None, heading),
            Target::New { heading, after } => (Some(heading.as_str()), after),
        };
        let mut sources_after: Vec<&str> = headings_after.iter().map(|h| h.source).collect();
        if let Some(own) = own {
            let index = headings.iter().filter(|heading| heading.start < at).count();
            if sources_after.get(index) != Some(&own) {
                return Some(format!("`{own}` is not added"));
            }
            sources_after.remove(index);
        }
        if !headings.iter().map(|h| h.source).eq(sources_after) {
            return Some("the headings of level 1 and 2 differ".into());
        }
        let above = headings.iter().rfind(|heading| heading.start < at && !heading.is_inner);
        let above = above.map(|heading| heading.source);
        if above != Some(section) {
            return Some(format!("the text is below {above:?}"));
        }
        let next = before.len() - before[at..].trim_start_matches([' ', '\t', '\n', '\r']).len();
        let is_next = |heading: &Heading<'_>| heading.start == next && !heading.is_inner;
        if next < before.len() && !headings.iter().any(is_next) {
            return Some(format!("the text is not at the end of its section: {:?}", &before[at..]));
        }
        let head = common(old.iter(), new.iter());
        let most = old.len().min(new.len()) - head;
        let tail = common(old.iter().rev(), new.iter().rev()).min(most);
        let added = &new[head..new.len() - tail];
        if own.is_some() && added.first().is_none_or(|block| Some(block.source.as_str()) != own) {
            return Some(format!("the heading is not the first of what was added: {added:#?}"));
        }
        match &old[head..old.len() - tail] {
            [] => None,
            [list] if added.first().is_some_and(|grown| has_grown(list, grown)) => None,
            changed => Some(format!("these blocks have changed: {changed:#?}\nto {added:#?}")),
        }
    }
}

/// The places where a text can have been inserted: beginnings of lines, the last one first, or else
/// the end of the last line. None if a part of the old text is missing.
fn insertions(before: &str, after: &str) -> Vec<usize> {
    let most = common(before.bytes(), after.bytes());
    let least = before.len() - common(before.bytes().rev(), after.bytes().rev());
    let bytes = before.as_bytes();
    let begins_line = |at: &usize| match at.checked_sub(1).map(|end| bytes[end]) {
        Some(b'\r') => bytes.get(*at) != Some(&b'\n'),
        end => end.is_none_or(|end| end == b'\n'),
    };
    let lines: Vec<usize> = (least..=most).rev().filter(begins_line).collect();
    if lines.is_empty() && least <= most { vec![before.floor_char_boundary(most)] } else { lines }
}

/// The text with LF for each single CR. CommonMark ends lines at a CR, but the parser does not always
/// do so after the first line of a fence.
fn line_feeds(text: &str) -> String {
    let mut rest = text.chars().peekable();
    let mut feeds = String::with_capacity(text.len());
    while let Some(next) = rest.next() {
        let is_alone = next == '\r' && rest.peek() != Some(&'\n');
        feeds.push(if is_alone { '\n' } else { next });
    }
    feeds
}

/// Whether a list has gained items and its old items are unchanged.
fn has_grown(list: &Block, grown: &Block) -> bool {
    let own = list.items.len();
    own > 0
        && grown.items.len() > own
        && grown.items[..own] == list.items[..]
        && grown.source.starts_with(&list.source)
        && grown.events.first() == list.events.first()
}

fn common<T: PartialEq>(a: impl Iterator<Item = T>, b: impl Iterator<Item = T>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::{Target, damage};

    const LOG: &str = "# t\n\n## One\n\n- a\n\n## Two\n\nsee [x]\n";

    fn below(heading: &str) -> Target {
        Target::Below(heading.into())
    }

    fn insert(text: &str) -> Option<String> {
        damage(LOG, &LOG.replace("- a\n\n", &format!("- a\n\n{text}\n\n")), &below("## One"))
    }

    /// Whether the text, put before `## Two`, is a new section `## New` after `## One`.
    fn insert_section(text: &str) -> Option<String> {
        let target = Target::New { heading: "## New".into(), after: "## One".into() };
        damage(LOG, &LOG.replace("## Two", &format!("{text}\n\n## Two")), &target)
    }

    #[test]
    fn additions_that_keep_the_structure_are_not_damage() {
        for text in ["b", "- b", "- b\n\nc", "### three", "```\n# no\n```", "- b\n  - c"] {
            assert_eq!(insert(text), None, "{text}");
            assert_eq!(insert_section(&format!("## New\n\n{text}")), None, "{text}");
        }
    }

    #[test]
    fn a_text_that_begins_like_the_text_after_it_is_not_damage() {
        let log = "## One\n\ntwo\n---\n";
        let grown = "## One\n\ntwo\nthree\n\ntwo\n---\n";
        assert_eq!(damage(log, grown, &below("## One")), None);
    }

    #[test]
    fn a_line_may_end_in_cr_alone() {
        let log = "## One\n\n- a\n  ```rust\r## b`c\n";
        let grown = "## One\n\n- a\n  ```rust\r\n\nd\n\n## b`c\n";
        assert_eq!(damage(log, grown, &below("## One")), None);
    }

    #[test]
    fn every_kind_of_damage_is_found() {
        for text in
            ["## Three", "b\n---", "- # b", "```", "<!-- ", "[x]: /y", "    b", "  b\n\nc", "> # q"]
        {
            assert!(insert(text).is_some(), "{text:?}");
        }
        for text in ["b", "- b\n\n## New", "## Other\n\nb", "## New\n\n```", "## New\n\n[x]: /y"] {
            assert!(insert_section(text).is_some(), "{text:?}");
        }
        let one = below("## One");
        assert!(damage(LOG, &LOG.replace("- a", "- b"), &one).is_some());
        assert!(damage(LOG, &LOG.replace("see", "also\n\nsee"), &below("## Two")).is_some());
        assert!(damage(LOG, &format!("{LOG}\nmore\n"), &one).is_some());
        let new = Target::New { heading: "## New".into(), after: "## One".into() };
        assert!(damage(LOG, &format!("{LOG}\n## New\n\nmore\n"), &new).is_some());
        assert!(damage(LOG, &LOG.replace("- a\n\n", ""), &one).is_some());
    }
}
