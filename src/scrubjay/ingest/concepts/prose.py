"""Prose: passages -> Prose. All passages as one text, once with the code in it and once without."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from scrubjay.ingest.concepts.level import blot

BREAK: Final = "\n\x1e\n"
"""Stands between passages; no pattern reaches over it."""
CODE: Final = re.compile(r"`([^`\n]{2,60})`")
CODE_MARK: Final = "\x04"
_FENCE: Final = re.compile(
    r"\n[ \t]*(?:- )?(`{3,}+|~{3,}+)[^`\n]*+\n.*?(?:\n[ \t]*\1(?=[ \t]*\n)|(?=\n\x1e)|\Z)", re.DOTALL
)
_COMMENT: Final = re.compile(r"<!--[^<>]{0,2000}+>")
_ESCAPE: Final = re.compile(r"\\[nrt](?![a-z])")
r"""A line break as program text writes it: there is no "nHuman" in "\nHuman"."""


@dataclass(frozen=True, slots=True)
class Prose:
    """Passages as one text, of equal length each time.

    Attributes:
        listed: Without listings and comments.
        whole: Also without addresses.
        prose: Also without code in backticks, of which ``CODE_MARK`` is left.
    """

    listed: str
    whole: str
    prose: str


def prose(texts: Sequence[str]) -> Prose:
    """Return passages as one text, with a line end before it."""
    listed = _COMMENT.sub(_blank, _FENCE.sub(_blank, "\n" + BREAK.join(texts)))
    whole = blot(_ESCAPE.sub("  ", listed), " ")
    return Prose(listed, whole, CODE.sub(_as_code, whole))


def only(text: str, texts: Sequence[str], chosen: Sequence[bool]) -> str:
    """Return the chosen passages of a text of all."""
    parts, start = [], 1
    for one, wanted in zip(texts, chosen, strict=True):
        if wanted:
            parts.append(text[start : start + len(one)])
        start += len(one) + len(BREAK)
    return BREAK.join(parts)


def _blank(match: re.Match[str]) -> str:
    return "\n".join(" " * len(line) for line in match.group().split("\n"))


def _as_code(match: re.Match[str]) -> str:
    return f"`{CODE_MARK * len(match[1])}`"
