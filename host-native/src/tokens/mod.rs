//! Tokens: they decide who may call a server over HTTP, and what the caller reaches.
//!
//! Tokens are in `tokens.json` in the data directory, which only its owner may read. The text of a token
//! is shown once, when the token is made; the file has the SHA-256 of its secret. A token that is bound
//! to a subject of an authorization server has no secret. The subject sends [access tokens](crate::oauth)
//! instead.

mod token;

#[cfg(feature = "cli")]
pub(crate) use token::PREFIX;
pub(crate) use token::is_use_due;
pub use token::{NewToken, Subject, Token};

use crate::storage::{self, DEFAULT_LOCK_WAIT, ErrorCode, lock_layout};
use agent_memory_storage::{Area, Change, CommitError, Documents as _, Status};
use agent_memory_storage_files::{Durability, Layout, Tree, canonical, display};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use token::Secret;

const FILE: &str = "tokens.json";

/// The largest file that is read.
const MAX_BYTES: u64 = 1 << 20;

/// The largest size of the file after a token is added. The rest up to [`MAX_BYTES`] is for the times of
/// last uses.
const MAX_NEW_BYTES: usize = 1 << 19;

/// The tokens of a data directory. A change by another program takes effect at once, even if it replaces
/// the directory.
#[derive(Debug)]
pub struct Tokens {
    directory: PathBuf,
    location: String,
    known: Mutex<Option<(Status, Arc<[Token]>)>>,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct File {
    tokens: Vec<Token>,
}

impl Tokens {
    /// The tokens of a data directory, which need not exist.
    pub fn new(data_directory: &Path) -> Self {
        let directory = as_far_as_it_exists(data_directory);
        let location = format!("{}/{FILE}", display(data_directory).trim_end_matches('/'));
        Tokens { directory, location, known: Mutex::default() }
    }

    /// The path of the tokens' file, for messages.
    pub fn location(&self) -> &str {
        &self.location
    }

    /// All tokens, also those that have expired, in the order in which they were made.
    ///
    /// # Errors
    ///
    /// `io` if the file cannot be read, or has another form than this program writes; `permission`.
    pub fn all(&self) -> Result<Arc<[Token]>, storage::Error> {
        let tree = self.tree()?;
        let status = tree.stat(Area::Documents, FILE).map_err(|error| self.named(error))?;
        let Some(status) = status else { return Ok(Arc::default()) };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((before, tokens)) = &*known
            && *before == status
        {
            return Ok(tokens.clone());
        }
        let tokens: Arc<[Token]> = self.read(&tree)?.0.tokens.into();
        *known = Some((status, tokens.clone()));
        Ok(tokens)
    }

    /// Makes a token, and returns the text that its user sends. The text cannot be shown again.
    ///
    /// # Errors
    ///
    /// `already-exists` if a token has the name; `too-large` if there are too many; those of
    /// [`all`](Tokens::all), `busy`, `no-space`.
    pub fn create(&self, new: NewToken, now: Timestamp) -> Result<String, storage::Error> {
        let secret = random()?;
        self.add(Token::new(new, &secret, now))?;
        Ok(secret.shown())
    }

    /// Makes a token that is bound to a subject of an authorization server: access tokens of the subject
    /// then reach what this token reaches.
    ///
    /// # Errors
    ///
    /// `already-exists` also if a token is bound to the subject; those of [`create`](Tokens::create).
    pub fn bind(
        &self,
        new: NewToken,
        subject: Subject,
        now: Timestamp,
    ) -> Result<(), storage::Error> {
        self.add(Token::bound(new, subject, &random()?, now))
    }

    fn add(&self, new: Token) -> Result<(), storage::Error> {
        self.change(|tokens| {
            let has_name = |token: &&Token| token.name.eq_ignore_ascii_case(&new.name);
            let has_subject =
                |token: &&Token| token.subject.is_some() && token.subject == new.subject;
            if let Some(taken) = tokens.iter().find(has_name) {
                let message = format!("there is a token `{}`: revoke it first", taken.name);
                return Err(storage::Error::new(ErrorCode::AlreadyExists, message));
            }
            if let Some(taken) = tokens.iter().find(has_subject) {
                let name = &taken.name;
                let message =
                    format!("the subject is bound to the token `{name}`: revoke it first");
                return Err(storage::Error::new(ErrorCode::AlreadyExists, message));
            }
            tokens.push(new);
            Ok(())
        })
    }

    /// Revokes the token with this name, at once. Returns whether a token had the name.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Tokens::create).
    pub fn revoke(&self, name: &str) -> Result<bool, storage::Error> {
        if self.all()?.iter().all(|token| token.name != name) {
            return Ok(false);
        }
        self.change(|tokens| {
            let before = tokens.len();
            tokens.retain(|token| token.name != name);
            Ok(tokens.len() < before)
        })
    }

    /// Finds the token that a request sends. `None` if it is unknown, revoked or expired.
    ///
    /// # Errors
    ///
    /// Those of [`all`](Tokens::all).
    pub fn find(&self, given: &str, now: Timestamp) -> Result<Option<Token>, storage::Error> {
        let Some(secret) = Secret::read(given) else { return Ok(None) };
        let tokens = self.all()?;
        let found = tokens.iter().find(|token| token.is(&secret) && !token.has_expired(now));
        Ok(found.cloned())
    }

    /// The token that is bound to a subject. `None` if no token is bound to it, or the token has expired.
    ///
    /// # Errors
    ///
    /// Those of [`all`](Tokens::all).
    pub fn find_bound(
        &self,
        issuer: &str,
        subject: &str,
        now: Timestamp,
    ) -> Result<Option<Token>, storage::Error> {
        let tokens = self.all()?;
        let is_found = |token: &&Token| token.is_of(issuer, subject) && !token.has_expired(now);
        Ok(tokens.iter().find(is_found).cloned())
    }

    /// Whether a token that was found before still exists, still reaches the same and has not expired.
    ///
    /// # Errors
    ///
    /// Those of [`all`](Tokens::all).
    pub fn is_valid(&self, token: &Token, now: Timestamp) -> Result<bool, storage::Error> {
        let is_same = |other: &Token| {
            other.id == token.id && other.tenant == token.tenant && other.reach() == token.reach()
        };
        Ok(self.all()?.iter().any(|other| is_same(other) && !other.has_expired(now)))
    }

    /// Notes that a token was used.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Tokens::create).
    pub fn record_use(&self, token: &Token, now: Timestamp) -> Result<(), storage::Error> {
        self.change(|tokens| {
            let used = tokens.iter_mut().find(|other| other.id == token.id);
            if let Some(used) = used {
                used.last_used = Some(now);
            }
            Ok(())
        })
    }

    /// Reads the file. Returns its tokens and its version, which is `None` if the file is missing.
    fn read(&self, tree: &Tree) -> Result<(File, Option<String>), storage::Error> {
        let document = tree.read(Area::Documents, FILE, MAX_BYTES);
        let Some(document) = document.map_err(|error| self.named(error))? else {
            return Ok((File::default(), None));
        };
        let file = serde_json::from_slice(&document.contents).map_err(|error| {
            let message = format!("`{}` is damaged: {error}: mend or remove it", self.location);
            storage::Error::new(ErrorCode::Io, message)
        })?;
        Ok((file, Some(document.version)))
    }

    fn change<T>(
        &self,
        change: impl FnOnce(&mut Vec<Token>) -> Result<T, storage::Error>,
    ) -> Result<T, storage::Error> {
        let tree = self.tree()?;
        let lock = lock_layout(tree.layout(), DEFAULT_LOCK_WAIT)?;
        let (mut file, expects) = self.read(&tree)?;
        let before = file.tokens.len();
        let done = change(&mut file.tokens)?;
        let contents = serde_json::to_vec_pretty(&file).map_err(|error| {
            storage::Error::new(ErrorCode::Io, format!("the tokens cannot be written: {error}"))
        })?;
        if file.tokens.len() > before && contents.len() > MAX_NEW_BYTES {
            let message = format!("`{}` has no room for another token: revoke some", self.location);
            return Err(storage::Error::new(ErrorCode::TooLarge, message));
        }
        let put = Change::Put { area: Area::Documents, path: FILE.to_owned(), contents, expects };
        let committed = tree.commit(&[put], &|| lock.is_in_place());
        committed.map_err(|CommitError { error, .. }| self.named(error))?;
        Ok(done)
    }

    fn tree(&self) -> Result<Tree, storage::Error> {
        let layout = Layout::from_registry(&self.directory, FILE, &self.location)?;
        Ok(Tree::new(layout, Durability::Full))
    }

    /// Adds the path of the file to the message of an error.
    fn named(&self, mut error: storage::Error) -> storage::Error {
        error.message =
            error.message.replace(&format!("`{FILE}`"), &format!("`{}`", self.location));
        error
    }
}

fn random() -> Result<Secret, storage::Error> {
    Secret::new()
        .map_err(|error| storage::Error::new(ErrorCode::Io, format!("no random numbers: {error}")))
}

fn as_far_as_it_exists(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for above in absolute.ancestors() {
        if let (Ok(canonical), Ok(rest)) = (canonical(above), absolute.strip_prefix(above)) {
            return canonical.join(rest);
        }
    }
    absolute
}
