//! Completing an argument of a prompt or a resource template.

use std::collections::BTreeMap;

/// An argument to complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The prompt or resource template that has the argument.
    pub reference: Reference,
    /// The name of the argument.
    pub argument: String,
    /// The beginning of the argument's value, as typed so far.
    pub value: String,
    /// The values of other arguments that are known already, by name.
    pub others: BTreeMap<String, String>,
}

/// A prompt or a resource template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// A prompt, by its name.
    Prompt(String),
    /// A resource template, by its URI template.
    ResourceTemplate(String),
}
