"""Tagged: a text and what rules found in it -> the secrets that the tagger finds besides.

Where neither a token's surroundings promise anything (`Tagger.promising`) nor a rule has found something, nothing
more is done: most of what people write ends here. Elsewhere each token is tagged by its spelling, its surroundings,
what rules found and which words name a secret (`scrub_cues`); tokens in a row that are of a secret are one.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from scrubjay.ingest.scrub_cues import cues
from scrubjay.ingest.scrub_evidence import Named
from scrubjay.ingest.scrub_rules import found
from scrubjay.ingest.scrub_tagger import REACH, Tagger, learnt
from scrubjay.ingest.scrub_tokens import STANDING, Placed, standing
from scrubjay.ingest.scrub_values import Places, Span
from scrubjay.memory.ids import DIGITS
from scrubjay.memory.tiers import CATEGORY_PREFIX, CONCEPT_PREFIX, PREFIX

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SAID: Final = 4
"""What is said of a token: that rules found it for sure, or found it; that it names what people make up, or a key."""
PIECE: Final = 50_000
"""Characters that are looked at together; so much of a text is kept in tokens at a time."""
MARGIN: Final = 600
"""Characters on either side of a piece that are looked at with it."""
CORE: Final = 8
"""Tokens on either side of a promising one, or of what a rule found, that are tagged with it."""
SURE: Final = 0.5
"""A secret's best token has log odds above it."""
JOINED: Final = 3.0
"""How much less a secret's other tokens may have."""
LEAST: Final = 3
"""Characters of a secret."""
LONGEST: Final = 20_000
"""Characters of what rules find that are looked for: the longest are private keys."""
_T = TypeVar("_T", bound=tuple[int, *tuple[object, ...]])
_AROUND: Final = frozenset(" \n\t.,:;\"'`()[]{}<>|*_~=„“”‚‘’«»‹›「」『』。、，：；（）")
_PLAIN: Final = re.compile(
    r"[1-9][0-9]+000|[0-9]{1,2}[-./ ][A-Z][a-z]{2,8}[-./ ][0-9]{4}|[0-9]{4}-[0-9]{2}-[0-9]{2}"
)
"""A limit, a size, a price (of a thousand numbers drawn by lot one ends so); a date."""
_DATED: Final = re.compile(r"^(?:date|created|updated|modified)[ \t]*:[ \t]*[\"']?\Z", re.MULTILINE)
"""Where a note's own date stands, of whatever year."""
_CODE_PHRASE: Final = re.compile(r"\bcode[ -]?(?:phrase|name)s?\b[^.!?\n]{0,24}\Z", re.IGNORECASE)
"""What somebody tells a memory to see whether it remembers: such a phrase opens nothing, and is asked for again."""
_ID: Final = re.compile(
    rf"\b(?:{'|'.join((*PREFIX.values(), CONCEPT_PREFIX, CATEGORY_PREFIX))})[0-9a-f]{{{DIGITS}}}(?![0-9A-Za-z])"
)
"""The id of a memory: in a note it says which one a section is, in a talk which one is meant."""
_NEAR: Final = 40
_LOT: Final = 20
"""Characters from which on what has no blank was drawn by lot."""


def tagged(text: str, low: bytes, places: Places, ruled: Sequence[Span]) -> Iterator[Span]:
    """What the tagger finds.

    Args:
        text: The text.
        low: It in Latin-1 and lower case, one byte a character.
        places: Where what stands in ``low``.
        ruled: What rules found.
    """
    tagger = learnt()
    said: Said | None = None
    named: Named | None = None
    for at in range(0, len(text), PIECE):
        first, last = max(0, at - MARGIN), min(len(text), at + PIECE + MARGIN)
        placed = Placed.of(text, first, last)
        if not placed.tokens:
            continue
        promising = tagger.promising(placed.tokens)
        near = _between(ruled, first, last)
        if not (near or promising.any()):
            continue
        for span in near:
            promising[placed.touched(span.start, span.end)] = True
        said = said or Said.of(text, low, places, ruled)
        for start, end, odds in _tagged(text, tagger, said, placed, _widened(promising, CORE)):
            named = named or Named.of(text, said.words())
            if at <= start < at + PIECE and named.allows(text, start, end, odds):
                yield Span(start, end, kind(text[start:end]), False)


class Said(NamedTuple):
    """What rules found in a text, and the words in it that name a secret: where, and in which column; in order."""

    all: list[tuple[int, int, int]]

    @classmethod
    def of(cls, text: str, low: bytes, places: Places, ruled: Sequence[Span]) -> Said:
        """Look for them."""
        out = [(span.start, span.end, 0 if span.certain else 1) for span in ruled]
        out += [(at, end, 2 if password else 3) for at, end, password in cues(text, low, places)]
        return cls(sorted(out))

    def words(self) -> list[tuple[int, int]]:
        """Where a word that names a secret begins and ends."""
        return [(at, end) for at, end, column in self.all if column >= 2]

    def marks(self, placed: Placed) -> NDArray[np.float32]:
        """How each of some tokens stands, and what is said of it: ``STANDING`` and ``SAID`` numbers."""
        import numpy as np

        out = np.zeros((len(placed.tokens), STANDING + SAID), np.float32)
        out[:, :STANDING] = standing(placed)
        if len(out):
            for start, end, column in _between(self.all, int(placed.starts[0]), int(placed.ends[-1])):
                out[placed.touched(start, end), STANDING + column] = 1
        return out


def _tagged(
    text: str, tagger: Tagger, said: Said, placed: Placed, core: NDArray[np.bool_]
) -> Iterator[tuple[int, int, float]]:
    """The secrets among the tokens of a piece that are to be tagged, each with its log odds."""
    import numpy as np

    for first, last in _runs(_widened(core, REACH // 2)):
        asked = np.flatnonzero(core[first:last])
        start, stop = first + int(asked[0]), first + int(asked[-1]) + 1
        begin = max(0, start - REACH)
        here = placed.part(begin, stop + REACH)
        odds = tagger.tag(here.tokens, said.marks(here), slice(start - begin, stop - begin))
        odds[~core[start:stop]] = -np.inf
        yield from together(text, placed.part(start, stop), odds.tolist(), SURE)


def _runs(those: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Where those in a row begin and end."""
    import numpy as np

    edges = np.flatnonzero(np.diff(np.concatenate([[False], those, [False]]))).tolist()
    return zip(edges[::2], edges[1::2], strict=True)


def together(
    text: str, placed: Placed, odds: Sequence[float], sure: float
) -> Iterator[tuple[int, int, float]]:
    """The secrets of tokens: those in a row, apart by a blank at most, that are likely, one of them surely.

    Each comes with its best token's log odds.
    """
    start, end, best = 0, -2, -math.inf
    behind = len(text) + 9
    starts, ends = [*placed.starts.tolist(), behind], [*placed.ends.tolist(), behind]
    for first, last, odd in zip(starts, ends, [*odds, math.inf], strict=True):
        if odd <= sure - JOINED:
            continue
        if first - end > 1 or (first > end and text[end] != " "):
            if best > sure:
                yield from ((*place, best) for place in _trimmed(text, start, end))
            start, best = first, -math.inf
        end, best = last, max(best, odd)


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A secret without the punctuation of the sentence around it."""
    while start < end and text[start] in _AROUND:
        start += 1
    while start < end and text[end - 1] in _AROUND:
        end -= 1
    near = max(0, start - _NEAR)
    stays = _DATED.search(text, near, start) or _CODE_PHRASE.search(text, near, start)
    stays = stays or _ID.search(text, start, end) or _PLAIN.fullmatch(text, start, end)
    if end - start >= LEAST and not stays:
        yield start, end


def likelihoods(text: str, start: int) -> list[tuple[int, int, float]]:
    """Return the tokens of a short text from a place on, each with the log odds of its being of a secret.

    Args:
        text: The text.
        start: Where the first token begins that is asked about.
    """
    data = text.encode("latin-1", "replace")
    low = data.lower()
    placed = Placed.of(text)
    first = int(placed.touched(start, len(text)).start)
    if first >= len(placed.tokens):
        return []
    said = Said.of(text, low, Places(low), found(text, data, low))
    odds = learnt().tag(placed.tokens, said.marks(placed), slice(first, len(placed.tokens)))
    return list(zip(placed.starts[first:].tolist(), placed.ends[first:].tolist(), odds.tolist(), strict=True))


def kind(value: str) -> str:
    """Return the kind of secret that a value is, as far as its form says."""
    if value.isdigit():
        return "pin"
    return "token" if len(value) >= _LOT and " " not in value else "password"


def _widened(those: NDArray[np.bool_], far: int) -> NDArray[np.bool_]:
    """Those and as many to either side."""
    import numpy as np

    summed = np.concatenate([np.zeros(far + 1, np.int64), np.cumsum(those), np.full(far, those.sum())])
    return summed[2 * far + 1 :] > summed[: len(those)]


def _between(spans: Sequence[_T], first: int, last: int) -> Sequence[_T]:
    """Those of some stretches in order that can reach into a part of the text."""
    return spans[bisect_left(spans, first - LONGEST, key=_begins) : bisect_left(spans, last, key=_begins)]


def _begins(span: tuple[int, *tuple[object, ...]]) -> int:
    return span[0]
