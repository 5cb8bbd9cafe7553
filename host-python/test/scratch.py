"""What the tests share."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

#: A program that locks the file of its argument, prints `held`, and waits for a line.
HOLDER = """
import sqlite3, sys
lock = sqlite3.connect(sys.argv[1], isolation_level=None)
lock.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
"""


class ScratchTest(unittest.TestCase):
    """A test with an empty repository."""

    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory(prefix="agent-memory-")
        self.addCleanup(temporary.cleanup)
        self.directory = Path(temporary.name).resolve()
        self.repository = self.directory / "repository"
        git = self.repository / ".git"
        git.mkdir(parents=True)
        (git / "HEAD").write_text("ref: refs/heads/main\n")
        #: The arguments of a tool of `sessions`.
        self.log: Any = {"agent_name": "aristotle", "repo_root": str(self.repository)}

    def entry(self, content: str) -> Any:
        """The arguments of `append_entry`."""
        return {**self.log, "section": "Decisions", "content": content}

    def run_python(self, program: str, *arguments: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        """Runs a program with this Python."""
        command = [sys.executable, "-W", "error::ResourceWarning", "-c", program, *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)

    def hold_lock(self, below: Path) -> subprocess.Popen[str]:
        """Another process that holds the lock below a directory, until the test ends."""
        [lock] = below.rglob("turn.sqlite")
        holder = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(lock)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

        def end() -> None:
            holder.communicate("end\n")

        self.addCleanup(end)
        assert holder.stdout is not None
        self.assertEqual(holder.stdout.readline(), "held\n")
        return holder
