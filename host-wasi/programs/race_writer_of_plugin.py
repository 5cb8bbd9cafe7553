"""One writer of a race, on the plugin:

    python host-wasi/programs/race_writer_of_plugin.py PLUGIN REPOSITORY AGENT COUNT ID LOCK-WAIT

Its arguments after the first, and its output, are those of `host-python/programs/race_writer.py`. No plugin waits
for a lock.
"""

from __future__ import annotations

import sys
from pathlib import Path

from plugin import PluginImage, PluginMemory

sys.path.append(str(Path(__file__).resolve().parents[2] / "host-python/programs"))

from race_writer import write_entries  # noqa: E402


def main() -> None:
    plugin, repository, agent, count, id, _ = sys.argv[1:]
    environment = {"AGENT_MEMORY_ALLOW": repository}
    with PluginMemory(PluginImage(Path(plugin)), [Path(repository)], environment) as memory:
        write_entries(memory.call, repository, agent, int(count), id)


if __name__ == "__main__":
    main()
