//! The keys of an issuer. They are fetched when they are needed, and again when they may have changed.

use super::jwk::{Algorithm, Key};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// For how long fetched keys are used before they are fetched again. If the issuer answers, a key that it
/// has withdrawn is used for about this time at most.
const FRESH: Duration = Duration::from_secs(10 * 60);

/// For how long fetched keys are used if the issuer does not answer.
const KEPT: Duration = Duration::from_secs(60 * 60);

/// The minimum time between a fetch and another fetch for an unknown key. After the first fetch, the
/// next one may come at once.
const PAUSE_OF_UNKNOWN: Duration = Duration::from_secs(10);

/// The minimum time between a fetch that failed and the next one.
const PAUSE_OF_FAILED: Duration = Duration::from_secs(1);

type Fetch = dyn Fn() -> Result<Arc<[Key]>, String> + Send + Sync;

/// The keys of an issuer, for many requests at once.
pub(super) struct Keys {
    /// Fetches the keys from the issuer. Blocks.
    fetch: Box<Fetch>,
    known: Mutex<Known>,
    /// Held while the issuer is asked, so that one request at a time asks it.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Known {
    keys: Arc<[Key]>,
    fetched: Option<Instant>,
    /// When the last fetch failed. `None` if it succeeded.
    failed: Option<Instant>,
    /// When the keys were last fetched. `None` after the first fetch, which begins no
    /// [`PAUSE_OF_UNKNOWN`].
    sought: Option<Instant>,
}

/// Why there is no key for a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// The issuer has no such key.
    Unknown,
    /// The issuer does not answer.
    Unavailable,
}

/// The result of a lookup among the known keys.
enum Lookup {
    Found {
        keys: Vec<Key>,
        is_fresh: bool,
    },
    Missing(Missing),
    /// The issuer has to be asked.
    Ask,
}

impl fmt::Debug for Keys {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Keys").finish_non_exhaustive()
    }
}

impl Keys {
    pub fn new(
        fetch: impl Fn() -> Result<Arc<[Key]>, String> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Keys {
            fetch: Box::new(fetch),
            known: Mutex::default(),
            asking: Default::default(),
        })
    }

    /// The keys with this id that may check signatures of this algorithm. Asks the issuer if the known
    /// keys are not enough. Other requests then wait for the same answer.
    pub async fn find(
        self: &Arc<Self>,
        id: Option<&str>,
        algorithm: Algorithm,
        now: Instant,
    ) -> Result<Vec<Key>, Missing> {
        if let Some(found) = self.settled(id, algorithm, now) {
            return found;
        }
        let keys = self.clone();
        let wanted = id.map(str::to_owned);
        // The issuer is asked in a task of its own, which goes on if this request is dropped. Otherwise a
        // client that hangs up each time would cause a fetch each time.
        let asked = tokio::spawn(async move {
            let _asking = keys.asking.lock().await;
            if keys.settled(wanted.as_deref(), algorithm, now).is_none() {
                keys.ask(now).await;
            }
        });
        let _ = asked.await;
        self.settled(id, algorithm, now).unwrap_or(Err(Missing::Unknown))
    }

    /// Fetches the keys in the background, unless they are fresh or are being fetched already.
    pub fn refresh(self: &Arc<Self>, now: Instant) {
        let keys = self.clone();
        tokio::spawn(async move {
            let Ok(_asking) = keys.asking.try_lock() else { return };
            if keys.known().age(now).is_none_or(|age| age >= FRESH) {
                keys.ask(now).await;
            }
        });
    }

    /// The answer of [`find`](Self::find) from known keys. `None` if the issuer has to be asked first.
    fn settled(
        self: &Arc<Self>,
        id: Option<&str>,
        algorithm: Algorithm,
        now: Instant,
    ) -> Option<Result<Vec<Key>, Missing>> {
        let lookup = self.known().look_up(id, algorithm, now);
        match lookup {
            Lookup::Found { keys, is_fresh } => {
                if !is_fresh {
                    self.refresh(now);
                }
                Some(Ok(keys))
            }
            Lookup::Missing(missing) => Some(Err(missing)),
            Lookup::Ask => None,
        }
    }

    async fn ask(self: &Arc<Self>, now: Instant) {
        let keys = self.clone();
        let begun = Instant::now();
        let fetched = tokio::task::spawn_blocking(move || (keys.fetch)()).await;
        let now = now + begun.elapsed();
        let fetched = fetched.unwrap_or_else(|error| Err(error.to_string()));
        let mut known = self.known();
        match fetched {
            Ok(keys) => {
                tracing::debug!(keys = keys.len(), "the keys of the issuer are fetched");
                // The first fetch does not count as one for an unknown key.
                let sought = known.fetched.map(|_| now);
                *known = Known { keys, fetched: Some(now), failed: None, sought };
            }
            Err(reason) => {
                tracing::warn!("the keys of the issuer cannot be fetched: {reason}");
                known.failed = Some(now);
            }
        }
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// The age of the keys. `None` if they were never fetched, or are older than [`KEPT`].
    fn age(&self, now: Instant) -> Option<Duration> {
        let age = self.fetched.map(|fetched| now.saturating_duration_since(fetched));
        age.filter(|age| *age < KEPT)
    }

    fn look_up(&self, id: Option<&str>, algorithm: Algorithm, now: Instant) -> Lookup {
        let is_within = |then: Option<Instant>, pause| {
            then.is_some_and(|then| now.saturating_duration_since(then) < pause)
        };
        let has_failed = is_within(self.failed, PAUSE_OF_FAILED);
        let age = self.age(now);
        let fits = |key: &&Key| key.id.as_deref() == id && key.is_for(algorithm);
        let keys: Vec<Key> = match age {
            Some(_) => self.keys.iter().filter(fits).cloned().collect(),
            None => Vec::new(),
        };
        match age {
            Some(age) if !keys.is_empty() => {
                Lookup::Found { keys, is_fresh: age < FRESH || has_failed }
            }
            _ if has_failed => Lookup::Missing(Missing::Unavailable),
            Some(_) if is_within(self.sought, PAUSE_OF_UNKNOWN) => {
                Lookup::Missing(Missing::Unknown)
            }
            _ => Lookup::Ask,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::jwk::read_set;
    use super::*;
    use serde_json::json;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const ALGORITHM: Algorithm = Algorithm::EdDsa;

    /// An issuer in memory.
    #[derive(Default)]
    struct Issuer {
        ids: Mutex<Option<Vec<&'static str>>>,
        asked: AtomicUsize,
    }

    impl Issuer {
        fn new(ids: &[&'static str]) -> (Arc<Self>, Arc<Keys>) {
            let issuer = Arc::new(Issuer::default());
            issuer.has(Some(ids));
            let asked = issuer.clone();
            (issuer, Keys::new(move || asked.answer()))
        }

        fn has(&self, ids: Option<&[&'static str]>) {
            *self.ids.lock().unwrap() = ids.map(<[_]>::to_vec);
        }

        fn answer(&self) -> Result<Arc<[Key]>, String> {
            self.asked.fetch_add(1, Ordering::SeqCst);
            let ids = self.ids.lock().unwrap().clone().ok_or("down")?;
            let key = |id| json!({ "kty": "OKP", "crv": "Ed25519", "kid": id, "x": "AAAA" });
            let set = json!({ "keys": ids.into_iter().map(key).collect::<Vec<_>>() });
            read_set(set.to_string().as_bytes()).ok_or_else(String::new)
        }

        fn asked(&self) -> usize {
            self.asked.load(Ordering::SeqCst)
        }
    }

    async fn find(keys: &Arc<Keys>, id: &str, now: Instant) -> Result<usize, Missing> {
        keys.find(Some(id), ALGORITHM, now).await.map(|keys| keys.len())
    }

    #[tokio::test]
    async fn an_unknown_key_is_asked_for_once_in_a_while() {
        let (issuer, keys) = Issuer::new(&["a"]);
        let now = Instant::now();
        assert_eq!(find(&keys, "a", now).await, Ok(1));
        assert_eq!((find(&keys, "a", now).await, issuer.asked()), (Ok(1), 1));
        issuer.has(Some(&["b"]));
        assert_eq!((find(&keys, "b", now).await, issuer.asked()), (Ok(1), 2));
        for unknown in ["a", "c", "d"] {
            assert_eq!(find(&keys, unknown, now).await, Err(Missing::Unknown));
        }
        assert_eq!(issuer.asked(), 2);
        issuer.has(Some(&["b", "c"]));
        let later = now + 2 * PAUSE_OF_UNKNOWN;
        assert_eq!((find(&keys, "c", later).await, issuer.asked()), (Ok(1), 3));
        // A token without a key id matches only keys without an id.
        assert_eq!(keys.find(None, ALGORITHM, later).await.err(), Some(Missing::Unknown));
        assert_eq!(
            keys.find(Some("c"), Algorithm::Rs256, later).await.err(),
            Some(Missing::Unknown)
        );
    }

    #[tokio::test]
    async fn an_issuer_that_is_down_is_asked_again_and_its_keys_hold_for_a_while() {
        let (issuer, keys) = Issuer::new(&["a"]);
        issuer.has(None);
        let now = Instant::now();
        assert_eq!(find(&keys, "a", now).await, Err(Missing::Unavailable));
        assert_eq!((find(&keys, "a", now).await, issuer.asked()), (Err(Missing::Unavailable), 1));
        issuer.has(Some(&["a"]));
        let now = now + 10 * PAUSE_OF_FAILED;
        assert_eq!((find(&keys, "a", now).await, issuer.asked()), (Ok(1), 2));
        issuer.has(None);
        let old = now + KEPT - Duration::from_secs(1);
        assert_eq!(find(&keys, "a", old).await, Ok(1));
        assert_eq!(find(&keys, "a", now + 2 * KEPT).await, Err(Missing::Unavailable));
    }

    #[tokio::test]
    async fn a_key_that_the_issuer_takes_back_is_soon_of_no_use() {
        let (issuer, keys) = Issuer::new(&["a"]);
        let now = Instant::now();
        assert_eq!(find(&keys, "a", now).await, Ok(1));
        issuer.has(Some(&["b"]));
        // The old key is used once more, while the issuer is asked.
        let later = now + 2 * FRESH;
        assert_eq!(find(&keys, "a", later).await, Ok(1));
        while issuer.asked() < 2 || keys.asking.try_lock().is_err() {
            tokio::task::yield_now().await;
        }
        assert_eq!(find(&keys, "a", later).await, Err(Missing::Unknown));
        assert_eq!(find(&keys, "b", later).await, Ok(1));
    }

    #[tokio::test]
    async fn a_request_that_is_dropped_does_not_make_the_next_one_ask() {
        let (issuer, keys) = Issuer::new(&["a"]);
        let now = Instant::now();
        for _ in 0..20 {
            let dropped = keys.find(Some("a"), ALGORITHM, now);
            let _ = tokio::time::timeout(Duration::ZERO, dropped).await;
        }
        assert_eq!((find(&keys, "a", now).await, issuer.asked()), (Ok(1), 1));
    }

    #[tokio::test]
    async fn many_requests_at_once_ask_once() {
        let (issuer, keys) = Issuer::new(&["a"]);
        let now = Instant::now();
        let tasks: Vec<_> = (0..20)
            .map(|_| {
                let keys = keys.clone();
                tokio::spawn(async move { find(&keys, "a", now).await })
            })
            .collect();
        for task in tasks {
            assert_eq!(task.await.unwrap(), Ok(1));
        }
        assert_eq!(issuer.asked(), 1);
    }
}
