"""Token classifier: a trained tagger that finds the secrets rules miss.

A token is a run of letters and digits of an alphabet, one sign of a script that writes without blanks between words,
one sign of punctuation, or the end of a line. Spelling is told by buckets that words and their parts fall into (a
hashed vocabulary), so that a word nobody has seen is like those it shares parts with.

Small networks, of which the mean counts: the buckets of a token's spelling and its form become a vector, and six
convolutions over the tokens let each see 32 to either side. Their weights were learnt from texts by many authors
(python -m bench tagger) and stand in scrub_tagger.npz. Sums over the tokens near one say beforehand whether looking can
be worth it at all.

Where neither a token's surroundings promise anything (`Tagger.promising`) nor a rule has found something, nothing
more is done: most of what people write ends here. Elsewhere each token is tagged by its spelling, its surroundings,
what rules found and which words name a secret (`scrub_cues`); tokens in a row that are of a secret are one.
"""

from __future__ import annotations

import math
import re
import threading
import zlib
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from io import BytesIO
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from scrubjay.models.ids import ID_DIGITS
from scrubjay.models.records import CATEGORY_PREFIX, ENTITY_PREFIX, TIER_PREFIXES
from scrubjay.redaction.evidence import SecretWords, find_cues
from scrubjay.redaction.patterns import find_by_rules
from scrubjay.redaction.values import PositionIndex, SecretSpan

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


BUCKETS: Final = 8192
MAX_TOKENS: Final = 32
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


def token_buckets(token: str) -> list[int]:
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
    return [_bucket(name) for name in [*named[: MAX_TOKENS - 1], f"S{_shape(token)}"]]


def token_form(token: str) -> list[float]:
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


class TokenSpans(NamedTuple):
    """Tokens in a row, and where in the text each begins and ends."""

    tokens: Sequence[str]
    starts: NDArray[np.intp]
    ends: NDArray[np.intp]

    @classmethod
    def of(cls, text: str, first: int = 0, last: int | None = None) -> TokenSpans:
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

    def part(self, first: int, last: int) -> TokenSpans:
        """Some of them."""
        return TokenSpans(self.tokens[first:last], self.starts[first:last], self.ends[first:last])

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


def token_positions(placed: TokenSpans) -> NDArray[np.float32]:
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


if TYPE_CHECKING:
    Floats = NDArray[np.float32]

CONVOLUTION_STEPS: Final = (1, 2, 4, 8, 16, 1)
"""How far apart the tokens are that each convolution puts together."""
CONVOLUTION_REACH: Final = sum(CONVOLUTION_STEPS)
"""Tokens to either side that can matter to one."""
SCREENING_REACH: Final = 16
"""Tokens to either side whose own weights are summed up before one is looked at."""
REJECT_LOG_ODDS: Final = -4.0
"""Log odds of the first network below which the others are not asked: they never disagree by so much."""
MAX_PRODUCT: Final = 250_000
"""Multiplications up to which OpenBLAS takes one thread for a product: 2^18 less a little."""
BYTE_WEIGHTS: Final = ("table", "mix", "worth")
"""Weights that are kept in a byte each."""
INITIAL_ROWS: Final = 256
"""Rows that there is room for at first."""
MAX_CACHED_PROMISES: Final = 40_000
"""Tokens of which is kept what they promise: with names 6 MB."""
MAX_CACHED_TOKENS: Final = 16_000
"""Tokens of which is kept what they are to the networks: with 200 numbers each 13 MB."""


class TokenRows:
    """What each token comes to by itself, worked out when it is first met.

    Args:
        made: Works out tokens' rows.
        kept: Tokens whose rows are kept, about.
    """

    def __init__(self, made: Callable[[Sequence[str]], Floats], kept: int) -> None:
        self._made, self._kept = made, kept
        self._at: dict[str, int] = {}
        self._rows: Floats
        self._lock = threading.Lock()

    def of(self, tokens: Sequence[str]) -> Floats:
        """A row for each token."""
        import numpy as np

        with self._lock:
            if new := [token for token in dict.fromkeys(tokens) if token not in self._at]:
                if self._at and len(self._at) + len(new) > self._kept:
                    self._at, new = {}, list(dict.fromkeys(tokens))
                self._add(new)
            return self._rows[np.fromiter(map(self._at.__getitem__, tokens), np.intp, len(tokens))]

    def _add(self, new: Sequence[str]) -> None:
        import numpy as np

        made, first = self._made(new), len(self._at)
        room = first + len(new)
        if not first or room > len(self._rows):
            rows = np.empty((max(2 * room, INITIAL_ROWS), *made.shape[1:]), np.float32)
            rows[:first] = self._rows[:first] if first else 0
            self._rows = rows
        self._rows[first:room] = made
        self._at |= {token: row for row, token in enumerate(new, first)}


class Tagger:
    """The networks.

    Args:
        held: Their weights by name, a network after the other: ``table`` (a vector a bucket), ``word`` (what that and
            a form add to the first layer), ``marks`` (what how a token stands and what rules say of it add), ``bias``,
            ``mix`` and ``shift`` (a matrix and a vector of each convolution), ``out``, ``last``. And of all together
            ``worth`` (what buckets and a form promise) and ``least``.
    """

    def __init__(self, held: Mapping[str, Floats]) -> None:
        self._held = held
        self._worth, self._first = (
            TokenRows(self._promise, MAX_CACHED_PROMISES),
            TokenRows(self._spelt, MAX_CACHED_TOKENS),
        )

    def promising(self, tokens: Sequence[str]) -> NDArray[np.bool_]:
        """Whether each token may be of a secret, by itself and by what stands near."""
        import numpy as np

        near, own, after, before = self._worth.of(tokens).T
        summed = np.concatenate(
            [
                np.zeros(SCREENING_REACH + 1),
                np.cumsum(near, dtype=np.float64),
                np.full(SCREENING_REACH, near.sum()),
            ]
        )
        promised = summed[2 * SCREENING_REACH + 1 :] - summed[: len(tokens)] + own
        promised[1:] += after[:-1]
        promised[:-1] += before[1:]
        promise: NDArray[np.bool_] = promised > self._held["least"]
        return promise

    def tag(self, tokens: Sequence[str], marks: Floats, core: slice) -> Floats:
        """The log odds of each token's being of a secret.

        Args:
            tokens: Tokens in a row.
            marks: How each stands and what rules say of it, a row each.
            core: Those that are asked about; the others are what they stand among, and their odds say nothing.
        """
        import numpy as np

        own = self._first.of(tokens)
        first = [
            own[:, net] + matrix_product(marks, learnt) for net, learnt in enumerate(self._held["marks"])
        ]
        odds = [self._odds(0, first[0], core)]
        if odds[0].max() > REJECT_LOG_ODDS:
            odds += [self._odds(net, first[net], core) for net in range(1, len(first))]
        mean: Floats = np.mean(odds, axis=0, dtype=np.float32)
        return mean

    def _odds(self, net: int, first: Floats, core: slice) -> Floats:
        """What one network says of the core; each convolution is worked out as far as it can still matter to that."""
        import numpy as np

        held, (size, width), far = self._held, first.shape, CONVOLUTION_REACH
        hidden = np.zeros((size + 2 * max(CONVOLUTION_STEPS), width), np.float32)
        inner = hidden[max(CONVOLUTION_STEPS) : max(CONVOLUTION_STEPS) + size]
        np.maximum(first, 0, out=inner)
        for step, mix, shift in zip(CONVOLUTION_STEPS, held["mix"][net], held["shift"][net], strict=True):
            far -= step
            at, end = max(0, core.start - far), min(size, core.stop + far)
            mixed = matrix_product(inner[at:end], mix[width : 2 * width]) + shift
            for apart, part in ((-step, mix[:width]), (step, mix[2 * width :])):
                mixed += matrix_product(hidden[max(CONVOLUTION_STEPS) + at + apart :][: end - at], part)
            inner[at:end] += np.maximum(mixed, 0, out=mixed)
        odds: Floats = matrix_product(inner[core], held["out"][net][:, None])[:, 0] + held["last"][net]
        return odds

    def _promise(self, tokens: Sequence[str]) -> Floats:
        import numpy as np

        seen, worth = TokenFeatures.of(tokens), self._held["worth"]
        promised = np.add.reduceat(worth[seen.buckets], seen.firsts) / seen.roots + matrix_product(
            seen.forms, worth[BUCKETS:]
        )
        signs = [at for at, token in enumerate(tokens) if len(token) == 1 and not token.isalnum()]
        promised[signs, 1] = -np.inf  # a secret has letters or digits, and those are asked themselves
        return np.asarray(promised, np.float32)

    def _spelt(self, tokens: Sequence[str]) -> Floats:
        import numpy as np

        seen, held = TokenFeatures.of(tokens), self._held
        spelt = np.add.reduceat(held["table"][:, seen.buckets], seen.firsts, axis=1) / seen.roots
        looks = [np.concatenate([own, seen.forms], 1) for own in spelt]
        first = [matrix_product(look, word) for look, word in zip(looks, held["word"], strict=True)]
        return np.asarray(np.stack(first, 1) + held["bias"], np.float32)


class TokenFeatures(NamedTuple):
    """What there is to see of some tokens.

    Attributes:
        buckets: The buckets of all, one token's after the other's.
        firsts: Where each one's begin.
        roots: The root of how many each has.
        forms: The form of each.
    """

    buckets: NDArray[np.intp]
    firsts: NDArray[np.intp]
    roots: Floats
    forms: Floats

    @classmethod
    def of(cls, tokens: Sequence[str]) -> TokenFeatures:
        """Look at them."""
        import numpy as np

        own = [token_buckets(token) for token in tokens]
        counts = np.array([len(some) for some in own])
        return cls(
            np.fromiter(chain.from_iterable(own), np.intp, int(counts.sum())),
            np.cumsum(counts) - counts,
            np.sqrt(counts, dtype=np.float32)[:, None],
            np.array([token_form(token) for token in tokens], np.float32),
        )


def matrix_product(rows: Floats, by: Floats) -> Floats:
    """The product of two matrices, in parts so small that one thread works each out.

    More threads gain nothing here, and where other processes are at work each product would wait for all of them.
    """
    import numpy as np

    most = max(1, MAX_PRODUCT // by.size)
    if len(rows) <= most:
        whole: Floats = rows @ by
        return whole
    parts = -(-len(rows) // most)
    filled = np.zeros((parts * most, rows.shape[1]), np.float32)
    filled[: len(rows)] = rows
    several: Floats = (filled.reshape(parts, most, -1) @ by).reshape(parts * most, -1)[: len(rows)]
    return several


@cache
def load_tagger() -> Tagger:
    """The tagger that comes with the package."""
    return Tagger(unpack_weights(resources.files(__package__).joinpath("classifier.npz").read_bytes()))


def pack_weights(weights: Mapping[str, NDArray[np.float32]]) -> bytes:
    """Weights as they are kept: most of them in a byte each, by the largest of their column."""
    import numpy as np

    kept: dict[str, NDArray[np.generic]] = {}
    for name, array in weights.items():
        if name not in BYTE_WEIGHTS:
            kept[name] = array
            continue
        scale = np.maximum(np.abs(array).max(axis=-2, keepdims=True), 1e-12) / 127
        kept[name] = np.round(array / scale).astype(np.int8)
        kept[f"{name}_scale"] = scale.astype(np.float32)
    to = BytesIO()
    np.savez_compressed(to, **kept)  # type: ignore[arg-type]
    return to.getvalue()


def unpack_weights(data: bytes) -> dict[str, NDArray[np.float32]]:
    """Weights of what ``pack_weights`` made."""
    import numpy as np

    with np.load(BytesIO(data), allow_pickle=False) as kept:
        return {
            name: kept[name].astype(np.float32) * kept.get(f"{name}_scale", 1)
            for name in kept.files
            if not name.endswith("_scale")
        }


RULE_COLUMNS: Final = 4
"""What is said of a token: that rules found it for sure, or found it; that it names what people make up, or a key."""
PIECE_CHARACTERS: Final = 50_000
"""Characters that are looked at together; so much of a text is kept in tokens at a time."""
MARGIN_CHARACTERS: Final = 600
"""Characters on either side of a piece that are looked at with it."""
CORE_TOKENS: Final = 8
"""Tokens on either side of a promising one, or of what a rule found, that are tagged with it."""
SURE_LOG_ODDS: Final = 0.5
"""A secret's best token has log odds above it."""
JOINED_LOG_ODDS: Final = 3.0
"""How much less a secret's other tokens may have."""
MIN_SECRET: Final = 3
"""Characters of a secret."""
MAX_FINDING: Final = 20_000
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
    rf"\b(?:{'|'.join((*TIER_PREFIXES.values(), ENTITY_PREFIX, CATEGORY_PREFIX))})"
    rf"[0-9a-f]{{{ID_DIGITS}}}(?![0-9A-Za-z])"
)
"""The id of a memory: in a note it says which one a section is, in a talk which one is meant."""
_NEAR: Final = 40
_LOT: Final = 20
"""Characters from which on what has no blank was drawn by lot."""


def find_by_classifier(
    text: str, low: bytes, places: PositionIndex, ruled: Sequence[SecretSpan]
) -> Iterator[SecretSpan]:
    """What the tagger finds.

    Args:
        text: The text.
        low: It in Latin-1 and lower case, one byte a character.
        places: Where what stands in ``low``.
        ruled: What rules found.
    """
    tagger = load_tagger()
    said: RuleFindings | None = None
    named: SecretWords | None = None
    for at in range(0, len(text), PIECE_CHARACTERS):
        first, last = (
            max(0, at - MARGIN_CHARACTERS),
            min(len(text), at + PIECE_CHARACTERS + MARGIN_CHARACTERS),
        )
        placed = TokenSpans.of(text, first, last)
        if not placed.tokens:
            continue
        promising = tagger.promising(placed.tokens)
        near = _between(ruled, first, last)
        if not (near or promising.any()):
            continue
        for span in near:
            promising[placed.touched(span.start, span.end)] = True
        said = said or RuleFindings.of(text, low, places, ruled)
        for start, end, odds in _tagged(text, tagger, said, placed, _widened(promising, CORE_TOKENS)):
            named = named or SecretWords.of(text, said.words())
            if at <= start < at + PIECE_CHARACTERS and named.allows(text, start, end, odds):
                yield SecretSpan(start, end, kind_of_value(text[start:end]), False)


class RuleFindings(NamedTuple):
    """What rules found in a text, and the words in it that name a secret: where, and in which column; in order."""

    all: list[tuple[int, int, int]]

    @classmethod
    def of(cls, text: str, low: bytes, places: PositionIndex, ruled: Sequence[SecretSpan]) -> RuleFindings:
        """Look for them."""
        out = [(span.start, span.end, 0 if span.certain else 1) for span in ruled]
        out += [(at, end, 2 if password else 3) for at, end, password in find_cues(text, low, places)]
        return cls(sorted(out))

    def words(self) -> list[tuple[int, int]]:
        """Where a word that names a secret begins and ends."""
        return [(at, end) for at, end, column in self.all if column >= 2]

    def marks(self, placed: TokenSpans) -> NDArray[np.float32]:
        """How each of some tokens stands, and what is said of it: ``STANDING`` and ``RULE_COLUMNS`` numbers."""
        import numpy as np

        out = np.zeros((len(placed.tokens), STANDING + RULE_COLUMNS), np.float32)
        out[:, :STANDING] = token_positions(placed)
        if len(out):
            for start, end, column in _between(self.all, int(placed.starts[0]), int(placed.ends[-1])):
                out[placed.touched(start, end), STANDING + column] = 1
        return out


def _tagged(
    text: str, tagger: Tagger, said: RuleFindings, placed: TokenSpans, core: NDArray[np.bool_]
) -> Iterator[tuple[int, int, float]]:
    import numpy as np

    for first, last in _runs(_widened(core, CONVOLUTION_REACH // 2)):
        asked = np.flatnonzero(core[first:last])
        start, stop = first + int(asked[0]), first + int(asked[-1]) + 1
        begin = max(0, start - CONVOLUTION_REACH)
        here = placed.part(begin, stop + CONVOLUTION_REACH)
        odds = tagger.tag(here.tokens, said.marks(here), slice(start - begin, stop - begin))
        odds[~core[start:stop]] = -np.inf
        yield from join_tokens(text, placed.part(start, stop), odds.tolist(), SURE_LOG_ODDS)


def _runs(those: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    import numpy as np

    edges = np.flatnonzero(np.diff(np.concatenate([[False], those, [False]]))).tolist()
    return zip(edges[::2], edges[1::2], strict=True)


def join_tokens(
    text: str, placed: TokenSpans, odds: Sequence[float], sure: float
) -> Iterator[tuple[int, int, float]]:
    """The secrets of tokens: those in a row, apart by a blank at most, that are likely, one of them surely.

    Each comes with its best token's log odds.
    """
    start, end, best = 0, -2, -math.inf
    behind = len(text) + 9
    starts, ends = [*placed.starts.tolist(), behind], [*placed.ends.tolist(), behind]
    for first, last, odd in zip(starts, ends, [*odds, math.inf], strict=True):
        if odd <= sure - JOINED_LOG_ODDS:
            continue
        if first - end > 1 or (first > end and text[end] != " "):
            if best > sure:
                yield from ((*place, best) for place in _trimmed(text, start, end))
            start, best = first, -math.inf
        end, best = last, max(best, odd)


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start] in _AROUND:
        start += 1
    while start < end and text[end - 1] in _AROUND:
        end -= 1
    near = max(0, start - _NEAR)
    stays = _DATED.search(text, near, start) or _CODE_PHRASE.search(text, near, start)
    stays = stays or _ID.search(text, start, end) or _PLAIN.fullmatch(text, start, end)
    if end - start >= MIN_SECRET and not stays:
        yield start, end


def token_log_odds(text: str, start: int) -> list[tuple[int, int, float]]:
    """Return the tokens of a short text from a place on, each with the log odds of its being of a secret.

    Args:
        text: The text.
        start: Where the first token begins that is asked about.
    """
    data = text.encode("latin-1", "replace")
    low = data.lower()
    placed = TokenSpans.of(text)
    first = int(placed.touched(start, len(text)).start)
    if first >= len(placed.tokens):
        return []
    said = RuleFindings.of(text, low, PositionIndex(low), find_by_rules(text, data, low))
    odds = load_tagger().tag(placed.tokens, said.marks(placed), slice(first, len(placed.tokens)))
    return list(zip(placed.starts[first:].tolist(), placed.ends[first:].tolist(), odds.tolist(), strict=True))


def kind_of_value(value: str) -> str:
    """Return the kind of secret that a value is, as far as its form says."""
    if value.isdigit():
        return "pin"
    return "token" if len(value) >= _LOT and " " not in value else "password"


def _widened(those: NDArray[np.bool_], far: int) -> NDArray[np.bool_]:
    import numpy as np

    summed = np.concatenate([np.zeros(far + 1, np.int64), np.cumsum(those), np.full(far, those.sum())])
    return summed[2 * far + 1 :] > summed[: len(those)]


def _between(spans: Sequence[_T], first: int, last: int) -> Sequence[_T]:
    return spans[bisect_left(spans, first - MAX_FINDING, key=_begins) : bisect_left(spans, last, key=_begins)]


def _begins(span: tuple[int, *tuple[object, ...]]) -> int:
    return span[0]
