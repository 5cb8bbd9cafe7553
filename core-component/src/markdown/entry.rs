//! Checks a text before it is inserted into a document. Wherever it is inserted, no part of the
//! text may change the blocks around it.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag};

use super::open;
use super::outline::Outline;
use crate::text::{excerpt, line_of};

/// A text to insert, with its outline.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    pub outline: Outline<'a>,
    defines_links: bool,
}

/// Why a text cannot be inserted into a document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ContentError {
    /// The line in the text, counted from 1.
    pub line: usize,
    /// The fault, in words that follow `line N`.
    pub what: String,
}

impl ContentError {
    pub fn new(line: usize, what: impl Into<String>) -> Self {
        Self { line, what: what.into() }
    }
}

impl<'a> Entry<'a> {
    /// Parses a text that is to be inserted.
    ///
    /// # Errors
    ///
    /// The first heading of level 1 or 2, at any depth, or the first fence, comment or HTML block
    /// that is not closed.
    pub fn parse(text: &'a str) -> Result<Self, ContentError> {
        let parser = Parser::new(text);
        let defines_links = parser.reference_definitions().iter().next().is_some();
        match first_error(parser, text) {
            Some(error) => Err(error),
            None => Ok(Self { outline: Outline::parse(text), defines_links }),
        }
    }

    /// Returns an error for the first link definition of this text whose label the document uses or
    /// defines: the definition would change a link of the document, or a definition of the document
    /// would change a link of this text.
    pub fn conflicting_definition(&self, document: &str) -> Option<ContentError> {
        if !self.defines_links {
            return None;
        }
        let ours = Parser::new(self.outline.source);
        let mut used = Vec::new();
        let mut collect = |link: pulldown_cmark::BrokenLink<'_>| {
            used.push(link.reference.to_string());
            None
        };
        let theirs =
            Parser::new_with_broken_link_callback(document, Options::empty(), Some(&mut collect));
        let defined: Vec<String> =
            theirs.reference_definitions().iter().map(|(label, _)| label.to_owned()).collect();
        theirs.for_each(drop);

        let ours = ours.reference_definitions();
        let spans = defined.iter().chain(&used).filter_map(|label| ours.get(label));
        let at = spans.map(|definition| definition.span.start).min()?;
        let line = line_of(self.outline.source, at);
        Some(ContentError::new(
            line,
            "defines a link label that the document uses or defines elsewhere: choose another \
             label or write the link in place",
        ))
    }
}

fn first_error(parser: Parser<'_>, text: &str) -> Option<ContentError> {
    let mut depth = 0;
    for (event, range) in parser.into_offset_iter() {
        if let Event::Start(tag) = &event {
            if let Some(what) = error_of(tag, &text[range.clone()], depth > 0) {
                return Some(ContentError::new(first_line(text, range), what));
            }
            depth += 1;
        } else if let Event::End(_) = event {
            depth -= 1;
        }
    }
    None
}

fn error_of(tag: &Tag<'_>, source: &str, in_container: bool) -> Option<String> {
    match tag {
        Tag::Heading { level: level @ (HeadingLevel::H1 | HeadingLevel::H2), .. } => {
            Some(heading_error(*level as usize, source.trim()))
        }
        Tag::CodeBlock(CodeBlockKind::Fenced(_)) if open::is_open_fence(source, in_container) => {
            Some("opens a code fence that is not closed: close it".into())
        }
        Tag::HtmlBlock if open::is_open_html(source) => {
            Some("opens a comment or HTML block that is not closed: close it".into())
        }
        Tag::HtmlBlock if !open::is_html_in_every_version(source) => {
            // Some Markdown readers do not know the tag, and read the block as ordinary Markdown.
            let text = &source.trim_start()[1..];
            first_error(Parser::new(text), text).map(|_| {
                "begins HTML in which some readers find a heading of level 1 or 2 or a block that \
                 is not closed: remove them"
                    .into()
            })
        }
        _ => None,
    }
}

/// Says why a heading of level 1 or 2 is refused, and what to write in its place.
fn heading_error(level: usize, source: &str) -> String {
    let marked = source.strip_prefix(&"#".repeat(level));
    let marked = marked.filter(|text| !text.starts_with(|c| !is_space(c)));
    let Some(marked) = marked else {
        let underline = source.rsplit(['\n', '\r']).next().unwrap_or_default();
        let underline = underline.trim_start_matches(['>', ' ', '\t']);
        let fix = if level == 1 { "remove it" } else { "put a blank line before it" };
        let underline = excerpt(underline);
        return format!(
            "becomes a heading of level {level} by the line `{underline}` below it: {fix}"
        );
    };
    // Trailing `#` after a space close a heading, and are no part of its text.
    let text = marked.trim_end_matches('#');
    let text = if text.ends_with(is_space) { text } else { marked }.trim();
    let heading = excerpt(source);
    if text.is_empty() {
        return format!("is an empty heading of level {level}, `{heading}`: remove it");
    }
    let text = excerpt(text);
    format!("is a heading of level {level}, `{heading}`: write `### {text}` or `- {text}`")
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

fn first_line(text: &str, range: Range<usize>) -> usize {
    let blank = text[range.clone()].len() - text[range.clone()].trim_start().len();
    line_of(text, range.start + blank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_could_change_the_blocks_around_it_is_refused() {
        for (text, line) in [
            ("fine\n\n# one", 3),
            ("two\n---", 1),
            ("- # one", 1),
            ("> two\n> ===", 1),
            ("a\n\n```\ncode", 3),
            ("- ```\n  code", 1),
            ("<!-- a", 1),
            ("a\n\n> <script>", 3),
            ("<!x\n## two\n>", 1),
            ("<search\ntwo\n---", 1),
            ("<search\n```", 1),
            ("<textarea>\n\n## two\n</textarea>", 1),
        ] {
            assert_eq!(Entry::parse(text).err().map(|error| error.line), Some(line), "{text}");
        }
        for text in [
            "### three",
            "```\n# code\n```",
            "<details>\n\n</details>",
            "<!--\n# a\n-->",
            "a\n\n---",
            "#hash",
        ] {
            assert!(Entry::parse(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn the_error_of_a_heading_says_how_to_write_it() {
        for (text, error) in [
            ("## Plan ##", "is a heading of level 2, `## Plan ##`: write `### Plan` or `- Plan`"),
            ("- # C#", "is a heading of level 1, `# C#`: write `### C#` or `- C#`"),
            ("##", "is an empty heading of level 2, `##`: remove it"),
            (
                "#1 and\n#2\n---",
                "becomes a heading of level 2 by the line `---` below it: put a blank line before it",
            ),
            ("é\n=", "becomes a heading of level 1 by the line `=` below it: remove it"),
            ("> a\n> ===", "becomes a heading of level 1 by the line `===` below it: remove it"),
        ] {
            assert_eq!(Entry::parse(text).expect_err("refused").what, error, "{text}");
        }
    }

    #[test]
    fn a_link_definition_may_not_use_a_label_of_the_document() {
        let entry = Entry::parse("see [it]\n\n[it]: /a").expect("an entry");
        assert_eq!(entry.conflicting_definition("a [link](/b) and `[it]`"), None);
        for document in ["a use of [It]", "[IT]: /other", "- deep\n  - [text][it]"] {
            let error = entry.conflicting_definition(document);
            assert_eq!(error.map(|error| error.line), Some(3), "{document}");
        }
    }
}
