//! Random texts for the tests of the index.

/// A generator of pseudo-random numbers, the same in each run.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
        (self.0 >> 33) as usize % most
    }
}

/// The words of the texts. `word` gives the first ones most often and the last ones seldom.
pub const WORDS: [&str; 12] = [
    "the",
    "run",
    "kites",
    "flying",
    "planes",
    "collide",
    "東京都",
    "tests",
    "straße",
    "passport",
    "drawer",
    "zebra",
];

pub fn word(random: &mut Random) -> &'static str {
    let below = 1 + random.below(WORDS.len());
    WORDS[random.below(below)]
}

/// The path of a log. Every third log belongs to `bob`, the others to `ada`.
pub fn path(log: usize) -> String {
    let agent = if log.is_multiple_of(3) { "bob" } else { "ada" };
    format!("{agent}/logs/2025-{:02}-{:02}.md", 1 + log / 28 % 12, 1 + log % 28)
}

pub fn text(random: &mut Random) -> String {
    let mut text = "# a log\n\n## Header\n\n- Agent Name: kite\n".to_owned();
    for section in 0..random.below(4) {
        text += &format!("\n## Section {} {section}\n", word(random));
        for _ in 0..random.below(5) {
            let mut line = |at_most: usize| {
                let words = (0..1 + random.below(at_most)).map(|_| word(random));
                words.collect::<Vec<_>>().join(" ")
            };
            text += &match line(1).len() % 3 {
                0 => format!("\n### {}\n\n{}\n", line(2), line(30)),
                1 => format!("\n- {}\n- {}\n", line(8), line(8)),
                _ => format!("\n{}\n", line(60)),
            };
        }
    }
    text
}

/// A memory of a store. It may have several paragraphs, a creation date and an expiry date.
pub fn memory_text(random: &mut Random) -> String {
    let mut text = String::new();
    if random.below(4) > 0 {
        text += "---\n";
        if random.below(4) > 0 {
            text += &format!("created_at: 2025-{:02}-01\n", 1 + random.below(12));
        }
        if random.below(4) == 0 {
            text += &format!("expires_at: 202{}-01-01\n", 5 + random.below(3));
        }
        text += &format!("tags: [{}, {}]\n---\n", word(random), word(random));
    }
    for _ in 0..random.below(9) {
        let words = (0..1 + random.below(120)).map(|_| word(random));
        text += &format!("\n{}\n", words.collect::<Vec<_>>().join(" "));
    }
    text
}
