"""Ids: keyed hashes with a tier prefix, and hashes that name a text without telling it."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from functools import lru_cache

from scrubjay.memory.tiers import CATEGORY_PREFIX, CONCEPT_PREFIX, PREFIX

DIGITS = 16
"""Hex digits of an id: 64 bits, so a million memories collide with a chance of 3e-8; the writer checks."""


def memory_key(secret: bytes, parts: tuple[str, ...]) -> int:
    """Return the 64-bit number of a memory, keyed by the tenant's secret.

    A hash of the content alone would let one tenant ask whether another holds a text.

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
    return f"{PREFIX[tier]}{key:0{DIGITS}x}"


@lru_cache(maxsize=65_536)
def parse_id(memory: str) -> tuple[str, int] | None:
    """Return the tier and number of a whole id, or None when it is not one.

    >>> parse_id("obs_00000000000000ff")
    ('observation', 255)
    >>> parse_id("obs_ff") is None
    True
    """
    prefix, mark, digits = memory.partition("_")
    if not mark or len(digits) != DIGITS or not set(digits) <= set("0123456789abcdef"):
        return None
    for tier, known in PREFIX.items():
        if known == prefix + "_":
            return tier, int(digits, 16)
    return None


def concept_id(secret: bytes, normal: str) -> str:
    """Return the id of a concept first known by a name, given in its normal form."""
    return f"{CONCEPT_PREFIX}{memory_key(secret, ('concept', normal)):0{DIGITS}x}"


def category_id(secret: bytes, parts: tuple[str, ...]) -> str:
    """Return the id of a category from its key, kind, parent and the name it is born with."""
    return f"{CATEGORY_PREFIX}{memory_key(secret, ('category', *parts)):0{DIGITS}x}"


@lru_cache(maxsize=65_536)
def parse_node(node: str) -> tuple[str, int] | None:
    """Return the tier (or ``concept``, ``category``) and number of a whole id, None when it is not one.

    >>> parse_node("con_00000000000000ff")
    ('concept', 255)
    """
    prefix, digits = node[: len(CONCEPT_PREFIX)], node[len(CONCEPT_PREFIX) :]
    if prefix not in (CONCEPT_PREFIX, CATEGORY_PREFIX):
        return parse_id(node)
    if len(digits) != DIGITS or not set(digits) <= set("0123456789abcdef"):
        return None
    return ("concept" if prefix == CONCEPT_PREFIX else "category"), int(digits, 16)


def text_hash(text: str) -> str:
    """Return the sha256 of a text in hex: equal texts, equal hashes, within one store."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def tombstone_hash(secret: bytes, text: str, key: str = "") -> str:
    """Return the keyed hash that a forgotten text leaves behind.

    Blank differences are ignored, so that a reflowed paragraph stays forgotten. The visibility key is part of
    it: nobody can learn by a text of their own that a stranger forgot the same. Without one it is the hash
    that stores kept before keys were.
    """
    plain = " ".join(text.split())
    mark = hmac.digest(secret, plain.encode("utf-8", "surrogatepass"), "sha256").hex()
    return _under(secret, mark, key) if key else mark


def tombstones(secret: bytes, text: str, keys: Iterable[str]) -> set[str]:
    """Return the hashes that a text has left behind if it was forgotten under any of these visibility keys."""
    mark = tombstone_hash(secret, text)
    return {mark, *(_under(secret, mark, key) for key in keys)}


def _under(secret: bytes, mark: str, key: str) -> str:
    message = f"{key}\x1f{mark}".encode("utf-8", "surrogatepass")
    return hmac.digest(secret, message, "sha256").hex()
