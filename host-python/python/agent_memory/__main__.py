"""The command line: `python -m agent_memory`, or the script `agent-memory`."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Runs the command line, and returns its exit status."""
    from . import _native

    # Python's own handler is removed: Ctrl-C ends the program, or a command such as `serve` handles it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.run([sys.executable, "-m", "agent_memory"], ["agent-memory", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
