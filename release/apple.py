"""What a linker for macOS needs of Apple's frameworks: the names of the symbols.

The frameworks themselves come with macOS. Their descriptions for linkers come with Apple's SDK, which
is not needed here: the crates that call the frameworks declare each function.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

# The crates that declare the functions of each framework.
FRAMEWORKS = {
    "CoreFoundation": ["core-foundation-sys", "objc2-core-foundation"],
    "Security": ["security-framework-sys"],
    "SystemConfiguration": ["objc2-system-configuration"],
}
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
    metadata = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--locked"],
        cwd=workspace,
        check=True,
        capture_output=True,
    )
    packages = json.loads(metadata.stdout)["packages"]
    sources = {package["name"]: Path(package["manifest_path"]).parent / "src" for package in packages}
    for name, crates in FRAMEWORKS.items():
        framework = directory / "System/Library/Frameworks" / f"{name}.framework"
        framework.mkdir(parents=True, exist_ok=True)
        symbols = sorted({f"_{symbol}" for crate in crates for symbol in declared(sources[crate])})
        (framework / f"{name}.tbd").write_text(STUB.format(name=name, symbols=", ".join(symbols)))
    (directory / "usr/lib").mkdir(parents=True, exist_ok=True)
    (directory / "usr/include").mkdir(parents=True, exist_ok=True)


def declared(source: Path) -> set[str]:
    """The functions and variables that the files of a crate declare."""
    return {symbol for file in source.rglob("*.rs") for symbol in DECLARED.findall(file.read_text())}
