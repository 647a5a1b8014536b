"""Likeness: words that say the same, words that say the opposite, and words that exclude each other.

The tables stand in ``data/``, to be read and amended. A line of ``meanings.txt`` holds words of one meaning, and
behind a bar those of the opposite one; a word is read as the first of its line, and one from behind the bar turns
the statement round, as "not" would. So "forbidden", "not allowed" and "banned" are one thing to say, and "allowed"
is its denial. ``phrases.txt`` makes one word of several that do the work of one.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from scrubjay.ingest.change.tables import lines

Openings = dict[str, list[tuple[tuple[str, ...], str]]]


@cache
def meanings() -> dict[str, tuple[str, bool]]:
    """Return a word -> the word it is read as, and whether it says the opposite of that."""
    table: dict[str, tuple[str, bool]] = {}
    for line in lines("meanings.txt"):
        same, _, opposite = line.partition("|")
        first = same.split()[0]
        for word in same.split():
            table.setdefault(word, (first, False))
        for word in opposite.split():
            table.setdefault(word, (first, True))
    return table


@cache
def openings() -> Openings:
    """Return the first word of a phrase -> what may follow it, longest first, and the word it makes."""
    table: Openings = {}
    for line in lines("phrases.txt"):
        phrase, _, word = line.partition(" = ")
        first, *rest = phrase.split()
        table.setdefault(first, []).append((tuple(rest), word))
    return {first: sorted(rest, key=lambda one: -len(one[0])) for first, rest in table.items()}


_SETTINGS: Final = (
    ("stage", "production prod", "staging stage preprod", "development dev", "test testing", "qa", "canary"),
    ("stage", "preview", "sandbox", "local localhost"),
    ("system", "linux ubuntu debian fedora", "macos mac osx", "windows", "android", "ios", "freebsd"),
    (
        "side",
        "left",
        "right",
        "front",
        "back rear",
        "upper",
        "lower",
        "upstairs",
        "downstairs",
        "inner",
        "outer",
    ),
    ("side", "top", "bottom", "north northern", "south southern", "east eastern", "west western"),
    ("daypart", "morning mornings", "afternoon afternoons", "evening evenings", "night nights"),
    ("daypart", "weekday weekdays", "weekend weekends"),
    ("season", "summer summers", "winter winters", "spring", "autumn"),
    ("end", "frontend front-end", "backend back-end"),
    ("way", "read reads", "write writes", "input", "output", "incoming inbound", "outgoing outbound"),
    ("way", "minimum min", "maximum max"),
)
SETTINGS: Final = {
    word: (kind, said.split()[0]) for kind, *names in _SETTINGS for said in names for word in said.split()
}
"""Word -> the kind of circumstance and its name in one spelling: the same thing elsewhere is another thing."""

_KINDS: Final = (
    "red blue green yellow orang purpl pink brown black white grey beig turquois teal navi silver gold",
    "small medium larg xl",
    "walk drive cycl bike bus tram train metro subway car ferri scooter",
    "daili weekli month year hour night quarter fortnight morn even weekday weekend",
    "alway usual often sometim",
    "vegetarian vegan pescatarian omnivor",
    "singl engag marri divorc widow",
    "beginn intermedi advanc expert",
    "pend draft approv accept merg close open ship paid",
)
KINDS: Final = {word: at for at, words in enumerate(_KINDS) for word in words.split()}
"""Stems of words that exclude each other: what is red is not blue."""
