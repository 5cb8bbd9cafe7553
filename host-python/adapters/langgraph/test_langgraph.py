"""The store in LangGraph, beside the one in memory that LangGraph has."""

from __future__ import annotations

import asyncio
import tempfile
import unittest
from typing import Any, TypedDict

from agent_memory import open_memory
from agent_memory.langgraph import AgentMemoryStore
from langgraph.graph import START, StateGraph
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

PUTS: list[tuple[tuple[str, ...], str, dict[str, Any]]] = [
    (("docs", "a"), "1", {"kind": "note", "size": 5, "meta": {"lang": "en", "n": 1}}),
    (("docs", "a"), "2", {"kind": "task", "size": 2.5, "tags": ["x", "y"]}),
    (("docs", "b"), "1", {"kind": "note", "size": 0.1 + 0.2, "text": "ünï"}),
    (("users", "ada", "v1"), "p", {"ok": True, "none": None, "size": 0}),
]

FILTERS: list[dict[str, Any]] = [
    {"kind": "note"},
    {"kind": {"$ne": "note"}},
    {"size": {"$gt": 2.5}},
    {"size": {"$gte": 2.5, "$lt": 5}},
    {"size": {"$lte": "5"}},
    {"meta": {"lang": "en"}},
    {"meta": {"lang": {"$eq": "en"}}},
    {"tags": ["x", "y"]},
    {"none": None, "ok": True},
]


class State(TypedDict):
    asked: str
    found: list[str]


class StoreTest(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.memory = open_memory(allow=[], toolsets=["items"], data_dir=directory.name)
        self.addCleanup(self.memory.close)
        self.store = AgentMemoryStore(self.memory)

    def both(self) -> list[BaseStore]:
        stores: list[BaseStore] = [self.store, InMemoryStore()]
        for namespace, key, value in PUTS:
            for store in stores:
                store.put(namespace, key, value)
        return stores

    def test_a_graph_keeps_items_and_finds_them(self) -> None:
        def remember(_: State, *, store: BaseStore) -> dict[str, Any]:
            for word in ("tea", "cars"):
                store.put(("users", "ada"), word, {"text": f"Ada likes {word}"})
            return {}

        def recall(state: State, *, store: BaseStore) -> dict[str, Any]:
            found = store.search(("users",), query=state["asked"])
            self.assertTrue(all(item.score and item.score > 0 for item in found))
            return {"found": [item.key for item in found]}

        graph = StateGraph(State).add_node("remember", remember).add_node("recall", recall)
        graph.add_edge(START, "remember").add_edge("remember", "recall")
        compiled = graph.compile(store=self.store)
        self.assertEqual(compiled.invoke({"asked": "who likes tea?", "found": []})["found"][0], "tea")

    def test_it_answers_as_the_store_in_memory(self) -> None:
        ours, theirs = self.both()
        for namespace, key, value in PUTS:
            item = ours.get(namespace, key)
            assert item is not None
            self.assertEqual((item.namespace, item.key, item.value), (namespace, key, value))
        self.assertIsNone(ours.get(("docs", "a"), "none"))

        def found(store: BaseStore, *prefix: str, **options: Any) -> list[tuple[Any, ...]]:
            items = store.search(prefix, **options)
            return sorted((item.namespace, item.key, repr(item.value)) for item in items)

        for condition in FILTERS:
            with self.subTest(condition):
                # LangGraph's store in memory fails if it compares a field that an item does not have.
                prefix = ("docs",) if "size" in condition else ()
                self.assertEqual(found(ours, *prefix, filter=condition), found(theirs, *prefix, filter=condition))
                self.assertTrue(found(ours, *prefix, filter=condition))
        self.assertEqual(found(ours, "docs", "a"), found(theirs, "docs", "a"))
        every: list[dict[str, Any]] = [
            {},
            {"prefix": ("docs",)},
            {"suffix": ("v1",)},
            {"prefix": ("*", "a")},
            {"max_depth": 1},
            {"prefix": ("docs",), "max_depth": 2, "limit": 1, "offset": 1},
        ]
        for options in every:
            with self.subTest(options):
                self.assertEqual(ours.list_namespaces(**options), theirs.list_namespaces(**options))
        for wrong in ((), ("a", "b.c"), ("a", ""), ("langgraph", "a")):
            with self.subTest(wrong), self.assertRaises(InvalidNamespaceError):
                ours.put(wrong, "k", {})

    def test_a_batch_reads_what_was_before_it(self) -> None:
        ours, theirs = self.both()
        operations = [
            PutOp(("docs", "a"), "1", {"changed": True}),
            GetOp(("docs", "a"), "1"),
            PutOp(("docs", "b"), "1", None),
            SearchOp(("docs", "b")),
            ListNamespacesOp((MatchCondition("prefix", ("users",)),)),
            PutOp(("langgraph", "own"), "k", {"n": 1}),
        ]

        def told(store: BaseStore) -> list[Any]:
            answers: list[Any] = store.batch(operations)
            put, got, gone, found, listed, own = answers
            return [put, got.value, gone, [item.value for item in found], listed, own]

        self.assertEqual(told(ours), told(theirs))
        for store in (ours, theirs):
            changed: Any = store.get(("docs", "a"), "1")
            self.assertEqual(changed.value, {"changed": True})
            self.assertIsNone(store.get(("docs", "b"), "1"))

    def test_two_batches_at_once_both_stand(self) -> None:
        async def puts(name: str) -> None:
            for number in range(10):
                await self.store.abatch([PutOp(("race",), f"{name}-{number}-{part}", {}) for part in range(2)])

        async def race() -> None:
            await asyncio.gather(*(puts(name) for name in "abcd"))

        asyncio.run(race())
        self.assertEqual(len(self.store.search(("race",), limit=1_000)), 80)

    def test_items_expire_and_reading_refreshes_them(self) -> None:
        def expiry(key: str) -> str | None:
            item: dict[str, Any] = self.memory.call_by_name("get_item", {"namespace": ["a"], "key": key}).result["item"]
            return item.get("expires_at")

        store = AgentMemoryStore(self.memory, ttl={"default_ttl": 60, "refresh_on_read": False})
        self.assertTrue(store.supports_ttl)
        store.put(("a",), "default", {})
        store.put(("a",), "none", {}, ttl=None)
        store.put(("a",), "short", {}, ttl=0.001)
        self.assertIsNone(expiry("none"))
        before = expiry("default")
        store.get(("a",), "default")
        self.assertEqual(expiry("default"), before)
        store.get(("a",), "default", refresh_ttl=True)
        self.assertNotEqual(expiry("default"), before)

    def test_a_store_of_an_agent_has_its_own_namespaces(self) -> None:
        of_ada = AgentMemoryStore(self.memory, agent="ada")
        of_ada.put(("notes",), "k", {"text": "tea"}, index=False)
        self.assertEqual(of_ada.list_namespaces(), [("notes",)])
        self.assertEqual(self.store.list_namespaces(prefix=("ada",)), [("ada", "notes")])
        self.assertEqual(of_ada.search((), query="tea"), [])
        self.assertEqual(len(of_ada.search(())), 1)

    def test_a_refusal_raises(self) -> None:
        with self.assertRaisesRegex(ValueError, "no operator"):
            self.store.search((), filter={"n": {"$regex": "1"}})
        with self.assertRaisesRegex(ValueError, "at most"):
            self.store.put(("a",), "k", {"text": "x" * 2**20})
        with tempfile.TemporaryDirectory() as directory, open_memory(
            allow=[], toolsets=["files"], data_dir=directory
        ) as memory, self.assertRaisesRegex(ValueError, "items"):
            AgentMemoryStore(memory)


if __name__ == "__main__":
    unittest.main()
