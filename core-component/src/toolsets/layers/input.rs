//! Texts and tags of a call, as they are stored.

use schemars::JsonSchema;
use serde::Deserialize;
use unicode_segmentation::UnicodeSegmentation;

use super::error::{Code, Error};
use crate::text::normalise;

// A tag: 1 to 30 characters on one line, not blank.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(super) struct Tag(#[schemars(length(max = 30), regex(pattern = r"\S"))] pub String);

/// A memory, a task or a summary as it is stored: one line without white space around it.
///
/// # Errors
///
/// `INVALID_INPUT` for a line break or another control character.
pub(super) fn line(text: &str, field: &str) -> Result<String, Error> {
    one_line(text.trim(), field, field)
}

/// The tags as the column holds them: each once, joined by commas. `None` if there are no tags.
///
/// # Errors
///
/// `INVALID_INPUT` for a comma or a control character.
pub(super) fn tags(given: &[Tag]) -> Result<Option<String>, Error> {
    let mut tags: Vec<String> = Vec::with_capacity(given.len());
    for (index, Tag(tag)) in given.iter().enumerate() {
        let field = format!("tags/{index}");
        let tag = one_line(tag.trim(), "tag", &field)?;
        if tag.contains(',') {
            let message = format!("the tag `{tag}` holds a comma: make it two tags");
            return Err(Error::at(Code::InvalidInput, message, &field, "no comma".into()));
        }
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    Ok((!tags.is_empty()).then(|| tags.join(",")))
}

fn one_line(text: &str, what: &str, field: &str) -> Result<String, Error> {
    let sound = normalise(text).is_ok_and(|text| !text.contains('\n'));
    if sound {
        return Ok(text.to_owned());
    }
    let message = format!("`{what}` holds a line break or another control character: remove it");
    Err(Error::at(Code::InvalidInput, message, field, "text on one line".into()))
}

/// A warning if a text has more than one sentence, by the sentence boundaries of Unicode (UAX #29).
pub(super) fn sentence_warning(text: &str, field: &str) -> Option<String> {
    let sentences = text.unicode_sentences().count();
    (sentences > 1).then(|| {
        format!("`{field}` has {sentences} sentences: it was stored, but one is easier to recall")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_one_sentence_is_warned_of() {
        for one in [
            "No end",
            "One.",
            "Version 1.2 of a.b is out!",
            "An \"a. b\" c, e.g. this",
            "3.14 is pi.",
        ] {
            assert_eq!(sentence_warning(one, "memory"), None, "{one}");
        }
        let two = sentence_warning("It works. It is done.", "memory").expect("a warning");
        assert!(two.starts_with("`memory` has 2 sentences"), "{two}");
    }
}
