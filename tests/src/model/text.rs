//! Texts of Markdown whose effect on a document is known without parsing them.

use crate::random::Random;

/// A text that a caller or a person writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// The text in a call.
    pub given: String,
    /// The stored text: with line feeds, without blank lines around it.
    pub stored: String,
    /// Its first block.
    pub begins: Kind,
    /// Its last block.
    pub ends: Kind,
    /// The labels that its links use, in lower case.
    pub uses: Vec<String>,
    /// The labels that it defines, in lower case.
    pub defines: Vec<String>,
    /// Whether every document refuses it.
    pub offends: bool,
}

/// The kind of a block, as far as it affects the block below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// A list, to which indented text belongs.
    List,
    /// Indented code, which continues after a blank line.
    IndentedCode,
    /// Any block that a blank line ends.
    #[default]
    Other,
}

const HARMLESS: &[(&str, Kind)] = &[
    ("A paragraph.", Kind::Other),
    ("Two lines\nof a paragraph.", Kind::Other),
    ("hard  \nbreak", Kind::Other),
    ("é — 𝒳 東京\ta tab", Kind::Other),
    ("- an item", Kind::List),
    ("- one\n- two", Kind::List),
    ("* a star\n\n* loose", Kind::List),
    ("- outer\n  - inner\n\n    more of it", Kind::List),
    ("1. first\n2. second", Kind::List),
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

impl Text {
    fn plain(source: &str, kind: Kind) -> Self {
        let (given, stored) = (source.to_owned(), source.to_owned());
        Self { given, stored, begins: kind, ends: kind, ..Self::default() }
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
        let kind = if source.starts_with('-') { Kind::List } else { Kind::Other };
        let labels = |has: bool| has.then(|| label.to_owned()).into_iter().collect();
        Self { uses: labels(uses), defines: labels(defines), ..Self::plain(&source, kind) }
    }

    /// The two, one below the other.
    fn then(self, next: Self) -> Self {
        let joined = |a: String, b: &str| format!("{a}\n\n{b}");
        Self {
            given: joined(self.given, &next.given),
            stored: joined(self.stored, &next.stored),
            begins: self.begins,
            ends: next.below(self.ends),
            uses: [self.uses, next.uses].concat(),
            defines: [self.defines, next.defines].concat(),
            offends: self.offends || next.offends,
        }
    }

    /// The kind of its last block below a block of this kind.
    pub fn below(&self, above: Kind) -> Kind {
        // Indented text continues a list, and other text ends it.
        if self.begins == Kind::IndentedCode && self.ends == Kind::IndentedCode {
            return if above == Kind::List { Kind::List } else { self.ends };
        }
        self.ends
    }

    /// Whether it would become a part of the block above it.
    pub fn joins(&self, above: Kind) -> bool {
        self.begins == Kind::IndentedCode && above != Kind::Other
    }
}
