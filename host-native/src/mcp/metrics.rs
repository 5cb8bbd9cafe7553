//! Metrics of a server in the text format of OpenMetrics, which Prometheus reads. No label names an
//! agent, a store or a path.

use crate::{CallError, Outcome};
use axum::http::StatusCode;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use std::sync::Arc;
use std::time::Duration;

/// The media type of the text.
pub(super) const METRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The upper bounds of the histogram of call durations, in seconds.
const BUCKETS: [f64; 10] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5, 10.0];

type Durations = Family<OfTool, Histogram, fn() -> Histogram>;

/// The metrics of one server.
#[derive(Clone, Debug)]
pub(super) struct Metrics {
    registry: Arc<Registry>,
    calls: Family<OfCall, Counter>,
    durations: Durations,
    responses: Family<OfResponse, Counter>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfCall {
    toolset: String,
    tool: String,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfTool {
    toolset: String,
    tool: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfResponse {
    status: u16,
}

impl Metrics {
    pub fn new() -> Self {
        let calls = Family::default();
        let histogram: fn() -> Histogram = || Histogram::new(BUCKETS);
        let durations = Durations::new_with_constructor(histogram);
        let responses = Family::default();
        let mut registry = Registry::with_prefix("agent_memory");
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "The program", version);
        registry.register("calls", "Calls of tools, by how they ended", calls.clone());
        let help = "How long calls of tools took";
        registry.register_with_unit("call_duration", help, Unit::Seconds, durations.clone());
        let help = "Answers to requests, by the status of HTTP";
        registry.register("http_responses", help, responses.clone());
        Metrics { registry: Arc::new(registry), calls, durations, responses }
    }

    /// Counts a call of a tool that exists.
    pub fn count_call(&self, toolset: &str, tool: &str, outcome: &'static str, took: Duration) {
        let toolset = toolset.to_owned();
        let tool = tool.to_owned();
        let of_tool = OfTool { toolset: toolset.clone(), tool: tool.clone() };
        self.durations.get_or_create(&of_tool).observe(took.as_secs_f64());
        self.calls.get_or_create(&OfCall { toolset, tool, outcome }).inc();
    }

    /// Counts an HTTP response by its status.
    pub fn count_response(&self, status: StatusCode) {
        self.responses.get_or_create(&OfResponse { status: status.as_u16() }).inc();
    }

    /// All metrics as text.
    pub fn text(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// How a call ended, in a word. A call without an outcome was cancelled, and may have changed
/// something.
pub(super) fn ended(outcome: Option<&Result<Outcome, CallError>>) -> &'static str {
    match outcome {
        None => "cancelled",
        Some(Ok(Outcome { answer: Ok(_), .. })) => "done",
        Some(Ok(_)) => "refused",
        Some(Err(_)) => "failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_tool_and_outcome() {
        let metrics = Metrics::new();
        for took in [1, 40] {
            metrics.count_call("notes", "keep", "done", Duration::from_millis(took));
        }
        metrics.count_response(StatusCode::UNAUTHORIZED);
        let text = metrics.text().unwrap();
        for line in [
            concat!("agent_memory_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1"),
            "agent_memory_calls_total{toolset=\"notes\",tool=\"keep\",outcome=\"done\"} 2",
            "agent_memory_call_duration_seconds_bucket{le=\"0.001\",toolset=\"notes\",tool=\"keep\"} 1",
            "agent_memory_call_duration_seconds_count{toolset=\"notes\",tool=\"keep\"} 2",
            "agent_memory_http_responses_total{status=\"401\"} 1",
        ] {
            assert!(text.lines().any(|given| given == line), "{line}\n{text}");
        }
        assert!(text.ends_with("# EOF\n"), "{text}");
    }
}
