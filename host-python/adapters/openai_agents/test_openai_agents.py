"""The tools in the OpenAI Agents SDK."""

from __future__ import annotations

import json
import unittest
from typing import Any

import frameworks
from agent_memory import MemoryCallError
from agent_memory.openai_agents import memory_tools
from agents import Agent, Runner, set_tracing_disabled
from agents.exceptions import UserError
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message, function_call

set_tracing_disabled(True)


def scripted(script: frameworks.Script) -> ScriptedModel:
    """The SDK's model for tests, which follows a script."""

    def respond(call: ModelCall) -> Any:
        items: Any = call.input if isinstance(call.input, list) else []
        results = [item["output"] for item in items if item.get("type") == "function_call_output"]
        tools: Any = call.tools
        offered = [frameworks.Offered(tool.name, tool.description, tool.params_json_schema) for tool in tools]
        calls = script.answer(offered, results)
        if not calls:
            return ModelStep(output=[assistant_message("done")])
        return ModelStep(
            output=[
                function_call(call.tool, call.arguments, call_id=f"call-{len(results) + number}")
                for number, call in enumerate(calls)
            ]
        )

    return ScriptedModel([ModelStep.respond(respond) for _ in range(len(script.steps) + 1)])


class OpenAIAgentsTest(frameworks.FrameworkTests):
    HEADING = "OpenAI Agents SDK"
    memory_tools = memory_tools

    def run_agent(self, tools: list[Any], script: frameworks.Script) -> None:
        agent = Agent(name="Ada", model=scripted(script), tools=tools)
        self.assertEqual(Runner.run_sync(agent, "Remember it.").final_output, "done")

    def run_page(self, code: str, script: frameworks.Script) -> None:
        exec(code, {"model": scripted(script)})

    def check_application_error(self, tools: list[Any], script: frameworks.Script) -> None:
        with self.assertRaisesRegex(UserError, "the memory is closed") as raised:
            self.run_agent(tools, script)
        self.assertIsInstance(raised.exception.__cause__, MemoryCallError)

    def test_arguments_that_are_no_json_object_are_refused(self) -> None:
        texts: list[Any] = ["{", "[1]"]
        script = frameworks.Script(*([frameworks.Call("start_session", text)] for text in texts), [frameworks.START])
        self.run_agent(self.tools(self.open()), script)
        self.assertIn("the arguments are not JSON", script.results[0])
        self.assertIn("the arguments are not a JSON object", script.results[1])
        self.assertTrue(json.loads(script.results[2])["created"])


if __name__ == "__main__":
    unittest.main()
