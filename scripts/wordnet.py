"""WordNet: its files -> words of one meaning and words of opposite meaning, for the change check.

``python scripts/wordnet.py DICT > src/scrubjay/ingest/change/data/wordnet.txt``, where DICT holds WordNet 3.1's
``data.*`` and ``index.sense``. Kept are single words that are in the vocabulary that comes with MiniLM, or that the
texts counted by WordNet use, by their stems. A line is ``word same same ... | opposite ...``; each pair stands once,
under the smaller stem.

Two words are the same where they share a sense that both are often used in, or where one is derived from the other in
such a sense ("renew", "renewal"). Opposites are WordNet's antonyms of adjectives, adverbs and verbs, and adjectives
like one of two antonyms against those like the other ("damp" is like "wet", so it is opposed to "dry"); antonyms of
nouns ("brother", "sister") are other things, not denials.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import resources
from itertools import combinations, product
from pathlib import Path

from scrubjay.text.stems import stem

LEAST = 0.25
"""Share of a word's uses from which a sense counts: "to father" is no more than a curiosity of "father"."""
PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
Sense = tuple[str, str]


@dataclass
class Net:
    """WordNet's synsets, each with its words, those like it, and what points from one word to another."""

    words: dict[str, list[str]] = field(default_factory=dict)
    similar: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    pointers: list[tuple[str, Sense, Sense]] = field(default_factory=list)

    def near(self, sense: Sense) -> list[Sense]:
        """Return a sense and the senses of words like it."""
        return [sense, *((word, like) for like in self.similar[sense[1]] for word in self.words[like])]


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
    counts: dict[Sense, float] = {}
    totals: Counter[str] = Counter()
    for line in (folder / "index.sense").read_text(encoding="utf-8").splitlines():
        key, offset, rank, count = line.split()
        word, _, rest = key.partition("%")
        uses = int(count) + (0.5 if rank == "1" else 0)  # a word never counted means its first sense
        counts[word, "nvara"[int(rest[0]) - 1] + offset] = uses
        totals[word] += uses
    return {(word, synset): uses / totals[word] for (word, synset), uses in counts.items() if uses}


def read(folder: Path) -> Net:
    """Return the net of WordNet's data files."""
    net, raw = Net(), []
    for name, part in PARTS.items():
        for line in (folder / f"data.{name}").read_text(encoding="utf-8").splitlines():
            if line.startswith(" "):
                continue
            fields = line.split(" | ")[0].split()
            count, synset = int(fields[3], 16), part + fields[0]
            net.words[synset] = [fields[4 + 2 * n].split("(")[0].lower() for n in range(count)]
            raw.append((synset, fields[5 + 2 * count : 5 + 2 * count + 4 * int(fields[4 + 2 * count])]))
    for synset, rest in raw:
        for symbol, offset, part, places in zip(*(rest[n::4] for n in range(4)), strict=True):
            other = part.replace("s", "a") + offset
            if symbol == "&":
                net.similar[synset].append(other)
            if symbol in "!+" and places != "0000":
                here, there = int(places[:2], 16) - 1, int(places[2:], 16) - 1
                net.pointers.append(
                    (symbol, (net.words[synset][here], synset), (net.words[other][there], other))
                )
    return net


def pairs(net: Net) -> Iterator[tuple[str, Sense, Sense]]:
    """Yield every two senses that are the same ("+") or opposite ("!")."""
    for synset, words in net.words.items():
        for one, other in combinations(words, 2):
            yield "+", (one, synset), (other, synset)
    for symbol, one, other in net.pointers:
        if symbol == "+":
            yield symbol, one, other
        elif one[1][0] != "n":
            yield from ((symbol, *both) for both in product(net.near(one), net.near(other)))


def main() -> None:
    """Print the table."""
    folder = Path(sys.argv[1])
    known, share = vocabulary(folder), shares(folder)
    table: dict[str, defaultdict[str, set[str]]] = {"+": defaultdict(set), "!": defaultdict(set)}
    for symbol, *senses in pairs(read(folder)):
        if all(word in known and share.get((word, synset), 0) >= LEAST for word, synset in senses):
            one, other = sorted(stem(word, "en") for word, _ in senses)
            if one != other:
                table[symbol][one].add(other)
    same, opposite = table["+"], table["!"]
    for word in sorted(same.keys() | opposite.keys()):
        line = " ".join([word, *sorted(same[word] - opposite[word])])
        print(line + (f" | {' '.join(sorted(opposite[word]))}" if opposite[word] else ""))


if __name__ == "__main__":
    main()
