"""Halves: JSON text -> the same without escaped halves of characters, which no parser of ours would take.

JavaScript writes them where it cut a text within an emoji, and so do clients that shorten what they quote.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from scrubjay.verbs.check import sound

_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")


def whole(text: str) -> str:
    r"""Return JSON text whose strings are sound; what is no JSON as it is, for others to refuse.

    >>> whole(r'{"a": "\ud83d", "b": "\ud83d\ude00"}'), whole(r"[\ud83d")
    ('{"a": "\\ufffd", "b": "\\ud83d\\ude00"}', '[\\ud83d')
    """
    if not _HALF.search(text):
        return text
    try:
        return json.dumps(_deep(json.loads(text)))
    except (ValueError, RecursionError):
        return text


def _deep(value: Any) -> Any:
    if isinstance(value, dict):
        return {sound(name): _deep(each) for name, each in value.items()}
    return [_deep(each) for each in value] if isinstance(value, list) else sound(value)
