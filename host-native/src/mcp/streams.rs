//! Limits how many streams are open at once: each uses a connection until its client ends it.

use super::refusal::waiting;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The maximum number of open streams of all clients. A quarter of the connections is left for requests
/// that are answered at once.
const MAX: usize = 384;

/// The maximum number of open streams of one token.
const MAX_OF_TOKEN: usize = 64;

/// The open streams.
#[derive(Clone)]
pub(super) struct Streams {
    free: Arc<Semaphore>,
    /// The free places for the streams of each token, by the token's id.
    free_of_tokens: Arc<Mutex<HashMap<String, Arc<Semaphore>>>>,
}

/// The place of a stream. It is freed when the request that opened the stream is dropped.
#[derive(Clone)]
struct Place {
    _of_all: Arc<OwnedSemaphorePermit>,
    _of_token: Option<Arc<OwnedSemaphorePermit>>,
}

impl Streams {
    pub fn new() -> Self {
        Streams { free: Arc::new(Semaphore::new(MAX)), free_of_tokens: Arc::default() }
    }

    /// Answers a request with the given token, if any. A request that opens a stream takes a place first,
    /// or gets status 429 if none is free.
    pub async fn limit(&self, token: Option<&str>, mut request: Request, next: Next) -> Response {
        // The header can be trusted: `rmcp` refuses a request whose header differs from its body.
        let method = request.headers().get("mcp-method");
        if method.is_some_and(|method| method == "subscriptions/listen") {
            match self.place(token) {
                Ok(place) => drop(request.extensions_mut().insert(place)),
                Err(full) => return waiting(StatusCode::TOO_MANY_REQUESTS, &full, "10"),
            }
        }
        next.run(request).await
    }

    fn place(&self, token: Option<&str>) -> Result<Place, String> {
        let of_token = token.map(|id| self.free_of(id).try_acquire_owned()).transpose();
        let of_token = of_token.map_err(|_| {
            format!(
                "this token has {MAX_OF_TOKEN} open subscriptions: end one, or subscribe to \
                 several resources in one"
            )
        })?;
        let of_all = self.free.clone().try_acquire_owned().map_err(|_| {
            format!("this server has {MAX} open subscriptions: wait until one has ended")
        })?;
        Ok(Place { _of_all: Arc::new(of_all), _of_token: of_token.map(Arc::new) })
    }

    fn free_of(&self, id: &str) -> Arc<Semaphore> {
        let mut all = self.free_of_tokens.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(Semaphore::new(MAX_OF_TOKEN));
        all.entry(id.to_owned()).or_insert_with(new).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_its_share_of_the_places_and_all_together_leave_some() {
        let streams = Streams::new();
        let all_of = |token: Option<&str>| -> Vec<Place> {
            std::iter::from_fn(|| streams.place(token).ok()).collect()
        };
        let refused = |token| streams.place(token).err().unwrap_or_default();
        let mut ada = all_of(Some("ada"));
        assert_eq!(ada.len(), 64);
        assert!(refused(Some("ada")).starts_with("this token has 64"));
        let bob = all_of(Some("bob"));
        assert_eq!(bob.len(), 64);
        // Streams of clients that need no token.
        let mut others = all_of(None);
        assert_eq!(others.len(), 384 - 2 * 64);
        assert!(refused(None).starts_with("this server has 384"));
        assert!(refused(Some("eve")).starts_with("this server has 384"));
        // The place of a stream that has ended is free again.
        ada.pop();
        ada.extend(streams.place(Some("ada")));
        assert_eq!(ada.len(), 64);
        others.pop();
        assert!(refused(Some("ada")).starts_with("this token has 64"));
        assert!(streams.place(Some("eve")).is_ok());
    }
}
