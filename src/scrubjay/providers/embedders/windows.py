"""Windows: a text too long for a model -> balanced pieces without overlap, nothing cut off."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from itertools import accumulate, pairwise

TOKENS_PER_LETTER = 0.5
"""A remote tokenizer is not at hand, so tokens are overestimated from characters. English runs at about
4.5 letters a token and code at about 3, so 2 letters (or spaces) a token is cautious for both."""

TOKENS_PER_MARK = 1.0
"""WordPiece makes one token of every ASCII punctuation mark and many tokenizers one of every digit."""

SLACK = 40
"""Tokens of the window kept free, so that a cut can move back to white space; at most a quarter of it."""

_NOT_LETTER = re.compile(r"[^A-Za-z\s]")


def sound(text: str) -> str:
    """The text with lone surrogates, which no tokenizer and no UTF-8 stream takes, turned into "?"."""
    return text.encode("utf-8", "replace").decode("utf-8")


def cuts(length: int, window: int) -> list[tuple[int, int]]:
    """Spans of ``ceil(length / window)`` pieces whose sizes differ by at most one.

    Args:
        length: Tokens in the text.
        window: Most tokens in a piece; 0 means no limit.

    Returns:
        Half-open spans that partition ``range(length)``; one empty span for an empty text.

    >>> cuts(10, 4)
    [(0, 3), (3, 6), (6, 10)]
    """
    pieces = max(1, -(-length // window)) if window else 1
    edges = [i * length // pieces for i in range(pieces + 1)]
    return list(pairwise(edges))


def token_estimate(text: str) -> float:
    """An upper estimate of the tokens a remote model reads in ``text``.

    Letters and white space count half a token, other ASCII one, anything else one token a UTF-8 byte
    (no byte-level tokenizer makes more). Ordinary English comes out at twice its true count.

    >>> token_estimate("four years")
    5.0
    """
    return sum(map(_cost, text)) if _NOT_LETTER.search(text) else len(text) * TOKENS_PER_LETTER


def split_text(text: str, window: int) -> list[str]:
    """Cut a text for a remote model into pieces of about equal token estimates.

    Cuts stand at white space where there is some a few characters before. The pieces joined are the
    text again.

    Args:
        text: The text.
        window: Most tokens the model reads at once, at least 32; 0 means no limit.

    Returns:
        The pieces, none empty unless the text is; the estimate of each is at most ``window``.
    """
    estimate = token_estimate(text)
    if not window or estimate <= window:
        return [text]
    slack = min(SLACK, window // 4)
    pieces = math.ceil(estimate / (window - slack))
    sums = [0.0, *accumulate(map(_cost, text))]
    edges = [0]
    for i in range(1, pieces):
        at = bisect_right(sums, estimate * i / pieces) - 1
        edges.append(_back_to_space(text, at, sums, slack / 2))
    return [text[a:b] for a, b in zip(edges, [*edges[1:], len(text)], strict=True) if b > a]


def _cost(character: str) -> float:
    if character.isascii():
        return TOKENS_PER_LETTER if character.isalpha() or character.isspace() else TOKENS_PER_MARK
    return float(len(character.encode("utf-8", "replace")))


def _back_to_space(text: str, at: int, sums: list[float], reach: float) -> int:
    """The last cut after white space at most ``reach`` tokens before ``at``, else ``at``."""
    for i in range(at, 0, -1):
        if sums[at] - sums[i] > reach:
            break
        if text[i - 1].isspace():
            return i
    return at
