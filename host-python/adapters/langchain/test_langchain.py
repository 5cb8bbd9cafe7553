"""The tools in LangChain and LangGraph."""

from __future__ import annotations

import asyncio
import unittest
from typing import Any

import frameworks
from agent_memory.langchain import memory_tools
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import ToolNode


class ScriptedModel(GenericFakeChatModel):
    """LangChain's fake model, which follows a script."""

    messages: Any = None
    script: Any
    offered: list[frameworks.Offered] = []
    #: The messages with results of the last request.
    results: list[ToolMessage] = []

    def bind_tools(self, tools: Any, **_: Any) -> ScriptedModel:
        functions = [convert_to_openai_tool(tool)["function"] for tool in tools]
        self.offered = [frameworks.Offered(of["name"], of["description"], of["parameters"]) for of in functions]
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.results = [message for message in messages if isinstance(message, ToolMessage)]
        calls = self.script.answer(self.offered, [str(result.content) for result in self.results])
        made = len(self.results)
        message = AIMessage(
            content="" if calls else "done",
            tool_calls=[
                {"name": call.tool, "args": dict(call.arguments), "id": f"call-{made + number}"}
                for number, call in enumerate(calls)
            ],
        )
        return ChatResult(generations=[ChatGeneration(message=message)])


REQUEST: Any = {"messages": [("user", "Remember it.")]}


class LangChainTest(frameworks.FrameworkTests):
    HEADING = "LangChain and LangGraph"
    memory_tools = memory_tools

    def run_agent(self, tools: list[Any], script: frameworks.Script) -> None:
        answer = create_agent(ScriptedModel(script=script), tools).invoke(REQUEST)
        self.assertEqual(answer["messages"][-1].content, "done")

    def run_page(self, code: str, script: frameworks.Script) -> None:
        exec(code, {"model": ScriptedModel(script=script)})

    def test_a_refusal_has_the_status_error(self) -> None:
        model = ScriptedModel(script=frameworks.Script([frameworks.append("x")], [frameworks.START]))
        create_agent(model, self.tools(self.open())).invoke(REQUEST)
        self.assertEqual([result.status for result in model.results], ["error", "success"])

    def test_an_agent_in_an_event_loop_waits_for_no_thread(self) -> None:
        memory = self.open()
        memory.call("start_session", self.log)
        script = frameworks.Script([frameworks.append("- First."), frameworks.append("- Second.")])
        with frameworks.both_wait(self.hold_lock(self.repository)) as running:
            asyncio.run(create_agent(ScriptedModel(script=script), self.tools(memory)).ainvoke(REQUEST))
        self.assertEqual(running.most, 2)
        for entry in ("- First.", "- Second."):
            self.assertEqual(self.log_text().count(entry), 1)

    def test_a_graph_with_a_node_of_tools_calls_them(self) -> None:
        graph = StateGraph(MessagesState).add_node("tools", ToolNode(self.tools(self.open())))
        called = AIMessage(content="", tool_calls=[{"name": "start_session", "args": {}, "id": "call-0"}])
        ran = graph.set_entry_point("tools").set_finish_point("tools").compile().invoke({"messages": [called]})
        self.assertIn('"created": true', ran["messages"][-1].content)
        self.log_text()

    def test_a_tool_runs_by_itself(self) -> None:
        [tool] = self.tools(self.open(), only=["list_sessions"])
        self.assertEqual(tool.invoke({}), '{"sessions": []}')
        self.assertEqual(asyncio.run(tool.ainvoke({})), '{"sessions": []}')


if __name__ == "__main__":
    unittest.main()
