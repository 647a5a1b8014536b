"""Redactor: replace secrets and private spans of a text before it is stored or sent.

Every line keeps its number, and redacting twice changes nothing. Rules find secrets by form or context, the classifier
finds others, and both read tables row by row, each cell as ``heading: cell``. Nothing is decided by entropy alone:
people search for commit hashes. Texts are searched as Latin-1 bytes, one a character, which is twenty times as fast as
an expression over the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain, pairwise
from types import MappingProxyType
from typing import Final, NamedTuple

from scrubjay.frozen import frozen
from scrubjay.redaction.classifier import Reading, find_by_classifier, kind_of_value, token_log_odds
from scrubjay.redaction.evidence import GOODS, LOCK
from scrubjay.redaction.patterns import is_public_key
from scrubjay.redaction.values import SecretSpan

# A mark can uncover what a longer match had hidden.
MAX_ROUNDS = 16
GROUP_CHARACTERS: Final = 200_000
"""Characters of texts that are read at once, which takes 35 times their size."""

_PRIVATE_TAG = re.compile(r"<(/?)private(?:\s[^<>]{0,200})?>", re.IGNORECASE)
_MARK = re.compile(rb"\[(?:secret:[a-z0-9-]{1,40}|private)\]")
_LETTER = re.compile(rb"[^\W_]|[\x80-\xff]")
_LINE_ENDS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


@frozen
class RedactedText:
    """A text without secrets.

    Attributes:
        text: The text, each secret replaced by its mark; as many lines as before.
    """

    text: str
    counts: Mapping[str, int]


def redact_text(text: str, allow: Sequence[str] = (), before: Sequence[str] = ()) -> RedactedText:
    """Replace every secret and every private span.

    Args:
        text: The text.
        allow: Words, and patterns as ``/…/``, that are never replaced; a pattern must match all of a span.
        before: The turns before a turn of a conversation, in order. They are read, and never changed.

    >>> redact_text("host db, password = 'tr0ub4dor&3'").text
    "host db, password = '[secret:password]'"
    """
    return redact_texts([text], allow, [before])[0]


def redact_texts(
    texts: Sequence[str], allow: Sequence[str] = (), before: Sequence[Sequence[str]] = ()
) -> list[RedactedText]:
    """Redact several texts, each with the turns before it if any are given: groups of them at once, which is faster."""
    clean: list[RedactedText] = []
    size = first = 0
    for end, text in enumerate(texts, 1):
        size += len(text)
        if size >= GROUP_CHARACTERS or end == len(texts):
            clean += _redact_group(texts[first:end], allow, before[first:end])
            first, size = end, 0
    return clean


def _redact_group(
    texts: Sequence[str], allow: Sequence[str], before: Sequence[Sequence[str]]
) -> list[RedactedText]:
    clean = list(texts)
    counts: list[Counter[str]] = [Counter() for _ in texts]
    changed = list(range(len(clean)))
    for _ in range(MAX_ROUNDS):
        turns = [before[at] for at in changed] if before else []
        spans_by_text = _find_spans([clean[at] for at in changed], allow, turns)
        texts_with_secrets = [(at, spans) for at, spans in zip(changed, spans_by_text, strict=True) if spans]
        for at, spans in texts_with_secrets:
            clean[at] = _replace_spans(clean[at], spans, counts[at])
        changed = [at for at, _ in texts_with_secrets]
        if not changed:
            break
    return [
        RedactedText(text, MappingProxyType(dict(sorted(own.items()))))
        for text, own in zip(clean, counts, strict=True)
    ]


def _find_spans(
    texts: Sequence[str], allow: Sequence[str], before: Sequence[Sequence[str]]
) -> list[list[SecretSpan]]:
    """Return the private spans of each text, else its secrets: one inside a tag can have hidden the tag."""
    data = [text.encode("latin-1", "replace") for text in texts]
    spans_by_text = [
        list(private_spans(text)) if b"<private" in latin1.lower() else []
        for text, latin1 in zip(texts, data, strict=True)
    ]
    public = [at for at, spans in enumerate(spans_by_text) if not spans]
    public_texts = [texts[at] for at in public]
    turns = [before[at] for at in public] if before else []
    for number, span in chain(_find_secrets(public_texts), _find_answers(public_texts, turns)):
        spans_by_text[public[number]].append(span)
    for at in public:
        spans_by_text[at] = [
            span
            for span in _merge(_outside_marks(data[at], iter(spans_by_text[at])))
            if not is_allowed(texts[at][span.start : span.end], allow)
        ]
    return spans_by_text


def is_allowed(value: str, allow: Sequence[str]) -> bool:
    return any(_allows(pattern, value) for pattern in allow)


def _allows(pattern: str, value: str) -> bool:
    if len(pattern) > 2 and pattern.startswith("/") and pattern.endswith("/"):
        return re.fullmatch(pattern[1:-1], value) is not None
    return pattern == value


def _replace_spans(text: str, spans: list[SecretSpan], counts: Counter[str]) -> str:
    parts: list[str] = []
    end = 0
    for span in spans:
        mark = "[private]" if span.kind == "private" else f"[secret:{span.kind}]"
        parts += (text[end : span.start], mark, *_line_ends(text, span))
        counts[span.kind] += 1
        end = span.end
    parts.append(text[end:])
    return "".join(parts)


def _line_ends(text: str, span: SecretSpan) -> Iterator[str]:
    r"""Yield the line ends inside a span; a lone ``\r`` becomes ``\n``, or it would join a ``\n`` that now follows."""
    for match in _LINE_ENDS.finditer(text, span.start, span.end):
        split = match.end() == span.end and text.startswith("\n", span.end)
        yield "\n" if match[0] == "\r" and not split else match[0]


def _merge(spans: Iterator[SecretSpan]) -> list[SecretSpan]:
    """Merge overlapping spans; the kind is that of the first whose form is certain."""
    merged: list[SecretSpan] = []
    for span in sorted(spans):
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            kind = span.kind if span.certain and not last.certain else last.kind
            merged[-1] = SecretSpan(last.start, max(last.end, span.end), kind, last.certain or span.certain)
        else:
            merged.append(span)
    return merged


def _outside_marks(data: bytes, spans: Iterator[SecretSpan]) -> Iterator[SecretSpan]:
    """Trim spans that overlap a mark: ``-u [secret:stripe-key]:`` is no name and password."""
    has_marks = b"[secret:" in data or b"[private]" in data
    marks = [mark.span() for mark in _MARK.finditer(data)] if has_marks else []
    for span in spans:
        start, end = span.start, span.end
        for first, last in marks:
            if first < start < last:
                start = last
            if first < end < last:
                end = first
        if start == span.start and end == span.end:
            yield span
        elif start < end and _LETTER.search(data, start, end):
            yield SecretSpan(start, end, span.kind, span.certain)


def private_spans(text: str) -> Iterator[SecretSpan]:
    """Yield private spans, nested ones as one; an unclosed one goes to the end. A tag between backticks is no tag."""
    depth, start = 0, 0
    for tag in _PRIVATE_TAG.finditer(text):
        if text[tag.start() - 1 : tag.start()] == "`" == text[tag.end() : tag.end() + 1]:
            continue
        if not tag[1]:
            start = start if depth else tag.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield SecretSpan(start, tag.end(), "private", True)
    if depth:
        yield SecretSpan(start, len(text), "private", True)


def _find_secrets(texts: Sequence[str]) -> Iterator[tuple[int, SecretSpan]]:
    tables = [(number, table) for number, text in enumerate(texts) for table in find_tables(text)]
    for at, span in _find_in_each([*texts, *(table.text for _, table in tables)]):
        if at < len(texts):
            yield at, span
            continue
        number, table = tables[at - len(texts)]
        if place := table.place(span.start, span.end):
            yield number, SecretSpan(*place, span.kind, False)


def _find_answers(texts: Sequence[str], before: Sequence[Sequence[str]]) -> Iterator[tuple[int, SecretSpan]]:
    """Find secrets in turns by reading each with the ends of the turns before it; other texts have none before."""
    if not any(before):
        return
    from scrubjay.redaction.dialogue import (  # a sync of notes needs none of it
        HEAD_CHARACTERS,
        AskedSecret,
        asked_secret,
        asks_question,
        find_answers,
        names_secret,
        turn_tails,
    )

    positions: list[tuple[int, int, AskedSecret | None]] = []
    joined: list[str] = []
    for number, tails in enumerate(map(turn_tails, before)):
        if not tails or not (names_secret(tails[-1]) or names_secret(tails[0])):
            continue
        asked = asked_secret(tails)
        if asked is None and asks_question(tails[-1]):
            continue  # where it is, who has it
        lead = "\n".join([*tails, ""])
        positions.append((number, len(lead), asked))
        joined.append(lead + texts[number][:HEAD_CHARACTERS])
    for at, span in _find_in_each(joined):
        number, start, _ = positions[at]
        if span.start >= start:
            yield number, span._replace(start=span.start - start, end=span.end - start)
    for text, (number, start, asked) in zip(joined, positions, strict=True):
        if asked is not None:
            odds = [(at - start, end - start, log_odds) for at, end, log_odds in token_log_odds(text, start)]
            head = text[start:]
            for at, end in find_answers(asked, head, odds):
                yield number, SecretSpan(at, end, kind_of_value(head[at:end]), False)


def _find_in_each(texts: Sequence[str]) -> Iterator[tuple[int, SecretSpan]]:
    readings = [Reading.of(text) for text in texts]
    for number, reading in enumerate(readings):
        yield from ((number, span) for span in reading.ruled)
    ends = [list(accumulate((span.end for span in reading.ruled), max)) for reading in readings]
    for number, span in find_by_classifier(readings):
        ruled, data, low = readings[number].ruled, readings[number].data, readings[number].low
        last = bisect_left(ruled, (span.end,)) - 1  # that begins before it ends
        if (last < 0 or ends[number][last] <= span.start) and not is_public_key(data, low, span):
            yield number, span


MAX_ROW_CHARACTERS: Final = 1_000
MAX_ROWS: Final = 5_000
"""Rows of a table that are read; longer ones are measurements."""
MAX_SHIFT: Final = 2
"""Characters by which a cell may be offset from its heading."""

_SEPARATORS: Final = "|;\t,"
_ROW_FORMS: Final = "|".join(
    f"[^\n{sign}]{{0,48}}{sign}[^\n{sign}]{{0,48}}(?:{sign}[^\n{sign}]{{0,48}}){{0,28}}"
    for sign in map(re.escape, _SEPARATORS)
)
_HEADINGS: Final = re.compile(rf"^(?:{_ROW_FORMS}|\S[^\n]{{0,48}}?[ ]{{2,}}\S[^\n]{{0,200}})$", re.MULTILINE)
_HEADING_NAME: Final = re.compile(r"[\"'*`_]{0,2}(?:[#№] ?)?[^\W\d][^:={}<>?!]*")
_PLAIN_HEADING_NAME: Final = re.compile(r"[\"'*`_]{0,2}(?:[#№] ?)?[^\W\d][^:={}<>?!@0-9|;]*+(?<!\w{4}\.)")
"""Heading between commas, tabs and spaces, which separate prose, code and lists more often than cells."""
_GOODS_HEADING: Final = re.compile(rf"{GOODS}|prices?|preise?|prix|precios?", re.IGNORECASE)
_RULE_LINE: Final = re.compile(r"[ \t|:=+-]+\Z")
_CELLS: Final = {
    sign: re.compile(rf'[^\S{sign}]*"(?:[^"\n]|"")*"[^\S{sign}]*(?={re.escape(sign)}|\Z)|[^{sign}]*')
    for sign in _SEPARATORS
}
_SPACED_CELL: Final = re.compile(r"\S+(?: \S+)*")
_SPACED_CELLS: Final = re.compile(r"\S(?:[^\S ]|\s{2,})\s*\S")
_RULE_LINE_BEGINNINGS: Final = frozenset(" \t|:=+-")
"""Of a line that `_RULE_LINE` matches."""


class RowText(NamedTuple):
    """A table as text.

    Attributes:
        text: Its cells, a line each; an empty line ends a row.
        starts, ends: Span of each cell in the text that holds the table.
    """

    text: str
    offsets: Sequence[int]
    starts: Sequence[int]
    ends: Sequence[int]

    def place(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the span in the text that holds the table of a span that begins in a cell."""
        cell = bisect_right(self.offsets, start) - 1
        if cell < 0:
            return None
        first, moved = (
            start + self.starts[cell] - self.offsets[cell],
            end + self.starts[cell] - self.offsets[cell],
        )
        return (first, min(self.ends[cell], moved)) if first < self.ends[cell] else None


class _Headings(NamedTuple):
    sign: str | None
    places: Sequence[tuple[int, int]]
    names: Sequence[str]

    @classmethod
    def of(cls, line: str) -> _Headings | None:
        sign = _separator(line)
        name = _HEADING_NAME if sign in ("|", ";") else _PLAIN_HEADING_NAME
        places = list(_cells(line, sign))
        names = [line[start:end] for start, end in places]
        if len(names) < 2 or not all(name.fullmatch(part) for part in names if part):
            return None
        return cls(sign, places, names)

    def over(self, row: str) -> list[tuple[str, int, int]] | None:
        """Return the cells of a row, each with its heading and span; None if it is no row of these columns."""
        cells = list(_cells(row, self.sign))
        if self.sign:
            if len(cells) != len(self.names):
                return None
            return [(name, *cell) for name, cell in zip(self.names, cells, strict=True)]
        columns = [self._column(*cell) for cell in cells]
        if len(cells) < 2 or len(set(columns)) < len(columns):
            return None
        return [(self.names[column], *cell) for column, cell in zip(columns, cells, strict=True)]

    def _column(self, start: int, end: int) -> int:
        distances = [min(abs(start - first), abs(end - last)) for first, last in self.places]
        nearest = min(range(len(distances)), key=distances.__getitem__)
        if distances[nearest] <= MAX_SHIFT:
            return nearest
        return max(0, bisect_right([first for first, _ in self.places], start) - 1)


def find_tables(text: str) -> Iterator[RowText]:
    at = table_end = 0
    for line, row in pairwise([*text.split("\n"), ""]):
        start, at = at, at + len(line) + 1
        if start < table_end or not _may_be_heading_of(line, row[:MAX_ROW_CHARACTERS]):
            continue
        if _HEADINGS.fullmatch(line) and (headings := _Headings.of(line)):
            table, table_end = _rows_as_text(text, at, headings)
            if table.offsets:
                yield table


def _may_be_heading_of(line: str, row: str) -> bool:
    """Tell, at little cost, whether a row can be one of a line of headings; most lines are prose."""
    sign = _separator(line)
    if sign is None and "  " not in line:
        return False
    if row[:1] in _RULE_LINE_BEGINNINGS and _RULE_LINE.match(row):
        return True
    if sign is None:
        return _SPACED_CELLS.search(row) is not None
    return sign == "|" or '"' in line + row or line.rstrip().count(sign) == row.rstrip().count(sign)


def _separator(line: str) -> str | None:
    for sign in _SEPARATORS:
        if sign in line:
            return sign
    return None


def _rows_as_text(text: str, at: int, headings: _Headings) -> tuple[RowText, int]:
    has_goods = any(map(_GOODS_HEADING.fullmatch, headings.names))
    lines: list[str] = []
    offsets: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    size = rows = 0
    while at < len(text):
        stop = text.find("\n", at, at + MAX_ROW_CHARACTERS)
        row = text[at : stop if stop >= 0 else at + MAX_ROW_CHARACTERS]
        if not _RULE_LINE.match(row):
            cells = headings.over(row)
            if not cells:
                break
            rows += 1
            if rows <= MAX_ROWS:
                names_goods = has_goods and not LOCK.search(row)
                for name, start, end in cells:
                    if start < end:
                        if names_goods and name.lower() == "code":
                            name = "product code"  # which is no word for a secret
                        lead = f"{name}: " if name else ""
                        lines.append(f"{lead}{row[start:end]}")
                        offsets.append(size + len(lead))
                        starts.append(at + start)
                        ends.append(at + end)
                        size += len(lines[-1]) + 1
                lines.append("")
                size += 1
        at += len(row) + 1
    return RowText("\n".join(lines), offsets, starts, ends), at


def _cells(row: str, sign: str | None) -> Iterator[tuple[int, int]]:
    if sign is None:
        yield from (cell.span() for cell in _SPACED_CELL.finditer(row))
        return
    body = row.rstrip()
    at = len(row) - len(row.lstrip()) if sign == "|" else 0
    if sign == "|":
        at, body = at + row.startswith("|", at), body.removesuffix("|")
    while at <= len(body):
        cell = _CELLS[sign].match(body, at)
        end = cell.end() if cell else at
        value = body[at:end]
        first, last = at + len(value) - len(value.lstrip()), at + len(value.rstrip())
        if last - first > 1 and body[first] == body[last - 1] == '"':
            first, last = first + 1, last - 1
        yield first, max(first, last)
        at = end + 1
