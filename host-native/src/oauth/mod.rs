//! Access tokens of an authorization server: the resource server of OAuth 2.1.
//!
//! An access token says who its holder is: a subject of the [`Issuer`]. One of the
//! [tokens](crate::tokens) is bound to the subject and says what the subject reaches. The issuer is
//! asked only for its metadata and keys; no token is sent to it.

mod access_token;
mod issuer;
mod jwk;
mod keys;

#[cfg(feature = "cli")]
pub(crate) use access_token::MAX_SUBJECT;
pub use issuer::Issuer;

use crate::outbound;
use access_token::{Accepted, AccessToken, Expected, Violation};
use jiff::Timestamp;
use keys::{Keys, Missing};
use serde_json::{Value, json};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Instant;
use ureq::http::Uri;

/// The path of a resource's metadata (RFC 9728).
pub(crate) const METADATA: &str = "/.well-known/oauth-protected-resource";

/// Which access tokens are accepted.
#[derive(Clone, Debug)]
pub struct OAuthOptions {
    /// The authorization server that issues the tokens.
    pub issuer: Issuer,
    /// The URL at which clients reach the tools. By default the URL of the listener.
    pub public_url: Option<PublicUrl>,
    /// A value that the claim `aud` of the tokens must be or contain. By default the URL of the tools.
    pub audience: Option<String>,
    /// The scopes that a token needs. Clients learn from the server to ask for them.
    pub scopes: Vec<Scope>,
}

/// A URL at which clients reach the tools, such as `https://memory.example.com/mcp`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl(Uri);

impl FromStr for PublicUrl {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const FORM: &str = "the URL of the tools is an `https://` URL, or an `http://` URL of this \
                            machine, such as `https://memory.example.com/mcp`, without user, query or \
                            fragment";
        let url = outbound::secure_url(text).ok_or(FORM)?;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._~-%".contains(&byte);
        let has_plain_path =
            url.path().bytes().all(is_plain) && !text.contains(char::is_whitespace);
        has_plain_path.then_some(Self(url)).ok_or(FORM)
    }
}

impl PublicUrl {
    /// The host in the URL, with the port if it has one.
    pub(crate) fn host(&self) -> String {
        self.0.authority().map(ToString::to_string).unwrap_or_default()
    }

    /// The scheme and the host.
    pub(crate) fn origin(&self) -> String {
        format!("{}://{}", self.0.scheme_str().unwrap_or_default(), self.host())
    }

    /// The path of the tools; empty for `/`.
    pub(crate) fn path(&self) -> &str {
        self.0.path().trim_end_matches('/')
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.origin(), self.path())
    }
}

/// A scope in the form of RFC 6749.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope(String);

impl FromStr for Scope {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_inner = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
        let is_scope = !text.is_empty() && text.bytes().all(is_inner);
        is_scope
            .then(|| Self(text.to_owned()))
            .ok_or("a scope has no spaces, quotes or backslashes")
    }
}

/// Checks access tokens.
#[derive(Debug)]
pub(crate) struct ResourceServer {
    url: PublicUrl,
    expected: Expected,
    keys: Arc<Keys>,
}

/// Why an access token is refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Error {
    /// The token is not valid.
    Invalid(&'static str),
    /// The token is valid, but lacks a scope.
    Scope,
    /// The issuer does not answer, so the token cannot be checked.
    Unavailable,
}

impl ResourceServer {
    /// `url` is the URL of the tools.
    pub fn new(options: OAuthOptions, url: PublicUrl) -> Self {
        let OAuthOptions { issuer, public_url: _, audience, scopes } = options;
        let expected = Expected {
            issuer: issuer.to_string(),
            audience: audience.unwrap_or_else(|| url.to_string()),
            scopes: scopes.into_iter().map(|Scope(scope)| scope).collect(),
        };
        let agent = outbound::agent();
        ResourceServer { url, expected, keys: Keys::new(move || issuer.keys(&agent)) }
    }

    /// Begins to fetch the keys in the background, so that a mistake in the options is in the log soon
    /// after the start.
    pub fn start(&self) {
        self.keys.refresh(Instant::now());
    }

    /// The claim `iss` that tokens must have.
    pub fn issuer(&self) -> &str {
        &self.expected.issuer
    }

    /// Checks an access token. Returns its subject and when it expires.
    pub async fn check(&self, token: &str, now: Timestamp) -> Result<Accepted, Error> {
        let token = AccessToken::read(token)?;
        let header = &token.header;
        let keys = self.keys.find(header.kid.as_deref(), header.alg, Instant::now()).await?;
        Ok(token.check(&keys, &self.expected, now)?)
    }

    /// The server's metadata for clients (RFC 9728).
    pub fn metadata(&self) -> Value {
        let mut metadata = json!({
            "resource": self.url.to_string(),
            "resource_name": "agent-memory",
            "authorization_servers": [self.expected.issuer],
            "bearer_methods_supported": ["header"],
        });
        if !self.expected.scopes.is_empty() {
            metadata["scopes_supported"] = json!(self.expected.scopes);
        }
        metadata
    }

    /// The paths at which the [metadata](ResourceServer::metadata) is served: one for the path of the
    /// tools' URL, and one for clients that look only at the root.
    pub fn metadata_paths(&self) -> Vec<String> {
        let mut paths = vec![METADATA.to_owned(), format!("{METADATA}{}", self.url.path())];
        paths.dedup();
        paths
    }

    /// The header `WWW-Authenticate` of a refusal (RFC 6750, RFC 9728). `error` and its description
    /// are left out for a request without a token.
    pub fn challenge(&self, error: Option<(&str, &str)>) -> String {
        let error = error.map_or_else(String::new, |(error, description)| {
            format!("error=\"{error}\", error_description=\"{description}\", ")
        });
        let scope = if self.expected.scopes.is_empty() {
            String::new()
        } else {
            format!("scope=\"{}\", ", self.expected.scopes.join(" "))
        };
        let path = self.url.path();
        format!("Bearer {error}{scope}resource_metadata=\"{}{METADATA}{path}\"", self.url.origin())
    }
}

impl From<Violation> for Error {
    fn from(violation: Violation) -> Self {
        match violation {
            Violation::Invalid(reason) => Error::Invalid(reason),
            Violation::Scope => Error::Scope,
        }
    }
}

impl From<Missing> for Error {
    fn from(missing: Missing) -> Self {
        match missing {
            Missing::Unknown => {
                Error::Invalid("it is signed by a key that its issuer does not have")
            }
            Missing::Unavailable => Error::Unavailable,
        }
    }
}

#[cfg(test)]
mod tests;
