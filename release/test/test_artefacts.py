"""The archives of a release, what its packages have to contain, and their READMEs."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile
from contextlib import redirect_stdout
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "release"))

from artefacts import Release  # noqa: E402

SECONDS = 1_700_000_000


class Archives(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.place = Path(directory.name)

    def archive(self, place: str, platform: str) -> Path:
        """Packs a program and a text, which were written in another order in each place."""
        staged = self.place / place / "staged"
        staged.mkdir(parents=True)
        for name in sorted(["program", "LICENSE"], reverse=place.startswith("second")):
            (staged / name).write_text(name)
        (staged / "program").chmod(0o700)
        (staged / "LICENSE").chmod(0o600)
        release = Release(self.place / place / "out", "1.2.3", "0" * 40, SECONDS)
        with redirect_stdout(io.StringIO()):
            release.add_archive(staged, "program", platform, "not run")
        release.finish()
        [archive] = release.directory.glob("staged.*")
        return archive

    def test_an_archive_has_the_same_bytes_in_another_directory(self) -> None:
        for platform in ["x86_64-unknown-linux-musl", "x86_64-pc-windows-gnu"]:
            with self.subTest(platform):
                first = self.archive(f"first/{platform}", platform)
                second = self.archive(f"second/{platform}", platform)
                self.assertEqual(first.read_bytes(), second.read_bytes())

    def test_everyone_may_read_a_file_and_run_the_program(self) -> None:
        expected = {"staged/program": 0o755, "staged/LICENSE": 0o644}
        with zipfile.ZipFile(self.archive("windows", "x86_64-pc-windows-gnu")) as packed:
            modes = {entry.filename: entry.external_attr >> 16 for entry in packed.infolist()}
        self.assertEqual(modes, expected)
        with tarfile.open(self.archive("linux", "x86_64-unknown-linux-musl")) as packed_tar:
            modes = {entry.name: entry.mode for entry in packed_tar if entry.isfile()}
        self.assertEqual(modes, expected)


class Crates(unittest.TestCase):
    def test_each_published_crate_has_the_licence(self) -> None:
        metadata = json.loads(cargo("metadata", "--format-version", "1", "--no-deps"))
        names = {package["name"] for package in metadata["packages"] if package["publish"] != []}
        for name in names:
            with self.subTest(name):
                files = cargo("package", "--list", "--allow-dirty", "--package", name).split()
                self.assertIn("LICENSE", files)
                # Both packages contain the thesaurus, whose licences are in `NOTICE`.
                if name in ["agent-memory-core", "agent-memory-host"]:
                    self.assertIn("NOTICE", files)


class Readmes(unittest.TestCase):
    READMES = ["release/program.md", "host-node/README.md", "host-python/README.md", "bundles/plugin.md"]

    def test_a_readme_that_leaves_the_repository_links_to_no_file_of_it(self) -> None:
        for name in self.READMES:
            with self.subTest(name):
                text = (ROOT / name).read_text()
                links = re.findall(r"\]\(([^)]+)\)", text)
                self.assertEqual([link for link in links if not re.match(r"#|https:", link)], [])

    def test_the_readme_of_the_program_names_commands_that_exist(self) -> None:
        text = (ROOT / "release/program.md").read_text()
        examples = "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
        commands = re.findall(r"agent-memory (?:help )?([a-z]+)", examples)
        self.assertIn("install", commands)
        for command in commands:
            self.assertTrue((ROOT / f"host-native/tests/help/{command}.txt").exists(), command)


def cargo(*arguments: str) -> str:
    command = ["cargo", *arguments, "--locked"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    unittest.main()
