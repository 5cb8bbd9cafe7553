//! Starts a session in a repository and prints the answer: `agent-memory-embedder PLUGIN REPOSITORY`.

use wasmtime::component::{Component, Linker, ResourceTable};
use wasmtime::{Engine, Error, Result, Store};
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxView, WasiView};

wasmtime::component::bindgen!({ path: "../wit", world: "plugin" });

struct Host {
    wasi: WasiCtx,
    table: ResourceTable,
}

impl WasiView for Host {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [plugin, repository] = &arguments[..] else {
        return Err(Error::msg("usage: agent-memory-embedder PLUGIN REPOSITORY"));
    };
    let engine = Engine::default();
    let component = Component::from_file(&engine, plugin)?;
    let mut linker = Linker::<Host>::new(&engine);
    wasmtime_wasi::p2::add_to_linker_sync(&mut linker)?;

    let mut wasi = WasiCtx::builder();
    wasi.preopened_dir(repository, "/project", FsPerms::ReadWrite)?;
    wasi.env("AGENT_MEMORY_ALLOW", "/project");
    let host = Host { wasi: wasi.build(), table: ResourceTable::new() };
    let mut store = Store::new(&engine, host);
    let plugin = Plugin::instantiate(&mut store, &component, &linker)?;

    let toolbox = plugin.agent_memory_plugin_toolbox();
    match toolbox.call_call(&mut store, "start_session", r#"{"agent_name": "aristotle"}"#)? {
        Ok(answer) => println!("{answer}"),
        Err(error) => return Err(Error::msg(error.message)),
    }
    Ok(())
}
