"""The files of a memory as the memory tool of Anthropic's SDK. Needs the package `anthropic`, and the toolset `files`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

from .errors import MemoryCallError
from .model_tools import FOR_MODELS

if TYPE_CHECKING:
    from .memory import AgentMemory, AsyncAgentMemory
    from .outcome import Outcome

__all__ = ["AsyncMemoryFiles", "MemoryFiles"]


class MemoryFiles(BetaAbstractMemoryTool):
    """The memory tool (`memory_20250818`) over the files of a memory, for `client.beta.messages.tool_runner(tools=...)`.

    With an `agent`, the model sees the directory of that agent as `/memories`. Without one, it sees the whole
    directory. Each command is one commit under a lock, so two edits of a file at the same time are both kept. The tool
    works until the memory is closed. Raises a `ValueError` if the toolset `files` is not mounted.
    """

    def __init__(self, memory: AgentMemory, *, agent: str | None = None) -> None:
        super().__init__()
        _check(memory)
        self._memory = memory if agent is None else memory.with_reach(agents=[agent])

    def _run(self, command: Any) -> str:
        tool, arguments = _call(command)
        try:
            return _text(self._memory.call_by_name(tool, arguments))
        except MemoryCallError as error:
            raise _refusal(error) from error

    view = create = str_replace = insert = delete = rename = _run


class AsyncMemoryFiles(BetaAsyncAbstractMemoryTool):
    """As `MemoryFiles`, for a memory in an event loop."""

    def __init__(self, memory: AsyncAgentMemory, *, agent: str | None = None) -> None:
        super().__init__()
        _check(memory)
        self._memory = memory if agent is None else memory.with_reach(agents=[agent])

    async def _run(self, command: Any) -> str:
        tool, arguments = _call(command)
        try:
            return _text(await self._memory.call_by_name(tool, arguments))
        except MemoryCallError as error:
            raise _refusal(error) from error

    view = create = str_replace = insert = delete = rename = _run


def _check(memory: AgentMemory | AsyncAgentMemory) -> None:
    if not any(tool["name"] == "view_memory_file" for tool in memory.tools):
        raise ValueError('mount the toolset `files`: `toolsets=["files"]`')


def _call(command: Any) -> tuple[str, dict[str, Any]]:
    """The tool of a command, and its arguments."""
    arguments: dict[str, Any] = command.to_dict(exclude_none=True)
    return f"{arguments.pop('command')}_memory_file", arguments


def _text(outcome: Outcome[Any]) -> str:
    """The text for the model. If the memory refuses the command, raises the SDK's `ToolError`."""
    if outcome.error is not None:
        raise ToolError(outcome.error.message)
    text: str = outcome.result["text"]
    return text


def _refusal(error: MemoryCallError) -> Exception:
    """The error of a call without an outcome: the SDK's `ToolError` if the model can do something about it."""
    return ToolError(str(error)) if error.code in FOR_MODELS else error
