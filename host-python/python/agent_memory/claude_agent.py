"""A memory as tools of the Claude Agent SDK. Needs the package `claude-agent-sdk`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from claude_agent_sdk import SdkMcpTool, ToolAnnotations

from .model_tools import ModelTool, model_tools

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .memory import AgentMemory, AsyncAgentMemory
    from .model_tools import Application

__all__ = ["memory_tools"]


def memory_tools(memory: AgentMemory | AsyncAgentMemory, **application: Unpack[Application]) -> list[SdkMcpTool[Any]]:
    """The tools of a memory, for `create_sdk_mcp_server(name, tools=...)`. A model gets a refusal with `is_error`."""
    return [_tool(tool) for tool in model_tools(memory, **application)]


def _tool(tool: ModelTool) -> SdkMcpTool[Any]:
    async def handle(arguments: dict[str, Any]) -> dict[str, Any]:
        answer = await tool.call_async(arguments)
        return {"content": [{"type": "text", "text": answer.text}], "is_error": answer.is_error}

    return SdkMcpTool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input_schema,
        handler=handle,
        annotations=ToolAnnotations(title=tool.title, **tool.annotations),
    )
