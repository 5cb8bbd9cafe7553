//! The part of a resumption that comes from the summary and the last log of an agent.

use std::rc::Rc;

use super::agent::{Agent, MAX_PARSED_BYTES, agent_names, open_tree};
use super::error::Error;
use super::search::{Block, blocks, owner};
use crate::names::AgentName;
use crate::resume::{Part, Parts};
use crate::source::Owner;
use crate::time::Date;
use crate::tool::{Call, Checked, Resume, ToolError};

/// The most repositories that are read.
const MAX_REPOSITORIES: usize = 20;

/// The most agents of a repository whose logs are listed to find the last log of all.
const MAX_AGENTS: usize = 50;

/// The most logs that are read until one has an entry to go on with.
const MAX_LOGS: usize = 5;

/// The sections of the default schema to go on with.
const TO_GO_ON: [&str; 3] = ["Decisions", "Open Questions", "Next Actions"];

pub(super) const RESUME: Resume =
    Resume { toolset: "sessions", first_tool: "start_session", collect };

/// Adds the parts of one repository or of all that are granted by their top levels.
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
    let mut failed = Ok(());
    let chosen = parts.agent_among(&names, || {
        with_last_log(call, root, &names).unwrap_or_else(|error| {
            failed = Err(error);
            None
        })
    });
    failed?;
    let Some(name) = chosen else { return Ok(()) };
    let agent = Agent::open(call, Some(root), &name)?;
    let owner = owner(root, agent.name);
    let summary = agent.summary(MAX_PARSED_BYTES).unwrap_or_else(|error| {
        parts.warn(format!("the summary in `{root}` was not read: {}", error.refusal().message));
        None
    });
    if let Some(summary) = summary {
        let items = items(&summary.text, false).into_iter();
        parts.add(Part {
            title: "Summary".to_owned(),
            owner: owner.clone(),
            items: items.map(|item| item.text).collect(),
            read: call.listed("sessions", "read_summary"),
            ..Part::default()
        });
    }
    add_last_log(call, &agent, &owner, parts)
}

/// The agent with the last log; the first one in byte order among equals.
fn with_last_log(call: &Call<'_>, root: &str, names: &[String]) -> Result<Option<String>, Error> {
    let mut last: Option<(Date, &str)> = None;
    for name in names.iter().take(MAX_AGENTS) {
        let Some(agent) = AgentName::parse(name) else { continue };
        let date = Agent::open(call, Some(root), &agent)?.sessions()?.pop();
        last = match (date, last) {
            (Some(date), Some((before, _))) if date <= before => last,
            (Some(date), _) => Some((date, name)),
            (None, last) => last,
        };
    }
    Ok(last.map(|(_, name)| name.to_owned()))
}

/// Adds the sections to go on with of the last log that has an entry in one of them.
fn add_last_log(
    call: &Call<'_>,
    agent: &Agent<'_>,
    owner: &Owner,
    parts: &mut Parts<'_>,
) -> Result<(), Error> {
    let sections = match agent.schema() {
        Ok(effective) => to_go_on(effective.schema.sections),
        Err(error) => {
            parts.warn(error.refusal().message);
            TO_GO_ON.map(str::to_owned).to_vec()
        }
    };
    for date in agent.sessions()?.into_iter().rev().take(MAX_LOGS) {
        let text = match agent.log(date) {
            Ok(Some(log)) => log.text,
            Ok(None) => continue,
            Err(error) => {
                let message = error.refusal().message;
                parts.warn(format!("the log of {date} was not read: {message}"));
                continue;
            }
        };
        let all = items(&text, true);
        let mut has_entry = false;
        for section in &sections {
            let of_section = all.iter().filter(|item| item.section.as_deref() == Some(section));
            // The last entry of a log is the newest.
            let items: Vec<String> = of_section.rev().map(|item| item.text.clone()).collect();
            has_entry |= !items.is_empty();
            parts.add(Part {
                title: format!("{section} of {date}"),
                owner: owner.clone(),
                items,
                is_reversed: true,
                read: call.listed("sessions", "read_session"),
                ..Part::default()
            });
        }
        if has_entry {
            break;
        }
    }
    Ok(())
}

/// The sections to go on with: those of the default schema, or all if a team's schema has none of
/// these.
fn to_go_on(mut sections: Vec<String>) -> Vec<String> {
    let is_known = |section: &String| TO_GO_ON.contains(&section.as_str());
    if sections.iter().any(is_known) {
        sections.retain(is_known);
    }
    sections
}

/// An item of a document.
struct Item {
    section: Option<Rc<str>>,
    /// With the headings that it stands below, except the section of a log.
    text: String,
}

/// The items of a document. A list belongs to the paragraph before it if that ends with a colon: its
/// items alone could say the opposite.
fn items(text: &str, is_log: bool) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    // The headings of the last item, and whether a list goes on in it.
    let mut last: Option<(Option<Rc<str>>, Rc<str>)> = None;
    let mut leads = false;
    for Block { section, heading, text, .. } in blocks(text, is_log) {
        let text = text.trim();
        let place = (section.clone(), heading.clone());
        let listed = ["- ", "* ", "+ "].iter().find_map(|mark| text.strip_prefix(mark));
        let belongs = leads && last.as_ref() == Some(&place);
        match (listed, items.last_mut()) {
            (Some(_), Some(item)) if belongs => {
                item.text.push('\n');
                item.text += text;
            }
            _ => {
                leads = listed.is_none() && text.ends_with([':', '：']);
                let section_told = section.as_deref().filter(|_| !is_log);
                let headings = section_told.into_iter().chain([&*heading]);
                let headings: Vec<&str> = headings.filter(|text| !text.is_empty()).collect();
                let text = listed.unwrap_or(text);
                let text = if headings.is_empty() {
                    text.to_owned()
                } else {
                    format!("{}: {text}", headings.join(", "))
                };
                items.push(Item { section, text });
                last = Some(place);
            }
        }
    }
    items
}
