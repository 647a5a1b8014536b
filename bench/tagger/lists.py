"""Ordinary lists: made-up tables and records of people, goods, journeys, machines and measurements, with no secret.

Labelled texts are written by people who think of secrets; what nobody who thinks of secrets
thinks of, a list of telephone numbers, is shown by these: so that the tagger takes none of it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from bench.tagger.list_columns import COLUMNS, HOSTS, ITEMS, PEOPLE


def ordinary(count: int, chance: random.Random) -> Iterator[str]:
    """So many lists."""
    for _ in range(count):
        columns = chance.sample(COLUMNS, chance.randrange(2, 7))
        if chance.random() < 0.6:
            columns[0] = chance.choice((PEOPLE, ITEMS, HOSTS))
        names = [chance.choice(names.split("|")) for names, _ in columns]
        made = [[make(chance) for _, make in columns] for _ in range(chance.randrange(2, 16))]
        yield chance.choice(LAYOUTS)(names, made)


def _markdown(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in (names, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(names), *lines[1:]])


def _parted(sign: str) -> Callable[[Sequence[str], Sequence[Sequence[str]]], str]:
    return lambda names, rows: "\n".join(
        sign.join(one.replace(sign, "") for one in row) for row in (names, *rows)
    )


def _aligned(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) + 2 for column in zip(names, *rows, strict=True)]
    lines = [
        "".join(one.ljust(width) for one, width in zip(row, widths, strict=True)) for row in (names, *rows)
    ]
    return "\n".join(line.rstrip() for line in lines)


def _records(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n\n".join(
        "\n".join(f"{name}: {one}" for name, one in zip(names, row, strict=True)) for row in rows
    )


def _listed(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join([f"## {names[0]}", *(f"- {', '.join(filter(None, row))}" for row in rows)])


def _lines(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join("  ".join(filter(None, row)) for row in rows)


def _json(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) for row in rows)


def _spoken(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return " ".join(
        f"{row[0]}: {', '.join(f'{name} {one}' for name, one in zip(names[1:], row[1:], strict=True))}."
        for row in rows[:5]
    )


LAYOUTS: Final = (
    _markdown, _markdown, _parted(","), _parted(";"), _parted("\t"), _aligned, _aligned, _records, _listed, _lines,
    _json, _spoken,
)  # fmt: skip
