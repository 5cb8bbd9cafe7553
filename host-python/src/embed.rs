//! The program's function that is asked for vectors.

use agent_memory_host::{BoxFuture, Embedder};
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::Instant;

/// A function of Python: from texts and the seconds that are left to the vectors.
pub(crate) struct Function {
    model: String,
    function: Arc<Py<PyAny>>,
}

impl Function {
    /// `model` is the name under which its vectors are stored.
    pub(crate) fn new(model: String, function: Py<PyAny>) -> Function {
        Function { model, function: Arc::new(function) }
    }
}

impl Embedder for Function {
    fn name(&self) -> &str {
        &self.model
    }

    /// Asks on a thread of its own, since the function may take long. It is not ended when the time
    /// is over: its answer is dropped.
    fn embed<'a>(
        &'a self,
        texts: &'a [String],
        deadline: Instant,
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, String>> {
        let (function, texts) = (self.function.clone(), texts.to_vec());
        let asked = tokio::task::spawn_blocking(move || {
            // None while Python ends.
            Python::try_attach(|py| {
                let left = deadline.saturating_duration_since(Instant::now());
                function.call1(py, (texts, left.as_secs_f64()))?.extract::<Vec<Vec<f32>>>(py)
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
