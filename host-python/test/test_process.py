"""Forks, Ctrl-C, and the end of a process."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path
from typing import Any

from agent_memory import open_memory
from scratch import ScratchTest

#: A program that forks while a memory is open. The child uses it, opens another, and ends as a program
#: does.
FORK = """
import os, sys
from agent_memory import MemoryCallError, MemoryOpenError, open_memory

log = {"agent_name": "aristotle", "repo_root": sys.argv[1]}
memory = open_memory(allow=[sys.argv[1]])
memory.call("start_session", log).value
child = os.fork()
if child == 0:
    for attempt in (lambda: memory.call("list_sessions", log), lambda: open_memory(allow=[])):
        try:
            attempt()
        except (MemoryCallError, MemoryOpenError) as error:
            print(error.code, error, flush=True)
    memory.close()
    del memory
    print("the child ends", flush=True)
    sys.exit(7)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 7, status
memory.call("append_entry", {**log, "section": "Decisions", "content": "- Go on."}).value
memory.close()

child = os.fork()
if child == 0:
    with open_memory(allow=[sys.argv[1]]) as memory:
        memory.call("append_entry", {**log, "section": "Decisions", "content": "- In the child."}).value
    os._exit(0)
_, status = os.waitpid(child, 0)
assert status == 0, status
with open_memory(allow=[sys.argv[1]]) as memory:
    print(len(memory.call("list_sessions", log).value["sessions"]), flush=True)
"""

#: A memory that is collected before a fork does not keep the child from opening one.
COLLECTED = """
import os, sys, warnings
from agent_memory import open_memory

with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    open_memory(allow=[], toolsets=sys.argv[1:]).tools
print(*(f"{each.category.__name__}: {each.message}" for each in told), flush=True)
child = os.fork()
if child == 0:
    with open_memory(allow=[]) as memory:
        print(len(memory.tools) > 0, flush=True)
    os._exit(0)
_, status = os.waitpid(child, 0)
assert status == 0, status
"""

#: Ends while a function of the program runs: `summarize` or `embed`, which returns when the program ends, raises then,
#: or goes on for ever. The memory is closed by `with`, or open at the end.
ENDS = """
import sys, threading, time
from agent_memory import open_memory

kind, then, directory = sys.argv[1:]
begun, release = threading.Event(), threading.Event()

def function(request):
    begun.set()
    while then == "goes on":
        sum(range(1000))
    release.wait()
    if then == "raises":
        raise ValueError("no credit")
    time.sleep(0.0001)
    return "Both." if kind == "summarize" else [[1.0] for _ in request.texts]

if kind == "summarize":
    memory = open_memory(
        allow=[], toolsets=["layers"], summarize=function,
        settings={"layers": {"file": f"{directory}/layers.db", "recent_capacity": 2}},
    )
    for text in ("One.", "Two."):
        memory.layers.add_recent_memory(agent_id="ada", memory=text)
else:
    memory = open_memory(
        allow=[], toolsets=["records"], embed=function, embed_model="local",
        settings={"records": {"directory": f"{directory}/records", "format": "sqlite"}},
    )
    memory.records.add_core_memory(content="One.")
begun.wait()
threading.Timer(0, release.set).start()
if then == "is closed":
    memory.close()
"""

#: Three daemon threads make calls without a pause while the program ends.
CALLS = """
import threading
from agent_memory import open_memory

memory, begun = open_memory(allow=[]), threading.Event()

def calls():
    while True:
        try:
            memory.call_by_name("list_sessions", {})
        except Exception:
            pass
        begun.set()

for _ in range(3):
    threading.Thread(target=calls, daemon=True).start()
begun.wait()
"""

#: A program whose call waits for a lock.
WAIT = """
import signal
import sys
from agent_memory import open_memory

# A program in the background of a shell script is started with the signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
log = {"agent_name": "aristotle", "repo_root": sys.argv[1]}
with open_memory(allow=[sys.argv[1]], lock_wait=30) as memory:
    print("calls", flush=True)
    try:
        memory.call("append_entry", {**log, "section": "Decisions", "content": "x"})
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


class ProcessTest(ScratchTest):
    def test_a_child_of_fork_is_told_and_harms_nothing(self) -> None:
        ran = self.run_python(FORK, str(self.repository))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        call, opened, ends, sessions = ran.stdout.splitlines()
        self.assertTrue(call.startswith("forked the memory was opened by the parent"), call)
        self.assertTrue(opened.startswith("forked this process was forked while a memory was open"), opened)
        self.assertEqual((ends, sessions), ("the child ends", "1"))
        [log] = self.repository.rglob("logs/*.md")
        self.assertIn("- Go on.", log.read_text())
        self.assertIn("- In the child.", log.read_text())

    def test_ctrl_c_ends_a_call_that_waits(self) -> None:
        with open_memory(allow=[self.repository]) as memory:
            memory.call("start_session", self.log).value
        self.hold_lock(self.repository)
        command = [sys.executable, "-c", WAIT, str(self.repository)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as waiting:
            self.addCleanup(waiting.kill)
            assert waiting.stdout is not None
            self.assertEqual(waiting.stdout.readline(), "calls\n")
            time.sleep(0.5)
            self.assertIsNone(waiting.poll())
            began = time.monotonic()
            waiting.send_signal(signal.SIGINT)
            self.assertEqual(waiting.communicate(timeout=20)[0], "interrupted\n")
            self.assertEqual(waiting.returncode, 0)
            self.assertLess(time.monotonic() - began, 5)

    def test_a_process_ends_with_a_memory_that_is_not_closed(self) -> None:
        for program in (
            "memory = open_memory(allow=[]); memory.call('list_sessions', {})",
            "import threading; memory = open_memory(allow=[]); threading.Thread(target=memory.close).start()",
        ):
            ran = self.run_python(f"from agent_memory import open_memory; {program}")
            self.assertEqual((ran.returncode, ran.stderr), (0, ""), program)

    def test_a_process_ends_while_a_function_returns_or_raises(self) -> None:
        for kind in ("summarize", "embed"):
            for then in ("returns", "raises", "is closed"):
                for number in range(5):
                    directory = self.directory / f"{kind}-{then}-{number}"
                    directory.mkdir()
                    ran = self.run_python(ENDS, kind, then, str(directory))
                    self.assertEqual(ran.returncode, 0, (kind, then, ran.stderr))
                    # An error of the function is logged, even while the program ends.
                    self.assertEqual("no credit" in ran.stderr, then == "raises", (kind, then, ran.stderr))

    def test_a_process_ends_while_a_function_goes_on(self) -> None:
        for kind in ("summarize", "embed"):
            began = time.monotonic()
            ran = self.run_python(ENDS, kind, "goes on", str(self.directory))
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertLess(time.monotonic() - began, 20)

    def test_a_process_ends_while_threads_call(self) -> None:
        for _ in range(5):
            ran = self.run_python(CALLS)
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))

    def test_a_summary_is_stored_although_the_program_does_not_close_its_memory(self) -> None:
        self.run_python(ENDS, "summarize", "returns", str(self.directory))
        settings: Any = {"layers": {"file": self.directory / "layers.db"}}
        with open_memory(allow=[], toolsets=["layers"], settings=settings) as memory:
            rows = memory.query_database("layers", "SELECT summary FROM memory_compost").rows
        self.assertEqual(rows, [("Both.",)])

    def test_a_memory_that_is_collected_warns_and_lets_children_open_one(self) -> None:
        ran = self.run_python(COLLECTED, "sessions")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        warned, opened = ran.stdout.splitlines()
        self.assertEqual(
            warned, "ResourceWarning: a memory was collected that was not closed: use `with` or `close()`"
        )
        self.assertEqual(opened, "True")


class CommandTest(ScratchTest):
    def run_command(self, *arguments: str, script: bool = True) -> subprocess.CompletedProcess[str]:
        script_path = str(Path(sys.executable).with_name("agent-memory"))
        command = [script_path] if script else [sys.executable, "-m", "agent_memory"]
        return subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=60, check=False)

    def test_the_command_line_answers_with_its_exit_status(self) -> None:
        for script in (True, False):
            version = self.run_command("--version", script=script)
            self.assertEqual((version.returncode, version.stdout[:13]), (0, "agent-memory "), version)
            self.assertEqual(self.run_command("no-such-command", script=script).returncode, 2)
        arguments = ["call", "append_entry", "--allow", str(self.repository), "{}"]
        self.assertEqual(self.run_command(*arguments).returncode, 1)

    def test_the_demo_starts_the_server_by_the_command(self) -> None:
        demo = self.run_command("demo")
        self.assertEqual(demo.returncode, 0, demo.stderr)
        self.assertIn("append_entry", demo.stdout)


if __name__ == "__main__":
    unittest.main()
