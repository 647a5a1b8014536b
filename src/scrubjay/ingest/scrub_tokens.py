"""Tokens: a text -> its tokens, and what is to be seen of each: what it is spelt like, what made of, how it stands.

A token is a run of letters and digits of an alphabet, one sign of a script that writes without blanks between words,
one sign of punctuation, or the end of a line. Spelling is told by buckets that words and their parts fall into (a
hashed vocabulary), so that a word nobody has seen is like those it shares parts with.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BUCKETS: Final = 8192
MOST: Final = 32
"""Buckets of a token, at most."""
FORM: Final = 19
STANDING: Final = 4
LONG: Final = 24
"""Characters from which on a token is no word, and its parts say nothing."""
BEFORE: Final = 64
"""Tokens before one among which it is looked for again."""

TOKEN: Final = re.compile(
    r"\n|[0-9A-Za-z_\u00aa-\u02af\u0300-\u036f\u0370-\u052f\u1e00-\u1fff]{1,128}|[\u3040-\u30ff\u3400-\u9fff]"
    r"|[\u0530-\u1cff\ua640-\ud7ff\uf900-\ufdff\ufe70-\ufeff]{1,128}|[^\s]"
)
_VOWELS: Final = frozenset("aeiouyäöüáéíóúàèìòùâêîôûåøæãõаеёиоуыэюяієї")
_CONSONANTS: Final = re.compile(r"[bcdfghjklmnpqrstvwxz]+")
_LETTERS: Final = re.compile(r"[a-z]+")
_NO_VOWELS: Final = dict.fromkeys(map(ord, _VOWELS))
_HEX: Final = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_AGAIN: Final = re.compile(r"(.)\1+")
_YEARS: Final = ("19", "20")


def buckets(token: str) -> list[int]:
    """The buckets of a token's word and of its parts, of its shape and its length."""
    low, size = token.lower(), len(token)
    if token.isdigit():
        named = [f"D{min(size, 20)}", f"N{token}" if size <= 4 else "D+"]
        named += ["YEAR"] if size == 4 and token.startswith(_YEARS) else []
    elif size == 1 and not token.isalpha():
        return [_bucket(f"P{token}")]
    elif size <= LONG:
        whole = f"^{low}$"
        named = [f"W{low}"]
        named += [f"W{part}" for part in low.split("_") if part] if "_" in low else []
        if size > 1:
            parts = {whole[at : at + width] for width in (3, 4) for at in range(len(whole) - width + 1)}
            named += sorted(parts)[:28]
    else:
        named = ["LONG", f"^{low[:3]}", f"^{low[:4]}", f"L{min(size, 80) // 8}"]
    return [_bucket(name) for name in [*named[: MOST - 1], f"S{_shape(token)}"]]


def form(token: str) -> list[float]:
    """What a token is made of: ``FORM`` numbers about 0 to 2."""
    low, size = token.lower(), len(token)
    if _LETTERS.fullmatch(token):
        return _of_letters(token, size)
    lower = sum(map(str.islower, token))
    upper = sum(map(str.isupper, token))
    digits = sum(map(str.isdigit, token))
    pairs = list(pairwise(token))
    turns = sum(a.isdigit() != b.isdigit() for a, b in pairs)
    humps = sum(a.islower() and b.isupper() for a, b in pairs)
    vowels = sum(letter in _VOWELS for letter in low)
    unsayable = max((len(run) for run in _CONSONANTS.findall(low)), default=0)
    lettered = any(map(str.isalpha, token))
    return [
        math.log1p(size) / 3,
        lower / size,
        upper / size,
        digits / size,
        min(turns, 8) / 4,
        min(humps, 6) / 3,
        vowels / max(1, lower + upper),
        min(unsayable, 8) / 4,
        float(size >= 6 and _HEX.fullmatch(token) is not None),
        float(lettered and digits > 0),
        float(token == "\n"),
        float(size == 1 and not token.isalnum()),
        float(token.isascii()),
        float(token[0].isupper() and lower == size - 1),
        float(upper == size > 1),
        float(size >= 16),
        float(size >= 32),
        float("_" in token),
        len(set(token)) / size,
    ]


def _of_letters(token: str, size: int) -> list[float]:
    """The form of a word in small letters, as most are; the same as is worked out for any other."""
    vowels = size - len(token.translate(_NO_VOWELS))
    run = max((len(run) for run in _CONSONANTS.findall(token)), default=0)
    hexed = float(size >= 6 and _HEX.fullmatch(token) is not None)
    made = [math.log1p(size) / 3, 1.0, 0.0, 0.0, 0.0, 0.0, vowels / size, min(run, 8) / 4, hexed]
    return [
        *made,
        0.0,
        0.0,
        0.0,
        1.0,
        0.0,
        0.0,
        float(size >= 16),
        float(size >= 32),
        0.0,
        len(set(token)) / size,
    ]


class Placed(NamedTuple):
    """Tokens in a row, and where in the text each begins and ends."""

    tokens: Sequence[str]
    starts: NDArray[np.intp]
    ends: NDArray[np.intp]

    @classmethod
    def of(cls, text: str, first: int = 0, last: int | None = None) -> Placed:
        """The tokens of a part of a text, which is the whole unless told.

        Every character but white space is of one token, and the end of a line is: so their lengths say where they
        stand, in a third of the time that it takes to ask each match.
        """
        import numpy as np

        part = text[first:last]
        tokens = TOKEN.findall(part)
        codes = np.frombuffer(part.encode("utf-32-le", "surrogatepass"), np.uint32)
        held = _held()
        places = np.flatnonzero(held[np.minimum(codes, len(held) - 1)]) + first
        ends = np.cumsum(np.fromiter(map(len, tokens), np.intp, len(tokens)))
        return cls(tokens, places[np.concatenate([[0], ends])[:-1]], places[ends - 1] + 1)

    def part(self, first: int, last: int) -> Placed:
        """Some of them."""
        return Placed(self.tokens[first:last], self.starts[first:last], self.ends[first:last])

    def touched(self, start: int, end: int) -> slice:
        """Those that a stretch of the text touches."""
        import numpy as np

        return slice(
            int(np.searchsorted(self.ends, start, "right")), int(np.searchsorted(self.starts, end, "left"))
        )


@cache
def _held() -> NDArray[np.bool_]:
    """Whether each character is of a token, up to the last white space and one more, which stands for all others."""
    import numpy as np

    return np.array([TOKEN.match(chr(code)) is not None for code in range(0x3002)])


def standing(placed: Placed) -> NDArray[np.float32]:
    """How tokens stand: after a blank, after more, how far into the line, whether they stood just before."""
    import numpy as np

    tokens, starts, ends = placed
    out = np.zeros((len(tokens), STANDING), np.float32)
    if not len(tokens):
        return out
    gaps = starts - np.concatenate([starts[:1], ends[:-1]])
    out[:, 0], out[:, 1] = gaps > 0, gaps > 1
    lines = np.where(np.array([token == "\n" for token in tokens]), ends, starts[0])
    out[:, 2] = np.minimum(starts - np.minimum(np.maximum.accumulate(lines), starts), 160) / 80
    last: dict[str, int] = {}
    for at, token in enumerate(tokens):
        if len(token) > 3:
            out[at, 3] = at - last.get(token, -BEFORE - 1) <= BEFORE
            last[token] = at
    return out


def _shape(token: str) -> str:
    shape = "".join(
        "a"
        if letter.islower()
        else "A"
        if letter.isupper()
        else "9"
        if letter.isdigit()
        else "k"
        if letter.isalpha()
        else letter
        for letter in token[:40]
    )
    return _AGAIN.sub(r"\1", shape)[:10]


def _bucket(name: str) -> int:
    return zlib.crc32(name.encode("utf-8", "surrogatepass")) % BUCKETS
