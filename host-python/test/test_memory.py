"""Opening a memory, its calls and their errors."""

from __future__ import annotations

import json
import threading
import time
import unittest
from datetime import datetime, timezone
from typing import Any, cast

from agent_memory import MemoryCallError, MemoryOpenError, ToolError, open_memory
from scratch import ScratchTest


class CallTest(ScratchTest):
    def test_a_call_answers_with_the_result_of_its_tool(self) -> None:
        now = datetime(2025, 1, 20, 10, tzinfo=timezone.utc)
        with open_memory(allow=[self.repository], clock={"now": now, "step": 60}, utc_offset=0) as memory:
            started = memory.call("start_session", {"agent_name": "aristotle", "repo_root": str(self.repository)})
            self.assertTrue(started.value["created"])
            appended = memory.call("append_entry", self.entry("- Use SQLite."))
        self.assertEqual(appended.result["session_file"], ".github/agent-memory/aristotle/logs/2025-01-20.md")
        self.assertFalse(appended.is_error)
        self.assertIn("- Use SQLite.", (self.repository / appended.value["session_file"]).read_text())

    def test_an_error_of_a_tool_is_an_outcome_that_a_model_can_read(self) -> None:
        with open_memory(allow=[self.repository]) as memory:
            outcome = memory.call_by_name("append_entry", self.entry("x"))
            self.assertEqual(outcome.result["error"], "SessionNotFound")
            assert outcome.error is not None
            self.assertEqual((outcome.error.category, outcome.error.code), ("not-found", "SessionNotFound"))
            self.assertEqual(str(outcome.error), outcome.result["message"])
            with self.assertRaises(ToolError) as raised:
                _ = outcome.value
            self.assertIs(raised.exception, outcome.error)

    def test_a_method_takes_keywords_and_returns_the_result_or_raises(self) -> None:
        settings = {"records": {"directory": str(self.directory / "records")}}
        options: Any = {"toolsets": ["all"], "data_dir": self.directory, "settings": settings}
        with open_memory(allow=[self.repository], **options) as memory:
            self.assertTrue(memory.sessions.start_session(agent_name="aristotle")["created"])
            read = memory.sessions.read_session(agent_name="aristotle", from_=1)
            self.assertIn("session_file", read)
            # Two toolsets have a tool of this name.
            memory.records.add_core_memory(content="The port is 1.")
            memory.layers.add_core_memory(agent_id="ada", memory="The port is 2.")
            for agent, text in [("default", "The port is 1."), ("ada", "The port is 2.")]:
                hits = memory.memory.search_memory(query="port", agent=agent)["hits"]
                self.assertEqual([hit["passage"] for hit in hits], [text])
            with self.assertRaises(ToolError) as raised:
                memory.sessions.append_entry(agent_name="aristotle", section="None", content="x")
            self.assertEqual(raised.exception.category, "invalid")
            anything: Any = memory
            with self.assertRaises(ToolError) as raised:
                anything.records.add_core_memory(contents="x")
            self.assertIn("contents", str(raised.exception))
            with self.assertRaisesRegex(AttributeError, "the toolset `records` has no tool `add`; there are recall_"):
                anything.records.add()

    def test_a_toolset_that_is_not_mounted_has_no_methods(self) -> None:
        with open_memory(allow=[]) as memory:
            with self.assertRaisesRegex(AttributeError, "no attribute `records`; the mounted toolsets are sessions, m"):
                memory.records.get_memory_stats()
            self.assertEqual(memory.sessions.list_sessions.__name__, "list_sessions")
            self.assertIn("list_sessions", dir(memory.sessions))

    def test_a_call_without_an_outcome_raises_with_a_code(self) -> None:
        memory = open_memory(allow=[])
        calls: list[tuple[str, Any, str]] = [
            ("no_such_tool", {}, "not-found"),
            ("start_session", [], "invalid-request"),
            ("start_session", {"agent_name": float("nan")}, "invalid-request"),
            ("start_session", {"agent_name": object()}, "invalid-request"),
        ]
        for name, arguments, code in calls:
            with self.subTest(name=name, arguments=arguments), self.assertRaises(MemoryCallError) as raised:
                memory.call_by_name(name, arguments)
            self.assertEqual(raised.exception.code, code)
        memory.close()
        memory.close()
        with self.assertRaises(MemoryCallError) as raised:
            memory.call("list_sessions", self.log)
        self.assertEqual(raised.exception.code, "closed")

    def test_a_text_that_is_no_unicode_is_refused(self) -> None:
        with open_memory(allow=[self.repository]) as memory, self.assertRaises(MemoryCallError) as raised:
            memory.call("append_entry", self.entry("\ud800"))
        self.assertEqual(raised.exception.code, "invalid-request")

    def test_a_call_that_breaks_a_limit_is_ended_and_the_next_one_works(self) -> None:
        with open_memory(allow=[self.repository], limits={"storage_calls": 4}) as memory:
            with self.assertRaises(MemoryCallError) as raised:
                memory.call("start_session", self.log)
            self.assertEqual(raised.exception.code, "storage-calls")
            self.assertEqual(len(memory.tools), len(json.loads(json.dumps(memory.tools))))
            self.assertTrue(memory.call_by_name("append_entry", {"agent_name": ""}).is_error)

    def test_other_threads_run_while_a_call_waits(self) -> None:
        with open_memory(allow=[self.repository], lock_wait=0.5) as memory:
            memory.call("start_session", self.log).value
            self.hold_lock(self.repository)
            turns, ended = 0, threading.Event()

            def wait() -> None:
                self.assertEqual(memory.call("append_entry", self.entry("x")).error.category, "busy")  # type: ignore
                ended.set()

            waiting = threading.Thread(target=wait)
            waiting.start()
            while not ended.is_set():
                time.sleep(0.01)
                turns += 1
            waiting.join()
        self.assertGreater(turns, 10)

    def test_threads_write_at_once_and_nothing_is_lost(self) -> None:
        with open_memory(allow=[self.repository], durability="relaxed") as memory:
            log = memory.call("start_session", self.log).value["session_file"]
            calls = [
                threading.Thread(target=memory.call, args=("append_entry", self.entry(f"- Entry {number}.")))
                for number in range(20)
            ]
            for call in calls:
                call.start()
            for call in calls:
                call.join()
        text = (self.repository / log).read_text()
        for number in range(20):
            self.assertEqual(text.count(f"- Entry {number}.\n"), 1)


class OpenTest(ScratchTest):
    def test_a_wrong_option_is_named(self) -> None:
        wrong: list[tuple[dict[str, Any], str]] = [
            ({"allow": "/tmp"}, "`allow` is not a list"),
            ({"allow": [7]}, "`allow` has an item"),
            ({"allow": [self.directory / "missing"]}, "missing"),
            ({"memory_dir": "/x"}, "`memory_dir` does not exist"),
            ({"toolsets": "records"}, "`toolsets` is not a list"),
            ({"toolsets": ["diaries"]}, "no toolset `diaries`"),
            ({"data_dir": "here"}, "`data_dir` is neither"),
            ({"durability": "none"}, "`durability`"),
            ({"lock_wait": 3601}, "`lock_wait` is more than"),
            ({"lock_wait": -1}, "`lock_wait` is not a number"),
            ({"lock_wait": float("inf")}, "`lock_wait` is more than"),
            ({"utc_offset": 1440}, "less than a day"),
            ({"time_zone": "Mars/Olympus"}, "no time zone `Mars/Olympus`"),
            ({"time_zone": 5}, "`time_zone` is not a name"),
            ({"time_zone": "UTC", "utc_offset": 0}, "leave one of them out"),
            ({"utc_offset": 1.5}, "`utc_offset` is not a whole number"),
            ({"clock": {"now": "2025-01-20", "step": 1}}, "`clock.now`"),
            ({"seed": "x"}, "`seed` is not a whole number"),
            ({"limits": {"time": 1}}, "`limits.time` does not exist"),
            ({"limits": {"storage_calls": -1}}, "`limits.storage_calls` is not a number"),
            ({"settings": {"records": "x"}}, "`settings.records` is not a mapping"),
            ({"settings": {"records": {"format": "xml"}}}, "`json` or `sqlite`"),
            ({"settings": {"records": {"colour": "red"}}}, "no setting `colour`"),
            ({"places": {"shelves": {"a": "/a"}}}, "no toolset has a family of places `shelves`"),
            ({"summarize": "x"}, "`summarize` is not a function"),
            ({"models": [1]}, "`models` is not a list"),
        ]
        for options, message in wrong:
            with self.subTest(options), self.assertRaises(MemoryOpenError) as raised:
                open_memory(**cast(Any, {"allow": [], **options}))
            self.assertEqual(raised.exception.code, "invalid-option")
            self.assertIn(message, str(raised.exception))

    def test_a_memory_lists_what_it_mounts(self) -> None:
        with open_memory(allow=[]) as memory:
            self.assertEqual(memory.tools[0]["name"], "start_session")
            self.assertEqual({tool["audience"] for tool in memory.tools}, {"model", "person"})
        settings: Any = {"memory": {"leave_out": True}}
        with open_memory(allow=[], toolsets=["layers"], data_dir=self.directory, settings=settings) as memory:
            self.assertNotIn("search_memory", [tool["name"] for tool in memory.tools])
            self.assertIn("layers://{agent_id}/summary", [of["uriTemplate"] for of in memory.resource_templates])
            self.assertTrue(memory.prompts)


if __name__ == "__main__":
    unittest.main()
