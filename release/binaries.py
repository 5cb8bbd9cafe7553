"""Checks what the loader of another system wants of a finished program or library."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator

MACH_O_64 = 0xFEEDFACF
ARM64 = 0x100000C
LOAD_LIBRARY = (0xC, 0x80000018, 0x8000001F)
"""LC_LOAD_DYLIB, and the same for weak and for exported libraries."""
CODE_SIGNATURE = 0x1D
BUILD_VERSION = 0x32
CODE_DIRECTORY = 0xFADE0C02
ADHOC = 2
OLDEST_MACOS = (11, 0)
"""The oldest system that Rust supports on both processors."""
SYSTEM_OF_MACOS = ("/usr/lib/", "/System/Library/")


class BinaryError(Exception):
    """The system would not load it."""


def check(data: bytes) -> list[str]:
    """Checks a program or a library of macOS or Windows. Returns what was checked: nothing for Linux."""
    if data[:4] == struct.pack("<I", MACH_O_64):
        return check_mach_o(data)
    if data[:2] == b"MZ":
        return check_pe(data)
    return []


def check_mach_o(data: bytes) -> list[str]:
    """It calls only libraries of the system, runs on the oldest macOS, and is signed if its processor is arm64."""
    signature = None
    oldest = None
    for command, start in load_commands(data):
        if command in LOAD_LIBRARY:
            name = text_at(data, start + number(data, start + 8))
            if not name.startswith(SYSTEM_OF_MACOS):
                raise BinaryError(f"needs `{name}`, which does not come with macOS")
        elif command == CODE_SIGNATURE:
            signature = number(data, start + 8)
        elif command == BUILD_VERSION:
            version = number(data, start + 12)
            oldest = (version >> 16, version >> 8 & 0xFF)
    if oldest != OLDEST_MACOS:
        raise BinaryError(f"is for macOS {oldest}, not {OLDEST_MACOS}")
    checked = ["libraries", "oldest macOS"]
    if signature is not None:
        check_signature(data, signature)
        checked.append("signature")
    elif number(data, 4) == ARM64:
        raise BinaryError("has no signature, and macOS does not start it on arm64 without one")
    return checked


def load_commands(data: bytes) -> Iterator[tuple[int, int]]:
    """The commands of a Mach-O file: the number of each, and where it starts."""
    start = 32
    for _ in range(number(data, 16)):
        yield number(data, start), start
        start += number(data, start + 4)


def check_signature(data: bytes, start: int) -> None:
    """A page that was changed after the file was signed gets the program killed."""
    blobs = [number(data, start + 16 + 8 * index, ">") for index in range(number(data, start + 8, ">"))]
    directories = [start + blob for blob in blobs if number(data, start + blob, ">") == CODE_DIRECTORY]
    if not directories:
        raise BinaryError("has a signature without hashes")
    directory = directories[0]
    flags, hashes = struct.unpack_from(">II", data, directory + 12)
    pages, limit = struct.unpack_from(">II", data, directory + 28)
    page_size = 1 << data[directory + 39]
    if not flags & ADHOC:
        raise BinaryError("is not signed ad hoc")
    if limit != start or pages != -(-limit // page_size):
        raise BinaryError("has a signature of another length")
    for page in range(pages):
        content = data[page * page_size : min((page + 1) * page_size, limit)]
        place = directory + hashes + 32 * page
        if hashlib.sha256(content).digest() != data[place : place + 32]:
            raise BinaryError(f"was changed after it was signed, in page {page}")


def check_pe(data: bytes) -> list[str]:
    """It needs no library of the compiler."""
    for name in imported_by_pe(data):
        if name.lower().startswith("lib"):
            raise BinaryError(f"needs `{name}`, which does not come with Windows")
    return ["libraries"]


def imported_by_pe(data: bytes) -> Iterator[str]:
    """The names of the libraries that a file for 64-bit Windows imports."""
    header = number(data, 0x3C)
    sections = header + 24 + struct.unpack_from("<H", data, header + 20)[0]
    count = struct.unpack_from("<H", data, header + 6)[0]

    def offset(address: int) -> int:
        for section in range(sections, sections + 40 * count, 40):
            size, first, _, place = struct.unpack_from("<IIII", data, section + 8)
            if first <= address < first + size:
                return int(address - first + place)
        raise BinaryError("has an address outside of its sections")

    entry = offset(number(data, header + 24 + 120))
    while name := number(data, entry + 12):
        yield text_at(data, offset(name))
        entry += 20


def number(data: bytes, start: int, order: str = "<") -> int:
    return int(struct.unpack_from(f"{order}I", data, start)[0])


def text_at(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode()
