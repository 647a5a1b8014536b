"""JSON text: a JSON document as it stands in a file, and the few characters that change when a value comes or goes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

from scrubjay.agents.json_spans import BrokenError, Node, blanks, place, skip, spans
from scrubjay.errors import InputError

Keys = Sequence[str | int]
"""Names in objects and places in arrays, from the document's root."""
Edit = tuple[int, int, str]
"""What stands between two places, and what is to stand there."""

_KINDS: Final = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
_COMMENTS_ON_LINE = re.compile(r"(?:[ \t]*(?:/\*[^\n\r]*?\*/|//[^\n\r\u2028\u2029]*))*")
_NEWLINES = frozenset("\n\r\u2028\u2029")


class Text:
    """A document and where its values stand.

    Attributes:
        root: Its value; None where it holds nothing but blanks and comments.

    Raises:
        InputError: It is no UTF-8, or no JSON5.
    """

    def __init__(self, data: bytes | None, where: Path) -> None:
        self._where = where
        try:
            self._text = (data or b"").decode("utf-8")
            self.root = spans(self._text)
        except UnicodeDecodeError as error:
            raise InputError(
                f"{where} is not UTF-8 at byte {error.start}. Nothing was changed.",
                hint="save it as UTF-8, then try again",
            ) from error
        except BrokenError as error:
            self._refuse(error.at, f"{error}", error)
        self._eol = "\r\n" if "\r\n" in self._text else "\n"
        first = self.root.children[0] if self.root and self.root.children else None
        self._unit = (self._own_indent(first) if first else None) or "  "

    @property
    def source(self) -> bytes:
        """The document's bytes."""
        return self._text.encode("utf-8")

    def walk(self, keys: Keys) -> tuple[Node, Keys]:
        """Return the deepest value on a path, and the keys below it that are missing.

        Raises:
            InputError: What stands on the way can have no such key.
        """
        assert self.root is not None
        node = self.root
        for depth, key in enumerate(keys):
            self.must_be(node, dict if isinstance(key, str) else list, keys[:depth])
            child = index_of(node, key)
            if child is None:
                return node, keys[depth:]
            node = node.children[child]
        return node, ()

    def must_be(self, node: Node, kind: type, keys: Keys) -> None:
        """Do nothing, or raise.

        Raises:
            InputError: The value is not of this kind.
        """
        if not isinstance(node.value, kind):
            name = ".".join(map(str, keys)) or "the document"
            found = _KINDS.get(type(node.value), "a number")
            self._refuse(node.start, f"{name} is {found}, but {_KINDS[kind]} belongs there")

    def begun(self, value: Any) -> bytes:
        """Return the document, which holds no value yet, with one."""
        gap = self._eol if self._text.strip("\ufeff \t\r\n") and self._text[-1] not in _NEWLINES else ""
        return f"{self._text}{gap}{self._rendered(value, '')}{self._eol}".encode()

    def replaced(self, node: Node, value: Any) -> bytes:
        """Return the document with another value in a value's place."""
        return self._edited([(node.start, node.end, self._rendered(value, self._indent(node.begin)))])

    def inserted(self, holder: Node, name: str | None, value: Any) -> bytes:
        """Return the document with one more value at the end of an object (under a name) or an array."""
        start = "" if name is None else f"{json.dumps(name, ensure_ascii=False)}: "
        if not holder.children:
            return self._edited([self._into_empty(holder, start, value)])
        last = holder.children[-1]
        comma = skip(self._text, last.end)
        followed = self._text[comma] == ","
        after = comma + 1 if followed else last.end
        at = self._comments_end(after)
        ending = "," if followed else ""
        if self._spread(holder):
            indent = self._own_indent(last)
            indent = self._indent(holder.begin) + self._unit if indent is None else indent
            new = f"{self._eol}{indent}{start}{self._rendered(value, indent)}{ending}"
        else:
            new = f" {start}{json.dumps(value, ensure_ascii=False)}{ending}"
        if followed:
            return self._edited([(at, at, new)])
        if at == last.end:
            return self._edited([(at, at, f",{new}")])
        return self._edited([(at, at, new), (last.end, last.end, ",")])

    def removed(self, holder: Node, at: int) -> bytes:
        """Return the document without a child of an object or an array; comments stay."""
        child = holder.children[at]
        before = holder.children[at - 1].end if at else holder.start + 1
        own = skip(self._text, child.end)
        followed = self._text[own] == ","
        edits: list[Edit] = []
        start, end = self._blank_before(child, before), child.end
        if followed and own == end:
            end += 1
        elif followed:
            edits.append((own, own + 1, ""))
        elif at:
            comma = skip(self._text, before)
            edits.append((comma, comma + 1, ""))
        if start < child.begin and self._closes_comment(before, start) and not self._ends_line(end):
            start = child.begin
        if at == 0 and len(holder.children) > 1 and not self._breaks(start, child.begin):
            end = end + len(self._text[end:]) - len(self._text[end:].lstrip(" \t"))
        edits.append((start, end, ""))
        changed = self._edited(edits)
        inner = slice(holder.start + 1, holder.end - 1)
        if len(holder.children) == 1 and not self._commented(holder.start + 1, child, holder.end - 1):
            return f"{self._text[: inner.start]}{self._text[inner.stop :]}".encode()
        return changed

    def has_comment(self, keys: Keys) -> bool:
        """Return whether a comment stands in the object or array at a path, which is empty."""
        node, _ = self.walk(keys)
        return "/" in self._text[node.start : node.end]

    def _into_empty(self, holder: Node, start: str, value: Any) -> Edit:
        at = holder.start + 1
        for found in blanks(self._text, at):
            if found[0].startswith("/"):
                at = found.end()
        indent = self._indent(holder.begin)
        inner = indent + self._unit
        closing = "" if self._breaks(at, holder.end) else f"{self._eol}{indent}"
        return at, at, f"{self._eol}{inner}{start}{self._rendered(value, inner)}{closing}"

    def _rendered(self, value: Any, indent: str) -> str:
        lines = json.dumps(value, ensure_ascii=False, indent=self._unit).split("\n")
        return f"{self._eol}{indent}".join(lines)

    def _edited(self, edits: list[Edit]) -> bytes:
        text = self._text
        for start, end, new in sorted(edits, reverse=True):
            text = text[:start] + new + text[end:]
        return text.encode("utf-8")

    def _spread(self, holder: Node) -> bool:
        """Whether an object or array goes over several lines."""
        first, last = holder.children[0], holder.children[-1]
        return self._breaks(holder.start, first.begin) or self._breaks(last.end, holder.end)

    def _breaks(self, start: int, end: int) -> bool:
        return not _NEWLINES.isdisjoint(self._text[start:end])

    def _indent(self, at: int) -> str:
        line = self._line_start(at)
        return self._text[line : line + len(self._text[line:at]) - len(self._text[line:at].lstrip(" \t"))]

    def _own_indent(self, node: Node) -> str | None:
        """What stands before a value on its line, if that is nothing but blanks and a line before it."""
        line = self._line_start(node.begin)
        before = self._text[line : node.begin]
        return None if line == 0 or before.strip(" \t") else before

    def _line_start(self, at: int) -> int:
        return max(self._text.rfind("\n", 0, at), self._text.rfind("\r", 0, at)) + 1

    def _comments_end(self, at: int) -> int:
        found = _COMMENTS_ON_LINE.match(self._text, at)
        return found.end() if found else at

    def _blank_before(self, child: Node, least: int) -> int:
        at = child.begin
        while at > least and (self._text[at - 1].isspace() or self._text[at - 1] == "\ufeff"):
            at -= 1
        return at

    def _closes_comment(self, start: int, end: int) -> bool:
        """Whether a comment that lasts to the end of its line ends at ``end``."""
        at = skip(self._text, start)
        begin = at + 1 if at < end and self._text[at] == "," else start
        return any(found.end() == end and found[0].startswith("//") for found in blanks(self._text, begin))

    def _ends_line(self, at: int) -> bool:
        rest = self._text[at:].lstrip(" \t")
        return not rest or rest[0] in _NEWLINES

    def _commented(self, start: int, child: Node, end: int) -> bool:
        return "/" in self._text[start : child.begin] or "/" in self._text[child.end : end]

    def _refuse(self, at: int, reason: str, cause: Exception | None = None) -> NoReturn:
        line, column = place(self._text, at)
        raise InputError(
            f"{self._where}:{line}:{column}: {reason}. Nothing was changed.",
            hint="mend that place, or move the file away, then try again",
        ) from cause


def index_of(holder: Node, key: str | int) -> int | None:
    """Return which child a key names; of several with one name the last, which is the one that counts."""
    if isinstance(key, int):
        return key if key < len(holder.children) else None
    places = [at for at, child in enumerate(holder.children) if child.name == key]
    return places[-1] if places else None
