//! A PostgreSQL server of a test, in a scratch directory with a socket of its own.

use std::fs;
use std::net::Ipv4Addr;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use agent_memory_host::database::{DatabaseOptions, DatabaseUrl};
use agent_memory_host::storage::{Error, ErrorCode};
use agent_memory_storage_postgres::{Options, Server};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::TIMEOUT;
use crate::skip::skip;

/// The user and the group of the server, which refuses to run as root.
const NOBODY: u32 = 65_534;

/// The certificate of a server for the host `database.test`. `tls/root.pem` has issued it, and it is
/// valid until 2120.
const CERTIFICATE: &str = include_str!("tls/server.pem");
/// The private key of the certificate.
const KEY: &str = include_str!("tls/server.key");

/// The superuser of the server, and its first database.
const ADMINISTRATOR: &str = "postgres";

/// The name of the socket in its directory.
pub const SOCKET: &str = ".s.PGSQL.5432";

/// The name of the configuration of a pooler in its directory.
const CONFIGURATION: &str = "pgbouncer.ini";

/// The time between two attempts to reach a new server.
const PAUSE: Duration = Duration::from_millis(20);

/// A running server, with the tables of agent memory.
#[derive(Debug)]
pub struct PostgresServer {
    process: Child,
    programs: PathBuf,
    directory: TempDir,
}

impl PostgresServer {
    /// Starts a server. `None` if this machine has no PostgreSQL: the test is then skipped.
    #[track_caller]
    pub fn start() -> Option<Self> {
        Self::start_with("listen_addresses = ''", "local all all trust")
    }

    /// Starts a server that listens at an address of this machine, too: with TLS and the certificate in
    /// `tests/src/tls`, or without TLS.
    #[track_caller]
    pub fn start_at(address: Ipv4Addr, has_tls: bool) -> Option<Self> {
        let settings = format!("listen_addresses = '{address}'");
        if !has_tls {
            return Self::start_with(&settings, "local all all trust\nhost all all samehost trust");
        }
        let settings = format!(
            "{settings}\nssl = on\nssl_cert_file = '../server.pem'\nssl_key_file = '../server.key'"
        );
        Self::start_with(&settings, "local all all trust\nhostssl all all samehost trust")
    }

    /// Starts a server with lines for `postgresql.conf` and for `pg_hba.conf`.
    #[track_caller]
    fn start_with(settings: &str, rules: &str) -> Option<Self> {
        let Some(programs) = programs() else {
            skip("there is no PostgreSQL, such as Debian's package `postgresql`");
            return None;
        };
        let directory = tempfile::tempdir().expect("a scratch directory");
        if is_root() {
            chown(directory.path(), Some(NOBODY), Some(NOBODY)).expect("root may");
        }
        let open = fs::Permissions::from_mode(0o755);
        fs::set_permissions(directory.path(), open).expect("its owner may");
        let data = directory.path().join("data");
        let mut initdb = as_server_user(&programs.join("initdb"));
        initdb.args([
            "-A",
            "trust",
            "-U",
            ADMINISTRATOR,
            "-E",
            "UTF8",
            "--no-locale",
            "--no-sync",
            "-D",
        ]);
        let made = initdb.arg(&data).current_dir(directory.path()).output().expect("initdb runs");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let configuration = data.join("postgresql.conf");
        let made = fs::read_to_string(&configuration).expect("initdb made it");
        fs::write(configuration, format!("{made}\n{settings}\n")).expect("a scratch file");
        fs::write(data.join("pg_hba.conf"), format!("{rules}\n")).expect("a scratch file");
        for (name, contents) in [("server.pem", CERTIFICATE), ("server.key", KEY)] {
            let path = directory.path().join(name);
            fs::write(&path, contents).expect("a scratch file");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("its owner may");
            if is_root() {
                chown(&path, Some(NOBODY), Some(NOBODY)).expect("root may");
            }
        }
        let process = spawn(&programs, directory.path());
        let server = Self { process, programs, directory };
        let administrator = database(&server.url_of(ADMINISTRATOR, ADMINISTRATOR));
        once_it_answers(|| administrator.execute("CREATE ROLE memory LOGIN"));
        administrator.execute("CREATE DATABASE memory OWNER memory").expect("a new name");
        server.migrate();
        Some(server)
    }

    /// Makes the tables as soon as the server answers.
    fn migrate(&self) {
        once_it_answers(|| DatabaseOptions::new(self.url()).migrate());
    }

    /// The directory of the socket.
    pub fn socket_directory(&self) -> &Path {
        self.directory.path()
    }

    /// The text of the URL of the database. Its user owns the database and is no superuser, so that
    /// row-level security holds.
    pub fn url_text(&self) -> String {
        url_at(self.directory.path())
    }

    /// The text of a URL of the database whose user is a superuser: row-level security does not hold.
    pub fn administrator_url_text(&self) -> String {
        self.url_of(ADMINISTRATOR, "memory")
    }

    fn url_of(&self, user: &str, database: &str) -> String {
        url_of(self.directory.path(), user, database)
    }

    /// The URL of the database.
    pub fn url(&self) -> DatabaseUrl {
        self.url_text().parse().expect("a URL")
    }

    /// Ends all connections at once, as a crash does, and starts the server again.
    pub fn restart(&mut self) {
        self.stop();
        self.process = spawn(&self.programs, self.directory.path());
        self.migrate();
    }

    fn stop(&mut self) {
        let process = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw);
        // It may have ended by itself.
        let _ = kill_process(process.expect("a process"), Signal::QUIT);
        let _ = self.process.wait();
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A pooler in front of a server, in transaction mode. It ends when this is dropped.
#[derive(Debug)]
pub struct Pooler {
    process: Child,
    program: PathBuf,
    directory: TempDir,
}

impl Pooler {
    /// Starts a pooler with a number of connections to the server. `None` if this machine has no
    /// PgBouncer: the test is then skipped.
    #[track_caller]
    pub fn start(server: &PostgresServer, connections: usize) -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut directories: Vec<PathBuf> = std::env::split_paths(&path).collect();
        directories.push("/usr/sbin".into());
        let program = directories.iter().map(|at| at.join("pgbouncer")).find(|at| at.is_file());
        let Some(program) = program else {
            skip("there is no PgBouncer, such as Debian's package `pgbouncer`");
            return None;
        };
        let directory = tempfile::tempdir().expect("a scratch directory");
        let own = directory.path();
        let configuration = own.join(CONFIGURATION);
        let text = format!(
            "[databases]\nmemory = host={} dbname=memory user=memory\n\
             [pgbouncer]\nlisten_addr =\nlisten_port = 5432\nunix_socket_dir = {}\n\
             auth_type = any\npool_mode = transaction\ndefault_pool_size = {connections}\n\
             server_login_retry = 1\n",
            server.socket_directory().display(),
            own.display(),
        );
        fs::write(&configuration, text).expect("a scratch file");
        if is_root() {
            for path in [own, &configuration] {
                chown(path, Some(NOBODY), Some(NOBODY)).expect("root may");
            }
        }
        let process = spawn_pooler(&program, own);
        let pooler = Self { process, program, directory };
        pooler.wait();
        Some(pooler)
    }

    /// Ends all connections at once, as a crash does, and starts the pooler again.
    pub fn restart(&mut self) {
        self.stop();
        // The killed pooler has left its socket behind.
        let _ = fs::remove_file(self.directory.path().join(SOCKET));
        self.process = spawn_pooler(&self.program, self.directory.path());
        self.wait();
    }

    /// Waits until the pooler listens.
    fn wait(&self) {
        let until = Instant::now() + TIMEOUT;
        while UnixStream::connect(self.socket_directory().join(SOCKET)).is_err() {
            assert!(Instant::now() < until, "the pooler never listens");
            thread::sleep(PAUSE);
        }
    }

    fn stop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// The directory of the socket.
    pub fn socket_directory(&self) -> &Path {
        self.directory.path()
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        self.stop();
    }
}

fn spawn_pooler(program: &Path, directory: &Path) -> Child {
    let mut pgbouncer = as_server_user(program);
    pgbouncer.arg("-q").arg(directory.join(CONFIGURATION)).current_dir(directory);
    pgbouncer.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    pgbouncer.spawn().expect("the pooler starts")
}

/// The URL of the database whose socket is in a directory.
pub fn url_at(directory: &Path) -> String {
    url_of(directory, "memory", "memory")
}

fn url_of(directory: &Path, user: &str, database: &str) -> String {
    let host = directory.to_str().expect("UTF-8").replace('/', "%2F");
    format!("postgresql://{user}@{host}/{database}")
}

/// The database at a URL, for the statements of tests.
pub fn database(url: &str) -> Server {
    let url = url.parse().expect("a URL");
    let options = Options { url, connections: 4, tenant: 0, statement_time: TIMEOUT };
    Server::new(options).expect("a thread")
}

/// Repeats `work` until the server answers.
///
/// # Panics
///
/// If it never answers, or the work fails.
#[track_caller]
pub fn once_it_answers<T>(work: impl Fn() -> Result<T, Error>) -> T {
    let until = Instant::now() + TIMEOUT;
    loop {
        match work() {
            Ok(done) => return done,
            Err(error) if error.code == ErrorCode::Busy && Instant::now() < until => {
                thread::sleep(PAUSE);
            }
            Err(error) => panic!("{error}"),
        }
    }
}

fn spawn(programs: &Path, directory: &Path) -> Child {
    let log = fs::File::create(directory.join("log")).expect("a log");
    let mut postgres = as_server_user(&programs.join("postgres"));
    // No test cuts the power of the server, so it need not sync.
    postgres.args(["-c", "fsync=off"]);
    postgres.args(["-c", "max_connections=200", "-D"]);
    postgres.arg(directory.join("data")).arg("-k").arg(directory).current_dir(directory);
    postgres.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    postgres.spawn().expect("the server starts")
}

/// A command that runs a program as another user if this process is root.
pub fn as_server_user(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args([format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")]);
    command.arg("--clear-groups").arg(program);
    command
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// The directory of `initdb` and `postgres`: below `/usr/lib/postgresql`, or else in `PATH`.
fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut directories: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let installed = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    directories.extend(installed.map(|version| version.path().join("bin")));
    let has_both = |directory: &PathBuf| {
        ["initdb", "postgres"].iter().all(|name| directory.join(name).is_file())
    };
    directories.into_iter().rfind(has_both)
}
