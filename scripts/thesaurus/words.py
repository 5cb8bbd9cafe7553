"""Which words the thesaurus has: common English words that are no names and no numbers."""

import functools
import re
from collections import Counter
from pathlib import Path

import snowballstemmer

# Names are left out: `john` would find `tom`. So are numbers, months and days, which have no neighbours
# with the same meaning.
CALENDAR = """
    january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday
"""

# Words that are younger than WordNet, or that WordNet has only in capitals or in the singular.
ADDED = "api app ceo cpu dvd gps html media pdf phd rehab usb xml"

# A stem counts as a name if many people have the name and texts seldom use the word. The factors weigh
# the share of people in percent against the number of uses in the texts that WordNet counts. They keep
# `bill`, `hope` and `cook`, and remove `jack`, `ruby` and `miller`.
USES_PER_FIRST_NAME = 150
USES_PER_LAST_NAME = 40
RARE_LAST_NAME = 0.05

# Parts of speech and lexicographer files of WordNet.
FILES = {"noun": "1", "verb": "2", "adj": "3", "adv": "4"}
SATELLITE = "5"
PERSON = "18"
PLACE = "15"

stem = functools.cache(snowballstemmer.stemmer("english").stemWord)


def common_words(vocabulary: list[str], wordnet: Path, names: Path, core: Path) -> list[str]:
    """The words in the order of the vocabulary, which begins with the most frequent ones."""
    uses, persons, places = read_wordnet(wordnet)
    first, last = read_names(names)
    others = set(ADDED.split()).union(*irregular_forms(core))
    left_out = {stem(word) for word in CALENDAR.split()}
    left_out |= {stem(word) for word in stop_words(core)}
    left_out |= {stem(word) for word in numbers(wordnet)}

    def is_name(word_stem: str) -> bool:
        used = uses[word_stem]
        people = USES_PER_FIRST_NAME * first[word_stem] + USES_PER_LAST_NAME * last[word_stem]
        is_person = word_stem in persons and persons[word_stem] >= used
        is_place = word_stem in places and places[word_stem] + 1 >= used
        return people > used or is_person or is_place

    def is_common(word: str) -> bool:
        word_stem = stem(word)
        is_word = word_stem in uses or word in others
        return is_word and word_stem not in left_out and not is_name(word_stem)

    return [word for word in vocabulary if re.fullmatch("[a-z]{3,}", word) and is_common(word)]


def read_wordnet(folder: Path) -> tuple[Counter, Counter, Counter]:
    """How often each stem is used as a word, as the name of a person, and as that of a place.

    WordNet writes a name with a capital, and says that it is an instance of something.
    """
    tagged = {}
    for line in lines(folder / "index.sense"):
        key, offset, _, count = line.split()
        lemma, sense = key.split("%")
        tagged[lemma, sense[0].replace(SATELLITE, FILES["adj"]), offset] = int(count)
    uses, names = Counter(), {PERSON: Counter(), PLACE: Counter()}
    for name, part in FILES.items():
        for line in lines(folder / f"data.{name}"):
            fields = line.split(" ")
            offset, lexicographer = fields[:2]
            is_name = " @i " in line and lexicographer in names
            for lemma in fields[4 : 4 + 2 * int(fields[3], 16) : 2]:
                lemma = lemma.partition("(")[0]
                count = tagged.get((lemma.lower(), part, offset), 0)
                if re.fullmatch("[a-z]+", lemma):
                    uses[stem(lemma)] += count
                elif is_name and re.fullmatch("[A-Z][a-z]+", lemma):
                    names[lexicographer][stem(lemma.lower())] += count
    return uses, names[PERSON], names[PLACE]


def numbers(folder: Path) -> set[str]:
    """WordNet lists them around the adjectives `cardinal` and `ordinal`."""
    found = set()
    for line in lines(folder / "index.sense"):
        match = re.match(r"([a-z]+)%5:00:\d\d:(cardinal|ordinal):", line)
        if match:
            found.add(match[1])
    return found


def read_names(folder: Path) -> tuple[Counter, Counter]:
    """The share of people with each first name, of men or of women, and with each last name, by stem."""
    first, last = Counter(), Counter()
    for kind in ("male", "female"):
        of_kind = Counter()
        for name, share in read_shares(folder / f"dist.{kind}.first"):
            of_kind[stem(name)] += share
        first |= of_kind
    for name, share in read_shares(folder / "dist.all.last"):
        if share >= RARE_LAST_NAME:
            last[stem(name)] += share
    return first, last


def read_shares(path: Path) -> list[tuple[str, float]]:
    rows = (line.split() for line in lines(path))
    return [(name.lower(), float(share)) for name, share, *_ in rows]


def stop_words(core: Path) -> list[str]:
    text = (core / "src/ranking/stop_words.rs").read_text(encoding="utf-8")
    return re.findall(r'^    "([a-z]+)",$', text, re.MULTILINE)


def irregular_forms(core: Path) -> list[list[str]]:
    text = (core / "src/ranking/irregular.rs").read_text(encoding="utf-8")
    return [forms.split() for forms in re.findall(r'^    "([a-z ]+)",$', text, re.MULTILINE)]


def lines(path: Path) -> list[str]:
    """The lines of a list, without the licence on top of a file of WordNet."""
    text = path.read_text(encoding="utf-8")
    return [line for line in text.split("\n") if line and not line.startswith("  ")]
