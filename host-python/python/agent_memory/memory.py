"""Open memories: `AgentMemory`, and `AsyncAgentMemory` for `asyncio`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from . import _native
from ._calls import AsyncCalls, Calls
from .description import Prompt, Resource, ResourceTemplate, Tool
from .embedding import native_embed
from .errors import MemoryCallError, MemoryOpenError
from .handle import Function, Handle
from .options import MemoryOptions, Path, invalid, native_options, paths
from .outcome import Answer, Outcome, PromptMessages, ResourceContents, Rows, outcome_of
from .reach import EVERYTHING, Reach
from .request import Parameter, arguments_json, completion, lease, parameters_of, to_json
from .summaries import native_function

if TYPE_CHECKING:
    import asyncio
    from types import TracebackType

    from typing_extensions import Self, Unpack

    from .toolsets import DatabasePlace

__all__ = ["AgentMemory", "AsyncAgentMemory", "open_async_memory", "open_memory"]


def open_memory(*, allow: Sequence[Path], **options: Unpack[MemoryOptions]) -> AgentMemory:
    """Opens a memory.

    `allow` has directories: each grants itself, if it is a repository, and the repositories below it. Raises a
    `MemoryOpenError` if an option is wrong or the component cannot be loaded.
    """
    return AgentMemory(_open(allow, options))


def open_async_memory(*, allow: Sequence[Path], **options: Unpack[MemoryOptions]) -> AsyncAgentMemory:
    """Opens a memory for `asyncio`, with the options of `open_memory`. It takes some milliseconds."""
    return AsyncAgentMemory(_open(allow, options))


def _open(allow: Sequence[Path], options: MemoryOptions) -> Handle:
    summarize, embed = options.get("summarize"), options.get("embed")
    if summarize is not None and not callable(summarize):
        raise invalid("summarize", "is not a function")
    if embed is not None and not callable(embed):
        raise invalid("embed", "is not a function")
    if embed is not None and options.get("embed_model") is None:
        raise invalid("embed_model", "is missing: name the model of `embed`")
    functions: dict[str, Function] = {}
    if summarize is not None:
        functions["summarize"] = native_function(summarize)
    if embed is not None:
        functions["embed"] = native_embed(embed)
    granted, others = paths(allow), native_options(options)
    try:
        native = _native.Memory(granted, others, summarize is not None, embed is not None)
    except _native.NativeError as error:
        raise MemoryOpenError(*error.args) from None
    return Handle(native, functions)


class _Lists:
    #: The tools of the mounted toolsets, in the order in which users should see them.
    tools: Sequence[Tool]
    #: The resources that can be read with `read_resource`.
    resources: Sequence[Resource]
    #: Patterns of further resources that can be read with `read_resource`.
    resource_templates: Sequence[ResourceTemplate]
    #: The prompts that `get_prompt` returns.
    prompts: Sequence[Prompt]

    def __init__(self, handle: Handle, reach: Reach = EVERYTHING) -> None:
        self._handle = handle
        self._reach = reach
        *lists, toolsets = map(json.loads, handle.lists)
        self.tools, self.resources, self.resource_templates, self.prompts = lists
        #: The names of the tools of each mounted toolset.
        self._toolsets: Mapping[str, Sequence[str]] = {toolset["name"]: toolset["tools"] for toolset in toolsets}

    def _check_query(self) -> None:
        """Raises for a memory with a reach of agents: SQL would read the rows of all agents."""
        if self._reach.agents is not None:
            raise MemoryCallError("not-granted", "a memory with a reach runs no SQL: use the one that it was made of")


class AgentMemory(Calls, _Lists):
    """An open memory. Close it with `close()` or `with`.

    Its methods may be called from any thread. A waiting call lets other threads run, and answers Ctrl-C.
    """

    def _ask(self, kind: str, *texts: str) -> Outcome[Any]:
        return outcome_of(self._handle.ask(kind, texts, self._reach))

    def with_reach(self, *, agents: Sequence[str] | None = None, stores: Sequence[str] | None = None) -> AgentMemory:
        """Returns a view of this memory for a caller that may use only some agents or stores.

        Answers, notes, completions, counts and errors do not mention any others. With exactly one agent, a request that
        names no agent is for that one. The view of a view reaches what both reaches have in common. Closing the memory
        or a view closes both.
        """
        return AgentMemory(self._handle, self._reach.narrowed(agents, stores))

    def call_with_vector(
        self, name: str, arguments: Mapping[str, Any], text: str, vector: Sequence[float]
    ) -> Outcome[Any]:
        """Repeats a search with the vector that its outcome wants, for a program that asks its embedder itself."""
        return self._ask("call-with-vector", name, arguments_json(arguments), text, to_json([*map(float, vector)]))

    def read_resource(self, uri: str) -> Outcome[list[ResourceContents]]:
        """Reads a resource."""
        return self._ask("read", uri)

    def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> Outcome[PromptMessages]:
        """Returns a prompt: messages for a model."""
        return self._ask("prompt", name, arguments_json(arguments))

    def complete(
        self,
        *,
        prompt: str | None = None,
        resource_template: str | None = None,
        argument: str,
        value: str,
        others: Mapping[str, str] | None = None,
    ) -> Outcome[list[str]]:
        """Completes an argument of a prompt or a resource template: at most 100 values that begin with `value`.

        `others` has the arguments that are known already.
        """
        return self._ask("complete", *completion(prompt, resource_template, argument, value, others))

    def pending(self) -> Outcome[None]:
        """Lists at most 100 follow-ups that are neither answered nor claimed, as the `follow_ups` of the outcome."""
        return self._ask("pending")

    def claim(self, id: str, lease_seconds: int) -> Outcome[bool]:
        """Claims a follow-up. The result is false if another program has a lease or nothing is left to do."""
        return self._ask("claim", id, lease(lease_seconds))

    def answer(self, id: str, payload: Mapping[str, Any]) -> Outcome[dict[str, Any]]:
        """Answers a follow-up.

        Of the kind `summary`: `{"model", "summary"}`, or `{"error"}` if there is none. Of the kind `embedding`: `{"batch",
        "model", "vectors"}`, or `{"batch", "error"}`.
        """
        return self._ask("answer", id, to_json(payload))

    def query_database(
        self,
        place: DatabasePlace,
        sql: str,
        parameters: Sequence[Parameter] = (),
        *,
        max_rows: int = 10_000,
    ) -> Rows:
        """Runs one read-only statement on the database of a place, with parameters for `?1`, `?2` and so on.

        Do not open that file with `sqlite3` in this process: closing it drops the locks of this package. Raises a
        `MemoryCallError` with the storage's code, such as `not-found` if there is no database yet, and an
        `OverflowError` for an integer beyond 64 bits.
        """
        self._check_query()
        return Rows(*self._handle.query_database(place, sql, parameters_of(parameters), max_rows))

    def close(self) -> None:
        """Waits for the calls that were made, and at most 5 s for summaries and vectors. Later calls raise with `closed`.

        A memory that is open when the program ends is closed then. In a child of `fork`, `close` does nothing.
        """
        self._handle.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class AsyncAgentMemory(AsyncCalls, _Lists):
    """An open memory for `asyncio`. Close it with `await close()` or `async with`.

    Its methods are those of `AgentMemory`. A cancelled call releases everything within some milliseconds; it may have
    made its change.
    """

    async def _ask(self, kind: str, *texts: str) -> Outcome[Any]:
        # Imported here, so that a program without `asyncio` does not load it.
        import asyncio

        loop = asyncio.get_running_loop()
        answered: asyncio.Future[Answer] = loop.create_future()

        def settle(answer: Answer | None, error: Exception | None) -> None:
            if answered.cancelled():
                return
            if error is not None:
                answered.set_exception(error)
            else:
                answered.set_result(cast(Answer, answer))

        def done(answer: Answer | None, error: Exception | None) -> None:
            try:
                loop.call_soon_threadsafe(settle, answer, error)
            except RuntimeError:
                pass  # The loop is closed: nobody waits.

        cancel = self._handle.start(kind, texts, self._reach, done)
        try:
            return outcome_of(await answered)
        finally:
            cancel()

    def with_reach(
        self, *, agents: Sequence[str] | None = None, stores: Sequence[str] | None = None
    ) -> AsyncAgentMemory:
        """Returns a view of this memory for a caller that may not use all of it, as `AgentMemory.with_reach` does."""
        return AsyncAgentMemory(self._handle, self._reach.narrowed(agents, stores))

    async def call_with_vector(
        self, name: str, arguments: Mapping[str, Any], text: str, vector: Sequence[float]
    ) -> Outcome[Any]:
        """Repeats a search with a vector, as `AgentMemory.call_with_vector` does."""
        return await self._ask("call-with-vector", name, arguments_json(arguments), text, to_json([*map(float, vector)]))

    async def read_resource(self, uri: str) -> Outcome[list[ResourceContents]]:
        """Reads a resource."""
        return await self._ask("read", uri)

    async def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> Outcome[PromptMessages]:
        """Returns a prompt: messages for a model."""
        return await self._ask("prompt", name, arguments_json(arguments))

    async def complete(
        self,
        *,
        prompt: str | None = None,
        resource_template: str | None = None,
        argument: str,
        value: str,
        others: Mapping[str, str] | None = None,
    ) -> Outcome[list[str]]:
        """Completes an argument, as `AgentMemory.complete` does."""
        return await self._ask("complete", *completion(prompt, resource_template, argument, value, others))

    async def pending(self) -> Outcome[None]:
        """Lists follow-ups, as `AgentMemory.pending` does."""
        return await self._ask("pending")

    async def claim(self, id: str, lease_seconds: int) -> Outcome[bool]:
        """Claims a follow-up, as `AgentMemory.claim` does."""
        return await self._ask("claim", id, lease(lease_seconds))

    async def answer(self, id: str, payload: Mapping[str, Any]) -> Outcome[dict[str, Any]]:
        """Answers a follow-up, as `AgentMemory.answer` does."""
        return await self._ask("answer", id, to_json(payload))

    async def query_database(
        self,
        place: DatabasePlace,
        sql: str,
        parameters: Sequence[Parameter] = (),
        *,
        max_rows: int = 10_000,
    ) -> Rows:
        """Queries the database of a place, as `AgentMemory.query_database` does."""
        import asyncio

        self._check_query()
        values = parameters_of(parameters)
        return Rows(*await asyncio.to_thread(self._handle.query_database, place, sql, values, max_rows))

    async def close(self) -> None:
        """Closes the memory, as `AgentMemory.close` does."""
        import asyncio

        await asyncio.to_thread(self._handle.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()
