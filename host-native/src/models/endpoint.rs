use crate::outbound::secure_url;
use std::fmt;

/// The URL of a model's API, without a slash at its end. Memories are sent there, so it is `https` or on
/// this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint(String);

/// Why a text is not an [`Endpoint`]. The message does not repeat the text, which may contain a
/// password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a model needs {}", Endpoint::FORM)]
pub struct InvalidEndpoint;

impl Endpoint {
    /// The form of a valid endpoint, in words.
    pub const FORM: &str = "an `https://` URL, or an `http://` URL of this machine such as \
        `http://localhost:11434/v1`, without user, query or fragment";

    /// Reads a URL: `https`, or `http` if the host is a loopback address or `localhost`.
    ///
    /// # Errors
    ///
    /// [`InvalidEndpoint`] for any other URL, and for one with a user, a query or a fragment.
    pub fn parse(text: &str) -> Result<Endpoint, InvalidEndpoint> {
        let text = text.trim();
        secure_url(text).ok_or(InvalidEndpoint)?;
        Ok(Endpoint(text.trim_end_matches('/').to_owned()))
    }

    /// The URL of a path below the endpoint.
    pub(super) fn join(&self, path: &str) -> String {
        format!("{}/{path}", self.0)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_encrypted_or_on_this_machine() {
        for (text, url) in [
            ("https://api.anthropic.com", "https://api.anthropic.com"),
            (" https://models.example:8443/v1/ ", "https://models.example:8443/v1"),
            ("HTTPS://models.example", "HTTPS://models.example"),
            ("http://localhost:11434/v1", "http://localhost:11434/v1"),
            ("http://LOCALHOST", "http://LOCALHOST"),
            ("http://127.0.0.1:80", "http://127.0.0.1:80"),
            ("http://127.8.8.8", "http://127.8.8.8"),
            ("http://[::1]:8080//", "http://[::1]:8080"),
        ] {
            assert_eq!(Endpoint::parse(text).map(|of| of.to_string()), Ok(url.to_owned()));
        }
    }

    #[test]
    fn any_other_url_is_refused() {
        for text in [
            "",
            "https://",
            "https:///v1",
            "localhost:11434",
            "localhost",
            "/v1",
            "ftp://localhost",
            "http://models.example",
            "http://localhost.example",
            "http://127.0.0.1.example",
            "http://10.0.0.1",
            "http://0.0.0.0",
            "http://[::2]",
            "http://[::ffff:10.0.0.1]",
            "http://localhost@models.example",
            "https://user:password@models.example",
            "https://models.example/v1?key=secret",
            "https://models.example/#v1",
            "https://two words.example",
        ] {
            assert_eq!(Endpoint::parse(text), Err(InvalidEndpoint), "{text}");
        }
    }
}
