"""Cases of the conformance suite. `tests/conformance/README.md` describes their parts."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

#: Bytes by path below `.github/agent-memory/` or `/memories/`, in the directory of records, or in the directory of stores.
Documents = dict[str, bytes]

#: The paths for the placeholders of a case.
Places = dict[str, str]


@dataclass(frozen=True)
class Case:
    """A case in one format."""

    name: str
    #: The toolset whose folder it is in.
    toolset: str
    #: The format of records; none for a case of a toolset without records.
    format: str | None
    caps: dict[str, int]
    #: Settings of the toolset, by name.
    settings: dict[str, Any]
    #: The models that the host names and that the case plays.
    models: list[str]
    #: The embedder that the case plays, with its vectors of queries by their texts.
    embedder: dict[str, Any] | None
    #: The only agents and stores that the caller may use.
    caller: dict[str, list[str]]
    now: datetime
    step_ms: int
    utc_offset: int
    #: The name of the time zone, instead of the offset.
    time_zone: str | None
    seed: int
    toolsets: list[str]
    faults: list[Any]
    steps: list[dict[str, Any]]
    given: Documents
    #: The names of the stores that are registered at first.
    given_stores: list[str]
    #: The expected documents; none if the case does not compare them.
    then: Documents | None
    #: The statements that make the database of a case of `layers`; none if there is no database at first.
    given_sql: list[str]
    #: The queries of that database after the last step, each with the expected rows.
    then_rows: list[dict[str, Any]]


def read_cases(directory: Path) -> list[Case]:
    """All cases of a conformance directory in all their formats, in the order of their paths."""
    files = sorted((directory / "cases").rglob("*.json"))
    return [case for file in files for case in _cases_of(file, directory)]


def _cases_of(file: Path, directory: Path) -> list[Case]:
    text = json.loads(file.read_text(encoding="utf-8"))
    name = file.relative_to(directory / "cases").with_suffix("").as_posix()
    toolset = name.split("/", 1)[0]
    has_records = toolset in ("records", "memory")
    is_compared = toolset != "memory" and ("given" in text or not has_records)
    given = _documents(text.get("given", {}), directory)
    clock = {"now": "2025-01-20T10:00:00.000Z", "step_ms": 1000, "utc_offset_minutes": 0, **text.get("clock", {})}
    formats: list[str | None] = [None]
    if has_records:
        formats = [text["only"]["format"]] if "only" in text else ["json", "sqlite"]
    return [
        Case(
            name=name if format is None else f"{name}@{format}",
            toolset=toolset,
            format=format,
            caps=text.get("caps", {}),
            settings=text.get("settings", {}),
            models=text.get("models", []),
            embedder=text.get("embedder"),
            caller=text.get("caller", {}),
            now=datetime.fromisoformat(clock["now"].replace("Z", "+00:00")),
            step_ms=clock["step_ms"],
            utc_offset=clock["utc_offset_minutes"],
            time_zone=clock.get("time_zone"),
            seed=text.get("seed", 1),
            toolsets=text.get("toolsets", [toolset]),
            faults=text.get("faults", []),
            steps=text["steps"],
            given=given,
            given_stores=list(text.get("given", {}).get("stores", {})),
            then=_documents(text["then"], directory) if "then" in text else given if is_compared else None,
            given_sql=text.get("given", {}).get("layers", {}).get("sql", []),
            then_rows=text.get("then", {}).get("layers", {}).get("rows", []),
        )
        for format in formats
    ]


def fill(value: Any, places: Places, ids: list[str | None]) -> Any:
    """The value with its placeholders and repeated texts filled in. `ids` has the id that each earlier step returned."""
    if isinstance(value, str):
        text = re.sub(r"\$\{(repo|elsewhere|stores)\}", lambda found: places[found[1]], value)
        return _with_ids(text, ids)
    if isinstance(value, list):
        return [fill(item, places, ids) for item in value]
    if not isinstance(value, dict):
        return value
    if _is_repeated(value):
        return _repeated(value)
    return {name: fill(item, places, ids) for name, item in value.items()}


def documents_with_ids(documents: Documents, ids: list[str | None]) -> Documents:
    """The documents with the placeholders for ids filled in."""

    def filled(contents: bytes) -> bytes:
        try:
            return _with_ids(contents.decode(), ids).encode()
        except UnicodeDecodeError:
            return contents

    return {path: filled(contents) for path, contents in documents.items()}


def _with_ids(text: str, ids: list[str | None]) -> str:
    def id_of(found: re.Match[str]) -> str:
        step = int(found[1])
        return (ids[step] if step < len(ids) else None) or found[0]

    return re.sub(r"\$\{id:(\d+)\}", id_of, text)


def _documents(storage: dict[str, Any], directory: Path) -> Documents:
    of_stores = {
        f"{name}/{path}": contents
        for name, files in storage.get("stores", {}).items()
        for path, contents in files.items()
    }
    documents = storage.get("repo", storage.get("records", storage.get("files", of_stores)))
    return {path: _bytes(contents, directory) for path, contents in documents.items()}


def _bytes(contents: Any, directory: Path) -> bytes:
    if isinstance(contents, str):
        return contents.encode()
    if "lines" in contents:
        return "".join(f"{line}\n" for line in contents["lines"]).encode()
    if "file" in contents:
        file: Path = directory / "documents" / contents["file"]
        return file.read_bytes()
    if "base64" in contents:
        return base64.b64decode(contents["base64"])
    return _repeated(contents).encode()


def _is_repeated(value: dict[str, Any]) -> bool:
    return {"repeat", "times"} <= value.keys() <= {"repeat", "times", "before", "after"}


def _repeated(value: dict[str, Any]) -> str:
    return str(value.get("before", "") + value["repeat"] * value["times"] + value.get("after", ""))
