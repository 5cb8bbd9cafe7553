"""Calls in an event loop."""

from __future__ import annotations

import asyncio
import time
import unittest
from pathlib import Path

from agent_memory import MemoryCallError, ToolError, open_async_memory
from scratch import ScratchTest


class AsyncTest(ScratchTest):
    def test_calls_run_at_once_and_write_in_their_order(self) -> None:
        async def entries() -> str:
            async with open_async_memory(allow=[self.repository], durability="relaxed") as memory:
                log = (await memory.call("start_session", self.log)).value["session_file"]
                calls = [memory.call("append_entry", self.entry(f"- Entry {number}.")) for number in range(20)]
                for outcome in await asyncio.gather(*calls):
                    self.assertFalse(outcome.is_error, outcome)
            path: Path = self.repository / log
            return path.read_text()

        text = asyncio.run(entries())
        found = [line for line in text.splitlines() if line.startswith("- Entry")]
        self.assertEqual(found, [f"- Entry {number}." for number in range(20)])

    def test_the_loop_runs_while_a_call_waits_and_a_cancelled_call_ends(self) -> None:
        async def cancelled() -> float:
            async with open_async_memory(allow=[self.repository], lock_wait=30) as memory:
                await memory.call("start_session", self.log)
                self.hold_lock(self.repository)
                waiting = asyncio.create_task(memory.call("append_entry", self.entry("x")))
                await asyncio.sleep(0.2)
                self.assertFalse(waiting.done())
                began = time.monotonic()
                waiting.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await waiting
            return time.monotonic() - began

        self.assertLess(asyncio.run(cancelled()), 3)

    def test_everything_else_has_an_async_form(self) -> None:
        async def use() -> None:
            memory = open_async_memory(allow=[], toolsets=["layers"], data_dir=self.directory)
            added = await memory.call("layers_add_core_memory", {"agent_id": "ada", "memory": "a"})
            self.assertFalse(added.is_error, added)
            read_core = (await memory.call("get_core_memories", {"agent_id": "ada"})).value
            read = await memory.read_resource("layers://ada/summary")
            self.assertEqual(read.value[0]["uri"], "layers://ada/summary")
            names = await memory.complete(prompt=memory.prompts[0]["name"], argument="agent_id", value="a")
            self.assertEqual(names.value, ["ada"])
            prompt = await memory.get_prompt(memory.prompts[0]["name"], {"agent_id": "ada"})
            self.assertTrue(prompt.value["messages"])
            self.assertEqual((await memory.pending()).follow_ups, [])
            rows = await memory.query_database("layers", "SELECT memory FROM core_memories")
            self.assertEqual(rows.rows, [("a",)])
            self.assertEqual(await memory.layers.get_core_memories(agent_id="ada"), read_core)
            with self.assertRaises(ToolError):
                await memory.layers.get_core_memories(agent_id="../ada")
            with self.assertRaises(MemoryCallError) as raised:
                await memory.claim("x", 90)
            self.assertEqual(raised.exception.code, "not-found")
            await memory.close()
            with self.assertRaises(MemoryCallError) as raised:
                await memory.call("get_core_memories", {"agent_id": "ada"})
            self.assertEqual(raised.exception.code, "closed")

        asyncio.run(use())


if __name__ == "__main__":
    unittest.main()
