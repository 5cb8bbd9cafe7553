//! Episodes of one sentence.

use serde_json::{Value, json};

use crate::texts::{FIRST_MOMENT, Moment, lengthened};

/// The agent to whom all episodes belong.
pub const AGENT: &str = "ada";

/// A word in one episode of every 20,000.
pub const RARE: &str = "marzipan";
/// A word in one episode of every 200.
pub const MIDDLING: &str = "saffron";
/// A word in one episode of every 10.
pub const FREQUENT: &str = "harbour";
/// The first three letters of the four [`BEGUN`] words, which one episode of every 50 has.
pub const BEGINNING: &str = "qui";
const BEGUN: [&str; 4] = ["quill", "quilt", "quince", "quiver"];

/// An episode. Its number determines its text and its time: one episode happens each minute.
pub struct Episode {
    pub memory: String,
    pub tags: String,
    number: usize,
}

impl Episode {
    pub fn new(number: usize) -> Self {
        let mut memory = format!("Step {number}:");
        let planted = [
            (number % 20_000 == 7, RARE),
            (number % 200 == 3, MIDDLING),
            (number % 10 == 1, FREQUENT),
            (number % 50 == 9, BEGUN[number / 50 % BEGUN.len()]),
        ];
        for (_, word) in planted.iter().filter(|(has, _)| *has) {
            memory = format!("{memory} {word}");
        }
        let tags = format!("tag{},area{}", number % 50, number % 7);
        Self { memory: lengthened(memory, number, 140), tags, number }
    }

    /// The arguments of `add_episodic_memory`.
    pub fn arguments(&self) -> Value {
        let tags: Vec<&str> = self.tags.split(',').collect();
        json!({"agent_id": AGENT, "memory": self.memory, "tags": tags})
    }

    /// A line of `import_layers`.
    pub fn line(&self) -> Value {
        let tags: Vec<&str> = self.tags.split(',').collect();
        json!({"layer": "episode", "memory": self.memory, "tags": tags,
               "created_at": moment(self.number)})
    }

    /// The time of the episode, in the form of the column.
    pub fn created_at(&self) -> String {
        column_text(&moment(self.number))
    }
}

/// The time of an episode, in the form of the tools' results.
pub fn moment(number: usize) -> String {
    Moment(FIRST_MOMENT + number as i64 * 60_000).to_string()
}

/// A moment in the form of SQLite's `CURRENT_TIMESTAMP`.
pub fn column_text(moment: &str) -> String {
    moment[..19].replace('T', " ")
}
