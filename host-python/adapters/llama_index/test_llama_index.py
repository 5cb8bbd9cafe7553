"""The tools in LlamaIndex."""

from __future__ import annotations

import asyncio
import unittest
from collections.abc import Sequence
from typing import Any

import frameworks
from agent_memory.llama_index import memory_tools
from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
from llama_index.core.base.llms.types import TextBlock, ToolCallBlock
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools.calling import call_tool


def scripted(script: frameworks.Script) -> MockFunctionCallingLLM:
    """LlamaIndex's model for tests, which follows a script."""

    def respond(messages: Sequence[ChatMessage], **options: Any) -> ChatMessage:
        results = [message.content or "" for message in messages if message.role == "tool"]
        offered = [
            frameworks.Offered(tool.metadata.name, tool.metadata.description, tool.metadata.get_parameters_dict())
            for tool in options.get("tools") or ()
        ]
        calls = script.answer(offered, results)
        blocks = [
            ToolCallBlock(tool_call_id=f"call-{number}", tool_name=call.tool, tool_kwargs=dict(call.arguments))
            for number, call in enumerate(calls, len(results))
        ]
        return ChatMessage(role="assistant", blocks=blocks or [TextBlock(text="done")])

    return MockFunctionCallingLLM(response_generator=respond, is_chat_model=True)


class LlamaIndexTest(frameworks.FrameworkTests):
    HEADING = "LlamaIndex"
    memory_tools = memory_tools

    def run_agent(self, tools: list[Any], script: frameworks.Script) -> None:
        self.outputs(tools, script)

    def outputs(self, tools: list[Any], script: frameworks.Script) -> list[ToolCallResult]:
        """What the calls of a run returned."""

        async def run() -> list[ToolCallResult]:
            running = FunctionAgent(tools=tools, llm=scripted(script)).run("Remember it.")
            events = [event async for event in running.stream_events()]
            self.assertEqual(str(await running), "done")
            return [event for event in events if isinstance(event, ToolCallResult)]

        return asyncio.run(run())

    def run_page(self, code: str, script: frameworks.Script) -> None:
        exec(code, {"model": scripted(script)})

    def check_application_error(self, tools: list[Any], script: frameworks.Script) -> None:
        # An agent of LlamaIndex shows the model every error.
        [result] = self.outputs(tools, script)
        self.assertTrue(result.tool_output.is_error)
        self.assertIn("the memory is closed", result.tool_output.content)

    def test_a_refusal_is_an_output_with_an_error(self) -> None:
        script = frameworks.Script([frameworks.append("x")], [frameworks.START])
        results = self.outputs(self.tools(self.open()), script)
        self.assertEqual([result.tool_output.is_error for result in results], [True, False])

    def test_a_tool_runs_by_itself(self) -> None:
        [tool] = self.tools(self.open(), only=["list_sessions"])
        self.assertEqual(str(tool.call()), '{"sessions": []}')
        self.assertEqual(str(asyncio.run(tool.acall())), '{"sessions": []}')
        self.assertEqual(str(call_tool(tool, {"limit": 1})), '{"sessions": []}')

    def test_no_description_is_too_long_for_its_providers(self) -> None:
        memory = self.open(toolsets=["all"], settings={"records": {"directory": self.directory / "records"}})
        for tool in self.tools(memory):
            self.assertEqual(tool.metadata.to_openai_tool()["function"]["name"], tool.metadata.name)


if __name__ == "__main__":
    unittest.main()
