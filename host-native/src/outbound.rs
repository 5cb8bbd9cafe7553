//! The HTTP client for requests to models and authorization servers.

use std::net::IpAddr;
use ureq::Agent;
use ureq::http::Uri;
use ureq::tls::{RootCerts, TlsConfig};

/// Reads a URL that is encrypted or on this machine: `https`, or `http` if the host is a loopback address
/// or `localhost`. `None` for any other URL, and for a URL with a user, a query or a fragment.
pub(crate) fn secure_url(text: &str) -> Option<Uri> {
    // Checked here, since `Uri` drops a fragment.
    let uri: Uri = Some(text).filter(|text| !text.contains('#'))?.parse().ok()?;
    let authority = uri.authority()?;
    let is_secure = match uri.scheme_str() {
        Some("https") => true,
        Some("http") => is_loopback(authority.host()),
        _ => false,
    };
    let is_plain = !authority.as_str().contains('@') && uri.query().is_none();
    let has_host = !authority.host().is_empty();
    (is_secure && is_plain && has_host).then_some(uri)
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let is_address = address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    is_address || host.eq_ignore_ascii_case("localhost")
}

/// An HTTP client that sends a request only to the host in its URL: it follows no redirect and uses no
/// proxy.
pub(crate) fn agent() -> Agent {
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    Agent::config_builder()
        .tls_config(tls)
        // By default ureq uses the proxy that environment variables name.
        .proxy(None)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        // Requests are rare, so a server would have closed an idle connection.
        .max_idle_connections(0)
        .user_agent(concat!("agent-memory/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent()
}
