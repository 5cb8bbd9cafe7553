"""The types of the package find errors before a program runs."""

from __future__ import annotations

import subprocess
import tempfile
import textwrap
import unittest
from pathlib import Path

from scratch import ROOT

MYPY = ROOT / "target/python/tools/bin/mypy"

#: A program for the type checker. The lines in which it must find an error end with `# error`.
PROGRAM = """
from typing import Any
from agent_memory import AgentMemory, AsyncAgentMemory, open_memory

def use(memory: AgentMemory, name: str, arguments: dict[str, Any]) -> None:
    memory.call("start_session", {"agent_name": "ada"})
    memory.call("start_sesion", {"agent_name": "ada"})  # error
    memory.call("start_session", {"agent": "ada"})  # error
    memory.call("start_session", {"agent_name": 7})  # error
    memory.call("start_session")  # error
    memory.call("get_memory_stats")
    memory.call("add_core_memory", {"content": "x"}).value["id"]
    memory.call("add_core_memory", {"agent_id": "ada", "memory": "x"}).value["warnings"]
    memory.call("add_core_memory", {"contents": "x"})  # error
    memory.call(name, arguments)  # error
    memory.call_by_name(name, arguments)
    memory.records.add_core_memory(content="x")["id"]
    memory.records.add_core_memory(contents="x")  # error
    memory.records.add_core_memory("x")  # error
    memory.records.add_core_memory()  # error
    memory.records.add_cor_memory(content="x")  # error
    memory.recordz.add_core_memory(content="x")  # error
    memory.sessions.start_session(agent_name="ada")["creatd"]  # error
    memory.sessions.read_session(agent_name="ada", from_=1)
    memory.query_database("layers", "SELECT 1")
    memory.query_database("layerz", "SELECT 1")  # error

async def wait(memory: AsyncAgentMemory) -> None:
    await memory.call("start_sesion", {"agent_name": "ada"})  # error
    (await memory.sessions.start_session(agent_name="ada"))["created"]
    await memory.sessions.start_session(agent="ada")  # error

open_memory(allow=[], toolsets=["records", "all"])
open_memory(allow=[], toolsets=["recordz"])  # error
open_memory(allow=[], settings={"records": {"format": "sqlite"}})
open_memory(allow=[], settings={"records": {"colour": "red"}})  # error
open_memory(allow=[], tool_sets=["records"])  # error
"""


@unittest.skipUnless(MYPY.exists(), "mypy is not installed: `scripts/wheel` does it")
class TypesTest(unittest.TestCase):
    def test_wrong_names_and_arguments_are_errors(self) -> None:
        with tempfile.TemporaryDirectory(prefix="agent-memory-") as directory:
            program = Path(directory) / "program.py"
            program.write_text(textwrap.dedent(PROGRAM))
            config = ["--config-file", "host-python/pyproject.toml", "--cache-dir", "target/python/mypy"]
            command = [str(MYPY), *config, "--no-error-summary", "--hide-error-context", str(program)]
            ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        errors = [line for line in ran.stdout.splitlines() if ": error: " in line]
        found = sorted({int(line.rsplit("program.py:", 1)[1].split(":", 1)[0]) for line in errors})
        lines = enumerate(PROGRAM.splitlines(), 1)
        self.assertEqual(found, [number for number, line in lines if line.endswith("# error")], ran.stdout)


if __name__ == "__main__":
    unittest.main()
