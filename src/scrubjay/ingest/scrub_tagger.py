"""Tagger: tokens, how they stand and what rules say of them -> the log odds of each being of a secret.

Small networks, of which the mean counts: the buckets of a token's spelling and its form become a vector, and six
convolutions over the tokens let each see 32 to either side. Their weights were learnt from texts by many authors
(python -m bench tagger) and stand in scrub_tagger.npz. Sums over the tokens near one say beforehand whether looking can
be worth it at all.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from io import BytesIO
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from scrubjay.ingest.scrub_tokens import BUCKETS, buckets, form

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

STEPS: Final = (1, 2, 4, 8, 16, 1)
"""How far apart the tokens are that each convolution puts together."""
REACH: Final = sum(STEPS)
"""Tokens to either side that can matter to one."""
NEAR: Final = 16
"""Tokens to either side whose own weights are summed up before one is looked at."""
SURELY_NOT: Final = -4.0
"""Log odds of the first network below which the others are not asked: they never disagree by so much."""
ALONE: Final = 250_000
"""Multiplications up to which OpenBLAS takes one thread for a product: 2^18 less a little."""
LARGE: Final = ("table", "mix", "worth")
"""Weights that are kept in a byte each."""
LEAST: Final = 256
"""Rows that there is room for at first."""
PROMISES: Final = 40_000
"""Tokens of which is kept what they promise: with names 6 MB."""
KEPT: Final = 16_000
"""Tokens of which is kept what they are to the networks: with 200 numbers each 13 MB."""


class Rows:
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
            rows = np.empty((max(2 * room, LEAST), *made.shape[1:]), np.float32)
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
        self._worth, self._first = Rows(self._promise, PROMISES), Rows(self._spelt, KEPT)

    def promising(self, tokens: Sequence[str]) -> NDArray[np.bool_]:
        """Whether each token may be of a secret, by itself and by what stands near."""
        import numpy as np

        near, own, after, before = self._worth.of(tokens).T
        summed = np.concatenate(
            [np.zeros(NEAR + 1), np.cumsum(near, dtype=np.float64), np.full(NEAR, near.sum())]
        )
        promised = summed[2 * NEAR + 1 :] - summed[: len(tokens)] + own
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
        first = [own[:, net] + product(marks, learnt) for net, learnt in enumerate(self._held["marks"])]
        odds = [self._odds(0, first[0], core)]
        if odds[0].max() > SURELY_NOT:
            odds += [self._odds(net, first[net], core) for net in range(1, len(first))]
        mean: Floats = np.mean(odds, axis=0, dtype=np.float32)
        return mean

    def _odds(self, net: int, first: Floats, core: slice) -> Floats:
        """What one network says of the core; each convolution is worked out as far as it can still matter to that."""
        import numpy as np

        held, (size, width), far = self._held, first.shape, REACH
        hidden = np.zeros((size + 2 * max(STEPS), width), np.float32)
        inner = hidden[max(STEPS) : max(STEPS) + size]
        np.maximum(first, 0, out=inner)
        for step, mix, shift in zip(STEPS, held["mix"][net], held["shift"][net], strict=True):
            far -= step
            at, end = max(0, core.start - far), min(size, core.stop + far)
            mixed = product(inner[at:end], mix[width : 2 * width]) + shift
            for apart, part in ((-step, mix[:width]), (step, mix[2 * width :])):
                mixed += product(hidden[max(STEPS) + at + apart :][: end - at], part)
            inner[at:end] += np.maximum(mixed, 0, out=mixed)
        odds: Floats = product(inner[core], held["out"][net][:, None])[:, 0] + held["last"][net]
        return odds

    def _promise(self, tokens: Sequence[str]) -> Floats:
        """What each promises of every token near it, of itself, of the next and of the last one."""
        import numpy as np

        seen, worth = Seen.of(tokens), self._held["worth"]
        promised = np.add.reduceat(worth[seen.buckets], seen.firsts) / seen.roots + product(
            seen.forms, worth[BUCKETS:]
        )
        signs = [at for at, token in enumerate(tokens) if len(token) == 1 and not token.isalnum()]
        promised[signs, 1] = -np.inf  # a secret has letters or digits, and those are asked themselves
        return np.asarray(promised, np.float32)

    def _spelt(self, tokens: Sequence[str]) -> Floats:
        """The part of each in each network's first layer."""
        import numpy as np

        seen, held = Seen.of(tokens), self._held
        spelt = np.add.reduceat(held["table"][:, seen.buckets], seen.firsts, axis=1) / seen.roots
        looks = [np.concatenate([own, seen.forms], 1) for own in spelt]
        first = [product(look, word) for look, word in zip(looks, held["word"], strict=True)]
        return np.asarray(np.stack(first, 1) + held["bias"], np.float32)


class Seen(NamedTuple):
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
    def of(cls, tokens: Sequence[str]) -> Seen:
        """Look at them."""
        import numpy as np

        own = [buckets(token) for token in tokens]
        counts = np.array([len(some) for some in own])
        return cls(
            np.fromiter(chain.from_iterable(own), np.intp, int(counts.sum())),
            np.cumsum(counts) - counts,
            np.sqrt(counts, dtype=np.float32)[:, None],
            np.array([form(token) for token in tokens], np.float32),
        )


def product(rows: Floats, by: Floats) -> Floats:
    """The product of two matrices, in parts so small that one thread works each out.

    More threads gain nothing here, and where other processes are at work each product would wait for all of them.
    """
    import numpy as np

    most = max(1, ALONE // by.size)
    if len(rows) <= most:
        whole: Floats = rows @ by
        return whole
    parts = -(-len(rows) // most)
    filled = np.zeros((parts * most, rows.shape[1]), np.float32)
    filled[: len(rows)] = rows
    several: Floats = (filled.reshape(parts, most, -1) @ by).reshape(parts * most, -1)[: len(rows)]
    return several


@cache
def learnt() -> Tagger:
    """The tagger that comes with the package."""
    return Tagger(unpacked(resources.files(__package__).joinpath("scrub_tagger.npz").read_bytes()))


def packed(weights: Mapping[str, NDArray[np.float32]]) -> bytes:
    """Weights as they are kept: most of them in a byte each, by the largest of their column."""
    import numpy as np

    kept: dict[str, NDArray[np.generic]] = {}
    for name, array in weights.items():
        if name not in LARGE:
            kept[name] = array
            continue
        scale = np.maximum(np.abs(array).max(axis=-2, keepdims=True), 1e-12) / 127
        kept[name] = np.round(array / scale).astype(np.int8)
        kept[f"{name}_scale"] = scale.astype(np.float32)
    to = BytesIO()
    np.savez_compressed(to, **kept)  # type: ignore[arg-type]
    return to.getvalue()


def unpacked(data: bytes) -> dict[str, NDArray[np.float32]]:
    """Weights of what ``packed`` made."""
    import numpy as np

    with np.load(BytesIO(data), allow_pickle=False) as kept:
        return {
            name: kept[name].astype(np.float32) * kept.get(f"{name}_scale", 1)
            for name in kept.files
            if not name.endswith("_scale")
        }
