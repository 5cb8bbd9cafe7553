"""One writer of a race: appends entries to an agent's log of 2025-01-20, and prints the result of each append:

    python host-wasi/programs/race_writer_of_plugin.py PLUGIN REPOSITORY AGENT COUNT ID LOCK-WAIT

The output is that of `host-python/programs/race_writer.py`. LOCK-WAIT is in milliseconds.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from plugin import PluginImage, PluginMemory


def say(line: str) -> None:
    """Prints a line at once: the process may be killed right after an acknowledged call."""
    os.write(1, f"{line}\n".encode())


def main() -> None:
    plugin, repository, agent, count, id, lock_wait = sys.argv[1:]
    environment = {"AGENT_MEMORY_ALLOW": repository, "AGENT_MEMORY_LOCK_WAIT": f"{lock_wait}ms"}
    with PluginMemory(PluginImage(Path(plugin)), Path(repository), environment) as memory:
        log = {"agent_name": agent, "repo_root": repository, "date": "2025-01-20"}
        started = memory.call("start_session", log)
        if started.is_error:
            say(f"error {started.result}")
        for n in range(int(count)):
            before = time.monotonic()
            try:
                memory.call("append_entry", {**log, "section": "Context", "content": f"{id}-{n}"}).value
                say(f"ok {id}-{n} {round((time.monotonic() - before) * 1000)}")
            except Exception as error:
                say(f"error {error}")


if __name__ == "__main__":
    main()
