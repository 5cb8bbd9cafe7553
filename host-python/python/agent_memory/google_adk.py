"""A memory as tools of Google's Agent Development Kit. Needs the package `google-adk`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from google.adk.tools.base_tool import BaseTool
from google.genai.types import FunctionDeclaration

from .model_tools import ModelTool, model_tools

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .memory import AgentMemory, AsyncAgentMemory
    from .model_tools import Application

__all__ = ["MemoryTool", "memory_tools"]


class MemoryTool(BaseTool):
    """A tool of a memory."""

    def __init__(self, tool: ModelTool) -> None:
        super().__init__(name=tool.name, description=tool.description)
        self._tool = tool

    def _get_declaration(self) -> FunctionDeclaration:
        return FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema=self._tool.input_schema,
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: object) -> Any:
        """Calls the tool. The response has a `result`, or the `error` that says what to do."""
        answer = await self._tool.call_async(args)
        return {"error" if answer.is_error else "result": json.loads(answer.text)}


def memory_tools(memory: AgentMemory | AsyncAgentMemory, **application: Unpack[Application]) -> list[MemoryTool]:
    """The tools of a memory, for `LlmAgent(tools=...)`. A model gets a refusal as a response with an `error`."""
    return [MemoryTool(tool) for tool in model_tools(memory, **application)]
