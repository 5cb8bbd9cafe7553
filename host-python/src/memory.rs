//! An open memory.

use crate::answer::{Answer, answer};
use crate::calls::{self, Reached, Running};
use crate::errors;
use crate::options::{self, Functions};
use crate::process::Process;
use crate::query::{self, Parameter, Table};
use agent_memory_host::storage::Statement;
use agent_memory_host::{AgentMemory, Caller};
use pyo3::prelude::*;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::runtime::{self, Runtime};
use tokio::sync::watch;

/// How long `close` waits for summaries and vectors.
const SUMMARIES: Duration = Duration::from_secs(5);

/// How long `close` then waits for threads, which end as soon as their calls have.
const THREADS: Duration = Duration::from_secs(1);

/// An open memory. The package's classes `AgentMemory` and `AsyncAgentMemory` each have one.
#[pyclass(frozen)]
pub(crate) struct Memory {
    process: Process,
    /// None once it is closed, or was not opened by this process.
    open: Mutex<Option<Open>>,
    lists: [String; 4],
}

/// An open memory with the threads of its calls.
struct Open {
    memory: AgentMemory,
    runtime: Runtime,
    /// Each call in progress has a receiver.
    in_progress: watch::Sender<()>,
}

#[pymethods]
impl Memory {
    #[new]
    #[pyo3(signature = (allow, options, summarize, embed))]
    fn new(
        py: Python<'_>,
        allow: Vec<PathBuf>,
        options: &str,
        summarize: Option<Py<PyAny>>,
        embed: Option<Py<PyAny>>,
    ) -> PyResult<Memory> {
        let process = Process::open()?;
        let asks = summarize.is_some() || embed.is_some();
        let functions = Functions { summarize, embed };
        let opened = py.detach(|| {
            let memory = options::build(allow, options, functions)?;
            let runtime = runtime::Builder::new_multi_thread()
                .worker_threads(1)
                .thread_name("agent-memory")
                .enable_all()
                .build()
                .map_err(|error| errors::open("component", &format!("no threads: {error}")))?;
            Ok(Open { memory, runtime, in_progress: watch::Sender::new(()) })
        });
        let open = opened.inspect_err(|_: &PyErr| process.closed())?;
        if asks {
            let _entered = open.runtime.enter();
            open.memory.resume(Caller::default());
        }
        let memory = &open.memory;
        let lists = [
            json(memory.tools()),
            json(memory.resources()),
            json(memory.resource_templates()),
            json(memory.prompts()),
        ];
        Ok(Memory { process, open: Mutex::new(Some(open)), lists })
    }

    /// The tools, resources, resource templates and prompts, each as a JSON array.
    #[getter]
    fn lists(&self) -> [&str; 4] {
        self.lists.each_ref().map(String::as_str)
    }

    /// Makes a request, and waits for its answer.
    fn ask(
        &self,
        py: Python<'_>,
        kind: &str,
        texts: Vec<String>,
        reach: Reached,
    ) -> PyResult<Answer> {
        let (memory, runtime, _in_progress) = self.begin()?;
        let asked = calls::ask(memory, kind, texts, reach)?;
        answer(calls::wait(py, &runtime, asked)?)
    }

    /// Begins a request. `done` gets its answer or an exception, on another thread.
    fn start(
        &self,
        kind: &str,
        texts: Vec<String>,
        reach: Reached,
        done: Py<PyAny>,
    ) -> PyResult<Running> {
        let (memory, runtime, in_progress) = self.begin()?;
        let asked = calls::ask(memory, kind, texts, reach)?;
        Ok(Running::begin(&runtime, asked, in_progress, done))
    }

    /// Runs a read-only statement on the database of layers.
    fn query_layers<'py>(
        &self,
        py: Python<'py>,
        sql: String,
        parameters: Vec<Option<Parameter>>,
        max_rows: u32,
    ) -> PyResult<Table<'py>> {
        let (memory, runtime, _in_progress) = self.begin()?;
        let (label, name) = query::database()
            .ok_or_else(|| errors::call("not-found", "this component has no such database"))?;
        let parameters = parameters.into_iter().map(query::value).collect();
        let statement = Statement { sql, parameters };
        let rows = calls::wait(py, &runtime, async move {
            memory.query(&label, &name, statement, max_rows).await
        })?;
        query::table(py, rows.map_err(|error| errors::of_storage(&error))?)
    }

    /// Waits for the calls in progress, and for summaries and vectors, and closes everything. In a child of
    /// `fork` it does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if !self.process.is_this() {
            return Ok(());
        }
        let Some(Open { memory, runtime, in_progress }) = self.opened().take() else {
            return Ok(());
        };
        let closed = calls::wait(py, runtime.handle(), async {
            in_progress.closed().await;
            memory.close(SUMMARIES).await;
        });
        py.detach(|| {
            drop(memory);
            runtime.shutdown_timeout(THREADS);
        });
        self.process.closed();
        closed
    }
}

impl Memory {
    /// What a call needs. The receiver is held until the call has ended.
    fn begin(&self) -> PyResult<(AgentMemory, runtime::Handle, watch::Receiver<()>)> {
        self.process.require()?;
        let opened = self.opened();
        let closed = || errors::call("closed", "the memory is closed; open another");
        let Open { memory, runtime, in_progress } = opened.as_ref().ok_or_else(closed)?;
        Ok((memory.clone(), runtime.handle().clone(), in_progress.subscribe()))
    }

    fn opened(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Memory {
    /// Ends a memory that was not closed, without waiting. In a child of `fork` nothing is touched:
    /// neither the threads, which are not there, nor the connections, which are the parent's.
    fn drop(&mut self) {
        let open = self.open.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        match open {
            Some(open) if self.process.is_this() => open.runtime.shutdown_background(),
            Some(open) => std::mem::forget(open),
            None => {}
        }
    }
}

fn json<T: Serialize>(list: &[T]) -> String {
    serde_json::to_string(list).expect("a list of the description is JSON")
}
