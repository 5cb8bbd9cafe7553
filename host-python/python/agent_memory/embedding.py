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

    #: The texts, which are data.
    texts: Sequence[str]
    #: The seconds after which nobody waits for the vectors any more: at most 30, and about 1 for a query.
    timeout: float


@dataclass(frozen=True)
class WantedVector:
    """The vector with which a search would answer better. Its answer is complete without it."""

    #: The name of the embedder.
    model: str
    text: str
    #: The seconds that it is worth waiting for.
    timeout: float


#: Gives the vector of each text, in order: 1 to 4,096 finite numbers, as many for each. It may be an `async` function,
#: which then runs in an event loop of its own.
Embed = Callable[[EmbeddingRequest], Union[Sequence[Sequence[float]], Awaitable[Sequence[Sequence[float]]]]]


def native_embed(embed: Embed) -> Callable[[list[str], float], list[list[float]]]:
    """The function as the native part calls it, on a thread of its own."""

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
    """The vectors of an answer. A program without types may return anything."""
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
