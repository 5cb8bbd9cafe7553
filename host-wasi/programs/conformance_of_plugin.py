"""Runs the conformance cases on the plugin, under wasmtime, and writes a report:

    python host-wasi/programs/conformance_of_plugin.py PLUGIN DIRECTORY_OF_THE_CASES REPORT
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from plugin import PluginImage, PluginMemory

sys.path.append(str(Path(__file__).resolve().parents[2] / "host-python/programs"))

from case import Case  # noqa: E402
from case_scratch import Scratch  # noqa: E402
from conformance import run_all  # noqa: E402


def main() -> None:
    file, directory, report = map(Path, sys.argv[1:])
    expectations = json.loads((directory / "expectations/plugin.json").read_text(encoding="utf-8"))
    image = PluginImage(file)
    # WASI sets no modes.
    os.umask(0o077)

    def start(case: Case, scratch: Scratch) -> PluginMemory:
        return PluginMemory(image, [scratch.directory], environment_of(case, scratch))

    def skip(case: Case) -> str | None:
        if case.faults:
            return str(expectations["faults"])
        converts = any(step.get("call") == "convert_records" for step in case.steps)
        if case.toolset in ("layers", "items") or case.format == "sqlite" or converts:
            return str(expectations["databases"])
        asks = any(step.keys() & {"pending", "claim", "answer"} for step in case.steps)
        if case.embedder is not None or asks:
            return str(expectations["follow_ups"])
        if case.time_zone is not None:
            return str(expectations["time_zone"])
        return str(expectations["caller"]) if case.caller else None

    with PluginMemory(image, [directory.resolve()], {"AGENT_MEMORY_TOOLSET": "all"}) as memory:
        tools = memory.tools
    run_all("plugin", directory, report, tools, start, skip)


def environment_of(case: Case, scratch: Scratch) -> dict[str, str]:
    """The settings of a case. Exactly the toolsets that it names are mounted."""
    hours, minutes = divmod(abs(case.utc_offset), 60)
    environment = {
        "AGENT_MEMORY_TOOLSET": ",".join(case.toolsets),
        "AGENT_MEMORY_NO_SEARCH": "true",
        "AGENT_MEMORY_DATA_DIR": str(scratch.data_dir),
        "AGENT_MEMORY_ACCEPT_MODES": "true",
        "AGENT_MEMORY_FIXED_CLOCK": f"{case.now.isoformat(timespec='milliseconds')[:-6]}Z+{case.step_ms}ms",
        "AGENT_MEMORY_FIXED_RANDOM": str(case.seed),
        "AGENT_MEMORY_UTC_OFFSET": f"{'-' if case.utc_offset < 0 else '+'}{hours:02}:{minutes:02}",
    }
    if case.toolset in ("sessions", "memory"):
        environment["AGENT_MEMORY_ALLOW"] = scratch.places["repo"]
    if case.format is not None:
        environment["AGENT_MEMORY_MEMORY_DIR"] = str(scratch.memory_dir)
    for name, value in case.caps.items():
        environment[f"AGENT_MEMORY_RECORDS_{name.upper()}"] = str(value)
    return environment


if __name__ == "__main__":
    main()
