"""The items of a memory as a store of LangGraph. Needs the package `langgraph`, and the toolset `items`."""

from __future__ import annotations

import asyncio
import math
from datetime import datetime
from typing import TYPE_CHECKING, Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    PutOp,
    SearchItem,
    SearchOp,
    TTLConfig,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from langgraph.store.base import Op, Result

    from .memory import AgentMemory
    from .outcome import Outcome

__all__ = ["AgentMemoryStore"]

# The maximum number of characters of a query that the memory accepts.
_MAX_QUERY = 2_000


class AgentMemoryStore(BaseStore):
    """A store of LangGraph over the items of a memory: `graph.compile(store=AgentMemoryStore(memory))`.

    A batch is one transaction, so two batches at the same time are both kept. `query` ranks by words: it finds items
    with some of its words, also inflected; only its first 2,000 characters count. `index=False` leaves an item out of
    that. With an `agent`, the store has only the namespaces of that agent. `ttl` has the times to live in minutes; no
    answer has an expired item. The store works until the memory is closed. Raises a `ValueError` if the toolset
    `items` is not mounted.
    """

    supports_ttl = True

    def __init__(self, memory: AgentMemory, *, agent: str | None = None, ttl: TTLConfig | None = None) -> None:
        super().__init__()
        if not any(tool["name"] == "put_item" for tool in memory.tools):
            raise ValueError('mount the toolset `items`: `toolsets=["items"]`')
        self._memory = memory if agent is None else memory.with_reach(agents=[agent])
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carries out operations. Their reads see the state before the batch."""
        listed = list(ops)
        if not listed:
            return []
        operations = [_operation(op) for op in listed]
        return _results(listed, self._memory.call_by_name("batch_items", {"operations": operations}))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `batch`, for an event loop: it waits on a thread."""
        return await asyncio.to_thread(self.batch, list(ops))


def _operation(op: Op) -> dict[str, Any]:
    if isinstance(op, GetOp):
        return {"get": {"namespace": list(op.namespace), "key": op.key}, "refresh_ttl": op.refresh_ttl}
    if isinstance(op, SearchOp):
        search = {
            "namespace_prefix": list(op.namespace_prefix),
            "filter": op.filter or {},
            "query": (op.query or "")[:_MAX_QUERY],
            "limit": op.limit,
            "offset": op.offset,
        }
        return {"search": search, "refresh_ttl": op.refresh_ttl}
    if isinstance(op, PutOp):
        return _put(op)
    if isinstance(op, ListNamespacesOp):
        return {"list": _list(op)}
    raise ValueError(f"unknown operation type: {type(op).__name__}")


def _put(op: PutOp) -> dict[str, Any]:
    address: dict[str, Any] = {"namespace": list(op.namespace), "key": op.key}
    if op.value is None:
        return {"delete": address}
    put = {**address, "value": dict(op.value)}
    if op.index is not None:
        put["index"] = list(op.index) if op.index else []
    if op.ttl is not None:
        put["ttl_seconds"] = max(1, math.ceil(op.ttl * 60))
    return {"put": put}


def _list(op: ListNamespacesOp) -> dict[str, Any]:
    listed: dict[str, Any] = {"limit": op.limit, "offset": op.offset}
    if op.max_depth is not None:
        listed["max_depth"] = op.max_depth
    for condition in op.match_conditions or ():
        if condition.match_type in listed:
            raise ValueError(f"a list of namespaces takes one {condition.match_type}")
        listed[condition.match_type] = list(condition.path)
    return listed


def _results(ops: list[Op], outcome: Outcome[Any]) -> list[Result]:
    if outcome.error is not None:
        raise ValueError(outcome.error.message)
    return [_result(op, result) for op, result in zip(ops, outcome.result["results"])]


def _result(op: Op, result: dict[str, Any]) -> Result:
    if isinstance(op, SearchOp):
        return [SearchItem(**_fields(item), score=item.get("score")) for item in result["items"]]
    if isinstance(op, ListNamespacesOp):
        return [tuple(namespace) for namespace in result["namespaces"]]
    item = result.get("item")
    return None if item is None else Item(**_fields(item))


def _fields(item: dict[str, Any]) -> dict[str, Any]:
    moments = {name: datetime.fromisoformat(item[name].replace("Z", "+00:00")) for name in ("created_at", "updated_at")}
    return {"namespace": tuple(item["namespace"]), "key": item["key"], "value": item["value"], **moments}
