//! The part of `resume_memory` that comes from an agent's summary and its last logs.

use std::cmp::Reverse;

use super::agent::{Agent, MAX_PARSED_BYTES, agent_names, open_tree};
use super::error::Error;
use super::open_items::{OpenItems, items};
use super::search::owner;
use crate::names::AgentName;
use crate::resume::{Item, Part, Parts, Rank};
use crate::source::Owner;
use crate::time::Date;
use crate::tool::{Call, Checked, Resume, ToolError};

/// The maximum number of repositories that one call reads.
const MAX_REPOSITORIES: usize = 20;

/// The call looks for the agent that worked last. It lists the logs of at most `MAX_AGENTS` agents,
/// and reads the documents of at most `MAX_READ_AGENTS` until one has something to report.
const MAX_AGENTS: usize = 50;
const MAX_READ_AGENTS: usize = 5;

/// The reading of an agent's logs ends after `MAX_LOGS` logs with items in the reported sections,
/// after `MAX_READ` logs in all, or after `MAX_BYTES` bytes. A client waits for this when a session
/// begins.
const MAX_LOGS: usize = 20;
const MAX_READ: usize = 100;
const MAX_BYTES: usize = 256 << 10;

const DECISIONS: &str = "Decisions";
const OPEN_QUESTIONS: &str = "Open Questions";
const NEXT_ACTIONS: &str = "Next Actions";

/// The sections of the default schema with which an agent continues its work.
const TO_GO_ON: [&str; 3] = [DECISIONS, OPEN_QUESTIONS, NEXT_ACTIONS];

pub(super) const RESUME: Resume =
    Resume { toolset: "sessions", first_tool: "start_session", collect };

/// Adds the parts of the repository that the call names, or of all repositories that are granted by
/// their top levels.
fn collect(call: &Call<'_>, parts: &mut Parts<'_>) -> Checked<()> {
    let roots = match parts.repo_root {
        Some(root) => vec![root.to_owned()],
        None => call.storage.list_repositories().map_err(Error::from)?,
    };
    for root in roots.iter().take(MAX_REPOSITORIES) {
        if let Err(error) = add_repository(call, root, parts) {
            let message = error.refusal().message;
            parts.warn(format!("the logs in `{root}` were not read: {message}"));
        }
    }
    if roots.len() > MAX_REPOSITORIES {
        let more = roots.len() - MAX_REPOSITORIES;
        parts.warn(format!("{more} more repositories were not read: name one with `repo_root`"));
    }
    Ok(())
}

fn add_repository(call: &Call<'_>, root: &str, parts: &mut Parts<'_>) -> Result<(), Error> {
    let names = agent_names(call, &*open_tree(call, Some(root))?)?;
    let mut last = Ok(None);
    let chosen = parts.agent_among(&names, || {
        last = last_at_work(call, root, &names);
        last.as_ref().ok()?.as_ref().map(|(name, _)| name.as_str().to_owned())
    });
    let told = match (last?, chosen) {
        (Some((_, told)), _) => told,
        (None, Some(name)) => Told::new(call, root, &name)?,
        (None, None) => return Ok(()),
    };
    told.warnings.into_iter().for_each(|warning| parts.warn(warning));
    told.parts.into_iter().for_each(|part| parts.add(part));
    Ok(())
}

/// Returns the agent with the latest log, of the agents with something to report. If none has
/// anything to report, returns the agent with the latest log of all. Among logs of the same day,
/// the first agent in byte order counts.
fn last_at_work(
    call: &Call<'_>,
    root: &str,
    names: &[String],
) -> Result<Option<(AgentName, Told)>, Error> {
    let mut last = Vec::new();
    for name in names.iter().take(MAX_AGENTS) {
        let Some(agent) = AgentName::parse(name) else { continue };
        let date = Agent::open(call, Some(root), &agent)?.sessions()?.pop();
        last.extend(date.map(|date| (Reverse(date), name, agent)));
    }
    last.sort_unstable_by_key(|(date, name, _)| (*date, *name));
    let mut first = None;
    for (_, _, agent) in last.into_iter().take(MAX_READ_AGENTS) {
        let told = Told::new(call, root, &agent)?;
        if !told.is_empty() {
            return Ok(Some((agent, told)));
        }
        first.get_or_insert((agent, told));
    }
    Ok(first)
}

/// The parts of one agent in a repository.
#[derive(Default)]
struct Told {
    parts: Vec<Part>,
    /// Warnings, for example about documents that could not be read.
    warnings: Vec<String>,
}

impl Told {
    fn new(call: &Call<'_>, root: &str, name: &AgentName) -> Result<Self, Error> {
        let mut told = Self::default();
        let agent = Agent::open(call, Some(root), name)?;
        let owner = owner(root, agent.name);
        let summary = agent.summary(MAX_PARSED_BYTES).unwrap_or_else(|error| {
            let message = error.refusal().message;
            told.warnings.push(format!("the summary in `{root}` was not read: {message}"));
            None
        });
        if let Some(summary) = summary {
            let items = items(&summary.text, false);
            told.parts.push(Part {
                title: "Summary".to_owned(),
                owner: owner.clone(),
                rank: Rank::Summary,
                items: items.iter().map(|item| item.text_with_section().into()).collect(),
                read: call.listed("sessions", "read_summary"),
                ..Part::default()
            });
        }
        add_last_logs(call, &agent, &owner, &mut told)?;
        Ok(told)
    }

    fn is_empty(&self) -> bool {
        self.warnings.is_empty() && self.parts.iter().all(|part| part.items.is_empty())
    }
}

/// Adds one part for each section that [`to_go_on`] returns, with the open items of all the last
/// logs.
fn add_last_logs(
    call: &Call<'_>,
    agent: &Agent<'_>,
    owner: &Owner,
    told: &mut Told,
) -> Result<(), Error> {
    let sections = match agent.schema() {
        Ok(effective) => to_go_on(effective.schema.sections),
        Err(error) => {
            told.warnings.push(error.refusal().message);
            TO_GO_ON.map(str::to_owned).to_vec()
        }
    };
    let mut sections: Vec<Section> = sections.into_iter().map(Section::new).collect();
    let dates = agent.sessions()?;
    let mut read = 0;
    let mut with_items = 0;
    let mut bytes = 0;
    for date in dates.iter().rev().take(MAX_READ) {
        if bytes >= MAX_BYTES || with_items == MAX_LOGS {
            break;
        }
        read += 1;
        match agent.log(*date) {
            Ok(Some(log)) => {
                bytes += log.text.len();
                with_items += usize::from(add_log(*date, &log.text, &mut sections));
            }
            Ok(None) => {}
            Err(error) => {
                let message = error.refusal().message;
                told.warnings.push(format!("the log of {date} was not read: {message}"));
            }
        }
    }
    let counted_in = (read < dates.len()).then(|| match read {
        1 => "the last log".to_owned(),
        _ => format!("the last {read} logs"),
    });
    if let Some(logs) = counted_in.as_ref().filter(|_| sections.iter().all(Section::is_empty)) {
        let agent = owner.agent.as_deref().unwrap_or_default();
        let list = call.listed("sessions", "list_sessions");
        told.warnings.push(format!(
            "agent `{agent}` has nothing to go on with in {logs}, and older ones were not read: \
             `{list}` lists them"
        ));
    }
    for section in sections {
        told.parts.push(Part {
            rank: section.rank(),
            items: section.items(),
            title: section.name,
            owner: owner.clone(),
            is_reversed: true,
            counted_in: counted_in.clone(),
            read: call.listed("sessions", "read_session"),
            ..Part::default()
        });
    }
    Ok(())
}

/// Adds the items of a log to their sections. Returns whether the log has such items. Call this for
/// the newest log first.
fn add_log(date: Date, text: &str, sections: &mut [Section]) -> bool {
    let mut has_items = false;
    for item in items(text, true).into_iter().rev() {
        let of_item = |section: &&mut Section| item.section.as_deref() == Some(&section.name);
        let Some(section) = sections.iter_mut().find(of_item) else { continue };
        has_items = true;
        section.told.extend(section.open.open(item).map(|item| (date, item.text())));
    }
    has_items
}

/// A section, with its items in all logs that are read.
struct Section {
    name: String,
    open: OpenItems,
    /// The open items, the newest first, each with the day of its log.
    told: Vec<(Date, String)>,
}

impl Section {
    fn new(name: String) -> Self {
        let open = OpenItems::new(name == DECISIONS);
        Self { name, open, told: Vec::new() }
    }

    fn rank(&self) -> Rank {
        match &*self.name {
            NEXT_ACTIONS => Rank::NextActions,
            OPEN_QUESTIONS => Rank::OpenQuestions,
            _ => Rank::Decisions,
        }
    }

    fn is_empty(&self) -> bool {
        self.told.is_empty()
    }

    /// Returns the open items. If they come from several days, each text begins with its day.
    fn items(&self) -> Vec<Item> {
        let mut days = self.told.iter().map(|(day, _)| day);
        let first = days.next();
        let has_several = days.any(|day| Some(day) != first);
        let item = |(day, text): &(Date, String)| {
            let text = if has_several { format!("{day}: {text}") } else { text.clone() };
            Item { text, day: Some(*day) }
        };
        self.told.iter().map(item).collect()
    }
}

/// Returns the sections of [`TO_GO_ON`] that `sections` has, or all `sections` if it has none of
/// them.
fn to_go_on(mut sections: Vec<String>) -> Vec<String> {
    let is_known = |section: &String| TO_GO_ON.contains(&section.as_str());
    if sections.iter().any(is_known) {
        sections.retain(is_known);
    }
    sections
}
