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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources
from io import BytesIO
from itertools import chain, islice, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from scrubjay.models.ids import ID_DIGITS
from scrubjay.models.records import CATEGORY_PREFIX, ENTITY_PREFIX, TIER_PREFIXES
from scrubjay.redaction.evidence import Mark, SecretWords, find_cues, find_marks, find_names, may_hold_secret
from scrubjay.redaction.patterns import find_by_rules
from scrubjay.redaction.values import SecretSpan, trim_span

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


BUCKETS: Final = 8192
MAX_TOKENS: Final = 32
"""Maximum number of buckets of a token."""
MAX_PARTS: Final = 28
"""Maximum number of buckets of its parts of three and four characters."""
FORM_FEATURES: Final = 19
POSITION_FEATURES: Final = 4
MAX_WORD_LENGTH: Final = 24
"""Characters above which a token is no word."""
REPETITION_REACH: Final = 64
"""Tokens before one in which its repetition counts."""

TOKEN: Final = re.compile(
    r"\n|[0-9A-Za-z_\u00aa-\u02af\u0300-\u036f\u0370-\u052f\u1e00-\u1fff]{1,128}|[\u3040-\u30ff\u3400-\u9fff]"
    r"|[\u0530-\u1cff\ua640-\ud7ff\uf900-\ufdff\ufe70-\ufeff]{1,128}|[^\s]"
)
PLAIN_WORD: Final = re.compile(rf"(?![0-9]+\Z)[0-9A-Za-z_]{{2,{MAX_WORD_LENGTH}}}")
MIN_VECTORIZED: Final = 16
"""Plain words from which on features are computed by arrays."""
_VOWELS: Final = frozenset("aeiouyäöüáéíóúàèìòùâêîôûåøæãõаеёиоуыэюяієї")
_CONSONANTS: Final = re.compile(r"[bcdfghjklmnpqrstvwxz]+")
_HEX: Final = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_REPEATED_CHARACTER: Final = re.compile(r"(.)\1+")
_YEARS: Final = ("19", "20")


def token_buckets(token: str) -> list[int]:
    """Return the hash buckets of a token's spelling, its parts, its shape and its length."""
    lower, size = token.lower(), len(token)
    if token.isdigit():
        names = [f"D{min(size, 20)}", f"N{token}" if size <= 4 else "D+"]
        names += ["YEAR"] if size == 4 and token.startswith(_YEARS) else []
    elif size == 1 and not token.isalpha():
        return [_bucket(f"P{token}")]
    elif size <= MAX_WORD_LENGTH:
        word = f"^{lower}$"
        names = [f"W{lower}"]
        names += [f"W{part}" for part in lower.split("_") if part] if "_" in lower else []
        if size > 1:
            parts = {word[at : at + width] for width in (3, 4) for at in range(len(word) - width + 1)}
            names += sorted(parts)[:MAX_PARTS]
    else:
        names = ["LONG", f"^{lower[:3]}", f"^{lower[:4]}", f"L{min(size, 80) // 8}"]
    return [_bucket(name) for name in [*names[: MAX_TOKENS - 1], f"S{_shape(token)}"]]


def token_form(token: str) -> list[float]:
    """Return ``FORM_FEATURES`` numbers, about 0 to 2, that describe a token's characters."""
    low, size = token.lower(), len(token)
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


class TokenSpans(NamedTuple):
    tokens: Sequence[str]
    starts: NDArray[np.intp]
    ends: NDArray[np.intp]

    @classmethod
    def of(cls, text: str, first: int = 0, last: int | None = None) -> TokenSpans:
        part = text[first:last]
        return cls.placed(TOKEN.findall(part), part, first)

    @classmethod
    def placed(cls, tokens: Sequence[str], part: str, first: int) -> TokenSpans:
        """Add offsets to the tokens of a part of a text; those from lengths are faster than those of matches."""
        import numpy as np

        codes = np.frombuffer(part.encode("utf-32-le", "surrogatepass"), np.uint32)
        is_token = _token_characters()
        places = np.flatnonzero(is_token[np.minimum(codes, len(is_token) - 1)]) + first
        ends = np.cumsum(np.fromiter(map(len, tokens), np.intp, len(tokens)))
        return cls(tokens, places[np.concatenate([[0], ends])[:-1]], places[ends - 1] + 1)

    def part(self, first: int, last: int) -> TokenSpans:
        return TokenSpans(self.tokens[first:last], self.starts[first:last], self.ends[first:last])

    def touched(self, start: int, end: int) -> slice:
        import numpy as np

        return slice(
            int(np.searchsorted(self.ends, start, "right")), int(np.searchsorted(self.starts, end, "left"))
        )


@cache
def _token_characters() -> NDArray[np.bool_]:
    """Tell which characters belong to tokens; the last one, past all white space, represents all others."""
    import numpy as np

    is_token = np.ones(0x3002, np.bool_)
    for space in re.finditer(r"\s", "".join(map(chr, range(len(is_token))))):
        is_token[space.start()] = TOKEN.match(space[0]) is not None
    return is_token


class Windows(NamedTuple):
    """Sequences of tokens, one after the other, that do not see each other.

    Attributes:
        firsts: Index of the first token of each.
        own: For each token the number of its window.
    """

    firsts: NDArray[np.intp]
    own: NDArray[np.intp]

    @classmethod
    def of(cls, sizes: Sequence[int]) -> Windows:
        import numpy as np

        counts = np.array(sizes, np.intp)
        return cls(np.cumsum(counts) - counts, np.repeat(np.arange(len(counts)), counts))


def token_positions(spans: TokenSpans, windows: Windows | None = None) -> NDArray[np.float32]:
    """Return for each token: after a space, after more, distance into the line, whether it occurred shortly before."""
    import numpy as np

    tokens, starts, ends = spans
    positions = np.zeros((len(tokens), POSITION_FEATURES), np.float32)
    if not len(tokens):
        return positions
    firsts, own = windows or Windows.of([len(tokens)])
    gaps = starts - np.concatenate([starts[:1], ends[:-1]])
    gaps[firsts] = 0
    positions[:, 0], positions[:, 1] = gaps > 0, gaps > 1
    origin = starts[firsts][own]
    is_line_end = np.fromiter(map("\n".__eq__, tokens), np.bool_, len(tokens))
    lines = np.where(is_line_end, ends, origin) - origin
    # So that no line reaches into the next window.
    shift = own * (int((ends - origin).max()) + 1)
    lines = np.maximum.accumulate(lines + shift) - shift + origin
    positions[:, 2] = np.minimum(starts - np.minimum(lines, starts), 160) / 80
    numbers: dict[str, int] = {}
    ids = np.fromiter((numbers.setdefault(token, len(numbers)) for token in tokens), np.intp, len(tokens))
    order = np.argsort(own * len(numbers) + ids, kind="stable")
    earlier, later = order[:-1], order[1:]
    is_near = (own[earlier] == own[later]) & (later - earlier <= REPETITION_REACH)
    repeated = is_near & (ids[earlier] == ids[later])
    positions[later, 3] = repeated & (ends[later] - starts[later] > 3)
    return positions


class _ShapeSigns(dict[int, str]):
    """Sign of a character in a shape, by its code: letters and digits have one for all of their kind."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        kinds = (
            ("a", letter.islower()),
            ("A", letter.isupper()),
            ("9", letter.isdigit()),
            ("k", letter.isalpha()),
        )
        self[code] = sign = next((kind for kind, matches in kinds if matches), letter)
        return sign


_SHAPE_SIGNS: Final = _ShapeSigns()


def _shape(token: str) -> str:
    return _REPEATED_CHARACTER.sub(r"\1", token[:40].translate(_SHAPE_SIGNS))[:10]


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
MAX_CACHED_FEATURES: Final = 4096
"""4 MB: those of the tokens that are screened are soon needed again for their neighbours."""
MAX_CACHED_TOKENS: Final = 16_000
"""13 MB with 200 numbers each."""


class _Indexes(dict[str, int]):
    """Numbers tokens in the order in which they are first looked up."""

    def __missing__(self, token: str) -> int:
        self[token] = index = len(self)
        return index


class TokenRows:
    """Cache of the rows that are computed for each token alone."""

    def __init__(self, compute: Callable[[Sequence[str]], Floats], limit: int) -> None:
        self._compute, self._limit = compute, limit
        self._indexes = _Indexes()
        self._rows: Floats
        self._lock = threading.Lock()

    def of(self, tokens: Sequence[str]) -> tuple[Floats, NDArray[np.intp]]:
        with self._lock:
            known_count = len(self._indexes)
            try:
                indexes = self._look_up(tokens)
                if known_count and known_count < len(self._indexes) > self._limit:
                    self._indexes, known_count = _Indexes(), 0
                    indexes = self._look_up(tokens)
                if len(self._indexes) > known_count:
                    self._add(list(islice(self._indexes, known_count, None)))
            except BaseException:
                self._indexes = _Indexes()  # some have no row
                raise
            return self._rows, indexes

    def _look_up(self, tokens: Sequence[str]) -> NDArray[np.intp]:
        import numpy as np

        return np.fromiter(map(self._indexes.__getitem__, tokens), np.intp, len(tokens))

    def _add(self, tokens: Sequence[str]) -> None:
        import numpy as np

        computed, size = self._compute(tokens), len(self._indexes)
        first = size - len(tokens)
        if not first or size > len(self._rows):
            rows = np.empty((max(2 * size, INITIAL_ROWS), *computed.shape[1:]), np.float32)
            rows[:first] = self._rows[:first] if first else 0
            self._rows = rows
        self._rows[first:size] = computed


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

    def promising(self, tokens: Sequence[str], windows: Windows | None = None) -> NDArray[np.bool_]:
        """Tell for each token whether it may be part of a secret, by itself and by its neighbours."""
        import numpy as np

        if not tokens:
            return np.zeros(0, np.bool_)
        firsts, own_window = windows or Windows.of([len(tokens)])
        ends = np.append(firsts[1:], len(tokens))
        rows, indexes = self._screening.of(tokens)
        near_weights, own_weights, after, before = rows[indexes].T
        before[firsts] = after[ends - 1] = 0
        cumulative = np.concatenate([[0.0], np.cumsum(near_weights, dtype=np.float64)])
        places = np.arange(len(tokens))
        scores = cumulative[np.minimum(places + SCREENING_REACH + 1, ends[own_window])]
        scores -= cumulative[np.maximum(places - SCREENING_REACH, firsts[own_window])]
        scores += own_weights
        scores[1:] += after[:-1]
        scores[:-1] += before[1:]
        promising: NDArray[np.bool_] = scores > self._weights["least"]
        return promising

    def tag(
        self, tokens: Sequence[str], marks: Floats, cores: Sequence[slice], windows: Windows | None = None
    ) -> list[Floats]:
        """Return each core token's log odds of being part of a secret.

        Args:
            tokens: Tokens of one window after the other.
            marks: Position and rule findings of each, one row a token.
            cores: The tokens in question, in order; the others are context.
            windows: Where each window begins.
        """
        import numpy as np

        windows = windows or Windows.of([len(tokens)])
        first = self._first.of(tokens)
        odds = [[own] for own in self._odds(0, first, marks, cores, windows)]
        undecided = [at for at, own in enumerate(odds) if own[0].max() > REJECT_LOG_ODDS]
        for net in range(1, len(self._weights["out"]) if undecided else 0):
            own = self._odds(net, first, marks, [cores[at] for at in undecided], windows)
            for at, further in zip(undecided, own, strict=True):
                odds[at].append(further)
        return [np.mean(own, axis=0, dtype=np.float32) for own in odds]

    def _odds(
        self,
        net: int,
        first: tuple[Floats, NDArray[np.intp]],
        marks: Floats,
        cores: Sequence[slice],
        windows: Windows,
    ) -> list[Floats]:
        """Each convolution is computed only as far as it can still affect a core."""
        import numpy as np

        weights, (rows, indexes) = self._weights, first
        reach, padding = CONVOLUTION_REACH, max(CONVOLUTION_STEPS)
        size, width = len(indexes), rows.shape[-1]
        distances = _distances(size, cores)
        # Rows of zeros around each window, so that no convolution reaches into the next.
        places = np.arange(size) + padding * (windows.own + 1)
        hidden = np.zeros((size + padding * (len(windows.firsts) + 1), width), np.float32)
        needed = np.flatnonzero(distances <= reach)
        hidden[places[needed]] = np.maximum(
            rows[indexes[needed], net] + matrix_product(marks[needed], weights["marks"][net]), 0
        )
        for step, mix, shift in zip(
            CONVOLUTION_STEPS, weights["mix"][net], weights["shift"][net], strict=True
        ):
            reach -= step
            needed = places[distances <= reach]
            mixed = matrix_product(hidden[needed], mix[width : 2 * width]) + shift
            for offset, part in ((-step, mix[:width]), (step, mix[2 * width :])):
                mixed += matrix_product(hidden[needed + offset], part)
            hidden[needed] += np.maximum(mixed, 0, out=mixed)
        core = places[np.concatenate([np.arange(core.start, core.stop) for core in cores])]
        odds = matrix_product(hidden[core], weights["out"][net][:, None])[:, 0] + weights["last"][net]
        return np.split(odds, np.cumsum([core.stop - core.start for core in cores])[:-1])

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


def _distances(size: int, cores: Sequence[slice]) -> NDArray[np.intp]:
    import numpy as np

    places = np.arange(size)
    inside = np.zeros(size, np.bool_)
    for core in cores:
        inside[core] = True
    after_core = places - np.maximum.accumulate(np.where(inside, places, -size))
    before_core = np.minimum.accumulate(np.where(inside, places, 2 * size)[::-1])[::-1] - places
    return np.minimum(after_core, before_core)


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
        """Return what `token_buckets` and `token_form` return for each; plain words, which most are, all at once."""
        import numpy as np

        plain = [at for at, token in enumerate(tokens) if PLAIN_WORD.fullmatch(token)]
        plain = plain if len(plain) >= MIN_VECTORIZED else []
        others = sorted({*range(len(tokens))}.difference(plain))
        own = [_features(tokens[at]) for at in others]
        sizes = [len(buckets) for buckets, _ in own]
        owners = [np.repeat(np.array(others, np.intp), sizes)]
        lists = [np.fromiter(chain.from_iterable(buckets for buckets, _ in own), np.intp, sum(sizes))]
        forms = np.empty((len(tokens), FORM_FEATURES), np.float32)
        if own:
            forms[others] = [form for _, form in own]
        if plain:
            words = [tokens[at] for at in plain]
            numbers, buckets = word_buckets(words)
            owners.append(np.array(plain, np.intp)[numbers])
            lists.append(buckets)
            forms[plain] = word_forms(words)
        all_owners = np.concatenate(owners)
        counts = np.bincount(all_owners, minlength=len(tokens))
        return cls(
            np.concatenate(lists)[np.argsort(all_owners, kind="stable")],
            np.cumsum(counts) - counts,
            np.sqrt(counts, dtype=np.float32)[:, None],
            forms,
        )


def word_buckets(words: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the buckets of `PLAIN_WORD` words, those of each in the order of `token_buckets`, with the word's number.

    Parts are numbers here: four letters in a byte each, which sort as their texts do.
    """
    import numpy as np

    lows = " ".join(words).lower().encode("ascii").split(b" ")
    letters = np.frombuffer(b"^" + b"$^".join(lows) + b"$\0\0\0", np.uint8).astype(np.uint64)
    sizes = np.fromiter(map(len, lows), np.intp, len(lows)) + 2
    owner = np.repeat(np.arange(len(lows), dtype=np.uint64), sizes)
    characters_left = np.repeat(np.cumsum(sizes), sizes) - np.arange(len(owner))
    key = owner << 32 | letters[:-3] << 24 | letters[1:-2] << 16 | letters[2:-1] << 8
    keys = np.concatenate([key[characters_left >= 3], (key | letters[3:])[characters_left >= 4]])
    keys.sort()
    keys = keys[np.append(True, keys[1:] != keys[:-1])]
    word_crc = zlib.crc32(b"W")
    whole_words = [
        [
            zlib.crc32(part, word_crc) % BUCKETS
            for part in (lower, *(filter(None, lower.split(b"_")) if b"_" in lower else ()))
        ]
        for lower in lows
    ]
    word_counts = np.fromiter(map(len, whole_words), np.intp, len(whole_words))
    room = np.minimum(MAX_PARTS, MAX_TOKENS - 1 - word_counts)
    owners = (keys >> 32).astype(np.intp)
    first = np.searchsorted(owners, np.arange(len(lows)))
    is_kept = np.arange(len(owners)) - first[owners] < room[owners]
    keys, owners = keys[is_kept], owners[is_kept]
    table, start = _crc_table(), np.uint32(0xFFFFFFFF)
    crc = np.full(len(keys), start)
    for shift in (24, 16, 8, 0):
        letter = (keys >> shift & 0xFF).astype(np.uint32)
        crc = np.where(letter, table[(crc ^ letter) & 0xFF] ^ crc >> 8, crc)
    every = np.arange(len(lows))
    numbers = np.concatenate([np.repeat(every, word_counts), owners, every])
    shapes = [_shape_bucket(_shape(word)) for word in words]
    buckets = np.concatenate([[*chain.from_iterable(whole_words)], (crc ^ start) % BUCKETS, shapes]).astype(
        np.intp
    )
    order = np.argsort(numbers, kind="stable")
    return numbers[order], buckets[order]


def word_forms(words: Sequence[str]) -> NDArray[np.float64]:
    """Return the forms of `PLAIN_WORD` words, as `token_form` does."""
    import numpy as np

    size = np.fromiter(map(len, words), np.intp, len(words))
    places = np.arange(MAX_WORD_LENGTH) < size[:, None]
    letters = np.zeros(places.shape, np.uint8)
    letters[places] = np.frombuffer("".join(words).encode("ascii"), np.uint8)
    kind = _character_kinds()[letters]
    is_lower, is_upper, is_digit = kind & _LOWER > 0, kind & _UPPER > 0, kind & _DIGIT > 0
    lower, upper, digits = is_lower.sum(1), is_upper.sum(1), is_digit.sum(1)
    turns = (places[:, 1:] & (is_digit[:, 1:] != is_digit[:, :-1])).sum(1)
    humps = (is_lower[:, :-1] & is_upper[:, 1:]).sum(1)
    run, consonants = np.zeros(len(words), np.intp), np.zeros(len(words), np.intp)
    for is_consonant in (kind & _CONSONANT > 0).T:
        run = (run + 1) * is_consonant
        np.maximum(consonants, run, out=consonants)
    hexadecimal = kind & _HEX_DIGIT > 0
    is_hex_word = ((hexadecimal & ~is_upper).sum(1) == size) | ((hexadecimal & ~is_lower).sum(1) == size)
    ordered = np.sort(letters, 1)
    distinct = (ordered[:, 1:] != ordered[:, :-1]).sum(1) + (ordered[:, 0] > 0)
    forms = np.zeros((len(words), FORM_FEATURES))
    forms[:, 0] = np.array([math.log1p(length) / 3 for length in range(MAX_WORD_LENGTH + 1)])[size]
    forms[:, 1], forms[:, 2], forms[:, 3] = lower / size, upper / size, digits / size
    forms[:, 4], forms[:, 5] = np.minimum(turns, 8) / 4, np.minimum(humps, 6) / 3
    forms[:, 6] = (kind & _VOWEL > 0).sum(1) / np.maximum(1, lower + upper)
    forms[:, 7], forms[:, 8] = np.minimum(consonants, 8) / 4, (size >= 6) & is_hex_word
    forms[:, 9], forms[:, 12] = (lower + upper > 0) & (digits > 0), 1
    forms[:, 13], forms[:, 14] = is_upper[:, 0] & (lower == size - 1), upper == size
    forms[:, 15], forms[:, 17], forms[:, 18] = size >= 16, (letters == ord("_")).any(1), distinct / size
    return forms


_LOWER, _UPPER, _DIGIT, _VOWEL, _CONSONANT, _HEX_DIGIT = (1 << bit for bit in range(6))


@cache
def _character_kinds() -> NDArray[np.uint8]:
    """Return for each byte its kinds: ``_LOWER`` and the others."""
    import numpy as np

    kinds = np.zeros(256, np.uint8)
    for code in (
        *range(ord("0"), ord("9") + 1),
        *range(ord("A"), ord("Z") + 1),
        *range(ord("a"), ord("z") + 1),
    ):
        character = chr(code)
        kinds[code] = (
            character.islower() * _LOWER
            | character.isupper() * _UPPER
            | character.isdigit() * _DIGIT
            | (character.lower() in _VOWELS) * _VOWEL
            | (_CONSONANTS.match(character.lower()) is not None) * _CONSONANT
            | (_HEX.match(character) is not None) * _HEX_DIGIT
        )
    return kinds


@lru_cache(maxsize=MAX_CACHED_FEATURES)
def _shape_bucket(shape: str) -> int:
    return _bucket(f"S{shape}")


@cache
def _crc_table() -> NDArray[np.uint32]:
    """Return the CRC-32 of each byte, reflected: https://www.w3.org/TR/png/#D-CRCAppendix."""
    import numpy as np

    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, table >> 1 ^ 0xEDB88320, table >> 1).astype(np.uint32)
    return table


@lru_cache(maxsize=MAX_CACHED_FEATURES)
def _features(token: str) -> tuple[list[int], list[float]]:
    return token_buckets(token), token_form(token)


def matrix_product(rows: Floats, matrix: Floats) -> Floats:
    """Multiply in parts that are small enough for one thread of OpenBLAS.

    More threads gain nothing here, and beside other processes each product would wait for all of them.
    """
    import numpy as np

    size = max(1, MAX_PRODUCT // matrix.size)
    if len(rows) <= size:
        product: Floats = rows @ matrix
        return product
    parts = -(-len(rows) // size)
    padded = np.zeros((parts * size, rows.shape[1]), np.float32)
    padded[: len(rows)] = rows
    products: Floats = padded.reshape(parts, size, -1) @ matrix
    return products.reshape(parts * size, -1)[: len(rows)]


@cache
def load_tagger() -> Tagger:
    return Tagger(unpack_weights(resources.files(__package__).joinpath("classifier.npz").read_bytes()))


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
"""Minimum log odds of a secret's best token."""
JOINED_LOG_ODDS: Final = 3.0
"""How much less its other tokens may have."""
MIN_SECRET: Final = 3
MAX_FINDING: Final = 20_000
"""Characters of the longest span that rules find, a private key."""
_T = TypeVar("_T", bound=tuple[int, *tuple[object, ...]])
_TRIM_CHARACTERS: Final = frozenset(" \n\t.,:;\"'`()[]{}<>|*_~=„“”‚‘’«»‹›「」『』。、，：；（）")
_HARMLESS_VALUE: Final = re.compile(
    r"[1-9][0-9]+000|[0-9]{1,2}[-./ ][A-Z][a-z]{2,8}[-./ ][0-9]{4}|[0-9]{4}-[0-9]{2}-[0-9]{2}"
)
"""A round number (one of a thousand random numbers ends so), or a date."""
_DATE_LABEL: Final = re.compile(r"^(?:date|created|updated|modified)[ \t]*:[ \t]*[\"']?\Z", re.MULTILINE)
"""Before a note's own date."""
_CODE_PHRASE: Final = re.compile(r"\bcode[ -]?(?:phrase|name)s?\b[^.!?\n]{0,24}\Z", re.IGNORECASE)
"""People test a memory with such a phrase, which opens nothing."""
_MEMORY_ID: Final = re.compile(
    rf"\b(?:{'|'.join((*TIER_PREFIXES.values(), ENTITY_PREFIX, CATEGORY_PREFIX))})"
    rf"[0-9a-f]{{{ID_DIGITS}}}(?![0-9A-Za-z])"
)
"""The id of a memory."""
_LEAD_LENGTH: Final = 40
"""Characters before a secret in which it may be called harmless."""
_TOKEN_LENGTH: Final = 20
"""Characters from which a value without spaces is a token."""


class Reading(NamedTuple):
    """A text in which secrets are searched, or a table of it read row by row.

    Attributes:
        data: The text in Latin-1, one byte a character (others as ``?``).
        low: ``data`` in lower case.
        marks: Parts of words that may name a secret.
        ruled: Secrets that rules found.
    """

    text: str
    data: bytes
    low: bytes
    marks: Sequence[Mark]
    ruled: Sequence[SecretSpan]

    @classmethod
    def of(cls, text: str) -> Reading:
        data = text.encode("latin-1", "replace")
        low = data.lower()
        return cls(text, data, low, find_marks(text, low), find_by_rules(text, data, low))


class _Piece(NamedTuple):
    number: int
    reading: Reading
    start: int
    first: int
    part: str
    tokens: Sequence[str]

    @classmethod
    def all(cls, readings: Iterable[Reading]) -> Iterator[_Piece]:
        for number, reading in enumerate(readings):
            for start in range(0, len(reading.text), PIECE_CHARACTERS):
                first = max(0, start - MARGIN_CHARACTERS)
                part = reading.text[first : start + PIECE_CHARACTERS + MARGIN_CHARACTERS]
                if tokens := TOKEN.findall(part):
                    yield cls(number, reading, start, first, part, tokens)


class _Window(NamedTuple):
    """Tokens of a piece that are tagged, with context on either side.

    Attributes:
        core: Which of the tokens from ``start`` to ``stop`` are in question.
        rules: What rules found, for each token.
    """

    piece: _Piece
    spans: TokenSpans
    start: int
    stop: int
    core: NDArray[np.bool_]
    rules: Floats


def find_by_classifier(readings: Iterable[Reading]) -> Iterator[tuple[int, SecretSpan]]:
    """Yield the secrets that the tagger finds, each with the number of its text."""
    findings: dict[int, RuleFindings] = {}
    words: dict[int, SecretWords] = {}
    for pieces in _batches(_Piece.all(readings)):
        windows = list(_windows(pieces, findings))
        for window, odds in zip(windows, _window_log_odds(windows), strict=True):
            if odds.max() <= SURE_LOG_ODDS:
                continue
            number, text, at = window.piece.number, window.piece.reading.text, window.piece.start
            spans = window.spans.part(window.start, window.stop)
            for start, end, best in join_tokens(text, spans, odds.tolist(), SURE_LOG_ODDS):
                if number not in words:
                    words[number] = SecretWords.of(text, findings[number].names)
                if at <= start < at + PIECE_CHARACTERS and words[number].allows(text, start, end, best):
                    yield number, SecretSpan(start, end, kind_of_value(text[start:end]), False)


def _batches(pieces: Iterable[_Piece]) -> Iterator[Sequence[_Piece]]:
    batch: list[_Piece] = []
    size = 0
    for piece in pieces:
        if batch and size + len(piece.part) > 2 * PIECE_CHARACTERS:
            yield batch
            batch, size = [], 0
        batch.append(piece)
        size += len(piece.part)
    if batch:
        yield batch


def _windows(pieces: Sequence[_Piece], findings: dict[int, RuleFindings]) -> Iterator[_Window]:
    import numpy as np

    sizes = [len(piece.tokens) for piece in pieces]
    tokens = list(chain.from_iterable(piece.tokens for piece in pieces))
    promising_by_piece = np.split(load_tagger().promising(tokens, Windows.of(sizes)), np.cumsum(sizes)[:-1])
    for piece, promising in zip(pieces, promising_by_piece, strict=True):
        rule_spans = _within(piece.reading.ruled, piece.first, piece.first + len(piece.part))
        if not (rule_spans or promising.any()):
            continue
        spans = TokenSpans.placed(piece.tokens, piece.part, piece.first)
        for span in rule_spans:
            promising[spans.touched(span.start, span.end)] = True
        if piece.number not in findings:
            findings[piece.number] = RuleFindings.of(piece.reading)
        rules = findings[piece.number].marks(spans)
        core = _widen_mask(promising, CORE_TOKENS)
        for first, last in _runs(_widen_mask(core, CONVOLUTION_REACH // 2)):
            indexes = np.flatnonzero(core[first:last])
            start, stop = first + int(indexes[0]), first + int(indexes[-1]) + 1
            text_start, end = int(spans.starts[start]), int(spans.ends[stop - 1])
            if may_hold_secret(piece.reading.text, text_start, end, findings[piece.number].names):
                yield _Window(piece, spans, start, stop, core[start:stop], rules)


class RuleFindings(NamedTuple):
    """What rules found in a text, and the words that name a secret.

    Attributes:
        all: Start, end and column of each, in order.
        names: Spans of words that may name a secret: those that are among ``all``, and others.
    """

    all: list[tuple[int, int, int]]
    names: Sequence[tuple[int, int]]

    @classmethod
    def of(cls, reading: Reading) -> RuleFindings:
        findings = [(span.start, span.end, 0 if span.certain else 1) for span in reading.ruled]
        cues = list(find_cues(reading.text, reading.low, reading.marks))
        findings += [(at, end, 2 if password else 3) for at, end, password in cues]
        return cls(sorted(findings), find_names(reading.text, cues, reading.marks))

    def marks(self, spans: TokenSpans) -> Floats:
        """Return ``RULE_COLUMNS`` numbers for each token."""
        import numpy as np

        table = np.zeros((len(spans.tokens), RULE_COLUMNS), np.float32)
        if len(table) and (near := _within(self.all, int(spans.starts[0]), int(spans.ends[-1]))):
            starts, ends, columns = zip(*near, strict=True)
            firsts = np.searchsorted(spans.ends, starts, "right").tolist()
            lasts = np.searchsorted(spans.starts, ends, "left").tolist()
            for first, last, column in zip(firsts, lasts, columns, strict=True):
                table[first:last, column] = 1
        return table


def _window_log_odds(batch: Sequence[_Window]) -> Iterator[Floats]:
    """Yield the log odds of the tokens from ``start`` to ``stop``; outside of the core they are minus infinity."""
    import numpy as np

    if not batch:
        return
    begins = [max(0, window.start - CONVOLUTION_REACH) for window in batch]
    parts = [
        window.spans.part(begin, window.stop + CONVOLUTION_REACH)
        for begin, window in zip(begins, batch, strict=True)
    ]
    windows = Windows.of([len(part.tokens) for part in parts])
    spans = TokenSpans(
        list(chain.from_iterable(part.tokens for part in parts)),
        np.concatenate([part.starts for part in parts]),
        np.concatenate([part.ends for part in parts]),
    )
    rules = [
        window.rules[begin : window.stop + CONVOLUTION_REACH]
        for begin, window in zip(begins, batch, strict=True)
    ]
    cores = [
        slice(first + window.start - begin, first + window.stop - begin)
        for first, begin, window in zip(windows.firsts.tolist(), begins, batch, strict=True)
    ]
    marks = np.concatenate([token_positions(spans, windows), np.concatenate(rules)], axis=1)
    tagged = load_tagger().tag(spans.tokens, marks, cores, windows)
    for window, odds in zip(batch, tagged, strict=True):
        odds[~window.core] = -np.inf
        yield odds


def _runs(mask: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    import numpy as np

    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]))).tolist()
    return zip(edges[::2], edges[1::2], strict=True)


def join_tokens(
    text: str, spans: TokenSpans, odds: Sequence[float], min_log_odds: float
) -> Iterator[tuple[int, int, float]]:
    """Yield the secrets among tokens with their best token's log odds.

    A secret is a run of likely tokens, at most a space apart, one of which is sure.
    """
    start, end, best = 0, -2, -math.inf
    beyond_text = len(text) + 9
    starts, ends = [*spans.starts.tolist(), beyond_text], [*spans.ends.tolist(), beyond_text]
    for first, last, log_odds in zip(starts, ends, [*odds, math.inf], strict=True):
        if log_odds <= min_log_odds - JOINED_LOG_ODDS:
            continue
        if first - end > 1 or (first > end and text[end] != " "):
            if best > min_log_odds:
                yield from ((*place, best) for place in _trim_secret(text, start, end))
            start, best = first, -math.inf
        end, best = last, max(best, log_odds)


def _trim_secret(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    start, end = trim_span(text, start, end, _TRIM_CHARACTERS)
    lead_start = max(0, start - _LEAD_LENGTH)
    harmless = _DATE_LABEL.search(text, lead_start, start) or _CODE_PHRASE.search(text, lead_start, start)
    harmless = harmless or _MEMORY_ID.search(text, start, end) or _HARMLESS_VALUE.fullmatch(text, start, end)
    if end - start >= MIN_SECRET and not harmless:
        yield start, end


def token_log_odds(text: str, start: int) -> list[tuple[int, int, float]]:
    """Return the tokens of a short text from an offset on, each with its log odds of being part of a secret."""
    import numpy as np

    spans = TokenSpans.of(text)
    first = int(spans.touched(start, len(text)).start)
    if first >= len(spans.tokens):
        return []
    rules = RuleFindings.of(Reading.of(text)).marks(spans)
    marks = np.concatenate([token_positions(spans), rules], axis=1)
    (odds,) = load_tagger().tag(spans.tokens, marks, [slice(first, len(spans.tokens))])
    return list(zip(spans.starts[first:].tolist(), spans.ends[first:].tolist(), odds.tolist(), strict=True))


def kind_of_value(value: str) -> str:
    if value.isdigit():
        return "pin"
    return "token" if len(value) >= _TOKEN_LENGTH and " " not in value else "password"


def _widen_mask(mask: NDArray[np.bool_], reach: int) -> NDArray[np.bool_]:
    import numpy as np

    cumulative = np.concatenate([np.zeros(reach + 1, np.int64), np.cumsum(mask), np.full(reach, mask.sum())])
    return cumulative[2 * reach + 1 :] > cumulative[: len(mask)]


def _within(findings: Sequence[_T], first: int, last: int) -> Sequence[_T]:
    start = bisect_left(findings, first - MAX_FINDING, key=itemgetter(0))
    return findings[start : bisect_left(findings, last, key=itemgetter(0))]
