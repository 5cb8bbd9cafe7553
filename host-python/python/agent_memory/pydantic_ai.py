"""A memory as tools of Pydantic AI. Needs the package `pydantic-ai-slim`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_ai import ModelRetry, Tool

from .model_tools import ModelTool, model_tools

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .memory import AgentMemory, AsyncAgentMemory
    from .model_tools import Application

__all__ = ["memory_tools"]


def memory_tools(memory: AgentMemory | AsyncAgentMemory, **application: Unpack[Application]) -> list[Tool[Any]]:
    """The tools of a memory, for `Agent(tools=...)`.

    A model gets a refusal as a request to retry, as often as the agent's `retries` allow.
    """
    return [_tool(tool) for tool in model_tools(memory, **application)]


def _tool(tool: ModelTool) -> Tool[Any]:
    async def call(**arguments: Any) -> str:
        answer = await tool.call_async(arguments)
        if answer.is_error:
            raise ModelRetry(answer.text)
        return answer.text

    return Tool.from_schema(call, tool.name, tool.description, tool.input_schema)
