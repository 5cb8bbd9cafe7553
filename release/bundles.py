"""Makes what clients install as one piece, from `bundles/`. `scripts/bundles` runs it; so does a release."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "bundles"
PLACEHOLDER = "@VERSION@"
PLUGINS = ["claude-code", "agent-plugin", "codex", "gemini"]
# The files by which Claude Code and Codex find their plugins.
MARKETPLACES = [".claude-plugin", ".agents"]
# The validators of the clients' makers, and one for formats that several makers share.
NPM = ["@anthropic-ai/claude-code@2.1.332", "@anthropic-ai/mcpb@2.1.2", "@google/gemini-cli@0.61.0", "@openai/codex@0.171.0"]
PYPI = ["skillsaw==0.22.0"]
# The earliest time that a zip archive can hold.
TIME = (1980, 1, 1, 0, 0, 0)


def version() -> str:
    """The version of everything here."""
    return str(tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"])


def make(directory: Path) -> list[Path]:
    """Makes all bundles in a directory, in place of older ones. Returns the files to give away."""
    number = version()
    if directory.exists() and any(directory.iterdir()) and not (directory / "mcpb/manifest.json").exists():
        raise SystemExit(f"`{directory}` has other files: name an empty directory")
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    for name in [*PLUGINS, "mcpb", *MARKETPLACES]:
        copy(SOURCES / name, directory / name, number)
    for name in PLUGINS:
        copy(SOURCES / "skills", directory / name / "skills", number)
        copy(SOURCES / "plugin.md", directory / name / "README.md", number)
    for name in [*PLUGINS, "mcpb"]:
        copy(SOURCES / "launch.mjs", directory / name / "launch.mjs", number)
        copy(ROOT / "LICENSE", directory / name / "LICENSE", number)
    copy(SOURCES / "server.json", directory / "server.json", number)
    desktop = directory / f"agent-memory-{number}.mcpb"
    pack(desktop, directory / "mcpb")
    plugins = directory / f"agent-memory-{number}-plugins.zip"
    pack(plugins, directory, [*PLUGINS, *MARKETPLACES])
    return [desktop, plugins, directory / "server.json"]


def copy(source: Path, target: Path, number: str) -> None:
    """Copies a file or a directory, with the version in its place."""
    if source.is_dir():
        for inner in sorted(source.iterdir()):
            copy(inner, target / inner.name, number)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    text = source.read_text().replace(PLACEHOLDER, number)
    if source.suffix == ".json":
        json.loads(text)
    target.write_text(text)


def pack(archive: Path, directory: Path, names: list[str] | None = None) -> None:
    """Packs files of a directory, always with the same bytes."""
    files = sorted(file for file in directory.rglob("*") if file.is_file() and file.suffix not in (".mcpb", ".zip"))
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for file in files:
            name = file.relative_to(directory)
            if names is None or name.parts[0] in names:
                entry = zipfile.ZipInfo(name.as_posix(), TIME)
                entry.external_attr = 0o644 << 16
                packed.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)


def validate(directory: Path) -> bool:
    """Runs the validators. Returns whether all are content."""
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary, "home")
        home.mkdir()
        npm, python = Path(temporary, "npm"), Path(temporary, "python")
        quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
        run(["npm", "install", "--prefix", str(npm), *quiet, *NPM], os.environ)
        run([sys.executable, "-m", "venv", str(python)], os.environ)
        run([str(python / "bin/pip"), "install", "--quiet", "--disable-pip-version-check", *PYPI], os.environ)
        paths = [str(npm / "node_modules/.bin"), str(python / "bin"), os.environ["PATH"]]
        environment = {"PATH": os.pathsep.join(paths), "HOME": str(home), "CODEX_HOME": str(home / "codex"), "NO_COLOR": "1"}
        (home / "codex").mkdir()
        checks = [
            ["claude", "plugin", "validate", str(directory / "claude-code")],
            ["claude", "plugin", "validate", str(directory)],
            ["mcpb", "validate", str(directory / "mcpb/manifest.json")],
            ["gemini", "extensions", "validate", str(directory / "gemini")],
            ["codex", "plugin", "marketplace", "add", str(directory)],
            ["codex", "plugin", "add", "agent-memory@agent-memory"],
            ["codex", "mcp", "list"],
            ["skillsaw", "lint", str(directory)],
            ["skillsaw", "lint", str(directory / "agent-plugin")],
        ]
        return all([run(check, environment) for check in checks])


def run(command: list[str], environment: os._Environ[str] | dict[str, str]) -> bool:
    print(f"\n== {' '.join(command)}", flush=True)
    status = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL).returncode
    if status != 0:
        print(f"failed with status {status}", flush=True)
    return status == 0


def main() -> None:
    arguments = sys.argv[1:]
    wants_validation = "--validate" in arguments
    others = [argument for argument in arguments if argument != "--validate"]
    if len(others) > 1 or any(other.startswith("-") for other in others):
        raise SystemExit("usage: scripts/bundles [--validate] [DIRECTORY]")
    directory = Path(others[0]).resolve() if others else ROOT / "target/bundles"
    for file in make(directory):
        print(f"{file.name}: {file.stat().st_size:,} bytes")
    if wants_validation and not validate(directory):
        raise SystemExit("a validator is not content")


if __name__ == "__main__":
    main()
