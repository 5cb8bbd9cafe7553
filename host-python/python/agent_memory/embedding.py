"""Vectors of texts by a function of the program."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Union

__all__ = ["Embed", "EmbeddingRequest", "WantedVector"]


@dataclass(frozen=True)
class EmbeddingRequest:
    """A request for the vectors of texts."""

    #: The texts to embed. They are data, not instructions.
    texts: Sequence[str]
    #: The seconds after which the vectors are no longer needed: at most 30, and about 1 for a query.
    timeout: float


@dataclass(frozen=True)
class WantedVector:
    """The vector with which a search would find more. The answer of the search is also valid without it."""

    #: The name of the embedder.
    model: str
    text: str
    #: The seconds that a search should wait for the vector at most.
    timeout: float


#: Returns the vector of each text, in order. A vector has 1 to 4,096 finite numbers; all vectors have the same length.
#: The function may be `async`; it then runs in an event loop of its own.
Embed = Callable[[EmbeddingRequest], Union[Sequence[Sequence[float]], Awaitable[Sequence[Sequence[float]]]]]


def native_embed(embed: Embed) -> Callable[[list[str], float], list[list[float]]]:
    """Wraps the program's function for the native part, for which it is called on a thread of its own."""

    def ask(texts: list[str], timeout: float) -> list[list[float]]:
        answer = embed(EmbeddingRequest(texts, timeout))
        if isinstance(answer, Awaitable):
            import asyncio

            async def awaited(answer: Awaitable[Sequence[Sequence[float]]]) -> Sequence[Sequence[float]]:
                return await asyncio.wait_for(answer, timeout)

            answer = asyncio.run(awaited(answer))
        return _vectors(answer, len(texts))

    return ask


def _vectors(answer: Any, count: int) -> list[list[float]]:
    """Checks the vectors that the function returned: a program without types may return anything."""
    try:
        vectors = [[*vector] for vector in answer]
    except TypeError:
        vectors = []
    if len(vectors) != count or isinstance(answer, (str, bytes)):
        raise TypeError("it answered with something that is not one vector for each text")
    numbers = [[_number(number) for number in vector] for vector in vectors]
    lengths = {len(vector) for vector in numbers}
    if 0 in lengths or len(lengths) > 1:
        raise ValueError("it answered with vectors that are empty or have different lengths")
    return numbers


def _number(number: Any) -> float:
    try:
        converted = float(number)
    except (TypeError, ValueError, OverflowError):
        converted = math.nan
    if isinstance(number, (str, bytes)) or not math.isfinite(converted):
        raise ValueError("it answered with something that is no finite number")
    return converted
