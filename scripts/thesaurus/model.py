"""The vectors of single words by all-MiniLM-L6-v2.

In NumPy with double precision, so that the last bits, which differ between processors, hardly ever change a weight.
"""

import json
import struct
from pathlib import Path

import numpy as np

LAYERS = 6
HEADS = 12
EPSILON = 1e-12
BATCH = 512


class Model:
    def __init__(self, folder: Path):
        self.vocabulary = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
        self.ids = {word: number for number, word in enumerate(self.vocabulary)}
        self.tensors = read_tensors(folder / "model.safetensors")

    def vectors(self, words: list[str]) -> np.ndarray:
        """A row for each word, which must be in the vocabulary."""
        batches = [words[start : start + BATCH] for start in range(0, len(words), BATCH)]
        return np.concatenate([self.batch(batch) for batch in batches])

    def batch(self, words: list[str]) -> np.ndarray:
        tokens = np.array([[self.ids["[CLS]"], self.ids[word], self.ids["[SEP]"]] for word in words])
        embeddings = "embeddings."
        states = (
            self.tensors[embeddings + "word_embeddings.weight"][tokens]
            + self.tensors[embeddings + "position_embeddings.weight"][: tokens.shape[1]]
            + self.tensors[embeddings + "token_type_embeddings.weight"][0]
        )
        states = self.normalized(embeddings + "LayerNorm", states)
        for number in range(LAYERS):
            layer = f"encoder.layer.{number}."
            attended = self.linear(layer + "attention.output.dense", self.attention(layer, states))
            states = self.normalized(layer + "attention.output.LayerNorm", states + attended)
            inner = gelu(self.linear(layer + "intermediate.dense", states))
            output = self.linear(layer + "output.dense", inner)
            states = self.normalized(layer + "output.LayerNorm", states + output)
        return unit(states.mean(axis=1))

    def attention(self, layer: str, states: np.ndarray) -> np.ndarray:
        count, length, width = states.shape
        query, key, value = (
            self.linear(f"{layer}attention.self.{part}", states)
            .reshape(count, length, HEADS, width // HEADS)
            .transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / np.sqrt(width // HEADS)
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        return (shares @ value).transpose(0, 2, 1, 3).reshape(count, length, width)

    def linear(self, name: str, states: np.ndarray) -> np.ndarray:
        # One product of two matrices is faster: NumPy would make a product for each word.
        rows = states.reshape(-1, states.shape[-1]) @ self.tensors[name + ".weight"].T
        return rows.reshape(*states.shape[:-1], -1) + self.tensors[name + ".bias"]

    def normalized(self, name: str, states: np.ndarray) -> np.ndarray:
        centred = states - states.mean(axis=-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPSILON)
        return centred / deviation * self.tensors[name + ".weight"] + self.tensors[name + ".bias"]


def gelu(values: np.ndarray) -> np.ndarray:
    return values * (1 + erf(values / np.sqrt(2))) / 2


def erf(values: np.ndarray) -> np.ndarray:
    """Abramowitz and Stegun, 7.1.26: the error is at most 1.5e-7."""
    size = np.abs(values)
    t = 1 / (1 + 0.3275911 * size)
    series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    return np.sign(values) * (1 - series * np.exp(-size * size))


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def read_tensors(path: Path) -> dict[str, np.ndarray]:
    """The format: the length of a JSON header, the header, the numbers."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        start, end = entry["data_offsets"]
        numbers = np.frombuffer(data[8 + length + start : 8 + length + end], dtype="<f4")
        tensors[name] = numbers.reshape(entry["shape"]).astype(np.float64)
    return tensors
