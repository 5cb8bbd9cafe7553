//! The URL of a database.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, LoadBalanceHosts, SslMode};

/// How long one address may take to answer, unless the URL has `connect_timeout`. Another address is
/// tried afterwards.
const ADDRESS_TIME: Duration = Duration::from_secs(2);

/// The port of a URL without one.
const PORT: u16 = 5432;

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
        let hosts = config.get_hosts().len();
        let is_for_each = |count: usize, least: usize| count <= least || count == hosts;
        if !is_for_each(config.get_ports().len(), 1)
            || !is_for_each(config.get_hostaddrs().len(), 0)
        {
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
    /// The numbers of the hosts, in the order in which they are tried.
    pub(crate) fn hosts(&self) -> impl Iterator<Item = usize> {
        self.in_order(self.config.get_hosts().len()).into_iter()
    }

    /// The configurations for the addresses of a host, in the order in which they are tried. Each has
    /// only one address: with several, tokio-postgres would wait for the login at the first one without
    /// a limit.
    ///
    /// # Errors
    ///
    /// That of the look-up of the name.
    pub(crate) async fn addresses(&self, host: usize) -> io::Result<Vec<Config>> {
        let named = &self.config.get_hosts()[host];
        let ports = self.config.get_ports();
        let port = ports.get(host).or(ports.first()).copied().unwrap_or(PORT);
        let given = self.config.get_hostaddrs().get(host).copied();
        let addresses: Vec<IpAddr> = match (given, named) {
            (Some(address), _) => vec![address],
            #[cfg(unix)]
            (None, Host::Unix(_)) => return Ok(vec![self.at(named, port, None)]),
            (None, Host::Tcp(name)) => {
                let found = tokio::net::lookup_host((name.as_str(), port)).await?;
                found.map(|address| address.ip()).collect()
            }
        };
        let order = self.in_order(addresses.len()).into_iter();
        Ok(order.map(|at| self.at(named, port, Some(addresses[at]))).collect())
    }

    /// The configuration for one address of a host.
    fn at(&self, host: &Host, port: u16, address: Option<IpAddr>) -> Config {
        let all = &self.config;
        let mut one = Config::new();
        match host {
            Host::Tcp(name) => one.host(name),
            #[cfg(unix)]
            Host::Unix(directory) => one.host_path(directory),
        };
        one.port(port);
        address.map(|address| one.hostaddr(address));
        all.get_user().map(|user| one.user(user));
        all.get_password().map(|password| one.password(password));
        all.get_dbname().map(|name| one.dbname(name));
        all.get_options().map(|options| one.options(options));
        all.get_application_name().map(|name| one.application_name(name));
        one.ssl_mode(all.get_ssl_mode()).ssl_negotiation(all.get_ssl_negotiation());
        all.get_connect_timeout().map(|timeout| one.connect_timeout(*timeout));
        all.get_tcp_user_timeout().map(|timeout| one.tcp_user_timeout(*timeout));
        one.keepalives(all.get_keepalives()).keepalives_idle(all.get_keepalives_idle());
        all.get_keepalives_interval().map(|interval| one.keepalives_interval(interval));
        all.get_keepalives_retries().map(|retries| one.keepalives_retries(retries));
        one.target_session_attrs(all.get_target_session_attrs());
        one.channel_binding(all.get_channel_binding());
        one
    }

    /// The numbers below `count`, in order. If the URL asks for a random order, they start at a random
    /// number and go on from 0 at the end.
    fn in_order(&self, count: usize) -> Vec<usize> {
        let is_random = self.config.get_load_balance_hosts() == LoadBalanceHosts::Random;
        let random = if is_random { getrandom::u32().unwrap_or_default() } else { 0 };
        let mut order: Vec<usize> = (0..count).collect();
        order.rotate_left(random as usize % count.max(1));
        order
    }

    /// How long one address may take: the connection, TLS and the login.
    pub(crate) fn address_time(&self) -> Duration {
        let connecting = self.config.get_connect_timeout().copied().unwrap_or(ADDRESS_TIME);
        connecting.saturating_add(LOGIN_TIME)
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
    fn each_address_of_each_host_is_tried_with_all_that_the_url_has() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let addresses = |url: &DatabaseUrl, host| runtime.block_on(url.addresses(host)).unwrap();
        let more = "connect_timeout=3&options=-c%20geqo%3Doff&application_name=a&keepalives=0\
            &keepalives_interval=7&keepalives_retries=8&target_session_attrs=read-write\
            &channel_binding=disable&sslmode=require&sslnegotiation=direct";
        let one = |host: &str| format!("postgresql://ada:s3cret@{host}/memory?{more}");
        let url: DatabaseUrl =
            one("192.0.2.1:6432,[2001:db8::1]:7432,%2Frun%2Fpostgresql:8432").parse().unwrap();
        assert_eq!(url.hosts().collect::<Vec<_>>(), [0, 1, 2]);
        for (host, text, address) in [
            (0, "192.0.2.1:6432", Some("192.0.2.1")),
            (1, "[2001:db8::1]:7432", Some("2001:db8::1")),
            (2, "%2Frun%2Fpostgresql:8432", None),
        ] {
            let mut expected = one(text).parse::<DatabaseUrl>().unwrap().config;
            address.map(|address| expected.hostaddr(address.parse().unwrap()));
            assert_eq!(addresses(&url, host), [expected], "{text}");
        }
        assert_eq!(url.address_time(), Duration::from_secs(8));

        let named: DatabaseUrl =
            "postgresql://a,b/memory?hostaddr=192.0.2.1,192.0.2.2".parse().unwrap();
        let second = &addresses(&named, 1)[0];
        assert_eq!(second.get_hosts(), [Host::Tcp("b".to_owned())]);
        assert_eq!(second.get_hostaddrs(), ["192.0.2.2".parse::<IpAddr>().unwrap()]);
        assert_eq!(second.get_ports(), [PORT]);

        let random: DatabaseUrl =
            "postgresql://a,b,c/memory?load_balance_hosts=random".parse().unwrap();
        let mut hosts: Vec<usize> = random.hosts().collect();
        hosts.sort_unstable();
        assert_eq!(hosts, [0, 1, 2]);
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
            "postgresql://ada:s3cret@a,b,c/memory?port=1,2",
            "postgresql://ada:s3cret@a,b/memory?hostaddr=192.0.2.1",
        ] {
            let refused = text.parse::<DatabaseUrl>().unwrap_err().to_string();
            assert!(refused.contains("postgresql://user") && !refused.contains("s3cret"));
        }
    }
}
