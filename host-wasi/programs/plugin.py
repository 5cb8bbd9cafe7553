"""The plugin on wasmtime, with the methods of a memory of the Python package."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import wasmtime
from agent_memory import MemoryCallError, Outcome, ToolError
from wasmtime.component import Component, Linker

INTERFACE = "agent-memory:plugin/toolbox@0.1.0"

#: The codes of a request that did not reach its tool.
FAILURES = ("not-found", "invalid-request")


class PluginImage:
    """The compiled component, of which each memory is an instance. wasmtime keeps the machine code for the next start."""

    def __init__(self, file: Path) -> None:
        config = wasmtime.Config()
        config.cache = True
        self.engine = wasmtime.Engine(config)
        self.component = Component.from_file(self.engine, str(file))
        self.linker = Linker(self.engine)
        self.linker.add_wasip2()


class PluginMemory:
    """An instance with preopened directories, under the same paths, and variables of the environment."""

    def __init__(
        self, image: PluginImage, directories: Sequence[Path], environment: dict[str, str], *, read_only: bool = False
    ) -> None:
        self._store = wasmtime.Store(image.engine)
        wasi = wasmtime.WasiConfig()
        for directory in directories:
            wasi.preopen_dir(str(directory), str(directory), fs_mutable=not read_only)
        wasi.env = list(environment.items())
        wasi.inherit_stderr()
        self._store.set_wasi(wasi)
        self._instance = image.linker.instantiate(self._store, image.component)
        self._interface = self._instance.get_export_index(self._store, INTERFACE)

    def __enter__(self) -> PluginMemory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._store.close()

    @property
    def tools(self) -> Any:
        return self._ask("list-tools").result

    def call(self, name: str, arguments: Any) -> Outcome[Any]:
        return self._ask("call", name, json.dumps(arguments))

    def read_resource(self, uri: str) -> Outcome[Any]:
        return self._ask("read-resource", uri)

    def complete(
        self, *, resource_template: str, argument: str, value: str = "", others: dict[str, str] | None = None
    ) -> Outcome[Any]:
        return self._ask("complete", resource_template, argument, value, json.dumps(others or {}))

    def _ask(self, name: str, *arguments: str) -> Outcome[Any]:
        index = self._instance.get_export_index(self._store, name, self._interface)
        function = None if index is None else self._instance.get_func(self._store, index)
        if function is None:
            raise LookupError(f"the plugin has no function `{name}`")
        answer = function(self._store, *arguments)
        function.post_return(self._store)
        if isinstance(answer, str):
            return Outcome(json.loads(answer), error=None, changed=(), follow_ups=())
        if answer.code in FAILURES:
            raise MemoryCallError(answer.code, answer.message)
        # The plugin's errors have no category: `invalid` is a placeholder.
        error = ToolError("invalid", answer.code, answer.message)
        return Outcome(json.loads(answer.json), error=error, changed=(), follow_ups=())
