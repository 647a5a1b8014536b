"""Ordinary lists: made-up tables and records of people, goods, journeys, machines and measurements, with no secret.

They show the tagger what people who think of secrets do not write, such as lists of telephone numbers.
"""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

Make = Callable[[random.Random], str]


def ordinary(count: int, chance: random.Random) -> Iterator[str]:
    """So many lists."""
    for _ in range(count):
        columns = chance.sample(COLUMNS, chance.randrange(2, 7))
        if chance.random() < 0.6:
            columns[0] = chance.choice(COLUMNS[:3])  # people, goods, machines
        names = [chance.choice(headings) for headings, _ in columns]
        rows = [[make(chance) for _, make in columns] for _ in range(chance.randrange(2, 16))]
        yield chance.choice(LAYOUTS)(names, rows)


def _filled(form: str, chance: random.Random) -> str:
    marks = {"#": string.digits, "@": string.ascii_uppercase}
    return "".join(chance.choice(marks[sign]) if sign in marks else sign for sign in form)


def _hex(chance: random.Random, size: int) -> str:
    return "".join(chance.choices("0123456789abcdef", k=size))


def _name(chance: random.Random) -> str:
    first, last = chance.choice(WORDS["given"]), chance.choice(WORDS["family"])
    return chance.choice((f"{first} {last}", f"{last}, {first}", first, last, f"{first[0]}. {last}"))


def _mail(chance: random.Random) -> str:
    first, last = chance.choice(WORDS["given"]).lower(), chance.choice(WORDS["family"]).lower()
    numbered = f"{first}{chance.randrange(99)}", f"x{chance.randrange(999)}"
    name = chance.choice((f"{first}.{last}", f"{first[0]}{last}", *numbered))
    return f"{name}@{chance.choice(('corp', 'mail', 'verein', 'school', 'studio'))}.example"


def _date(chance: random.Random) -> str:
    year, month, day = chance.randrange(1950, 2030), chance.randrange(1, 13), chance.randrange(1, 29)
    numeric = f"{month}/{day}/{year % 100:02}", f"{day}/{month:02}/{year}", f"{year}"
    return chance.choice(
        (f"{year}-{month:02}-{day:02}", f"{day:02}.{month:02}.{year}", f"{day}.{month}.", *numeric)
    )


def _time(chance: random.Random) -> str:
    hour, minute = chance.randrange(24), chance.choice((0, 15, 30, 45, chance.randrange(60)))
    exact = f"{hour:02}:{minute:02}", f"{hour}:{minute:02}"
    start = chance.choice((*exact, f"{hour % 12 + 1}am", f"{hour}h{minute:02}", f"{hour} Uhr"))
    return start if chance.random() < 0.6 else f"{start}–{(hour + 8) % 24:02}:00"


def _amount(chance: random.Random) -> str:
    value = chance.uniform(0, 10 ** chance.randrange(1, 6))
    text = chance.choice((f"{value:.0f}", f"{value:.2f}", f"{value:.1f}", f"{value:.2f}".replace(".", ",")))
    return text if chance.random() < 0.5 else f"{text} {chance.choice(WORDS['units'])}"


def _machine(chance: random.Random) -> str:
    kind = chance.choice(("srv", "web", "nas", "pi", "rk1-n", "printer-", "ap-", "db", "laptop-"))
    return f"{kind}{chance.randrange(60):02}"


def _address(chance: random.Random) -> str:
    return ".".join(str(chance.randrange(1, 255)) for _ in range(4))


def _mac(chance: random.Random) -> str:
    return ":".join(_hex(chance, 2) for _ in range(6))


def _street(chance: random.Random) -> str:
    return f"{chance.choice(WORDS['streets'])} {chance.randrange(1, 180)}{chance.choice(('', '', 'a', 'b'))}"


def _version(chance: random.Random) -> str:
    return ".".join(str(chance.randrange(30)) for _ in range(chance.randrange(2, 4)))


def _hash(chance: random.Random) -> str:
    return _hex(chance, chance.choice((7, 8, 12, 16, 40)))


def _id(chance: random.Random) -> str:
    uuid = "-".join(_hex(chance, size) for size in (8, 4, 4, 4, 12))
    return chance.choice((uuid, _filled("#########", chance)))


def _issue(chance: random.Random) -> str:
    return f"{chance.choice(('JIRA', 'OPS', 'WEB', 'HR', 'gh'))}-{chance.randrange(9000)}"


def _login(chance: random.Random) -> str:
    last = chance.choice((chance.choice(WORDS["family"]).lower(), str(chance.randrange(99))))
    return f"{chance.choice(WORDS['given']).lower()}{chance.choice(('', '.', '_', '-'))}{last}"


def _page(chance: random.Random) -> str:
    site, part = chance.choice(("docs", "shop", "wiki", "club")), chance.choice(("p", "item", "page"))
    return f"https://{site}.example/{part}/{chance.randrange(9000)}"


CELLS: Final[dict[str, Make]] = {
    "name": _name, "mail": _mail, "date": _date, "time": _time, "amount": _amount, "machine": _machine,
    "address": _address, "mac": _mac, "street": _street, "version": _version, "hash": _hash, "id": _id,
    "issue": _issue, "login": _login, "page": _page,
}  # fmt: skip


def _cells(kind: str) -> Make:
    if kind.startswith("1.."):
        return lambda chance: str(chance.randrange(1, int(kind[3:])))
    return CELLS.get(kind) or (lambda chance: _filled(chance.choice(WORDS[kind]), chance))


_LINES = Path(__file__).with_name("list_columns.txt").read_text("utf-8").splitlines()[2:]
WORDS: Final = {
    name: text.split("|") for name, equals, text in (line.partition(" = ") for line in _LINES) if equals
}
COLUMNS: Final = [
    (headings.split("|"), _cells(kind))
    for kind, colon, headings in (line.partition(": ") for line in _LINES[len(WORDS) :])
]


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
