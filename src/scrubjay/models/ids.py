"""Ids (keyed hashes with a tier prefix), text hashes, tombstones, and the fingerprint of an embedding model."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from scrubjay.frozen import frozen
from scrubjay.models.records import CATEGORY_PREFIX, ENTITY_PREFIX, TIER_PREFIXES

ID_DIGITS = 16
"""Hex digits of an id: 64 bits, so a million memories collide with a chance of 3e-8; the writer checks."""
SHOWN_ID = 12
"""Characters of a memory's id that are injected: its prefix and eight digits, by which it can be fetched."""


def memory_key(secret: bytes, parts: tuple[str, ...]) -> int:
    """Return the 64-bit number of a memory, keyed by the tenant's secret.

    A plain content hash would let one tenant test whether another holds a text.

    >>> memory_key(b"k", ("source", "a.md", "0")) == memory_key(b"k", ("source", "a.md", "0"))
    True
    >>> memory_key(b"k", ("a",)) == memory_key(b"other", ("a",))
    False
    """
    message = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(hmac.digest(secret, message, "sha256")[:8], "big")


def memory_id(tier: str, key: int) -> str:
    """Return the id of the memory ``key`` in ``tier``.

    >>> memory_id("observation", 255)
    'obs_00000000000000ff'
    """
    return f"{TIER_PREFIXES[tier]}{key:0{ID_DIGITS}x}"


@lru_cache(maxsize=65_536)
def parse_id(memory: str) -> tuple[str, int] | None:
    """Return the tier and number of a whole id, or None when it is not one.

    >>> parse_id("obs_00000000000000ff")
    ('observation', 255)
    >>> parse_id("obs_ff") is None
    True
    """
    parsed = parse_node_id(memory)
    return parsed if parsed is not None and parsed[0] in TIER_PREFIXES else None


SHORT_ID_DIGITS = 6
"""Minimum number of digits of a short id: 24 bits, so that of 10,000 memories one in 1,700 needs a seventh."""


def is_short_id(text: str) -> bool:
    """Return whether a text may be a short id: the first digits of an id, without its tier.

    >>> is_short_id("00ff12"), is_short_id("00ff1"), is_short_id("obs_00ff12"), is_short_id("00ff1x")
    (True, False, False, False)
    """
    return SHORT_ID_DIGITS <= len(text) <= ID_DIGITS and set(text) <= set("0123456789abcdef")


def may_be_id(text: str) -> bool:
    """Return whether a text may be an id: whole or short, with its tier or without it.

    >>> may_be_id("00ff12"), may_be_id("obs_00ff12"), may_be_id("obs_00ff1"), may_be_id("cat_00ff12")
    (True, True, False, False)
    """
    tier, mark, digits = text.rpartition("_")
    return is_short_id(digits) and tier + mark in ("", *TIER_PREFIXES.values())


def entity_id(secret: bytes, normal: str) -> str:
    return f"{ENTITY_PREFIX}{memory_key(secret, ('concept', normal)):0{ID_DIGITS}x}"


def category_id(secret: bytes, parts: tuple[str, ...]) -> str:
    return f"{CATEGORY_PREFIX}{memory_key(secret, ('category', *parts)):0{ID_DIGITS}x}"


_NODE_KINDS: Final = {prefix: tier for tier, prefix in TIER_PREFIXES.items()} | {
    ENTITY_PREFIX: "concept",
    CATEGORY_PREFIX: "category",
}


@lru_cache(maxsize=65_536)
def parse_node_id(node: str) -> tuple[str, int] | None:
    """Return the tier (or ``concept``, ``category``) and number of a whole id, None when it is not one.

    >>> parse_node_id("con_00000000000000ff")
    ('concept', 255)
    """
    prefix, mark, digits = node.partition("_")
    kind = _NODE_KINDS.get(prefix + mark)
    if kind is None or len(digits) != ID_DIGITS or not set(digits) <= set("0123456789abcdef"):
        return None
    return kind, int(digits, 16)


def text_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def tombstone_hash(secret: bytes, text: str, key: str = "") -> str:
    """Return the keyed hash that remains of a forgotten text.

    Differences in whitespace are ignored, so a reflowed paragraph stays forgotten. The visibility key is part of the
    hash: nobody can learn that a stranger forgot the same text. Without a key it is the hash of stores from before
    keys existed.
    """
    plain = " ".join(text.split())
    mark = hmac.digest(secret, plain.encode("utf-8", "surrogatepass"), "sha256").hex()
    return _keyed_digest(secret, mark, key) if key else mark


def tombstone_hashes(secret: bytes, text: str, keys: Iterable[str]) -> set[str]:
    mark = tombstone_hash(secret, text)
    return {mark, *(_keyed_digest(secret, mark, key) for key in keys)}


def _keyed_digest(secret: bytes, mark: str, key: str) -> str:
    message = f"{key}\x1f{mark}".encode("utf-8", "surrogatepass")
    return hmac.digest(secret, message, "sha256").hex()


FORGOTTEN_PREFIX = ID_DIGITS + 1
"""Characters of `forgotten_prefix`."""


def forgotten_prefix(secret: bytes, key: str) -> str:
    """Return the beginning of the tombstones that name the memories forgotten under a visibility key.

    The rest names the memory (`scrubjay.transfer.archive`), without the store if it is this one.
    """
    return f"{memory_key(secret, ('forgotten', key)):0{ID_DIGITS}x}:"


TOKEN_POOLING = "tokens"
"""Beginning of a late-interaction model's ``pooling``; the bits of a number follow."""


@frozen
class EmbeddingModel:
    """Identity of an embedding model: everything that changes its vectors.

    Attributes:
        provider: ``bundled``, ``openai``, ``gemini``, ``voyage``, ``openai-compatible``, …
        name: The model's own name, such as ``all-MiniLM-L6-v2``.
        revision: Pins its weights: a checksum, a version, or the host that serves it.
        dimensions: Length of a vector.
        pooling: ``mean``, ``cls`` or ``provider``; ``tokens4`` for a late-interaction model, whose rows are the
            codes of a text's tokens at 4 bits a number.
        window: Maximum tokens of one input; 0 for no limit.
    """

    provider: str
    name: str
    revision: str
    dimensions: int
    pooling: str
    window: int = 0

    @property
    def late_interaction(self) -> bool:
        """Whether its rows are codes of tokens, which only `scrubjay.embeddings.late_interaction` compares."""
        return self.pooling.startswith(TOKEN_POOLING)

    @property
    def row_bytes(self) -> int:
        """Bytes of a stored row.

        >>> EmbeddingModel("bundled", "colbert", "1", 96, "tokens4").row_bytes
        48
        """
        bits = int(self.pooling.removeprefix(TOKEN_POOLING)) if self.late_interaction else 8
        return self.dimensions * bits // 8

    @property
    def fingerprint(self) -> str:
        """Twelve hex digits that differ whenever the vectors would."""
        parts = (self.provider, self.name, self.revision, self.dimensions, self.pooling, self.window)
        return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()[:12]
