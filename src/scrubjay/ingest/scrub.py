"""Scrub: str -> Scrubbed. Take secrets and private spans out of a text before it is stored, cached or sent.

A secret becomes ``[secret:<kind>]``, a ``<private>…</private>`` span ``[private]``. A mark holds no line end,
and what it replaces keeps its line ends, so every line keeps its number. Scrubbing twice changes nothing.

Rules tell secrets by form or by what stands around (`scrub_rules`). Where they find nothing, networks look at each
token and what stands around it (`scrub_tagged`). Both look at tables once more, told row by row (`scrub_tables`). Where
two overlap, all that either covers goes. Nothing is decided by entropy alone: a commit hash or a session id is what a
memory is asked for. Spans that stand for nothing (``xxxx``, ``AKIAIOSFODNN7EXAMPLE``, ``${TOKEN}``) stay.

Text is looked at as Latin-1 bytes, one a character: offsets stay, and a search for bytes or a translation
costs about a nanosecond a character where an expression over the text costs twenty.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from types import MappingProxyType

from scrubjay.ingest.scrub_answers import HEAD, answers, asked, names_secret, questions, tails
from scrubjay.ingest.scrub_rules import found, public
from scrubjay.ingest.scrub_tables import tables
from scrubjay.ingest.scrub_tagged import kind, likelihoods, tagged
from scrubjay.ingest.scrub_values import Places, Span

# Stamped on each document; a new version scrubs everything again.
SCRUBBER_VERSION = "9"
# A mark can bare what a longer match had hidden; more rounds than these only a made-up text needs.
MOST_ROUNDS = 16

_PRIVATE = re.compile(r"<(/?)private(?:\s[^<>]{0,200})?>", re.IGNORECASE)
_MARK = re.compile(rb"\[(?:secret:[a-z0-9-]{1,40}|private)\]")
_SAYS = re.compile(rb"[^\W_]|[\x80-\xff]")
_LINE_ENDS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """A text without secrets.

    Attributes:
        text: The text, each secret replaced by its mark; as many lines as before.
        counts: How many of each kind were replaced; kinds that were not found are not in it.
    """

    text: str
    counts: Mapping[str, int]


def scrub(text: str, allow: Sequence[str] = (), before: Sequence[str] = ()) -> Scrubbed:
    """Replace every secret and every private span.

    Args:
        text: The text.
        allow: Words, and patterns as ``/…/``, that are never replaced; a pattern matches all of a stretch.
        before: Of a turn of a conversation: the turns before it, in order. They are read, and never changed.

    >>> scrub("host db, password = 'tr0ub4dor&3'").text
    "host db, password = '[secret:password]'"
    """
    counts: Counter[str] = Counter()
    for _ in range(MOST_ROUNDS):
        data = text.encode("latin-1", "replace")
        low = data.lower()
        # Private spans in every round: what stood in a tag can have kept it from being one.
        spans = list(private_spans(text)) if low.find(b"<private") >= 0 else []
        if not spans:
            spans = _merge(_beside_marks(data, chain(_secrets(text, data, low), _answered(text, before))))
            spans = [span for span in spans if not allowed(text[span.start : span.end], allow)]
        if not spans:
            break
        text = _replace(text, spans, counts)
    return Scrubbed(text, MappingProxyType(dict(sorted(counts.items()))))


def allowed(value: str, allow: Sequence[str]) -> bool:
    """Whether the user says that a stretch is no secret."""
    return any(
        re.fullmatch(one[1:-1], value) if len(one) > 2 and one[0] == one[-1] == "/" else one == value
        for one in allow
    )


def _replace(text: str, spans: list[Span], counts: Counter[str]) -> str:
    if not spans:
        return text
    parts: list[str] = []
    end = 0
    for span in spans:
        mark = "[private]" if span.kind == "private" else f"[secret:{span.kind}]"
        parts += (text[end : span.start], mark, *_line_ends(text, span))
        counts[span.kind] += 1
        end = span.end
    parts.append(text[end:])
    return "".join(parts)


def _line_ends(text: str, span: Span) -> Iterator[str]:
    r"""The line ends inside a span; a lone ``\r`` as ``\n``, or it would be one with a ``\n`` that now follows."""
    for held in _LINE_ENDS.finditer(text, span.start, span.end):
        halved = held.end() == span.end and text.startswith("\n", span.end)
        yield "\n" if held[0] == "\r" and not halved else held[0]


def _merge(spans: Iterator[Span]) -> list[Span]:
    """Spans in order, overlapping ones made one; the kind is that of the first whose form is certain."""
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            kind = span.kind if span.certain and not last.certain else last.kind
            merged[-1] = Span(last.start, max(last.end, span.end), kind, last.certain or span.certain)
        else:
            merged.append(span)
    return merged


def _beside_marks(data: bytes, spans: Iterator[Span]) -> Iterator[Span]:
    """Spans without what they cut off a mark: ``-u [secret:stripe-key]:`` is no name and password."""
    marks = (
        [mark.span() for mark in _MARK.finditer(data)] if b"[secret:" in data or b"[private]" in data else []
    )
    for span in spans:
        start, end = span.start, span.end
        for first, last in marks:
            if first < start < last:
                start = last
            if first < end < last:
                end = first
        if (start, end) == (span.start, span.end):
            yield span
        elif start < end and _SAYS.search(data, start, end):
            yield Span(start, end, span.kind, span.certain)


def private_spans(text: str) -> Iterator[Span]:
    """Private spans, nested ones as one; a tag alone between backticks is talk about the tag.

    A span that is never closed goes to the end: too much is safe, too little is not.
    """
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
                yield Span(start, tag.end(), "private", True)
    if depth:
        yield Span(start, len(text), "private", True)


def _secrets(text: str, data: bytes, low: bytes) -> Iterator[Span]:
    """What is found in a text as it stands, and in its tables told row by row."""
    yield from _found(text, data, low)
    for table in tables(text):
        data = table.text.encode("latin-1", "replace")
        for span in _found(table.text, data, data.lower()):
            if place := table.place(span.start, span.end):
                yield Span(*place, span.kind, False)


def _answered(text: str, before: Sequence[str]) -> Iterator[Span]:
    """What is found in a turn when the ends of the turns before it are read with it."""
    ends = tails(before)
    if not ends or not (names_secret(ends[-1]) or names_secret(ends[0])):
        return
    lead = "\n".join([*ends, ""])
    head = text[:HEAD]
    joined = lead + head
    data = joined.encode("latin-1", "replace")
    wanted = asked(ends)
    if wanted is None and questions(ends[-1]):
        return  # where it is, who has it
    for span in _found(joined, data, data.lower()):
        if span.start >= len(lead):
            yield span._replace(start=span.start - len(lead), end=span.end - len(lead))
    if wanted is not None:
        odds = [(at - len(lead), end - len(lead), odd) for at, end, odd in likelihoods(joined, len(lead))]
        for at, end in answers(wanted, head, odds):
            yield Span(at, end, kind(head[at:end]), False)


def _found(text: str, data: bytes, low: bytes) -> Iterator[Span]:
    """What rules find; and what the tagger does, where no rule has found something."""
    places = Places(low)
    ruled = found(text, data, low)
    yield from ruled
    ends = list(accumulate((span.end for span in ruled), max))
    for span in tagged(text, low, places, ruled):
        before = bisect_left(ruled, (span.end,)) - 1  # the last that begins before it ends
        if (before < 0 or ends[before] <= span.start) and not public(data, low, span):
            yield span
