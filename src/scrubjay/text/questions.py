"""Questions: what somebody said -> the same without what they only asked again.

A stored question holds the words of a question better than any answer does, and answers nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_SENTENCE: Final = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
_BEFORE: Final = r"\W*(?:(?:and|but|or|so|ok|okay|then|well|hm+|hi|hey|btw|also|und|aber|also|ok)\b\W*)*"
_ASKS: Final = re.compile(
    _BEFORE + r"(?:"
    r"(?:how|what|what's|which|who|who's|whose|where|when|why"
    r"|wie|was|welche[rsmn]?|wer|wem|wen|wo|wohin|woher|wann|warum|wieso|weshalb)\b"
    r"|(?:do|does|did|is|are|was|were|can|could|will|would|should|shall|have|has|may)\s+"
    r"(?:i|we|you|they|he|she|it|there|this|that|these|the|our|my|your|any)\b"
    r"|(?:ist|sind|hat|haben|kann|können|soll|sollen|darf|gibt)\s+(?:es|das|der|die|wir|ich|man|ihr|du)\b)",
    re.I,
)
_STATES: Final = re.compile(_BEFORE + r"(?:when|where|whenever|wenn)\b[^,]*,\s*\w", re.I)
"""A clause and what holds of it: "when the build fails, run make clean"."""
_ENDS: Final = re.compile(r"[,\s](?:why|how|when|where|who|what|warum|wie|wann|wo|wer)\W*$", re.I)

_UNKNOWING: Final = re.compile(
    r"\b(?:(?:do|does|did|can|could)(?:n't| not)|cannot)\s+(?:\w+\s+)?(?:know|have|see|find|tell|say)\b"
    r"|\bnot (?:sure|certain|known)\b|\bno idea\b|\b(?:weiß|kenne|finde|sehe|habe) (?:ich |es |das |da )*(?:nicht|kein)"
    r"|\bkeine ahnung\b|不知道|不清楚|找不到|没有找到|わかりません|分かりません",
    re.I,
)


def asks(sentence: str) -> bool:
    """Tell whether a sentence asks; people leave out the mark.

    >>> [asks(text) for text in ("how long is the trial", "It is slow on Mondays, why", "多久？", "Wann ist das")]
    [True, True, True, True]
    >>> [asks(text) for text in ("21 days.", "when it fails, run make clean", "I know what to do.")]
    [False, False, False]
    """
    said = sentence.strip()
    if said.endswith(("?", "？", "?)", '?"')):
        return True
    if said.endswith((".", "!", "。", ":")) or _STATES.match(said):
        return False
    return bool(_ASKS.match(said) or _ENDS.search(said))


def unasked(text: str, repeats: Callable[[str], bool]) -> str:
    """Return a text without the sentences that ask what was asked.

    Args:
        text: What somebody said.
        repeats: Tells whether a question is the one that was asked.

    >>> unasked("I redo the page. How long is the trial? It was 14 days.", lambda said: "trial" in said)
    'I redo the page. It was 14 days.'
    """
    sentences = [said for said in _SENTENCE.split(text) if said and said.strip()]
    left = [said for said in sentences if not (asks(said) and repeats(said))]
    return text if len(left) == len(sentences) else " ".join(left)


def unknowing(reply: str) -> bool:
    """Tell whether a reply says that it has no answer.

    >>> unknowing("I don't have the price list here."), unknowing("It is 80 euros.")
    (True, False)
    """
    return bool(_UNKNOWING.search(reply.replace("’", "'")))
