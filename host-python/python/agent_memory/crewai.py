"""A memory as tools of CrewAI. Needs the package `crewai`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from crewai.tools import BaseTool
from crewai.tools.tool_failure import ToolFailure
from pydantic import PrivateAttr

from ._arguments_model import arguments_model
from .model_tools import Answer, ModelTool, model_tools

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .memory import AgentMemory, AsyncAgentMemory
    from .model_tools import Application

__all__ = ["MemoryTool", "memory_tools"]


def never(*_: object) -> bool:
    """Keeps the results out of the crew's cache: a second call may find more."""
    return False


class MemoryTool(BaseTool):
    """A tool of a memory."""

    _tool: ModelTool = PrivateAttr()

    def __init__(self, tool: ModelTool) -> None:
        super().__init__(
            name=tool.name,
            description=tool.description,
            args_schema=arguments_model(tool.name, _with_nulls(tool.input_schema)),
            cache_function=never,
        )
        self._tool = tool

    def _run(self, **arguments: Any) -> str | ToolFailure:
        return _output(self._tool.call(self._given(arguments)))

    async def _arun(self, **arguments: Any) -> str | ToolFailure:
        return _output(await self._tool.call_async(self._given(arguments)))

    def _given(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments without optional arguments that are null, which the schema of `_with_nulls` allows."""
        required = self._tool.input_schema["required"]
        return {name: value for name, value in arguments.items() if value is not None or name in required}


def memory_tools(memory: AgentMemory | AsyncAgentMemory, **application: Unpack[Application]) -> list[MemoryTool]:
    """The tools of a memory, for `Agent(tools=...)`. A model gets a refusal as a `ToolFailure`."""
    return [MemoryTool(tool) for tool in model_tools(memory, **application)]


def _with_nulls(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema with null for the arguments that may be left out: CrewAI makes models give every argument."""
    required = schema["required"]
    return {
        **schema,
        "properties": {
            name: field if name in required or "anyOf" in field else _or_null(field)
            for name, field in schema["properties"].items()
        },
    }


def _or_null(field: Mapping[str, Any]) -> dict[str, Any]:
    value = {name: of for name, of in field.items() if name != "description"}
    described = {"description": field["description"]} if "description" in field else {}
    return {**described, "anyOf": [value, {"type": "null"}]}


def _output(answer: Answer) -> str | ToolFailure:
    return ToolFailure(message=answer.text, retryable=True) if answer.is_error else answer.text
