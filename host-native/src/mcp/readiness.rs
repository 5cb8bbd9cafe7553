//! The readiness of the server: whether its storage takes writes.

use crate::storage::ErrorCode;
use crate::{AgentMemory, storage};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

/// For how long an answer is reused, since several programs may ask each second.
const HOLDS: Duration = Duration::from_secs(1);

/// The timeout of a check of the storage: a network file system may not answer at all.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Checks whether the storage takes writes. Clones share the last answer.
#[derive(Clone)]
pub(super) struct Readiness {
    memory: AgentMemory,
    last: Arc<Mutex<Last>>,
}

#[derive(Default)]
struct Last {
    answer: Option<(Instant, Result<(), &'static str>)>,
    /// A check that exceeded the timeout and still runs. There is at most one check at a time.
    look: Option<JoinHandle<Result<(), storage::Error>>>,
}

impl Readiness {
    pub fn new(memory: AgentMemory) -> Self {
        Readiness { memory, last: Arc::default() }
    }

    /// Tries whether the storage takes writes. Within a second of the last try, returns its answer.
    ///
    /// # Errors
    ///
    /// The reason in a few words, without a path. The log has the rest.
    pub async fn check(&self) -> Result<(), &'static str> {
        let mut last = self.last.lock().await;
        if let Some((at, answer)) = last.answer
            && at.elapsed() < HOLDS
        {
            return answer;
        }
        let memory = self.memory.clone();
        let start = || tokio::spawn(async move { memory.check_writable().await });
        let mut look = last.look.take().unwrap_or_else(start);
        let answer = match tokio::time::timeout(TIMEOUT, &mut look).await {
            Ok(Ok(Ok(()))) => Ok(()),
            Ok(Ok(Err(error))) => {
                tracing::warn!("the storage takes no writes: {}", error.message);
                Err(reason(error.code))
            }
            Ok(Err(_)) => Err("the storage cannot be tried"),
            Err(_) => {
                last.look = Some(look);
                Err("the storage does not answer")
            }
        };
        last.answer = Some((Instant::now(), answer));
        answer
    }
}

fn reason(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::NoSpace => "the storage is full",
        ErrorCode::ReadOnly => "the storage can only be read",
        ErrorCode::Permission => "the system refuses writes to the storage",
        _ => "the storage takes no writes",
    }
}
