//! The URL of a database.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// How long one address may take to answer, unless the URL has `connect_timeout`. Another address is
/// tried afterwards.
const ADDRESS_TIME: Duration = Duration::from_secs(2);

/// How many addresses of a host are usually tried: IPv6 and IPv4.
const ADDRESSES: u32 = 2;

/// How long TLS and the login may take.
const LOGIN_TIME: Duration = Duration::from_secs(5);

/// How long the request to a server to end a statement may take.
pub(crate) const CANCEL_TIME: Duration = Duration::from_secs(5);

/// The time after which an idle TCP connection is tested, and the time for the other side to
/// acknowledge sent data.
const SILENCE: Duration = Duration::from_secs(30);

/// The URL of a database, with its user and its password. `Display` and `Debug` show neither.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl {
    config: Config,
}

/// A text that is not the URL of a database. The error does not have the text: it may hold a
/// password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlError;

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the URL of the database cannot be read: it has the form \
             `postgresql://user:password@host:5432/database`, with `%` escapes for special \
             characters",
        )
    }
}

impl std::error::Error for UrlError {}

impl FromStr for DatabaseUrl {
    type Err = UrlError;

    /// Reads `postgresql://…` or `postgres://…`. TLS with a verified certificate is required, unless
    /// the URL has `sslmode=disable` or all its hosts are of this machine.
    fn from_str(text: &str) -> Result<Self, UrlError> {
        let text = text.trim();
        if !["postgresql://", "postgres://"].iter().any(|scheme| text.starts_with(scheme)) {
            return Err(UrlError);
        }
        // tokio-postgres does not know these modes. The certificate is verified in each mode with TLS.
        let text = ["verify-full", "verify-ca"].iter().fold(text.to_owned(), |text, mode| {
            text.replace(&format!("sslmode={mode}"), "sslmode=require")
        });
        let mut config: Config = text.parse().map_err(|_| UrlError)?;
        if config.get_hosts().is_empty() || config.get_dbname().is_none() {
            return Err(UrlError);
        }
        if config.get_ssl_mode() == SslMode::Prefer {
            let is_local = config.get_hosts().iter().all(is_local)
                && config.get_hostaddrs().iter().all(std::net::IpAddr::is_loopback);
            config.ssl_mode(if is_local { SslMode::Disable } else { SslMode::Require });
        }
        if config.get_application_name().is_none() {
            config.application_name("agent-memory");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(ADDRESS_TIME);
        }
        config.keepalives_idle(SILENCE).tcp_user_timeout(SILENCE);
        Ok(Self { config })
    }
}

fn is_local(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            let address = name.trim_start_matches('[').trim_end_matches(']');
            let is_loopback =
                address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
            is_loopback || name.eq_ignore_ascii_case("localhost")
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

impl DatabaseUrl {
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// How long a connection may take: all addresses of all hosts, TLS and the login.
    pub(crate) fn connect_time(&self) -> Duration {
        let hosts = u32::try_from(self.config.get_hosts().len()).unwrap_or(u32::MAX);
        let each = self.config.get_connect_timeout().copied().unwrap_or(ADDRESS_TIME);
        each.saturating_mul(hosts.saturating_mul(ADDRESSES)).saturating_add(LOGIN_TIME)
    }

    /// Whether connections are encrypted.
    pub fn uses_tls(&self) -> bool {
        self.config.get_ssl_mode() != SslMode::Disable
    }
}

impl fmt::Display for DatabaseUrl {
    /// The hosts, the ports and the name of the database.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ports = self.config.get_ports();
        f.write_str("postgresql://")?;
        for (index, host) in self.config.get_hosts().iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            match host {
                Host::Tcp(name) => f.write_str(name)?,
                #[cfg(unix)]
                Host::Unix(directory) => write!(f, "{}", directory.display())?,
            }
            let port = ports.get(index).or(ports.first());
            if let Some(port) = port {
                write!(f, ":{port}")?;
            }
        }
        write!(f, "/{}", self.config.get_dbname().unwrap_or_default())
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_of_a_url_has_no_user_and_no_password() {
        for text in [
            "postgresql://ada:s3cret@db.example.com:6432/memory?application_name=s3cret",
            "postgres://ada:s3cret@db.example.com:6432/memory",
        ] {
            let url: DatabaseUrl = text.parse().unwrap();
            assert_eq!(url.to_string(), "postgresql://db.example.com:6432/memory");
            let shown = format!("{url:?}");
            assert!(!shown.contains("s3cret") && !shown.contains("ada"), "{shown}");
        }
    }

    #[test]
    fn another_host_is_reached_with_tls_unless_the_url_says_otherwise() {
        let uses_tls = |text: &str| text.parse::<DatabaseUrl>().unwrap().uses_tls();
        assert!(uses_tls("postgresql://db.example.com/memory"));
        assert!(uses_tls("postgresql://127.0.0.1,db.example.com/memory"));
        assert!(uses_tls("postgresql://localhost/memory?hostaddr=192.0.2.2"));
        assert!(uses_tls("postgresql://localhost/memory?sslmode=verify-full"));
        assert!(!uses_tls("postgresql://db.example.com/memory?sslmode=disable"));
        for local in ["localhost", "127.0.0.1", "[::1]", "%2Frun%2Fpostgresql"] {
            assert!(!uses_tls(&format!("postgresql://{local}/memory")), "{local}");
        }
    }

    #[test]
    fn another_text_is_refused_without_being_told() {
        for text in [
            "",
            "host=db password=s3cret dbname=memory",
            "mysql://ada:s3cret@db/memory",
            "postgresql://ada:s3cret@db",
            "postgresql://ada:s3cret@db:port/memory",
            "postgresql://ada:s3cret@db/memory?s3cret=1",
        ] {
            let refused = text.parse::<DatabaseUrl>().unwrap_err().to_string();
            assert!(refused.contains("postgresql://user") && !refused.contains("s3cret"));
        }
    }
}
