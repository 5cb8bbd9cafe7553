use super::embedder::EmbedderOptions;
use super::models::Models;
use super::settings::Settings;
use super::{Error, help, program};
use crate::mcp;
use clap::Args;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

/// Serve the tools over MCP, on standard input and output.
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
    #[command(flatten)]
    settings: Settings,

    #[command(flatten)]
    models: Models,

    #[command(flatten)]
    embedder: EmbedderOptions,
}

impl Serve {
    pub(super) fn run(self) -> Result<ExitCode, Error> {
        let builder = self.models.add(&self.settings, self.settings.builder()?)?;
        let builder = self.embedder.add(builder)?;
        let memory = builder.build().map_err(Error::usage)?;
        tracing::info!(
            version = env!("CARGO_PKG_VERSION"),
            tools = mcp::for_models(&memory).count(),
            "serving MCP on standard input and output"
        );
        if std::io::stdin().is_terminal() {
            tracing::info!(
                "a client is expected to start this; press Ctrl-D to end the input and stop"
            );
        }
        let runtime = program::runtime()?;
        let served = runtime.block_on(mcp::serve_stdio(memory, stop_signal()));
        // A pending read of standard input cannot be interrupted, so do not wait for it.
        runtime.shutdown_timeout(Duration::from_millis(200));
        served.map_err(Error::usage)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Ready when the terminal or the system asks the program to stop.
async fn stop_signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}
