"""Token classifier: a trained tagger that finds the secrets that rules miss.

A token is a run of letters and digits, one sign of punctuation or of a script without spaces, or a line end. The hashed
parts of its spelling and its form become a vector, over which six convolutions see 32 tokens to either side; the mean
of a few such networks counts. The weights in classifier.npz are trained on texts of many authors (python -m bench
tagger). Sums over nearby tokens decide first whether a piece of text is worth tagging.
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
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from scrubjay.models.ids import ID_DIGITS
from scrubjay.models.records import CATEGORY_PREFIX, ENTITY_PREFIX, TIER_PREFIXES
from scrubjay.redaction.evidence import SecretWords, find_cues
from scrubjay.redaction.patterns import find_by_rules
from scrubjay.redaction.values import PositionIndex, SecretSpan, trim_span

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


BUCKETS: Final = 8192
MAX_TOKENS: Final = 32
"""Most buckets of a token."""
FORM: Final = 19
STANDING: Final = 4
LONG: Final = 24
"""Characters above which a token is no word."""
BEFORE: Final = 64
"""Tokens before one in which its repetition counts."""

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
    """Return the hash buckets of a token's spelling, its parts, its shape and its length."""
    low, size = token.lower(), len(token)
    if token.isdigit():
        names = [f"D{min(size, 20)}", f"N{token}" if size <= 4 else "D+"]
        names += ["YEAR"] if size == 4 and token.startswith(_YEARS) else []
    elif size == 1 and not token.isalpha():
        return [_bucket(f"P{token}")]
    elif size <= LONG:
        word = f"^{low}$"
        names = [f"W{low}"]
        names += [f"W{part}" for part in low.split("_") if part] if "_" in low else []
        if size > 1:
            parts = {word[at : at + width] for width in (3, 4) for at in range(len(word) - width + 1)}
            names += sorted(parts)[:28]
    else:
        names = ["LONG", f"^{low[:3]}", f"^{low[:4]}", f"L{min(size, 80) // 8}"]
    return [_bucket(name) for name in [*names[: MAX_TOKENS - 1], f"S{_shape(token)}"]]


def token_form(token: str) -> list[float]:
    """Return ``FORM`` numbers, about 0 to 2, that describe a token's characters."""
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
    consonants = max((len(run) for run in _CONSONANTS.findall(low)), default=0)
    has_letters = any(map(str.isalpha, token))
    return [
        math.log1p(size) / 3,
        lower / size,
        upper / size,
        digits / size,
        min(turns, 8) / 4,
        min(humps, 6) / 3,
        vowels / max(1, lower + upper),
        min(consonants, 8) / 4,
        float(size >= 6 and _HEX.fullmatch(token) is not None),
        float(has_letters and digits > 0),
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
    is_hex = float(size >= 6 and _HEX.fullmatch(token) is not None)
    first = [math.log1p(size) / 3, 1.0, 0.0, 0.0, 0.0, 0.0, vowels / size, min(run, 8) / 4, is_hex]
    return [
        *first,
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
    """Consecutive tokens with their offsets in the text."""

    tokens: Sequence[str]
    starts: NDArray[np.intp]
    ends: NDArray[np.intp]

    @classmethod
    def of(cls, text: str, first: int = 0, last: int | None = None) -> TokenSpans:
        """Tokenize a part of a text. Offsets from lengths are three times as fast as those of matches."""
        import numpy as np

        part = text[first:last]
        tokens = TOKEN.findall(part)
        codes = np.frombuffer(part.encode("utf-32-le", "surrogatepass"), np.uint32)
        is_token = _token_characters()
        places = np.flatnonzero(is_token[np.minimum(codes, len(is_token) - 1)]) + first
        ends = np.cumsum(np.fromiter(map(len, tokens), np.intp, len(tokens)))
        return cls(tokens, places[np.concatenate([[0], ends])[:-1]], places[ends - 1] + 1)

    def part(self, first: int, last: int) -> TokenSpans:
        return TokenSpans(self.tokens[first:last], self.starts[first:last], self.ends[first:last])

    def touched(self, start: int, end: int) -> slice:
        """Return the tokens that overlap a span of the text."""
        import numpy as np

        return slice(
            int(np.searchsorted(self.ends, start, "right")), int(np.searchsorted(self.starts, end, "left"))
        )


@cache
def _token_characters() -> NDArray[np.bool_]:
    """Tell which characters belong to tokens; the last one, past all white space, represents all others."""
    import numpy as np

    return np.array([TOKEN.match(chr(code)) is not None for code in range(0x3002)])


def token_positions(spans: TokenSpans) -> NDArray[np.float32]:
    """Return for each token: after a space, after more, distance into the line, whether it occurred shortly before."""
    import numpy as np

    tokens, starts, ends = spans
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
"""Distance between the tokens that each convolution combines."""
CONVOLUTION_REACH: Final = sum(CONVOLUTION_STEPS)
"""Tokens to either side that can affect one."""
SCREENING_REACH: Final = 16
"""Tokens to either side whose screening weights are summed."""
REJECT_LOG_ODDS: Final = -4.0
"""Log odds of the first network below which the others are skipped: they never differ by so much."""
MAX_PRODUCT: Final = 250_000
"""Multiplications up to which OpenBLAS uses one thread: 2^18 less a little."""
BYTE_WEIGHTS: Final = ("table", "mix", "worth")
"""Weights that are stored as a byte each."""
INITIAL_ROWS: Final = 256
MAX_CACHED_SCREENED: Final = 40_000
"""6 MB with the tokens."""
MAX_CACHED_TOKENS: Final = 16_000
"""13 MB with 200 numbers each."""


class TokenRows:
    """Cache of the rows that are computed for each token alone."""

    def __init__(self, compute: Callable[[Sequence[str]], Floats], limit: int) -> None:
        self._compute, self._limit = compute, limit
        self._indexes: dict[str, int] = {}
        self._rows: Floats
        self._lock = threading.Lock()

    def of(self, tokens: Sequence[str]) -> Floats:
        import numpy as np

        with self._lock:
            if new := [token for token in dict.fromkeys(tokens) if token not in self._indexes]:
                if self._indexes and len(self._indexes) + len(new) > self._limit:
                    self._indexes, new = {}, list(dict.fromkeys(tokens))
                self._add(new)
            return self._rows[np.fromiter(map(self._indexes.__getitem__, tokens), np.intp, len(tokens))]

    def _add(self, tokens: Sequence[str]) -> None:
        import numpy as np

        computed, first = self._compute(tokens), len(self._indexes)
        size = first + len(tokens)
        if not first or size > len(self._rows):
            rows = np.empty((max(2 * size, INITIAL_ROWS), *computed.shape[1:]), np.float32)
            rows[:first] = self._rows[:first] if first else 0
            self._rows = rows
        self._rows[first:size] = computed
        self._indexes |= {token: row for row, token in enumerate(tokens, first)}


class Tagger:
    """The networks.

    Args:
        weights: By name, one network after the other: ``table`` (a vector a bucket), ``word`` (first layer, from that
            and a form), ``marks`` (first layer, from position and rules), ``bias``, ``mix`` and ``shift`` (matrix and
            vector of each convolution), ``out``, ``last``. And for screening ``worth`` (of buckets and forms) and
            ``least``.
    """

    def __init__(self, weights: Mapping[str, Floats]) -> None:
        self._weights = weights
        self._screening = TokenRows(self._screening_rows, MAX_CACHED_SCREENED)
        self._first = TokenRows(self._first_layer, MAX_CACHED_TOKENS)

    def promising(self, tokens: Sequence[str]) -> NDArray[np.bool_]:
        """Tell for each token whether it may be part of a secret, by itself and by its neighbours."""
        import numpy as np

        near, own, after, before = self._screening.of(tokens).T
        summed = np.concatenate(
            [
                np.zeros(SCREENING_REACH + 1),
                np.cumsum(near, dtype=np.float64),
                np.full(SCREENING_REACH, near.sum()),
            ]
        )
        scores = summed[2 * SCREENING_REACH + 1 :] - summed[: len(tokens)] + own
        scores[1:] += after[:-1]
        scores[:-1] += before[1:]
        promising: NDArray[np.bool_] = scores > self._weights["least"]
        return promising

    def tag(self, tokens: Sequence[str], marks: Floats, core: slice) -> Floats:
        """Return each core token's log odds of being part of a secret.

        Args:
            tokens: Consecutive tokens.
            marks: Position and rule findings of each, one row a token.
            core: The tokens in question; the others are context.
        """
        import numpy as np

        own = self._first.of(tokens)
        first = [
            own[:, net] + matrix_product(marks, own_weights)
            for net, own_weights in enumerate(self._weights["marks"])
        ]
        odds = [self._odds(0, first[0], core)]
        if odds[0].max() > REJECT_LOG_ODDS:
            odds += [self._odds(net, first[net], core) for net in range(1, len(first))]
        mean: Floats = np.mean(odds, axis=0, dtype=np.float32)
        return mean

    def _odds(self, net: int, first: Floats, core: slice) -> Floats:
        """Each convolution is computed only as far as it can still affect the core."""
        import numpy as np

        weights, (size, width), far = self._weights, first.shape, CONVOLUTION_REACH
        hidden = np.zeros((size + 2 * max(CONVOLUTION_STEPS), width), np.float32)
        inner = hidden[max(CONVOLUTION_STEPS) : max(CONVOLUTION_STEPS) + size]
        np.maximum(first, 0, out=inner)
        for step, mix, shift in zip(
            CONVOLUTION_STEPS, weights["mix"][net], weights["shift"][net], strict=True
        ):
            far -= step
            at, end = max(0, core.start - far), min(size, core.stop + far)
            mixed = matrix_product(inner[at:end], mix[width : 2 * width]) + shift
            for apart, part in ((-step, mix[:width]), (step, mix[2 * width :])):
                mixed += matrix_product(hidden[max(CONVOLUTION_STEPS) + at + apart :][: end - at], part)
            inner[at:end] += np.maximum(mixed, 0, out=mixed)
        odds: Floats = matrix_product(inner[core], weights["out"][net][:, None])[:, 0] + weights["last"][net]
        return odds

    def _screening_rows(self, tokens: Sequence[str]) -> Floats:
        import numpy as np

        features, worth = TokenFeatures.of(tokens), self._weights["worth"]
        rows = np.add.reduceat(worth[features.buckets], features.firsts) / features.roots + matrix_product(
            features.forms, worth[BUCKETS:]
        )
        signs = [at for at, token in enumerate(tokens) if len(token) == 1 and not token.isalnum()]
        rows[signs, 1] = -np.inf  # a secret has letters or digits, which are screened themselves
        return np.asarray(rows, np.float32)

    def _first_layer(self, tokens: Sequence[str]) -> Floats:
        import numpy as np

        features, weights = TokenFeatures.of(tokens), self._weights
        spelling = (
            np.add.reduceat(weights["table"][:, features.buckets], features.firsts, axis=1) / features.roots
        )
        inputs = [np.concatenate([own, features.forms], 1) for own in spelling]
        first = [matrix_product(own, word) for own, word in zip(inputs, weights["word"], strict=True)]
        return np.asarray(np.stack(first, 1) + weights["bias"], np.float32)


class TokenFeatures(NamedTuple):
    """Features of some tokens.

    Attributes:
        buckets: The buckets of all, one token after the other.
        firsts: Index of each token's first bucket.
        roots: Square root of each token's number of buckets.
    """

    buckets: NDArray[np.intp]
    firsts: NDArray[np.intp]
    roots: Floats
    forms: Floats

    @classmethod
    def of(cls, tokens: Sequence[str]) -> TokenFeatures:
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
    """Multiply in parts that are small enough for one thread of OpenBLAS.

    More threads gain nothing here, and beside other processes each product would wait for all of them.
    """
    import numpy as np

    most = max(1, MAX_PRODUCT // by.size)
    if len(rows) <= most:
        product: Floats = rows @ by
        return product
    parts = -(-len(rows) // most)
    filled = np.zeros((parts * most, rows.shape[1]), np.float32)
    filled[: len(rows)] = rows
    products: Floats = (filled.reshape(parts, most, -1) @ by).reshape(parts * most, -1)[: len(rows)]
    return products


@cache
def load_tagger() -> Tagger:
    return Tagger(unpack_weights(resources.files(__package__).joinpath("classifier.npz").read_bytes()))


def pack_weights(weights: Mapping[str, NDArray[np.float32]]) -> bytes:
    """Serialize weights, most of them as a byte each, scaled by the largest of their column."""
    import numpy as np

    arrays: dict[str, NDArray[np.generic]] = {}
    for name, array in weights.items():
        if name not in BYTE_WEIGHTS:
            arrays[name] = array
            continue
        scale = np.maximum(np.abs(array).max(axis=-2, keepdims=True), 1e-12) / 127
        arrays[name] = np.round(array / scale).astype(np.int8)
        arrays[f"{name}_scale"] = scale.astype(np.float32)
    buffer = BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def unpack_weights(data: bytes) -> dict[str, NDArray[np.float32]]:
    import numpy as np

    with np.load(BytesIO(data), allow_pickle=False) as arrays:
        return {
            name: arrays[name].astype(np.float32) * arrays.get(f"{name}_scale", 1)
            for name in arrays.files
            if not name.endswith("_scale")
        }


RULE_COLUMNS: Final = 4
"""Rules are certain of a token, or found it; it names a secret that people choose, or a key."""
PIECE_CHARACTERS: Final = 50_000
"""Characters that are tagged together."""
MARGIN_CHARACTERS: Final = 600
"""Characters of context on either side of a piece."""
CORE_TOKENS: Final = 8
"""Tokens on either side of a promising one that are tagged with it."""
SURE_LOG_ODDS: Final = 0.5
"""Least log odds of a secret's best token."""
JOINED_LOG_ODDS: Final = 3.0
"""How much less its other tokens may have."""
MIN_SECRET: Final = 3
MAX_FINDING: Final = 20_000
"""Characters of the longest span that rules find, a private key."""
_T = TypeVar("_T", bound=tuple[int, *tuple[object, ...]])
_AROUND: Final = frozenset(" \n\t.,:;\"'`()[]{}<>|*_~=„“”‚‘’«»‹›「」『』。、，：；（）")
_PLAIN: Final = re.compile(
    r"[1-9][0-9]+000|[0-9]{1,2}[-./ ][A-Z][a-z]{2,8}[-./ ][0-9]{4}|[0-9]{4}-[0-9]{2}-[0-9]{2}"
)
"""A round number (one of a thousand random numbers ends so), or a date."""
_DATED: Final = re.compile(r"^(?:date|created|updated|modified)[ \t]*:[ \t]*[\"']?\Z", re.MULTILINE)
"""Before a note's own date."""
_CODE_PHRASE: Final = re.compile(r"\bcode[ -]?(?:phrase|name)s?\b[^.!?\n]{0,24}\Z", re.IGNORECASE)
"""People test a memory with such a phrase, which opens nothing."""
_ID: Final = re.compile(
    rf"\b(?:{'|'.join((*TIER_PREFIXES.values(), ENTITY_PREFIX, CATEGORY_PREFIX))})"
    rf"[0-9a-f]{{{ID_DIGITS}}}(?![0-9A-Za-z])"
)
"""The id of a memory."""
_LEAD_LENGTH: Final = 40
"""Characters before a secret in which it may be called harmless."""
_TOKEN_LENGTH: Final = 20
"""Characters from which a value without spaces is a token."""


def find_by_classifier(
    text: str, low: bytes, places: PositionIndex, ruled: Sequence[SecretSpan]
) -> Iterator[SecretSpan]:
    """Yield the secrets that the tagger finds.

    Args:
        text: The text.
        low: It in Latin-1 and lower case, one byte a character.
        places: Index of ``low``.
        ruled: Secrets that rules found.
    """
    tagger = load_tagger()
    findings: RuleFindings | None = None
    words: SecretWords | None = None
    for at in range(0, len(text), PIECE_CHARACTERS):
        first = max(0, at - MARGIN_CHARACTERS)
        last = min(len(text), at + PIECE_CHARACTERS + MARGIN_CHARACTERS)
        spans = TokenSpans.of(text, first, last)
        if not spans.tokens:
            continue
        promising = tagger.promising(spans.tokens)
        near = _between(ruled, first, last)
        if not (near or promising.any()):
            continue
        for span in near:
            promising[spans.touched(span.start, span.end)] = True
        findings = findings or RuleFindings.of(text, low, places, ruled)
        for start, end, odds in _tagged(text, tagger, findings, spans, _widened(promising, CORE_TOKENS)):
            words = words or SecretWords.of(text, findings.words())
            if at <= start < at + PIECE_CHARACTERS and words.allows(text, start, end, odds):
                yield SecretSpan(start, end, kind_of_value(text[start:end]), False)


class RuleFindings(NamedTuple):
    """What rules found in a text, and the words that name a secret: start, end and column, in order."""

    all: list[tuple[int, int, int]]

    @classmethod
    def of(cls, text: str, low: bytes, places: PositionIndex, ruled: Sequence[SecretSpan]) -> RuleFindings:
        out = [(span.start, span.end, 0 if span.certain else 1) for span in ruled]
        out += [(at, end, 2 if password else 3) for at, end, password in find_cues(text, low, places)]
        return cls(sorted(out))

    def words(self) -> list[tuple[int, int]]:
        """Return the spans of words that name a secret."""
        return [(at, end) for at, end, column in self.all if column >= 2]

    def marks(self, spans: TokenSpans) -> NDArray[np.float32]:
        """Return ``STANDING`` and ``RULE_COLUMNS`` numbers for each token."""
        import numpy as np

        out = np.zeros((len(spans.tokens), STANDING + RULE_COLUMNS), np.float32)
        out[:, :STANDING] = token_positions(spans)
        if len(out):
            for start, end, column in _between(self.all, int(spans.starts[0]), int(spans.ends[-1])):
                out[spans.touched(start, end), STANDING + column] = 1
        return out


def _tagged(
    text: str, tagger: Tagger, findings: RuleFindings, spans: TokenSpans, core: NDArray[np.bool_]
) -> Iterator[tuple[int, int, float]]:
    import numpy as np

    for first, last in _runs(_widened(core, CONVOLUTION_REACH // 2)):
        indexes = np.flatnonzero(core[first:last])
        start, stop = first + int(indexes[0]), first + int(indexes[-1]) + 1
        begin = max(0, start - CONVOLUTION_REACH)
        here = spans.part(begin, stop + CONVOLUTION_REACH)
        odds = tagger.tag(here.tokens, findings.marks(here), slice(start - begin, stop - begin))
        odds[~core[start:stop]] = -np.inf
        yield from join_tokens(text, spans.part(start, stop), odds.tolist(), SURE_LOG_ODDS)


def _runs(mask: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    import numpy as np

    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]))).tolist()
    return zip(edges[::2], edges[1::2], strict=True)


def join_tokens(
    text: str, spans: TokenSpans, odds: Sequence[float], sure: float
) -> Iterator[tuple[int, int, float]]:
    """Yield the secrets among tokens with their best token's log odds.

    A secret is a run of likely tokens, at most a space apart, one of which is sure.
    """
    start, end, best = 0, -2, -math.inf
    behind = len(text) + 9
    starts, ends = [*spans.starts.tolist(), behind], [*spans.ends.tolist(), behind]
    for first, last, odd in zip(starts, ends, [*odds, math.inf], strict=True):
        if odd <= sure - JOINED_LOG_ODDS:
            continue
        if first - end > 1 or (first > end and text[end] != " "):
            if best > sure:
                yield from ((*place, best) for place in _trimmed(text, start, end))
            start, best = first, -math.inf
        end, best = last, max(best, odd)


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    start, end = trim_span(text, start, end, _AROUND)
    near = max(0, start - _LEAD_LENGTH)
    harmless = _DATED.search(text, near, start) or _CODE_PHRASE.search(text, near, start)
    harmless = harmless or _ID.search(text, start, end) or _PLAIN.fullmatch(text, start, end)
    if end - start >= MIN_SECRET and not harmless:
        yield start, end


def token_log_odds(text: str, start: int) -> list[tuple[int, int, float]]:
    """Return the tokens of a short text from an offset on, each with its log odds of being part of a secret."""
    data = text.encode("latin-1", "replace")
    low = data.lower()
    spans = TokenSpans.of(text)
    first = int(spans.touched(start, len(text)).start)
    if first >= len(spans.tokens):
        return []
    findings = RuleFindings.of(text, low, PositionIndex(low), find_by_rules(text, data, low))
    odds = load_tagger().tag(spans.tokens, findings.marks(spans), slice(first, len(spans.tokens)))
    return list(zip(spans.starts[first:].tolist(), spans.ends[first:].tolist(), odds.tolist(), strict=True))


def kind_of_value(value: str) -> str:
    """Return the kind of secret that a value looks like."""
    if value.isdigit():
        return "pin"
    return "token" if len(value) >= _TOKEN_LENGTH and " " not in value else "password"


def _widened(mask: NDArray[np.bool_], far: int) -> NDArray[np.bool_]:
    import numpy as np

    summed = np.concatenate([np.zeros(far + 1, np.int64), np.cumsum(mask), np.full(far, mask.sum())])
    return summed[2 * far + 1 :] > summed[: len(mask)]


def _between(found: Sequence[_T], first: int, last: int) -> Sequence[_T]:
    start = bisect_left(found, first - MAX_FINDING, key=itemgetter(0))
    return found[start : bisect_left(found, last, key=itemgetter(0))]
