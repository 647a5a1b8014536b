"""Texts to measure with: Markdown trees and questions about them, and made-up stores of any size.

Two sorts of made-up texts: words drawn by their frequency in a tree (`texts`), and topics (`arrivals`). By topics, a
thousand tenants are unequal as Zipf's law has it, and what they write arrives interleaved, a few turns at a time. Most
memories are turns of conversations; the rest are notes and facts. Each conversation has a topic of forty words, which
it shares with few others; the rest of a text are common words by Zipf's law, and one is of its own, so that the
vocabulary grows with the store. Two texts are then about as near to each other as two of a real collection
(bench/LOG.md). Of words drawn without a topic nearly half are alike, so whatever joins similar memories is measured
wrongly on them.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import random
import re
import shutil
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.harness import open_memory
from scrubjay.embeddings.static import StaticEmbedder
from scrubjay.models.lifecycle import NewMemory

USER = "reader"
BATCH = 5_000
"""Memories of one ``add_many``."""
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$")
_FENCE = re.compile(r"^\s{0,3}(```|~~~)")
_MARKS = re.compile(r"[`*_\[\]]|\(\S*?\)|\{#.*?\}|<.*?>")
_WORD = re.compile(r"[\w'’+./-]*\w")
SMALL = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by can do does for from how if in into is it its of on or our s that the "
        "their this to use using was we what when where which why with you your",
    )
)
"""Words that carry no content, so that dropping one would not make a question harder."""
MOST_DROP_FREE = 3
"""A heading with more content words than this loses one."""

Tree = tuple[str, Path]
"""A tree's name and its folder."""


@dataclass(frozen=True, slots=True)
class KnownItem:
    """A question and the file that holds the heading it was made of."""

    query: str
    path: str


def unpack(source: Path, into: Path) -> list[Tree]:
    """Trees by name: a folder, a ``.tar.gz``, or a folder of ``.tar.gz`` files.

    Archives are unpacked and folders are copied below `into`, since one file of each will be changed.
    """
    if source.is_dir():
        packed = sorted(source.glob("*.tar.gz"))
        if packed:
            return [tree for archive in packed for tree in unpack(archive, into)]
        target = into / source.name
        files = {file.relative_to(source): file.read_bytes() for file in sorted(source.rglob("*.md"))}
        for name, data in files.items():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes(data)
    elif source.is_file():
        target = into / source.name.removesuffix(".tar.gz")
        unpacked(source, target)
    else:
        raise FileNotFoundError(f"There is no tree {source}.")
    if not any(target.rglob("*.md")):
        raise FileNotFoundError(f"{source} holds no Markdown file.")
    return [(target.name, target)]


def generate(into: Path, seed: int, files: int = 112) -> Tree:
    """A small tree of invented words with the sizes of a real book, for when none is given."""
    rng = random.Random(seed)
    syllables = re.findall("..", "badofegikulamoneptrosutavewixozu")
    vocabulary = ["".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(6000)]
    weights = [1 / (rank + 2) for rank in range(len(vocabulary))]
    folder = into / "generated"
    for number in range(files):
        parts = []
        for _ in range(rng.randint(4, 24)):
            title = " ".join(rng.choices(vocabulary, k=rng.randint(2, 6))).capitalize()
            body = [
                " ".join(rng.choices(vocabulary, weights, k=rng.randint(20, 90))).capitalize() + "."
                for _ in range(rng.randint(1, 5))
            ]
            parts.append("\n\n".join([f"## {title}", *body]))
        file = folder / f"part{number % 9}" / f"note{number:03}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# Note {number}\n\n" + "\n\n".join(parts) + "\n", encoding="utf-8")
    return folder.name, folder


def varied(tree: Tree, into: Path, seed: int, files: int = 10_000, size: int = 4_500) -> Tree:
    """A tree of so many files of `size` characters on average: sections of another, with words of it in others' places.

    Every sixth word longer than three letters is exchanged for one with a number of its own, one in thirty, or without.
    """
    rng, (name, folder) = random.Random(seed), tree
    sections = [
        part + "\n"
        for file in sorted(folder.rglob("*.md"))
        for part in re.split(r"\n(?=#{1,6} )", file.read_text(encoding="utf-8", errors="replace"))
        if part.strip() and part.count("```") % 2 == 0
    ]
    words = words_of([tree])

    def other(match: re.Match[str]) -> str:
        draw = rng.random()
        if draw > 1 / 6:
            return match[0]
        word = rng.choice(words)
        word = f"{word}{rng.randrange(10 * files)}" if draw < 1 / 180 else word
        return word.capitalize() if match[0][0].isupper() else word

    large = into / f"{name}-large"
    for number in range(files):
        parts: list[str] = []
        length = rng.randint(size // 5, size * 9 // 5)
        while sum(map(len, parts)) < length:
            parts.append(rng.choice(sections))
        file = large / f"part{number % 100:02}" / f"page{number:05}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(re.sub(r"[^\W\d_]{4,}", other, "\n".join(parts)[:length]), encoding="utf-8")
    return large.name, large


def known_items(trees: Sequence[Tree], count: int, seed: int) -> list[KnownItem]:
    """Questions made of headings: lower-cased, one content word dropped where there are more than three.

    A heading that two files share is no known item. As many are drawn from each tree where there are enough.
    """
    rng = random.Random(seed)
    drawn: list[KnownItem] = []
    for left, (name, folder) in zip(range(len(trees), 0, -1), trees, strict=True):
        where: dict[str, set[str]] = {}
        for file in sorted(folder.rglob("*.md")):
            for heading in headings(file.read_text(encoding="utf-8", errors="replace")):
                where.setdefault(heading, set()).add(f"{name}/{file.relative_to(folder).as_posix()}")
        known = [(heading, *paths) for heading, paths in sorted(where.items()) if len(paths) == 1]
        wanted = min(len(known), -(-(count - len(drawn)) // left))
        drawn += [KnownItem(_shortened(heading, rng), path) for heading, path in rng.sample(known, wanted)]
    return drawn[:count]


def headings(text: str) -> list[str]:
    r"""Headings outside fences as plain lower-case words; those without a content word are left out.

    >>> headings("# The `Drop` trait\n```\n# not this\n```\n")
    ['the drop trait']
    """
    found, fenced = [], False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        match = None if fenced else _HEADING.match(line)
        if match:
            words = _WORD.findall(_MARKS.sub(" ", match.group(1)).lower())
            if any(word not in SMALL for word in words):
                found.append(" ".join(words))
    return found


def words_of(trees: Sequence[Tree]) -> list[str]:
    """Every word of the trees, with repetition: drawing from it draws by frequency."""
    return [
        word.lower()
        for _, folder in trees
        for file in sorted(folder.rglob("*.md"))
        for word in re.findall(r"[^\W\d_]{2,24}", file.read_text(encoding="utf-8", errors="replace"))
    ]


def _shortened(heading: str, rng: random.Random) -> str:
    words = heading.split()
    content = [i for i, word in enumerate(words) if word not in SMALL]
    if len(content) > MOST_DROP_FREE:
        del words[rng.choice(content)]
    return " ".join(words)


def unpacked(archive: Path, into: Path) -> None:
    """Write an archive's files below a folder; nothing outside of it is touched.

    `TarFile.extractall` takes its ``filter`` from Python 3.11.4 on alone, and without one it writes wherever an
    archive says. The trees hold plain files, so these are written, whatever their mode and owner were.
    """
    root = into.resolve()
    with tarfile.open(archive) as packed:
        for member in packed:
            target = (root / member.name).resolve()
            if not target.is_relative_to(root) or not (member.isfile() or member.isdir()):
                raise ValueError(
                    f"{archive} holds {member.name!r}, which is no plain file below its own root."
                )
            if member.isdir():
                target.mkdir(parents=True, exist_ok=True)
            elif (content := packed.extractfile(member)) is not None:
                target.parent.mkdir(parents=True, exist_ok=True)
                with content, target.open("wb") as file:
                    shutil.copyfileobj(content, file)


def texts(words: Sequence[str], count: int, seed: int, length: int = 80) -> Iterator[str]:
    """Texts of about `length` words drawn with the frequencies that `words` repeats them with.

    Each also holds a word of its own, as notes do; the vocabulary therefore grows with the store.
    """
    rng = random.Random(seed)
    for number in range(count):
        drawn = rng.choices(words, k=rng.randint(length // 2, length * 3 // 2))
        drawn[rng.randrange(len(drawn))] = f"{rng.choice(words)}{number % 50_000}"
        yield " ".join(drawn)


def questions(words: Sequence[str], count: int, seed: int) -> list[str]:
    """Queries of three to eight words, drawn like the texts."""
    rng = random.Random(seed + 1)
    return [" ".join(rng.choices(words, k=rng.randint(3, 8))) for _ in range(count)]


def turns_stored(folder: Path, count: int, seed: int) -> tuple[Path, list[str]]:
    """Write a store of so many made-up turns, forty a conversation; return it and the words they are drawn from."""
    (folder / "tree").mkdir()
    words = words_of([generate(folder / "tree", seed)])
    store = folder / "memory.db"
    with open_memory(store, [StaticEmbedder()], USER) as memory:
        for part, batch in enumerate(drawn_batches(words, count, seed)):
            turns = enumerate(batch, part * BATCH)
            memory.add_many([NewMemory(text, session=f"s{at // 40}", turn=at % 40) for at, text in turns])
    return store, words


def drawn_batches(words: Sequence[str], count: int, seed: int) -> Iterator[list[str]]:
    drawn = texts(words, count, seed)
    while batch := list(itertools.islice(drawn, BATCH)):
        yield batch


BEGUN = datetime(2024, 1, 1, tzinfo=UTC)
SESSIONS = (4, 40)
"""Turns of a conversation: as few and as many."""
LENGTHS = {"turn": 45, "note": 110, "fact": 14}
"""Words of a text, on average."""
TOPIC = 40
"""Words of a topic."""
TOPICAL = 0.5
"""Share of a text's words that are of its topic."""
SHARED = 25
"""Conversations and batches of notes that a topic has, on average."""
TAGS = ("ops", "people", "design", "travel", "money", "health")


def vocabulary() -> list[str]:
    """Return some 9,000 words, the commonest first: those that the bundled model has a token for."""
    found = importlib.util.find_spec("wordllama")
    if found is None or not found.submodule_search_locations:
        raise FileNotFoundError("The bundled model is not installed: pip install wordllama")
    file = Path(found.submodule_search_locations[0]) / "tokenizers/l2_supercat_tokenizer_config.json"
    tokens = json.loads(file.read_text("utf-8"))["model"]["vocab"]
    return [
        token[1:] for token in sorted(tokens, key=tokens.__getitem__) if re.fullmatch("▁[a-z]{2,}", token)
    ]


class Tongue:
    """What texts are made of."""

    def __init__(self, words: Sequence[str], memories: int) -> None:
        self._words = words
        self._often = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(words))))
        self._topics = max(2, memories // (20 * SHARED))

    def topic(self, rng: random.Random) -> list[str]:
        """Draw a topic: each is the same forty words whoever draws it."""
        number = min(int(rng.paretovariate(0.6)), 1 + rng.randrange(self._topics))
        own = random.Random(number)
        return [own.choice(self._words) for _ in range(TOPIC)]

    def text(self, rng: random.Random, length: int, topic: Sequence[str]) -> list[str]:
        common = rng.choices(self._words, cum_weights=self._often, k=length)
        return [rng.choice(topic) if rng.random() < TOPICAL else word for word in common]


def asked(words: Sequence[str], count: int, seed: int, memories: int) -> list[str]:
    """Questions of three to eight words about the topics of a store of so many memories."""
    rng, tongue = random.Random(seed), Tongue(words, memories)
    return [" ".join(tongue.text(rng, rng.randint(3, 8), tongue.topic(rng))) for _ in range(count)]


def arrivals(
    words: Sequence[str], memories: int, seed: int, *, tenants: int = 1, exponent: float = 1.0
) -> Iterator[tuple[int, list[NewMemory]]]:
    """Yield what arrives together, and for which tenant (from 0), until so many memories have."""
    rng, tongue = random.Random(seed), Tongue(words, memories)
    shares = list(itertools.accumulate((rank + 1) ** -exponent for rank in range(tenants)))
    minutes = 2 * 365 * 24 * 60 / max(memories, 1)
    stored = number = 0
    while stored < memories:
        (tenant,) = rng.choices(range(tenants), cum_weights=shares)
        at = BEGUN + timedelta(minutes=stored * minutes)
        batch = _conversation(tongue, rng, number, at) if rng.random() < 0.85 else _notes(tongue, rng, at)
        yield tenant, batch[: memories - stored]
        stored, number = stored + len(batch), number + 1


def batches(
    arriving: Iterator[tuple[int, list[NewMemory]]], size: int
) -> Iterator[dict[int, list[NewMemory]]]:
    """Yield what arrived, so many memories at a time, by tenant: one transaction for each."""
    found: dict[int, list[NewMemory]] = {}
    held = 0
    for tenant, batch in arriving:
        found.setdefault(tenant, []).extend(batch)
        held += len(batch)
        if held >= size:
            yield found
            found, held = {}, 0
    if found:
        yield found


def _text(tongue: Tongue, rng: random.Random, kind: str, topic: Sequence[str]) -> str:
    length = LENGTHS[kind]
    drawn = tongue.text(rng, max(4, min(4 * length, int(rng.lognormvariate(0, 0.6) * length))), topic)
    drawn[rng.randrange(len(drawn))] = f"{rng.choice(topic)}{rng.randrange(50_000)}"
    return " ".join(drawn).capitalize() + "."


def _conversation(tongue: Tongue, rng: random.Random, number: int, at: datetime) -> list[NewMemory]:
    project = f"project{rng.randrange(12)}" if rng.random() < 0.6 else None
    topic = tongue.topic(rng)
    return [
        NewMemory(
            _text(tongue, rng, "turn", topic),
            session=f"s{number}",
            turn=turn,
            role="user" if turn % 2 == 0 else "assistant",
            project=project,
            date=at + timedelta(minutes=turn),
        )
        for turn in range(rng.randint(*SESSIONS))
    ]


def _notes(tongue: Tongue, rng: random.Random, at: datetime) -> list[NewMemory]:
    topic = tongue.topic(rng)
    return [
        NewMemory(
            _text(tongue, rng, kind, topic),
            tier="observation" if kind == "note" else "semantic",
            title=" ".join(tongue.text(rng, 4, topic)).capitalize() if kind == "note" else "",
            tags=rng.sample(TAGS, k=rng.randrange(3)),
            date=at,
            confidence=1.0 if kind == "note" else round(rng.uniform(0.5, 1.0), 2),
        )
        for kind in rng.choices(("note", "fact"), (2, 1), k=rng.randint(2, 30))
    ]
