//! The differential test: random sequences of calls on a host, and beside it a model that says what
//! each has to answer and what storage has to hold.
//!
//! A model is written from the specification, in a folder named as its toolset. It shares nothing
//! with the core: it keeps sections, entries and damage as values and renders documents from them,
//! where the core reads documents. So it generates only what it understands: between the calls a
//! person edits files, by edits that the model knows the meaning of.

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

/// What happens to a repository next.
#[derive(Clone, Debug)]
pub enum Step<Meaning, Edit> {
    /// A tool is called.
    Call(Call<Meaning>),
    /// A person changes a file.
    Edit(Edit),
}

/// A step of a model's.
pub type StepOf<M> = Step<<M as Model>::Meaning, <M as Model>::Edit>;

/// A call.
#[derive(Clone, Debug)]
pub struct Call<Meaning> {
    /// The tool's name.
    pub tool: String,
    /// Strings may hold the placeholders of a case.
    pub arguments: Value,
    /// What the model knows of the arguments because it made them.
    pub meaning: Meaning,
}

/// What a toolset does, said a second time.
pub trait Model: Clone {
    /// The toolset that it is the model of.
    const TOOLSET: &'static str;

    /// What a person may do to the toolset's files. It has to mean something in every state, if
    /// only nothing: a sequence is shortened by leaving out steps.
    type Edit: Clone + Debug;

    /// What it knows of a call's arguments without reading them, such as what a text consists of.
    type Meaning: Clone + Debug;

    /// The model of an empty repository, which calls these tools alone: those that are listed.
    fn new(tools: &[String]) -> Self;

    /// What could happen next. `today` is the local date of a call that came now.
    fn next(&self, random: &mut Random, today: &str) -> StepOf<Self>;

    /// Makes a call: what it has to answer.
    fn call(&mut self, call: &Call<Self::Meaning>, today: &str) -> Expected;

    /// Makes a person's edit.
    fn edit(&mut self, edit: &Self::Edit);

    /// All that the tree holds now. What an edit changes in it is written to the host's.
    fn documents(&self) -> Documents;
}
