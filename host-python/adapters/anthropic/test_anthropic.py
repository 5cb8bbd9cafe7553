"""The memory tool of Anthropic's SDK."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import httpx2
from agent_memory import open_async_memory, open_memory
from agent_memory.anthropic import AsyncMemoryFiles, MemoryFiles
from anthropic import Anthropic
from scratch import ScratchTest

PATH = "/memories/todo.md"


def edit(word: str) -> dict[str, Any]:
    return {"command": "str_replace", "path": PATH, "old_str": f"{word}: open\n", "new_str": f"{word}: done\n"}


class AnthropicTest(ScratchTest):
    def options(self) -> dict[str, Any]:
        return {"allow": [], "toolsets": ["files"], "data_dir": self.directory / "data", "durability": "relaxed"}

    def file(self, name: str) -> str:
        return (self.directory / "data/files/ada" / name).read_text()

    def test_the_tool_runner_runs_the_commands_and_both_edits_of_a_turn_stand(self) -> None:
        turns: list[list[dict[str, Any]]] = [
            [{"command": "create", "path": PATH, "file_text": "one: open\ntwo: open\n"}],
            [edit("one"), edit("two"), edit("three")],
            [{"command": "insert", "path": PATH, "insert_line": 2, "insert_text": "three: open\n"}],
            [{"command": "rename", "old_path": PATH, "new_path": "/memories/done.md"}],
            [{"command": "view", "path": "/memories/done.md", "view_range": [1, -1]}],
            [{"command": "view", "path": "/memories"}, {"command": "delete", "path": PATH}],
        ]
        sent: list[Any] = []

        def respond(request: httpx2.Request) -> httpx2.Response:
            sent.append(json.loads(request.content))
            calls = turns.pop(0) if turns else []
            content: list[Any] = [
                {"type": "tool_use", "id": f"toolu_{number}", "name": "memory", "input": call}
                for number, call in enumerate(calls)
            ]
            message = {
                "id": "msg",
                "type": "message",
                "role": "assistant",
                "model": "m",
                "content": content or [{"type": "text", "text": "Done."}],
                "stop_reason": "tool_use" if calls else "end_turn",
                "usage": {"input_tokens": 1, "output_tokens": 1},
            }
            return httpx2.Response(200, json=message)

        with open_memory(**self.options()) as memory:
            client = Anthropic(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(respond)))
            runner = client.beta.messages.tool_runner(
                model="m",
                max_tokens=10,
                messages=[{"role": "user", "content": "Remember."}],
                tools=[MemoryFiles(memory, agent="ada")],
            )
            runner.until_done()
        self.assertEqual(sent[0]["tools"], [{"type": "memory_20250818", "name": "memory"}])
        results = [
            [(result["content"], result.get("is_error", False)) for result in request["messages"][-1]["content"]]
            for request in sent[1:]
        ]
        self.assertEqual(results[0], [(f"File created successfully at: {PATH}", False)])
        self.assertEqual([is_error for _, is_error in results[1]], [False, False, True])
        self.assertIn("did not appear verbatim", results[1][2][0])
        expected = "     1\tone: done\n     2\ttwo: done\n     3\tthree: open"
        self.assertEqual(results[4][0][0], f"Here's the content of /memories/done.md with line numbers:\n{expected}")
        self.assertEqual(results[5][1], (f"Error: The path {PATH} does not exist", True))
        self.assertEqual(self.file("done.md"), "one: done\ntwo: done\nthree: open\n")

    def test_edits_of_threads_all_stand(self) -> None:
        words = [f"w{number}" for number in range(40)]
        text = "".join(f"{word}: open\n" for word in words)
        with open_memory(**self.options()) as memory:
            tool = MemoryFiles(memory, agent="ada")
            tool.call({"command": "create", "path": PATH, "file_text": text})
            threads = [threading.Thread(target=tool.call, args=(edit(word),)) for word in words]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(self.file("todo.md"), text.replace("open", "done"))

    def test_edits_in_an_event_loop_all_stand(self) -> None:
        words = [f"w{number}" for number in range(40)]
        text = "".join(f"{word}: open\n" for word in words)

        async def run() -> None:
            async with open_async_memory(**self.options()) as memory:
                tool = AsyncMemoryFiles(memory, agent="ada")
                await tool.call({"command": "create", "path": PATH, "file_text": text})
                await asyncio.gather(*(tool.call(edit(word)) for word in words))

        asyncio.run(run())
        self.assertEqual(self.file("todo.md"), text.replace("open", "done"))

    def test_the_toolset_has_to_be_mounted(self) -> None:
        with open_memory(allow=[], data_dir=self.directory / "data") as memory:
            with self.assertRaisesRegex(ValueError, "mount the toolset `files`"):
                MemoryFiles(memory)
