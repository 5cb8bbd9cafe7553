//! Texts of Markdown whose effect on a document is known without parsing them.

use crate::random::Random;

/// A text that a caller or a person writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The text in a call.
    pub given: String,
    /// The stored text: with line feeds, without blank lines around it.
    pub stored: String,
    /// Its blocks, at least one.
    pub blocks: Vec<Kind>,
    /// Its headings of level 3 and deeper: the level, and the source.
    pub headings: Vec<(usize, String)>,
    /// The labels that its links use, in lower case.
    pub uses: Vec<String>,
    /// The labels that it defines, in lower case.
    pub defines: Vec<String>,
    /// Whether every document refuses it.
    pub offends: bool,
}

/// The kind of a block, as far as it affects the block below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A list, to which indented text belongs, and further items with the same marker.
    List {
        /// The character that begins its items, or that follows their numbers.
        marker: char,
        /// Whether no blank line stands between its items.
        is_tight: bool,
        /// Whether its last item ends with a list, to which indented text belongs.
        is_nested: bool,
    },
    /// Indented code, which continues after a blank line.
    IndentedCode,
    /// Any block that a blank line ends.
    Other,
}

impl Kind {
    /// A tight list with this marker.
    pub const fn tight(marker: char) -> Self {
        Self::List { marker, is_tight: true, is_nested: false }
    }

    /// The block that this one becomes with the one below it; none if they stay apart. A blank line
    /// between the items of two lists makes them loose.
    pub fn with(self, below: Self, has_blank_line: bool) -> Option<Self> {
        match (self, below) {
            (
                Self::List { marker, is_tight, .. },
                Self::List { marker: other, is_tight: other_is_tight, is_nested },
            ) if marker == other => {
                let is_tight = is_tight && other_is_tight && !has_blank_line;
                Some(Self::List { marker, is_tight, is_nested })
            }
            (Self::List { marker, is_tight, is_nested }, Self::IndentedCode) => {
                Some(Self::List { marker, is_tight: is_tight && is_nested, is_nested })
            }
            (Self::IndentedCode, Self::IndentedCode) => Some(self),
            _ => None,
        }
    }

    /// Whether both are tight lists whose items join without a blank line.
    pub fn joins_tightly(self, below: Self) -> bool {
        matches!(self.with(below, false), Some(Self::List { is_tight: true, .. }))
            && matches!(below, Self::List { .. })
    }
}

const HARMLESS: &[(&str, Kind)] = &[
    ("A paragraph.", Kind::Other),
    ("Two lines\nof a paragraph.", Kind::Other),
    ("hard  \nbreak", Kind::Other),
    ("é — 𝒳 東京\ta tab", Kind::Other),
    ("- an item", Kind::tight('-')),
    ("- one\n- two", Kind::tight('-')),
    ("* a star\n\n* loose", Kind::List { marker: '*', is_tight: false, is_nested: false }),
    (
        "- outer\n  - inner\n\n    more of it",
        Kind::List { marker: '-', is_tight: true, is_nested: true },
    ),
    ("1. first\n2. second", Kind::tight('.')),
    ("    indented code", Kind::IndentedCode),
    ("### Three", Kind::Other),
    ("###### Six\n\nand text", Kind::Other),
    ("#hash", Kind::Other),
    ("\\# escaped", Kind::Other),
    ("`# code`", Kind::Other),
    ("```rust\n# no heading\n```", Kind::Other),
    ("~~~\n## inside\n\n~~~", Kind::Other),
    ("> a quote", Kind::Other),
    ("<!-- a\ncomment -->", Kind::Other),
    ("<details>\n\ntext\n\n</details>", Kind::Other),
    ("| a | b |\n|---|---|\n| 1 | 2 |", Kind::Other),
    ("***", Kind::Other),
    ("text\n\n---", Kind::Other),
];

const HOSTILE: &[&str] = &[
    "# one",
    "## two",
    "## Decisions",
    "   ## two",
    "fine\n\n## two",
    "over\n===",
    "over\n---",
    "text\r## two",
    "> # in a quote",
    "- ## in an item",
    "```\nopen",
    "fine\n\n~~~",
    "````\n```",
    "- ```\n  open",
    "<!-- open",
    "<script>\n\nopen",
    "<pre>",
    "<?php",
    "escape \u{1b}[31m",
    "a\n\nnull \0",
    "a line\u{2028}separator",
    "\u{feff}a mark",
];

const LABELS: &[&str] = &["spec", "la", "lb"];

/// The longest `content` that a tool of `sessions` accepts, in characters.
pub const LONGEST: usize = 65_536;

impl Default for Text {
    fn default() -> Self {
        Self::plain("", Kind::Other)
    }
}

impl Text {
    fn plain(source: &str, kind: Kind) -> Self {
        let line = source.lines().next().unwrap_or_default();
        let level = line.len() - line.trim_start_matches('#').len();
        let is_heading = level > 2 && line[level..].starts_with(' ');
        Self {
            given: source.to_owned(),
            stored: source.to_owned(),
            blocks: vec![kind],
            headings: is_heading.then(|| (level, line.to_owned())).into_iter().collect(),
            uses: Vec::new(),
            defines: Vec::new(),
            offends: false,
        }
    }

    /// The level of the heading that it begins with.
    pub fn own_level(&self) -> Option<usize> {
        self.headings.first().filter(|_| self.stored.starts_with("###")).map(|(level, _)| *level)
    }

    /// Its first block.
    pub fn begins(&self) -> Kind {
        self.blocks[0]
    }

    /// Its last block.
    pub fn ends(&self) -> Kind {
        *self.blocks.last().expect("a text has a block")
    }

    /// A text that every document accepts, unless it would join the document's last block.
    pub fn harmless(random: &mut Random) -> Self {
        match random.below(40) {
            0..8 => Self::harmless(random).then(Self::harmless(random)),
            8..14 => Self::with_links(random),
            14 if random.below(8) == 0 => Self::plain(&"é".repeat(LONGEST), Kind::Other),
            _ => {
                let (source, kind) = random.pick(HARMLESS);
                Self::plain(source, *kind)
            }
        }
    }

    /// Any text that is not blank.
    pub fn any(random: &mut Random) -> Self {
        let mut text = match random.below(8) {
            0 => {
                let source = *random.pick(HOSTILE);
                Self { offends: true, ..Self::plain(source, Kind::Other) }
            }
            _ => Self::harmless(random),
        };
        // A further space would make it too long.
        if random.below(5) == 0 && text.given.chars().count() < LONGEST / 2 {
            let around = *random.pick(&["\n", "\n\n", " \t\n", "\r\n"]);
            text.given = format!("{around}{}\n{around}", text.given);
        }
        if random.below(6) == 0 {
            text.given = text.given.replace("\r\n", "\n").replace('\n', "\r\n");
        }
        text
    }

    fn with_links(random: &mut Random) -> Self {
        let label = *random.pick(LABELS);
        let written = if random.below(3) == 0 { label.to_uppercase() } else { label.to_owned() };
        let (source, uses, defines) = match random.below(4) {
            0 => (format!("[{written}]: /defined"), false, true),
            1 => (format!("see [{written}]\n\n[{label}]: <there> 'title'"), true, true),
            2 => (format!("- see [this][{written}]"), true, false),
            _ => (format!("see [{written}] and so on"), true, false),
        };
        let kind = if source.starts_with('-') { Kind::tight('-') } else { Kind::Other };
        let labels = |has: bool| has.then(|| label.to_owned()).into_iter().collect();
        Self { uses: labels(uses), defines: labels(defines), ..Self::plain(&source, kind) }
    }

    /// The two, one below the other.
    fn then(self, next: Self) -> Self {
        let joined = |a: String, b: &str| format!("{a}\n\n{b}");
        let mut blocks = self.blocks.clone();
        match self.ends().with(next.begins(), true) {
            None => blocks.extend(&next.blocks),
            Some(one) => {
                *blocks.last_mut().expect("a text has a block") = one;
                blocks.extend(&next.blocks[1..]);
            }
        }
        Self {
            given: joined(self.given, &next.given),
            stored: joined(self.stored, &next.stored),
            blocks,
            headings: [self.headings, next.headings].concat(),
            uses: [self.uses, next.uses].concat(),
            defines: [self.defines, next.defines].concat(),
            offends: self.offends || next.offends,
        }
    }

    /// Whether it would become a part of the block above it.
    pub fn joins(&self, above: Kind) -> bool {
        self.begins() == Kind::IndentedCode && above != Kind::Other
    }
}
