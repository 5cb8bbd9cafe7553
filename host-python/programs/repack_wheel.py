"""Compresses a wheel again, in its place, with a better compressor of the same format: `repack_wheel.py WHEEL`."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from typing import Any
from unittest import mock

import deflate


class Compressor:
    """The interface of `zlib.compressobj`."""

    def __init__(self) -> None:
        self.data = bytearray()

    def compress(self, data: bytes) -> bytes:
        self.data += data
        return b""

    def flush(self) -> bytes:
        return bytes(deflate.deflate_compress(self.data, 12))


def compressor(*_: Any) -> Compressor:
    return Compressor()


def main() -> None:
    wheel = Path(sys.argv[1])
    repacked = wheel.with_suffix(".repacked")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(repacked, "w", zipfile.ZIP_DEFLATED) as new:
        with mock.patch("zipfile._get_compressor", compressor):
            for entry in old.infolist():
                new.writestr(entry, old.read(entry))
    with zipfile.ZipFile(repacked) as new:
        assert new.testzip() is None
    repacked.replace(wheel)


if __name__ == "__main__":
    main()
