//! The searches that are compared.

use serde_json::{Value, json};

use super::episodes::{AGENT, BEGINNING, FREQUENT, MIDDLING, RARE, column_text, moment};

/// A search of `search_episodic_memories`.
pub struct Search {
    pub name: &'static str,
    pub words: Option<String>,
    /// The numbers of the first and the last episode of a range of dates.
    range: Option<(usize, usize)>,
    pub limit: i64,
    /// Whether it is one of the keyword searches that have an aim.
    pub has_aim: bool,
}

/// The latest episodes.
pub const LATEST: Search =
    Search { name: "for the latest", words: None, range: None, limit: 50, has_aim: false };

/// The length of a day in episodes.
const DAY: usize = 24 * 60;

impl Search {
    /// One search of each kind, for a database with `episodes` episodes.
    pub fn all(episodes: usize) -> Vec<Self> {
        let words = |name, words: &str| Self {
            name,
            words: Some(words.to_owned()),
            has_aim: true,
            ..LATEST
        };
        let dates = |name, first: usize, count: usize| {
            let last = (first + count).min(episodes) - 1;
            Self { name, range: Some((first, last)), ..LATEST }
        };
        let middle = episodes / 2;
        let quarter = episodes / 4;
        vec![
            Self { has_aim: false, ..words("for a word that is nowhere", "zabaglione") },
            words("for a rare word", RARE),
            words("for a middling word", MIDDLING),
            words("for a word in a tenth", FREQUENT),
            words("for three first letters", BEGINNING),
            dates("in the last half hour", episodes.saturating_sub(30), 30),
            dates("in half an hour long ago", middle, 30),
            dates("in a day long ago", middle, DAY),
            dates("in a quarter long ago", quarter, quarter),
            Self {
                words: Some(FREQUENT.to_owned()),
                ..dates("for a word in a tenth in a day long ago", middle, DAY)
            },
        ]
    }

    /// The first and the last moment of the range, in the form of the column.
    pub fn dates(&self) -> Option<(String, String)> {
        self.range.map(|(first, last)| (column_text(&moment(first)), column_text(&moment(last))))
    }

    pub fn arguments(&self) -> Value {
        let mut arguments = json!({"agent_id": AGENT, "limit": self.limit});
        if let Some(words) = &self.words {
            arguments["keywords"] = json!(words);
        }
        if let Some((first, last)) = self.range {
            arguments["from_date"] = json!(moment(first));
            arguments["to_date"] = json!(moment(last));
        }
        arguments
    }
}
