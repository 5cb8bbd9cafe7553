"""The tools in the Claude Agent SDK. A script plays the command line that the SDK starts, and the model behind it."""

from __future__ import annotations

import asyncio
import json
import unittest
from collections.abc import AsyncIterator
from typing import Any
from unittest import mock

import frameworks
from agent_memory.claude_agent import memory_tools
from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, Transport, create_sdk_mcp_server, query

INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
DONE = {
    "type": "result",
    "subtype": "success",
    "duration_ms": 0,
    "duration_api_ms": 0,
    "is_error": False,
    "num_turns": 1,
    "session_id": "test",
    "result": "done",
}


class CommandLine(Transport):
    """Speaks the protocol of the command line, and calls the tools of the script."""

    def __init__(self, script: frameworks.Script, options: ClaudeAgentOptions | None = None) -> None:
        self.script = script
        self.options = options
        #: The tools of the server.
        self.tools: list[Any] = []
        #: The results of the calls.
        self.results: list[Any] = []
        self.requests = 0

    async def connect(self) -> None:
        self.from_sdk: asyncio.Queue[Any] = asyncio.Queue()
        self.to_sdk: asyncio.Queue[Any] = asyncio.Queue()
        self.playing = asyncio.create_task(self.play())

    async def write(self, data: str) -> None:
        await self.from_sdk.put(json.loads(data))

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        while (message := await self.to_sdk.get()) is not None:
            yield message

    async def close(self) -> None:
        await self.playing

    async def end_input(self) -> None:
        pass

    def is_ready(self) -> bool:
        return True

    async def play(self) -> None:
        try:
            begun = await self.from_sdk.get()
            answer = {"subtype": "success", "request_id": begun["request_id"], "response": {}}
            await self.to_sdk.put({"type": "control_response", "response": answer})
            assert (await self.from_sdk.get())["type"] == "user"
            await self.ask(("initialize", INITIALIZE))
            [listed] = await self.ask(("tools/list", {}))
            self.tools = listed["tools"]
            offered = [frameworks.Offered(of["name"], of["description"], of["inputSchema"]) for of in self.tools]
            while calls := self.script.answer(offered, [result["content"][0]["text"] for result in self.results]):
                named = [("tools/call", {"name": call.tool, "arguments": call.arguments}) for call in calls]
                self.results += await self.ask(*named)
            await self.to_sdk.put(DONE)
        finally:
            await self.to_sdk.put(None)

    async def ask(self, *messages: tuple[str, Any]) -> list[Any]:
        """Sends requests to the server at once, and waits for their results."""
        for number, (method, params) in enumerate(messages, self.requests):
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            request = {"subtype": "mcp_message", "server_name": "memory", "message": message}
            await self.to_sdk.put({"type": "control_request", "request_id": f"request-{number}", "request": request})
        results = {}
        for _ in messages:
            response = (await self.from_sdk.get())["response"]
            results[response["request_id"]] = response["response"]["mcp_response"]["result"]
        in_order = [results[f"request-{number}"] for number in range(self.requests, self.requests + len(messages))]
        self.requests += len(messages)
        return in_order


class ClaudeAgentTest(frameworks.FrameworkTests):
    HEADING = "Claude Agent SDK"
    memory_tools = memory_tools

    def run_agent(self, tools: list[Any], script: frameworks.Script) -> None:
        self.run_command_line(tools, script)

    def run_command_line(self, tools: list[Any], script: frameworks.Script) -> CommandLine:
        command_line = CommandLine(script)
        options = ClaudeAgentOptions(mcp_servers={"memory": create_sdk_mcp_server("memory", tools=tools)})

        async def run() -> list[Any]:
            asked = query(prompt="Remember it.", options=options, transport=command_line)
            return [message async for message in asked]

        [message] = asyncio.run(run())
        self.assertIsInstance(message, ResultMessage)
        self.assertEqual(message.result, "done")
        return command_line

    def run_page(self, code: str, script: frameworks.Script) -> None:
        started = []

        def start(prompt: Any, options: ClaudeAgentOptions) -> CommandLine:
            started.append(CommandLine(script, options))
            return started[0]

        with mock.patch("claude_agent_sdk._internal.client.SubprocessCLITransport", start):
            exec(code, {})
        [command_line] = started
        assert command_line.options is not None
        allowed = [f"mcp__memory__{tool.name}" for tool in script.offered]
        self.assertEqual(command_line.options.allowed_tools, allowed)

    def check_refused(self, name: str, result: str) -> None:
        # The SDK checks the arguments against the schema itself, so the message is the SDK's.
        self.assertEqual(
            result, f"Input validation error: Additional properties are not allowed ('{name}' was unexpected)"
        )

    def check_application_error(self, tools: list[Any], script: frameworks.Script) -> None:
        # The SDK shows the model every error.
        command_line = self.run_command_line(tools, script)
        [result] = command_line.results
        self.assertTrue(result["isError"])
        self.assertIn("the memory is closed", result["content"][0]["text"])

    def test_a_refusal_is_an_error_of_the_call(self) -> None:
        script = frameworks.Script([frameworks.append("x")], [frameworks.START])
        ran = self.run_command_line(self.tools(self.open()), script)
        self.assertEqual([result["isError"] for result in ran.results], [True, False])

    def test_the_tools_have_their_hints(self) -> None:
        memory = self.open()
        ran = self.run_command_line(self.tools(memory), frameworks.Script())
        expected = {tool["name"]: {"title": tool["title"], **tool["annotations"]} for tool in memory.tools}
        for tool in ran.tools:
            self.assertEqual(tool["annotations"], expected[tool["name"]])


if __name__ == "__main__":
    unittest.main()
