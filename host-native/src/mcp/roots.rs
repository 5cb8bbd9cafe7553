#![expect(deprecated, reason = "older clients still have roots")]

use crate::starting::repository_around;
use crate::{BoxFuture, Roots};
use rmcp::service::{Peer, RequestContext, RoleServer};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

/// How long a client may take to list its roots. No person is asked.
const PATIENCE: Duration = Duration::from_secs(5);

/// What an older-era client said its roots are: kept from the first question until it says that
/// they changed.
#[derive(Clone, Default)]
pub(super) struct KnownRoots(Arc<Mutex<Option<Vec<PathBuf>>>>);

impl KnownRoots {
    pub(super) async fn forget(&self) {
        *self.0.lock().await = None;
    }
}

/// A client that can be asked which directories it works in.
///
/// What it names is a starting directory, as the server's own is: the repository around it is
/// granted.
pub(super) struct ClientRoots {
    client: Peer<RoleServer>,
    known: KnownRoots,
    end: CancellationToken,
}

impl ClientRoots {
    /// The client of a request, if it has roots and its era lets a server ask for them.
    pub(super) fn of(
        request: &RequestContext<RoleServer>,
        known: &KnownRoots,
        end: &CancellationToken,
    ) -> Option<Arc<dyn Roots>> {
        if !request.protocol_version()?.has_initialize() {
            return None;
        }
        request.client_capabilities()?.roots?;
        Some(Arc::new(ClientRoots {
            client: request.peer.clone(),
            known: known.clone(),
            end: end.clone(),
        }))
    }

    async fn ask(&self) -> Result<Vec<PathBuf>, String> {
        let question = self.client.list_roots();
        let answer = tokio::select! {
            answer = tokio::time::timeout(PATIENCE, question) => answer,
            () = self.end.cancelled() => return Err("the client is going away".into()),
        };
        let listed = answer
            .map_err(|_| format!("no answer within {PATIENCE:?}"))?
            .map_err(|error| error.to_string())?;
        let directories = listed.roots.iter().filter_map(|root| directory(&root.uri));
        Ok(directories.filter_map(|directory| repository_around(&directory)).collect())
    }
}

impl Roots for ClientRoots {
    fn roots(&self) -> BoxFuture<'_, Vec<PathBuf>> {
        Box::pin(async move {
            // Held while asking: calls that come together ask once.
            let mut known = self.known.0.lock().await;
            if let Some(roots) = &*known {
                return roots.clone();
            }
            match self.ask().await {
                Ok(roots) => known.insert(roots).clone(),
                Err(error) => {
                    tracing::warn!("the client's roots are not known: {error}");
                    Vec::new()
                }
            }
        })
    }
}

/// The directory that a `file://` URI names on this machine.
fn directory(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://")?;
    let path = path.strip_prefix("localhost").unwrap_or(path);
    if !path.starts_with('/') {
        return None;
    }
    let path = String::from_utf8(percent_decoded(path)?).ok()?;
    // `file:///C:/work` names `C:/work`.
    let drive = path.as_bytes().get(2) == Some(&b':');
    Some(PathBuf::from(if cfg!(windows) && drive { &path[1..] } else { &path }))
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
    use super::directory;
    use std::path::Path;

    #[test]
    fn a_root_is_a_percent_encoded_file_uri_of_this_machine() {
        let named = |uri| directory(uri);
        assert_eq!(named("file:///a/b").as_deref(), Some(Path::new("/a/b")));
        assert_eq!(named("file:///a%20b/%C3%A9").as_deref(), Some(Path::new("/a b/é")));
        assert_eq!(named("file://localhost/a").as_deref(), Some(Path::new("/a")));
        for other in ["https://a/b", "file://elsewhere/a", "file:///a%2", "file:///%zz", "/a", ""] {
            assert_eq!(named(other), None, "{other}");
        }
    }
}
