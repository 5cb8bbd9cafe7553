//! Removes a text from a log, a summary or a schema, or removes the whole content of a log. The
//! headings of logs and schemas and the header of a log stay, because the tools need them to find
//! entries.

use std::ops::Range;

use super::schema::HEADER;
use crate::forget::{REMOVED, Removal, marks, ranges_of};
use crate::markdown::{BlockKind, Outline, Section};
use crate::storage::Splice;
use crate::text::line_of;

/// The maximum number of lines that a message names.
const MAX_LINES: usize = 10;

/// The kind of an agent's document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Log,
    Summary,
    Schema,
}

/// Replaces a text by the mark [`REMOVED`]. In headings and the header the text stays, and a
/// message names their lines. Removes nothing if Markdown would then read other parts differently.
pub(super) fn remove_text(kind: Kind, text: &str, secret: &str) -> Removal {
    let ranges = ranges_of(secret, text);
    if ranges.is_empty() {
        return Removal::default();
    }
    let outline = Outline::parse(text);
    let kept = structure(kind, &outline);
    let is_kept = |range: &Range<usize>| {
        kept.iter().any(|kept| kept.start < range.end && range.start < kept.end)
    };
    let (stays, goes): (Vec<_>, Vec<_>) = ranges.into_iter().partition(is_kept);
    let splices = marks(goes);
    if !has_same_structure(&outline, &Outline::parse(&Splice::all_of_text(&splices, text))) {
        return Removal::left(UNSOUND.to_owned());
    }
    let lines: Vec<String> =
        stays.iter().take(MAX_LINES).map(|range| line_of(text, range.start).to_string()).collect();
    let left = (!lines.is_empty()).then(|| {
        format!(
            "the heading or header in line {} has it: it is structure, so edit it by hand",
            lines.join(", ")
        )
    });
    Removal { splices, left }
}

const UNSOUND: &str =
    "without this text, Markdown would read other parts of it differently: edit it by hand";

/// Replaces all text below each heading by one mark.
pub(super) fn remove_all(kind: Kind, text: &str) -> Removal {
    let outline = Outline::parse(text);
    let mut at = 0;
    let mut between = Vec::new();
    for Range { start, end } in structure(kind, &outline) {
        between.push(at..start);
        at = end;
    }
    between.push(at..text.len());
    let core = between.into_iter().map(|range| {
        let part = &text[range.clone()];
        let start = range.start + part.len() - part.trim_start().len();
        start..range.end.min(start + part.trim().len())
    });
    let goes = core.filter(|range| !range.is_empty() && &text[range.clone()] != REMOVED);
    Removal { splices: marks(goes), left: None }
}

/// Returns the byte ranges that a removal must not change: headings, and the header of a log.
/// Sorted.
fn structure(kind: Kind, outline: &Outline<'_>) -> Vec<Range<usize>> {
    let headings = outline.blocks.iter().filter(|block| {
        matches!(block.kind, BlockKind::Heading { level: 1 | 2, .. }) && kind != Kind::Summary
    });
    let mut kept: Vec<Range<usize>> = headings.map(|block| block.range.clone()).collect();
    if kind == Kind::Log {
        let sections = Section::all(outline).into_iter();
        let header = sections.filter(|section| section.name == HEADER);
        kept.extend(header.map(|section| section.body()));
    }
    kept.sort_by_key(|range| (range.start, range.end));
    kept
}

/// Whether two documents have blocks of the same kinds, and the same number of different section
/// names.
fn has_same_structure(one: &Outline<'_>, other: &Outline<'_>) -> bool {
    let is_same = |(one, other): (&BlockKind, &BlockKind)| match (one, other) {
        (BlockKind::Heading { level: one, .. }, BlockKind::Heading { level: other, .. }) => {
            one == other
        }
        _ => one == other,
    };
    let kinds = |of: &Outline<'_>| of.blocks.iter().map(|block| block.kind.clone()).collect();
    let before: Vec<BlockKind> = kinds(one);
    let after: Vec<BlockKind> = kinds(other);
    let names = |of: &Outline<'_>| {
        let names = Section::all(of).into_iter().map(|section| section.name);
        names.collect::<std::collections::BTreeSet<_>>().len()
    };
    before.len() == after.len()
        && before.iter().zip(&after).all(is_same)
        && names(one) == names(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "# ada — 2025-01-20\n\n## Header\n\n- Agent Name: ada\n- Date: 2025-01-20\n\n\
                       ## Context\n\n- Use hunter22 twice: hunter22\n\n### hunter22\n\nbody\n\n\
                       ## Decisions\n";

    fn after(removal: &Removal, text: &str) -> String {
        Splice::all_of_text(&removal.splices, text)
    }

    #[test]
    fn a_text_becomes_a_mark_and_every_other_byte_stays() {
        let removal = remove_text(Kind::Log, LOG, "hunter22");
        assert_eq!(after(&removal, LOG), LOG.replace("hunter22", "(removed)"));
        assert_eq!(removal.left, None);
    }

    #[test]
    fn headings_and_the_header_of_a_log_stay_and_are_told() {
        let text = LOG.replace("body", "Decisions of ada by Agent Name");
        let removal = remove_text(Kind::Log, &text, "Decisions");
        assert!(after(&removal, &text).contains("(removed) of ada"));
        assert!(after(&removal, &text).contains("\n## Decisions\n"));
        assert!(removal.left.is_some_and(|left| left.contains("line 16")));
        let removal = remove_text(Kind::Log, &text, "Agent Name");
        assert!(after(&removal, &text).contains("- Agent Name: ada"));
    }

    #[test]
    fn a_heading_of_a_summary_loses_the_text_unless_another_would_be_the_same() {
        let text = "# Summary\n\n## Key hunter22\n\nx\n";
        let removal = remove_text(Kind::Summary, text, "hunter22");
        assert_eq!(after(&removal, text), text.replace("hunter22", REMOVED));
        let text = "## Key hunter22\n\nx\n\n## Key (removed)\n";
        assert!(remove_text(Kind::Summary, text, "hunter22").left.is_some());
    }

    #[test]
    fn a_text_that_holds_up_the_structure_is_refused() {
        let text = LOG.replace("body", "````\n## Decisions\n````");
        for secret in ["````\n## Decisions\n````\n\n## Decisions", "````"] {
            let removal = remove_text(Kind::Log, &text, secret);
            assert_eq!((&removal.splices[..], removal.left.is_some()), (&[][..], true), "{secret}");
        }
    }

    #[test]
    fn a_log_without_its_entries_has_its_headings_and_marks_and_stays_so() {
        let removal = remove_all(Kind::Log, LOG);
        let text = after(&removal, LOG);
        assert!(text.ends_with("## Context\n\n(removed)\n\n## Decisions\n"), "{text}");
        assert!(text.contains("- Agent Name: ada\n- Date: 2025-01-20\n\n## Context"), "{text}");
        assert_eq!(remove_all(Kind::Log, &text), Removal::default());
    }
}
