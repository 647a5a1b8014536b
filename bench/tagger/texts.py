"""Training texts of the tagger, labelled and without secrets, as tokens with features and labels."""

from __future__ import annotations

import gzip
import json
import random
import re
import string
import sysconfig
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.tagger.items import Item
from scrubjay.redaction import classifier, redactor
from scrubjay.redaction.classifier import (
    BUCKETS,
    FORM_FEATURES,
    MAX_TOKENS,
    Reading,
    RuleFindings,
    TokenSpans,
    token_buckets,
    token_form,
    token_positions,
)
from scrubjay.redaction.patterns import find_by_rules
from scrubjay.redaction.values import SecretSpan

HIDDEN = 0.25
"""Share of what rules find that is hidden, of texts from which rules were written."""
PIECE = 900
WHOLE, LINE, NAME = 0.6, 0.75, 0.9
"""Chances that a piece is left as it is, up to where it is a line of it, or a name of its words; else some words."""
WORD = re.compile(r"[^\W\d_]{2,}")
GONE = 0.6
"""Share of a text's secrets that are gone where some are."""
SECRET = re.compile("⟦(.*?)⟧", re.DOTALL)


class Text(NamedTuple):
    """A text as the network sees it: a row a token; in half the digits, for several hundred thousand are kept."""

    buckets: np.ndarray
    form: np.ndarray
    marks: np.ndarray
    secret: np.ndarray
    counts: np.ndarray


_KNOWN: dict[str, tuple[np.ndarray, list[float]]] = {}


def seen(token: str) -> tuple[np.ndarray, list[float]]:
    """The buckets of a token, filled up, and its form."""
    if token not in _KNOWN:
        own = token_buckets(token)[:MAX_TOKENS]
        _KNOWN[token] = (np.array(own + [BUCKETS] * (MAX_TOKENS - len(own)), np.int32), token_form(token))
    return _KNOWN[token]


def encoded(item: Item, chance: random.Random | None = None) -> Text:
    """A labelled text; with ``chance`` part of what rules found is hidden."""
    text = item.text
    placed = TokenSpans.of(text)
    size = len(placed.tokens)
    secret, counts = np.zeros(size, np.float32), np.ones(size, np.float32)
    for value, where in ((0.0, item.optional), (1.0, item.secrets)):
        for start, end in where:
            rows = placed.touched(start, end)
            secret[rows] = counts[rows] = value
    known = ruled(text)
    if chance:
        known = [span for span in known if chance.random() >= HIDDEN * (0.4 if span.certain else 1)]
    rules = RuleFindings.of(Reading.of(text)._replace(ruled=known)).marks(placed)
    marks = np.concatenate([token_positions(placed), rules], axis=1)
    looks = [seen(token) for token in placed.tokens]
    return Text(
        np.array([own for own, _ in looks], np.int16).reshape(size, MAX_TOKENS),
        np.array([made for _, made in looks], np.float16).reshape(size, FORM_FEATURES),
        marks.astype(np.float16),
        secret,
        counts,
    )


def pools(rows: Sequence[dict[str, str]]) -> dict[str, list[str]]:
    """The passwords of all texts that their writers made up, by sort."""
    out: dict[str, list[str]] = {}
    for row in rows:
        for value in SECRET.findall(row["text"]):
            if sort := _sort(value):
                out.setdefault(sort, []).append(value)
    return out


def _sort(value: str) -> str:
    if "«" in value or "\n" in value or len(value) > 48:
        return ""
    if value.isdigit():
        return f"digits {len(value)}"
    if " " in value:
        return f"words {min(value.count(' '), 4)}"
    return "word" if value.isalpha() else "mixed"


def varied(row: dict[str, str], chance: random.Random, others: dict[str, list[str]]) -> dict[str, str]:
    """A text with other passwords in place of every second one."""
    text = row["text"]
    for value in sorted(set(SECRET.findall(text))):
        sort = _sort(value)
        if sort and chance.random() < 0.5:
            other = chance.choice(others[sort]) if chance.random() < 0.5 else value
            other = _mutated(other, chance) if not value.isdigit() else _digits(value, chance)
            text = text.replace(value, other) if len(value) >= 4 else text.replace(f"⟦{value}⟧", f"⟦{other}⟧")
    return row | {"text": text}


def amid(row: dict[str, str], chance: random.Random, others: Sequence[str]) -> dict[str, str]:
    """A text amid lines or sentences of another one, as it would stand in a long note."""
    before, after = (_part(chance.choice(others), chance) for _ in range(2))
    apart = "\n" if "\n" in row["text"] or chance.random() < 0.6 else " "
    pieces = [piece for piece in (before, row["text"], after) if piece]
    return row | {"text": apart.join(pieces)}


def _part(text: str, chance: random.Random) -> str:
    """Some of a text, from 40 to 400 characters, or nothing; without what would be read as a mark."""
    if chance.random() < 0.25:
        return ""
    at, size = chance.randrange(max(1, len(text) - 100)), chance.randrange(40, 400)
    return re.sub("[⟦⟧⟪⟫«»]", "", text[at : at + size]).strip()


def scrubbed(item: Item, chance: random.Random) -> Item:
    """A text in which some of the secrets are gone already: what stands beside a mark is not thereby one."""
    text, end = "", 0
    moved: dict[tuple[int, int], tuple[int, int]] = {}
    for start, stop in sorted({*item.secrets, *item.optional}):
        text += item.text[end:start]
        value, end = item.text[start:stop], stop
        if (start, stop) in item.secrets and chance.random() < GONE:
            text += f"[secret:{'pin' if value.isdigit() else 'token' if len(value) >= 20 else 'password'}]"
        else:
            moved[start, stop] = (len(text), len(text) + len(value))
            text += value
    secrets, optional = (
        tuple(moved[place] for place in some if place in moved) for some in (item.secrets, item.optional)
    )
    return Item(item.id, item.about, text + item.text[end:], secrets, optional)


def table_rows(item: Item) -> Iterator[Item]:
    for table in redactor.find_tables(item.text):

        def places(
            spans: Sequence[tuple[int, int]], table: redactor.RowText = table
        ) -> tuple[tuple[int, int], ...]:
            cells = list(zip(table.offsets, table.starts, table.ends, strict=True))
            return tuple(
                (at + max(start, first) - first, at + min(end, last) - first)
                for start, end in spans
                for at, first, last in cells
                if start < last and first < end
            )

        yield Item(item.id, item.about, table.text, places(item.secrets), places(item.optional))


def _digits(value: str, chance: random.Random) -> str:
    return "".join(chance.choice(string.digits) for _ in value)


def _mutated(value: str, chance: random.Random) -> str:
    out = "".join(
        chance.choice(string.digits) if one.isdigit() and chance.random() < 0.8 else one for one in value
    )
    if chance.random() < 0.15:
        out = out.replace("-", chance.choice("._-!#@")).replace("_", chance.choice("._-"))
    if chance.random() < 0.1 and " " not in out:
        out += chance.choice(["!", "!!", "#", "?", "*", "$", "%", ".", "9", "77"])
    if chance.random() < 0.1:
        out = out.swapcase() if chance.random() < 0.3 else out.lower()
    return out


def documents(folders: Sequence[Path]) -> Iterator[str]:
    """Every second of the pages and texts in some folders, each once."""
    seen = set()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if (
                path.suffix in (".md", ".rst", ".txt", ".html")
                and path.is_file()
                and path.stat().st_size < 300_000
            ):
                text = path.read_text("utf-8", "replace")
                number = zlib.crc32(text.encode("utf-8", "surrogatepass"))
                if number % 2 == 0 and number not in seen:
                    seen.add(number)
                    yield text


def pieces(data: Path, folders: Sequence[Path], chance: random.Random, share: float) -> Iterator[str]:
    """Pieces of texts without secrets in which rules find nothing: a share of notes and talks, of code, of pages."""
    for source, own in ((texts(data), share), (library(), 1.5 * share), (documents(folders), 3 * share)):
        for text in source:
            for at in range(0, len(text), PIECE):
                if chance.random() < own:
                    piece = shorter(text[at : at + PIECE], chance)
                    if piece and not ruled(piece):
                        yield piece


def tables(count: int, words: Sequence[str], chance: random.Random) -> Iterator[str]:
    """Tables of numbers and names, as people and programs write them down: matrices, colours, measurements, scores."""
    for _ in range(count):
        apart = chance.choice((" ", " ", "\t", "\t\t", ",", ", ", ";", " | ", "  "))
        most = chance.choice((2, 10, 100, 256, 1000, 10_000, 1_000_000))
        sorts = [chance.choice("nnnnndw") for _ in range(chance.randrange(2, 9))]
        named = chance.random() < 0.4

        def cell(sort: str, most: int = most) -> str:
            if sort == "w":
                return "".join(chance.choices(words, k=chance.randrange(1, 3))) + chance.choice(
                    ("", "1", "2", "3", "4")
                )
            value = chance.uniform(0, most)
            return f"{value:.{chance.randrange(1, 4)}f}" if sort == "d" else str(int(value))

        lines = [apart.join(map(cell, sorts)) for _ in range(chance.randrange(3, 40))]
        head = [apart.join(chance.choices(words, k=len(sorts)))] if named else []
        made = "\n".join([*head, *lines])[:PIECE]
        if not ruled(made):
            yield made


def shorter(piece: str, chance: random.Random) -> str:
    """A piece as it is, or a line, a name or some key words of it: what is short has nothing around it that says no."""
    sort = chance.random()
    if sort < WHOLE:
        return piece
    if sort < LINE:
        return chance.choice(piece.split("\n")).strip()
    words = WORD.findall(piece)
    if not words:
        return ""
    return _name(words, chance) if sort < NAME else " ".join(chance.choices(words, k=chance.randrange(4, 14)))


def _name(words: Sequence[str], chance: random.Random) -> str:
    """One to three words in a row, joined somehow, often with a number behind."""
    at = chance.randrange(len(words))
    name = chance.choice(("", " ", "-")).join(words[at : at + chance.randrange(1, 4)])
    return f"{name}{chance.choice(('', ' '))}{chance.randrange(200)}" if chance.random() < 0.4 else name


def ruled(text: str) -> list[SecretSpan]:
    data = text.encode("latin-1", "replace")
    return find_by_rules(text, data, data.lower())


def with_tables(those: Iterable[str]) -> Iterator[str]:
    """Pieces, and each one's tables told row by row."""
    for piece in those:
        yield piece
        yield from (table.text for table in redactor.find_tables(piece) if not ruled(table.text))


def mistaken(those: Iterable[str]) -> Iterator[str]:
    """Those of some pieces without secrets in which the tagger that there is takes something all the same."""
    for piece in those:
        if any(classifier.find_by_classifier([Reading.of(piece)._replace(ruled=())])):
            yield piece


def texts(folder: Path) -> Iterator[str]:
    """The texts of retrieval sets and of archives of Markdown, each once."""
    seen = set()
    for path in sorted(folder.rglob("*.gz")):
        for text in _archived(path) if path.name.endswith(".tar.gz") else _rows(path):
            if text not in seen:
                seen.add(text)
                yield text


def _archived(path: Path) -> Iterator[str]:
    with tarfile.open(path) as archive:
        for member in archive:
            held = (
                archive.extractfile(member) if member.name.endswith((".md", ".mdx", ".txt", ".rs")) else None
            )
            if held:
                yield held.read().decode("utf-8", "replace")


def _rows(path: Path) -> Iterator[str]:
    if path.name == "corpus.jsonl.gz":
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)["text"]


def library() -> Iterator[str]:
    """The sources of Python's own library, without its tests."""
    root = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(root.rglob("*.py")):
        if not {"site-packages", "test", "tests", "idlelib"} & set(path.relative_to(root).parts):
            yield path.read_text("utf-8", "replace")
