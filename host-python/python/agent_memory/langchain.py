"""A memory as tools of LangChain and LangGraph. Needs the package `langchain-core`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.tools import StructuredTool, ToolException

from .model_tools import Answer, ModelTool, model_tools

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .memory import AgentMemory, AsyncAgentMemory
    from .model_tools import Application

__all__ = ["memory_tools"]


def memory_tools(memory: AgentMemory | AsyncAgentMemory, **application: Unpack[Application]) -> list[StructuredTool]:
    """The tools of a memory, for `create_agent`, `ToolNode` or `bind_tools`.

    A model gets a refusal as a message with the status `error`.
    """
    return [_tool(tool) for tool in model_tools(memory, **application)]


def _tool(tool: ModelTool) -> StructuredTool:
    def call(**arguments: Any) -> str:
        return _text(tool.call(arguments))

    async def call_async(**arguments: Any) -> str:
        return _text(await tool.call_async(arguments))

    return StructuredTool(
        name=tool.name,
        description=tool.description,
        args_schema=tool.input_schema,
        func=call,
        coroutine=call_async,
        handle_tool_error=True,
    )


def _text(answer: Answer) -> str:
    if answer.is_error:
        raise ToolException(answer.text)
    return answer.text
