"""The checks of programs for systems that run nothing here."""

from __future__ import annotations

import hashlib
import struct
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from binaries import ADHOC, ARM64, BUILD_VERSION, CODE_DIRECTORY, CODE_SIGNATURE, MACH_O_64, BinaryError, check  # noqa: E402

PAGE = 4096
SYSTEM = "/usr/lib/libSystem.B.dylib"


def program(library: str = SYSTEM, is_signed: bool = True, oldest: int = 11) -> bytes:
    """A file of macOS for arm64 with one page, and nothing in it but what is checked."""
    commands = [
        struct.pack("<IIIIII", BUILD_VERSION, 24, 1, oldest << 16, 0, 0),
        struct.pack("<IIIIII64s", 0xC, 88, 24, 0, 0, 0, library.encode()),
    ]
    if is_signed:
        commands.append(struct.pack("<IIII", CODE_SIGNATURE, 16, PAGE, 1024))
    joined = b"".join(commands)
    header = struct.pack("<IIIIIIII", MACH_O_64, ARM64, 0, 2, len(commands), len(joined), 0, 0)
    content = (header + joined).ljust(PAGE, b"\0")
    return content + signature(content) if is_signed else content


def signature(content: bytes) -> bytes:
    """The hash of the one page, in a list of one directory."""
    fixed = struct.pack(">IIIIIIIII", CODE_DIRECTORY, 44 + 32, 0x20400, ADHOC, 44, 44, 0, 1, len(content))
    directory = fixed + bytes([32, 2, 0, 12, 0, 0, 0, 0]) + hashlib.sha256(content).digest()
    return struct.pack(">IIIII", 0xFADE0CC0, 20 + len(directory), 1, 0, 20) + directory


class MacOS(unittest.TestCase):
    def test_a_signed_program_passes(self) -> None:
        self.assertEqual(check(program()), ["libraries", "oldest macOS", "signature"])

    def test_a_program_that_was_changed_after_it_was_signed_fails(self) -> None:
        changed = bytearray(program())
        changed[PAGE - 1] = 1
        with self.assertRaisesRegex(BinaryError, "was changed after it was signed, in page 0"):
            check(bytes(changed))

    def test_a_program_without_a_signature_fails(self) -> None:
        with self.assertRaisesRegex(BinaryError, "has no signature"):
            check(program(is_signed=False))

    def test_a_library_that_the_system_does_not_have_fails(self) -> None:
        with self.assertRaisesRegex(BinaryError, "needs `/opt/lib/libzig.dylib`"):
            check(program(library="/opt/lib/libzig.dylib"))

    def test_a_program_for_a_newer_system_fails(self) -> None:
        with self.assertRaisesRegex(BinaryError, r"is for macOS \(13, 0\)"):
            check(program(oldest=13))


if __name__ == "__main__":
    unittest.main()
