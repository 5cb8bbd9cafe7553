"""Tries a finished program: its version, one session over MCP, and one look at what it needs."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from targets import Target

WINE = ["wine64", "wine", "/usr/lib/wine/wine64"]
QEMU = ["qemu-aarch64", "qemu-aarch64-static"]
# The words of the demo that only the tool's answer has.
ANSWERED = '<- {"session_file":".github/agent-memory/aristotle/logs/'
# A compiled program starts slowly in an emulator.
SECONDS = 600


def tried(target: Target, program: Path, version: str, wine: dict[str, str]) -> str:
    """Tries the program of a target, and says how. `wine` has the variables for Wine."""
    runners = {"here": [""], "qemu": QEMU, "wine": WINE}.get(target.runs or "")
    if runners is None:
        return "not run: nothing here runs programs of this system"
    runner = [found for name in runners if name and (found := shutil.which(name))][:1]
    if not runner and target.runs != "here":
        return f"not run: {target.runs} is not installed"
    with tempfile.TemporaryDirectory() as home:
        environment = {"PATH": os.environ["PATH"], "HOME": home, "NO_COLOR": "1"}
        if target.runs == "wine":
            environment |= wine

        def run(*arguments: str) -> str:
            command = [*runner, str(program), *arguments]
            done = subprocess.run(
                command, cwd=home, env=environment, capture_output=True, text=True, timeout=SECONDS
            )
            if done.returncode != 0:
                raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
            return done.stdout

        expect(run("--version").split(), ["agent-memory", version])
        expect(ANSWERED in run("demo"), True)
        run("doctor")
    how = {"here": "", "qemu": " under qemu", "wine": " under Wine"}[target.runs or ""]
    return f"version, a session over MCP and doctor ran{how}"


def expect(got: object, wanted: object) -> None:
    if got != wanted:
        raise SystemExit(f"the program said {got!r}, not {wanted!r}")
