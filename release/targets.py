"""The platforms that a release has programs for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Target:
    """A platform, and how its program is built and tried on Linux x86-64."""

    triple: str
    """Its name in Rust."""
    npm: str
    """Its name in npm: system and processor."""
    wheel: str | None = None
    """The triple for its wheel, if that is another one: Python is mostly linked with the C library of GNU."""
    linker: Literal["zig", "mingw"] = "zig"
    runs: Literal["here", "qemu", "wine"] | None = None
    """What runs its program here. None if nothing does."""

    @property
    def program(self) -> str:
        return "agent-memory.exe" if "windows" in self.triple else "agent-memory"


TARGETS = [
    Target("x86_64-unknown-linux-musl", npm="linux-x64", wheel="x86_64-unknown-linux-gnu", runs="here"),
    Target("aarch64-unknown-linux-musl", npm="linux-arm64", wheel="aarch64-unknown-linux-gnu", runs="qemu"),
    Target("x86_64-apple-darwin", npm="darwin-x64"),
    Target("aarch64-apple-darwin", npm="darwin-arm64"),
    Target("x86_64-pc-windows-gnu", npm="win32-x64", linker="mingw", runs="wine"),
]
