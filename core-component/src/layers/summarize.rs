//! The built-in summariser: in words of the memories themselves, the same on every host.

use std::collections::{BTreeMap, BTreeSet};

use unicode_segmentation::UnicodeSegmentation;

use super::memory::{Memory, column_text};
use crate::time::Timestamp;
use crate::words::words;

/// Of a summary, in characters.
pub(super) const MAX_SUMMARY: usize = 1_000;

/// Of one memory in a summary, in characters.
const MAX_PART: usize = 300;

/// For `; and 100000 more.`
const ENDING: usize = 20;

/// Shorter words say little about what a memory is about.
const MIN_WORD: usize = 4;

/// One sentence: how many memories, from when to when, and as many of them as there is room for.
/// Those that share most words with the others come first; they stand in the order of the memories.
pub(super) fn summarize(memories: &[Memory]) -> String {
    let parts: Vec<String> = memories.iter().map(|memory| part(&memory.memory)).collect();
    let mut summary = opening(memories);
    let mut room = MAX_SUMMARY - summary.chars().count() - ENDING;
    let mut chosen = BTreeSet::new();
    let mut said = BTreeSet::new();
    for index in by_weight(&parts) {
        let length = parts[index].chars().count() + 2;
        if !parts[index].is_empty() && length <= room && said.insert(&parts[index]) {
            room -= length;
            chosen.insert(index);
        }
    }
    let missing = parts.iter().filter(|part| !part.is_empty() && !said.contains(part)).count();
    let mut told: Vec<String> = chosen.into_iter().map(|index| parts[index].clone()).collect();
    if missing > 0 {
        told.push(format!("and {missing} more"));
    }
    summary += &told.join("; ");
    summary.push('.');
    summary
}

fn opening(memories: &[Memory]) -> String {
    let moments = || memories.iter().filter_map(|memory| memory.created_at);
    let minute = |moment: Timestamp| column_text(moment)[..16].to_owned();
    let when = match (moments().min().map(minute), moments().max().map(minute)) {
        (Some(first), Some(last)) if first == last => format!(" of {first}"),
        (Some(first), Some(last)) => format!(" from {first} to {last}"),
        _ => String::new(),
    };
    let noun = if memories.len() == 1 { "memory" } else { "memories" };
    format!("{} {noun}{when}: ", memories.len())
}

/// A memory as a part of a sentence, on one line: without the ends of its own.
fn part(memory: &str) -> String {
    let text = memory.split(|c: char| c.is_whitespace() || c.is_control());
    let text = text.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let sentences = text.unicode_sentences().map(without_end);
    let text = sentences.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ");
    if text.chars().count() <= MAX_PART {
        return text;
    }
    let cut: String = text.chars().take(MAX_PART - 1).collect();
    format!("{}…", cut.trim_end())
}

/// A sentence without what ends it; a quote or a bracket that follows stays.
fn without_end(sentence: &str) -> String {
    let sentence = sentence.trim();
    let end = sentence.trim_end_matches(|c: char| !c.is_alphanumeric()).len();
    let ends = |c: char| matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '؟' | '।');
    let rest = sentence[end..].chars().filter(|c| !ends(*c));
    sentence[..end].chars().chain(rest).collect::<String>().trim_end().to_owned()
}

/// The parts by the share of their words that others have too; the newest first where that is equal.
fn by_weight(parts: &[String]) -> Vec<usize> {
    let long = |part: &String| -> BTreeSet<String> {
        words(part).into_iter().filter(|word| word.chars().count() >= MIN_WORD).collect()
    };
    let words: Vec<BTreeSet<String>> = parts.iter().map(long).collect();
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for word in words.iter().flatten() {
        *counts.entry(word).or_default() += 1;
    }
    let weight = |words: &BTreeSet<String>| {
        let shared: usize = words.iter().map(|word| counts[word] - 1).sum();
        shared * 1_000 / words.len().max(1)
    };
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|index| {
        (std::cmp::Reverse(weight(&words[*index])), std::cmp::Reverse(*index))
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memories(texts: &[&str]) -> Vec<Memory> {
        let memory = |(index, text): (usize, &&str)| Memory {
            id: index as i64,
            memory: (*text).to_owned(),
            created_at: Timestamp::parse(&format!("2025-01-20T10:{index:02}:00Z")),
        };
        texts.iter().enumerate().map(memory).collect()
    }

    #[test]
    fn a_summary_says_how_many_from_when_to_when_and_what() {
        assert_eq!(
            summarize(&memories(&["Read the issue.", "Wrote the parser!", "Read the issue."])),
            "3 memories from 2025-01-20 10:00 to 2025-01-20 10:02: Wrote the parser; Read the issue."
        );
        assert_eq!(summarize(&memories(&["Done"])), "1 memory of 2025-01-20 10:00: Done.");
        let undated = Memory { id: 1, memory: "x".into(), created_at: None };
        assert_eq!(summarize(&[undated]), "1 memory: x.");
    }

    #[test]
    fn what_shares_words_with_the_others_comes_first_where_there_is_no_room_for_all() {
        let long = |text: &str| format!("{text} {}", text[..1].repeat(280));
        let texts =
            ["The parser reads", "A parser fails", "Cold lunch", "Its parser works"].map(long);
        let summary = summarize(&memories(&texts.each_ref().map(String::as_str)));
        assert!(summary.contains("The parser") && summary.contains("A parser"), "{summary}");
        assert!(summary.ends_with("; and 1 more."), "{summary}");
        assert!(!summary.contains("lunch"), "{summary}");
        assert!(summary.chars().count() <= MAX_SUMMARY);
    }

    #[test]
    fn a_summary_is_one_line_of_at_most_two_sentences_and_1000_characters() {
        let hostile = [
            "First. Second! Third? (Fourth.) \"Fifth.\"",
            "Mr. Smith said: \"Go.\" He went.",
            "A line\r\nanother\u{2028}third\tfourth\0",
            "これは文です。これも文です！",
            "...",
            "",
            "e.g. This. Etc... And so on…",
        ];
        let long = "Long sentence. ".repeat(200);
        let mut texts = hostile.to_vec();
        texts.push(&long);
        for count in 1..=texts.len() {
            let summary = summarize(&memories(&texts[..count]));
            assert!(summary.chars().count() <= MAX_SUMMARY, "{summary}");
            assert!(summary.unicode_sentences().count() <= 2, "{summary}");
            assert!(!summary.contains(|c: char| c.is_control() || c == '\u{2028}'), "{summary}");
        }
        let many = vec!["x".repeat(300); 100_000];
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(summarize(&memories(&many)).chars().count() <= MAX_SUMMARY);
    }
}
