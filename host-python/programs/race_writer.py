"""One writer of the race test. Appends entries to an agent's log of 2025-01-20, and prints the result of each append:

    python host-python/programs/race_writer.py REPOSITORY AGENT COUNT ID LOCK-WAIT

The output is `ok ID-N MILLISECONDS` or `error ...` for each N from 0 to COUNT-1, after a line `error ...` if the
session cannot be started. LOCK-WAIT is in milliseconds.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

from agent_memory import Outcome, open_memory


#: Calls a tool by its name and its arguments.
Call = Callable[[str, Any], Outcome[Any]]


def say(line: str) -> None:
    """Prints a line at once: the process may be killed right after an acknowledged call."""
    os.write(1, f"{line}\n".encode())


def write_entries(call: Call, repository: str, agent: str, count: int, id: str) -> None:
    log = {"agent_name": agent, "repo_root": repository, "date": "2025-01-20"}
    started = call("start_session", log)
    if started.is_error:
        say(f"error {started.result}")
    for n in range(count):
        before = time.monotonic()
        try:
            call("append_entry", {**log, "section": "Context", "content": f"{id}-{n}"}).value
            say(f"ok {id}-{n} {round((time.monotonic() - before) * 1000)}")
        except Exception as error:
            say(f"error {error}")


def main() -> None:
    repository, agent, count, id, lock_wait = sys.argv[1:]
    with open_memory(allow=[repository], lock_wait=int(lock_wait) / 1000) as memory:
        write_entries(memory.call_by_name, repository, agent, int(count), id)


if __name__ == "__main__":
    main()
