"""Calls tools of the plugin:

    python host-wasi/programs/call_plugin.py PLUGIN <REQUEST

The request is JSON: `{"directories": [...], "read_only": false, "environment": {...}, "calls": [[TOOL, ARGUMENTS], ...]}`.
Prints a line for each call: its result, or its error, as JSON. A call of the tool `tools` lists the tools.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from agent_memory import MemoryCallError
from plugin import PluginImage, PluginMemory


def main() -> None:
    request = json.load(sys.stdin)
    directories = [Path(directory) for directory in request["directories"]]
    image = PluginImage(Path(sys.argv[1]))
    read_only = request.get("read_only", False)
    with PluginMemory(image, directories, request["environment"], read_only=read_only) as memory:
        for tool, arguments in request["calls"]:
            try:
                answer = memory.tools if tool == "tools" else memory.call(tool, arguments).result
            except MemoryCallError as error:
                answer = {"error": {"code": error.code, "message": str(error)}}
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
