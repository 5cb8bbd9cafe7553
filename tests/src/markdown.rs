//! What CommonMark says a document is made of: an oracle for the structure tests. It asks the
//! parser itself and shares nothing with the core's own view of a document.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};

/// A top-level block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Its source, without white space at the end.
    pub source: String,
    /// Everything that the parser sees in it: kinds, texts, where links lead.
    pub events: Vec<String>,
    /// The sources of its items, where it is a list.
    items: Vec<String>,
}

/// The top-level blocks of a text.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut depth = 0;
    for (event, range) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
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
        block.events.push(format!("{event:?}"));
    }
    blocks
}

/// The headings of level 1 and 2 of a text, at any depth: where they begin, and their sources.
fn great_headings(text: &str) -> Vec<(usize, &str)> {
    let events = Parser::new_ext(text, Options::empty()).into_offset_iter();
    let great = events.filter(|(event, _)| {
        matches!(event, Event::Start(Tag::Heading { level, .. }) if *level <= HeadingLevel::H2)
    });
    great.map(|(_, range)| (range.start, text[range].trim_end())).collect()
}

/// What an append to the section with this heading did to a document beyond adding to the end of
/// that section: nothing, or what it was.
pub fn damage(before: &str, after: &str, heading: &str) -> Option<String> {
    let at = insertion(before, after);
    if !after.ends_with(&before[at..]) {
        return Some("the bytes that were there are not all there, in their order".into());
    }
    let (headings, headings_after) = (great_headings(before), great_headings(after));
    if !headings.iter().map(|(_, source)| source).eq(headings_after.iter().map(|(_, s)| s)) {
        return Some("the headings of level 1 and 2 differ".into());
    }
    let section = headings.iter().rfind(|(start, _)| *start < at).map(|(_, source)| *source);
    if section != Some(heading) {
        return Some(format!("the text is below {section:?}"));
    }
    let next = before.len() - before[at..].trim_start().len();
    if next < before.len() && !headings.iter().any(|(start, _)| *start == next) {
        return Some(format!("the text is not at the end of its section: {:?}", &before[at..]));
    }
    let (old, new) = (blocks(before), blocks(after));
    let head = common(old.iter(), new.iter());
    let most = old.len().min(new.len()) - head;
    let tail = common(old.iter().rev(), new.iter().rev()).min(most);
    let added = &new[head..new.len() - tail];
    match &old[head..old.len() - tail] {
        [] => None,
        [list] if added.first().is_some_and(|grown| has_grown(list, grown)) => None,
        changed => Some(format!("these blocks have changed: {changed:#?}\nto {added:#?}")),
    }
}

/// Where something was put into a document. Where its first line begins as the next one of the
/// document does, that is before both.
fn insertion(before: &str, after: &str) -> usize {
    let same = common(before.bytes(), after.bytes());
    if before.as_bytes().get(same).is_none_or(|next| matches!(next, b'\n' | b'\r')) {
        return same;
    }
    before.as_bytes()[..same].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)
}

/// Whether a list has gained items and its own are as they were.
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
    use super::damage;

    const LOG: &str = "# t\n\n## One\n\n- a\n\n## Two\n\nsee [x]\n";

    fn insert(text: &str) -> Option<String> {
        damage(LOG, &LOG.replace("- a\n\n", &format!("- a\n\n{text}\n\n")), "## One")
    }

    #[test]
    fn additions_that_keep_the_structure_are_no_damage() {
        for text in ["b", "- b", "- b\n\nc", "### three", "```\n# no\n```", "- b\n  - c"] {
            assert_eq!(insert(text), None, "{text}");
        }
    }

    #[test]
    fn every_kind_of_damage_is_seen() {
        for text in
            ["## Three", "b\n---", "- # b", "```", "<!-- ", "[x]: /y", "    b", "  b\n\nc", "> # q"]
        {
            assert!(insert(text).is_some(), "{text:?}");
        }
        assert!(damage(LOG, &LOG.replace("- a", "- b"), "## One").is_some());
        assert!(damage(LOG, &LOG.replace("see", "also\n\nsee"), "## Two").is_some());
        assert!(damage(LOG, &format!("{LOG}\nmore\n"), "## One").is_some());
    }
}
