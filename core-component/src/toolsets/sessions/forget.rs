//! Removing a text from logs, summaries and schemas, or the whole content of a log or a summary.

use super::agent::{
    Agent, AgentWriter, Agents, ChangeError, agents, in_repository, in_tree, malformed, open_tree,
};
use super::error::Error;
use super::finding::utf8;
use super::log::log_date;
use super::removal::{self, Kind};
use super::repo_root::default_root;
use super::search::{NO_DIRECTORY, NO_FILE, owner};
use crate::forget::{Forgetting, Found, IN_GIT, NO_WORK_LEFT, Removal, Wanted};
use crate::index;
use crate::names::AgentName;
use crate::storage::{Area, Change, Document, EntryKind, MAX_DOCUMENT_BYTES, Place, Tree};
use crate::tool::{Call, Checked, Forget, ToolError};

pub(super) const FORGET: Forget = Forget { toolset: "sessions", run };

/// Removes the wanted text or document from the repository that the call names, or from all
/// repositories that are granted by their top levels.
fn run(call: &Call<'_>, forgetting: &mut Forgetting<'_>) -> Checked<()> {
    let roots = match (forgetting.wanted, forgetting.within.repo_root) {
        (Wanted::Record(_) | Wanted::Row { .. }, _) => return Ok(()),
        (Wanted::Document(path), _) if in_tree(path) == path => return Ok(()),
        (_, Some(root)) => vec![root.to_owned()],
        // Only the default repository is searched: another one may have a document at the same
        // path.
        (Wanted::Document(_), None) => vec![default_root(call)?],
        (Wanted::Text(_), None) => call.storage.list_repositories().map_err(Error::from)?,
    };
    if roots.is_empty() {
        forgetting.leave(NO_REPOSITORY.to_owned());
        return Ok(());
    }
    forgetting.remains(IN_GIT);
    for root in &roots {
        if let Err(error) = look_through(call, root, forgetting) {
            let message = error.refusal().message;
            forgetting.leave(format!("the logs in `{root}` were not searched: {message}"));
        }
    }
    Ok(())
}

const NO_REPOSITORY: &str = "no session log was searched, since no repository is granted by its top level: pass `repo_root`";

fn look_through(call: &Call<'_>, root: &str, forgetting: &mut Forgetting<'_>) -> Result<(), Error> {
    let tree = open_tree(call, Some(root))?;
    let Agents { mut names, mut others } = agents(call, &*tree)?;
    names.retain(|name| forgetting.is_for(name));
    others.retain(|name| forgetting.is_for(name));
    for name in &others {
        forgetting.leave(format!("`{}` {NO_DIRECTORY}", in_repository(name)));
    }
    for name in &names {
        let Some(agent) = AgentName::parse(name) else { continue };
        let looked = Agent::open(call, Some(root), &agent).and_then(|agent| {
            let documents = OfAgent { call, agent, tree: &*tree, root };
            documents.look_through(forgetting)
        });
        if let Err(error) = looked {
            let message = error.refusal().message;
            forgetting.leave(format!("agent `{name}` in `{root}` was not searched: {message}"));
        }
    }
    Ok(())
}

/// The documents of an agent in a repository.
struct OfAgent<'a> {
    call: &'a Call<'a>,
    agent: Agent<'a>,
    tree: &'a dyn Tree,
    root: &'a str,
}

impl OfAgent<'_> {
    fn look_through(&self, forgetting: &mut Forgetting<'_>) -> Result<(), Error> {
        let is_wanted = |path: &str| match forgetting.wanted {
            Wanted::Document(wanted) => in_tree(wanted) == path,
            _ => true,
        };
        let mut documents = vec![(Kind::Summary, self.agent.summary_path())];
        if matches!(forgetting.wanted, Wanted::Text(_)) {
            documents.push((Kind::Schema, self.agent.schema_path()));
        }
        let logs = format!("{}/logs", self.agent.name);
        let mut links = Vec::new();
        for entry in self.tree.list(Area::Documents, &logs)?.unwrap_or_default() {
            let Some(date) = log_date(&entry.name) else { continue };
            match entry.status.kind {
                EntryKind::File => documents.push((Kind::Log, self.agent.log_path(date))),
                _ => links.push(self.agent.log_path(date)),
            }
        }
        documents.retain(|(_, path)| is_wanted(path));
        links.retain(|path| is_wanted(path));
        for path in links {
            forgetting.leave(format!("`{}` {NO_FILE}", in_repository(&path)));
        }
        for (kind, path) in documents {
            self.forget(kind, &path, forgetting);
        }
        Ok(())
    }

    /// Removes the wanted text, or the whole content, from a document. Reports the document or the
    /// error.
    fn forget(&self, kind: Kind, path: &str, forgetting: &mut Forgetting<'_>) {
        let found = self.find(kind, path, forgetting);
        let changed = found.and_then(|found| {
            if found && !forgetting.dry_run {
                let wanted = forgetting.wanted;
                self.agent.change(self.call, |writer| self.change(writer, kind, path, wanted))?;
                let place = Place::repository(self.root);
                index::forget(self.call.storage, &place, self.agent.name, &[path]);
            }
            Ok(found)
        });
        let shown = in_repository(path);
        match changed {
            Ok(true) => {
                forgetting.add(Found::at(owner(self.root, self.agent.name), shown));
            }
            Ok(false) => {}
            Err(error) => {
                let message = error.refusal().message;
                forgetting.leave(format!("`{shown}` in `{}`: {message}", self.root));
            }
        }
    }

    /// Whether something would be removed from a document. Reports the lines that cannot be
    /// changed.
    fn find(&self, kind: Kind, path: &str, forgetting: &mut Forgetting<'_>) -> Result<bool, Error> {
        let Some(document) = self.read(path)? else { return Ok(false) };
        let shown = in_repository(path);
        if !forgetting.take(document.contents.len() as u64) {
            forgetting.leave(format!("`{shown}` {NO_WORK_LEFT}"));
            return Ok(false);
        }
        match change(kind, path, document, forgetting.wanted)? {
            (change, Some(left)) => {
                forgetting.leave(format!("`{shown}` in `{}`: {left}", self.root));
                Ok(change.is_some())
            }
            (change, None) => Ok(change.is_some()),
        }
    }

    fn change(
        &self,
        writer: &AgentWriter<'_>,
        kind: Kind,
        path: &str,
        wanted: Wanted<'_>,
    ) -> Result<(), ChangeError> {
        let Some(document) = self.read(path)? else { return Ok(()) };
        match change(kind, path, document, wanted)? {
            (Some(change), _) => Ok(writer.commit(&[change])?),
            (None, _) => Ok(()),
        }
    }

    fn read(&self, path: &str) -> Result<Option<Document>, Error> {
        Ok(self.tree.read(Area::Documents, path, MAX_DOCUMENT_BYTES)?)
    }
}

/// Returns the change that removes the wanted text or the whole content from a document, if there
/// is anything to remove. Also returns a message about the parts that cannot be changed, if there
/// are any.
fn change(
    kind: Kind,
    path: &str,
    document: Document,
    wanted: Wanted<'_>,
) -> Result<(Option<Change>, Option<String>), Error> {
    let Document { contents, version: expects } = document;
    let area = Area::Documents;
    let path = path.to_owned();
    let text = utf8(&contents).map_err(|finding| malformed(&path, &finding))?;
    let Removal { splices, left } = match (wanted, kind) {
        (Wanted::Text(secret), _) => removal::remove_text(kind, text, secret),
        // Deletes the whole summary: the next session creates another one.
        (_, Kind::Summary) => return Ok((Some(Change::Delete { area, path, expects }), None)),
        _ => removal::remove_all(kind, text),
    };
    let change = (!splices.is_empty()).then_some(Change::Edit { area, path, splices, expects });
    Ok((change, left))
}
