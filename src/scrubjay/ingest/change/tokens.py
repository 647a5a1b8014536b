"""Tokens: str -> tuple[Token, ...]. Words, numbers and marks; contractions undone, phrases made one word."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from scrubjay.ingest.change.likeness import openings
from scrubjay.ingest.change.piece import Token
from scrubjay.text.folding import typographic

MOST: Final = 300
"""Tokens read of a text; a statement has about ten. What lies beyond is compared as written."""
REMEMBERED: Final = 2_000
"""Texts whose tokens are kept: an old statement meets many new ones."""

_TOKEN: Final = re.compile(
    r"(?P<plain>[^\W\d_]+(?![\w'\-&+#]|\.\w))"  # most of them, looked for first
    r"|(?P<date>\d{1,2}/\d{4}(?![\w/])|\d{4}[-/]\d{1,2}(?:[-/]\d{1,2})?(?![\w/-])|\d{1,2}(?:/\d{1,2}/|\.\d{1,2}\.)(?:\d{4}|\d{2})(?!\w|[./]\d))"
    r"|(?P<clock>\d{1,2}(?::\d{2}(?:\s?[ap]\.?m\b\.?)?|h\d{2}|\s?[ap]\.?m\b\.?|(?:[:.]\d{2})?\s?uhr\b)(?!\w))"
    r"|(?P<digits>(?:(?<![\w.)])[-−](?=\d))?(?:[$€£]\s?)?(?<![^\W\d_])\d+(?:[.,']\d+)*(?!\w*-\d)(?:-?[^\W\d_]+(?!\w)|\s?[%°]c?|[$€£])?(?!\w))"
    r"|(?P<word>\w+(?:['.\-_&]\w+)*(?:\+\+|\#)?)"
    r"|(?P<mark>[:=,;()/]|[!?.](?=\s|$)|->|→)"
    r"|(?P<sign>[^\w\s.!?'\"\[\]{}`*_|~#\\-])",  # an emoji, ≥, +: it may be all that differs
    re.IGNORECASE,
)
_BARE: Final = {
    "dont": "do", "cant": "can", "isnt": "is", "doesnt": "does", "wont": "will", "didnt": "did", "arent": "are",
    "wasnt": "was", "couldnt": "could", "shouldnt": "should", "havent": "have", "hasnt": "has", "cannot": "can",
    "can't": "can", "won't": "will", "shan't": "shall", "ain't": "is",
}  # fmt: skip
_ENDINGS: Final = (
    ("'s", "'s"),
    ("'m", "am"),
    ("'re", "are"),
    ("'ve", "have"),
    ("'ll", "will"),
    ("'d", "would"),
)


@lru_cache(REMEMBERED)
def tokens(text: str, tongue: str) -> tuple[tuple[Token, ...], str]:
    """Return the tokens of a statement in its language, and what lies beyond the ``MOST``-th.

    >>> [token[1] for token in tokens("We don't ship 30-second ads.", "en")[0]]
    ['we', 'do', 'not', 'ship', '30-second', 'ads', '.']
    """
    plainly = typographic(text)
    if not plainly.isascii():
        plainly = unicodedata.normalize(
            "NFC", plainly.encode("utf-8", "replace").decode()
        )  # no lone surrogates
    found: list[Token] = []
    for match in _TOKEN.finditer(plainly):
        if len(found) >= MOST:
            return tuple(found), " ".join(plainly[match.start() :].lower().split()).rstrip(" .!?")
        kind = match.lastgroup or ""
        raw = match.group()
        low = raw.lower()
        if kind == "plain" and low not in _BARE:
            found.append(("word", low, raw))
        elif kind in ("plain", "word"):
            found += _english(raw, low) if tongue == "en" else _elided(raw)
        else:
            found.append((kind, low, raw))
    return tuple(_phrased(found) if tongue == "en" else found), ""


def _english(raw: str, low: str) -> list[Token]:
    if low in _BARE or low.endswith("n't"):
        return [("word", _BARE.get(low) or low[:-3], ""), ("word", "not", "")]
    for ending, whole in _ENDINGS if "'" in low else ():
        if low.endswith(ending):
            return [("word", low[: -len(ending)], raw[: -len(ending)]), ("word", whole, "")]
    if "-" not in low or low in ("used-to", "no-longer"):
        return [("word", low, raw)]
    return [("word", part.lower(), part) for part in raw.split("-") if part]


def _elided(raw: str) -> list[Token]:
    """Return a word of a tongue that elides ("l'école", "n'est") in its parts."""
    return [("word", part.lower(), part) for part in raw.split("'") if part]


def _phrased(found: list[Token]) -> list[Token]:
    table = openings()
    if table.keys().isdisjoint([token[1] for token in found]):
        return found
    out: list[Token] = []
    at = 0
    while at < len(found):
        kind, low, raw = found[at]
        for rest, made in table.get(low, ()):
            if tuple(token[1] for token in found[at + 1 : at + 1 + len(rest)]) == rest:
                out.append(("word", made, raw))
                at += len(rest)
                break
        else:
            out.append((kind, low, raw))
        at += 1
    return out
