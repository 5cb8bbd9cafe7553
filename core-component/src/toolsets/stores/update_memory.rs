use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::{Code, Error};
use super::input::{self, Citation, Tag};
use super::memory::{OF_MODELS, Passage, Update};
use super::operations::update_memory;
use super::store::Store;
use crate::input::{content, text_of};
use crate::names::StoreName;
use crate::text::normalise_line_ends;
use crate::tool::{Call, Hints, Tool};

pub(super) struct UpdateMemory;

/// Changes a memory. What is left out stays.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Update a memory")]
pub(super) struct Input {
    /// Name of the store.
    store: StoreName,
    /// `category/slug`.
    #[schemars(length(max = 2100))]
    path: String,
    /// The new Markdown.
    #[schemars(length(max = 1_000_000), regex(pattern = r"\S"))]
    content: Option<String>,
    /// Instead of `content`: a passage that occurs once.
    #[schemars(length(min = 1, max = 1_000_000))]
    old_text: Option<String>,
    /// Takes the place of `old_text`. Empty deletes it.
    #[schemars(length(max = 1_000_000))]
    new_text: Option<String>,
    /// All tags.
    #[schemars(length(max = 32))]
    tags: Option<Vec<Tag>>,
    /// As in `add_memory`.
    #[schemars(length(min = 1, max = 64))]
    expires_at: Option<String>,
    /// Remove the expiry.
    #[serde(default)]
    clear_expiry: bool,
    /// All citations.
    #[schemars(length(max = 64))]
    citations: Option<Vec<Citation>>,
    /// From `get_memory`: refuse if it has changed since.
    #[schemars(length(min = 1, max = 64))]
    version: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    store: String,
    path: String,
    warnings: Vec<String>,
}

impl Tool for UpdateMemory {
    const NAME: &'static str = "update_memory";
    const HINTS: Hints = Hints::OVERWRITES;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let path = input::path(&input.path, "path")?;
        let expires_at = input.expires_at.as_deref();
        let expires_at = expires_at.map(|text| input::expires_at(call, text)).transpose()?;
        let update = Update {
            passage: passage(&input)?,
            content: input.content.as_deref().map(content).transpose()?,
            tags: input.tags.map(input::tags).transpose()?,
            citations: input.citations.map(input::citations).transpose()?,
            expires_at: match (expires_at, input.clear_expiry) {
                (Some(_), true) => return Err(contradiction()),
                (None, true) => Some(None),
                (expires_at, false) => expires_at.map(Some),
            },
        };
        if update.is_empty() {
            let message = "nothing to update: give `content`, `old_text` with `new_text`, `tags`, \
                           `expires_at`, `clear_expiry` or `citations`";
            return Err(Error::new(Code::InvalidInput, message));
        }
        let store = Store::open(call, &input.store)?;
        let version = input.version.as_deref();
        let (is_expired, mut warnings) = update_memory(&store, &path, &update, version, OF_MODELS)?;
        if is_expired {
            warnings.push(EXPIRED.to_owned());
        }
        Ok(Output { store: store.name.to_owned(), path: path.to_string(), warnings })
    }
}

/// Returns the passage to replace. `None` if the call names none.
///
/// # Errors
///
/// `INVALID_INPUT` if `old_text` or `new_text` is given without the other or together with
/// `content`, or if `new_text` has a control character.
fn passage(input: &Input) -> Result<Option<Passage>, Error> {
    let refused = |field: &str, message: &str, accepted: &str| {
        Err(Error::at(Code::InvalidInput, message, field, accepted.to_owned()))
    };
    // Some clients send every field: an empty `new_text` together with `content` counts as missing.
    let new = input.new_text.as_deref().filter(|new| input.content.is_none() || !new.is_empty());
    match (input.old_text.as_deref(), new) {
        (None, None) => Ok(None),
        _ if input.content.is_some() => {
            let message = "`content` contradicts `old_text` and `new_text`: give the whole content \
                           or one passage of it";
            refused("content", message, "none beside `old_text`")
        }
        (Some(old), Some(new)) => {
            Ok(Some(Passage { old: normalise_line_ends(old), new: text_of(new, "new_text")? }))
        }
        (Some(_), None) => {
            let message = "`new_text` is missing: give the text that takes the place of `old_text`, \
                           or an empty one to delete the passage";
            refused("new_text", message, "a text, beside `old_text`")
        }
        (None, Some(_)) => {
            let message = "`old_text` is missing: give the passage that `new_text` replaces";
            refused("old_text", message, "a passage of the content")
        }
    }
}

const EXPIRED: &str = "the memory has expired: `prune_memories` deletes it, unless you set a later \
                       `expires_at` or `clear_expiry`";

fn contradiction() -> Error {
    let message = "`expires_at` and `clear_expiry` contradict each other: give one of them";
    Error::at(Code::InvalidInput, message, "clear_expiry", "false beside `expires_at`".into())
}
