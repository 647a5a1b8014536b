"""WordNet's files -> words of one meaning and words of opposite meaning, for the change check.

``python scripts/wordnet.py DICT > src/scrubjay/ingest/change/data/wordnet.txt``, where DICT holds WordNet 3.1's
``data.*`` and ``index.*``. Kept are single words that are in the vocabulary that comes with MiniLM, or that
the texts counted by WordNet use, by their stems. A line is ``word same same ... | opposite ...``; each pair stands once, under the smaller stem.

Two words are the same where they share a sense that both are often used in, or where one is derived from the other in
such a sense ("renew", "renewal"). Opposites are WordNet's antonyms of adjectives, adverbs and verbs, and adjectives
like one of two antonyms against those like the other ("damp" is like "wet", so it is opposed to "dry"); antonyms of
nouns ("brother", "sister") are other things, not denials.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from importlib import resources
from itertools import combinations, product
from pathlib import Path

from scrubjay.text.stems import stem

LEAST = 0.25
"""Share of a word's uses from which a sense counts: "to father" is no more than a curiosity of "father"."""
PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
Sense = tuple[str, str]


def vocabulary(folder: Path) -> set[str]:
    """Return the common words: of the vocabulary, or counted in the texts that WordNet was made with."""
    listed = resources.files("scrubjay.providers").joinpath("data", "bert-base-uncased-vocab.txt")
    found = set(listed.read_text(encoding="utf-8").splitlines())
    for line in (folder / "index.sense").read_text(encoding="utf-8").splitlines():
        key, *_, count = line.split()
        if count != "0":
            found.add(key.partition("%")[0])
    return {word for word in found if word.isalpha() and len(word) > 2}


def shares(folder: Path) -> dict[Sense, float]:
    """Return (word, synset) -> the share of the word's uses, in the texts counted, that have this sense."""
    counts: dict[Sense, int] = {}
    totals: Counter[str] = Counter()
    for line in (folder / "index.sense").read_text(encoding="utf-8").splitlines():
        key, offset, rank, count = line.split()
        word, _, rest = key.partition("%")
        uses = int(count) + (0.5 if rank == "1" else 0)  # a word never counted means its first sense
        counts[word, "nvara"[int(rest[0]) - 1] + offset] = uses
        totals[word] += uses
    return {(word, synset): uses / totals[word] for (word, synset), uses in counts.items() if uses}


def main() -> None:
    """Print the table."""
    folder = Path(sys.argv[1])
    known = vocabulary(folder)
    share = shares(folder)
    words: dict[str, list[str]] = {}
    similar: defaultdict[str, list[str]] = defaultdict(list)
    pointers: list[tuple[str, str, str, int, int]] = []
    for name, part in PARTS.items():
        for line in (folder / f"data.{name}").read_text(encoding="utf-8").splitlines():
            if line.startswith(" "):
                continue
            fields = line.split(" | ")[0].split()
            count = int(fields[3], 16)
            synset = part + fields[0]
            words[synset] = [fields[4 + 2 * n].split("(")[0].lower() for n in range(count)]
            rest = fields[5 + 2 * count :]
            for n in range(int(fields[4 + 2 * count])):
                symbol, offset, other, places = rest[4 * n : 4 * n + 4]
                if symbol == "&":
                    similar[synset].append("a" + offset)
                if symbol in "!+" and places != "0000":
                    pointers.append(
                        (
                            symbol,
                            synset,
                            other.replace("s", "a") + offset,
                            int(places[:2], 16),
                            int(places[2:], 16),
                        )
                    )

    def counts(word: str, synset: str) -> bool:
        return word in known and share.get((word, synset), 0) >= LEAST

    def near(synset: str, word: str) -> list[Sense]:
        return [
            (word, synset),
            *((other, cluster) for cluster in similar[synset] for other in words[cluster]),
        ]

    same: defaultdict[str, set[str]] = defaultdict(set)
    opposite: defaultdict[str, set[str]] = defaultdict(set)

    def put(table: defaultdict[str, set[str]], one: str, other: str) -> None:
        one, other = sorted((stem(one, "en"), stem(other, "en")))
        if one != other:
            table[one].add(other)

    for synset, listed in words.items():
        for one, other in combinations([word for word in listed if counts(word, synset)], 2):
            put(same, one, other)
    for symbol, synset, other, here, there in pointers:
        one, two = words[synset][here - 1], words[other][there - 1]
        if symbol == "+" and counts(one, synset) and counts(two, other):
            put(same, one, two)
        elif symbol == "!" and synset[0] != "n":
            for ours, theirs in (
                ((one, synset), (two, other)),
                *product(near(synset, one), near(other, two)),
            ):
                if counts(*ours) and counts(*theirs):
                    put(opposite, ours[0], theirs[0])
    for word in sorted(same.keys() | opposite.keys()):
        line = " ".join([word, *sorted(same[word] - opposite[word])])
        print(line + (f" | {' '.join(sorted(opposite[word]))}" if opposite[word] else ""))


if __name__ == "__main__":
    main()
