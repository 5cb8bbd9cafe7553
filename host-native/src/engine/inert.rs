//! The WASI imports of Rust's standard library, without effect.
//!
//! Every component written in Rust imports thirteen interfaces of `wasi:cli` and `wasi:io`. Here
//! they offer no arguments, environment, input or terminal. Only a panic prints anything, and that
//! becomes part of the error message.

use crate::call::Call;
use wasmtime::component::{ComponentType, Linker, Lower, Resource, ResourceType};
use wasmtime::{Result, bail};

struct Pollable;
struct IoError;
struct Input;
struct Output;
struct TerminalInput;
struct TerminalOutput;

type Own<T> = Resource<T>;

/// `wasi:io/streams.stream-error`, which never happens here.
#[derive(ComponentType, Lower)]
#[component(variant)]
#[expect(dead_code, reason = "the imports' type has it")]
enum StreamError {
    #[component(name = "last-operation-failed")]
    LastOperationFailed(Own<IoError>),
    #[component(name = "closed")]
    Closed,
}

/// The maximum number of bytes of one write.
const CHUNK: u64 = 4096;

pub(super) fn add_to_linker(linker: &mut Linker<Call>) -> Result<()> {
    let mut poll = linker.instance("wasi:io/poll@0.2.0")?;
    poll.resource("pollable", ResourceType::host::<Pollable>(), |_, _| Ok(()))?;
    poll.func_wrap("[method]pollable.block", |_, (_,): (Own<Pollable>,)| Ok(()))?;

    let mut error = linker.instance("wasi:io/error@0.2.0")?;
    error.resource("error", ResourceType::host::<IoError>(), |_, _| Ok(()))?;

    let mut streams = linker.instance("wasi:io/streams@0.2.0")?;
    streams.resource("input-stream", ResourceType::host::<Input>(), |_, _| Ok(()))?;
    streams.resource("output-stream", ResourceType::host::<Output>(), |_, _| Ok(()))?;
    streams.func_wrap("[method]output-stream.check-write", |_, (_,): (Own<Output>,)| {
        Ok((Ok::<_, StreamError>(CHUNK),))
    })?;
    streams.func_wrap(
        "[method]output-stream.write",
        |mut store, (_, bytes): (Own<Output>, Vec<u8>)| {
            store.data_mut().print(&bytes);
            Ok((Ok::<_, StreamError>(()),))
        },
    )?;
    streams.func_wrap("[method]output-stream.blocking-flush", |_, (_,): (Own<Output>,)| {
        Ok((Ok::<_, StreamError>(()),))
    })?;
    streams.func_wrap("[method]output-stream.subscribe", |_, (_,): (Own<Output>,)| {
        Ok((Own::<Pollable>::new_own(0),))
    })?;

    linker
        .instance("wasi:cli/environment@0.2.0")?
        .func_wrap("get-environment", |_, (): ()| Ok((Vec::<(String, String)>::new(),)))?;
    linker
        .instance("wasi:cli/exit@0.2.0")?
        .func_wrap("exit", |_, (_,): (Result<(), ()>,)| -> Result<()> {
            bail!("the component called `exit`")
        })?;
    linker
        .instance("wasi:cli/stdin@0.2.0")?
        .func_wrap("get-stdin", |_, (): ()| Ok((Own::<Input>::new_own(0),)))?;
    linker
        .instance("wasi:cli/stdout@0.2.0")?
        .func_wrap("get-stdout", |_, (): ()| Ok((Own::<Output>::new_own(1),)))?;
    linker
        .instance("wasi:cli/stderr@0.2.0")?
        .func_wrap("get-stderr", |_, (): ()| Ok((Own::<Output>::new_own(2),)))?;

    linker.instance("wasi:cli/terminal-input@0.2.0")?.resource(
        "terminal-input",
        ResourceType::host::<TerminalInput>(),
        |_, _| Ok(()),
    )?;
    linker.instance("wasi:cli/terminal-output@0.2.0")?.resource(
        "terminal-output",
        ResourceType::host::<TerminalOutput>(),
        |_, _| Ok(()),
    )?;
    linker
        .instance("wasi:cli/terminal-stdin@0.2.0")?
        .func_wrap("get-terminal-stdin", |_, (): ()| Ok((None::<Own<TerminalInput>>,)))?;
    linker
        .instance("wasi:cli/terminal-stdout@0.2.0")?
        .func_wrap("get-terminal-stdout", |_, (): ()| Ok((None::<Own<TerminalOutput>>,)))?;
    linker
        .instance("wasi:cli/terminal-stderr@0.2.0")?
        .func_wrap("get-terminal-stderr", |_, (): ()| Ok((None::<Own<TerminalOutput>>,)))?;
    Ok(())
}
