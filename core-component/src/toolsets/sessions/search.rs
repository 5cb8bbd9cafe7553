//! The logs and summaries of agents, as entries of a search.

use std::rc::Rc;

use super::agent::{Agents, MAX_PARSED_BYTES, agents, in_repository, in_tree, open_tree};
use super::error::Error;
use super::log::log_date;
use crate::budget::{Budget, OF_DOCUMENT, OF_ENTRY, OF_INDEXED};
use crate::index::{self, DocumentIndex, Facts, Written, number_of};
use crate::markdown::{BlockKind, Outline, items};
use crate::ranking::cost;
use crate::source::{
    Collector, Entry, OwnedCollection, Owner, ReadArguments, ReadCall, ReadEntries, read_paths,
};
use crate::storage::{self, Area, EntryKind, ErrorCode, Place, Status, Tree};
use crate::time::{Date, Timestamp};
use crate::tool::{Call, Checked, Source, ToolError};
use crate::vectors;

/// Why a link or a directory in the place of a document is not read. Messages put this after the
/// path.
pub(super) const NO_FILE: &str =
    "is a link or no file, and was not searched: put the file itself there";

/// Why no log is read if a link or a file is in the place of an agent's directory. Messages put
/// this after the path.
pub(super) const NO_DIRECTORY: &str =
    "is a link or a file, and was not searched: put the directory of the agent there";

/// The most characters of a heading that a search uses.
const MAX_HEADING: usize = 200;

pub(super) const SOURCE: Source = Source {
    toolset: "sessions",
    keeps_by_agent: true,
    collect,
    read: |call, owner, keys| Ok(read_paths(keys, |path| read(call, owner, path))?),
    collections,
};

/// The collections of the index: one for each agent that the caller may use, in each repository
/// that is granted by its top level. A repository that cannot be read has none.
fn collections(call: &Call<'_>) -> Checked<Vec<OwnedCollection>> {
    let mut collections = Vec::new();
    for root in call.storage.list_repositories().map_err(Error::from)? {
        let names = open_tree(call, Some(&root)).and_then(|tree| agents(call, &*tree));
        collections.extend(names.into_iter().flat_map(|of| of.names).map(|name| OwnedCollection {
            owner: owner(&root, &name),
            place: Place::repository(&root),
            name,
        }));
    }
    Ok(collections)
}

/// Adds the logs and summaries of one repository, or of all that are granted by their top levels.
fn collect(call: &Call<'_>, collector: &mut Collector<'_>) -> Checked<()> {
    if let Some(root) = &collector.request.repo_root {
        return Ok(add_repository(call, root, collector)?);
    }
    let roots = call.storage.list_repositories().map_err(Error::from)?;
    if roots.is_empty() {
        collector.warn(
            "no session log was searched, since no repository is granted by its top level: pass \
             `repo_root`"
                .to_owned(),
        );
    }
    let work = &collector.request.budget;
    let count = roots.len();
    let whole = work.reserve();
    for (at, root) in roots.into_iter().enumerate() {
        work.begin(whole, count - at);
        if !work.take(OF_DOCUMENT) {
            let owner = Owner::new("sessions").with_repository(&root);
            collector.skip(owner, "all logs");
            continue;
        }
        if let Err(error) = add_repository(call, &root, collector) {
            let message = error.refusal().message;
            collector.warn(format!("the logs in `{root}` were not searched: {message}"));
        }
    }
    Ok(())
}

fn add_repository(call: &Call<'_>, root: &str, collector: &mut Collector<'_>) -> Result<(), Error> {
    let tree = open_tree(call, Some(root))?;
    let Agents { names, others } = agents(call, &*tree)?;
    for name in others.iter().filter(|name| collector.request.is_for(&owner(root, name))) {
        collector.warn(format!("`{}` {NO_DIRECTORY}", in_repository(name)));
    }
    let request = collector.request;
    let whole = request.budget.reserve();
    let mut to_come = names.iter().filter(|name| request.is_for(&owner(root, name))).count();
    for name in &names {
        let owner = owner(root, name);
        if !request.is_for(&owner) {
            collector.leave_out(owner);
            continue;
        }
        request.budget.begin(whole, to_come);
        to_come -= 1;
        collector.begin(owner.clone());
        let agent = Agent { call, tree: &*tree, root, name };
        match agent.add_documents(collector) {
            Ok(skipped) => collector.skip_some(owner, skipped, "document", "documents"),
            Err(error) => {
                let message = error.refusal().message;
                collector.warn(format!("not all logs of agent `{name}` were searched: {message}"));
            }
        }
    }
    if call.context.agents.is_none() {
        let place = Place::repository(root);
        let names = names.iter().map(String::as_str).collect();
        index::keep(call.storage, &place, &names);
        if request.vectors.is_collecting() {
            let _ = vectors::keep(call.storage, &place, &names);
        }
    }
    Ok(())
}

pub(super) fn owner(root: &str, agent: &str) -> Owner {
    Owner::new("sessions").with_repository(root).with_agent(agent)
}

/// Reads the entries of a document again, by its path. `None` if the document cannot be read.
fn read(call: &Call<'_>, owner: &Owner, path: &str) -> Result<Option<ReadEntries>, Error> {
    let Owner { repo_root: Some(root), agent: Some(name), .. } = owner else { return Ok(None) };
    let path = in_tree(path);
    let date = path.rsplit_once('/').and_then(|(_, name)| log_date(name));
    let tree = open_tree(call, Some(root))?;
    let agent = Agent { call, tree: &*tree, root, name };
    let log = Document { path: path.to_owned(), date };
    let Ok(Some(text)) = agent.text(&log)? else { return Ok(None) };
    let entries = blocks(&text.text, log.date.is_some()).into_iter();
    let entries = entries.map(|block| agent.entry(&log, block)).collect();
    Ok(Some(ReadEntries { version: number_of(&text.version), entries }))
}

/// The documents of one agent.
struct Agent<'a> {
    call: &'a Call<'a>,
    tree: &'a dyn Tree,
    root: &'a str,
    name: &'a str,
}

/// A log or, without a date, the summary.
struct Document {
    path: String,
    date: Option<Date>,
}

/// The outcome of a search in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Added {
    /// The document was searched, or does not exist, or the answer has a warning about it.
    Done,
    /// The search had too little work left for the document.
    Skipped,
}

/// The contents of a document.
struct Text {
    text: String,
    version: String,
}

impl Agent<'_> {
    /// Adds the summary and the logs, the newest log first. Returns how many documents were skipped
    /// because the work of the search was used up.
    fn add_documents(&self, collector: &mut Collector<'_>) -> Result<u64, Error> {
        let request = collector.request;
        let place = Place::repository(self.root);
        let mut index =
            DocumentIndex::open(self.call.storage, place, self.name, request.for_index());
        let mut skipped = u64::from(self.add_summary(collector, &mut index)? == Added::Skipped);
        for (log, status) in self.logs(collector)?.iter().rev() {
            let added = self.add_log(log, status, collector, &mut index)?;
            skipped += u64::from(added == Added::Skipped);
        }
        index.update(true);
        Ok(skipped)
    }

    /// Lists the logs, the oldest first.
    fn logs(&self, collector: &mut Collector<'_>) -> Result<Vec<(Document, Status)>, Error> {
        let logs = format!("{}/logs", self.name);
        let files = match self.tree.list(Area::Documents, &logs) {
            Err(error) if error.code == ErrorCode::InvalidPath => {
                collector.warn(format!("`{}` is no directory", in_repository(&logs)));
                None
            }
            listed => listed?,
        };
        let mut found = Vec::new();
        for entry in files.unwrap_or_default() {
            let Some(date) = log_date(&entry.name) else { continue };
            let path = format!("{logs}/{date}.md");
            match entry.status.kind {
                EntryKind::File => found.push((Document { path, date: Some(date) }, entry.status)),
                _ => collector.warn(format!("`{}` {NO_FILE}", in_repository(&path))),
            }
        }
        Ok(found)
    }

    fn add_summary(
        &self,
        collector: &mut Collector<'_>,
        index: &mut DocumentIndex<'_>,
    ) -> Result<Added, Error> {
        let summary = Document { path: format!("{}/_summary.md", self.name), date: None };
        let text = self.text(&summary)?;
        if !matches!(text, Ok(None)) {
            index.see(&summary.path);
        }
        let Some(Text { text, version }) = self.or_warning(&summary, text, collector) else {
            return Ok(Added::Done);
        };
        let Some((blocks, _)) = affordable(&text, false, &collector.request.budget) else {
            return Ok(Added::Skipped);
        };
        let texts = blocks.iter().map(|block| block.text);
        index.note(&summary.path, &version, texts);
        self.add(&summary, blocks, index, collector);
        Ok(Added::Done)
    }

    /// Adds the entries of a log. Takes them from the index if the index knows the log.
    fn add_log(
        &self,
        log: &Document,
        status: &Status,
        collector: &mut Collector<'_>,
        index: &mut DocumentIndex<'_>,
    ) -> Result<Added, Error> {
        let work = &collector.request.budget;
        if let Some(known) = index.find(&log.path, status) {
            if !work.take(OF_INDEXED) {
                return Ok(Added::Skipped);
            }
            collector.begin_run();
            collector.add_known(in_repository(&log.path), index, known);
            return Ok(Added::Done);
        }
        // Searching a text takes at least as much work as the text has bytes.
        if OF_DOCUMENT + status.size > work.left() {
            return Ok(Added::Skipped);
        }
        let Some(Text { text, version }) = self.text_or_warning(log, collector)? else {
            return Ok(Added::Done);
        };
        let Some((blocks, of_blocks)) = affordable(&text, true, work) else {
            return Ok(Added::Skipped);
        };
        let document = index::Document {
            key: &log.path,
            stamp: &status.stamp,
            version: &version,
            facts: Facts { written: log.date.map(Written::On), ..Facts::default() },
            work: of_blocks,
        };
        let abouts: Vec<String> = blocks.iter().map(Block::about).collect();
        let indexed = blocks.iter().zip(&abouts).map(|(block, about)| index::Entry {
            texts: vec![about, block.text],
            begins_run: block.begins_run,
        });
        index.add(&document, indexed);
        self.add(log, blocks, index, collector);
        Ok(Added::Done)
    }

    fn add(
        &self,
        document: &Document,
        blocks: Vec<Block<'_>>,
        index: &DocumentIndex<'_>,
        collector: &mut Collector<'_>,
    ) {
        collector.begin_run();
        for block in blocks {
            if block.begins_run {
                collector.begin_run();
            }
            collector.add_read(self.entry(document, block), index);
        }
    }

    /// Reads a document. `None` if it does not exist, or if it cannot be searched, of which a
    /// warning is added.
    fn text_or_warning(
        &self,
        document: &Document,
        collector: &mut Collector<'_>,
    ) -> Result<Option<Text>, Error> {
        let text = self.text(document)?;
        Ok(self.or_warning(document, text, collector))
    }

    fn or_warning(
        &self,
        document: &Document,
        text: Result<Option<Text>, &'static str>,
        collector: &mut Collector<'_>,
    ) -> Option<Text> {
        text.unwrap_or_else(|what| {
            collector.warn(format!("`{}` {what}", in_repository(&document.path)));
            None
        })
    }

    /// Reads a document. `None` if it does not exist. The inner error says why it cannot be
    /// searched.
    fn text(&self, document: &Document) -> Result<Result<Option<Text>, &'static str>, Error> {
        let read = self.tree.read(Area::Documents, &document.path, MAX_PARSED_BYTES);
        Ok(match read {
            Ok(None) => Ok(None),
            Ok(Some(storage::Document { contents, version })) => {
                match String::from_utf8(contents) {
                    Ok(text) => Ok(Some(Text { text, version })),
                    Err(_) => Err("is not UTF-8"),
                }
            }
            Err(error) => match error.code {
                ErrorCode::TooLarge => Err("is longer than 2 MiB"),
                ErrorCode::InvalidPath | ErrorCode::Permission => Err("cannot be read"),
                _ => return Err(error.into()),
            },
        })
    }

    fn midnight(&self, document: &Document) -> Option<Timestamp> {
        document.date.map(|day| self.call.context.zone.start_of(day))
    }

    fn entry(&self, document: &Document, block: Block<'_>) -> Entry {
        let tool = if document.date.is_some() { "read_session" } else { "read_summary" };
        let arguments = ReadArguments {
            agent_name: Some(self.name.to_owned()),
            repo_root: Some(self.root.to_owned()),
            date: document.date.map(|date| date.to_string()),
            from: document.date.map(|_| block.from).filter(|from| *from > 0),
            ..ReadArguments::default()
        };
        Entry {
            path: Some(in_repository(&document.path)),
            created_at: self.midnight(document),
            day: document.date,
            text: block.text.to_owned(),
            about: block.about(),
            section: block.section.as_deref().map(str::to_owned),
            read: Some(ReadCall { tool: self.call.listed("sessions", tool), arguments }),
            ..Entry::default()
        }
    }
}

/// A block of a document, or an item of a list.
pub(super) struct Block<'t> {
    pub section: Option<Rc<str>>,
    /// The nearest heading above the block and below the heading of the section. Empty if there is
    /// none.
    pub heading: Rc<str>,
    pub text: &'t str,
    /// Whether the block is the first of its section. The blocks of a section belong together.
    begins_run: bool,
    /// The number of characters of the document before the block. For an item of a list, before the
    /// whole list.
    from: usize,
}

impl Block<'_> {
    /// The headings of the block. Words in them find the block, too.
    fn about(&self) -> String {
        format!("{} {}", self.section.as_deref().unwrap_or_default(), self.heading)
    }
}

/// The blocks of a document, and the work to search them. `None` if the search has too little work
/// left. Each block is priced by itself: a dash in the title of a log does not make the blocks more
/// expensive.
fn affordable<'t>(text: &'t str, is_log: bool, work: &Budget) -> Option<(Vec<Block<'t>>, u64)> {
    if !work.take(OF_DOCUMENT + text.len() as u64) {
        return None;
    }
    let blocks = blocks(text, is_log);
    let of_block = |block: &Block<'_>| OF_ENTRY + cost(block.text) + cost(&block.about());
    let of_blocks = blocks.iter().map(of_block).sum();
    work.take(of_blocks).then_some((blocks, OF_ENTRY + of_blocks))
}

/// The blocks of a document, without the headings and without a log's header. The index refers to
/// the blocks by their order, so a change of this division needs another version of the index.
pub(super) fn blocks(text: &str, is_log: bool) -> Vec<Block<'_>> {
    let outline = Outline::parse(text);
    let mut blocks = Vec::new();
    let mut section: Option<Rc<str>> = None;
    let mut heading: Rc<str> = Rc::default();
    let mut begins_run = true;
    // The number of characters before a block, counted on from the block before.
    let mut at = 0;
    let mut from = 0;
    for block in &outline.blocks {
        match &block.kind {
            BlockKind::Heading { level: 1 | 2, text } => {
                begins_run = true;
                (section, heading) = (Some(beginning(text)), Rc::default());
            }
            BlockKind::Heading { text, .. } => heading = beginning(text),
            _ if is_log && section.as_deref().is_some_and(is_header) => {}
            _ => {
                from += text[at..block.range.start].chars().count();
                at = block.range.start;
                for item in items(&outline, block) {
                    let section = section.clone();
                    let heading = heading.clone();
                    let begins_run = std::mem::take(&mut begins_run);
                    blocks.push(Block { section, heading, text: item, begins_run, from });
                }
            }
        }
    }
    blocks
}

/// The beginning of a heading, by which each block below it is found.
fn beginning(heading: &str) -> Rc<str> {
    heading.trim().chars().take(MAX_HEADING).collect::<String>().into()
}

/// Whether the section is the header, with the agent and the date.
fn is_header(section: &str) -> bool {
    section == super::schema::HEADER
}
