//! Marks the query's words in a passage, only for people who read it. The core ranks by stems instead.

use clap::builder::styling::Style;

/// The words of a query, in lower case.
pub(super) struct Marks(Vec<String>);

impl Marks {
    /// The words of a query. Frequent words are left out, unless the query has no others.
    pub(super) fn new(query: &str) -> Marks {
        let words = query.split(|character: char| !character.is_alphanumeric());
        let words = words.filter(|word| !word.is_empty()).map(str::to_lowercase);
        let (telling, frequent): (Vec<_>, Vec<_>) =
            words.partition(|word| !FREQUENT.contains(&&**word));
        Marks(if telling.is_empty() { frequent } else { telling })
    }

    /// The line with the words of the query in bold.
    pub(super) fn set(&self, line: &str) -> String {
        let bold = Style::new().bold();
        let mut text = String::with_capacity(line.len());
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            let is_word = first.is_alphanumeric();
            let end = rest.find(|other: char| other.is_alphanumeric() != is_word);
            let (run, after) = rest.split_at(end.unwrap_or(rest.len()));
            if is_word && self.has(&run.to_lowercase()) {
                text.push_str(&format!("{bold}{run}{bold:#}"))
            } else {
                text.push_str(run)
            }
            rest = after;
        }
        text
    }

    fn has(&self, word: &str) -> bool {
        self.0.iter().any(|own| own == word || is_inflected(own, word))
    }
}

/// The least number of bytes that two forms of a word have in common at the beginning.
const MIN_SHARED: usize = 3;

/// English endings by which forms of a word differ.
const ENDINGS: [&str; 17] = [
    "", "d", "e", "ed", "er", "ers", "es", "ied", "ies", "ing", "ion", "ions", "ly", "ment",
    "ments", "s", "y",
];

const FREQUENT: [&str; 60] = [
    "a", "about", "after", "all", "an", "and", "any", "are", "as", "at", "be", "been", "before",
    "but", "by", "can", "could", "did", "do", "does", "for", "from", "had", "has", "have", "how",
    "i", "if", "in", "into", "is", "it", "its", "my", "no", "not", "of", "on", "or", "our",
    "should", "so", "that", "the", "their", "then", "there", "they", "this", "to", "was", "we",
    "were", "what", "when", "where", "which", "who", "why", "with",
];

/// Whether two words are the same but for their endings.
fn is_inflected(one: &str, other: &str) -> bool {
    let mut shared = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    while !one.is_char_boundary(shared) {
        shared -= 1;
    }
    let Some(last) = one[..shared].chars().next_back().filter(|_| shared >= MIN_SHARED) else {
        return false;
    };
    // `running` doubles the last letter of `run`.
    let is_ending = |rest: &str| {
        ENDINGS.contains(&rest)
            || rest.strip_prefix(last).is_some_and(|rest| ENDINGS.contains(&rest))
    };
    is_ending(&one[shared..]) && is_ending(&other[shared..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_the_words_of_a_query_are_bold_and_frequent_words_are_not() {
        let marks = Marks::new("What did the memories say about running tests, Größe?");
        let marked =
            marks.set("The memory says: we run no Test, größe 3").replace("\u{1b}[0m", ">");
        let expected = "The <memory> <says>: we <run> no <Test>, <größe> 3";
        assert_eq!(marked.replace("\u{1b}[1m", "<"), expected);
    }

    #[test]
    fn other_words_stay() {
        let marks = Marks::new("internal plans of ten");
        let line = "interest, tenth, plantation, 10";
        assert_eq!(marks.set(line), line);
    }

    #[test]
    fn a_query_of_frequent_words_marks_them() {
        assert_eq!(Marks::new("who").set("who is it"), "\u{1b}[1mwho\u{1b}[0m is it");
        assert_eq!(Marks::new("?!").set("so?!"), "so?!");
    }
}
