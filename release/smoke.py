"""Tries a finished program: its version, one session over MCP, and one look at what it needs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from targets import Target

WINE = ["wine64", "wine", "/usr/lib/wine/wine64"]
QEMU = ["qemu-aarch64", "qemu-aarch64-static"]
DECISION = "- Memory is kept as Markdown."
# A compiled program starts slowly in an emulator.
SECONDS = 600


def tried(target: Target, program: Path, version: str, variables: dict[str, str]) -> str:
    """Tries the program of a target, and says how. `variables` are for its environment."""
    runners = {"here": [""], "qemu": QEMU, "wine": WINE}.get(target.runs or "")
    if runners is None:
        return "not run: nothing here runs programs of this system"
    runner = [found for name in runners if name and (found := shutil.which(name))][:1]
    if not runner and target.runs != "here":
        return f"not run: {target.runs} is not installed"
    with new_repository([*runner, str(program)], variables) as start:
        expect(start.run("--version").split(), ["agent-memory", version])
        play(start)
        start.run("doctor")
    how = {"here": "", "qemu": " under qemu", "wine": " under Wine"}[target.runs or ""]
    return f"version, a session over MCP and doctor ran{how}"


def tried_in_node(program: Path, variables: dict[str, str]) -> str:
    """Tries the program of the npm package without a native program, which can only `serve`. Says how."""
    with new_repository([str(program)], variables) as start:
        play(start)
    return "a session over MCP ran in WebAssembly"


@dataclass(frozen=True)
class Start:
    """How a program is started."""

    command: list[str]
    directory: Path
    environment: dict[str, str]

    def process(self, *arguments: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        command = [*self.command, *arguments]
        return subprocess.Popen(
            command, cwd=self.directory, env=self.environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True
        )

    def run(self, *arguments: str) -> str:
        """Runs a command to its end, and returns its output."""
        with self.process(*arguments) as process:
            output, errors = process.communicate(timeout=SECONDS)
        expect((process.returncode, errors if process.returncode else ""), (0, ""))
        return output


@contextmanager
def new_repository(command: list[str], variables: dict[str, str]) -> Iterator[Start]:
    """Starts in an empty repository, below an empty home."""
    with tempfile.TemporaryDirectory() as home:
        repository = Path(home) / "repository"
        (repository / ".git").mkdir(parents=True)
        (repository / ".git/HEAD").write_text("ref: refs/heads/main\n")
        environment = {"PATH": os.environ["PATH"], "HOME": home, "NO_COLOR": "1"} | variables
        yield Start(command, repository, environment)


def play(start: Start) -> None:
    """A session of MCP that begins a log and appends a decision."""
    with start.process("serve") as server:
        requests, answers = server.stdin, server.stdout
        assert requests and answers

        def ask(method: str, params: dict[str, Any]) -> Any:
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            requests.write(json.dumps(message) + "\n")
            requests.flush()
            return json.loads(answers.readline())["result"]

        def call(tool: str, **arguments: str) -> None:
            answer = ask("tools/call", {"name": tool, "arguments": {"agent_name": "ada", **arguments}})
            expect(answer.get("isError", False), False)

        client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "smoke", "version": "1"}}
        ask("initialize", client)
        call("start_session")
        call("append_entry", section="Decisions", content=DECISION)
        requests.close()
        expect(server.wait(SECONDS), 0)
    [log] = start.directory.glob(".github/agent-memory/ada/logs/*.md")
    expect(DECISION in log.read_text(), True)


def expect(got: object, wanted: object) -> None:
    if got != wanted:
        raise SystemExit(f"the program said {got!r}, not {wanted!r}")
