"""The calls of tools. `_calls.pyi` has their types, which follow from the component's description."""

from .request import arguments_json


class Calls:
    def call(self, name, arguments=None):
        """Calls a tool.

        Calls that may change the same place run one after another, in the order in which they were made. A tool's error
        is an outcome, too. Raises a `MemoryCallError` if the call has no outcome.
        """
        return self._ask("call", name, arguments_json(arguments))


class AsyncCalls:
    async def call(self, name, arguments=None):
        """Calls a tool, as `AgentMemory.call` does. A cancelled call releases everything within some milliseconds."""
        return await self._ask("call", name, arguments_json(arguments))
