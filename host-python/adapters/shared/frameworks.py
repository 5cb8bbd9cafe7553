"""What the tests of all frameworks share: an agent whose model follows a script."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib import metadata
from typing import Any, NamedTuple, Union
from unittest import mock

from agent_memory import AgentMemory, MemoryCallError, open_async_memory, open_memory
from agent_memory.model_tools import ModelTool
from scratch import ROOT, ScratchTest

PAGE = ROOT / "docs/python-frameworks.md"

#: The arguments that the application sets, by all names that toolsets have for them.
OF_APPLICATION = {"agent_name", "agent_id", "agent", "repo_root"}


class Call(NamedTuple):
    """A call that the model makes."""

    tool: str
    arguments: Mapping[str, Any]


#: The calls of one answer of the model, or a function that makes them from the results so far. After
#: the last step, the model makes no more calls.
Step = Union[Sequence[Call], Callable[[list[str]], Sequence[Call]]]


class Offered(NamedTuple):
    """A tool as the model gets it."""

    name: str
    description: str
    schema: Mapping[str, Any]


class Script:
    """The model's side of a run."""

    def __init__(self, *steps: Step) -> None:
        self.steps = list(steps)
        #: The tools of the last request to the model.
        self.offered: list[Offered] = []
        #: The results that the model got, each in the place of its call.
        self.results: list[str] = []

    def answer(self, offered: Sequence[Offered], results: Sequence[str]) -> Sequence[Call]:
        """The calls of the next answer, to a request with these tools and all results so far. No calls end the run."""
        self.offered, self.results = list(offered), list(results)
        if not self.steps:
            return ()
        step = self.steps.pop(0)
        return step(self.results) if callable(step) else step


START = Call("start_session", {})


def append(content: str) -> Call:
    return Call("append_entry", {"section": "Decisions", "content": content})


class FrameworkTests(ScratchTest):
    """Runs the same calls through each framework's own machinery."""

    #: The framework's heading in docs/python-frameworks.md; the table of versions there has the same name.
    HEADING: str
    #: The function of the framework's module.
    memory_tools: Callable[..., list[Any]]

    @classmethod
    def setUpClass(cls) -> None:
        # The frameworks log many of the errors that the tests provoke.
        logging.disable()
        cls.addClassCleanup(logging.disable, logging.NOTSET)

    def run_agent(self, tools: list[Any], script: Script) -> None:
        """Runs an agent of the framework with these tools, whose model follows the script."""
        raise NotImplementedError

    def run_page(self, code: str, script: Script) -> None:
        """Runs the code of the page with a `model` that follows the script."""
        raise NotImplementedError

    def open(self, **options: Any) -> AgentMemory:
        """An open memory."""
        memory = open_memory(
            allow=[self.repository], durability="relaxed", data_dir=self.directory / "data", **options
        )
        self.addCleanup(memory.close)
        return memory

    def tools(self, memory: Any, **application: Any) -> list[Any]:
        """The tools of the agent `aristotle`."""
        return type(self).memory_tools(memory, agent="aristotle", repository=self.repository, **application)

    def run_script(self, *steps: Step, **options: Any) -> Script:
        """A run with a memory of its own."""
        script = Script(*steps)
        self.run_agent(self.tools(self.open(**options)), script)
        self.assertEqual(script.steps, [], script.results)
        return script

    def log_text(self) -> str:
        """The only log."""
        [log] = self.repository.rglob("logs/*.md")
        return log.read_text()

    def test_the_model_is_offered_every_tool_without_what_the_application_sets(self) -> None:
        memory = self.open(toolsets=["all"], settings={"records": {"directory": self.directory / "records"}})
        script = Script()
        self.run_agent(self.tools(memory), script)
        expected = {tool["name"]: tool for tool in memory.tools if tool["audience"] == "model"}
        self.assertEqual({tool.name for tool in script.offered}, set(expected))
        for tool in script.offered:
            schema = expected[tool.name]["inputSchema"]
            self.assertEqual(tool.description, expected[tool.name]["description"])
            self.assertEqual(set(tool.schema["properties"]), set(schema["properties"]) - OF_APPLICATION)
            for name, field in tool.schema["properties"].items():
                self.assertEqual(field.get("description"), schema["properties"][name].get("description"))
            self.check_required(tool, set(schema.get("required", ())) - OF_APPLICATION)

    def check_required(self, tool: Offered, expected: set[str]) -> None:
        """Checks which arguments the model has to give."""
        self.assertEqual(set(tool.schema.get("required", ())), expected)

    def test_an_application_may_offer_some_tools_only(self) -> None:
        script = Script()
        self.run_agent(self.tools(self.open(), only=["read_summary"]), script)
        self.assertEqual([tool.name for tool in script.offered], ["read_summary"])

    def test_a_call_of_the_model_changes_the_log_of_the_agent(self) -> None:
        script = self.run_script([START], [append("- Größe: “雪”.")])
        self.assertIn("- Größe: “雪”.", self.log_text())
        started, appended = map(json.loads, script.results)
        self.assertTrue(started["created"])
        self.assertIn("aristotle", started["session_file"])
        self.assertEqual(appended["section"], "Decisions")

    def test_a_refused_model_corrects_its_call(self) -> None:
        entry = append("- Use SQLite.")
        script = self.run_script([entry], [START], [append("# A heading of the log")], [entry])
        refused, _, hostile, appended = script.results
        self.assertIn("SessionNotFound", refused)
        self.assertIn("call `start_session` first", refused)
        self.assertIn("InvalidContent", hostile)
        self.assertEqual(json.loads(appended)["section"], "Decisions")
        self.assertEqual(self.log_text().count("- Use SQLite."), 1)
        self.assertNotIn("# A heading of the log", self.log_text())

    def test_the_model_cannot_name_another_agent_or_repository(self) -> None:
        other = self.directory / "other"
        (other / ".git").mkdir(parents=True)
        (other / ".git/HEAD").write_text("ref: refs/heads/main\n")
        memory = open_memory(allow=[self.directory], durability="relaxed")
        self.addCleanup(memory.close)
        script = Script(
            [Call("start_session", {"agent_name": "plato"})],
            [Call("start_session", {"repo_root": str(other)})],
            [START],
        )
        self.run_agent(self.tools(memory), script)
        for name, result in zip(("agent_name", "repo_root"), script.results):
            self.check_refused(name, result)
        self.assertEqual([path.name for path in other.iterdir()], [".git"])
        self.assertEqual(list(self.repository.rglob("*plato*")), [])
        self.log_text()

    def check_refused(self, name: str, result: str) -> None:
        """Checks the refusal of an argument that is the application's."""
        self.assertIn(f"the application sets `{name}`: leave it out", result)

    def test_a_hit_of_a_search_leads_to_a_call_without_what_the_application_sets(self) -> None:
        def read(results: list[str]) -> Sequence[Call]:
            [hit] = json.loads(results[-1])["hits"]
            return [Call(hit["read"]["tool"], hit["read"]["arguments"])]

        entry = append("- The ports are free.")
        script = self.run_script([START], [entry], [Call("search_memory", {"query": "port"})], read)
        for name in OF_APPLICATION:
            self.assertNotIn(f'"{name}"', script.results[2])
        self.assertNotIn(str(self.repository), script.results[2])
        self.assertIn("- The ports are free.", json.loads(script.results[3])["text"])

    def test_two_calls_at_once_change_one_document(self) -> None:
        memory = self.open()
        memory.call("start_session", self.log)
        holder = self.hold_lock(self.repository)
        with both_wait(holder) as running:
            script = Script([append("- First."), append("- Second.")])
            self.run_agent(self.tools(memory), script)
        self.assertEqual(running.most, 2)
        self.assertEqual([json.loads(result)["section"] for result in script.results], ["Decisions"] * 2)
        for entry in ("- First.", "- Second."):
            self.assertEqual(self.log_text().count(entry), 1)

    def test_a_memory_for_asyncio_serves_the_same_tools(self) -> None:
        memory = open_async_memory(allow=[self.repository], durability="relaxed")
        self.addCleanup(memory._handle.close)
        script = Script([START], [append("- Async.")])
        self.run_agent(self.tools(memory), script)
        self.assertIn("- Async.", self.log_text())

    def test_an_error_of_the_application_is_not_the_models(self) -> None:
        memory = self.open()
        tools = self.tools(memory)
        memory.close()
        self.check_application_error(tools, Script([START]))

    def check_application_error(self, tools: list[Any], script: Script) -> None:
        """Checks what a run does with a closed memory: it ends with the error."""
        with self.assertRaises(MemoryCallError) as raised:
            self.run_agent(tools, script)
        self.assertEqual(raised.exception.code, "closed")

    def test_the_page_names_the_tested_versions(self) -> None:
        [row] = [line for line in PAGE.read_text().splitlines() if line.startswith(f"| {self.HEADING} | `agent_memory.")]
        named = re.findall(r"`([a-z-]+)` ([0-9][0-9.]*)", row)
        self.assertGreater(len(named), 0)
        for package, version in named:
            self.assertEqual(metadata.version(package), version)

    def test_the_code_of_the_page_works(self) -> None:
        code = page_code(self.HEADING)
        self.assertLessEqual(len([line for line in code.splitlines() if line.strip()]), 12)
        self.assertIn("/home/me/project", code)
        script = Script([START], [append("- From the page.")])
        self.run_page(code.replace("/home/me/project", str(self.repository)), script)
        self.assertEqual(script.steps, [])
        self.assertIn("- From the page.", self.log_text())


def page_code(heading: str) -> str:
    """The code below a heading of the page."""
    _, section = PAGE.read_text().split(f"\n## {heading}\n")
    found = re.search(r"```python\n(.*?)```", section.split("\n## ")[0], re.DOTALL)
    assert found is not None, f"no code below `{heading}`"
    return found[1]


class both_wait(AbstractContextManager["both_wait"]):
    """Frees a lock once two calls wait for it, or after 20 s."""

    def __init__(self, holder: subprocess.Popen[str]) -> None:
        self.holder = holder
        self.running = self.most = 0
        self.counted = threading.Lock()

    def __enter__(self) -> both_wait:
        call, call_async = ModelTool.call, ModelTool.call_async

        def counting(tool: ModelTool, arguments: Any = None) -> Any:
            self.count(1)
            try:
                return call(tool, arguments)
            finally:
                self.count(-1)

        async def counting_async(tool: ModelTool, arguments: Any = None) -> Any:
            self.count(1)
            try:
                return await call_async(tool, arguments)
            finally:
                self.count(-1)

        self.patches = [
            mock.patch.object(ModelTool, "call", counting),
            mock.patch.object(ModelTool, "call_async", counting_async),
        ]
        for patch in self.patches:
            patch.start()
        threading.Thread(target=self.free, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for patch in self.patches:
            patch.stop()

    def count(self, change: int) -> None:
        with self.counted:
            self.running += change
            self.most = max(self.most, self.running)

    def free(self) -> None:
        end = time.monotonic() + 20
        while self.most < 2 and time.monotonic() < end:
            time.sleep(0.01)
        assert self.holder.stdin is not None
        self.holder.stdin.write("end\n")
        self.holder.stdin.flush()
