"""Makes what a release consists of. `scripts/release` sets up what this needs, and runs it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import apple
import smoke
from artefacts import Release
from targets import TARGETS, Target

ROOT = Path(__file__).resolve().parent.parent
BUILT = ROOT / "target"
COMPONENTS = BUILT / "component/wasm32-wasip2/component"
TERMS = [ROOT / "LICENSE", ROOT / "NOTICE", ROOT / "README.md"]
PARTS = ["plugin", "crates", "npm", "python", "image", *(target.triple for target in TARGETS)]


def main() -> None:
    wanted = sys.argv[1:] or PARTS
    unknown = [part for part in wanted if part not in PARTS]
    if unknown:
        raise SystemExit(f"no part `{unknown[0]}`: choose from {', '.join(PARTS)}")
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    commit, seconds = output("git", "log", "-1", "--format=%H %ct").split()
    os.environ["SOURCE_DATE_EPOCH"] = seconds
    release = Release(BUILT / "release-artefacts", version, commit, int(seconds))

    run("scripts/component", "agent-memory-core")
    os.environ["AGENT_MEMORY_COMPONENT"] = str(COMPONENTS / "agent_memory_core.wasm")
    for target in TARGETS:
        if target.triple in wanted:
            add_program(release, target)
            if "npm" in wanted:
                add_npm_platform(release, target)
            if "python" in wanted:
                add_wheel(release, target)
    if "plugin" in wanted:
        run("scripts/plugin")
        plugin = BUILT / "plugin/agent-memory-plugin.wasm"
        release.add(plugin, "plugin", None, "tried by scripts/test")
    if "npm" in wanted:
        add_npm(release)
    if "python" in wanted:
        add_source(release)
    if "crates" in wanted:
        add_crates(release)
    release.finish()


def program(target: Target) -> Path:
    return BUILT / target.triple / "release" / target.program


def add_program(release: Release, target: Target) -> None:
    run("rustup", "target", "add", target.triple)
    build = "zigbuild" if target.linker == "zig" else "build"
    package = ["--package", "agent-memory-host", "--features", "cross"]
    run("cargo", build, "--release", "--locked", "--target", target.triple, *package, env=variables(target))
    tried = smoke.tried(target, program(target), release.version, wine())
    stem = f"agent-memory-{release.version}-{target.triple}"
    release.add_archive(stem, [program(target), *TERMS], "program", target.triple, tried)


def variables(target: Target) -> dict[str, str]:
    """What the build for a target needs in its environment."""
    if "apple" not in target.triple:
        return {"CARGO_PROFILE_RELEASE_STRIP": "symbols"}
    sdk = BUILT / "apple-sdk"
    apple.write_sdk(sdk, ROOT)
    # The oldest system that Rust supports on both processors.
    return {"SDKROOT": str(sdk), "MACOSX_DEPLOYMENT_TARGET": "11.0", "CARGO_PROFILE_RELEASE_STRIP": "symbols"}


def wine() -> dict[str, str]:
    """The variables for Wine, which lacks a library that programs of Rust need."""
    directory = BUILT / "wine"
    return {"WINEPATH": str(directory), "WINEPREFIX": str(directory / "prefix"), "WINEDEBUG": "-all"}


def add_wheel(release: Release, target: Target) -> None:
    out = BUILT / "release-wheels"
    command = ["maturin", "build", "--release", "--locked", "--out", str(out), "--target", target.wheel]
    command += ["--compatibility", target.platform_tag, "--features", "agent-memory-host/cross"]
    if target.linker == "zig":
        command.append("--zig")
    run("rustup", "target", "add", target.wheel)
    run(*command, cwd=ROOT / "host-python", env=variables(target))
    [wheel] = out.glob(f"*{target.platform_tag}.whl")
    release.add(wheel, "wheel", target.wheel, "not run")


def add_source(release: Release) -> None: ...


def add_npm(release: Release) -> None: ...


def add_npm_platform(release: Release, target: Target) -> None: ...


def add_crates(release: Release) -> None: ...


def run(*command: str, cwd: Path = ROOT, env: dict[str, str] | None = None) -> None:
    print(f"\n== {' '.join(command)}", flush=True)
    if subprocess.run(command, cwd=cwd, env=os.environ | (env or {})).returncode != 0:
        raise SystemExit(f"failed: {' '.join(command)}")


def output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


main()
