//! An authorization server, and the discovery of its keys (RFC 8414, OpenID Connect Discovery).

use super::jwk::{Key, read_set};
use crate::outbound::secure_url;
use serde::Deserialize;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use ureq::Agent;
use ureq::http::{StatusCode, Uri};

/// The maximum size of an answer in bytes.
const MAX_ANSWER: u64 = 256 << 10;

/// How long all requests for the keys may take together.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The URL of the authorization server whose access tokens are accepted. The claim `iss` of its tokens
/// must be exactly this text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issuer(String);

impl FromStr for Issuer {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const FORM: &str = "an issuer is an `https://` URL, or an `http://` URL of this machine, \
                            without user, query or fragment";
        secure_url(text).ok_or(FORM)?;
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for Issuer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The fields of an authorization server's metadata that are used here.
#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    jwks_uri: String,
}

impl Issuer {
    /// Fetches the keys of the issuer. Blocks for at most 5 s.
    ///
    /// # Errors
    ///
    /// The reason, for the log.
    pub(super) fn keys(&self, agent: &Agent) -> Result<Arc<[Key]>, String> {
        let deadline = Instant::now() + TIMEOUT;
        let url = self.key_set(agent, deadline)?;
        let (status, text) = get(agent, &url, deadline)?;
        if status != StatusCode::OK {
            return Err(format!("`{url}` answered {status}"));
        }
        let keys = read_set(&text).ok_or_else(|| format!("`{url}` has no set of keys"))?;
        if keys.is_empty() {
            Err(format!("`{url}` has no key for signatures that this server knows"))
        } else {
            Ok(keys)
        }
    }

    /// Fetches the metadata, and returns the URL of the key set.
    fn key_set(&self, agent: &Agent, deadline: Instant) -> Result<String, String> {
        for url in self.metadata_urls() {
            let (status, text) = get(agent, &url, deadline)?;
            if status != StatusCode::OK {
                continue;
            }
            let Ok(metadata) = serde_json::from_slice::<Metadata>(&text) else { continue };
            if metadata.issuer != self.0 {
                return Err(format!(
                    "the server calls itself `{}`: give that as the issuer",
                    metadata.issuer
                ));
            }
            let keys = secure_url(&metadata.jwks_uri);
            let is_encrypted = |uri: &Uri| uri.scheme_str() == Some("https");
            let is_enough = |uri: &Uri| is_encrypted(uri) || !self.0.starts_with("https");
            return if keys.is_some_and(|uri| is_enough(&uri)) {
                Ok(metadata.jwks_uri)
            } else {
                Err(format!("`{url}` names keys whose URL is not safe"))
            };
        }
        Err(format!("nothing below `{self}` tells where its keys are"))
    }

    /// The URLs at which the metadata may be, in the order in which MCP clients try them.
    fn metadata_urls(&self) -> Vec<String> {
        let Ok(uri) = self.0.parse::<Uri>() else { return Vec::new() };
        let scheme = uri.scheme_str().unwrap_or_default();
        let authority = uri.authority().map(ToString::to_string).unwrap_or_default();
        let origin = format!("{scheme}://{authority}");
        let path = uri.path().trim_end_matches('/');
        let mut urls = vec![
            format!("{origin}/.well-known/oauth-authorization-server{path}"),
            format!("{origin}/.well-known/openid-configuration{path}"),
        ];
        if !path.is_empty() {
            urls.push(format!("{origin}{path}/.well-known/openid-configuration"));
        }
        urls
    }
}

fn get(agent: &Agent, url: &str, deadline: Instant) -> Result<(StatusCode, Vec<u8>), String> {
    let failed = |error: ureq::Error| match error {
        ureq::Error::Timeout(_) => format!("`{url}` did not answer in time"),
        ureq::Error::BodyExceedsLimit(_) => {
            format!("`{url}` answered more than {MAX_ANSWER} bytes")
        }
        error => format!("`{url}` gave no answer: {error}"),
    };
    // At least 1 ms: a timeout of zero would mean no timeout.
    let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    let request = agent.get(url).header("accept", "application/json");
    let request = request.config().timeout_global(Some(left)).build();
    let mut answer = request.call().map_err(failed)?;
    let text = answer.body_mut().with_config().limit(MAX_ANSWER).read_to_vec().map_err(failed)?;
    Ok((answer.status(), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_metadata_of_an_issuer_is_where_the_standards_say() {
        let urls = |issuer: &str| Issuer::from_str(issuer).expect(issuer).metadata_urls();
        let root = [
            "https://a.example/.well-known/oauth-authorization-server",
            "https://a.example/.well-known/openid-configuration",
        ];
        assert_eq!(urls("https://a.example"), root);
        assert_eq!(urls("https://a.example/"), root);
        let below = [
            "https://a.example:8443/.well-known/oauth-authorization-server/realms/one",
            "https://a.example:8443/.well-known/openid-configuration/realms/one",
            "https://a.example:8443/realms/one/.well-known/openid-configuration",
        ];
        assert_eq!(urls("https://a.example:8443/realms/one"), below);
    }

    #[test]
    fn an_issuer_is_encrypted_or_on_this_machine() {
        for text in ["https://a.example", "https://a.example/realms/one/", "http://127.0.0.1:9"] {
            assert_eq!(Issuer::from_str(text).map(|of| of.to_string()), Ok(text.to_owned()));
        }
        for text in
            ["", "a.example", "http://a.example", "https://a@b", "https://a?b", "https://a#b"]
        {
            assert!(Issuer::from_str(text).is_err(), "{text}");
        }
    }
}
