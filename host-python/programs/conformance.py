"""Runs the conformance cases on this host, and writes a report:

    python host-python/programs/conformance.py DIRECTORY_OF_THE_CASES REPORT
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from agent_memory import AgentMemory, MemoryCallError, Outcome, open_memory
from case import Case, Documents, documents_with_ids, fill, read_cases
from case_scratch import Scratch

UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")

#: The part of an answer that a step expects: `result`, `error` or `failure`.
Answer = dict[str, Any]


#: Starts a host for a case.
Start = Callable[[Case, Scratch], AbstractContextManager[Any]]


def main() -> None:
    directory, report = map(Path, sys.argv[1:])
    with open_memory(allow=[], toolsets=["all"]) as memory:
        tools = memory.tools
    expectations = json.loads((directory / "expectations/python.json").read_text(encoding="utf-8"))

    def skip(case: Case) -> str | None:
        return str(expectations["faults"]) if case.faults else None

    run_all("python", directory, report, tools, start, skip)


def run_all(
    runner: str,
    directory: Path,
    report: Path,
    tools: Any,
    start: Start,
    skip: Callable[[Case], str | None],
) -> None:
    """Runs the cases of a directory and writes the report. `skip` returns why a case is left out."""
    cases = {case.name: run(case, start, skip(case)) for case in read_cases(directory)}
    report.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"runner": runner, "tools": tools, "cases": cases}, indent=2)
    report.write_text(f"{text}\n", encoding="utf-8")
    for name, each in cases.items():
        if each["outcome"] == "failed":
            print(f"{name}: {each['reason']}", file=sys.stderr)
    counts = [f"{sum(each['outcome'] == wanted for each in cases.values())} {wanted}" for wanted in OUTCOMES]
    print(f"{runner}: {', '.join(counts)}")


OUTCOMES = ("passed", "failed", "skipped")


def run(case: Case, start: Start, skipped: str | None) -> dict[str, Any]:
    """The report of a case. `skipped` is why it is left out, if it is."""
    if skipped is not None:
        return {"outcome": "skipped", "reason": skipped, "documents": {}}
    with Scratch(case) as scratch:
        ids: list[str | None] = []
        try:
            differences = run_steps(case, scratch, start, ids)
        except Exception as error:
            differences = [repr(error)]
        differences += [differing_rows(each["query"], each["rows"], scratch) for each in case.then_rows]
        documents = scratch.documents()
        if case.then is not None:
            differences.append(differing_documents(documents_with_ids(case.then, ids), documents))
        if unexpected := scratch.unexpected_files():
            differences.append(f"these should not be there, or not like this: {', '.join(unexpected)}")
    hashes = {path: hashlib.sha256(contents).hexdigest() for path, contents in documents.items()}
    difference = next(filter(None, differences), None)
    if difference is None:
        return {"outcome": "passed", "documents": hashes}
    return {"outcome": "failed", "reason": difference, "documents": hashes}


def start(case: Case, scratch: Scratch) -> AgentMemory:
    zone = {"utc_offset": case.utc_offset} if case.time_zone is None else {"time_zone": case.time_zone}
    options: Any = {**grants_of(case, scratch), **zone, "toolsets": case.toolsets}
    memory = open_memory(
        **options,
        data_dir=scratch.data_dir,
        models=case.models,
        **({} if case.embedder is None else {"embed_model": case.embedder["model"]}),
        clock={"now": case.now, "step": case.step_ms / 1000},
        seed=case.seed,
    )
    return memory.with_reach(**case.caller)


def run_steps(case: Case, scratch: Scratch, start: Start, ids: list[str | None]) -> list[str | None]:
    """The difference of each step to its expected answer, if there is one. Adds the ids of the results to `ids`."""
    with start(case, scratch) as memory:
        vectors = (case.embedder or {}).get("vectors", {})
        differences = [run_step(memory, step, scratch, ids, vectors) for step in case.steps]
    return [None if found is None else f"step {step}: {found}" for step, found in enumerate(differences)]


def grants_of(case: Case, scratch: Scratch) -> dict[str, Any]:
    """What a case needs. Exactly the toolsets that it names are mounted."""
    repository, settings = [scratch.places["repo"]], {"memory": {"leave_out": True}}
    if case.format is not None:
        records = {"directory": scratch.memory_dir, "format": case.format, **case.caps}
        return {"allow": repository if case.toolset == "memory" else [], "settings": {**settings, "records": records}}
    if case.toolset == "layers":
        return {"allow": [], "settings": {**settings, "layers": {"file": scratch.database, **case.settings}}}
    return {"allow": [] if case.toolset in ("stores", "files", "items") else repository, "settings": settings}


def run_step(
    memory: AgentMemory,
    step: dict[str, Any],
    scratch: Scratch,
    ids: list[str | None],
    vectors: dict[str, list[float]],
) -> str | None:
    got, follow_ups = answer(memory, fill(step, scratch.places, ids), vectors)
    result = got.get("result")
    id = result.get("id") if isinstance(result, dict) else None
    ids.append(id if isinstance(id, str) and UUID4.fullmatch(id) else None)
    expected = fill(step, scratch.places, ids)
    leaves = expected.get("leaves", [])
    difference = differing_answer(got, expected)
    if difference is not None or contains(follow_ups, leaves):
        return difference
    return f"expected the follow-ups {short(leaves)}, got {short(follow_ups)}"


def answer(
    memory: AgentMemory, step: dict[str, Any], vectors: dict[str, list[float]]
) -> tuple[Answer, list[dict[str, Any]]]:
    try:
        outcome = ask_with_vector(memory, step, vectors)
    except MemoryCallError as error:
        if error.code in ("not-found", "invalid-request"):
            return {"failure": error.code}, []
        raise
    follow_ups = [vars(follow_up) for follow_up in outcome.follow_ups]
    if outcome.is_error:
        return {"error": outcome.result}, follow_ups
    return {"result": text_of(step["read"], outcome) if "read" in step else outcome.result}, follow_ups


def ask_with_vector(memory: AgentMemory, step: dict[str, Any], vectors: dict[str, list[float]]) -> Outcome[Any]:
    """Repeats a search with the vector that its outcome wants, if the case's embedder has it."""
    outcome = ask(memory, step)
    wanted = outcome.wants_vector
    if wanted is None or wanted.text not in vectors:
        return outcome
    better = memory.call_with_vector(step["call"], step["arguments"], wanted.text, vectors[wanted.text])
    return outcome if better.is_error else better


def ask(memory: AgentMemory, step: dict[str, Any]) -> Outcome[Any]:
    if "read" in step:
        return memory.read_resource(step["read"])
    if "prompt" in step:
        return memory.get_prompt(step["prompt"], step["arguments"])
    if "complete" in step:
        parts = {name: step[name] for name in ("argument", "value", "others") if name in step}
        return memory.complete(**step["complete"], **parts)
    if "pending" in step:
        return memory.pending()
    if "claim" in step:
        return memory.claim(step["claim"], step["lease_seconds"])
    if "answer" in step:
        return memory.answer(step["answer"], step["payload"])
    return memory.call(step["call"], step["arguments"])


def text_of(uri: str, outcome: Outcome[Any]) -> Any:
    """The contents of a resource, which has to be one JSON text."""
    [content] = outcome.result
    if content["uri"] != uri or content["mimeType"] != "application/json":
        raise ValueError(f"not one JSON text of `{uri}`: {short(outcome.result)}")
    return json.loads(content["text"])


def differing_answer(got: Answer, step: dict[str, Any]) -> str | None:
    if "has" in step:
        is_there = "result" in got and contains(got["result"], step["has"])
        return None if is_there else f"expected what has {short(step['has'])}, got {short(got)}"
    if "error" not in step or "error" not in got:
        expected = {name: step[name] for name in ("result", "error", "failure") if name in step}
        # The answer to `pending` is in its follow-ups.
        return differing({"result": None} if "pending" in step else expected, got)
    message = fields_of(got["error"]).get("message", "")
    missing = [text for text in step.get("says", []) if text not in message]
    if missing:
        return f"the message does not say {missing}: {message}"
    return differing(without_texts(step["error"], step["error"]), without_texts(got["error"], step["error"]))


def fields_of(error: Any) -> dict[str, Any]:
    """The fields of an error. In `records` they are one level below, in `error`."""
    fields = error["error"] if isinstance(error.get("error"), dict) else error
    return dict(fields)


def without_texts(error: Any, expected: Any) -> Any:
    """The error without its message, and without `accepted` texts unless the case expects them."""
    fields = fields_of(error)
    fields.pop("message", None)
    if "details" in fields:
        wanted = fields_of(expected).get("details", [])
        fields["details"] = [
            {
                name: value
                for name, value in detail.items()
                if name != "accepted" or (index < len(wanted) and "accepted" in wanted[index])
            }
            for index, detail in enumerate(fields["details"])
        ]
    return {**error, "error": fields} if isinstance(error.get("error"), dict) else fields


def contains(got: Any, expected: Any) -> bool:
    """Whether a value contains the expected one: all its members, and for a list all items in the same order."""
    if isinstance(got, list) and isinstance(expected, list):
        return len(got) == len(expected) and all(map(contains, got, expected))
    if isinstance(got, dict) and isinstance(expected, dict):
        return all(name in got and contains(got[name], item) for name, item in expected.items())
    return is_equal(got, expected)


def is_equal(left: Any, right: Any) -> bool:
    """Whether two JSON values are equal. `==` would not tell a boolean from a number."""
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(is_equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(is_equal(left[name], right[name]) for name in left)
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def differing(expected: Any, got: Any) -> str | None:
    return None if is_equal(expected, got) else f"expected {short(expected)}, got {short(got)}"


def differing_documents(expected: Documents, got: Documents) -> str | None:
    for path, contents in expected.items():
        if path not in got:
            return f"`{path}` is not there afterwards"
        if got[path] != contents:
            return f"`{path}` differs: expected {contents[:1000]!r}, got {got[path][:1000]!r}"
    extra = next((path for path in got if path not in expected), None)
    return None if extra is None else f"`{extra}` is there afterwards"


def differing_rows(query: str, expected: list[Any], scratch: Scratch) -> str | None:
    try:
        got = scratch.rows(query)
    except Exception as error:
        return f"`{query}`: {error}"
    return None if is_equal(got, expected) else f"`{query}` answers {short(got)}, not {short(expected)}"


def short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return f"{text[:2000]}..." if len(text) > 2000 else text


if __name__ == "__main__":
    main()
