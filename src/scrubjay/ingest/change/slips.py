"""Slips: two spellings -> whether they are one word: a slip of the finger, joined or apart, or first letters."""

from __future__ import annotations

from typing import Final

from scrubjay.ingest.change.common import ranks

LONG: Final = 5
"""Letters of the shortest word in which one wrong letter is a slip; shorter ones are too often other words."""
PREFIXES: Final = ("un", "in", "im", "ir", "il", "non", "dis", "de", "mis")
"""Beginnings that turn a word into its opposite, where the other statement has the word without it."""


def slip(one: str, other: str) -> bool:
    """Return whether two folded words differ by one letter, and one of them is no word: a typo of the other.

    >>> slip("configuraton", "configuration"), slip("contract", "contrast"), slip("forms", "farms")
    (True, False, False)
    """
    if min(len(one), len(other)) < LONG or abs(len(one) - len(other)) > 1 or one[0] != other[0]:
        return False
    if not (one.isalpha() and other.isalpha()) or not _one_edit(one, other):
        return False
    return (one in ranks()) != (other in ranks())


def prefixed(one: str, other: str) -> bool:
    """Return whether one word is the other turned round by a prefix: "locked", "unlocked"."""
    short, long = sorted((one, other), key=len)
    return len(short) > 2 and long.endswith(short) and any(long == prefix + short for prefix in PREFIXES)


def initials(whole: str, parts: list[str]) -> bool:
    """Return whether a word is others in one piece: "timezone" is "time zone", "ETA" its first letters."""
    low = whole.lower().replace(".", "")
    return low == "".join(parts) or (whole.isupper() and low == "".join(part[:1] for part in parts))


def _one_edit(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    at = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    swapped = short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
    return short[at + 1 :] == long[at + 1 :] or swapped
