//! The entries of logs and summaries, as entries of a search.

use super::agent::{agent_names, in_repository, open_tree};
use super::error::Error;
use super::log::log_date;
use crate::markdown::{BlockKind, Outline, items};
use crate::source::{Entries, Entry, Owner, ReadArguments, ReadCall};
use crate::storage::{Area, EntryKind, ErrorCode, MAX_DOCUMENT_BYTES, Tree};
use crate::time::{Date, Timestamp};
use crate::tool::{Call, Checked};

/// Adds the logs and summaries of one repository or of all that are granted by their top levels.
pub(super) fn collect(call: &Call<'_>, entries: &mut Entries<'_>) -> Checked<()> {
    if let Some(root) = &entries.request.repo_root {
        return Ok(add_repository(call, root, entries)?);
    }
    let roots = call.storage.list_repositories().map_err(Error::from)?;
    if roots.is_empty() {
        entries.warn(
            "no session log was searched, since no repository is granted by its top level: pass \
             `repo_root`"
                .to_owned(),
        );
    }
    for root in roots {
        add_repository(call, &root, entries)?;
    }
    Ok(())
}

fn add_repository(call: &Call<'_>, root: &str, entries: &mut Entries<'_>) -> Result<(), Error> {
    let tree = open_tree(call, Some(root))?;
    for name in agent_names(call, &*tree)? {
        let owner = Owner {
            toolset: "sessions",
            repo_root: Some(root.to_owned()),
            agent: Some(name.clone()),
            ..Owner::default()
        };
        if !entries.request.is_for(&name) {
            entries.leave_out(owner);
            continue;
        }
        entries.begin(owner);
        let source = Source { call, tree: &*tree, root, agent: &name };
        for document in source.documents()? {
            source.add(&document, entries)?;
        }
    }
    Ok(())
}

/// The documents of one agent.
struct Source<'a> {
    call: &'a Call<'a>,
    tree: &'a dyn Tree,
    root: &'a str,
    agent: &'a str,
}

/// A log or, without a date, the summary.
struct Document {
    path: String,
    date: Option<Date>,
}

impl Source<'_> {
    /// The summary and the logs, the oldest first.
    fn documents(&self) -> Result<Vec<Document>, Error> {
        let logs = format!("{}/logs", self.agent);
        let files = self.tree.list(Area::Documents, &logs)?.unwrap_or_default();
        let dates = files.iter().filter(|entry| entry.status.kind == EntryKind::File);
        let dates = dates.filter_map(|entry| log_date(&entry.name)).map(Some);
        let document = |date: Option<Date>| Document {
            path: match date {
                Some(date) => format!("{logs}/{date}.md"),
                None => format!("{}/_summary.md", self.agent),
            },
            date,
        };
        Ok([None].into_iter().chain(dates).map(document).collect())
    }

    /// Adds the entries of a document. Those of one section belong together.
    fn add(&self, document: &Document, entries: &mut Entries<'_>) -> Result<(), Error> {
        let read = self.tree.read(Area::Documents, &document.path, MAX_DOCUMENT_BYTES);
        let text = match read {
            Ok(None) => return Ok(()),
            Ok(Some(document)) => String::from_utf8(document.contents).map_err(|_| "is not UTF-8"),
            Err(error) => match error.code {
                ErrorCode::TooLarge => Err("is longer than 16 MiB"),
                ErrorCode::InvalidPath | ErrorCode::Permission => Err("cannot be read"),
                _ => return Err(error.into()),
            },
        };
        let text = match text {
            Ok(text) => text,
            Err(what) => {
                entries.warn(format!("`{}` {what}", in_repository(&document.path)));
                return Ok(());
            }
        };
        let outline = Outline::of(&text);
        let (mut section, mut heading) = (None, String::new());
        // The characters before a block, counted on from the block before.
        let (mut at, mut from) = (0, 0);
        entries.begin_run();
        for block in &outline.blocks {
            match &block.kind {
                BlockKind::Heading { level: 1 | 2, text } => {
                    entries.begin_run();
                    (section, heading) = (Some(text.trim().to_owned()), String::new());
                }
                BlockKind::Heading { text, .. } => text.clone_into(&mut heading),
                _ if document.date.is_some() && section.as_deref().is_none_or(is_header) => {}
                _ => {
                    from += text[at..block.range.start].chars().count();
                    at = block.range.start;
                    for item in items(&outline, block) {
                        let entry = self.entry(document, section.as_deref(), &heading, item, from);
                        entries.add(entry);
                    }
                }
            }
        }
        Ok(())
    }

    /// An entry. The block that holds it begins after `from` characters.
    fn entry(
        &self,
        document: &Document,
        section: Option<&str>,
        heading: &str,
        text: &str,
        from: usize,
    ) -> Entry {
        let tool = if document.date.is_some() { "read_session" } else { "read_summary" };
        let arguments = ReadArguments {
            agent_name: Some(self.agent.to_owned()),
            repo_root: Some(self.root.to_owned()),
            date: document.date.map(|date| date.to_string()),
            from: document.date.map(|_| from).filter(|from| *from > 0),
            ..ReadArguments::default()
        };
        let offset = self.call.context.utc_offset_minutes;
        let midnight = |day| Timestamp::of_day(day, "00:00:00", offset);
        Entry {
            id: None,
            path: Some(in_repository(&document.path)),
            section: section.map(str::to_owned),
            created_at: document.date.and_then(midnight),
            day: document.date,
            text: text.to_owned(),
            about: format!("{} {heading}", section.unwrap_or_default()),
            importance: 0,
            is_archived: false,
            read: Some(ReadCall { tool: self.call.listed("sessions", tool), arguments }),
        }
    }
}

/// Whether it is the section with the agent and the date.
fn is_header(section: &str) -> bool {
    section == super::schema::HEADER
}
