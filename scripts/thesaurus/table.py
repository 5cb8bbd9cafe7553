"""The bytes of the thesaurus. `core-component/src/ranking/thesaurus.rs` describes and reads them."""

import os
import struct

LEAST_COSINE = 0.35
STEPS = 16
STEMS_PER_BLOCK = 16

Row = list[tuple[int, float]]


def encoded(stems: list[str], rows: list[Row]) -> bytes:
    blocks = []
    for start in range(0, len(stems), STEMS_PER_BLOCK):
        end = start + STEMS_PER_BLOCK
        blocks.append(encoded_block(stems[start:end], rows[start:end]))
    # The start of each block, counted from the end of this list of offsets.
    offsets = [sum(len(block) for block in blocks[:number]) for number in range(len(blocks))]
    head = struct.pack(f"<H{len(offsets)}I", len(stems), *offsets)
    return head + b"".join(blocks)


def encoded_block(stems: list[str], rows: list[Row]) -> bytes:
    block = b""
    previous = ""
    for word_stem, row in zip(stems, rows, strict=True):
        shared = len(os.path.commonprefix([previous, word_stem]))
        rest = word_stem[shared:].encode()
        weights = [step(cosine) for _, cosine in row] + [0] * (len(row) % 2)
        pairs = zip(weights[::2], weights[1::2], strict=True)
        block += bytes([shared, len(rest), len(row)]) + rest
        block += b"".join(struct.pack("<H", other) for other, _ in row)
        block += bytes(low | high << 4 for low, high in pairs)
        previous = word_stem
    return block


def step(cosine: float) -> int:
    """The number of the step between the least cosine and 1."""
    return min(int((cosine - LEAST_COSINE) / (1 - LEAST_COSINE) * STEPS), STEPS - 1)
