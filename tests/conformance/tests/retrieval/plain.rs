//! Plain bm25 for comparison: SQLite's full-text search for any word of a question.

use std::collections::BTreeSet;

use rusqlite::Connection;

/// Texts by their keys, in a full-text index.
pub struct Plain {
    database: Connection,
    language: String,
}

impl Plain {
    pub fn new<'t>(language: &str, texts: impl Iterator<Item = (&'t str, &'t str)>) -> Self {
        let tokenizer = match language {
            "en" => "porter unicode61",
            "ja" => "trigram",
            _ => "unicode61",
        };
        let database = Connection::open_in_memory().expect("a database");
        let create = format!(
            "CREATE VIRTUAL TABLE texts USING fts5 (key UNINDEXED, text, tokenize = '{tokenizer}')"
        );
        database.execute_batch(&create).expect("FTS5");
        for (key, text) in texts {
            let insert = "INSERT INTO texts (key, text) VALUES (?, ?)";
            database.execute(insert, [key, text]).expect("a text");
        }
        Self { database, language: language.to_owned() }
    }

    /// The keys of the first ten texts with any word of the question.
    pub fn keys(&self, question: &str) -> Vec<String> {
        let terms = self.terms(question);
        if terms.is_empty() {
            return Vec::new();
        }
        let terms: Vec<String> = terms.iter().map(|term| format!("\"{term}\"")).collect();
        let select = "SELECT key FROM texts WHERE texts MATCH ? ORDER BY rank, rowid LIMIT 10";
        let mut select = self.database.prepare(select).expect("a statement");
        let keys = select.query_map([terms.join(" OR ")], |row| row.get(0)).expect("an answer");
        keys.map(|key| key.expect("a key")).collect()
    }

    /// The words of a question without stop words. In Japanese, each three characters of it.
    fn terms(&self, question: &str) -> BTreeSet<String> {
        let question = question.to_lowercase();
        let words =
            question.split(|of: char| !of.is_alphanumeric()).filter(|word| !word.is_empty());
        if self.language == "ja" {
            let letters: Vec<Vec<char>> = words.map(|word| word.chars().collect()).collect();
            let three = letters.iter().flat_map(|word| word.windows(3));
            return three.map(|three| three.iter().collect()).collect();
        }
        let stop_words: BTreeSet<&str> = stop_words(&self.language).split_whitespace().collect();
        words.filter(|word| !stop_words.contains(word)).map(str::to_owned).collect()
    }
}

fn stop_words(language: &str) -> &'static str {
    match language {
        "en" => {
            "a about after all am an and any are as at be because been before by can could did do does \
             for from had has have he her him his how i if in into is it its me my no not of on or our \
             she should so t s than that the their them then there they this to up us was we were what \
             when where which who whom whose why will with would you your"
        }
        "de" => {
            "aber als am an auf aus bei beim bin bis da damit dann das dass dem den denn der des die \
             dies diese doch du durch ein eine einem einen einer eines er es für hat haben hatte ich ihm \
             ihn ihr im in ist ja kann man mein meine mich mir mit nach nicht noch nur ob oder ohne \
             sein sich sie sind so soll sollte über um und uns unser unter vom von vor wann war waren \
             warum was welche welchem welchen welcher welches wenn wer werden weshalb wie wir wird wo \
             woher wurde zu zum zur"
        }
        "es" => {
            "a al algo antes cómo con cuál cuándo cuánta cuánto de del desde dónde e el ella en entre \
             era es esa ese eso esta este esto está están fue ha han hasta hay la las le les lo los \
             más me mi mis muy ni no nos o para pero por porque qué que quién se ser si sin sobre son \
             su sus también te tiene tu tus un una unos y ya yo"
        }
        _ => "",
    }
}
