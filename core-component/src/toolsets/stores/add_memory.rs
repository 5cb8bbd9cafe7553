use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::Error;
use super::input::{self, Citation, Tag};
use super::memory::{Metadata, OF_MODELS};
use super::operations::create_memory;
use super::store::Store;
use crate::input::content;
use crate::names::StoreName;
use crate::tool::{Call, Hints, Tool};

pub(super) struct AddMemory;

/// Adds a Markdown memory at a new path. Creates its store and category where they are missing; never
/// overwrites.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Add a memory")]
pub(super) struct Input {
    /// Name of the store.
    store: StoreName,
    /// `category/slug`: words of lower-case letters and digits, joined by `-`.
    #[schemars(length(max = 2100))]
    path: String,
    /// Markdown.
    #[schemars(length(max = 1_000_000), regex(pattern = r"\S"))]
    content: String,
    /// Keywords.
    #[serde(default)]
    #[schemars(length(max = 32))]
    tags: Vec<Tag>,
    /// A timestamp, or a date: the end of that day. In the caller's time zone if it has no offset.
    #[schemars(length(min = 1, max = 64))]
    expires_at: Option<String>,
    /// Sources, such as `src/main.rs:17` or a URL.
    #[serde(default)]
    #[schemars(length(max = 64))]
    citations: Vec<Citation>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    store: String,
    path: String,
    warnings: Vec<String>,
}

impl Tool for AddMemory {
    const NAME: &'static str = "add_memory";
    const HINTS: Hints = Hints::ADDS;
    const IS_ALWAYS_VISIBLE: bool = true;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let path = input::path(&input.path, "path")?;
        let content = content(&input.content)?;
        let expires_at = input.expires_at.as_deref();
        let expires_at = expires_at.map(|text| input::expires_at(call, text)).transpose()?;
        let metadata = Metadata {
            created_at: Some(call.context.now),
            updated_at: Some(call.context.now),
            tags: input::tags(input.tags)?,
            source: Some(OF_MODELS.to_owned()),
            expires_at,
            citations: input::citations(input.citations)?,
            ..Metadata::default()
        };
        let (store, mut warnings) = Store::open_or_create(call, &input.store)?;
        let update = call.listed("stores", "update_memory");
        warnings.extend(create_memory(&store, &path, &content, &metadata, &update)?);
        if metadata.is_expired(call.context.now) {
            warnings.push("the memory has expired already".to_owned());
        }
        Ok(Output { store: store.name.to_owned(), path: path.to_string(), warnings })
    }
}
