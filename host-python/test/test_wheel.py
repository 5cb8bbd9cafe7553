"""The wheel by itself."""

from __future__ import annotations

import email
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

from scratch import ROOT

#: The aim is 11.5 MB. Of these, the HTTP server takes 0.5 MB, the toolsets `files` and `items` 0.5 MB
#: each, the set-up of clients and the code that forgets 0.25 MB each, and ranges of days with what
#: `doctor` asks a server 0.05 MB. The size differs a little with the path of the build.
MAX_BYTES = 12_900_000


class WheelTest(unittest.TestCase):
    def setUp(self) -> None:
        [self.wheel] = (ROOT / "target/python/dist").glob("*.whl")

    def test_one_wheel_is_for_all_versions_of_python_and_needs_no_other(self) -> None:
        self.assertIn("-cp310-abi3-", self.wheel.name)
        self.assertLessEqual(self.wheel.stat().st_size, MAX_BYTES)
        with zipfile.ZipFile(self.wheel) as wheel:
            names = wheel.namelist()
            [metadata] = [name for name in names if name.endswith(".dist-info/METADATA")]
            described = email.message_from_bytes(wheel.read(metadata))
        self.assertIsNone(described["Requires-Dist"])
        for name in ("_calls.pyi", "_methods.pyi", "_native.pyi", "py.typed", "toolsets.py"):
            self.assertIn(f"agent_memory/{name}", names)
        for name in ("LICENSE", "NOTICE"):
            self.assertTrue(any(file.endswith(f".dist-info/licenses/{name}") for file in names), name)

    def test_it_installs_offline_in_a_new_environment_and_runs(self) -> None:
        with tempfile.TemporaryDirectory(prefix="agent-memory-") as directory:
            environment = Path(directory) / "environment"
            self.run_alone(sys.executable, "-m", "venv", "--without-pip", str(environment))
            python = str(environment / "bin/python")
            install = ["-m", "pip", "--python", python, "install", "--quiet", "--no-index", str(self.wheel)]
            self.run_alone(sys.executable, *install)
            self.assertRegex(self.run_alone(str(environment / "bin/agent-memory"), "--version"), r"^agent-memory \d")
            self.assertIn("append_entry", self.run_alone(python, "-c", PROGRAM))

    def run_alone(self, *command: str) -> str:
        """Runs a command without any program on its path."""
        ran = subprocess.run(command, env={"PATH": "/nowhere"}, capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout


PROGRAM = """
from agent_memory import open_memory
with open_memory(allow=[]) as memory:
    print([tool["name"] for tool in memory.tools])
"""

if __name__ == "__main__":
    unittest.main()
