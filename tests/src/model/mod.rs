//! The differential test: random sequences of calls on a host and on a model, which predicts each
//! answer and the contents of storage.
//!
//! A model is written from the specification, in a folder with the name of its toolset, and shares no
//! code with the core. The core parses documents; the model stores sections, entries and damage as
//! values and renders documents from them. Between calls, a person edits files. The model generates
//! only edits whose effect it knows.

pub mod document;
pub mod expected;
pub mod hosts;
pub mod sequence;
pub mod sessions;
pub mod text;

use std::fmt::Debug;

use agent_memory_conformance::case::Documents;
use serde_json::Value;

use crate::random::Random;
use expected::Expected;

/// A step of a sequence.
#[derive(Clone, Debug)]
pub enum Step<Meaning, Edit> {
    /// A tool is called.
    Call(Call<Meaning>),
    /// A person changes a file.
    Edit(Edit),
}

/// A step for a model.
pub type StepOf<M> = Step<<M as Model>::Meaning, <M as Model>::Edit>;

/// A call.
#[derive(Clone, Debug)]
pub struct Call<Meaning> {
    /// The tool's name.
    pub tool: String,
    /// Strings may hold the placeholders of a case.
    pub arguments: Value,
    /// Knowledge about the arguments from their generation.
    pub meaning: Meaning,
}

/// A second implementation of a toolset.
pub trait Model: Clone {
    /// The name of the toolset.
    const TOOLSET: &'static str;

    /// An edit of a person. It has to be possible in every state, at least as an edit without effect,
    /// since a sequence is shortened by leaving out steps.
    type Edit: Clone + Debug;

    /// Knowledge about a call's arguments, such as the parts of a text.
    type Meaning: Clone + Debug;

    /// The model of an empty repository, which calls only these tools.
    fn new(tools: &[String]) -> Self;

    /// Generates a step. `today` is the local date of a call at this time.
    fn next(&self, random: &mut Random, today: &str) -> StepOf<Self>;

    /// Makes a call, and returns the expected answer.
    fn call(&mut self, call: &Call<Self::Meaning>, today: &str) -> Expected;

    /// Makes a person's edit.
    fn edit(&mut self, edit: &Self::Edit);

    /// All documents. The changes of an edit are also written to the host's tree.
    fn documents(&self) -> Documents;
}
