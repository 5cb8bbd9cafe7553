"""The calls of tools. `_calls.pyi` has their types, which follow from the component's description."""

from ._methods import AsyncToolset, Toolset
from .request import arguments_json


class Calls:
    def call(self, name, arguments=None):
        """Calls a tool.

        Calls that may change the same place run one after another, in the order in which they were made. A tool's error
        is an outcome, too. Raises a `MemoryCallError` if the call has no outcome.
        """
        return self._ask("call", name, arguments_json(arguments))

    def call_by_name(self, name, arguments=None):
        """Calls a tool, as `call` does. Its name is known only when the program runs, such as a model's."""
        return self._ask("call", name, arguments_json(arguments))

    def __getattr__(self, name):
        """A mounted toolset, with a method for each tool. A tool's error raises a `ToolError`."""
        return _toolset(self, name, Toolset)


class AsyncCalls:
    async def call(self, name, arguments=None):
        """Calls a tool, as `AgentMemory.call` does. A cancelled call releases everything within some milliseconds."""
        return await self._ask("call", name, arguments_json(arguments))

    async def call_by_name(self, name, arguments=None):
        """Calls a tool, as `AgentMemory.call_by_name` does."""
        return await self._ask("call", name, arguments_json(arguments))

    def __getattr__(self, name):
        """A mounted toolset, with a method for each tool. A tool's error raises a `ToolError`."""
        return _toolset(self, name, AsyncToolset)


def _toolset(memory, name, kind):
    # Python also asks `__getattr__` for `_toolsets`, as long as this attribute is not set.
    toolsets = {} if name.startswith("_") else memory._toolsets
    if name not in toolsets:
        there = ", ".join(toolsets)
        why = f"; the mounted toolsets are {there}" if there else ""
        raise AttributeError(f"`{type(memory).__name__}` has no attribute `{name}`{why}")
    return kind(name, toolsets[name], memory.call_by_name)
