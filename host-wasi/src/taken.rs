//! The places that a plugin has taken over.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use agent_memory_storage::{Error, ErrorCode};
use agent_memory_storage_files::{Directory, Layout, Mark, owner};

/// The marks of one instance, by the lock directories of their places.
///
/// An instance takes a place over only once. If another plugin takes the place over later, this instance
/// writes there no more. Otherwise two plugins would take the place from each other in turn.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// The number of the instance, which is random.
    number: OnceCell<u64>,
    marks: RefCell<BTreeMap<PathBuf, Rc<Mark>>>,
}

impl Taken {
    /// The mark of a place, which is taken over at the first call. `directory` is its lock directory.
    ///
    /// # Errors
    ///
    /// `read-only` if other hosts own the place, or if another plugin has taken it over since; the
    /// errors of [`Mark::take`] and of [`owner::claim_for_plugins`].
    pub fn mark(&self, layout: &Layout, directory: &Directory) -> Result<Rc<Mark>, Error> {
        let location = layout.location();
        owner::check_for_plugins(directory, location)?;
        let known = self.marks.borrow().get(layout.lock_path()).cloned();
        let mark = match known {
            Some(mark) => mark,
            None => {
                let mark = Rc::new(Mark::take(directory, self.number()?, location)?);
                self.marks.borrow_mut().insert(layout.lock_path().to_owned(), mark.clone());
                mark
            }
        };
        mark.check(location)?;
        owner::claim_for_plugins(directory, &mark, location)?;
        Ok(mark)
    }

    fn number(&self) -> Result<u64, Error> {
        if let Some(&number) = self.number.get() {
            return Ok(number);
        }
        let number = getrandom::u64();
        let number =
            number.map_err(|_| Error::new(ErrorCode::Io, "the host gives no random numbers"))?;
        Ok(*self.number.get_or_init(|| number))
    }
}
