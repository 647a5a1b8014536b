"""JSON spans: the text of a JSON, JSONC or JSON5 document -> its values, and where in the text each stands.

Read is everything that JSON5 allows (https://spec.json5.org), because agents differ in what they take: comments,
trailing commas, names without quotes, both quotes, hexadecimal numbers. A document is never written again from
its values: who edits one changes the few characters between two places named here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NoReturn

DEEPEST: Final = 200
"""Objects and arrays within each other: far more than any configuration has, few enough for Python's stack."""
LONGEST_NUMBER: Final = 4_000
"""Digits that Python turns into an integer; a longer one is read as a float."""

_SPACE = "\\s\ufeff"
_BLANK = re.compile(rf"[{_SPACE}]+|//[^\n\r\u2028\u2029]*|/\*.*?\*/", re.DOTALL)
_NAME = re.compile(r"[^\W\d][\w$\u200c\u200d]*|[$_][\w$\u200c\u200d]*")
_NUMBER = re.compile(
    r"[+-]?(?:(?P<hex>0[xX][0-9a-fA-F]+)|(?P<word>Infinity|NaN)|(?P<whole>0|[1-9]\d*)(?![\d.eE])"
    r"|(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?![\w$.])",
    re.ASCII,
)
_ESCAPED = re.compile(
    r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|[\n\r\u2028\u2029])|(0(?!\d)|[^\dux]))", re.DOTALL
)
_PLAIN = {quote: re.compile(rf"[^{quote}\\\n\r]+") for quote in "\"'"}
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
_WORDS: Final = {"true": True, "false": False, "null": None}


class BrokenError(ValueError):
    """A text is no document.

    Attributes:
        at: Place of the character that cannot stand there.
    """

    def __init__(self, reason: str, at: int) -> None:
        super().__init__(reason)
        self.at = at


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands.

    Attributes:
        start: Place of its first character; of an object's member, see `begin`.
        end: Place after its last character.
        value: What it says, as Python's own values.
        children: What an object or an array holds; of all else, nothing.
        name: Its name in the object that holds it; None in an array.
        begin: Where its name begins; without a name, ``start``.
    """

    start: int
    end: int
    value: Any
    children: tuple[Node, ...] = ()
    name: str | None = None
    begin: int = 0


def spans(text: str) -> Node | None:
    """Return the document's value; None where there is nothing but blanks and comments.

    Raises:
        BrokenError: It is no JSON5.
    """
    reader = _Reader(text)
    at = skip(text, 0)
    if at == len(text):
        return None
    root = reader.node(at, 0)
    rest = skip(text, root.end)
    if rest < len(text):
        raise BrokenError("something follows the end of the document", rest)
    return root


def skip(text: str, at: int) -> int:
    """Return the place after all blanks and comments that begin at ``at``."""
    while found := _BLANK.match(text, at):
        at = found.end()
    return at


def blanks(text: str, at: int) -> Iterator[re.Match[str]]:
    """Return the blanks and the comments that follow each other from ``at`` on."""
    while found := _BLANK.match(text, at):
        yield found
        at = found.end()


def place(text: str, at: int) -> tuple[int, int]:
    """Return line and column of a place, both from 1."""
    before = text[:at].replace("\r\n", "\n").replace("\r", "\n")
    return before.count("\n") + 1, len(before) - before.rfind("\n")


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text

    def node(self, at: int, depth: int) -> Node:
        if depth > DEEPEST:
            raise BrokenError(f"more than {DEEPEST} objects and arrays lie within each other", at)
        first = self._text[at : at + 1]
        if first == "{":
            return self._object(at, depth)
        if first == "[":
            return self._array(at, depth)
        if first in _PLAIN:
            value, end = self._string(at)
            return Node(at, end, value, begin=at)
        return self._word(at)

    def _object(self, start: int, depth: int) -> Node:
        children: list[Node] = []
        at = skip(self._text, start + 1)
        while not self._is(at, "}"):
            name, end = self._name(at)
            colon = skip(self._text, end)
            if not self._is(colon, ":"):
                self._wrong("a colon", colon)
            inner = self.node(skip(self._text, colon + 1), depth + 1)
            children.append(Node(inner.start, inner.end, inner.value, inner.children, name, at))
            at = self._next(inner.end, "}")
        return Node(
            start, at + 1, {str(each.name): each.value for each in children}, tuple(children), begin=start
        )

    def _array(self, start: int, depth: int) -> Node:
        children: list[Node] = []
        at = skip(self._text, start + 1)
        while not self._is(at, "]"):
            children.append(self.node(at, depth + 1))
            at = self._next(children[-1].end, "]")
        return Node(start, at + 1, [each.value for each in children], tuple(children), begin=start)

    def _next(self, end: int, closing: str) -> int:
        at = skip(self._text, end)
        if self._is(at, ","):
            return skip(self._text, at + 1)
        if not self._is(at, closing):
            self._wrong(f"a comma or {closing}", at)
        return at

    def _name(self, at: int) -> tuple[str, int]:
        if self._text[at : at + 1] in tuple(_PLAIN):
            return self._string(at)
        found = _NAME.match(self._text, at)
        return (found[0], found.end()) if found else self._wrong("a name or }", at)

    def _string(self, start: int) -> tuple[str, int]:
        quote, at, parts = self._text[start], start + 1, []
        while not self._is(at, quote):
            if plain := _PLAIN[quote].match(self._text, at):
                parts.append(plain[0])
                at = plain.end()
            elif escaped := _ESCAPED.match(self._text, at):
                parts.append(_unescaped(escaped))
                at = escaped.end()
            else:
                self._wrong(f"the end of the string, {quote}", at)
        text = "".join(parts)
        # Two halves, each escaped, are one letter.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), at + 1

    def _word(self, at: int) -> Node:
        if (found := _NAME.match(self._text, at)) and found[0] in _WORDS:
            return Node(at, found.end(), _WORDS[found[0]], begin=at)
        number = _NUMBER.match(self._text, at)
        if not number:
            self._wrong("a value", at)
        return Node(at, number.end(), _number(number), begin=at)

    def _is(self, at: int, letter: str) -> bool:
        return self._text[at : at + 1] == letter

    def _wrong(self, wanted: str, at: int) -> NoReturn:
        found = repr(self._text[at]) if at < len(self._text) else "the end of the file"
        raise BrokenError(f"{wanted} belongs here, not {found}", at)


def _unescaped(found: re.Match[str]) -> str:
    if code := found[1] or found[2]:
        return chr(int(code, 16))
    return "" if found[3] else _LETTERS.get(found[4], found[4])


def _number(found: re.Match[str]) -> int | float:
    sign = -1 if found[0].startswith("-") else 1
    if found["hex"]:
        return sign * int(found["hex"], 16)
    if found["word"]:
        return sign * float(found["word"].lower().replace("infinity", "inf"))
    if found["whole"] and len(found[0]) < LONGEST_NUMBER:
        return int(found[0])
    return float(found[0])
