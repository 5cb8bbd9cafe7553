//! The web pages that may call the HTTP server.

use axum::http::{HeaderValue, Uri};
use std::str::FromStr;

/// The origin of web pages, such as `https://example.com` or `http://localhost:3000`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(pub(super) HeaderValue);

impl FromStr for Origin {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const FORM: &str = "an origin is `http` or `https`, a host and perhaps a port, such as \
                            `http://localhost:3000`";
        let uri = Uri::from_str(text).map_err(|_| FORM)?;
        let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "http" | "https"));
        let host = uri.host().filter(|host| !host.is_empty() && !host.contains('*'));
        let port = uri.port().map_or_else(String::new, |port| format!(":{port}"));
        let origin = format!("{}://{}{port}", scheme.ok_or(FORM)?, host.ok_or(FORM)?);
        let value = HeaderValue::from_str(text).map_err(|_| FORM)?;
        (origin == text).then_some(Self(value)).ok_or(FORM)
    }
}

impl Origin {
    /// The origin with its port, even if it is the default port: rmcp takes an origin without a port for
    /// any port.
    pub(super) fn with_port(&self) -> String {
        let origin = self.0.to_str().unwrap_or_default();
        let has_port = origin.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let usual = if origin.starts_with("https") { ":443" } else { ":80" };
        format!("{origin}{}", if has_port { "" } else { usual })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_written_as_browsers_send_it() {
        for text in ["http://localhost:3000", "https://app.example", "http://[::1]:8080"] {
            assert!(Origin::from_str(text).is_ok(), "{text}");
        }
        for text in [
            "",
            "*",
            "null",
            "localhost",
            "localhost:3000",
            "http://",
            "file://",
            "https://*.a.example",
            "https://a b",
            "http://a,http://b",
            "http://a/",
            "http://a/x",
            "http://a?x",
            "http://u@a",
            "ftp://a",
            "HTTP://a",
        ] {
            assert!(Origin::from_str(text).is_err(), "{text}");
        }
    }
}
