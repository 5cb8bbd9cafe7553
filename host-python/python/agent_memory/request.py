"""The parts of requests: their JSON, and the parameters of queries."""

from __future__ import annotations

import json
import operator
from collections.abc import Mapping, Sequence
from typing import Any, Union

from .errors import MemoryCallError

#: A parameter of a query.
Parameter = Union[None, int, float, str, bytes]


def arguments_json(arguments: Mapping[str, Any] | None) -> str:
    """The arguments of a call as JSON: an object without members by default."""
    return to_json({} if arguments is None else arguments)


def to_json(value: object) -> str:
    """A value as JSON."""
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise MemoryCallError("invalid-request", f"the arguments cannot be written as JSON: {error}") from error


def completion(
    prompt: str | None,
    resource_template: str | None,
    argument: str,
    value: str,
    others: Mapping[str, str] | None,
) -> tuple[str, ...]:
    """The texts of a request for completion."""
    if (prompt is None) == (resource_template is None):
        raise MemoryCallError("invalid-request", "a completion needs a `prompt` or a `resource_template`")
    reference = ("prompt", prompt) if prompt is not None else ("resource-template", resource_template or "")
    return (*reference, argument, value, to_json(others or {}))


def lease(lease_seconds: int) -> str:
    """The seconds of a lease."""
    if isinstance(lease_seconds, bool) or not isinstance(lease_seconds, int) or not 0 <= lease_seconds < 2**32:
        raise MemoryCallError("invalid-request", "the lease is not a whole number of seconds below 2^32")
    return str(lease_seconds)


def parameters_of(given: Sequence[Parameter]) -> list[Parameter]:
    """The parameters of a query, which keep their values exactly."""
    return [_parameter(number, value) for number, value in enumerate(given, 1)]


def _parameter(number: int, value: Any) -> Parameter:
    if hasattr(type(value), "__index__"):
        integer = operator.index(value)
        if not -(2**63) <= integer < 2**63:
            raise OverflowError(f"the parameter `?{number}` is an integer beyond 64 bits: pass it as a text")
        return integer
    if value is None or isinstance(value, (float, str, bytes)):
        return value
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    kind = type(value).__name__
    raise TypeError(f"the parameter `?{number}` is of the type `{kind}`: pass None, an int, float, str or bytes")
