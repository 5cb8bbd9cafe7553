//! The program's function that is asked for summaries.

use agent_memory_host::{BoxFuture, Model, SummaryRequest};
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::Instant;

/// The name of the function among the models, as in the Node host.
const NAME: &str = "function";

/// A function of Python: from instructions, memories, the longest summary in characters, the prompt
/// and the seconds that are left, to the summary.
pub(crate) struct Function(Arc<Py<PyAny>>);

impl Function {
    pub(crate) fn new(function: Py<PyAny>) -> Function {
        Function(Arc::new(function))
    }
}

impl Model for Function {
    fn name(&self) -> &str {
        NAME
    }

    /// Asks on a thread of its own, since the function may take long. It is not ended when the time
    /// is over: its answer is dropped.
    fn summarize<'a>(
        &'a self,
        request: &'a SummaryRequest,
    ) -> BoxFuture<'a, Result<String, String>> {
        let (function, request) = (self.0.clone(), request.clone());
        let asked = tokio::task::spawn_blocking(move || {
            // None while Python ends.
            Python::try_attach(|py| {
                let left = request.deadline.saturating_duration_since(Instant::now());
                let prompt = request.prompt();
                let SummaryRequest { instructions, memories, max_characters, .. } = &request;
                let arguments =
                    (instructions, memories, max_characters, prompt, left.as_secs_f64());
                function.call1(py, arguments)?.extract::<String>(py)
            })
        });
        Box::pin(async move {
            match asked.await {
                Ok(Some(answered)) => answered.map_err(|error| error.to_string()),
                Ok(None) | Err(_) => Err("the program is ending".to_owned()),
            }
        })
    }
}
