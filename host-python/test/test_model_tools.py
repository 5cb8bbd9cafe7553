"""The tools for a model, without a framework."""

from __future__ import annotations

import asyncio
import json
import os
import unittest
from typing import Any

from agent_memory import AgentMemory, MemoryCallError, open_async_memory, open_memory
from agent_memory.model_tools import Answer, ModelTool, model_tools
from scratch import ScratchTest


class ModelToolsTest(ScratchTest):
    def open(self, **options: Any) -> AgentMemory:
        memory = open_memory(
            allow=[self.repository],
            durability="relaxed",
            data_dir=self.directory / "data",
            settings={"records": {"directory": self.directory / "records"}},
            **options,
        )
        self.addCleanup(memory.close)
        return memory

    def tools(self, memory: Any, **application: Any) -> dict[str, ModelTool]:
        application = {"agent": "aristotle", "repository": self.repository, **application}
        return {tool.name: tool for tool in model_tools(memory, **application)}

    def check_refused(self, answer: Answer, message: str) -> None:
        self.assertTrue(answer.is_error, answer)
        self.assertIn(message, json.loads(answer.text)["message"])

    def test_a_toolset_names_agents_and_repositories_as_the_application_does(self) -> None:
        memory = self.open(toolsets=["all"])
        fields = {field for tool in self.tools(memory).values() for field in tool.input_schema["properties"]}
        self.assertEqual([field for field in fields if "agent" in field or "repo" in field], [])
        self.assertIn("store", fields)

    def test_people_have_tools_that_no_model_is_offered(self) -> None:
        memory = self.open(toolsets=["all"])
        people = {tool["name"] for tool in memory.tools if tool["audience"] == "person"}
        self.assertIn("validate", people)
        self.assertEqual(people & set(self.tools(memory)), set())

    def test_every_toolset_gets_the_agent_and_the_store(self) -> None:
        tools = self.tools(self.open(toolsets=["all"]), store="team")
        calls: list[tuple[str, dict[str, object]]] = [
            ("start_session", {}),
            ("append_entry", {"section": "Decisions", "content": "- The port is 1."}),
            ("records_add_core_memory", {"content": "The port is 2."}),
            ("layers_add_core_memory", {"memory": "The port is 3."}),
            ("add_memory", {"path": "ports", "content": "The port is 4."}),
        ]
        for name, arguments in calls:
            answer = tools[name].call(arguments)
            self.assertFalse(answer.is_error, answer.text)
        found = json.loads(tools["search_memory"].call({"query": "port"}).text)
        self.assertEqual(
            sorted(hit["toolset"] for hit in found["hits"]), ["layers", "records", "sessions", "stores"]
        )
        for hit in found["hits"]:
            self.assertEqual({"agent", "repo_root", "store"} & set(hit), set())
            read = tools[hit["read"]["tool"]].call(hit["read"]["arguments"])
            self.assertFalse(read.is_error, read.text)
            self.assertIn("The port is", read.text)
        self.check_refused(tools["list_memories"].call({"store": "other"}), "the application sets `store`")

    def test_a_model_hears_of_no_other_agent_and_of_no_other_store(self) -> None:
        memory = self.open(toolsets=["all"])
        memory.call("records_add_core_memory", {"agent_id": "plato", "content": "The port is 1."})
        memory.call("layers_add_core_memory", {"agent_id": "plato", "memory": "The port is 2."})
        memory.sessions.start_session(agent_name="plato")
        memory.call("add_memory", {"store": "academy", "path": "ports", "content": "The port is 3."})
        memory.call("add_memory", {"store": "team", "path": "notes", "content": "Nothing yet."})
        tools = self.tools(memory, store="team")
        calls: list[tuple[str, dict[str, object]]] = [
            ("recall_context", {}),
            ("query_memories", {"search": "port"}),
            ("get_memory_stats", {}),
            ("get_memory_summary", {}),
            ("get_core_memories", {}),
            ("search_episodic_memories", {"keywords": "port"}),
            ("list_sessions", {}),
            ("read_session", {}),
            ("read_summary", {}),
            ("get_memory", {"path": "ports"}),
            ("search_memory", {"query": "port"}),
        ]
        for name, arguments in calls:
            text = tools[name].call(arguments).text
            for hidden in ("plato", "academy", "`agent_id`", "`agent_name`"):
                self.assertNotIn(hidden, text, name)

    def test_a_memory_with_a_reach_answers_for_its_only_agent_and_can_only_be_narrowed(self) -> None:
        memory = self.open(toolsets=["records", "layers"])
        memory.call("records_add_core_memory", {"agent_id": "ada", "content": "The port is 1."})
        of_ada = memory.with_reach(agents=["ada"])
        self.assertEqual(of_ada.call("query_memories", {}).result["total"], 1)
        self.assertTrue(of_ada.call("query_memories", {"agent_id": "plato"}).is_error)
        self.assertTrue(of_ada.with_reach(agents=["plato"]).call("query_memories", {"agent_id": "plato"}).is_error)
        with self.assertRaises(MemoryCallError) as raised:
            of_ada.query_database("layers", "SELECT 1")
        self.assertEqual(raised.exception.code, "not-granted")
        wrong: Any = "ada"
        with self.assertRaises(MemoryCallError) as raised:
            memory.with_reach(agents=wrong)
        self.assertEqual(raised.exception.code, "invalid-request")

    def test_a_model_may_repeat_what_the_application_set_but_not_change_it(self) -> None:
        tools = self.tools(self.open())
        self.assertFalse(tools["start_session"].call(self.log).is_error)
        self.assertFalse(tools["list_sessions"].call({"agent_id": "aristotle"}).is_error)
        for name, value in {"agent_name": "plato", "agent": None, "repo_root": "/"}.items():
            answer = tools["start_session"].call({name: value})
            self.check_refused(answer, f"the application sets `{name}`: leave it out")
        self.assertEqual([path.name for path in (self.repository / ".github/agent-memory").iterdir()], ["aristotle"])

    def test_without_a_repository_the_only_one_is_used_and_none_may_be_named(self) -> None:
        tools = self.tools(self.open(), repository=None)
        self.assertFalse(tools["start_session"].call().is_error)
        self.check_refused(tools["start_session"].call({"repo_root": str(self.repository)}), "leave it out")

    def test_a_relative_repository_is_that_of_the_working_directory(self) -> None:
        before = os.getcwd()
        os.chdir(self.directory)
        self.addCleanup(os.chdir, before)
        self.assertFalse(self.tools(self.open(), repository="repository")["start_session"].call().is_error)

    def test_arguments_may_be_json_and_are_refused_if_they_are_no_object(self) -> None:
        [tool] = self.tools(self.open(), only=["list_sessions"]).values()
        self.assertEqual(tool.call('{"limit": 1}'), Answer('{"sessions": []}', False))
        self.assertEqual(tool.call(""), Answer('{"sessions": []}', False))
        self.check_refused(tool.call("{"), "the arguments are not JSON")
        wrong: Any = [1]
        self.check_refused(tool.call("[1]"), "the arguments are not a JSON object")
        self.check_refused(tool.call(wrong), "the arguments are not a JSON object")
        self.check_refused(tool.call({"limit": float("nan")}), "the arguments cannot be written as JSON")

    def test_a_broken_limit_is_a_refusal_and_a_closed_memory_is_not(self) -> None:
        memory = self.open(limits={"storage_calls": 1})
        tool = self.tools(memory)["start_session"]
        self.assertEqual(json.loads(tool.call().text)["error"], "storage-calls")
        memory.close()
        with self.assertRaises(MemoryCallError) as raised:
            tool.call()
        self.assertEqual(raised.exception.code, "closed")

    def test_both_kinds_of_memory_answer_both_kinds_of_calls(self) -> None:
        asynchronous = open_async_memory(allow=[self.repository])
        for memory in (self.open(), asynchronous):
            [tool] = self.tools(memory, only=["list_sessions"]).values()
            self.assertEqual(tool.call(), Answer('{"sessions": []}', False))
            self.assertEqual(asyncio.run(tool.call_async()), Answer('{"sessions": []}', False))
        asyncio.run(asynchronous.close())

    def test_an_invalid_name_is_an_error_of_the_application(self) -> None:
        memory = self.open(toolsets=["all"])
        wrong: list[tuple[dict[str, Any], str]] = [
            ({"agent": "no name"}, "`no name` is no `agent_name`: it has to match"),
            ({"store": "../team"}, "`../team` is no `store`: it has to match"),
            ({"only": ["validate"]}, "there is no tool `validate` for models; there are start_session, "),
        ]
        for application, message in wrong:
            with self.assertRaises(ValueError) as raised:
                self.tools(memory, **application)
            self.assertIn(message, str(raised.exception))


if __name__ == "__main__":
    unittest.main()
