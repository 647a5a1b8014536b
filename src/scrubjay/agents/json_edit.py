"""Add and remove values in JSON, JSONC and JSON5 files without reformatting the rest.

Everything that JSON5 allows is read (https://spec.json5.org): comments, trailing commas, unquoted names, both quotes,
hexadecimal numbers. A document is never serialised again: an edit replaces the few characters between two positions, so
order, comments, indentation, line ends and byte order mark stay. New values are written as plain JSON in the style of
their surroundings. No library does this without another language's runtime (docs/decisions.md). Each function raises
`InputError` with file, line and column where a document is no JSON5 or a value on the path has another type.

>>> put_value(b'{"a": 1} // mine', ("b", "c"), True, Path("x.json"))
b'{"a": 1, "b": {"c": true}} // mine'
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NoReturn

from scrubjay.errors import InputError
from scrubjay.frozen import frozen


def decode_config(data: bytes | None, where: Path) -> str:
    try:
        return (data or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{where} is not UTF-8 at byte {error.start}. Nothing was changed.",
            hint="save it as UTF-8, then try again",
        ) from error


MAX_DEPTH: Final = 200
"""Objects and arrays within each other: far more than any configuration has, few enough for Python's stack."""
MAX_DIGITS: Final = 4_000
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
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
_LITERALS: Final = {"true": True, "false": False, "null": None}


@frozen
class Node:
    """A value and its position.

    Attributes:
        start: Position of its first character.
        end: Position after its last character.
        children: Members of an object or items of an array.
        name: Its key in an object; None in an array.
        begin: Position of its key; without one, ``start``.
    """

    start: int
    end: int
    value: Any
    children: tuple[Node, ...] = ()
    name: str | None = None
    begin: int = 0


def skip_blanks(text: str, at: int) -> int:
    for blank in blanks(text, at):
        at = blank.end()
    return at


def blanks(text: str, at: int) -> Iterator[re.Match[str]]:
    while match := _BLANK.match(text, at):
        yield match
        at = match.end()


class _Parser:
    """Parses JSON5; ``refuse`` raises the error for a position and a reason."""

    def __init__(self, text: str, refuse: Callable[[int, str], NoReturn]) -> None:
        self._text = text
        self._refuse = refuse

    def document(self) -> Node | None:
        """Return the document's root; None for whitespace and comments only."""
        at = skip_blanks(self._text, 0)
        if at == len(self._text):
            return None
        root = self.node(at, 0)
        rest = skip_blanks(self._text, root.end)
        if rest < len(self._text):
            self._refuse(rest, "something follows the end of the document")
        return root

    def node(self, at: int, depth: int) -> Node:
        if depth > MAX_DEPTH:
            self._refuse(at, f"more than {MAX_DEPTH} objects and arrays lie within each other")
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
        at = skip_blanks(self._text, start + 1)
        while not self._is_at(at, "}"):
            name, end = self._name(at)
            colon = skip_blanks(self._text, end)
            if not self._is_at(colon, ":"):
                self._unexpected("a colon", colon)
            value = self.node(skip_blanks(self._text, colon + 1), depth + 1)
            children.append(Node(value.start, value.end, value.value, value.children, name, at))
            at = self._skip_comma(value.end, "}")
        return Node(
            start, at + 1, {str(child.name): child.value for child in children}, tuple(children), begin=start
        )

    def _array(self, start: int, depth: int) -> Node:
        children: list[Node] = []
        at = skip_blanks(self._text, start + 1)
        while not self._is_at(at, "]"):
            children.append(self.node(at, depth + 1))
            at = self._skip_comma(children[-1].end, "]")
        return Node(start, at + 1, [child.value for child in children], tuple(children), begin=start)

    def _skip_comma(self, end: int, closing: str) -> int:
        at = skip_blanks(self._text, end)
        if self._is_at(at, ","):
            return skip_blanks(self._text, at + 1)
        if not self._is_at(at, closing):
            self._unexpected(f"a comma or {closing}", at)
        return at

    def _name(self, at: int) -> tuple[str, int]:
        if self._text[at : at + 1] in tuple(_PLAIN):
            return self._string(at)
        match = _NAME.match(self._text, at)
        return (match[0], match.end()) if match else self._unexpected("a name or }", at)

    def _string(self, start: int) -> tuple[str, int]:
        quote, at, parts = self._text[start], start + 1, []
        while not self._is_at(at, quote):
            if plain := _PLAIN[quote].match(self._text, at):
                parts.append(plain[0])
                at = plain.end()
            elif escaped := _ESCAPED.match(self._text, at):
                parts.append(_unescape(escaped))
                at = escaped.end()
            else:
                self._unexpected(f"the end of the string, {quote}", at)
        text = "".join(parts)
        # Two surrogates, each escaped, are one character.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), at + 1

    def _word(self, at: int) -> Node:
        if (literal := _NAME.match(self._text, at)) and literal[0] in _LITERALS:
            return Node(at, literal.end(), _LITERALS[literal[0]], begin=at)
        number = _NUMBER.match(self._text, at)
        if not number:
            self._unexpected("a value", at)
        return Node(at, number.end(), _parse_number(number), begin=at)

    def _is_at(self, at: int, letter: str) -> bool:
        return self._text[at : at + 1] == letter

    def _unexpected(self, expected: str, at: int) -> NoReturn:
        actual = repr(self._text[at]) if at < len(self._text) else "the end of the file"
        self._refuse(at, f"{expected} belongs here, not {actual}")


def _unescape(match: re.Match[str]) -> str:
    if code := match[1] or match[2]:
        return chr(int(code, 16))
    return "" if match[3] else _ESCAPES.get(match[4], match[4])


def _parse_number(match: re.Match[str]) -> int | float:
    sign = -1 if match[0].startswith("-") else 1
    if match["hex"]:
        return sign * int(match["hex"], 16)
    if match["word"]:
        return sign * float(match["word"].lower().replace("infinity", "inf"))
    if match["whole"] and len(match[0]) < MAX_DIGITS:
        return int(match[0])
    return float(match[0])


KeyPath = Sequence[str | int]
"""Names in objects and places in arrays, from the document's root."""
Edit = tuple[int, int, str]
"""Start and end of a piece of the text, and its replacement."""
Predicate = Callable[[Any], bool]
"""Whether an item of an array is scrubjay's."""

_TYPE_NAMES: Final = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "true or false",
    type(None): "null",
}
_COMMENTS_ON_LINE = re.compile(r"(?:[ \t]*(?:/\*[^\n\r]*?\*/|//[^\n\r\u2028\u2029]*))*")
_NEWLINES = frozenset("\n\r\u2028\u2029")


class JsonText:
    """A document and the positions of its values.

    Attributes:
        root: Its value; None for whitespace and comments only.
    """

    def __init__(self, data: bytes | None, where: Path) -> None:
        self._where = where
        self._text = decode_config(data, where)
        self.root = _Parser(self._text, self._refuse).document()
        self._eol = "\r\n" if "\r\n" in self._text else "\n"
        first = self.root.children[0] if self.root and self.root.children else None
        self._unit = (self._own_indent(first) if first else None) or "  "

    @property
    def source(self) -> bytes:
        return self._text.encode("utf-8")

    def walk(self, keys: KeyPath) -> tuple[Node, KeyPath]:
        """Return the deepest existing value on a path, and the missing keys below it."""
        assert self.root is not None
        node = self.root
        for depth, key in enumerate(keys):
            self.check_type(node, dict if isinstance(key, str) else list, keys[:depth])
            child = child_index(node, key)
            if child is None:
                return node, keys[depth:]
            node = node.children[child]
        return node, ()

    def check_type(self, node: Node, kind: type, keys: KeyPath) -> None:
        if not isinstance(node.value, kind):
            name = ".".join(map(str, keys)) or "the document"
            actual = _TYPE_NAMES.get(type(node.value), "a number")
            self._refuse(node.start, f"{name} is {actual}, but {_TYPE_NAMES[kind]} belongs there")

    def create_root(self, value: Any) -> bytes:
        gap = self._eol if self._text.strip("\ufeff \t\r\n") and self._text[-1] not in _NEWLINES else ""
        return f"{self._text}{gap}{self._render(value, '')}{self._eol}".encode()

    def replace_value(self, node: Node, value: Any) -> bytes:
        return self._apply([(node.start, node.end, self._render(value, self._indent(node.begin)))])

    def insert_child(self, holder: Node, name: str | None, value: Any) -> bytes:
        """Return the document with a value appended to an object (under a name) or an array."""
        start = "" if name is None else f"{json.dumps(name, ensure_ascii=False)}: "
        if not holder.children:
            return self._apply([self._insert_first(holder, start, value)])
        last = holder.children[-1]
        comma = skip_blanks(self._text, last.end)
        has_comma = self._text[comma] == ","
        after = comma + 1 if has_comma else last.end
        comments = _COMMENTS_ON_LINE.match(self._text, after)
        at = comments.end() if comments else after
        separator = "," if has_comma else ""
        if self._multiline(holder.start, holder.children[0].begin) or self._multiline(last.end, holder.end):
            indent = self._own_indent(last)
            indent = self._indent(holder.begin) + self._unit if indent is None else indent
            new = f"{self._eol}{indent}{start}{self._render(value, indent)}{separator}"
        else:
            new = f" {start}{json.dumps(value, ensure_ascii=False)}{separator}"
        if has_comma:
            return self._apply([(at, at, new)])
        if at == last.end:
            return self._apply([(at, at, f",{new}")])
        return self._apply([(at, at, new), (last.end, last.end, ",")])

    def remove_child(self, holder: Node, at: int) -> bytes:
        """Return the document without a child of an object or an array; comments stay."""
        child = holder.children[at]
        before = holder.children[at - 1].end if at else holder.start + 1
        comma_after = skip_blanks(self._text, child.end)
        has_comma = self._text[comma_after] == ","
        edits: list[Edit] = []
        start, end = self._blank_before(child, before), child.end
        if has_comma and comma_after == end:
            end += 1
        elif has_comma:
            edits.append((comma_after, comma_after + 1, ""))
        elif at:
            comma = skip_blanks(self._text, before)
            edits.append((comma, comma + 1, ""))
        if start < child.begin and self._closes_comment(before, start) and not self._ends_line(end):
            start = child.begin
        if at == 0 and len(holder.children) > 1 and not self._multiline(start, child.begin):
            end = end + len(self._text[end:]) - len(self._text[end:].lstrip(" \t"))
        edits.append((start, end, ""))
        changed = self._apply(edits)
        begin, close = holder.start + 1, holder.end - 1
        commented = "/" in self._text[begin : child.begin] + self._text[child.end : close]
        if len(holder.children) == 1 and not commented:
            return f"{self._text[:begin]}{self._text[close:]}".encode()
        return changed

    def has_comment(self, keys: KeyPath) -> bool:
        node, _ = self.walk(keys)
        return "/" in self._text[node.start : node.end]

    def _insert_first(self, holder: Node, start: str, value: Any) -> Edit:
        at = holder.start + 1
        for blank in blanks(self._text, at):
            if blank[0].startswith("/"):
                at = blank.end()
        indent = self._indent(holder.begin)
        inner = indent + self._unit
        closing = "" if self._multiline(at, holder.end) else f"{self._eol}{indent}"
        return at, at, f"{self._eol}{inner}{start}{self._render(value, inner)}{closing}"

    def _render(self, value: Any, indent: str) -> str:
        lines = json.dumps(value, ensure_ascii=False, indent=self._unit).split("\n")
        return f"{self._eol}{indent}".join(lines)

    def _apply(self, edits: list[Edit]) -> bytes:
        text = self._text
        for start, end, new in sorted(edits, reverse=True):
            text = text[:start] + new + text[end:]
        return text.encode("utf-8")

    def _multiline(self, start: int, end: int) -> bool:
        return not _NEWLINES.isdisjoint(self._text[start:end])

    def _indent(self, at: int) -> str:
        line = self._line_start(at)
        return self._text[line : line + len(self._text[line:at]) - len(self._text[line:at].lstrip(" \t"))]

    def _own_indent(self, node: Node) -> str | None:
        """The value's indentation, where it is the first on its line."""
        line = self._line_start(node.begin)
        before = self._text[line : node.begin]
        return None if line == 0 or before.strip(" \t") else before

    def _line_start(self, at: int) -> int:
        return max(self._text.rfind("\n", 0, at), self._text.rfind("\r", 0, at)) + 1

    def _blank_before(self, child: Node, limit: int) -> int:
        at = child.begin
        while at > limit and (self._text[at - 1].isspace() or self._text[at - 1] == "\ufeff"):
            at -= 1
        return at

    def _closes_comment(self, start: int, end: int) -> bool:
        """Whether a line comment ends at ``end``."""
        at = skip_blanks(self._text, start)
        begin = at + 1 if at < end and self._text[at] == "," else start
        return any(blank.end() == end and blank[0].startswith("//") for blank in blanks(self._text, begin))

    def _ends_line(self, at: int) -> bool:
        rest = self._text[at:].lstrip(" \t")
        return not rest or rest[0] in _NEWLINES

    def _refuse(self, at: int, reason: str) -> NoReturn:
        before = self._text[:at].replace("\r\n", "\n").replace("\r", "\n")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise InputError(
            f"{self._where}:{line}:{column}: {reason}. Nothing was changed.",
            hint="mend that place, or move the file away, then try again",
        )


def child_index(holder: Node, key: str | int) -> int | None:
    """Return the index of a key's child; of duplicate keys the last, which is the effective one."""
    if isinstance(key, int):
        return key if key < len(holder.children) else None
    indexes = [index for index, child in enumerate(holder.children) if child.name == key]
    return indexes[-1] if indexes else None


def parse_json(data: bytes | None, where: Path) -> Any:
    """Return a document's value; an empty object for None or an empty document."""
    root = _read_document(data, where).root
    return {} if root is None else root.value


def get_value(data: bytes | None, keys: KeyPath, where: Path) -> Any:
    return value_at(parse_json(data, where), keys)


def get_list(data: bytes | None, keys: KeyPath, where: Path) -> list[Any]:
    value = get_value(data, keys, where)
    return value if isinstance(value, list) else []


def value_at(document: Any, keys: KeyPath) -> Any:
    for key in keys:
        if not _has_key(document, key):
            return None
        document = document[key]
    return document


def first_non_json(data: bytes | None, where: Path) -> str:
    """Return ``path:line:column`` of the first construct that plain JSON lacks, or an empty string.

    For agents that ignore a file with comments. A byte order mark is not counted.
    """
    try:
        json.loads((data or b"{}").decode("utf-8-sig", "replace") or "{}")
    except json.JSONDecodeError as error:
        return f"{where}:{error.lineno}:{error.colno}"
    return ""


def put_value(data: bytes | None, keys: KeyPath, value: Any, where: Path) -> bytes:
    """Return the document with a value at a path; missing objects on it are created."""
    text = _read_document(data, where)
    if text.root is None:
        return text.create_root(_nest(keys, value))
    node, missing = text.walk(keys)
    if missing:
        return text.insert_child(node, str(missing[0]), _nest(missing[1:], value))
    same = json.dumps(node.value, sort_keys=True) == json.dumps(value, sort_keys=True)  # True is not 1
    return text.source if same else text.replace_value(node, value)


def put_members(data: bytes | None, keys: KeyPath, members: Mapping[str, Any], where: Path) -> bytes:
    """Return the document with these members in the object at a path; its other members stay."""
    if data is None or get_value(data, keys, where) is None:
        return put_value(data, keys, dict(members), where)
    for name, value in members.items():
        data = put_value(data, (*keys, name), value, where)
    return data


def put_item(data: bytes | None, keys: KeyPath, item: Any, is_ours: Predicate, where: Path) -> bytes:
    """Return the document with one item in the array at a path.

    It replaces the first item that ``is_ours`` and removes other such items; without any it is appended.
    """
    text = _read_document(data, where)
    if text.root is None:
        return put_value(data, keys, [item], where)
    node, missing = text.walk(keys)
    if missing:
        return put_value(data, keys, [item], where)
    text.check_type(node, list, keys)
    indexes = [at for at, candidate in enumerate(node.value) if is_ours(candidate)]
    if not indexes:
        return text.insert_child(node, None, item)
    source = text.source
    for at in reversed(indexes[1:]):
        source = _remove(source, (*keys, at), where)
    return put_value(source, (*keys, indexes[0]), item, where)


def remove_value(data: bytes | None, keys: KeyPath, where: Path) -> bytes | None:
    """Return the document without the value at a path, and without parents that become empty and hold no comment."""
    if data is None or not _exists(data, keys, where):
        return data
    data = _remove(data, keys, where)
    while isinstance(keys[-1], str) and _exists(data, keys, where):
        data = _remove(data, keys, where)
    parent = keys[:-1]
    if (
        parent
        and get_value(data, parent, where) in ({}, [])
        and not _read_document(data, where).has_comment(parent)
    ):
        return remove_value(data, parent, where)
    return data


def remove_items(data: bytes | None, keys: KeyPath, is_ours: Predicate, where: Path) -> bytes | None:
    """Return the document without the items of the array at a path that are ours."""
    for at in reversed([at for at, item in enumerate(get_list(data, keys, where)) if is_ours(item)]):
        data = remove_value(data, (*keys, at), where)
    return data


@lru_cache(maxsize=4)
def _read_document(data: bytes | None, where: Path) -> JsonText:
    """Parsed once for the several edits of one installation: a client's own file can have megabytes."""
    return JsonText(data, where)


def _exists(data: bytes, keys: KeyPath, where: Path) -> bool:
    return _has_key(get_value(data, keys[:-1], where), keys[-1])


def _has_key(holder: Any, key: str | int) -> bool:
    if isinstance(holder, dict):
        return key in holder
    return isinstance(holder, list) and isinstance(key, int) and key < len(holder)


def _remove(data: bytes, keys: KeyPath, where: Path) -> bytes:
    text = _read_document(data, where)
    holder, _ = text.walk(keys[:-1])
    at = child_index(holder, keys[-1])
    return text.source if at is None else text.remove_child(holder, at)


def _nest(keys: KeyPath, value: Any) -> Any:
    for key in reversed(keys):
        value = {key: value}
    return value
