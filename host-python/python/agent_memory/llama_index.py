"""A memory as tools of LlamaIndex. Needs the package `llama-index-core`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llama_index.core.tools import FunctionTool, ToolMetadata

from ._arguments_model import arguments_model
from .model_tools import Answer, ModelTool, model_tools

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .memory import AgentMemory, AsyncAgentMemory
    from .model_tools import Application

__all__ = ["memory_tools"]


def memory_tools(memory: AgentMemory | AsyncAgentMemory, **application: Unpack[Application]) -> list[FunctionTool]:
    """The tools of a memory, for `FunctionAgent(tools=...)`. A model gets a refusal as an output with `is_error`."""
    return [_tool(tool) for tool in model_tools(memory, **application)]


def _tool(tool: ModelTool) -> FunctionTool:
    def call(**arguments: Any) -> str:
        return _text(tool.call(arguments))

    async def call_async(**arguments: Any) -> str:
        return _text(await tool.call_async(arguments))

    schema = arguments_model(tool.name, tool.input_schema)
    metadata = ToolMetadata(name=tool.name, description=tool.description, fn_schema=schema)
    return FunctionTool(fn=call, async_fn=call_async, metadata=metadata)


def _text(answer: Answer) -> str:
    if answer.is_error:
        # An agent of LlamaIndex turns any exception into an output for the model.
        raise ValueError(answer.text)
    return answer.text
