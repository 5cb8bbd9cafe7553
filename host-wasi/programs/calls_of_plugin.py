"""Answers requests with the plugin, under wasmtime:

    python host-wasi/programs/calls_of_plugin.py PLUGIN

The requests and their answers are those of `host-python/programs/calls.py`. One that opens a memory has the
variables of its environment as `open`, and its `directory`, which has everything that the plugin may use.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from plugin import PluginImage, PluginMemory

sys.path.append(str(Path(__file__).resolve().parents[2] / "host-python/programs"))

from calls import Program  # noqa: E402


def main() -> None:
    image = PluginImage(Path(sys.argv[1]))
    # WASI cannot set modes of files, so the process makes new files private.
    os.umask(0o077)

    def open_by(request: dict[str, Any]) -> PluginMemory:
        return PluginMemory(image, [Path(request["directory"])], request["open"])

    Program(open_by).run()


if __name__ == "__main__":
    main()
