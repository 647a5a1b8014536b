r"""Edit text: a file of instructions -> the same with a marked block of ours at its end, or without it.

What stands outside of the two marks is not touched. A block that is there is brought up to date where it is.

>>> put(b"# Mine\n", "Use it.")
b'# Mine\n\n<!-- scrubjay:begin -->\nUse it.\n<!-- scrubjay:end -->\n'
>>> cut(put(b"# Mine\n", "Use it."))
b'# Mine\n'
"""

from __future__ import annotations

import re
from typing import Final

BEGIN: Final = b"<!-- scrubjay:begin -->"
END: Final = b"<!-- scrubjay:end -->"

_BLOCK = re.compile(re.escape(BEGIN) + rb".*?" + re.escape(END), re.DOTALL)


def put(data: bytes | None, text: str) -> bytes:
    """Return the file with the block, whose text has no line end at its end."""
    source = data or b""
    eol = b"\r\n" if b"\r\n" in source else b"\n"
    block = eol.join([BEGIN, *text.encode("utf-8").splitlines(), END])
    if _BLOCK.search(source):
        return _BLOCK.sub(lambda _: block, source, count=1)
    if not source.strip():
        return source + block + eol
    gap = eol if source.endswith((b"\n", b"\r")) else eol + eol
    return source + gap + block + eol


def cut(data: bytes | None) -> bytes | None:
    """Return the file without the block and the empty line before it; None where there is no file."""
    if data is None:
        return None
    while found := _BLOCK.search(data):
        before, after = data[: found.start()], data[found.end() :]
        for eol in (b"\r\n", b"\n"):
            if after.startswith(eol):
                after = after[len(eol) :]
                before = before[: -len(eol)] if before.endswith(eol * 2) and before.strip() else before
                break
        data = before + after
    return data


def has(data: bytes | None) -> bool:
    """Return whether the block is there."""
    return bool(data and _BLOCK.search(data))
