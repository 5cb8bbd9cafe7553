use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{fmt, registry};

/// The target of audit lines, which say who changed what. They are logged at every level.
const AUDIT: &str = "audit";

/// Logs to standard error from this level up. Standard output is for results and MCP.
pub(super) fn start(level: LevelFilter) {
    // At INFO `rmcp` logs details that only its developers need.
    let protocol = if level > LevelFilter::INFO { level } else { level.min(LevelFilter::ERROR) };
    // `rmcp::service` logs an error if a client hangs up before its answer, which is normal. It is
    // shown only for debugging.
    let answers = if level > LevelFilter::INFO { level } else { LevelFilter::OFF };
    let targets = Targets::new()
        .with_default(level)
        .with_target(AUDIT, LevelFilter::INFO)
        .with_target("rmcp", protocol)
        .with_target("rmcp::service", answers);
    let lines = fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_target(false)
        .log_internal_errors(false);
    // A command may open two memories and start logging twice: the second start has no effect.
    let _ = registry().with(targets).with(lines).try_init();
}
