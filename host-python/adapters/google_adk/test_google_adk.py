"""The tools in Google's Agent Development Kit."""

from __future__ import annotations

import asyncio
import json
import unittest
from collections.abc import AsyncGenerator
from typing import Any

import frameworks
from agent_memory.google_adk import memory_tools
from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai.types import Content, FunctionCall, Part


class ScriptedLlm(BaseLlm):
    """A model that follows a script: the kit has none for tests in its API."""

    model: str = "scripted"
    script: Any
    #: The responses of the tools in the last request.
    responses: list[Any] = []

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        declared = [of for tool in llm_request.config.tools or () for of in tool.function_declarations or ()]
        offered = [frameworks.Offered(of.name, of.description, of.parameters_json_schema) for of in declared]
        parts = [part for content in llm_request.contents for part in content.parts or ()]
        self.responses = [part.function_response.response for part in parts if part.function_response]
        results = [json.dumps(next(iter(response.values())), ensure_ascii=False) for response in self.responses]
        calls = self.script.answer(offered, results)
        made = [Part(function_call=FunctionCall(name=call.tool, args=dict(call.arguments))) for call in calls]
        yield LlmResponse(content=Content(role="model", parts=made or [Part(text="done")]))


class GoogleAdkTest(frameworks.FrameworkTests):
    HEADING = "Google ADK"
    memory_tools = memory_tools

    def run_agent(self, tools: list[Any], script: frameworks.Script) -> None:
        self.run_model(tools, ScriptedLlm(script=script))

    def run_model(self, tools: list[Any], model: ScriptedLlm) -> None:
        agent = LlmAgent(name="ada", model=model, tools=tools)
        events = asyncio.run(InMemoryRunner(agent).run_debug("Remember it.", quiet=True))
        self.assertEqual(events[-1].content.parts[0].text, "done")

    def run_page(self, code: str, script: frameworks.Script) -> None:
        exec(code, {"model": ScriptedLlm(script=script)})

    def test_a_refusal_is_a_response_with_an_error(self) -> None:
        model = ScriptedLlm(script=frameworks.Script([frameworks.append("x")], [frameworks.START]))
        self.run_model(self.tools(self.open()), model)
        self.assertEqual([list(response) for response in model.responses], [["error"], ["result"]])


if __name__ == "__main__":
    unittest.main()
