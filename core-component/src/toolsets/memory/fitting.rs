//! Decides how much of each part of `resume_memory` fits in the budget.

use std::ptr;

use super::skipped::name;
use crate::existing::days;
use crate::ranking::{Language, Query, passage};
use crate::resume::Part;
use crate::text::lines;

/// The minimum room for the content of a part, in characters. A part with less room is left out,
/// unless it is shorter.
const LEAST: usize = 60;

/// The parts, as far as they fit.
pub(super) struct Fitted<'p> {
    pub told: Vec<Told<'p>>,
    /// The parts that are left out completely.
    pub left_out: Vec<&'p Part>,
}

/// The shown items of a part.
pub(super) struct Told<'p> {
    pub part: &'p Part,
    /// The first items of the part, as Markdown.
    items: Vec<String>,
    is_shortened: bool,
}

/// Fits parts into `room` characters. Each part gets an equal share; the room that it does not need
/// goes to the others. Only the first item of a part is ever cut, if it is longer than the share.
pub(super) fn fit(parts: &[Part], room: usize) -> Fitted<'_> {
    let mut candidates: Vec<Candidate<'_>> = parts.iter().map(Candidate::new).collect();
    while candidates.iter().map(Candidate::least).sum::<usize>() > room {
        candidates.remove(last_in_order(&candidates));
    }
    let wants: Vec<usize> = candidates.iter().map(|of| of.cost(of.items.len())).collect();
    let shares = fair_shares(&wants, room);
    for (candidate, share) in candidates.iter_mut().zip(&shares) {
        candidate.take(*share);
    }
    share_the_rest(&mut candidates, &shares, room);
    let told = candidates.into_iter().zip(shares).filter_map(|(of, share)| of.told(share));
    let told: Vec<Told<'_>> = told.collect();
    let is_told = |part: &&Part| told.iter().any(|of| ptr::eq(of.part, *part));
    let left_out = parts.iter().filter(|part| !is_told(part)).collect();
    Fitted { told, left_out }
}

/// The index of the part that is left out first: the last part of the highest rank number.
fn last_in_order(candidates: &[Candidate<'_>]) -> usize {
    let rank = |at: &usize| (candidates[*at].part.rank, *at);
    (0..candidates.len()).max_by_key(rank).unwrap_or_default()
}

/// Divides `room` into equal shares. The room that a part does not want is divided among the
/// others.
fn fair_shares(wants: &[usize], room: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..wants.len()).collect();
    order.sort_by_key(|at| wants[*at]);
    let mut shares = vec![0; wants.len()];
    let mut left = room;
    for (done, at) in order.into_iter().enumerate() {
        shares[at] = wants[at].min(left / (wants.len() - done));
        left -= shares[at];
    }
    shares
}

/// Gives the unused room of all shares to further items, one for each part in turn. A part without
/// a fitting item keeps its share for its shortened first item.
fn share_the_rest(candidates: &mut [Candidate<'_>], shares: &[usize], room: usize) {
    let used = |(of, share): (&Candidate<'_>, &usize)| match of.taken {
        0 => *share,
        taken => of.cost(taken),
    };
    let mut left = room - candidates.iter().zip(shares).map(used).sum::<usize>();
    let mut has_grown = true;
    while has_grown {
        has_grown = false;
        for (candidate, share) in candidates.iter_mut().zip(shares) {
            if candidate.taken == candidate.items.len() {
                continue;
            }
            let before = used((&*candidate, share));
            let after = candidate.cost(candidate.taken + 1);
            if after <= before + left {
                left = before + left - after;
                candidate.taken += 1;
                has_grown = true;
            }
        }
    }
}

/// A part, with how many of its items are taken.
struct Candidate<'p> {
    part: &'p Part,
    /// The items as Markdown.
    items: Vec<String>,
    /// For each number of items, the total length of the first items.
    lengths: Vec<usize>,
    taken: usize,
}

impl<'p> Candidate<'p> {
    fn new(part: &'p Part) -> Self {
        let items: Vec<String> = part.items.iter().map(|of| item(&of.text)).collect();
        let mut lengths = vec![0];
        for item in &items {
            lengths.push(lengths[lengths.len() - 1] + length(item));
        }
        Self { part, items, lengths, taken: 0 }
    }

    /// The length of the heading and the first `taken` items.
    fn cost(&self, taken: usize) -> usize {
        length(&heading(self.part, taken, false)) + self.lengths[taken]
    }

    /// The least room that the part needs. With less room, the part is left out.
    fn least(&self) -> usize {
        let shortened = length(&heading(self.part, 1, true)) + LEAST;
        self.cost(self.items.len()).min(shortened)
    }

    /// Takes as many items from the beginning as fit in the share.
    fn take(&mut self, share: usize) {
        let fitting = (1..=self.items.len()).rfind(|taken| self.cost(*taken) <= share);
        self.taken = fitting.unwrap_or(0);
    }

    /// Returns the items to show. If not even the first item fits, it is cut between words. `None`
    /// if there is too little room for that.
    fn told(mut self, share: usize) -> Option<Told<'p>> {
        let part = self.part;
        if self.taken > 0 {
            self.items.truncate(self.taken);
            return Some(Told { part, items: self.items, is_shortened: false });
        }
        let room = share.checked_sub(length(&heading(part, 1, true)))?;
        let item = shortened(&part.items[0].text, room)?;
        Some(Told { part, items: vec![item], is_shortened: true })
    }
}

impl Told<'_> {
    /// Returns the part as Markdown. The days are in the order of the part. The items of a day are
    /// in reverse order if `is_reversed` is set.
    pub fn text(&self) -> String {
        let Self { part, items, is_shortened } = self;
        let mut text = heading(part, items.len(), *is_shortened);
        let mut rest = &items[..];
        for of_day in part.items[..items.len()].chunk_by(|a, b| a.day == b.day) {
            let (told, after) = rest.split_at(of_day.len());
            rest = after;
            if part.is_reversed {
                text.extend(told.iter().rev().map(String::as_str));
            } else {
                text.extend(told.iter().map(String::as_str));
            }
        }
        text
    }
}

/// Returns the heading of a part: the days of its shown items, how many items are shown, and the
/// tool that reads the rest.
fn heading(part: &Part, taken: usize, is_shortened: bool) -> String {
    let Part { title, owner, items, total, counted_in, read, .. } = part;
    let of_days = days(items[..taken].iter().filter_map(|item| item.day));
    let of_days = of_days.map(|days| format!(" of {days}")).unwrap_or_default();
    let has_more = (taken as u64) < *total || counted_in.is_some();
    let count = has_more.then(|| count(part, taken));
    let shortened = is_shortened.then(|| "shortened".to_owned());
    let what: Vec<String> = count.into_iter().chain(shortened).collect();
    let note = if what.is_empty() {
        String::new()
    } else {
        format!(" ({}; `{read}` reads more)", what.join(", "))
    };
    format!("\n## {title}{of_days}: {}{note}\n\n", name(owner))
}

/// Returns a phrase such as `3 of 10`: how many items of a part are shown, and of how many.
pub(super) fn count(part: &Part, told: usize) -> String {
    let within = part.counted_in.as_ref().map(|of| format!(" in {of}")).unwrap_or_default();
    format!("{told} of {}{within}", part.total)
}

/// Formats a text as an item of a Markdown list.
fn item(text: &str) -> String {
    let mut item = String::new();
    for (at, line) in lines(text.trim()) {
        let indent = match (at, line.trim().is_empty()) {
            (0, _) => "- ",
            (_, true) => "",
            (_, false) => "  ",
        };
        item += &format!("{indent}{line}\n");
    }
    item
}

/// Returns the beginning of a text as a list item, at most `room` characters and with `…` at its
/// end. `None` if there is too little room.
fn shortened(text: &str, room: usize) -> Option<String> {
    let beginning = Query::in_language("", Language::English);
    // Leaves three characters for `- ` and the line ending.
    let mut most = room.saturating_sub(3);
    while most >= LEAST / 6 {
        let item = item(&passage(text, &beginning, most).shown);
        if length(&item) <= room {
            return Some(item);
        }
        // The item is too long, because its lines are indented or backticks lengthen the fence.
        // Tries a shorter passage.
        most = most * 3 / 4;
    }
    None
}

/// Returns the number of characters that a text takes in the answer. A long run of backticks counts
/// more, because it makes the fence around the answer longer.
pub(super) fn length(text: &str) -> usize {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    text.chars().count() + 2 * longest.saturating_sub(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resume::Rank;
    use crate::source::Owner;

    fn part(rank: Rank, title: &str, items: &[&str]) -> Part {
        let owner = Owner::new("records");
        let total = items.len() as u64;
        let items = items.iter().map(|item| (*item).to_owned().into()).collect();
        let title = title.to_owned();
        let read = "read".to_owned();
        Part { title, owner, rank, items, total, read, ..Part::default() }
    }

    fn told(parts: &[Part], room: usize) -> String {
        let text: String = fit(parts, room).told.iter().map(Told::text).collect();
        assert!(length(&text) <= room, "{room}: {text}");
        text
    }

    #[test]
    fn what_one_does_not_want_goes_to_the_others() {
        for (wants, room, shares) in [
            (&[10, 10][..], 100, &[10, 10][..]),
            (&[100, 10, 100], 100, &[45, 10, 45]),
            (&[100, 100, 100], 100, &[33, 33, 34]),
            (&[], 100, &[]),
        ] {
            assert_eq!(fair_shares(wants, room), shares);
        }
    }

    #[test]
    fn a_text_is_never_longer_than_the_room_and_grows_with_it() {
        let long = "word ".repeat(100);
        let fences = format!("x\n{}\ny", "`".repeat(300));
        let parts = [
            part(Rank::Summary, "One", &["first", "second\n\nwith more", &long, "last"]),
            part(Rank::Decisions, "Two", &[&fences, "after it"]),
            part(Rank::NextActions, "Three", &[&"漢字".repeat(300)]),
            part(Rank::Documents, "Four", &["short"]),
        ];
        let mut before = 0;
        for room in (0..4_000).step_by(7) {
            let headings = told(&parts, room).matches("\n## ").count();
            assert!(headings >= before, "{room}");
            before = headings;
        }
        assert_eq!(before, 4);
    }

    #[test]
    fn an_item_is_whole_or_the_shortened_first_one() {
        let items: Vec<String> = (0..20).map(|at| format!("item {at} is whole")).collect();
        let items: Vec<&str> = items.iter().map(String::as_str).collect();
        let parts = [
            part(Rank::Summary, "One", &items),
            part(Rank::Decisions, "Two", &[&"word ".repeat(500)]),
        ];
        for room in (300..1_500).step_by(11) {
            let text = told(&parts, room);
            let lines = text.lines().filter(|line| line.starts_with("- item"));
            assert!(lines.clone().all(|line| line.ends_with(" is whole")), "{room}: {text}");
            assert!(lines.count() > 0 && text.contains("word…"), "{room}: {text}");
        }
    }

    #[test]
    fn parts_of_later_ranks_are_left_out_first_and_of_one_rank_the_last() {
        let text = "word ".repeat(50);
        let parts = [
            part(Rank::Summary, "One", &[&text]),
            part(Rank::Decisions, "Two", &[&text]),
            part(Rank::NextActions, "Three", &[&text]),
            part(Rank::Documents, "Four", &[&text]),
            part(Rank::Documents, "Five", &[&text]),
        ];
        let left_out = |room| {
            let titles = fit(&parts, room).left_out.into_iter().map(|part| part.title.as_str());
            titles.collect::<Vec<_>>()
        };
        assert_eq!(left_out(2_000), [""; 0]);
        assert_eq!(left_out(500), ["Five"]);
        assert_eq!(left_out(400), ["Four", "Five"]);
        assert_eq!(left_out(200), ["One", "Two", "Four", "Five"]);
        assert_eq!(left_out(0), ["One", "Two", "Three", "Four", "Five"]);
    }
}
