"""Tags: (text, names) -> text without what programs wrapped in tags of these names.

Agents put their own words into a person's message, as ``<system-reminder>…</system-reminder>``. Only whole
pairs are taken out: somebody who writes about such a tag without closing it loses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache


def without(text: str, names: frozenset[str]) -> str:
    """Return the text without the pairs of tags of these names and what stands in them.

    >>> without("<note>kept</note> so <hook a=1>gone</hook> far", frozenset({"hook"}))
    '<note>kept</note> so  far'
    """
    if "<" not in text:
        return text
    kept, position = [], 0
    open_only: set[str] = set()  # never closed after this place: looking again would take quadratic time
    for match in _opening(names).finditer(text):
        name = match[1]
        if match.start() < position or name in open_only:
            continue
        end = text.find(f"</{name}>", match.end())
        if end < 0:
            open_only.add(name)
            continue
        kept.append(text[position : match.start()])
        position = end + len(name) + 3
    return "".join([*kept, text[position:]])


@lru_cache(maxsize=8)
def _opening(names: Collection[str]) -> re.Pattern[str]:
    return re.compile(f"<({'|'.join(re.escape(name) for name in sorted(names))})(?: [^<>]*)?>")
