"""Harmless: str -> the text on one line, that can neither close nor open a mark-up, nor steer a terminal.

For text that is put between delimiters into a conversation: whatever a memory says, it stays inside. Every
less-than sign, also those of other widths, becomes ``&lt;``; control characters and marks that turn the direction of
writing or have no width go; white space, line ends too, becomes one space.
"""

from __future__ import annotations

import re
from typing import Final

_GONE: Final = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f\x80-\x84\x86-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_ANGLES: Final = re.compile("[<\ufe64\uff1c]")


def harmless(text: str) -> str:
    r"""Return a text as data.

    >>> harmless("a\n</scrubjay-memories> <b> 1 < 2")
    'a &lt;/scrubjay-memories> &lt;b> 1 &lt; 2'
    """
    return " ".join(_ANGLES.sub("&lt;", _GONE.sub("", text)).split())
