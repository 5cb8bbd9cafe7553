#![expect(deprecated, reason = "older clients still have roots")]

use crate::enclosing_repository::repository_around;
use crate::{BoxFuture, Roots};
use rmcp::service::{Peer, RequestContext, RoleServer};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

/// How long a client may take to list its roots. A program gives this answer, not a person, so the time
/// is short.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The repositories around the roots of a client whose protocol version has a handshake. The client is
/// asked when a call first needs these repositories, and again after the client reports a change. If
/// the client does not answer, it counts as having no roots until it reports a change.
#[derive(Clone, Default)]
pub(super) struct KnownRoots(Arc<Mutex<Arc<OnceCell<Vec<PathBuf>>>>>);

impl KnownRoots {
    pub(super) fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::default();
    }

    /// Asks the client, or waits for the answer to an earlier request.
    async fn or_ask(
        &self,
        ask: impl Future<Output = Vec<PathBuf>> + Send + 'static,
    ) -> Vec<PathBuf> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // The client is asked in a task of its own, which goes on if this call is cancelled: other calls
        // get the answer and need not ask again.
        let answered = tokio::spawn(async move { known.get_or_init(|| ask).await.clone() });
        answered.await.unwrap_or_default()
    }
}

/// A client that can list the directories that it works in. The repository around each of them is
/// granted.
pub(super) struct ClientRoots {
    question: Question,
    known: KnownRoots,
}

#[derive(Clone)]
struct Question {
    client: Peer<RoleServer>,
    end: CancellationToken,
}

impl ClientRoots {
    /// The client of a request. `None` if it has no roots, or if its protocol version does not let a
    /// server ask for them.
    pub(super) fn from_request(
        request: &RequestContext<RoleServer>,
        known: &KnownRoots,
        end: &CancellationToken,
    ) -> Option<Arc<dyn Roots>> {
        if !request.protocol_version()?.has_initialize() {
            return None;
        }
        request.client_capabilities()?.roots?;
        let question = Question { client: request.peer.clone(), end: end.clone() };
        Some(Arc::new(ClientRoots { question, known: known.clone() }))
    }
}

impl Roots for ClientRoots {
    fn roots(&self) -> BoxFuture<'_, Vec<PathBuf>> {
        let question = self.question.clone();
        Box::pin(self.known.or_ask(async move {
            question.ask().await.unwrap_or_else(|error| {
                tracing::warn!("the client did not list its roots: {error}");
                Vec::new()
            })
        }))
    }
}

impl Question {
    async fn ask(&self) -> Result<Vec<PathBuf>, String> {
        let question = self.client.list_roots();
        let answer = tokio::select! {
            answer = tokio::time::timeout(TIMEOUT, question) => answer,
            () = self.end.cancelled() => return Err("the client has disconnected".into()),
        };
        let listed = answer
            .map_err(|_| format!("no answer within {TIMEOUT:?}"))?
            .map_err(|error| error.to_string())?;
        let directories = listed.roots.iter().filter_map(|root| directory(&root.uri));
        Ok(directories.filter_map(|directory| repository_around(&directory)).collect())
    }
}

/// The directory that a `file://` URI names on this machine. `None` for another URI.
fn directory(uri: &str) -> Option<PathBuf> {
    named(uri, cfg!(windows)).map(PathBuf::from)
}

/// The path that a `file://` URI names. On Windows `file:///C:/work` names `C:/work`, and
/// `file://server/share` names `//server/share`.
fn named(uri: &str, on_windows: bool) -> Option<String> {
    let path = uri.strip_prefix("file://")?;
    let path = path.strip_prefix("localhost").unwrap_or(path);
    let path = String::from_utf8(percent_decoded(path)?).ok()?;
    let is_drive = path.as_bytes().get(2) == Some(&b':');
    match (path.strip_prefix('/'), on_windows) {
        (Some(drive), true) if is_drive => Some(drive.to_owned()),
        (Some(_), _) => Some(path),
        (None, true) if path.contains('/') => Some(format!("//{path}")),
        (None, _) => None,
    }
}

fn percent_decoded(text: &str) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        let digits = str::from_utf8(digits).ok()?;
        decoded.push(u8::from_str_radix(digits, 16).ok()?);
        rest = after;
    }
    Some(decoded)
}

#[cfg(test)]
mod tests {
    use super::{KnownRoots, named};
    use std::path::PathBuf;
    use tokio::sync::oneshot;

    #[tokio::test]
    async fn roots_that_a_cancelled_call_asked_for_reach_the_next_call() {
        let known = KnownRoots::default();
        let (answer, answered) = oneshot::channel();
        let (asked, is_asked) = oneshot::channel();
        let cancelled = {
            let known = known.clone();
            let ask = async {
                asked.send(()).unwrap();
                answered.await.unwrap()
            };
            tokio::spawn(async move { known.or_ask(ask).await })
        };
        is_asked.await.unwrap();
        cancelled.abort();
        assert!(cancelled.await.unwrap_err().is_cancelled());
        let roots = vec![PathBuf::from("/a")];
        answer.send(roots.clone()).expect("the question is still open");
        assert_eq!(known.or_ask(async { panic!("asked again") }).await, roots);
        known.forget();
        assert!(known.or_ask(async { Vec::new() }).await.is_empty());
    }

    #[test]
    fn a_root_is_a_percent_encoded_file_uri_of_this_machine() {
        for (uri, path, on_windows) in [
            ("file:///a/b", Some("/a/b"), Some("/a/b")),
            ("file:///a%20b/%C3%A9", Some("/a b/é"), Some("/a b/é")),
            ("file://localhost/a", Some("/a"), Some("/a")),
            ("file:///C:/a", Some("/C:/a"), Some("C:/a")),
            ("file:///c%3A/a", Some("/c:/a"), Some("c:/a")),
            ("file://server/share/a", None, Some("//server/share/a")),
            ("file://", None, None),
            ("file:///a%2", None, None),
            ("file:///%zz", None, None),
            ("https://a/b", None, None),
            ("/a", None, None),
            ("", None, None),
        ] {
            assert_eq!(named(uri, false).as_deref(), path, "{uri}");
            assert_eq!(named(uri, true).as_deref(), on_windows, "{uri}");
        }
    }
}
