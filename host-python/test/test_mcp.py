"""The official MCP client against the command of the package."""

from __future__ import annotations

import asyncio
import sys
import unittest
from pathlib import Path
from typing import Any

from agent_memory import open_memory
from mcp import Client, StdioServerParameters
from scratch import ScratchTest

SCRIPT = str(Path(sys.executable).with_name("agent-memory"))


class McpTest(ScratchTest):
    def use(self, work: Any) -> None:
        """Runs an async function with a client of a server for the repository."""

        async def run() -> None:
            server = StdioServerParameters(
                # With this `PATH` no other program is found: the package needs none.
                env={"PATH": "/nowhere"},
                command=SCRIPT,
                args=["serve", "--allow", str(self.repository), "--log-level", "error"],
            )
            async with Client(server) as client:
                await work(client)

        asyncio.run(run())

    def test_the_client_lists_the_tools_for_models(self) -> None:
        async def lists(client: Client) -> None:
            listed = (await client.list_tools()).tools
            with open_memory(allow=[]) as memory:
                tools = [tool for tool in memory.tools if tool["audience"] == "model"]
            self.assertEqual([tool.name for tool in listed], [tool["name"] for tool in tools])
            self.assertEqual([tool.input_schema for tool in listed], [tool["inputSchema"] for tool in tools])

        self.use(lists)

    def test_the_client_calls_tools_and_reads_their_errors(self) -> None:
        async def calls(client: Client) -> None:
            early: Any = await client.call_tool("append_entry", self.entry("- Use SQLite."))
            self.assertTrue(early.is_error)
            self.assertIn("SessionNotFound", early.content[0].text)
            started: Any = await client.call_tool("start_session", self.log)
            self.assertTrue(started.structured_content["created"], started)
            appended: Any = await client.call_tool("append_entry", self.entry("- Use SQLite."))
            log = self.repository / appended.structured_content["session_file"]
            self.assertIn("- Use SQLite.", log.read_text())

        self.use(calls)


if __name__ == "__main__":
    unittest.main()
