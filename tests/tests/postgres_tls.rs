//! Connections to a database on another host: encrypted, and to a server whose certificate is verified.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{self, Command};

use agent_memory_tests::postgres::PostgresServer;
use agent_memory_tests::product::program;

/// The host of the certificate.
const HOST: &str = "database.test";

/// An address of this machine that no other test uses: the process id is in it.
fn address(last: u8) -> Ipv4Addr {
    let [.., high, low] = process::id().to_be_bytes();
    Ipv4Addr::new(127, high, low, last)
}

/// Checks the database of a host at an address, as a user does. `roots` is a file of `tests/src/tls`
/// with the roots that are trusted. Without it, the roots of this machine are trusted. Returns whether
/// the database can be used, and the output.
fn check(host: &str, at: Ipv4Addr, parameters: &str, roots: Option<&str>) -> (bool, String) {
    let mut command = Command::new(program("agent-memory"));
    command.args(["database", "check"]).env_clear();
    let url = format!("postgresql://memory@{host}/memory?hostaddr={at}{parameters}");
    command.env("AGENT_MEMORY_DATABASE_URL", url);
    if let Some(roots) = roots {
        command.env("SSL_CERT_FILE", directory().join(roots));
    }
    let output = command.output().expect("it runs");
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("UTF-8"));
    (output.status.success(), text.concat())
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tls")
}

#[test]
fn the_certificate_of_another_host_is_verified() {
    let at = address(1);
    // This server takes no connection without TLS.
    let Some(_database) = PostgresServer::start_at(at, true) else { return };
    for parameters in ["", "&sslmode=verify-full"] {
        let (can_be_used, text) = check(HOST, at, parameters, Some("root.pem"));
        assert!(can_be_used, "{text}");
    }
    let (can_be_used, text) = check(HOST, at, "&sslmode=disable", Some("root.pem"));
    assert!(!can_be_used && text.contains("refuses the login"), "{text}");
    for (host, roots) in [
        (HOST, None),
        (HOST, Some("other-root.pem")),
        // A certificate of a known root, for another host.
        ("other.test", Some("root.pem")),
    ] {
        let (can_be_used, text) = check(host, at, "", roots);
        assert!(!can_be_used, "{host} {roots:?}: {text}");
        assert!(text.contains("the certificate of the database cannot be verified"), "{text}");
        assert!(text.contains("`SSL_CERT_FILE`"), "{text}");
    }
}

#[test]
fn a_server_without_tls_is_used_only_if_the_url_says_so() {
    let at = address(2);
    let Some(_database) = PostgresServer::start_at(at, false) else { return };
    for parameters in ["", "&sslmode=require"] {
        let (can_be_used, text) = check(HOST, at, parameters, Some("root.pem"));
        assert!(!can_be_used && text.contains("`sslmode=disable`"), "{text}");
    }
    let (can_be_used, text) = check(HOST, at, "&sslmode=disable", None);
    assert!(can_be_used, "{text}");
}
