"""Redactor: replace secrets and private spans of a text before it is stored or sent.

Every line keeps its number, and redacting twice changes nothing. Rules find secrets by form or context, the classifier
finds others, and both read tables row by row. Nothing is decided by entropy alone: people search for commit hashes.
Texts are searched as Latin-1 bytes, one a character, which is twenty times as fast as an expression over the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from types import MappingProxyType

from scrubjay.redaction.classifier import find_by_classifier, kind_of_value, token_log_odds
from scrubjay.redaction.dialogue import (
    HEAD_CHARACTERS,
    asked_secret,
    asks_question,
    find_answers,
    names_secret,
    turn_tails,
)
from scrubjay.redaction.patterns import find_by_rules, is_public_key
from scrubjay.redaction.tables import find_tables
from scrubjay.redaction.values import PositionIndex, SecretSpan

# Stored with each document; a new version redacts everything again.
REDACTOR_VERSION = "9"
# A mark can uncover what a longer match had hidden.
MAX_ROUNDS = 16

_PRIVATE = re.compile(r"<(/?)private(?:\s[^<>]{0,200})?>", re.IGNORECASE)
_MARK = re.compile(rb"\[(?:secret:[a-z0-9-]{1,40}|private)\]")
_LETTER = re.compile(rb"[^\W_]|[\x80-\xff]")
_LINE_ENDS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
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
    counts: Counter[str] = Counter()
    for _ in range(MAX_ROUNDS):
        data = text.encode("latin-1", "replace")
        low = data.lower()
        # In every round: a secret inside a tag can have hidden it.
        spans = list(private_spans(text)) if b"<private" in low else []
        if not spans:
            found = chain(_find_secrets(text, data, low), _find_answers(text, before))
            spans = [
                span
                for span in _merge(_outside_marks(data, found))
                if not is_allowed(text[span.start : span.end], allow)
            ]
        if not spans:
            break
        text = _replace(text, spans, counts)
    return RedactedText(text, MappingProxyType(dict(sorted(counts.items()))))


def is_allowed(value: str, allow: Sequence[str]) -> bool:
    """Tell whether the user excepts a value."""
    return any(
        re.fullmatch(one[1:-1], value) if len(one) > 2 and one[0] == one[-1] == "/" else one == value
        for one in allow
    )


def _replace(text: str, spans: list[SecretSpan], counts: Counter[str]) -> str:
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
        if (start, end) == (span.start, span.end):
            yield span
        elif start < end and _LETTER.search(data, start, end):
            yield SecretSpan(start, end, span.kind, span.certain)


def private_spans(text: str) -> Iterator[SecretSpan]:
    """Yield private spans, nested ones as one; an unclosed one goes to the end. A tag between backticks is no tag."""
    depth, start = 0, 0
    for tag in _PRIVATE.finditer(text):
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


def _find_secrets(text: str, data: bytes, low: bytes) -> Iterator[SecretSpan]:
    yield from _find_in_text(text, data, low)
    for table in find_tables(text):
        data = table.text.encode("latin-1", "replace")
        for span in _find_in_text(table.text, data, data.lower()):
            if place := table.place(span.start, span.end):
                yield SecretSpan(*place, span.kind, False)


def _find_answers(text: str, before: Sequence[str]) -> Iterator[SecretSpan]:
    """Find secrets in a turn by reading it with the ends of the turns before it."""
    tails = turn_tails(before)
    if not tails or not (names_secret(tails[-1]) or names_secret(tails[0])):
        return
    wanted = asked_secret(tails)
    if wanted is None and asks_question(tails[-1]):
        return  # where it is, who has it
    lead = "\n".join([*tails, ""])
    head = text[:HEAD_CHARACTERS]
    joined = lead + head
    data = joined.encode("latin-1", "replace")
    for span in _find_in_text(joined, data, data.lower()):
        if span.start >= len(lead):
            yield span._replace(start=span.start - len(lead), end=span.end - len(lead))
    if wanted is not None:
        odds = [(at - len(lead), end - len(lead), odd) for at, end, odd in token_log_odds(joined, len(lead))]
        for at, end in find_answers(wanted, head, odds):
            yield SecretSpan(at, end, kind_of_value(head[at:end]), False)


def _find_in_text(text: str, data: bytes, low: bytes) -> Iterator[SecretSpan]:
    places = PositionIndex(low)
    ruled = find_by_rules(text, data, low)
    yield from ruled
    ends = list(accumulate((span.end for span in ruled), max))
    for span in find_by_classifier(text, low, places, ruled):
        last = bisect_left(ruled, (span.end,)) - 1  # that begins before it ends
        if (last < 0 or ends[last] <= span.start) and not is_public_key(data, low, span):
            yield span
