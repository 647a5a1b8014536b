"""Texts made from the labelled templates, with the places of their secrets.

Standard library only, and nothing of scrubjay: the labels must not depend on what the scrubber takes for a secret.
The files hold no secret: what is random in one is made here, from the item's id.
"""

from __future__ import annotations

import json
import random
import re
import string
import uuid
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

SEED = 20261122
READ = ("dev", "test", "dev2", "test2", "test3", "test4", "dev5", "test5", "dev6")
"""The sets from which rules were written."""
SETS = (*READ, "dev7", "dev8", "dev9")
"""The sets that the tagger is trained on."""
ALPHABETS = {
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "dig": string.digits,
    "low": string.ascii_lowercase,
    "b32": string.ascii_uppercase + "234567",
    "b36": string.ascii_lowercase + string.digits,
    "B36": string.ascii_uppercase + string.digits,
    "b62": string.ascii_letters + string.digits,
    "b64": string.ascii_letters + string.digits + "+/",
    "b64u": string.ascii_letters + string.digits + "-_",
}
MARKS = re.compile("[⟦⟧⟪⟫]")
MADE = re.compile(r"«(\w+?)(?::(\d+))?»")


class Item(NamedTuple):
    """A text; where secrets stand in it, and where something that may go or stay."""

    id: str
    about: str
    text: str
    secrets: tuple[tuple[int, int], ...]
    optional: tuple[tuple[int, int], ...]


def sets() -> list[str]:
    return sorted(
        path.stem.removeprefix("secrets_") for path in Path(__file__).parent.glob("secrets_*.jsonl")
    )


def items(half: str) -> Iterator[Item]:
    """The items of a set, always the same."""
    for row in templates(half):
        yield made_anew(row, random.Random(f"{SEED}:{row['id']}"))


def exchanges(name: str) -> Iterator[list[Item]]:
    for row in _rows(f"exchanges_{name}"):
        names = [f"{row['id']}/{place}" for place in range(len(row["turns"]))]
        yield [
            made_anew({"id": one, "about": row["about"], "text": turn[3:]}, random.Random(f"{SEED}:{one}"))
            for one, turn in zip(names, row["turns"], strict=True)
        ]


def templates(half: str) -> list[dict[str, str]]:
    """The items of a set as they were written: ``id``, ``about``, ``text``, with marks and what is random unmade."""
    return _rows(f"secrets_{half}")


def _rows(name: str) -> list[dict[str, Any]]:
    lines = (Path(__file__).parent / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def made_anew(row: dict[str, str], chance: random.Random) -> Item:
    """An item whose random parts are drawn by ``chance``."""
    marked = MADE.sub(lambda found: _made(chance, found[1], found[2]), row["text"])
    return _unmarked(row["id"], row["about"], marked)


def _made(chance: random.Random, kind: str, size: str | None) -> str:
    if kind == "uuid":
        return str(uuid.UUID(int=chance.getrandbits(128), version=4))
    if kind == "crc":
        return _with_check_digits("".join(chance.choices(ALPHABETS["b62"], k=int(size or 0))))
    return "".join(chance.choices(ALPHABETS[kind], k=int(size or 0)))


def _with_check_digits(body: str) -> str:
    """The body of a token of GitHub or npm with its six check digits: CRC-32 in base 62."""
    digits, rest = "", zlib.crc32(body.encode())
    for _ in range(6):
        rest, at = divmod(rest, 62)
        digits = (string.digits + string.ascii_uppercase + string.ascii_lowercase)[at] + digits
    return body + digits


def _unmarked(id: str, about: str, marked: str) -> Item:
    text, begun, spans = "", 0, {"⟧": [], "⟫": []}
    for piece in re.split("([⟦⟧⟪⟫])", marked):
        if not MARKS.fullmatch(piece):
            text += piece
        elif piece in "⟦⟪":
            begun = len(text)
        else:
            spans[piece].append((begun, len(text)))
    return Item(id, about, text, tuple(spans["⟧"]), tuple(spans["⟫"]))
