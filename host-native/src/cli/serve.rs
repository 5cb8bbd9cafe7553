use super::embedder::EmbedderOptions;
use super::models::Models;
use super::oauth::OAuth;
use super::settings::Settings;
use super::token::tokens_of;
use super::{Error, help, output, program, value};
use crate::mcp::ServeError;
use crate::{AgentMemory, Builder, mcp};
use clap::Args;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// Serve the tools over MCP, on standard input and output or over HTTP.
///
/// The tools may use the repository around the working directory or around `CLAUDE_PROJECT_DIR`,
/// the directories given with `--allow`, and the roots of older clients. Logs go to standard error.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("help/serve.txt"),
    include_str!("help/settings.txt"),
    include_str!("help/serve-status.txt"),
]))]
pub struct Serve {
    /// Serve over HTTP, such as at `127.0.0.1:8080`, until Ctrl-C. Standard output then has the
    /// server's URL. The port 0 stands for any that is free. With tokens (`agent-memory token`), a
    /// client needs one; without, only programs of this machine are served.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = value::address)]
    http: Option<SocketAddr>,

    /// Let the web pages of this origin call the server, such as `http://localhost:3000`.
    /// May be given several times.
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    allow_origin: Vec<mcp::Origin>,

    /// Answer requests for this host, too, such as `memory.example.com`. May be given several times.
    #[arg(long, value_name = "HOST", requires = "http")]
    allow_host: Vec<String>,

    #[command(flatten)]
    oauth: OAuth,

    #[command(flatten)]
    settings: Settings,

    #[command(flatten)]
    models: Models,

    #[command(flatten)]
    embedder: EmbedderOptions,
}

impl Serve {
    /// Checks the arguments as a server does before it serves, but without looking for the project.
    ///
    /// # Errors
    ///
    /// The error with which the server would end.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.check_project()?;
        self.memory(self.settings.builder_of_all_agents()?).map(drop)
    }

    pub(super) fn is_over_http(&self) -> bool {
        self.http.is_some()
    }

    fn check_project(&self) -> Result<(), Error> {
        if self.is_over_http() { self.settings.reach().project().check_for_http() } else { Ok(()) }
    }

    fn memory(&self, builder: Builder) -> Result<AgentMemory, Error> {
        let builder = self.models.add(&self.settings, builder)?;
        self.embedder.add(builder)?.build().map_err(Error::usage)
    }

    pub(super) fn run(self) -> Result<ExitCode, Error> {
        self.check_project()?;
        let memory = self.memory(self.settings.builder()?)?;
        if let Some(address) = self.http {
            let tokens = tokens_of(self.settings.data_directory())?;
            let count = tokens.all().map_err(|error| Error::storage(error.message))?.len();
            let oauth = self.oauth.options();
            let is_local = mcp::is_local(address);
            match &oauth {
                None if !is_local && count == 0 => {
                    return Err(Error::usage(ServeError::Exposed(address)));
                }
                Some(oauth) if !is_local && oauth.public_url.is_none() => {
                    return Err(Error::usage(ServeError::NoPublicUrl(address)));
                }
                _ => {}
            }
            let options = mcp::HttpOptions {
                allowed_origins: self.allow_origin,
                allowed_hosts: self.allow_host,
                tokens: Some(Arc::new(tokens)),
                oauth,
            };
            return serve_http(memory, address, options, count);
        }
        tracing::info!(
            version = env!("CARGO_PKG_VERSION"),
            tools = memory.tools_for_models().count(),
            "serving MCP on standard input and output"
        );
        if std::io::stdin().is_terminal() {
            tracing::info!(
                "a client is expected to start this; press Ctrl-D to end the input and stop"
            );
        }
        let runtime = program::runtime()?;
        let served = runtime.block_on(async { mcp::serve_stdio(memory, stop_signal()).await });
        // A pending read of standard input cannot be interrupted, so do not wait for it.
        runtime.shutdown_timeout(Duration::from_millis(200));
        served.map_err(Error::usage)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn serve_http(
    memory: AgentMemory,
    address: SocketAddr,
    options: mcp::HttpOptions,
    tokens: usize,
) -> Result<ExitCode, Error> {
    let tools = memory.tools_for_models().count();
    let runtime = program::runtime_of_server()?;
    let served = runtime.block_on(async {
        let listener = TcpListener::bind(address)
            .await
            .map_err(|error| Error::storage(format!("cannot listen at `{address}`: {error}")))?;
        let address = listener.local_addr().map_err(Error::storage)?;
        let url = format!("http://{address}{}", mcp::HTTP_PATH);
        tracing::info!(
            version = env!("CARGO_PKG_VERSION"),
            tools,
            tokens,
            url,
            "serving MCP over HTTP"
        );
        let stop = stop_signal();
        output::print(&url)?;
        mcp::serve_http(memory, listener, options, stop).await.map_err(Error::usage)
    });
    runtime.shutdown_timeout(Duration::from_millis(200));
    served?;
    Ok(ExitCode::SUCCESS)
}

/// Completes when the terminal or the system asks the program to stop. Signals count from this call on.
#[cfg(unix)]
fn stop_signal() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let signals = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    async move {
        match signals {
            (Ok(mut interrupt), Ok(mut terminate)) => {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
            }
            _ => std::future::pending().await,
        }
    }
}

/// Completes when the terminal asks the program to stop.
#[cfg(not(unix))]
async fn stop_signal() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}
