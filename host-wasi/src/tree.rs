//! A place of a plugin. Anybody may read its documents; to write, the plugin first takes the place
//! over.

use std::cell::RefCell;
use std::rc::Rc;

use agent_memory_storage::{
    Area, Change, CommitError, Document, Documents, Entry, Error, ErrorCode, Status, Tree, Writer,
};
use agent_memory_storage_files::{
    self as files, Durability, Errno, Layout, Mark, lock_directory_error,
};

use crate::taken::Taken;

/// The documents of one place.
#[derive(Debug)]
pub(crate) struct Place {
    files: files::Tree,
    taken: Rc<Taken>,
    /// The mark of this plugin in the place. `None` before the first writer.
    mark: RefCell<Option<Rc<Mark>>>,
}

impl Place {
    pub fn new(layout: Layout, durability: Durability, taken: &Rc<Taken>) -> Self {
        let files = files::Tree::new(layout, durability);
        Place { files, taken: taken.clone(), mark: RefCell::default() }
    }

    /// Takes the place over, unless other hosts own it, and returns this plugin's mark.
    fn take_over(&self) -> Result<Rc<Mark>, Error> {
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
        self.taken.mark(layout, &directory)
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
        match &*self.mark.borrow() {
            Some(mark) => {
                let location = self.files.layout().location();
                self.files.list_and_clean(area, directory, &|| mark.check(location).is_ok())
            }
            None => self.files.list(area, directory),
        }
    }
}

impl Tree for Place {
    fn location(&self) -> String {
        self.files.layout().location().to_owned()
    }

    fn lock(&self, _: Option<&str>) -> Result<Box<dyn Writer + '_>, Error> {
        let mark = self.take_over()?;
        *self.mark.borrow_mut() = Some(mark.clone());
        Ok(Box::new(MarkedPlace { mark, files: &self.files }))
    }
}

struct MarkedPlace<'a> {
    mark: Rc<Mark>,
    files: &'a files::Tree,
}

impl Writer for MarkedPlace<'_> {
    fn commit(&self, changes: &[Change]) -> Result<Vec<Option<String>>, CommitError> {
        self.files.commit_as_plugin(changes, &self.mark)
    }
}
