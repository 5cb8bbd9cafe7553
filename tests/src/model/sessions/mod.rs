//! The model of `sessions`: for each agent a schema, a summary and logs, as values.

mod answers;
mod arguments;
mod calls;
mod files;
mod person;

use std::collections::BTreeMap;

use agent_memory_conformance::case::Documents;
use files::{Log, Schema, Summary};
pub use person::Edit;

use super::expected::Expected;
use super::text::Text;
use super::{Call, Model, StepOf};
use crate::random::Random;

/// The agents of a repository, and other files in the tree.
#[derive(Clone, Debug)]
pub struct Sessions {
    tools: Vec<String>,
    agents: BTreeMap<String, Agent>,
    strays: Documents,
}

#[derive(Clone, Debug, Default)]
struct Agent {
    schema: Option<Schema>,
    summary: Option<Summary>,
    /// By date.
    logs: BTreeMap<String, Log>,
}

impl Model for Sessions {
    const TOOLSET: &'static str = "sessions";

    type Edit = Edit;
    /// The call's `content`.
    type Meaning = Text;

    fn new(tools: &[String]) -> Self {
        Self { tools: tools.to_vec(), agents: BTreeMap::new(), strays: Documents::new() }
    }

    fn next(&self, random: &mut Random, today: &str) -> StepOf<Self> {
        match random.below(5) {
            0 => StepOf::<Self>::Edit(self.any_edit(random, today)),
            _ => StepOf::<Self>::Call(self.any_call(random, today)),
        }
    }

    fn call(&mut self, call: &Call<Text>, today: &str) -> Expected {
        self.answer(call, today)
    }

    fn edit(&mut self, edit: &Edit) {
        self.apply(edit);
    }

    fn documents(&self) -> Documents {
        let mut documents = self.strays.clone();
        for (name, agent) in &self.agents {
            let mut put = |path: &str, contents: Vec<u8>| {
                documents.insert(format!("{name}/{path}"), contents);
            };
            if let Some(schema) = &agent.schema {
                put("_schema.md", schema.render());
            }
            if let Some(summary) = &agent.summary {
                put("_summary.md", summary.render());
            }
            for (date, log) in &agent.logs {
                put(&format!("logs/{date}.md"), log.render(name, date));
            }
        }
        documents
    }
}
