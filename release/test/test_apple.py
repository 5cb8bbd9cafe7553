"""The descriptions of Apple's frameworks."""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from apple import frameworks  # noqa: E402

# Declarations of functions, as in crates that are written by hand and in generated crates.
BY_HAND = """
#[cfg_attr(target_vendor = "apple", link(name = "CoreFoundation", kind = "framework"))]
extern "C" {
    pub static kCFAllocatorDefault: CFAllocatorRef;
    pub fn CFRelease(cf: CFTypeRef);
}
"""
GENERATED = """
#[link(name = "SystemConfiguration", kind = "framework")]
extern "C" {}
impl SCDynamicStore {
    pub fn proxies(store: Option<&SCDynamicStore>) -> Option<CFRetained<CFDictionary>> {
        extern "C-unwind" {
            fn SCDynamicStoreCopyProxies(store: Option<&SCDynamicStore>) -> Option<NonNull<CFDictionary>>;
        }
    }
}
"""


class Frameworks(unittest.TestCase):
    def test_each_linked_framework_has_the_names_that_its_crates_declare(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            crates = [Path(directory, name) for name in ["by-hand", "generated", "without"]]
            for crate, text in zip(crates, [BY_HAND, GENERATED, "pub fn CFOwn() {}"]):
                crate.mkdir()
                (crate / "lib.rs").write_text(text)
            found = frameworks(crates)
        self.assertEqual(
            found,
            {
                "CoreFoundation": {"kCFAllocatorDefault", "CFRelease"},
                "SystemConfiguration": {"SCDynamicStoreCopyProxies"},
            },
        )


if __name__ == "__main__":
    unittest.main()
