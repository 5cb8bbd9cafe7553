"""The tools in CrewAI."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
import unittest
from typing import Any

# Without these variables, CrewAI would send telemetry, and write into the home directory.
os.environ.update(CREWAI_DISABLE_TELEMETRY="true", OTEL_SDK_DISABLED="true", CREWAI_TRACING_ENABLED="false")
os.environ.update(CREWAI_STORAGE_DIR=tempfile.mkdtemp(prefix="agent-memory-"))

import frameworks
from agent_memory.crewai import memory_tools
from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM


class ScriptedLLM(BaseLLM):
    """A model that follows a script: CrewAI has none for tests."""

    script: Any = None

    def supports_function_calling(self) -> bool:
        return True

    def call(self, messages: Any, tools: Any = None, *_: Any, **__: Any) -> Any:
        results = [message["content"] for message in messages if message["role"] == "tool"]
        functions = [tool["function"] for tool in tools or ()]
        offered = [frameworks.Offered(of["name"], of["description"], of["parameters"]) for of in functions]
        calls = self.script.answer(offered, results)
        made = [
            {
                "id": f"call-{number}",
                "type": "function",
                "function": {"name": call.tool, "arguments": json.dumps(call.arguments)},
            }
            for number, call in enumerate(calls, len(results))
        ]
        return made or "done"


def agent_of(tools: list[Any], script: frameworks.Script) -> Agent:
    model = ScriptedLLM(model="scripted", script=script)
    return Agent(role="Ada", goal="Remember.", backstory="An engineer.", llm=model, tools=tools)


class CrewAITest(frameworks.FrameworkTests):
    HEADING = "CrewAI"
    memory_tools = memory_tools

    def run_agent(self, tools: list[Any], script: frameworks.Script) -> None:
        self.assertEqual(agent_of(tools, script).kickoff("Remember it.").raw, "done")

    def run_page(self, code: str, script: frameworks.Script) -> None:
        # CrewAI prints the progress of the run.
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, {"model": ScriptedLLM(model="scripted", script=script)})

    def check_required(self, tool: frameworks.Offered, expected: set[str]) -> None:
        # CrewAI makes models give every argument. An argument that may be left out may be null.
        may_be_null = {
            name for name, field in tool.schema["properties"].items() if {"type": "null"} in field.get("anyOf", ())
        }
        self.assertEqual(set(tool.schema["required"]), set(tool.schema["properties"]))
        self.assertLessEqual(set(tool.schema["properties"]) - expected, may_be_null)

    def check_application_error(self, tools: list[Any], script: frameworks.Script) -> None:
        # CrewAI shows the model every error.
        self.run_agent(tools, script)
        self.assertIn("the memory is closed", script.results[0])

    def test_null_leaves_an_argument_out(self) -> None:
        nulls = {"date": None, "from": None, "limit": None, "section": None}
        script = self.run_script([frameworks.START], [frameworks.Call("read_session", nulls)])
        self.assertIn("## Decisions", json.loads(script.results[1])["text"])

    def test_the_same_call_twice_reads_twice(self) -> None:
        read = frameworks.Call("read_session", {})
        script = frameworks.Script([frameworks.START], [read], [frameworks.append("- New.")], [read])
        agent = agent_of(self.tools(self.open()), script)
        task = Task(description="Remember it.", expected_output="Nothing.", agent=agent)
        self.assertEqual(Crew(agents=[agent], tasks=[task], cache=True).kickoff().raw, "done")
        self.assertNotIn("- New.", script.results[1])
        self.assertIn("- New.", script.results[3])

    def test_a_refusal_is_a_failure_of_the_tool(self) -> None:
        script = frameworks.Script([frameworks.append("x")], [frameworks.START])
        agent = agent_of(self.tools(self.open()), script)
        task = Task(description="Remember it.", expected_output="Nothing.", agent=agent)
        output = Crew(agents=[agent], tasks=[task]).kickoff().tasks_output[0]
        self.assertEqual([failure.tool_name for failure in output.tool_failures], ["append_entry"])


if __name__ == "__main__":
    unittest.main()
