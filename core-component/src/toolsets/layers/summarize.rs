//! The built-in summariser. It uses the words of the memories and gives the same summary on every
//! host.

use std::collections::{BTreeMap, BTreeSet};

use unicode_segmentation::UnicodeSegmentation;

use super::memory::{Memory, column_text};
use crate::text::excerpt;
use crate::time::Timestamp;
use crate::words::words;

/// The most characters of a summary that a model or the agent writes.
pub(super) const MAX_SUMMARY: usize = 1_000;

/// The most characters of a built-in summary. Ten memories of two lines each fit in it word for
/// word.
const MAX_BUILT_IN: usize = 2_000;

/// A memory is shortened to no fewer characters than this. Instead, some memories are left out.
const MIN_PART: usize = 40;

/// The characters that are kept free for an ending such as `; and 100000 more.`
const ENDING: usize = 20;

/// The number of characters of `; ` between two memories.
const BETWEEN: usize = 2;

/// Words with fewer characters are ignored: they say little about what a memory is about.
const MIN_WORD: usize = 4;

/// The most memories that a warning names.
const MAX_NAMED: usize = 20;

/// A built-in summary, and the memories that it does not have word for word.
pub(super) struct Summary {
    pub text: String,
    /// The beginnings of the memories that the summary has only in part.
    shortened: Vec<String>,
    /// The beginnings of the memories that the summary does not have.
    left_out: Vec<String>,
}

impl Summary {
    /// The warning that names the memories that were shortened or left out. `None` if there are
    /// none.
    pub fn warning(&self) -> Option<String> {
        let lost =
            [("shortened", self.shortened.as_slice()), ("left out", self.left_out.as_slice())];
        let lost = lost.into_iter().filter(|(_, memories)| !memories.is_empty());
        let lost: Vec<String> =
            lost.map(|(how, memories)| format!("{how}: {}", named(memories))).collect();
        (!lost.is_empty()).then(|| {
            format!(
                "the summary does not have all words of the recent memories, which are deleted; \
                 {}; keep what should stay with `add_episodic_memory`",
                lost.join("; ")
            )
        })
    }
}

fn named(memories: &[String]) -> String {
    let named = memories.iter().take(MAX_NAMED).map(|memory| format!("`{memory}`"));
    let more = memories.len().saturating_sub(MAX_NAMED);
    let more = (more > 0).then(|| format!("and {more} more"));
    named.chain(more).collect::<Vec<_>>().join(", ")
}

/// Summarises memories in one sentence: how many there are, from when to when, and their texts,
/// each text once.
///
/// If there is no room for all words, the longest memories are shortened first, all to the same
/// length. If less than [`MIN_PART`] would be left of them, the memories that share the fewest
/// words with the others are left out.
pub(super) fn summarize(memories: &[Memory]) -> Summary {
    let parts: Vec<String> = memories.iter().map(|memory| part(&memory.memory)).collect();
    let opening = opening(memories);
    let room = MAX_BUILT_IN - opening.chars().count() - ENDING;
    let distinct = distinct(&parts);
    let chosen = choose(&parts, &distinct, room);
    let most = if chosen.len() == distinct.len() {
        fair_share(chosen.iter().map(|index| length(&parts[*index])).collect(), room)
    } else {
        MIN_PART
    };
    let mut summary = Summary { text: opening, shortened: Vec::new(), left_out: Vec::new() };
    let mut told = Vec::with_capacity(chosen.len());
    for index in BTreeSet::from_iter(distinct) {
        let beginning = || excerpt(&memories[index].memory);
        if !chosen.contains(&index) {
            summary.left_out.push(beginning());
        } else if length(&parts[index]) <= most {
            told.push(parts[index].clone());
        } else {
            summary.shortened.push(beginning());
            told.push(shortened(&parts[index], most));
        }
    }
    if !summary.left_out.is_empty() {
        told.push(format!("and {} more", summary.left_out.len()));
    }
    summary.text += &told.join("; ");
    summary.text.push('.');
    summary
}

/// The indexes of the parts that are not empty, each text once, in the order of [`by_weight`].
fn distinct(parts: &[String]) -> Vec<usize> {
    let mut said = BTreeSet::new();
    let mut order = by_weight(parts);
    order.retain(|index| !parts[*index].is_empty() && said.insert(&parts[*index]));
    order
}

/// The indexes of the parts for which there is room if long parts are shortened to [`MIN_PART`].
/// The parts that come first in `order` are chosen first.
fn choose(parts: &[String], order: &[usize], mut room: usize) -> BTreeSet<usize> {
    let mut chosen = BTreeSet::new();
    for index in order {
        let least = length(&parts[*index]).min(MIN_PART) + BETWEEN;
        if least <= room {
            room -= least;
            chosen.insert(*index);
        }
    }
    chosen
}

/// The length to which the longest parts are shortened so that all fit into `room`. `usize::MAX` if
/// all fit as they are.
fn fair_share(mut lengths: Vec<usize>, mut room: usize) -> usize {
    lengths.sort_unstable();
    for (at, length) in lengths.iter().enumerate() {
        let share = (room / (lengths.len() - at)).saturating_sub(BETWEEN);
        if *length > share {
            return share;
        }
        room -= length + BETWEEN;
    }
    usize::MAX
}

fn length(part: &str) -> usize {
    part.chars().count()
}

/// The beginning of a part, cut between words, with `…` at its end. It has at most `most`
/// characters.
fn shortened(part: &str, most: usize) -> String {
    let beginning = |most: usize| {
        let end = part.char_indices().nth(most).map_or(part.len(), |(at, _)| at);
        let bounds = part.split_word_bound_indices().map(|(at, _)| at);
        let bound = bounds.take_while(|at| *at <= end).last().unwrap_or_default();
        // If the last word is so long that half of the text would be lost, such as a URL, the cut
        // is inside the word.
        let cut = if bound > end / 2 { bound } else { end };
        // In the shorter text, a full stop may end a sentence that it did not end before. So the
        // sentences are joined again.
        let text = joined(&part[..cut]);
        format!("{}…", text.trim_end_matches(|c: char| c.is_whitespace() || ",;:-–—".contains(c)))
    };
    // Joining sentences can add a character, so shorter cuts are tried until one fits.
    let shorter = (0..most).rev().map(beginning);
    shorter.into_iter().find(|text| length(text) <= most).unwrap_or_default()
}

fn opening(memories: &[Memory]) -> String {
    let moments = || memories.iter().filter_map(|memory| memory.created_at);
    let minute = |moment: Timestamp| column_text(moment)[..16].to_owned();
    let when = match (moments().min().map(minute), moments().max().map(minute)) {
        (Some(first), Some(last)) if first == last => format!(" of {first} UTC"),
        (Some(first), Some(last)) => format!(" from {first} to {last} UTC"),
        _ => String::new(),
    };
    let noun = if memories.len() == 1 { "memory" } else { "memories" };
    format!("{} {noun}{when}: ", memories.len())
}

/// A memory as a part of a sentence: on one line, its sentences joined.
fn part(memory: &str) -> String {
    let text = memory.split(|c: char| c.is_whitespace() || c.is_control());
    joined(&text.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "))
}

/// Joins the sentences of a text with commas, without their final marks.
fn joined(text: &str) -> String {
    let sentences = text.unicode_sentences().map(without_end);
    sentences.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ")
}

/// A sentence without its final marks. A quote or a bracket after such a mark stays.
fn without_end(sentence: &str) -> String {
    let sentence = sentence.trim();
    let end = sentence.trim_end_matches(|c: char| !c.is_alphanumeric()).len();
    let ends = |c: char| matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '؟' | '।');
    let rest = sentence[end..].chars().filter(|c| !ends(*c));
    sentence[..end].chars().chain(rest).collect::<String>().trim_end().to_owned()
}

/// The indexes of the parts, sorted by how many other parts have each of their words, on average.
/// The highest average comes first. Of parts with equal averages, the newest comes first.
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

    fn text(texts: &[&str]) -> String {
        summarize(&memories(texts)).text
    }

    #[test]
    fn a_summary_says_how_many_from_when_to_when_and_what() {
        assert_eq!(
            text(&["Read the issue.", "Wrote the parser!", "Read the issue."]),
            "3 memories from 2025-01-20 10:00 to 2025-01-20 10:02 UTC: Wrote the parser; Read the issue."
        );
        assert_eq!(text(&["Done"]), "1 memory of 2025-01-20 10:00 UTC: Done.");
        let undated = Memory { id: 1, memory: "x".into(), created_at: None };
        assert_eq!(summarize(&[undated]).text, "1 memory: x.");
    }

    #[test]
    fn ten_memories_of_two_lines_each_stay_word_for_word() {
        let texts: Vec<String> = (0..10).map(|n| format!("{n}{}", " word".repeat(37))).collect();
        let summary = summarize(&memories(&texts.iter().map(String::as_str).collect::<Vec<_>>()));
        assert!(texts.iter().all(|text| summary.text.contains(text)), "{}", summary.text);
        assert_eq!(summary.warning(), None);
    }

    #[test]
    fn the_longest_memories_are_shortened_at_words_before_any_is_left_out() {
        let long = |name: &str| format!("{name} {}end", "word ".repeat(190));
        let first = long("first");
        let last = long("last");
        let texts = [&first, "A short one.", &last, "Another short one."];
        let summary = summarize(&memories(&texts));
        let text = &summary.text;
        assert!(
            text.contains("; A short one; ") && text.contains("; Another short one."),
            "{text}"
        );
        let parts: Vec<&str> = text.split("; ").collect();
        assert!(parts[0].contains(": first word word") && parts[2].starts_with("last word word"));
        assert!(parts[0].ends_with(" word…") && parts[2].ends_with(" word…"), "{text}");
        assert!((MAX_BUILT_IN - 50..=MAX_BUILT_IN).contains(&length(text)), "{}", length(text));
        let warning = summary.warning().expect("a warning");
        assert!(warning.contains("; shortened: `first word") && warning.contains("`last word"));
        assert!(!warning.contains("short one") && !warning.contains("left out"), "{warning}");
    }

    #[test]
    fn what_shares_fewest_words_is_left_out_where_too_little_of_each_would_stay() {
        let topic =
            |n: usize| format!("The parser reads {n:04} and goes on to the next of its tokens");
        let mut texts: Vec<String> = (0..60).map(topic).collect();
        texts[3] = "Cold lunch, noisy corridor, empty fridge, broken lift".to_owned();
        let summary = summarize(&memories(&texts.iter().map(String::as_str).collect::<Vec<_>>()));
        let text = &summary.text;
        let told = text.matches("The parser reads").count();
        assert!((40..60).contains(&told), "{told}");
        assert!(text.ends_with(&format!("; and {} more.", 60 - told)), "{text}");
        assert!(
            !text.contains("lunch") && !text.contains("tokens"),
            "no whole one beside it: {text}"
        );
        let warning = summary.warning().expect("a warning");
        assert!(warning.contains("left out: ") && warning.contains("`Cold lunch"), "{warning}");
        assert!(warning.contains("and ") && length(&warning) < 4_000, "{warning}");
    }

    #[test]
    fn a_long_word_and_a_text_without_spaces_are_shortened_too() {
        for text in
            ["x".repeat(3_000), "東京都庁へ行きました".repeat(300), "e\u{301}".repeat(2_000)]
        {
            let summary = summarize(&memories(&[&text, "short"]));
            assert!(summary.text.ends_with("…; short."), "{}", summary.text);
            assert!((MAX_BUILT_IN - 30..=MAX_BUILT_IN).contains(&length(&summary.text)));
        }
    }

    #[test]
    fn a_summary_is_one_line_of_at_most_two_sentences_and_2000_characters() {
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
        let cut = "v. 2 of p. 3, e.g. no. 7 ".repeat(60);
        let dense = "文。".repeat(600);
        let mut texts = hostile.to_vec();
        texts.extend([long.as_str(), &cut, &dense]);
        for count in 1..=texts.len() {
            let summary = text(&texts[..count]);
            assert!(length(&summary) <= MAX_BUILT_IN, "{summary}");
            assert!(summary.unicode_sentences().count() <= 2, "{summary}");
            assert!(!summary.contains(|c: char| c.is_control() || c == '\u{2028}'), "{summary}");
        }
        let many: Vec<String> = (0..5_000).map(|n| format!("{n} {}", "x".repeat(300))).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(length(&text(&many)) <= MAX_BUILT_IN);
    }
}
