"""Again: the secrets that were found -> the other places where each of them stands.

What was found once by the words beside it is as much a secret where nothing stands beside it: "the new one is …" and
three lines below a command that has it. Only what nobody writes for another reason is looked for again: a token with
digits or signs among letters, or words in a row.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from scrubjay.ingest.scrub_values import Span

MOST: Final = 40
"""Secrets of a text that are looked for again: each costs a look through all of it."""
MOST_PLACES: Final = 4
"""What stands in more of them is a name in a program, and was none from the first."""
LEAST: Final = 8
LONGEST: Final = 128

_KINDS: Final = frozenset(("password", "secret", "token", "api-key", "answer", "url-token", "session-cookie"))
_OWN: Final = re.compile(
    r"(?=.*[A-Za-z])(?=.*[0-9!#$%&*+@^~])(?![A-Za-z_][\w.]*\Z).*\Z|[^\W\d_]+(?:[ ][^\W\d_]+){2,}\Z"
)


def repeated(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """The other places of what was found.

    Args:
        text: The text.
        spans: What was found in it.
    """
    known: dict[str, str] = {}
    for span in spans:
        value = text[span.start : span.end]
        if span.kind in _KINDS and LEAST <= len(value) <= LONGEST and len(known) < MOST and _OWN.match(value):
            known.setdefault(value, span.kind)
    for value, kind in known.items():
        if text.count(value) <= MOST_PLACES:
            at = text.find(value)
            while at >= 0:
                end = at + len(value)
                if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
                    yield Span(at, end, kind, False)
                at = text.find(value, end)
