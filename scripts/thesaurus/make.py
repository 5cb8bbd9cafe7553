"""Makes the thesaurus of the core: each stem of an English word with its nearest stems.

    scripts/thesaurus/make MODEL NAMES WORDNET CORE
"""

import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from model import Model, unit
from table import LEAST_COSINE, encoded
from words import common_words, irregular_forms, stem

COMPONENTS = 128
NEIGHBOURS = 16


def main(model_folder: Path, names: Path, wordnet: Path, core: Path) -> None:
    model = Model(model_folder)
    words = common_words(model.vocabulary, wordnet, names, core)
    stems, vectors = vectors_of_stems(words, model.vectors(words))
    forms = [{stem(form) for form in forms} for forms in irregular_forms(core)]
    rows = neighbours(stems, principal_components(vectors), forms)
    table = encoded(stems, rows)
    (core / "src/ranking/thesaurus.bin").write_bytes(table)
    count = sum(len(row) for row in rows)
    print(f"{len(words)} words, {len(stems)} stems, {count} neighbours, {len(table)} bytes")


def vectors_of_stems(words: list[str], vectors: np.ndarray) -> tuple[list[str], np.ndarray]:
    """The stems in byte order, each with the mean of its words."""
    of_stem = defaultdict(list)
    for word, vector in zip(words, vectors, strict=True):
        of_stem[stem(word)].append(vector)
    stems = sorted(of_stem)
    return stems, np.array([np.mean(of_stem[word_stem], axis=0) for word_stem in stems])


def principal_components(vectors: np.ndarray) -> np.ndarray:
    centred = vectors - vectors.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    return unit(centred @ axes[:, -COMPONENTS:])


def neighbours(stems: list[str], vectors: np.ndarray, forms: list[set[str]]) -> list[list[tuple[int, float]]]:
    """The nearest stems of each, nearest first. A search already knows the forms of an irregular word."""
    rows = []
    for number, vector in enumerate(vectors):
        same = {number}.union(*(index_of(stems, group) for group in forms if stems[number] in group))
        cosines = vectors @ vector
        order = np.argsort(-cosines, kind="stable")[: NEIGHBOURS + len(same)]
        near = [(int(other), float(cosines[other])) for other in order if int(other) not in same]
        rows.append([(other, cosine) for other, cosine in near if cosine > LEAST_COSINE][:NEIGHBOURS])
    return rows


def index_of(stems: list[str], group: set[str]) -> set[int]:
    return {stems.index(word_stem) for word_stem in group if word_stem in stems}


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:]))
