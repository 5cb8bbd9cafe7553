"""A memory as tools of the OpenAI Agents SDK. Needs the package `openai-agents`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agents import FunctionTool

from .model_tools import ModelTool, model_tools

if TYPE_CHECKING:
    from agents.tool_context import ToolContext
    from typing_extensions import Unpack

    from .memory import AgentMemory, AsyncAgentMemory
    from .model_tools import Application

__all__ = ["memory_tools"]


def memory_tools(memory: AgentMemory | AsyncAgentMemory, **application: Unpack[Application]) -> list[FunctionTool]:
    """The tools of a memory, for `Agent(tools=...)`. A model gets a refusal as the output of its call."""
    return [_tool(tool) for tool in model_tools(memory, **application)]


def _tool(tool: ModelTool) -> FunctionTool:
    async def invoke(_: ToolContext[Any], arguments: str) -> str:
        return (await tool.call_async(arguments)).text

    return FunctionTool(
        name=tool.name,
        description=tool.description,
        params_json_schema=tool.input_schema,
        on_invoke_tool=invoke,
        # Strict mode makes every argument required.
        strict_json_schema=False,
    )
