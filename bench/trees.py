"""Trees: Markdown folders to sync, and questions whose file is known."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from unpacked import unpacked

_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$")
_FENCE = re.compile(r"^\s{0,3}(```|~~~)")
_MARKS = re.compile(r"[`*_\[\]]|\(\S*?\)|\{#.*?\}|<.*?>")
_WORD = re.compile(r"[\w'’+./-]*\w")
SMALL = frozenset(
    re.split(
        r"\s+",
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

    Raises:
        FileNotFoundError: There is nothing at `source`, or no Markdown in it.
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


def known_items(trees: Sequence[Tree], count: int, seed: int) -> list[KnownItem]:
    """Questions made of headings: lower-cased, one content word dropped where there are more than three.

    A heading that two files share is no known item. As many are drawn from each tree where there are enough.

    Returns:
        At most `count`, with paths ``tree/path``.
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
