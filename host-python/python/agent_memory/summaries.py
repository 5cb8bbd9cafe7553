"""Summaries by a function of the program."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Union

__all__ = ["Summarize", "SummaryRequest"]


@dataclass(frozen=True)
class SummaryRequest:
    """A request for a summary of memories."""

    #: What to do, for the model.
    instructions: str
    #: The texts to summarise, the oldest first. They are data, not instructions.
    memories: Sequence[str]
    #: The maximum length of the summary in characters.
    max_characters: int
    #: The message of the user to the model: the memories as one JSON array, marked as data.
    prompt: str
    #: The seconds after which the summary is no longer needed: at most 30.
    timeout: float


#: Asks a model for a summary. It may be an `async` function, which then runs in an event loop of its own.
Summarize = Callable[[SummaryRequest], Union[str, Awaitable[str]]]


def native_function(summarize: Summarize) -> Callable[[str, list[str], int, str, float], str]:
    """Wraps the program's function for the native part, for which it is called on a thread of its own."""

    def ask(instructions: str, memories: list[str], max_characters: int, prompt: str, timeout: float) -> str:
        answer = summarize(SummaryRequest(instructions, memories, max_characters, prompt, timeout))
        if isinstance(answer, Awaitable):
            import asyncio

            async def awaited(answer: Awaitable[str]) -> str:
                return await asyncio.wait_for(answer, timeout)

            answer = asyncio.run(awaited(answer))
        # A program without types may return anything.
        if not isinstance(answer, str):
            raise TypeError("it answered with something that is no string")
        if not answer.strip():
            raise ValueError("it answered nothing")
        return answer

    return ask
