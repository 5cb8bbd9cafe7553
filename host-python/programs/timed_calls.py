"""Measures calls, for the benchmarks:

    python host-python/programs/timed_calls.py [PLUGIN] REPOSITORY

With PLUGIN, the plugin makes them in wasmtime's Python package. Each line of the input is a request:

    {"opened": true}                            {"import_us", "open_us"}: the time to load the package and to open a
                                                memory
    {"tool": name, "calls": [arguments, ...]}   makes the calls one after another; {"wall_us", "cpu_us"}: their time in
                                                all, and the user and system time of the process meanwhile
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

PLUGIN_PROGRAMS = Path(__file__).parents[2] / "host-wasi/programs"


def microseconds(since: float) -> int:
    return round((time.perf_counter() - since) * 1_000_000)


def package(repository: str) -> tuple[Any, int, int]:
    began = time.perf_counter()
    from agent_memory import open_memory

    imported = microseconds(began)
    loaded = time.perf_counter()
    memory = open_memory(
        allow=[repository],
        toolsets=["sessions", "records"],
        settings={"records": {"directory": f"{repository}/memories", "format": "json"}},
    )
    return memory, imported, microseconds(loaded)


def plugin(file: str, repository: str) -> tuple[Any, int, int]:
    sys.path.insert(0, str(PLUGIN_PROGRAMS))
    began = time.perf_counter()
    from plugin import PluginImage, PluginMemory

    image = PluginImage(Path(file))
    imported = microseconds(began)
    loaded = time.perf_counter()
    environment = {
        "AGENT_MEMORY_TOOLSET": "sessions,records",
        "AGENT_MEMORY_ALLOW": repository,
        "AGENT_MEMORY_ACCEPT_MODES": "true",
        "MEMORY_DIR": f"{repository}/memories",
    }
    return PluginMemory(image, [Path(repository)], environment), imported, microseconds(loaded)


def main() -> None:
    *plugins, repository = sys.argv[1:]
    memory, imported, opened = plugin(plugins[0], repository) if plugins else package(repository)
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if "opened" in request:
            answer = {"import_us": imported, "open_us": opened}
        else:
            cpu, began = time.process_time(), time.perf_counter()
            for arguments in request["calls"]:
                memory.call(request["tool"], arguments).value
            wall = microseconds(began)
            answer = {"wall_us": wall, "cpu_us": round((time.process_time() - cpu) * 1_000_000)}
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
