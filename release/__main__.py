"""Makes what a release consists of. `scripts/release` sets up what this needs, and runs it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apple
import binaries
import bundles
import smoke
from artefacts import Release
from targets import TARGETS, Target

ROOT = Path(__file__).resolve().parent.parent
BUILT = ROOT / "target"
COMPONENTS = BUILT / "component/wasm32-wasip2/component"
TERMS = [ROOT / "LICENSE", ROOT / "NOTICE"]
PYTHON_TOOLS = BUILT / "python/tools/bin"
NODE = ROOT / "host-node/node_modules/.bin"
PARTS = ["plugin", "crates", "npm", "python", "image", "bundles", *(target.triple for target in TARGETS)]


def main() -> None:
    wanted = sys.argv[1:] or PARTS
    unknown = [part for part in wanted if part not in PARTS]
    if unknown:
        raise SystemExit(f"no part `{unknown[0]}`: choose from {', '.join(PARTS)}")
    version = bundles.version()
    commit, seconds = output("git", "log", "-1", "--format=%H %ct").split()
    os.environ["SOURCE_DATE_EPOCH"] = seconds
    release = Release(BUILT / "release-artefacts", version, commit, int(seconds))

    run("zizmor", "--offline", "--quiet", ".github/workflows")
    run("scripts/component", "agent-memory-core")
    os.environ["AGENT_MEMORY_COMPONENT"] = str(COMPONENTS / "agent_memory_core.wasm")
    if "npm" in wanted:
        add_npm(release)
    for target in TARGETS:
        if target.triple in wanted:
            tried = add_program(release, target)
            if "npm" in wanted:
                add_npm_platform(release, target, tried)
    if "plugin" in wanted:
        run("scripts/plugin")
        plugin = BUILT / "plugin/agent-memory-plugin.wasm"
        release.add(plugin, "plugin", None, "not run: scripts/test tries it")
    if "python" in wanted:
        add_python(release)
    if "image" in wanted:
        add_image(release)
    if "bundles" in wanted:
        add_bundles(release)
    if "crates" in wanted:
        add_crates(release)
    release.finish()


def program(target: Target) -> Path:
    return BUILT / target.triple / "release" / target.program


def add_program(release: Release, target: Target) -> str:
    """Builds and tries the program of a target. Returns how it was tried."""
    run("rustup", "target", "add", target.triple)
    build = "zigbuild" if target.linker == "zig" else "build"
    # With the core among the packages, `syn` gets the same features as in the build of a wheel.
    # Otherwise, wasmtime would be compiled a second time.
    packages = ["--package", "agent-memory-host", "--package", "agent-memory-core"]
    features = ["--features", "agent-memory-host/cross"]
    run("cargo", build, "--release", "--locked", "--target", target.triple, *packages, *features, env=variables(target))
    tried = smoke.tried(target, program(target), release.version, wine(target))
    tried = with_checks(tried, program(target).read_bytes())
    packed = staged(f"agent-memory-{release.version}-{target.triple}", [program(target), *TERMS])
    shutil.copy(ROOT / "release/program.md", packed / "README.md")
    release.add_archive(packed, "program", target.triple, tried)
    return tried


def with_checks(tried: str, data: bytes) -> str:
    """What ran of a program or a library, and what was checked in it."""
    checked = binaries.check(data)
    return f"{tried}; checked: {', '.join(checked)}" if checked else tried


def staged(name: str, files: list[Path]) -> Path:
    """A new directory with copies of files."""
    directory = BUILT / "release-staged" / name
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    for file in files:
        shutil.copy(file, directory)
    return directory


def variables(target: Target) -> dict[str, str]:
    """What the build for a target needs in its environment."""
    if target.linker == "mingw":
        # Zig's linker strips symbols by itself.
        return {"CARGO_PROFILE_RELEASE_STRIP": "symbols"}
    if "apple" not in target.triple:
        return {}
    sdk = BUILT / "apple-sdk"
    apple.write_sdk(sdk, ROOT)
    return {"SDKROOT": str(sdk), "MACOSX_DEPLOYMENT_TARGET": "{}.{}".format(*binaries.OLDEST_MACOS)}


def wine(target: Target) -> dict[str, str]:
    """The variables for Wine, which lacks a library that programs of Rust need."""
    if target.runs != "wine":
        return {}
    directory = BUILT / "wine"
    directory.mkdir(exist_ok=True)
    library = str(directory / "bcryptprimitives.dll")
    source = "tests/windows/bcryptprimitives.c"
    run("x86_64-w64-mingw32-gcc", "-shared", "-O1", "-o", library, source, "-ladvapi32")
    return {"WINEPATH": str(directory), "WINEPREFIX": str(directory / "prefix"), "WINEDEBUG": "-all"}


def add_python(release: Release) -> None:
    """The source distribution, and a wheel for each platform."""
    run("scripts/wheel", "sources")
    [sources] = (BUILT / "python/dist").iterdir()
    release.add(sources, "source", None, "not run: it would compile everything anew")
    for target in TARGETS:
        add_wheel(release, target)


def add_wheel(release: Release, target: Target) -> None:
    """Builds the wheel for a platform, and tries it on that of this machine."""
    triple = target.wheel or target.triple
    out = BUILT / "release-wheels" / triple
    shutil.rmtree(out, ignore_errors=True)
    run("rustup", "target", "add", triple)
    linker = ["--zig"] if target.linker == "zig" else []
    # The wheel runs with the oldest C library that Rust supports.
    oldest = ["--compatibility", "manylinux_2_17"] if "linux" in triple else []
    package = ["--features", "agent-memory-host/cross", "--target", triple, *linker, *oldest, "--out", str(out)]
    maturin = [str(PYTHON_TOOLS / "maturin"), "build", "--release", "--locked"]
    run(*maturin, *package, cwd=ROOT / "host-python", env=variables(target))
    [wheel] = out.iterdir()
    run(str(PYTHON_TOOLS / "python"), "host-python/programs/repack_wheel.py", str(wheel))
    tried = "not run: nothing here has a Python for this system"
    if target.runs == "here":
        installed = BUILT / "release-wheels/installed"
        run(sys.executable, "-m", "venv", "--clear", str(installed))
        pip = [str(installed / "bin/pip"), "install", "--quiet", "--disable-pip-version-check"]
        run(*pip, "--no-index", "--no-deps", str(wheel))
        tried = smoke.tried(target, installed / "bin/agent-memory", release.version, {})
    with zipfile.ZipFile(wheel) as packed:
        [library] = [name for name in packed.namelist() if name.endswith((".so", ".pyd"))]
        tried = with_checks(tried, packed.read(library))
    release.add(wheel, "wheel", triple, tried)


def add_npm(release: Release) -> None:
    """The package that runs everywhere, on WebAssembly."""
    run("scripts/component", "agent-memory-files-component")
    run("npm", "ci", "--prefix", "host-node", "--no-audit", "--no-fund")
    run("npm", "run", "--prefix", "host-node", "build")
    run(str(NODE / "node"), "host-node/scripts/pack.ts", str(release.directory))
    packed = npm_package(release)
    tried = smoke.tried_in_node(installed(packed), with_node())
    release.add(packed, "npm", None, tried)


def add_npm_platform(release: Release, target: Target, tried: str) -> None:
    """The package with the program of one platform, on which the other one depends if it can."""
    out = BUILT / "release-npm" / target.npm
    shutil.rmtree(out, ignore_errors=True)
    run(str(NODE / "node"), "host-node/scripts/platform-package.ts", target.npm, str(program(target)), str(out))
    run("npm", "pack", str(out), "--pack-destination", str(release.directory), "--loglevel=error")
    packed = release.directory / f"agent-memory-{target.npm}-{release.version}.tgz"
    if target.runs == "here":
        tried = smoke.tried(target, installed(npm_package(release), packed), release.version, with_node())
    release.add(packed, "npm", target.triple, tried)


def npm_package(release: Release) -> Path:
    return release.directory / f"agent-memory-{release.version}.tgz"


def installed(*packages: Path) -> Path:
    """Installs packages of npm in an empty directory, as users do. Returns the program."""
    directory = BUILT / "release-npm/installed"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    (directory / "package.json").write_text("{}\n")
    # Optional packages are left out: those of other platforms are not published yet.
    quiet = ["--offline", "--omit=optional", "--omit=peer", "--no-audit", "--no-fund", "--loglevel=error"]
    run("npm", "install", "--prefix", str(directory), *quiet, *map(str, packages))
    return directory / "node_modules/.bin/agent-memory"


def with_node() -> dict[str, str]:
    """The variable with which a program finds the Node of the tests."""
    return {"PATH": os.pathsep.join([str(NODE), os.environ["PATH"]])}


def add_crates(release: Release) -> None:
    """Every crate that may be published, compiled from its own package."""
    metadata = json.loads(output("cargo", "metadata", "--format-version", "1", "--no-deps", "--locked"))
    names = [package["name"] for package in metadata["packages"] if package["publish"] != []]
    out = BUILT / "package"
    for old in out.glob("*.crate"):
        old.unlink()
    with component_beside_host():
        # `--allow-dirty`, since the component is in no commit.
        chosen = [option for name in names for option in ("--package", name)]
        # The empty variable makes the host use the component in its package.
        run("cargo", "package", "--locked", "--allow-dirty", *chosen, env={"AGENT_MEMORY_COMPONENT": ""})
    for name in names:
        release.add(out / f"{name}-{release.version}.crate", "crate", None, "compiled from the package")


def add_image(release: Release) -> None:
    """What `docker build` needs for an image of the program for Linux x86-64, in one archive."""
    target = TARGETS[0]
    if not program(target).exists():
        raise SystemExit(f"the image needs the program of {target.triple}")
    run("hadolint", "release/Dockerfile")
    files = [program(target), ROOT / "release/Dockerfile", *TERMS]
    context = staged(f"agent-memory-{release.version}-image", files)
    (context / "data").mkdir()
    release.add_archive(context, "image", target.triple, "linted; not built: that needs Docker")


def add_bundles(release: Release) -> None:
    """Plugins for clients, a bundle for Claude Desktop, and the entry for the MCP registry."""
    directory = BUILT / "bundles"
    files = bundles.make(directory)
    if not bundles.validate(directory):
        raise SystemExit("a validator of the bundles is not content")
    for file in files:
        release.add(file, "bundle", None, "the makers' validators passed")


@contextmanager
def component_beside_host() -> Iterator[None]:
    """Puts the component where a package of the host has it."""
    beside = ROOT / "host-native/component.wasm"
    shutil.copyfile(COMPONENTS / "agent_memory_core.wasm", beside)
    try:
        yield
    finally:
        beside.unlink()


def run(*command: str, cwd: Path = ROOT, env: dict[str, str] | None = None) -> None:
    print(f"\n== {' '.join(command)}", flush=True)
    if subprocess.run(command, cwd=cwd, env=os.environ | (env or {})).returncode != 0:
        raise SystemExit(f"failed: {' '.join(command)}")


def output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


main()
