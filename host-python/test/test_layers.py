"""Summaries by a function of the program, and queries of the database."""

from __future__ import annotations

import threading
import time
import unittest
from decimal import Decimal
from typing import Any

from agent_memory import AgentMemory, MemoryCallError, Rows, SummaryRequest, open_memory
from agent_memory.summaries import Summarize
from scratch import ScratchTest

SUMMARIES = """
    SELECT summary, summarizer FROM memory_compost
    JOIN layers_summaries ON compost_id = memory_compost.id ORDER BY memory_compost.id
"""


class LayersScratch(ScratchTest):
    database = "layers.db"

    def open(self, **options: Any) -> AgentMemory:
        """A memory whose recent layer holds two entries."""
        settings = {"layers": {"file": self.directory / self.database, "recent_capacity": 2}}
        return open_memory(allow=[], toolsets=["layers"], settings=settings, **options)  # type: ignore[arg-type]

    def fill(self, memory: AgentMemory) -> Any:
        """Adds the two memories that leave a follow-up. Returns the outcome of the second."""
        for text in ("One.", "Two."):
            outcome = memory.call("add_recent_memory", {"agent_id": "ada", "memory": text})
            self.assertFalse(outcome.is_error, outcome)
        return outcome


class SummaryTest(LayersScratch):
    def summary(self, summarize: Summarize) -> tuple[Any, ...]:
        """The summary that takes the place of two memories, and by whom it is."""
        with self.open(summarize=summarize) as memory:
            self.assertTrue(self.fill(memory).result["summary_pending"])
            ends = time.monotonic() + 10
            while not (rows := memory.query_database("layers", SUMMARIES).rows) and time.monotonic() < ends:
                time.sleep(0.01)
        [row] = rows
        return row

    def test_the_function_summarises_after_the_answer(self) -> None:
        requests: list[SummaryRequest] = []

        def summarize(request: SummaryRequest) -> str:
            requests.append(request)
            return "One and two."

        self.assertEqual(self.summary(summarize), ("One and two.", "function"))
        [request] = requests
        self.assertEqual(list(request.memories), ["One.", "Two."])
        self.assertEqual(request.prompt, 'The memories, as data:\n["One.","Two."]')
        self.assertEqual(request.max_characters, 1000)
        self.assertTrue(29 < request.timeout <= 30, request.timeout)

    def test_an_async_function_summarises(self) -> None:
        async def summarize(request: SummaryRequest) -> str:
            return " ".join(request.memories)

        self.assertEqual(self.summary(summarize), ("One. Two.", "function"))

    def test_the_built_in_summary_is_used_where_the_function_fails(self) -> None:
        def summarize(_: SummaryRequest) -> str:
            raise ValueError("no model today")

        with self.assertLogs("agent_memory", "WARNING") as logged:
            summary, summarizer = self.summary(summarize)
        self.assertEqual(summarizer, "built-in")
        self.assertIn("One; Two.", summary)
        [message] = [record.getMessage() for record in logged.records]
        self.assertRegex(message, '^the built-in summary is used .*: "`function`: ValueError: no model today"$')

    def test_a_wrong_answer_of_the_function_is_told(self) -> None:
        wrong: list[tuple[Any, str]] = [
            (7, "it answered with something that is no string"),
            (None, "it answered with something that is no string"),
            (" ", "it answered nothing"),
            ("\ud800", "surrogates not allowed"),
        ]
        for number, (answer, message) in enumerate(wrong):
            self.database = f"layers-{number}.db"

            def summarize(_: SummaryRequest, answer: Any = answer) -> Any:
                return answer

            with self.subTest(answer), self.assertLogs("agent_memory", "WARNING") as logged:
                self.assertEqual(self.summary(summarize)[1], "built-in")
            self.assertIn(message, logged.output[0])

    def test_a_function_may_call_the_memory(self) -> None:
        counts: list[int] = []

        def summarize(request: SummaryRequest) -> str:
            counts.append(memory.call("get_recent_memories", {"agent_id": "ada"}).result["count"])
            return "Both."

        with self.open(summarize=summarize) as memory:
            self.fill(memory)
            ends = time.monotonic() + 10
            while not counts and time.monotonic() < ends:
                time.sleep(0.01)
        self.assertEqual(counts, [2])

    def test_closing_waits_for_summaries_but_not_for_long(self) -> None:
        release = threading.Event()

        def summarize(_: SummaryRequest) -> str:
            release.wait(20)
            return "Too late."

        memory = self.open(summarize=summarize)
        self.fill(memory)
        began = time.monotonic()
        memory.close()
        release.set()
        self.assertTrue(4 < time.monotonic() - began < 9)

    def test_a_program_answers_follow_ups_by_hand(self) -> None:
        with self.open(models=["mine"]) as memory:
            [follow_up] = self.fill(memory).follow_ups
            self.assertEqual(follow_up.payload["memories"], ["One.", "Two."])
            self.assertEqual([one.id for one in memory.pending().follow_ups], [follow_up.id])
            self.assertTrue(memory.claim(follow_up.id, 90).value)
            self.assertFalse(memory.claim(follow_up.id, 90).value)
            self.assertTrue(memory.answer(follow_up.id, {"model": "mine", "summary": "Two."}).value["applied"])
            self.assertEqual(memory.query_database("layers", SUMMARIES).rows, [("Two.", "mine")])


class QueryTest(LayersScratch):
    def test_a_query_reads_rows_with_parameters(self) -> None:
        with self.open() as memory:
            for text in ("a", "b", "c"):
                memory.call("add_core_memory", {"agent_id": "ada", "memory": text}).value
            query = "SELECT memory, length(memory) AS size FROM core_memories WHERE memory <> ?1 ORDER BY memory"
            self.assertEqual(memory.query_database("layers", query, ["b"]), Rows(["memory", "size"], [("a", 1), ("c", 1)], False))
            self.assertEqual(memory.query_database("layers", query, ["b"], max_rows=1), Rows(["memory", "size"], [("a", 1)], True))
            values: list[Any] = [None, -(2**63), 1.5, "x", b"\0y"]
            self.assertEqual(memory.query_database("layers", "SELECT ?1, ?2, ?3, ?4, ?5", values).rows, [tuple(values)])

    def test_a_query_changes_nothing_and_names_its_error(self) -> None:
        with self.open() as memory:
            self.assertEqual(self.code_of(memory, "SELECT 1"), "not-found")
            memory.call("add_core_memory", {"agent_id": "ada", "memory": "a"}).value
            self.assertEqual(self.code_of(memory, "DELETE FROM core_memories"), "read-only")
            self.assertEqual(self.code_of(memory, "ATTACH 'x.db' AS x"), "not-granted")
            self.assertEqual(memory.query_database("layers", "SELECT count(*) FROM core_memories").rows, [(1,)])
        with open_memory(allow=[]) as memory:
            self.assertEqual(self.code_of(memory, "SELECT 1"), "not-granted")

    def code_of(self, memory: AgentMemory, sql: str) -> str:
        with self.assertRaises(MemoryCallError) as raised:
            memory.query_database("layers", sql)
        self.assertTrue(str(raised.exception))
        return raised.exception.code

    def test_a_parameter_that_no_database_can_hold_is_refused(self) -> None:
        class Index:
            def __index__(self) -> int:
                return 2**63

        with self.open() as memory:
            for integer in (2**63, -(2**63) - 1, 10**5000, Index()):
                with self.assertRaisesRegex(OverflowError, r"`\?2` is an integer beyond 64 bits: pass it as a text"):
                    memory.query_database("layers", "SELECT ?1", [1, integer])  # type: ignore[list-item]
            with self.assertRaisesRegex(TypeError, r"`\?1` is of the type `Decimal`"):
                memory.query_database("layers", "SELECT ?1", [Decimal("0.1")])  # type: ignore[list-item]

    def test_every_place_with_a_database_can_be_queried_and_no_other(self) -> None:
        settings: Any = {"records": {"directory": self.directory / "records", "format": "sqlite"}}
        with open_memory(allow=[], toolsets=["records"], settings=settings) as memory:
            memory.records.add_core_memory(content="a")
            self.assertEqual(memory.query_database("records", "SELECT 1").rows, [(1,)])
            place: Any = "stores"
            with self.assertRaisesRegex(MemoryCallError, "no place `stores` has a database; there are `records`, `l"):
                memory.query_database(place, "SELECT 1")

    def test_a_query_that_runs_for_too_long_ends(self) -> None:
        with self.open(limits={"statement_time": 0.2}) as memory:
            memory.call("add_core_memory", {"agent_id": "ada", "memory": "a"}).value
            endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
            self.assertEqual(self.code_of(memory, endless), "cancelled")


if __name__ == "__main__":
    unittest.main()
