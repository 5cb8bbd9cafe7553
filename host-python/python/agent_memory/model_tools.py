"""The tools of a memory for a model, with the agent and the repository set by the application.

`agent_memory.langchain`, `agent_memory.openai_agents` and the others make tools of a framework from them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from .description import Annotations
from .errors import MemoryCallError
from .memory import AgentMemory, AsyncAgentMemory
from .options import Path

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .outcome import Outcome

__all__ = ["Answer", "Application", "ModelTool", "model_tools"]

#: The arguments of tools that the application sets, by the name of the option with the value.
ARGUMENTS = {"agent": ("agent_name", "agent_id", "agent"), "repository": ("repo_root",), "store": ("store",)}

#: The codes of errors that a model can do something about. Other errors are raised for the application.
FOR_MODELS = ("invalid-request", "deadline", "memory", "storage-calls")


class _Application(TypedDict):
    #: The name of the agent, which is the only one that the tools reach. No model sees or sets it.
    agent: str


class Application(_Application, total=False):
    """The options of the application for the tools."""

    #: The repository of the agent's sessions. No model sees or sets it. It may be left out if only one is granted.
    repository: Path | None
    #: The only store that the tools of `stores` reach. Without it, the model names a store.
    store: str | None
    #: The names of the tools to offer. Default: all tools for models.
    only: Sequence[str] | None


class Answer(NamedTuple):
    """The answer to a call, for a model."""

    #: The toolset's own JSON: the result, or an error that says what to do.
    text: str
    is_error: bool


@dataclass(frozen=True)
class ModelTool:
    """A tool for a model."""

    name: str
    title: str
    description: str
    #: The JSON Schema of the arguments that the model gives.
    input_schema: dict[str, Any]
    annotations: Annotations
    #: The arguments that the tool takes from the application.
    _takes: Sequence[str] = field(repr=False)
    _of_application: Mapping[str, str | None] = field(repr=False)
    _memory: AgentMemory | AsyncAgentMemory = field(repr=False)

    def call(self, arguments: Mapping[str, Any] | str | None = None) -> Answer:
        """Calls the tool with arguments, or with their JSON.

        A tool's error is an answer, too. Raises a `MemoryCallError` for an error of the application, such as a closed
        memory.
        """
        try:
            memory = AgentMemory(self._memory._handle, self._memory._reach)
            return self._answer(memory.call_by_name(self.name, self._complete(arguments)))
        except MemoryCallError as error:
            return _refusal(error)

    async def call_async(self, arguments: Mapping[str, Any] | str | None = None) -> Answer:
        """Calls the tool in an event loop, as `call` does."""
        try:
            memory = AsyncAgentMemory(self._memory._handle, self._memory._reach)
            return self._answer(await memory.call_by_name(self.name, self._complete(arguments)))
        except MemoryCallError as error:
            return _refusal(error)

    def _complete(self, arguments: Mapping[str, Any] | str | None) -> dict[str, Any]:
        """The arguments of a call: those from the model, and those that the application sets."""
        given: Any = arguments or {}
        if isinstance(given, str):
            try:
                given = json.loads(given)
            except ValueError as error:
                raise MemoryCallError("invalid-request", f"the arguments are not JSON: {error}") from error
        if not isinstance(given, Mapping):
            raise MemoryCallError("invalid-request", "the arguments are not a JSON object")
        for name, value in self._of_application.items():
            if name in given and given[name] != value:
                raise MemoryCallError("invalid-request", f"the application sets `{name}`: leave it out")
        values = self._of_application
        of_model = {name: value for name, value in given.items() if name not in values}
        return of_model | {name: values[name] for name in self._takes if values[name] is not None}

    def _answer(self, outcome: Outcome[Any]) -> Answer:
        result = _for_model(outcome.result, self._of_application)
        return Answer(json.dumps(result, ensure_ascii=False), outcome.is_error)


def model_tools(memory: AgentMemory | AsyncAgentMemory, **application: Unpack[Application]) -> list[ModelTool]:
    """The tools of a memory for a model. They work until the memory is closed.

    Raises a `ValueError` if the name of the agent or the store is invalid, or if there is no such tool.
    """
    offered = {tool["name"]: tool for tool in memory.tools if tool["audience"] == "model"}
    only = application.get("only")
    for name in only or ():
        if name not in offered:
            raise ValueError(f"there is no tool `{name}` for models; there are {', '.join(offered)}")
    repository = application.get("repository")
    values = {
        "agent": application["agent"],
        "repository": None if repository is None else os.path.abspath(repository),
        "store": application.get("store"),
    }
    # Without a store, the model names one.
    kinds = [kind for kind in ARGUMENTS if kind != "store" or values[kind] is not None]
    of_application = {name: values[kind] for kind in kinds for name in ARGUMENTS[kind]}
    # The tools reach only this agent, and only this store if the application sets one. So answers
    # mention no other agents or stores.
    store = application.get("store")
    pinned = memory.with_reach(agents=[application["agent"]], stores=None if store is None else [store])
    return [
        ModelTool(
            name=name,
            title=tool["title"],
            description=tool["description"],
            input_schema=_without(tool["inputSchema"], of_application),
            annotations=tool["annotations"],
            _takes=[name for name in of_application if name in tool["inputSchema"]["properties"]],
            _of_application=of_application,
            _memory=pinned,
        )
        for name, tool in offered.items()
        if only is None or name in only
    ]


def _without(schema: Mapping[str, Any], of_application: Mapping[str, str | None]) -> dict[str, Any]:
    """A schema without the arguments that the application sets. Raises a `ValueError` if a value of one is invalid."""
    properties = dict(schema["properties"])
    for name, value in of_application.items():
        pattern = properties.pop(name, {}).get("pattern")
        if value is not None and pattern is not None and not re.fullmatch(pattern, value):
            raise ValueError(f"`{value}` is no `{name}`: it has to match `{pattern}`")
    required = [name for name in schema.get("required", ()) if name not in of_application]
    return {**schema, "properties": properties, "required": required}


def _for_model(result: Any, of_application: Mapping[str, str | None]) -> Any:
    """A result without the values that the application sets, which search hits have as arguments for other tools."""
    if isinstance(result, list):
        return [_for_model(item, of_application) for item in result]
    if not isinstance(result, dict):
        return result
    # A search may find entries of other stores, whose names are shown.
    shown = {name for name, value in result.items() if name == "store" and value != of_application.get(name)}
    return {
        name: _for_model(value, of_application)
        for name, value in result.items()
        if name not in of_application or name in shown
    }


def _refusal(error: MemoryCallError) -> Answer:
    if error.code not in FOR_MODELS:
        raise error
    return Answer(json.dumps({"error": error.code, "message": error.message}, ensure_ascii=False), True)
