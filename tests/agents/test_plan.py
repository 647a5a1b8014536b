"""A difference says exactly what changes, wherever in a file that is."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from scrubjay.agents.base import Change
from scrubjay.agents.installation import unified_diff

LINES = st.lists(st.sampled_from("abcd"), max_size=14).map(lambda lines: [f"{line}\n" for line in lines])


def applied(old: list[str], shown: str) -> list[str]:
    """What a reader of the difference makes of the old lines, taking every line number at its word."""
    made: list[str] = []
    at = 0
    for text in shown.splitlines(keepends=True)[2:]:
        if found := re.match(r"@@ -(\d+)(,0)?", text):
            start = int(found[1]) - (0 if found[2] else 1)
            made += old[at:start]
            at = start
        elif text[0] in " -":
            assert old[at] == text[1:]
            made += [text[1:]] if text[0] == " " else []
            at += 1
        else:
            made.append(text[1:])
    return made + old[at:]


@given(LINES, LINES, LINES, LINES)
def test_a_difference_leads_from_the_old_lines_to_the_new(
    start: list[str], old: list[str], new: list[str], end: list[str]
) -> None:
    before, after = start + old + end, start + new + end
    change = Change(Path("f"), "".join(before).encode(), "".join(after).encode())
    shown = unified_diff(change)
    assert applied(before, shown) == after
    assert bool(shown) == (before != after)


def test_a_line_without_an_end_is_shown_as_one() -> None:
    shown = unified_diff(Change(Path("f"), b"a", b"a\nb\n"))
    assert shown == "--- f\n+++ f\n@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n"
    assert unified_diff(Change(Path("f"), None, b"a\n")).startswith("--- (no file)\n+++ f\n")
