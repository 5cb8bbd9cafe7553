"""The agents and stores that a caller may use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .errors import MemoryCallError

__all__ = ["EVERYTHING", "Reach"]


class Reach(NamedTuple):
    """The agents and stores that a caller may use. Answers and errors do not mention any others."""

    #: The only agents; None for all. With exactly one, a request that names no agent is for that one.
    agents: Sequence[str] | None = None
    #: The only stores; None for all. With exactly one, a request that names no store is for that one.
    stores: Sequence[str] | None = None

    def narrowed(self, agents: Sequence[str] | None, stores: Sequence[str] | None) -> Reach:
        """The reach with the agents and stores that this reach and these names have in common."""
        return Reach(_common("agents", self.agents, agents), _common("stores", self.stores, stores))


#: The reach of a program that opens a memory.
EVERYTHING = Reach()


def _common(name: str, one: Sequence[str] | None, other: Sequence[str] | None) -> Sequence[str] | None:
    if other is None:
        return one
    if isinstance(other, str) or not isinstance(other, Sequence) or not all(isinstance(item, str) for item in other):
        raise MemoryCallError("invalid-request", f"`{name}` is not a list of names")
    return [item for item in other if one is None or item in one]
