//! An open memory.

use crate::answer::{Answer, answer, from_outcome};
use crate::calls::{self, Reached, Running};
use crate::errors;
use crate::log;
use crate::messages::{Message, Messages, Question, Reply};
use crate::options::{self, Functions};
use crate::process::Process;
use crate::query::{self, Parameter, Table};
use agent_memory_host::storage::Statement;
use agent_memory_host::{AgentMemory, Caller, SummaryRequest};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::json;
use std::io::PipeReader;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::{self, Runtime};
use tokio::sync::{Notify, watch};
use tokio::time::timeout;
use tracing::Dispatch;

/// The time that `close` waits for the threads of ended calls.
const THREADS: Duration = Duration::from_secs(1);

/// A memory that is open or was closed. Each instance of `AgentMemory` and `AsyncAgentMemory` has one.
#[pyclass(frozen)]
pub(crate) struct Memory {
    process: Process,
    /// `None` once the memory is closed.
    open: Mutex<Option<Open>>,
    messages: Arc<Messages>,
    log: Dispatch,
    given_up: Notify,
    /// The end of a pipe from which a byte can be read when messages wait: a file descriptor, or on Windows
    /// a handle. The package closes it.
    #[pyo3(get)]
    signal: i64,
    lists: [String; 5],
}

/// An open memory with the threads of its calls.
struct Open {
    memory: AgentMemory,
    runtime: Runtime,
    /// Each call in progress has a receiver of this channel. Without receivers, all calls have ended.
    in_progress: watch::Sender<()>,
}

#[pymethods]
impl Memory {
    /// `summarizes` and `embeds` say whether the program has such functions.
    #[new]
    fn new(
        py: Python<'_>,
        allow: Vec<PathBuf>,
        options: &str,
        summarizes: bool,
        embeds: bool,
    ) -> PyResult<Memory> {
        let process = Process::open()?;
        let functions = Functions { summarizes, embeds };
        let opened = py.detach(|| open(allow, options, functions));
        let (open, messages, log, signal) = opened.inspect_err(|_| process.closed())?;
        if summarizes || embeds {
            let _entered = open.runtime.enter();
            open.memory.resume(Caller::default());
        }
        let memory = &open.memory;
        let toolsets = memory.toolsets().iter();
        let toolsets = toolsets.map(|of| json!({ "name": of.name, "tools": of.tools }));
        let lists = [
            json(memory.tools()),
            json(memory.resources()),
            json(memory.resource_templates()),
            json(memory.prompts()),
            json(&toolsets.collect::<Vec<_>>()),
        ];
        Ok(Memory {
            process,
            open: Mutex::new(Some(open)),
            messages,
            log,
            given_up: Notify::new(),
            signal,
            lists,
        })
    }

    /// The tools, resources, resource templates, prompts and toolsets, each as a JSON array.
    #[getter]
    fn lists(&self) -> [&str; 5] {
        self.lists.each_ref().map(String::as_str)
    }

    /// Whether this process has opened the memory, and has not closed it.
    #[getter]
    fn is_open(&self) -> bool {
        self.process.is_this() && self.opened().is_some()
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
        answer(calls::wait(py, &runtime, &self.log, asked)?)
    }

    /// Begins a request. The answer comes as a message with this number.
    fn start(
        &self,
        number: u64,
        kind: &str,
        texts: Vec<String>,
        reach: Reached,
    ) -> PyResult<Running> {
        let (memory, runtime, in_progress) = self.begin()?;
        let asked = calls::ask(memory, kind, texts, reach)?;
        Ok(Running::begin(&runtime, asked, in_progress, self.messages.clone(), number))
    }

    /// Runs a read-only statement on the database of the place with this label.
    fn query_database<'py>(
        &self,
        py: Python<'py>,
        place: String,
        sql: String,
        parameters: Vec<Option<Parameter>>,
        max_rows: u32,
    ) -> PyResult<Table<'py>> {
        let (memory, runtime, _in_progress) = self.begin()?;
        let name = query::database(&place)?;
        let parameters = parameters.into_iter().map(query::value).collect();
        let statement = Statement { sql, parameters };
        let rows = calls::wait(py, &runtime, &self.log, async move {
            memory.query(&place, &name, statement, max_rows).await
        })?;
        query::table(py, rows.map_err(|error| errors::of_storage(&error))?)
    }

    /// Takes the waiting messages, each with its kind, its number and its contents. Also returns whether
    /// these are the last. Does not block.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<(Vec<Told<'py>>, bool)> {
        let (messages, has_ended) = self.messages.take();
        let messages: PyResult<_> = messages.into_iter().map(|of| for_python(py, of)).collect();
        Ok((messages?, has_ended))
    }

    /// Passes on the answer of a function, or its error, to the question with this number.
    fn reply(&self, number: u64, reply: Option<Reply>, error: Option<String>) {
        self.messages.reply(number, reply.ok_or_else(|| error.unwrap_or_default()));
    }

    /// Makes a waiting `close` leave the summaries and vectors in progress to the next process.
    fn give_up(&self) {
        self.given_up.notify_one();
    }

    /// Waits at most `calls` seconds for the calls in progress, and at most `follow_ups` seconds for
    /// summaries and vectors, and closes everything. `calls` of `None`: waits until all calls have ended.
    /// Returns false if the memory is closed already, and in a child of `fork`.
    fn close(&self, py: Python<'_>, calls: Option<f64>, follow_ups: f64) -> PyResult<bool> {
        if !self.process.is_this() {
            return Ok(false);
        }
        let Some(Open { memory, runtime, in_progress }) = self.opened().take() else {
            return Ok(false);
        };
        let closed = calls::wait(py, runtime.handle(), &self.log, async {
            match calls {
                None => in_progress.closed().await,
                Some(calls) => {
                    let _ = timeout(Duration::from_secs_f64(calls), in_progress.closed()).await;
                }
            }
            tokio::select! {
                () = memory.close(Duration::from_secs_f64(follow_ups)) => {}
                () = self.given_up.notified() => memory.close(Duration::ZERO).await,
            }
        });
        py.detach(|| {
            drop(memory);
            runtime.shutdown_timeout(THREADS);
        });
        self.messages.end();
        self.process.closed();
        closed.map(|()| true)
    }
}

impl Memory {
    /// The memory, the runtime and a receiver of [`Open::in_progress`] for a call, which keeps the
    /// receiver until its end.
    fn begin(&self) -> PyResult<(AgentMemory, runtime::Handle, watch::Receiver<()>)> {
        self.process.require()?;
        let opened = self.opened();
        let closed = || errors::coded("closed", "the memory is closed; open another");
        let Open { memory, runtime, in_progress } = opened.as_ref().ok_or_else(closed)?;
        Ok((memory.clone(), runtime.handle().clone(), in_progress.subscribe()))
    }

    fn opened(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Memory {
    /// Closes a memory that the package has not closed, and ends its calls. In a child of `fork`, leaves
    /// everything as it is: the threads do not exist there, and the connections are the parent's.
    fn drop(&mut self) {
        let open = self.open.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        match open {
            Some(Open { memory, runtime, .. }) if self.process.is_this() => {
                drop(memory);
                runtime.shutdown_timeout(THREADS);
                self.messages.end();
                self.process.closed();
            }
            Some(open) => std::mem::forget(open),
            None => {}
        }
    }
}

/// Opens a memory. Also returns its messages, the receiver of its log, and the signal.
fn open(
    allow: Vec<PathBuf>,
    options: &str,
    functions: Functions,
) -> PyResult<(Open, Arc<Messages>, Dispatch, i64)> {
    let no_threads =
        |error: std::io::Error| errors::coded("component", &format!("no threads: {error}"));
    let (messages, signal) = Messages::new().map_err(no_threads)?;
    let log = log::dispatch(messages.clone());
    let build = || options::build(allow, options, functions, &messages);
    let memory = tracing::dispatcher::with_default(&log, build)?;
    let of_threads = log.clone();
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("agent-memory")
        .on_thread_start(move || log::on_this_thread(&of_threads))
        .enable_all()
        .build()
        .map_err(no_threads)?;
    let open = Open { memory, runtime, in_progress: watch::Sender::new(()) };
    Ok((open, messages, log, given_away(signal)))
}

/// The file descriptor of the end of a pipe, which its user closes.
#[cfg(unix)]
fn given_away(end: PipeReader) -> i64 {
    i64::from(std::os::fd::IntoRawFd::into_raw_fd(end))
}

/// The handle of the end of a pipe, which its user closes.
#[cfg(windows)]
fn given_away(end: PipeReader) -> i64 {
    std::os::windows::io::IntoRawHandle::into_raw_handle(end) as i64
}

/// A message for the package: its kind, its number and its contents.
type Told<'py> = (&'static str, u64, Bound<'py, PyAny>);

/// Converts a message for the package. Runs no Python code.
fn for_python(py: Python<'_>, message: Message) -> PyResult<Told<'_>> {
    let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now()).as_secs_f64();
    Ok(match message {
        Message::Answer(number, Ok(outcome)) => {
            ("answer", number, from_outcome(outcome).into_bound_py_any(py)?)
        }
        Message::Answer(number, Err(error)) => {
            let error = (errors::call_code(&error), error.to_string());
            ("error", number, error.into_bound_py_any(py)?)
        }
        Message::Question(number, Question::Summary(request)) => {
            let prompt = request.prompt();
            let left = left(request.deadline);
            let SummaryRequest { instructions, memories, max_characters, .. } = request;
            let question = (instructions, memories, max_characters, prompt, left);
            ("summarize", number, question.into_bound_py_any(py)?)
        }
        Message::Question(number, Question::Vectors(texts, deadline)) => {
            ("embed", number, (texts, left(deadline)).into_bound_py_any(py)?)
        }
        Message::Log(level, text) => ("log", level, text.into_bound_py_any(py)?),
    })
}

fn json<T: Serialize>(list: &[T]) -> String {
    serde_json::to_string(list).expect("a list of the description is JSON")
}
