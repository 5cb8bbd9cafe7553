"""The tools in Pydantic AI."""

from __future__ import annotations

import unittest
from typing import Any

import frameworks
from agent_memory.pydantic_ai import memory_tools
from pydantic_ai import Agent, UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel


def returns(messages: list[ModelMessage]) -> list[ToolReturnPart]:
    """The results that a model got."""
    return [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]


def scripted(script: frameworks.Script) -> FunctionModel:
    """Pydantic AI's model for tests, which follows a script."""

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        offered = [
            frameworks.Offered(tool.name, tool.description or "", tool.parameters_json_schema)
            for tool in info.function_tools
        ]
        calls = script.answer(offered, [str(part.content) for part in returns(messages)])
        parts = [ToolCallPart(call.tool, dict(call.arguments)) for call in calls]
        return ModelResponse(parts=parts or [TextPart("done")])

    return FunctionModel(respond)


class PydanticAITest(frameworks.FrameworkTests):
    HEADING = "Pydantic AI"
    memory_tools = memory_tools

    def run_agent(self, tools: list[Any], script: frameworks.Script) -> None:
        agent = Agent(scripted(script), tools=tools, retries=3)
        self.assertEqual(agent.run_sync("Remember it.").output, "done")

    def run_page(self, code: str, script: frameworks.Script) -> None:
        exec(code, {"model": scripted(script)})

    def test_a_refusal_asks_for_a_retry(self) -> None:
        script = frameworks.Script([frameworks.append("x")], [frameworks.START])
        ran = Agent(scripted(script), tools=self.tools(self.open())).run_sync("Remember it.")
        self.assertEqual([part.outcome for part in returns(ran.all_messages())], ["retried", "success"])

    def test_the_agent_bounds_the_retries(self) -> None:
        script = frameworks.Script([frameworks.append("x")], [frameworks.append("x")], [frameworks.append("x")])
        with self.assertRaisesRegex(UnexpectedModelBehavior, "exceeded max retries count of 1"):
            Agent(scripted(script), tools=self.tools(self.open()), retries=1).run_sync("Remember it.")


if __name__ == "__main__":
    unittest.main()
