"""Kit: str -> how dense a sentence is, by the formula of the system that consolidates by rules alone.

The baseline that ``distil`` is measured against (bench/oracle.py), as its author describes it:

    .3 * min(words / 20, 1) + .4 if it holds a marker + .2 * min(terms / 5, 1) + .3 if it is a finished item

The best three sentences of a memory and the best ten of a concept make its digest. It looks at each sentence by
itself, so a digest may say one thing ten times.
"""

from __future__ import annotations

import re
from typing import Final

MARKERS: Final = (
    "because", "changed", "chose", "completed", "decided", "decision", "deployed", "discovered", "done", "fixed",
    "found", "implemented", "important", "key", "learned", "lesson", "must", "never", "prefer", "problem", "reason",
    "resolved", "root cause", "shipped", "solution", "switched",
)  # fmt: skip
WORDS: Final = 20
TERMS: Final = 5
MEMORY: Final = 3
CONCEPT: Final = 10

_MARKER = re.compile(r"\b(?:" + "|".join(MARKERS) + r")\b", re.IGNORECASE)
_TERM = re.compile(r"(?<=\s)[A-Z]\w+|\b\w+[._/]\w[\w./]*|\b[a-z]+[A-Z]\w*|\b[A-Z]{2,}\b|`[^`]+`")
_FINISHED = re.compile(r"\s*(?:[-*+]\s+)?(?:\[[xX]\]|✅|✓|✔)|\s*[-*+]\s+(?:Done|Fixed|Shipped)\b")


def kit(sentence: str) -> float:
    """Return a sentence's score, 0 to 1.2.

    >>> round(kit("We chose Redis because it is fast"), 4)
    0.545
    """
    words = len(sentence.split())
    return (
        0.3 * min(words / WORDS, 1.0)
        + (0.4 if _MARKER.search(sentence) else 0.0)
        + 0.2 * min(len(set(_TERM.findall(sentence))) / TERMS, 1.0)
        + (0.3 if _FINISHED.match(sentence) else 0.0)
    )
