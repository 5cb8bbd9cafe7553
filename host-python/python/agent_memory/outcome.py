"""The outcomes of calls, and the types of their results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, NamedTuple, Optional, TypedDict, TypeVar

from .embedding import WantedVector
from .errors import ToolError

__all__ = ["FollowUp", "Message", "Outcome", "PromptMessages", "ResourceContents", "Rows"]

Result = TypeVar("Result", covariant=True)

#: An answer of the native part: JSON, the error's category, code and message, changes, follow-ups, and the model, the
#: text and the seconds of the vector that is wanted.
Answer = tuple[
    str,
    Optional[tuple[str, str, str]],
    list[str],
    list[tuple[str, str, str]],
    Optional[tuple[str, str, float]],
]


@dataclass(frozen=True)
class FollowUp:
    """Work that a call left for later, such as a summary. It stays in storage until it is answered."""

    #: The id for `claim` and `answer`.
    id: str
    #: The kind of work. For `summary`, the payload has `models`, `instructions`, `memories` and `max_characters`. For
    #: `embedding`, it has `models`, and after the claim `texts` and `batch`.
    kind: str
    #: JSON, whose form depends on the kind.
    payload: Any


@dataclass(frozen=True)
class Outcome(Generic[Result]):
    """The answer of a tool. A tool's error is an outcome too: a model can read it and correct its call."""

    #: The toolset's own JSON: the tool's result, or its error.
    result: Result
    #: The error of the tool, or None if the tool has a result.
    error: ToolError | None
    #: The URIs of the resources that the call changed.
    changed: Sequence[str]
    #: Work that the call left for later. With the options `summarize` and `embed`, the memory carries it out itself.
    follow_ups: Sequence[FollowUp]
    #: The vector with which the search would find more. With the option `embed`, the memory has asked for it already.
    wants_vector: WantedVector | None = None

    @property
    def is_error(self) -> bool:
        """Whether the tool answered with an error."""
        return self.error is not None

    @property
    def value(self) -> Result:
        """The result of the tool. Raises its `ToolError` if it has none."""
        if self.error is not None:
            raise self.error
        return self.result


class ResourceContents(TypedDict):
    """The contents of a resource."""

    uri: str
    mimeType: str
    text: str


class Message(TypedDict):
    """A message of a prompt."""

    role: Literal["user", "assistant"]
    text: str


class PromptMessages(TypedDict):
    """A prompt with its text."""

    description: str
    messages: list[Message]


class Rows(NamedTuple):
    """The rows of a query."""

    columns: list[str]
    rows: list[tuple[None | int | float | str | bytes, ...]]
    #: Whether there were more rows than asked for.
    truncated: bool


def outcome_of(answer: Answer) -> Outcome[Any]:
    """The outcome in an answer of the native part."""
    text, error, changed, follow_ups, wanted = answer
    return Outcome(
        result=json.loads(text),
        error=None if error is None else ToolError(*error),
        changed=changed,
        follow_ups=[FollowUp(id, kind, json.loads(payload)) for id, kind, payload in follow_ups],
        wants_vector=None if wanted is None else WantedVector(*wanted),
    )
