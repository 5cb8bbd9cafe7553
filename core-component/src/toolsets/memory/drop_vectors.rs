use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::vectors::{collections, has_none};
use crate::error::Error;
use crate::source::OwnedCollection;
use crate::tool::{Audience, Call, Hints, Tool};
use crate::vectors::{drop_model, models};

pub(super) struct DropVectors;

/// Removes the vectors of a model from everything that the caller may use. Without a model, only lists
/// the models. The texts stay, and a search finds them by their words.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Drop vectors")]
pub(super) struct Input {
    /// The name of the model, as the host gave it.
    #[schemars(length(min = 1, max = 200))]
    model: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    // The number of vectors that were removed.
    dropped: u64,
    // The models that still have vectors.
    models: Vec<Model>,
    // The places that could not be read or changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Model {
    name: String,
    vectors: u64,
}

impl Tool for DropVectors {
    const NAME: &'static str = "drop_vectors";
    const HINTS: Hints = Hints::REMOVES;
    const AUDIENCE: Audience = Audience::Person;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        // All collections of a place are in one database, so they are handled together.
        let mut of_places: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
        for OwnedCollection { place, name, .. } in collections(call)? {
            of_places.entry(place).or_default().insert(name);
        }
        let mut warnings = Vec::new();
        let mut dropped = 0;
        let mut left: BTreeMap<String, u64> = BTreeMap::new();
        for (place, names) in &of_places {
            let drop = |model: &String| drop_model(call.storage, place, names, model);
            let found = input.model.as_ref().map(drop).transpose().and_then(|removed| {
                dropped += removed.unwrap_or_default();
                models(call.storage, place, names)
            });
            match found {
                Ok(found) => {
                    for (model, vectors) in found {
                        *left.entry(model).or_default() += vectors;
                    }
                }
                Err(error) if has_none(&error) => {}
                Err(error) => warnings.push(error.to_string()),
            }
        }
        let models = left.into_iter().map(|(name, vectors)| Model { name, vectors }).collect();
        Ok(Output { dropped, models, warnings })
    }
}
