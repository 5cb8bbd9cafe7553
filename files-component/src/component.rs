//! The component: connects the bindings generated from `wit/` to `storage/files`.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use agent_memory_storage::{self as storage, Documents, Writer, database as sql};
use agent_memory_storage_files::places::{GrantedPlace, Opened, RegistryChange};
use agent_memory_storage_files::{
    Cache, DatabaseFile, Durability, Errno, Layout, Tree, errno_error, from_written,
    lock_directory_error, owner,
};

use crate::bindings;
use crate::bindings::agent_memory::places::lock;
use crate::bindings::agent_memory::storage::{database, documents, types};
use crate::bindings::exports::agent_memory::places::places as exported;
use crate::grants::{Form, Grants, WantedPlace};

struct Component;

bindings::export!(Component with_types_in bindings);

thread_local! {
    static GRANTS: RefCell<Rc<Grants>> = RefCell::default();
    static CACHE: Arc<Cache> = Arc::default();
}

fn grants() -> Rc<Grants> {
    GRANTS.with_borrow(Rc::clone)
}

/// Changes the grants, before any place is opened.
fn grant<T>(change: impl FnOnce(&mut Grants) -> T) -> T {
    GRANTS.with_borrow_mut(|grants| {
        change(Rc::get_mut(grants).expect("grants are made before places are opened"))
    })
}

impl exported::Guest for Component {
    type Tree = OpenTree;

    fn grant_repositories(directory: String) -> Result<String, types::Error> {
        let canonical = grant(|grants| grants.grant_repositories(&directory)).map_err(error)?;
        Ok(canonical.to_string_lossy().into_owned())
    }

    fn grant_place(wanted: exported::Wanted) -> Result<Option<types::Error>, types::Error> {
        let refused = grant(|grants| grants.grant_place(wanted.into())).map_err(error)?;
        Ok(refused.map(error))
    }

    fn know(label: String, missing: String) {
        grant(|grants| grants.know(label, missing));
    }

    fn grants() -> String {
        grants().save()
    }

    fn restore(grants: String, is_durable: bool) {
        let durability = if is_durable { Durability::Full } else { Durability::Relaxed };
        GRANTS.set(Rc::new(Grants::restore(&grants, durability)));
    }

    fn open(place: types::Place) -> Result<exported::Tree, types::Error> {
        let grants = grants();
        let Opened { layout, named } =
            grants.places.open(&self::place(place), &[], None).map_err(error)?;
        let files = CACHE.with(|cache| Tree::with_cache(layout, grants.durability, cache.clone()));
        Ok(exported::Tree::new(OpenTree { files, named }))
    }

    fn repositories() -> Vec<String> {
        grants().places.repositories(&[], None)
    }

    fn names(label: String) -> Result<Vec<String>, types::Error> {
        grants().places.names(&label).map_err(error)
    }

    fn registry(label: String) -> Result<exported::Tree, types::Error> {
        let files = registry_tree(&label).map_err(error)?;
        Ok(exported::Tree::new(OpenTree { files, named: None }))
    }

    fn new_lock_path(label: String, name: String) -> Result<String, types::Error> {
        let path = grants().places.family(&label).and_then(|family| {
            let directory = family.new_place(&name)?;
            let layout = Layout::from_directory(directory.as_ref(), &directory, true, &[])?;
            Ok(layout.lock_path().to_string_lossy().into_owned())
        });
        path.map_err(error)
    }

    fn create(label: String, name: String) -> Result<(), types::Error> {
        let create = || {
            let places = &grants().places;
            let (family, others, tree) =
                (places.family(&label)?, places.others(&label), registry_tree(&label)?);
            let writer = HeldWriter(&tree);
            let change =
                RegistryChange { family: &family, others: &others, tree: &tree, writer: &writer };
            change.create(&name)
        };
        create().map_err(error)
    }
}

fn registry_tree(label: &str) -> Result<Tree, storage::Error> {
    let grants = grants();
    grants.places.family(label)?.registry()?.tree(grants.durability, Arc::default())
}

/// A writer of a place whose lock the call holds.
struct HeldWriter<'a>(&'a Tree);

impl Writer for HeldWriter<'_> {
    fn commit(
        &self,
        changes: &[storage::Change],
    ) -> Result<Vec<Option<String>>, storage::CommitError> {
        self.0.commit(changes, &lock::is_held)
    }
}

/// An open place.
pub struct OpenTree {
    files: Tree,
    /// The named place. `None` for a repository or a registry.
    named: Option<Arc<GrantedPlace>>,
}

impl OpenTree {
    fn database_file(
        &self,
        name: &str,
        kind: database::Kind,
    ) -> Result<DatabaseFile, types::Error> {
        let layout = self.files.layout();
        let (file, kind) = match kind {
            database::Kind::Kept => {
                (self.named.as_ref().and_then(|place| place.file_of(name)), sql::Kind::Kept)
            }
            database::Kind::Derived => (Some(name), sql::Kind::Derived),
        };
        let Some(file) = file else {
            let message = format!(
                "the database `{}` is not granted: none of this name is kept in `{}`",
                name.escape_debug(),
                layout.location().trim_end_matches('/')
            );
            return Err(error(storage::Error::new(storage::ErrorCode::NotGranted, message)));
        };
        DatabaseFile::new(layout, file, kind).map_err(error)
    }
}

impl exported::GuestTree for OpenTree {
    fn stat(
        &self,
        area: documents::Area,
        path: String,
    ) -> Result<Option<documents::Status>, types::Error> {
        Ok(self.files.stat(self::area(area), &path).map_err(error)?.map(status))
    }

    fn read(
        &self,
        area: documents::Area,
        path: String,
        max_bytes: u64,
    ) -> Result<Option<documents::Document>, types::Error> {
        let document = self.files.read(self::area(area), &path, max_bytes).map_err(error)?;
        Ok(document.map(|storage::Document { contents, version }| documents::Document {
            contents,
            version,
        }))
    }

    fn list(
        &self,
        area: documents::Area,
        directory: String,
        is_locked: bool,
    ) -> Result<Option<Vec<documents::Entry>>, types::Error> {
        let may_clean = || is_locked && lock::is_held();
        let listed = self.files.list_and_clean(self::area(area), &directory, &may_clean);
        let entry = |storage::Entry { name, status }| documents::Entry {
            name,
            status: self::status(status),
        };
        Ok(listed.map_err(error)?.map(|entries| entries.into_iter().map(entry).collect()))
    }

    fn location(&self) -> String {
        self.files.layout().location().to_owned()
    }

    fn commit(
        &self,
        changes: Vec<documents::Change>,
    ) -> Result<Vec<Option<String>>, documents::CommitError> {
        let changes: Vec<_> = changes.into_iter().map(change).collect();
        let versions = self.files.commit(&changes, &lock::is_held).map_err(|failed| {
            documents::CommitError {
                error: error(failed.error),
                change: failed.change,
                applied: failed.applied,
            }
        })?;
        CACHE.with(|cache| cache.put_all(changes, &versions));
        Ok(versions)
    }

    fn lock_path(&self) -> String {
        self.files.layout().lock_path().to_string_lossy().into_owned()
    }

    fn is_private(&self) -> bool {
        self.files.layout().is_private()
    }

    fn prepare_lock(&self) -> Result<(), types::Error> {
        let layout = self.files.layout();
        let durable = self.files.durability() == Durability::Full;
        layout.create_lock_directory(durable).map(drop).map_err(|errno| {
            let refused = lock_directory_error(layout, errno);
            error(match errno {
                Errno::ACCESS | Errno::PERM | Errno::ROFS => cannot_lock(errno),
                _ => refused,
            })
        })?;
        self.check_owner()
    }

    fn check_owner(&self) -> Result<(), types::Error> {
        let layout = self.files.layout();
        owner::check_for_hosts(layout.lock_path(), layout.location()).map_err(error)
    }

    fn database(
        &self,
        name: String,
        kind: database::Kind,
    ) -> Result<exported::DatabaseFile, types::Error> {
        let file = self.database_file(&name, kind)?;
        let path = file.path.to_string_lossy().into_owned();
        Ok(exported::DatabaseFile { path, location: file.location })
    }

    fn check_database(
        &self,
        name: String,
        kind: database::Kind,
        create: Option<u64>,
    ) -> Result<(), types::Error> {
        let temporary = create.map(temporary);
        let file = self.database_file(&name, kind)?;
        file.directory(temporary.as_deref(), self.files.durability()).map(drop).map_err(error)
    }

    fn replace_derived_database(&self, name: String, create: u64) -> Result<(), types::Error> {
        let file = self.database_file(&name, database::Kind::Derived)?;
        file.replace(&temporary(create), self.files.durability()).map_err(error)
    }
}

/// The name of a temporary file with this number.
fn temporary(number: u64) -> String {
    format!(".{number:016x}.agent-memory-tmp")
}

/// The error for a lock file that this process may not write.
fn cannot_lock(errno: Errno) -> storage::Error {
    storage::Error {
        code: storage::ErrorCode::ReadOnly,
        message: "cannot take the lock: the place where it is kept can only be read by this \
                  process: check its owner and permissions"
            .to_owned(),
        ..errno_error(errno, "take the lock")
    }
}

impl From<exported::Wanted> for WantedPlace {
    fn from(wanted: exported::Wanted) -> Self {
        WantedPlace {
            label: wanted.label,
            form: match wanted.form {
                exported::Form::Directory => Form::Directory,
                exported::Form::File => Form::File,
                exported::Form::Family => Form::Family,
            },
            path: from_written(&wanted.path),
            is_private: wanted.is_private,
            databases: wanted.databases,
            home: wanted.home.as_deref().map(from_written),
            data_directory: wanted.data_directory.as_deref().map(from_written),
            members: wanted.members.map(|members| {
                members.into_iter().map(|(name, path)| (name, from_written(&path))).collect()
            }),
        }
    }
}

fn place(place: types::Place) -> storage::Place {
    match place {
        types::Place::Repository(path) => storage::Place::Repository(path),
        types::Place::Named(types::NamedPlace { label, name }) => {
            storage::Place::Named { label, name }
        }
    }
}

fn area(area: documents::Area) -> storage::Area {
    match area {
        documents::Area::Documents => storage::Area::Documents,
        documents::Area::Bookkeeping => storage::Area::Bookkeeping,
    }
}

fn status(status: storage::Status) -> documents::Status {
    let kind = match status.kind {
        storage::EntryKind::File => documents::EntryKind::File,
        storage::EntryKind::Directory => documents::EntryKind::Directory,
        storage::EntryKind::Other => documents::EntryKind::Other,
    };
    documents::Status { kind, size: status.size, stamp: status.stamp }
}

fn change(change: documents::Change) -> storage::Change {
    match change {
        documents::Change::Put(documents::Put { area: of, path, contents, expects }) => {
            storage::Change::Put { area: area(of), path, contents, expects }
        }
        documents::Change::Edit(documents::Edit { area: of, path, splices, expects }) => {
            let splice = |splice: documents::Splice| {
                // An offset that does not fit in `usize` is beyond the end of any document.
                let at = usize::try_from(splice.at).unwrap_or(usize::MAX);
                let removes = usize::try_from(splice.removes).unwrap_or(usize::MAX);
                storage::Splice { range: at..at.saturating_add(removes), inserts: splice.inserts }
            };
            let splices = splices.into_iter().map(splice).collect();
            storage::Change::Edit { area: area(of), path, splices, expects }
        }
        documents::Change::Delete(documents::Delete { area: of, path, expects }) => {
            storage::Change::Delete { area: area(of), path, expects }
        }
        documents::Change::Copy(documents::Backup { area: of, from, to, expects }) => {
            storage::Change::Copy { area: area(of), from, to, expects }
        }
        documents::Change::Rename(documents::Rename { area: of, from, to, expects }) => {
            storage::Change::Rename { area: area(of), from, to, expects }
        }
    }
}

fn error(error: storage::Error) -> types::Error {
    macro_rules! same_name {
        ($($name:ident)+) => {
            match error.code {
                $(storage::ErrorCode::$name => types::ErrorCode::$name,)+
            }
        };
    }
    let code = storage::with_error_codes!(same_name!());
    types::Error { code, message: error.message, detail: error.detail }
}
