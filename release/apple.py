"""What a linker for macOS needs of Apple's frameworks: the names of the symbols.

The frameworks themselves come with macOS. Their descriptions for linkers come with Apple's SDK, which
is not needed here: the crates that call the frameworks declare each function.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

LINKED = re.compile(r'link\(name = "(\w+)", kind = "framework"\)')
# Apple's names have capitals. The crates' own functions have none.
DECLARED = re.compile(r"^\s*(?:pub )?(?:fn|static) (k?[A-Z]\w+)\s*[(:]", re.MULTILINE)
STUB = """\
--- !tapi-tbd
tbd-version: 4
targets: [ x86_64-macos, arm64-macos ]
install-name: '/System/Library/Frameworks/{name}.framework/Versions/A/{name}'
exports:
  - targets: [ x86_64-macos, arm64-macos ]
    symbols: [ {symbols} ]
...
"""


def write_sdk(directory: Path, workspace: Path) -> None:
    """Writes the descriptions into a directory that has the layout of an SDK."""
    for name, symbols in frameworks(sources(workspace)).items():
        framework = directory / "System/Library/Frameworks" / f"{name}.framework"
        framework.mkdir(parents=True, exist_ok=True)
        names = ", ".join(sorted(f"_{symbol}" for symbol in symbols))
        (framework / f"{name}.tbd").write_text(STUB.format(name=name, symbols=names))
    (directory / "usr/lib").mkdir(parents=True, exist_ok=True)
    (directory / "usr/include").mkdir(parents=True, exist_ok=True)


def sources(workspace: Path) -> list[Path]:
    """The directories with the sources of all packages that a build for macOS may take."""
    metadata = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", "aarch64-apple-darwin"],
        cwd=workspace,
        check=True,
        capture_output=True,
    )
    packages = json.loads(metadata.stdout)["packages"]
    return [Path(package["manifest_path"]).parent / "src" for package in packages]


def frameworks(sources: list[Path]) -> dict[str, set[str]]:
    """The frameworks that crates link, with the functions and variables that these crates declare."""
    found: dict[str, set[str]] = {}
    for source in sources:
        texts = [file.read_text() for file in source.rglob("*.rs")]
        linked = {name for text in texts for name in LINKED.findall(text)}
        if len(linked) > 1:
            raise SystemExit(f"`{source}` links several frameworks: nothing says which one has a function")
        for name in linked:
            found.setdefault(name, set()).update(symbol for text in texts for symbol in DECLARED.findall(text))
    return found
