"""Reads requests as lines of JSON from standard input, and answers each with a line:

    {"open": OPTIONS}               {} or {"failure"}; closes the memory that is open before
    {"open", "summarises": true}    the same; a summary is the memories, joined by blanks
    {"call": TOOL, "arguments"}     {"result"}, {"error"} or {"failure"}
    {"all": [{"call", ...}, ...]}   makes the calls concurrently; a list of their answers

OPTIONS are the keyword arguments of `open_memory`.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from agent_memory import AgentMemory, MemoryCallError, SummaryRequest, open_memory


class Program:
    def __init__(self) -> None:
        self.memory: AgentMemory | None = None

    def answer(self, request: Any) -> Any:
        try:
            if "open" in request:
                self.close()
                options = request["open"]
                if request.get("summarises"):
                    options["summarize"] = joined
                self.memory = open_memory(**options)
                return {}
            if "all" in request:
                with ThreadPoolExecutor(len(request["all"])) as threads:
                    return list(threads.map(self.answer, request["all"]))
            if self.memory is None:
                return {"failure": "no memory is open"}
            outcome = self.memory.call(request["call"], request["arguments"])
            return {"error" if outcome.is_error else "result": outcome.result}
        except MemoryCallError as error:
            return {"failure": error.code}
        except Exception as error:
            return {"failure": str(error)}

    def close(self) -> None:
        if self.memory is not None:
            self.memory.close()


def joined(request: SummaryRequest) -> str:
    return " ".join(request.memories)


def main() -> None:
    program = Program()
    for line in sys.stdin.buffer:
        sys.stdout.write(f"{json.dumps(program.answer(json.loads(line)))}\n")
        sys.stdout.flush()
    program.close()


if __name__ == "__main__":
    main()
