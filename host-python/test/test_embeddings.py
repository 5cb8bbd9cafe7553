"""Vectors by a function of the program."""

from __future__ import annotations

import threading
import time
import unittest
from collections.abc import Sequence
from typing import Any

from agent_memory import AgentMemory, EmbeddingRequest, MemoryOpenError, open_memory
from scratch import ScratchTest

SLOOP = "The sloop is moored at the pier."


class EmbeddingTest(ScratchTest):
    def open(self, **options: Any) -> AgentMemory:
        """A memory with records in SQLite."""
        directory = self.directory / options.pop("directory", "records")
        settings = {"records": {"directory": directory, "format": "sqlite"}}
        return open_memory(allow=[], toolsets=["records"], settings=settings, **options)  # type: ignore[arg-type]

    def add(self, memory: AgentMemory) -> Any:
        outcome = memory.call("add_core_memory", {"content": SLOOP})
        self.assertFalse(outcome.is_error, outcome)
        return outcome

    def search(self, memory: AgentMemory) -> list[str]:
        return [hit["passage"] for hit in memory.call("search_memory", {"query": "dinghies"}).value["hits"]]

    def search_until_found(self, memory: AgentMemory) -> list[str]:
        """The hits, once the memory has its vector."""
        ends = time.monotonic() + 30
        while not (hits := self.search(memory)) and time.monotonic() < ends:
            time.sleep(0.01)
        return hits

    def test_the_function_gets_new_memories_and_queries(self) -> None:
        asked: list[Sequence[str]] = []

        def embed(request: EmbeddingRequest) -> list[list[float]]:
            asked.append(request.texts)
            self.assertGreater(request.timeout, 0)
            return [[1, 0.5] for _ in request.texts]

        with self.open(embed=embed, embed_model="local") as memory:
            [follow_up] = self.add(memory).follow_ups
            self.assertEqual((follow_up.id, follow_up.kind), ("memory/43277519770809", "embedding"))
            self.assertEqual(self.search_until_found(memory), [SLOOP])
        self.assertEqual(asked[:2], [[SLOOP], ["dinghies"]])

    def test_an_async_function_is_awaited(self) -> None:
        async def embed(request: EmbeddingRequest) -> list[tuple[float, ...]]:
            return [(1.0,) for _ in request.texts]

        with self.open(embed=embed, embed_model="local") as memory:
            self.add(memory)
            self.assertEqual(self.search_until_found(memory), [SLOOP])

    def test_searches_answer_by_words_and_ask_a_function_that_failed_only_once(self) -> None:
        queries: list[str] = []

        def embed(request: EmbeddingRequest) -> list[list[float]]:
            if request.texts[0] == SLOOP:
                return [[1.0, 0.0]]
            queries.append(request.texts[0])
            raise ValueError("no credit")

        with self.assertLogs("agent_memory", "WARNING") as logged:
            with self.open(embed=embed, embed_model="local") as memory:
                self.add(memory)
                ends = time.monotonic() + 30
                while not queries and time.monotonic() < ends:
                    self.assertEqual(self.search(memory), [])
                self.assertEqual(self.search(memory), [])
        self.assertEqual(queries, ["dinghies"])
        [message] = [record.getMessage() for record in logged.records]
        self.assertRegex(message, "^searches go on without vectors for 30s: `local`: ValueError: no credit$")

    def test_an_error_or_a_wrong_answer_of_the_function_is_told(self) -> None:
        wrong: list[tuple[Any, str]] = [
            (ValueError("no credit"), "ValueError: no credit"),
            (None, "not one vector for each text"),
            ([], "not one vector for each text"),
            ("x", "not one vector for each text"),
            ([["x"]], "no finite number"),
            ([[float("nan")]], "no finite number"),
            ([[10**400]], "no finite number"),
            ([[]], "empty"),
        ]
        for number, (answer, message) in enumerate(wrong):
            asked = threading.Event()

            def embed(_: EmbeddingRequest, answer: Any = answer, asked: threading.Event = asked) -> Any:
                asked.set()
                if isinstance(answer, Exception):
                    raise answer
                return answer

            with self.subTest(answer), self.assertLogs("agent_memory", "WARNING") as logged:
                with self.open(embed=embed, embed_model="local", directory=f"records-{number}") as memory:
                    self.add(memory)
                    self.assertTrue(asked.wait(30))
            self.assertIn("vectors are left for later", logged.output[0])
            self.assertIn(message, logged.output[0])

    def test_a_program_gives_vectors_by_hand(self) -> None:
        with self.open(embed_model="mine") as memory:
            [follow_up] = self.add(memory).follow_ups
            claimed = memory.claim(follow_up.id, 90)
            self.assertTrue(claimed.value)
            payload = claimed.follow_ups[0].payload
            self.assertEqual(payload["texts"], [SLOOP])
            vectors = {"batch": payload["batch"], "model": "mine", "vectors": [[3, 4]]}
            self.assertEqual(memory.answer(follow_up.id, vectors).value, {"applied": True, "stored": 1})
            outcome = memory.call("search_memory", {"query": "dinghies"})
            wanted = outcome.wants_vector
            assert wanted is not None
            self.assertEqual((wanted.model, wanted.text, wanted.timeout), ("mine", "dinghies", 1.0))
            self.assertEqual(outcome.value["hits"], [])
            better = memory.call_with_vector("search_memory", {"query": "dinghies"}, wanted.text, [3, 4])
            self.assertEqual([hit["passage"] for hit in better.value["hits"]], [SLOOP])

    def test_a_function_without_the_name_of_its_model_is_an_error(self) -> None:
        with self.assertRaisesRegex(MemoryOpenError, "`embed_model` is missing"):
            self.open(embed=lambda request: [])


if __name__ == "__main__":
    unittest.main()
