//! A place: its documents, which a lease lets one plugin change.

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::time::Duration;

use agent_memory_storage::{
    Area, Change, CommitError, Document, Documents, Entry, Error, ErrorCode, Status, Tree, Writer,
};
use agent_memory_storage_files::{
    self as files, Durability, Errno, Layout, Lease, lock_directory_error, owner,
};

/// The documents of one place.
#[derive(Debug)]
pub(crate) struct Place {
    files: files::Tree,
    lock_wait: Duration,
    /// The lease, as long as a writer has it.
    lease: RefCell<Weak<Lease>>,
}

impl Place {
    pub fn new(layout: Layout, durability: Durability, lock_wait: Duration) -> Self {
        let files = files::Tree::new(layout, durability);
        Place { files, lock_wait, lease: RefCell::default() }
    }

    /// The lease of the place, once no other host owns it.
    fn acquire(&self) -> Result<Lease, Error> {
        let layout = self.files.layout();
        let durable = self.files.durability() == Durability::Full;
        let directory = layout.create_lock_directory(durable).map_err(|errno| {
            let error = lock_directory_error(layout, errno);
            match errno {
                Errno::ACCESS | Errno::PERM | Errno::ROFS => {
                    Error { code: ErrorCode::ReadOnly, ..error }
                }
                _ => error,
            }
        })?;
        owner::check_for_plugins(&directory, layout.location())?;
        let lease = Lease::acquire(&directory, self.lock_wait, layout.location())?;
        owner::claim_for_plugins(&directory, layout.location())?;
        Ok(lease)
    }
}

impl Documents for Place {
    fn stat(&self, area: Area, path: &str) -> Result<Option<Status>, Error> {
        self.files.stat(area, path)
    }

    fn read(&self, area: Area, path: &str, max_bytes: u64) -> Result<Option<Document>, Error> {
        self.files.read(area, path, max_bytes)
    }

    fn list(&self, area: Area, directory: &str) -> Result<Option<Vec<Entry>>, Error> {
        match self.lease.borrow().upgrade() {
            Some(lease) => self.files.list_and_clean(area, directory, &|| lease.is_held()),
            None => self.files.list(area, directory),
        }
    }
}

impl Tree for Place {
    fn location(&self) -> String {
        self.files.layout().location().to_owned()
    }

    fn lock(&self, _: Option<&str>) -> Result<Box<dyn Writer + '_>, Error> {
        let lease = Rc::new(self.acquire()?);
        *self.lease.borrow_mut() = Rc::downgrade(&lease);
        Ok(Box::new(LeasedPlace { lease, files: &self.files }))
    }
}

struct LeasedPlace<'a> {
    lease: Rc<Lease>,
    files: &'a files::Tree,
}

impl Writer for LeasedPlace<'_> {
    fn commit(&self, changes: &[Change]) -> Result<Vec<Option<String>>, CommitError> {
        self.files.commit_under_lease(changes, &self.lease)
    }
}
