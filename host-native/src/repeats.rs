//! Calls with an idempotency key: a repetition gets the answer of the first call, and changes nothing.

use crate::outcome::{CallError, Category, Outcome, Reason};
use agent_memory_storage::{MAY_STAND, says_may_stand};
use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long an answer is remembered.
const REMEMBERED: Duration = Duration::from_hours(24);

/// The maximum number of keys that are remembered. The oldest key is forgotten first.
const MAX_KEYS: usize = 10_000;

/// The maximum size of all remembered answers in bytes.
const MAX_BYTES: usize = 32 << 20;

type Answer = Result<Outcome, CallError>;

/// The idempotency keys that a memory and the memories of its tenants have received, with the answers
/// to their calls.
#[derive(Default)]
pub(crate) struct Repeats(Mutex<Known>);

#[derive(Default)]
struct Known {
    calls: HashMap<Arc<str>, Made>,
    /// The keys of `calls`, ordered by the time of their answers, the oldest first.
    order: VecDeque<Arc<str>>,
    /// The size of all answers in bytes.
    bytes: usize,
}

/// A call that is in progress or was answered.
struct Made {
    since: Instant,
    request: u64,
    /// `None` while the call is in progress.
    answer: watch::Receiver<Option<Answer>>,
    bytes: usize,
}

/// The answer of a call that may still be in progress.
pub(crate) struct Awaited(watch::Receiver<Option<Answer>>);

impl Awaited {
    pub async fn answer(mut self) -> Answer {
        let answer = self.0.wait_for(Option::is_some).await;
        let answer = answer.expect("the call has an answer before it is dropped").clone();
        answer.expect("it was waited for")
    }
}

/// The right to make the first call with a key.
pub(crate) struct First {
    key: Arc<str>,
    answer: watch::Sender<Option<Answer>>,
}

impl Drop for First {
    /// Gives an error as the answer if there is none because the call panicked. The call may have changed
    /// something, so its repetitions get this error and are not made.
    fn drop(&mut self) {
        self.answer.send_if_modified(|answer| {
            let is_missing = answer.is_none();
            if is_missing {
                let message = format!("the call ended without an answer{MAY_STAND}");
                *answer = Some(Err(CallError::Ended { reason: Reason::Trap, message }));
            }
            is_missing
        });
    }
}

impl Repeats {
    /// Registers a call with a key. Returns its future answer and, if it is the first call with the key,
    /// a [`First`]: then the caller makes the call.
    ///
    /// # Errors
    ///
    /// [`CallError::Repeated`] if the key belongs to another call.
    pub fn take(
        &self,
        key: &str,
        tool: &str,
        arguments: &str,
    ) -> Result<(Awaited, Option<First>), CallError> {
        let request = number_of(tool, arguments);
        let mut known = self.known();
        known.forget_old(Instant::now());
        if let Some(made) = known.calls.get(key) {
            if made.request != request {
                return Err(CallError::Repeated(OTHER_CALL.to_owned()));
            }
            return Ok((Awaited(made.answer.clone()), None));
        }
        let (sender, answer) = watch::channel(None);
        let key: Arc<str> = Arc::from(key);
        let made = Made { since: Instant::now(), request, answer: answer.clone(), bytes: 0 };
        known.calls.insert(key.clone(), made);
        known.order.push_back(key.clone());
        Ok((Awaited(answer), Some(First { key, answer: sender })))
    }

    /// Gives the answer of the first call to all who wait for it. The answer is remembered only if the
    /// call may have changed something: otherwise a later repetition is made as a new call.
    pub fn answer(&self, first: First, answer: Answer) {
        let mut known = self.known();
        if may_have_changed(&answer) {
            let bytes = answer.as_ref().map_or(0, |outcome| outcome.json().len());
            if let Some(made) = known.calls.get_mut(&first.key) {
                made.bytes = bytes;
                known.bytes += bytes;
                // Moves the key to the end, since `order` is by the time of the answers.
                known.order.retain(|key| *key != first.key);
                known.order.push_back(first.key.clone());
            }
        } else {
            known.forget(&first.key);
        }
        // Each waiting repetition has its own receiver, so it gets the answer even if the key is
        // forgotten below.
        first.answer.send_replace(Some(answer));
        known.forget_old(Instant::now());
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// Forgets the answers that are too old, and the oldest ones beyond the limits. Calls in progress are
    /// not forgotten.
    fn forget_old(&mut self, now: Instant) {
        let mut in_progress = VecDeque::new();
        while let Some(oldest) = self.order.pop_front() {
            let Some(made) = self.calls.get(&oldest) else { continue };
            let is_old = now.saturating_duration_since(made.since) >= REMEMBERED;
            let count = self.order.len() + 1 + in_progress.len();
            if !is_old && count <= MAX_KEYS && self.bytes <= MAX_BYTES {
                self.order.push_front(oldest);
                break;
            }
            if made.answer.borrow().is_none() {
                in_progress.push_back(oldest);
            } else {
                self.remove(&oldest);
            }
        }
        in_progress.append(&mut self.order);
        self.order = in_progress;
    }

    fn forget(&mut self, key: &str) {
        self.order.retain(|known| **known != *key);
        self.remove(key);
    }

    fn remove(&mut self, key: &str) {
        if let Some(made) = self.calls.remove(key) {
            self.bytes -= made.bytes;
        }
    }
}

/// The message for a key that came before with another tool or other arguments.
const OTHER_CALL: &str = "the idempotency key belongs to another call, with another tool or other arguments: \
                          give each call a key of its own";

/// A hash of a call's tool and arguments, valid in this process.
fn number_of(tool: &str, arguments: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (tool, arguments).hash(&mut hasher);
    hasher.finish()
}

/// Whether a call with this answer may have changed the memory.
fn may_have_changed(answer: &Answer) -> bool {
    match answer {
        Ok(Outcome { answer: Ok(_), .. }) | Err(CallError::Ended { .. }) => true,
        Ok(Outcome { answer: Err(error), .. }) => {
            error.category == Category::Internal || says_may_stand(&error.message)
        }
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::ToolError;

    fn done(text: &str) -> Answer {
        answered(Ok(text.to_owned()))
    }

    fn refused(category: Category, message: &str) -> Answer {
        let [code, json] = [String::new(), String::new()];
        answered(Err(ToolError { category, code, message: message.to_owned(), json }))
    }

    fn answered(answer: Result<String, ToolError>) -> Answer {
        Ok(Outcome { answer, changed: vec![], follow_ups: vec![], wants_vector: None })
    }

    /// Makes a call whose answer is `made`, unless it is a repetition. Returns the answer, and whether
    /// the call was made.
    fn call(repeats: &Repeats, key: &str, arguments: &str, made: Answer) -> (Answer, bool) {
        let (awaited, first) = match repeats.take(key, "add", arguments) {
            Ok(taken) => taken,
            Err(error) => return (Err(error), false),
        };
        let is_made = first.is_some();
        if let Some(first) = first {
            repeats.answer(first, made);
        }
        let answer = awaited.0.borrow().clone();
        (answer.expect("an answer"), is_made)
    }

    #[test]
    fn a_repetition_gets_the_answer_of_the_first_call() {
        let repeats = Repeats::default();
        assert_eq!(call(&repeats, "k", "{}", done("1")), (done("1"), true));
        assert_eq!(call(&repeats, "k", "{}", done("2")), (done("1"), false));
        assert_eq!(call(&repeats, "l", "{}", done("2")), (done("2"), true));
        let (other, is_made) = call(&repeats, "k", "{\"a\":1}", done("3"));
        assert_eq!(other, Err(CallError::Repeated(OTHER_CALL.to_owned())));
        assert!(!is_made);
    }

    #[test]
    fn a_call_that_changed_nothing_is_made_anew() {
        let repeats = Repeats::default();
        for category in [Category::Busy, Category::Invalid, Category::Limit, Category::Storage] {
            assert!(call(&repeats, "k", "{}", refused(category, "full")).1, "{category:?}");
        }
        let may_stand = format!("the disk is full{MAY_STAND}");
        assert!(call(&repeats, "k", "{\"other\":1}", refused(Category::Busy, &may_stand)).1);
        assert!(!call(&repeats, "k", "{\"other\":1}", done("1")).1, "the change may stand");
    }

    #[tokio::test]
    async fn a_repetition_waits_for_the_call_in_progress() {
        let repeats = Repeats::default();
        let (_, first) = repeats.take("k", "add", "{}").unwrap();
        let (again, none) = repeats.take("k", "add", "{}").unwrap();
        assert!(none.is_none());
        repeats.answer(first.unwrap(), refused(Category::Busy, ""));
        assert_eq!(again.answer().await, refused(Category::Busy, ""));
        let (_, first) = repeats.take("k", "add", "{}").unwrap();
        let (again, _) = repeats.take("k", "add", "{}").unwrap();
        // The first call ends without an answer, as it does after a panic.
        drop(first);
        assert!(matches!(again.answer().await, Err(CallError::Ended { .. })));
        assert!(!call(&repeats, "k", "{}", done("1")).1);
    }

    #[test]
    fn a_call_in_progress_is_never_forgotten() {
        let repeats = Repeats::default();
        let (_, slow) = repeats.take("slow", "add", "{}").unwrap();
        let large = "x".repeat(MAX_BYTES);
        for key in ["a", "b", "c"] {
            assert!(call(&repeats, key, "{}", done(&large)).1);
        }
        assert!(repeats.take("slow", "add", "{}").unwrap().1.is_none());
        repeats.answer(slow.unwrap(), done("1"));
        assert_eq!(call(&repeats, "slow", "{}", done("2")), (done("1"), false));
        assert_eq!(repeats.known().bytes, 1);
    }

    #[test]
    fn the_oldest_keys_are_forgotten_first() {
        let repeats = Repeats::default();
        for key in 0..MAX_KEYS + 5 {
            assert!(call(&repeats, &key.to_string(), "{}", done("")).1);
        }
        assert_eq!(repeats.known().calls.len(), MAX_KEYS);
        let large = "x".repeat(MAX_BYTES / 4);
        for key in ["a", "b", "c", "d", "e"] {
            assert!(call(&repeats, key, "{}", done(&large)).1);
        }
        assert_eq!(repeats.known().bytes, MAX_BYTES);
        assert!(call(&repeats, "a", "{}", done("")).1);
        assert!(!call(&repeats, "e", "{}", done("")).1);
        let soon = Instant::now() + REMEMBERED;
        repeats.known().forget_old(soon);
        let known = repeats.known();
        assert_eq!((known.calls.len(), known.order.len(), known.bytes), (0, 0, 0));
    }
}
