//! Removing a text or a record from all data of an agent: its file, the copies of the file, and its
//! rows.

use std::collections::BTreeSet;

use super::agent::Agent;
use super::agents::{Files, reached};
use super::convert_records::{CONVERTED_END, HIDDEN_END};
use super::database::{ForgottenRows, RowWriter};
use super::entries::{forget_all, owner};
use super::error::Error;
use super::json::{JsonFile, Removal, file_path};
use super::place::LABEL;
use super::store::{Reader, Writer};
use crate::forget::{FREE_PAGES, Forgetting, Found, NO_WORK_LEFT, Wanted};
use crate::names::{AgentName, name_error};
use crate::source::EntryId;
use crate::storage::database::Mode;
use crate::storage::{Area, Change, Document, EntryKind, MAX_DOCUMENT_BYTES, Place, Tree};
use crate::tool::{Call, Checked, Forget};

/// The suffixes after `<agent>.json`: of the file itself, of its backup, and of the documents that
/// conversions leave.
const ENDS: [&str; 4] = ["", ".backup", CONVERTED_END, HIDDEN_END];

/// The work to search the strings of JSON, as a multiple of the work to search plain text.
const OF_JSON: u64 = 3;

pub(super) const FORGET: Forget = Forget { toolset: "records", run };

/// Removes the wanted text or record from the data of all agents that the caller may use.
fn run(call: &Call<'_>, forgetting: &mut Forgetting<'_>) -> Checked<()> {
    if matches!(forgetting.wanted, Wanted::Row { .. } | Wanted::Document(_)) {
        return Ok(());
    }
    forgetting.remains(FREE_PAGES);
    let tree = call.storage.open(&Place::named(LABEL)).map_err(Error::from)?;
    let (mut names, warning) = reached(call, &Files::list(&*tree)?, "searched");
    names.extend(agents_of_copies(call, &*tree)?);
    warning.into_iter().for_each(|warning| forgetting.leave(warning));
    names.retain(|name| forgetting.is_for(name));
    for name in &names {
        let Some(agent) = AgentName::parse(name) else { continue };
        match Agent::open(call, &agent) {
            Ok(agent) => OfAgent { agent }.look_through(forgetting),
            Err(error) => leave(name, &error, forgetting),
        }
    }
    Ok(())
}

fn leave(what: &str, error: &Error, forgetting: &mut Forgetting<'_>) {
    forgetting.leave(format!(
        "records in `{what}` were not searched or not changed: {}",
        error.message()
    ));
}

/// The agents that have a file or a copy of it. Some agents have only a copy.
fn agents_of_copies(call: &Call<'_>, tree: &dyn Tree) -> Result<BTreeSet<String>, Error> {
    let entries = tree.list(Area::Documents, "")?.unwrap_or_default().into_iter();
    let files = entries.filter(|entry| entry.status.kind == EntryKind::File);
    let agent = |name: &str| {
        let without = |end: &&str| name.strip_suffix(*end)?.strip_suffix(&file_path(""));
        let name = ENDS.iter().find_map(without)?;
        (name_error(name).is_none() && call.context.reaches(name)).then(|| name.to_owned())
    };
    Ok(files.filter_map(|entry| agent(&entry.name)).collect())
}

/// The file and the rows of an agent.
struct OfAgent<'a> {
    agent: Agent<'a>,
}

impl OfAgent<'_> {
    fn look_through(&self, forgetting: &mut Forgetting<'_>) {
        let mut has_changed = false;
        for end in ENDS {
            let path = format!("{}{end}", file_path(self.agent.name));
            match self.forget_in_file(&path, end.is_empty(), forgetting) {
                Ok(changed) => has_changed |= changed,
                Err(error) => leave(&path, &error, forgetting),
            }
        }
        match self.forget_in_rows(forgetting) {
            Ok(changed) => has_changed |= changed,
            Err(error) => leave("memories.db", &error, forgetting),
        }
        if has_changed {
            forget_all(self.agent.call, self.agent.name);
            self.agent.note_change();
        }
    }

    /// Removes the wanted text or record from a file. Returns whether the file was changed, which
    /// is false in a dry run. Reports the records of the agent's own file by their ids. For a copy,
    /// or a text outside of records, reports the path.
    fn forget_in_file(
        &self,
        path: &str,
        is_own: bool,
        forgetting: &mut Forgetting<'_>,
    ) -> Result<bool, Error> {
        let Some(document) = self.read(path)? else { return Ok(false) };
        if !forgetting.take(OF_JSON * document.contents.len() as u64) {
            forgetting.leave(format!("`{path}` {NO_WORK_LEFT}"));
            return Ok(false);
        }
        let Removal { splices, ids } = self.removal(document, forgetting.wanted)?;
        if splices.is_empty() {
            return Ok(false);
        }
        if !forgetting.dry_run {
            let lock = self.agent.tree.lock(Some(&self.agent.scope()))?;
            let Some(document) = self.read(path)? else { return Ok(false) };
            let expects = document.version.clone();
            let Removal { splices, .. } = self.removal(document, forgetting.wanted)?;
            if splices.is_empty() {
                return Ok(false);
            }
            let area = Area::Documents;
            let path = path.to_owned();
            lock.commit(&[Change::Edit { area, path, splices, expects }])?;
        }
        if is_own && !ids.is_empty() {
            self.add(ids, forgetting);
        } else {
            forgetting.add(Found::at(owner(self.agent.name), path.to_owned()));
        }
        Ok(!forgetting.dry_run)
    }

    fn removal(&self, document: Document, wanted: Wanted<'_>) -> Result<Removal, Error> {
        let Agent { name, call, .. } = &self.agent;
        match wanted {
            Wanted::Text(secret) => JsonFile::without_text(name, document, secret),
            Wanted::Record(id) => JsonFile::without_record(name, document, id, call.context),
            Wanted::Row { .. } | Wanted::Document(_) => Ok(Removal::default()),
        }
    }

    fn read(&self, path: &str) -> Result<Option<Document>, Error> {
        Ok(self.agent.tree.read(Area::Documents, path, MAX_DOCUMENT_BYTES)?)
    }

    /// Removes the wanted text or record from the agent's rows. Returns whether rows were changed,
    /// which is false in a dry run.
    fn forget_in_rows(&self, forgetting: &mut Forgetting<'_>) -> Result<bool, Error> {
        if !self.agent.has_rows()? {
            return Ok(false);
        }
        let wanted = forgetting.wanted;
        let dry_run = forgetting.dry_run;
        // An interrupted conversion may have left these rows as a copy of the file. This change
        // keeps the note of it, so that the next conversion may still delete the rows.
        let are_hidden = self.agent.has_file()?;
        let forgotten = match self.agent.database(false)? {
            None => return Ok(false),
            Some(database) if dry_run => {
                let view = database.begin(Mode::Read)?;
                let call = self.agent.call;
                let mut writer = RowWriter::new(&*view, self.agent.name, call.context)?;
                rows_without(&mut writer, wanted, dry_run)?
            }
            Some(_) => self.agent.change_rows(|writer| {
                if are_hidden {
                    writer.keep_note_of_copy();
                }
                rows_without(writer, wanted, dry_run)
            })?,
        };
        let ForgottenRows { ids, in_document, unreadable, has_more } = forgotten;
        let has_found = in_document || !ids.is_empty();
        if in_document {
            forgetting.add(Found::at(owner(self.agent.name), "memories.db".to_owned()));
        }
        self.add(ids, forgetting);
        for reason in unreadable {
            forgetting.leave(format!("agent `{}` in `memories.db`: {reason}", self.agent.name));
        }
        if has_more {
            let agent = self.agent.name;
            forgetting.leave(format!("more records of agent `{agent}` may have it: call again"));
        }
        Ok(has_found && !dry_run)
    }

    fn add(&self, ids: Vec<String>, forgetting: &mut Forgetting<'_>) {
        for id in ids {
            let owner = owner(self.agent.name);
            forgetting.add(Found::entry(owner, EntryId::Text(id), None));
        }
    }
}

fn rows_without(
    writer: &mut RowWriter<'_>,
    wanted: Wanted<'_>,
    dry_run: bool,
) -> Result<ForgottenRows, Error> {
    let id = match wanted {
        Wanted::Text(secret) => return writer.forget_text(secret, dry_run),
        Wanted::Record(id) => id,
        Wanted::Row { .. } | Wanted::Document(_) => return Ok(ForgottenRows::default()),
    };
    let Some(memory) = writer.find(id)? else { return Ok(ForgottenRows::default()) };
    if !dry_run {
        writer.remove(&memory)?;
    }
    Ok(ForgottenRows { ids: vec![memory.id], ..ForgottenRows::default() })
}
