//! A Markdown document of a model: sections of blocks, whose texts are joined to render it.

use super::text::{Kind, Text};

/// A document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// The first one is the part above all headings of level 2.
    pub sections: Vec<Section>,
}

/// A heading and the blocks below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// None if the heading is not of level 2, since entries cannot go there.
    pub name: Option<String>,
    /// The heading and the blocks below it, each with the blank lines before it and its line end.
    pub blocks: Vec<Block>,
    /// The blank lines after the last.
    pub gap: String,
}

/// A part of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its text in the document.
    pub source: String,
    /// Its kind.
    pub text: Text,
}

impl Section {
    /// A section with nothing below its heading.
    pub fn new(name: Option<&str>, heading: impl Into<String>) -> Self {
        let heading = Block { source: heading.into(), text: Text::default() };
        Self { name: name.map(str::to_owned), blocks: vec![heading], gap: String::new() }
    }

    fn end_line(&mut self) {
        let last = &mut self.blocks.last_mut().expect("a section has a heading").source;
        if !last.ends_with('\n') {
            last.push('\n');
        }
    }

    /// The kind of the Markdown block that ends the section: a text would be added below it.
    pub fn end(&self) -> Kind {
        self.blocks.last().expect("a section has a heading").text.ends()
    }

    /// The heading of level 3 or deeper under which a text at the end would stand.
    pub fn heading_above(&self, text: &Text) -> Option<&str> {
        let own = text.own_level().unwrap_or(usize::MAX);
        let headings = self.blocks.iter().flat_map(|block| &block.text.headings);
        let mut above = headings.filter(|(level, _)| *level < own).map(|(_, source)| source);
        above.next_back().map(String::as_str)
    }

    /// Whether nothing is below the heading.
    pub fn is_empty(&self) -> bool {
        self.blocks.len() == 1
    }
}

impl Document {
    /// The sections of that name.
    pub fn named(&self, name: &str) -> Vec<usize> {
        let named = |section: &Section| section.name.as_deref() == Some(name);
        (0..self.sections.len()).filter(|index| named(&self.sections[*index])).collect()
    }

    /// Adds a text at the end of a section, with a blank line on both sides. Only tight items join a
    /// tight list without one.
    pub fn add(&mut self, index: usize, text: &Text) {
        let section = &mut self.sections[index];
        section.end_line();
        let above = section.end();
        let is_tight = above.joins_tightly(text.begins());
        let gap = if is_tight { "" } else { "\n" };
        let source = format!("{gap}{}\n", text.stored);
        let mut text = text.clone();
        if let Some(one) = above.with(text.begins(), !is_tight) {
            text.blocks[0] = one;
        }
        section.blocks.push(Block { source, text });
        self.part(index);
    }

    /// Adds a section after another.
    pub fn insert(&mut self, after: usize, name: &str, text: Option<&Text>) {
        let before = &mut self.sections[after];
        before.end_line();
        let mut section = Section::new(Some(name), format!("## {name}\n"));
        section.gap = std::mem::replace(&mut before.gap, "\n".into());
        self.sections.insert(after + 1, section);
        self.part(after + 1);
        if let Some(text) = text {
            self.add(after + 1, text);
        }
    }

    /// Replaces the blocks below a heading by a text, or by nothing.
    pub fn replace(&mut self, index: usize, text: Option<&Text>) {
        let section = &mut self.sections[index];
        section.blocks.truncate(1);
        section.gap.clear();
        self.part(index);
        if let Some(text) = text {
            self.add(index, text);
        }
    }

    /// Removes a section that is empty, but not the only blank lines between its neighbours.
    pub fn remove(&mut self, index: usize) {
        let removed = self.sections.remove(index);
        let is_last = index == self.sections.len();
        let gap = &mut self.sections[index - 1].gap;
        if gap.is_empty() {
            *gap = removed.gap;
        } else if is_last {
            let line = if gap.ends_with("\r\n") { 2 } else { 1 };
            gap.truncate(gap.len() - line);
        }
    }

    /// Ensures a blank line before the next heading.
    fn part(&mut self, index: usize) {
        let follows = index + 1 < self.sections.len();
        let gap = &mut self.sections[index].gap;
        if follows && gap.is_empty() {
            gap.push('\n');
        }
    }

    /// The labels that links use and definitions define, anywhere in the document.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        let blocks = self.sections.iter().flat_map(|section| &section.blocks);
        blocks.flat_map(|block| block.text.uses.iter().chain(&block.text.defines)).map(|l| &**l)
    }

    /// Changes all line ends to CRLF.
    pub fn to_crlf(&mut self) {
        let crlf = |text: &mut String| *text = text.replace("\r\n", "\n").replace('\n', "\r\n");
        for section in &mut self.sections {
            section.blocks.iter_mut().for_each(|block| crlf(&mut block.source));
            crlf(&mut section.gap);
        }
    }

    /// Removes the last line end, as some editors do.
    pub fn cut_end(&mut self) {
        let Some(last) = self.sections.last_mut() else { return };
        last.gap.clear();
        let source = &mut last.blocks.last_mut().expect("a section has a heading").source;
        source.truncate(source.trim_end_matches(['\n', '\r']).len());
    }

    /// The text.
    pub fn render(&self) -> String {
        let text = |section: &Section| {
            let blocks = section.blocks.iter().map(|block| block.source.as_str());
            blocks.chain([section.gap.as_str()]).collect::<String>()
        };
        self.sections.iter().map(text).collect()
    }
}
