"""Reads requests as lines of JSON from standard input, and answers each with a line:

    {"open": OPTIONS}               {} or {"failure"}; closes the memory that is open before
    {"open", "summarises": true}    the same; a summary is the memories, joined by blanks
    {"open", "reach": REACH}        the same for a caller that reaches no more
    {"tools": true}                 {"result"}: the tools of the open memory
    {"close": true}                 {}
    {"all": [REQUEST, ...]}         makes the requests concurrently; a list of their answers

and a request of the memory, such as {"call": TOOL, "arguments"}, with its outcome: {"result"}, {"error"} or
{"failure"}, with "follow_ups" and "wants_vector" where the outcome has them.

OPTIONS are the keyword arguments of `open_memory`, with texts for times.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

from agent_memory import AgentMemory, MemoryCallError, Outcome, SummaryRequest, open_memory


class Program:
    """Answers requests. `open` makes a memory from a request that opens one."""

    def __init__(self, open: Callable[[dict[str, Any]], Any]) -> None:
        self._open = open
        self._memory: Any = None

    def run(self) -> None:
        """Answers the requests of standard input to its end."""
        for line in sys.stdin.buffer:
            sys.stdout.write(f"{json.dumps(self.answer(json.loads(line)))}\n")
            sys.stdout.flush()
        self.close()

    def answer(self, request: Any) -> Any:
        try:
            if "open" in request:
                self.close()
                self._memory = self._open(request)
                return {}
            if "close" in request:
                self.close()
                return {}
            if self._memory is None:
                return {"failure": "no memory is open"}
            if "tools" in request:
                return {"result": self._memory.tools}
            if "all" in request:
                with ThreadPoolExecutor(len(request["all"])) as threads:
                    return list(threads.map(self.answer, request["all"]))
            return told(ask(self._memory, request))
        except MemoryCallError as error:
            return {"failure": error.code}
        except Exception as error:
            return {"failure": repr(error)}

    def close(self) -> None:
        if self._memory is not None:
            self._memory.close()
            self._memory = None


def ask(memory: Any, request: dict[str, Any]) -> Outcome[Any]:
    outcome: Outcome[Any]
    match request:
        case {"call": tool, "arguments": arguments, "vector": {"text": text, "vector": vector}}:
            outcome = memory.call_with_vector(tool, arguments, text, vector)
        case {"call": tool, "arguments": arguments}:
            outcome = memory.call(tool, arguments)
        case {"read": uri}:
            outcome = memory.read_resource(uri)
        case {"prompt": name, "arguments": arguments}:
            outcome = memory.get_prompt(name, arguments)
        case {"complete": reference, **parts}:
            outcome = memory.complete(**reference, **parts)
        case {"pending": _}:
            outcome = memory.pending()
        case {"claim": id, "lease_seconds": seconds}:
            outcome = memory.claim(id, seconds)
        case {"answer": id, "payload": payload}:
            outcome = memory.answer(id, payload)
        case _:
            raise ValueError(f"no request: {request}")
    return outcome


def told(outcome: Outcome[Any]) -> dict[str, Any]:
    answer = {"error" if outcome.is_error else "result": outcome.result}
    if outcome.follow_ups:
        answer["follow_ups"] = [vars(follow_up) for follow_up in outcome.follow_ups]
    if outcome.wants_vector is not None:
        answer["wants_vector"] = outcome.wants_vector.text
    return answer


def open_by(request: dict[str, Any]) -> AgentMemory:
    options = request["open"]
    if "clock" in options:
        now = datetime.fromisoformat(options["clock"]["now"].replace("Z", "+00:00"))
        options["clock"] = {**options["clock"], "now": now}
    if request.get("summarises"):
        options["summarize"] = joined
    return open_memory(**options).with_reach(**request.get("reach", {}))


def joined(request: SummaryRequest) -> str:
    return " ".join(request.memories)


if __name__ == "__main__":
    Program(open_by).run()
