"""Forms: a token -> what it looks like: words, joined words, digits, something drawn by lot; each a name of a sign."""

from __future__ import annotations

import re
from typing import Final

from scrubjay.ingest.scrub_behind import FOURS
from scrubjay.ingest.scrub_values import entropy, talk
from scrubjay.ingest.scrub_words import binds, said

LEAST_GLUED: Final = 14
"""Small letters from which on a word is mostly several without their spaces."""
UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_HEX: Final = re.compile(r"(?:0x)?[0-9a-f]{16,}", re.IGNORECASE)
DOTTED: Final = re.compile(r"[\w-]+(?:(?:\.|::)[\w-]+)+\Z")
_WORDLIKE: Final = re.compile(r"[^\W\d_]+\Z")
SNAKE: Final = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+\Z")
_CAMEL: Final = re.compile(r"[A-Za-z]?[a-z]+(?:[A-Z][a-z]+)+\d?\Z")
KEBAB: Final = re.compile(r"[a-z]+(?:-[a-z]+)+\Z")
_TITLED: Final = re.compile(r"[^\W\d_]+(?:[-_.!&$+#][^\W\d_]+)+\d*!?\Z")
_WORD_NUMBER: Final = re.compile(r"[^\W\d_]{4,}[-_.!#]?\d{1,4}!?\Z")
GROUPED: Final = re.compile(r"([A-Za-z0-9]{4,8})(?:[ -]([A-Za-z0-9]{4,8}))+\Z")
PHRASE: Final = re.compile(r"[^\W\d_][\w'’&!-]*(?: [^\W\d_][\w'’&!-]*)+\Z")
_SPECIAL: Final = re.compile(r"[!#$%^&*+@~]")
_LETTERS: Final = re.compile(r"[A-Za-z]")
_VOWELS: Final = re.compile(r"[aeiouyAEIOUY]")
_RUNS: Final = re.compile(r"[a-z]+|[A-Z]+|\d+")
_SIZES: Final = (8, 12, 20, 32)
PARTS: Final = re.compile(r"[-_.]")
_SHAPES: Final = (
    ("fours", re.compile(FOURS.pattern + r"\Z")),
    ("number", re.compile(r"[0-9]+\Z")),
    ("uuid", re.compile(UUID.pattern + r"\Z", re.IGNORECASE)),
    ("hex", re.compile(_HEX.pattern + r"\Z", re.IGNORECASE)),
    ("dotted", DOTTED),
    ("word", _WORDLIKE),
    ("snake", SNAKE),
    ("kebab", KEBAB),
    ("camel", _CAMEL),
    ("word number", _WORD_NUMBER),
    ("joined", _TITLED),
    ("groups", GROUPED),
    ("phrase", PHRASE),
)


def form(value: str) -> list[str]:
    """The signs of a token that are its own."""
    shape = _shape(value)
    out = [next((f"size <{most}" for most in _SIZES if len(value) < most), "size 32+"), shape]
    if talk(value.encode("latin-1", "replace")):
        out.append("talk")
    if " " in value and not GROUPED.match(value):
        out.append("spaces")
    if shape == "phrase":
        words = value.split()
        out.append("bound" if any(map(binds, words)) else "loose")
        out += ["title"] if all(word[0].isupper() for word in words) else []
    elif shape in {"word", "kebab", "joined", "snake"}:
        out += ["said"] if binds(value) or any(map(said, PARTS.split(value))) else []
        out += ["title"] if value[0].isupper() and value[1:].islower() else []
    if shape == "word" and len(value) >= LEAST_GLUED and value.islower() and not said(value):
        out.append("glued")
    return out + _mixture(value) if shape == "odd" else out


def _mixture(value: str) -> list[str]:
    """What a token is mixed of that has no form."""
    out = []
    letters, runs = len(_LETTERS.findall(value)), len(_RUNS.findall(value))
    if letters and any(c.isdigit() for c in value):
        out.append("digits in letters" if runs >= 4 and len(value) / runs < 3.5 else "digits beside letters")
    if any(c.islower() for c in value) and any(c.isupper() for c in value):
        out.append("mixed case")
    if _SPECIAL.search(value):
        out.append("special")
    if letters >= 6 and len(_VOWELS.findall(value)) / letters < 0.2:
        out.append("unsayable")
    if len(value) >= 12 and entropy(value.encode("latin-1", "replace")) >= 3.2:
        out.append("spread")
    return out


def _shape(value: str) -> str:
    """The first harmless or telling form that fits."""
    for name, expression in _SHAPES:
        if expression.match(value):
            return name
    return "odd"
