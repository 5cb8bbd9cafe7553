"""The options of a memory, checked and written as JSON for the native part."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

from .embedding import Embed
from .errors import MemoryOpenError
from .summaries import Summarize

if TYPE_CHECKING:
    from .toolsets import ToolsetName, ToolsetSettings

__all__ = ["Clock", "Durability", "Limits", "MemoryOptions", "Path"]

Path = Union[str, "os.PathLike[str]"]
Durability = Literal["full", "relaxed"]

MAX_LOCK_WAIT = 3600


class Limits(TypedDict, total=False):
    """The limits of a call. A call that exceeds one raises a `MemoryCallError`."""

    #: The maximum linear memory of the component, in bytes. Default: 256 MiB.
    memory: int
    #: The most seconds that the component itself may run, without waits for locks or disks. Default: 2.
    guest_time: float
    #: As `guest_time`, for tools for people, which may convert very long files of memories. Default: 60.
    guest_time_for_people: float
    #: The most storage calls that the component may make. Default: 100,000.
    storage_calls: int
    #: The most seconds that one statement on a database may run. Default: 30.
    statement_time: float


class Clock(TypedDict):
    """A clock for tests: call k, from 0, sees `now` plus k times `step` seconds."""

    #: The time of the first call, with a time zone.
    now: datetime
    step: float


class MemoryOptions(TypedDict, total=False):
    """The options of `open_memory` beside `allow`."""

    #: The names of the toolsets to mount; `all` mounts every toolset. Default: `sessions`. With any of them comes
    #: `memory`, unless its setting `leave_out` is true.
    toolsets: Sequence[ToolsetName]
    #: The toolsets' own settings, by toolset and by name. A path is absolute or begins with `~/`.
    settings: ToolsetSettings
    #: The directory for data outside of repositories whose path no setting gives: absolute, or begins with `~/`. Default:
    #: `agent-memory` in the data directory of the platform.
    data_dir: Path
    #: Asks a model for a summary of memories, on a thread of its own, after the answer of the call that needs the
    #: summary. It has 30 s. If it raises, or returns an empty or too long text, the built-in summary is used.
    summarize: Summarize
    #: The names of models that the program asks itself, the preferred one first. `summarize` comes before all of them.
    #: The program claims follow-ups with `claim` and answers them with `answer`. Default: none.
    models: Sequence[str]
    #: Returns the vectors of stored texts, on a thread of its own, after the answer of the call that stored them, and
    #: the vectors of queries, for which a search waits at most 1 s. It needs `embed_model`. Without `embed` and
    #: `embed_model` there are no vectors.
    embed: Embed
    #: The name of the model of `embed`. Vectors are stored under this name, and vectors under another name are ignored:
    #: use a new name for a new model. Without `embed`, the program itself claims and answers the follow-ups for
    #: vectors, and repeats a search with `call_with_vector`.
    embed_model: str
    #: The paths of the places of families, by the label of the family and by the name of the place. Each path is
    #: absolute or begins with `~/`. A family that is given here has only these places: it has no registry, and calls
    #: cannot create places in it.
    places: Mapping[str, Mapping[str, Path]]
    #: The time zone of dates, and of timestamps without an offset, by its name in the IANA database, such as
    #: `America/New_York`. Default: the zone of this machine at each call.
    time_zone: str
    #: A time zone that has this offset on every day, instead of `time_zone`, in minutes east of UTC.
    utc_offset: int
    #: `full` (default): changes survive a loss of power once their call has returned. `relaxed`: the system decides when
    #: to sync, so a loss of power may undo the last changes.
    durability: Durability
    #: The maximum wait in seconds of the writer at the head of the queue for the lock: at most 3,600. Default: 5.
    #: Including its time in the queue, a writer waits at most 30 s, or `lock_wait` if that is longer.
    lock_wait: float
    #: The clock of the calls. Default: the system's.
    clock: Clock
    #: The seed of each call: call k, from 0, gets `seed` plus k. Default: random.
    seed: int
    #: The limits of a call.
    limits: Limits


def invalid(option: str, why: str) -> MemoryOpenError:
    """The error of an option."""
    return MemoryOpenError("invalid-option", f"the option `{option}` {why}")


def paths(allow: Sequence[Path]) -> list[str]:
    """The granted directories."""
    # A single path may be a sequence, too: a string is one.
    if isinstance(allow, (str, bytes, os.PathLike)) or not isinstance(allow, Sequence):
        raise invalid("allow", "is not a list of directories")
    return [_path("allow", path) for path in allow]


def native_options(given: Mapping[str, Any]) -> str:
    """Checks the options, and returns those that are not functions as a JSON object."""
    known = MemoryOptions.__annotations__
    for name in given:
        if name not in known:
            raise invalid(name, f"does not exist; there are {', '.join(['allow', *known])}")
    options = {name: value for name, value in given.items() if value is not None and name not in FUNCTIONS}
    for name, check in CHECKS.items():
        if name in options:
            options[name] = check(options[name])
    try:
        return json.dumps(options, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise MemoryOpenError("invalid-option", f"an option cannot be written as JSON: {error}") from error


def _path(option: str, path: object) -> str:
    if not isinstance(path, (str, os.PathLike)):
        raise invalid(option, "has an item that is not a path")
    text = os.fspath(path)
    if not isinstance(text, str):
        raise invalid(option, "has a path of bytes: give a `str` or a `pathlib.Path`")
    return text


def _data_dir(path: Path) -> str:
    text = _path("data_dir", path)
    if not (os.path.isabs(text) or text.startswith("~/")):
        raise invalid("data_dir", "is neither an absolute path nor one that begins with `~/`")
    return text


def _names(option: str, names: Sequence[str]) -> list[str]:
    if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise invalid(option, "is not a list of names")
    return list(names)


def _number(option: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
        raise invalid(option, "is not a number of at least 0")
    return value


def _settings(settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    if not isinstance(settings, Mapping):
        raise invalid("settings", "is not a mapping of toolsets")
    for toolset, values in settings.items():
        if not isinstance(values, Mapping):
            raise invalid(f"settings.{toolset}", "is not a mapping of names to values")

    def text(value: Any) -> Any:
        return os.fspath(value) if isinstance(value, os.PathLike) else value

    return {toolset: {name: text(value) for name, value in values.items()} for toolset, values in settings.items()}


def _places(places: Mapping[str, Mapping[str, Path]]) -> dict[str, dict[str, str]]:
    return {
        label: {name: _path(f"places.{label}", path) for name, path in of_label.items()}
        for label, of_label in places.items()
    }


def _clock(clock: Clock) -> dict[str, Any]:
    now = clock["now"]
    if not isinstance(now, datetime) or now.tzinfo is None:
        raise invalid("clock.now", "is not a `datetime` with a time zone")
    return {"now": now.astimezone(timezone.utc).isoformat(), "step": clock.get("step", 0)}


def _lock_wait(seconds: object) -> float:
    number = _number("lock_wait", seconds)
    if number > MAX_LOCK_WAIT:
        raise invalid("lock_wait", f"is more than {MAX_LOCK_WAIT} s (an hour)")
    return number


def _limits(limits: Mapping[str, object]) -> dict[str, float]:
    if not isinstance(limits, Mapping):
        raise invalid("limits", "is not a mapping")
    known = Limits.__annotations__
    for name in limits:
        if name not in known:
            raise invalid(f"limits.{name}", f"does not exist; there are {', '.join(known)}")
    return {name: _number(f"limits.{name}", limit) for name, limit in limits.items()}


def _durability(durability: object) -> object:
    if durability not in ("full", "relaxed"):
        raise invalid("durability", "is neither `full` nor `relaxed`")
    return durability


def _whole(option: str) -> Callable[[object], int]:
    def check(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise invalid(option, "is not a whole number")
        return value

    return check


def _name(option: str) -> Callable[[object], str]:
    def check(name: object) -> str:
        if not isinstance(name, str) or not name:
            raise invalid(option, "is not a name")
        return name

    return check


#: The options that are functions of the program.
FUNCTIONS = ("summarize", "embed")

CHECKS: dict[str, Callable[[Any], object]] = {
    "toolsets": lambda names: _names("toolsets", names),
    "settings": _settings,
    "data_dir": _data_dir,
    "models": lambda names: _names("models", names),
    "embed_model": _name("embed_model"),
    "places": _places,
    "time_zone": _name("time_zone"),
    "utc_offset": _whole("utc_offset"),
    "durability": _durability,
    "lock_wait": _lock_wait,
    "clock": _clock,
    "seed": _whole("seed"),
    "limits": _limits,
}
