"""Gist: what promotion asks of a text, whatever becomes of the memory meanwhile."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest
from observations import observation, passage, turn
from voices import voices

from scrubjay.consolidate.promote.gist import NOTHING, RULES, gist, given, kept, mark

SAID = turn("The staging server is on port 8443.", 1, session="a", days=50)
SHOWN = turn("Run `git push origin main`.", 2, role="assistant", session="a", days=50)
NOTED = passage("Backups of the ledger run at 03:00 on Oslo.", "2026-01-03.md", 3, days=35)


def test_a_persons_turn_and_a_dated_note_say_and_an_agents_turn_shows() -> None:
    assert [bool(gist(one).said) for one in (SAID, SHOWN, NOTED)] == [True, False, True]
    assert [gist(one).steps for one in (SAID, SHOWN, NOTED)] == [(), ("git push",), ()]


@pytest.mark.parametrize("record", voices(), ids=lambda record: record.id)
def test_a_gist_comes_back_as_it_was_kept(record: object) -> None:
    one = gist(record)  # type: ignore[arg-type]
    assert given(kept(one)) == one


def test_a_gist_does_not_depend_on_what_becomes_of_its_memory() -> None:
    for one in (SAID, SHOWN, NOTED):
        for changes in ({"status": "superseded"}, {"status": "archived", "strength": 0.1}, {"project": "x"}):
            other = replace(one, **changes)  # type: ignore[arg-type]
            assert (gist(other), mark(other)) == (gist(one), mark(one))


def test_another_text_or_another_speaker_has_another_mark() -> None:
    marks = [
        mark(SAID),
        mark(replace(SAID, content_hash="0")),
        mark(replace(SAID, role="assistant")),
        mark(replace(SAID, session=None)),
    ]
    assert len({*marks}) == len(marks)


def test_what_is_not_read_has_no_mark_and_no_gist() -> None:
    for one in (
        replace(SAID, tier="semantic"),
        replace(SHOWN, origin="derived"),
        replace(NOTED, event=None),
        observation("Call `git push origin`.", 4, days=9),
    ):
        if not mark(one):
            assert gist(one) == NOTHING
    assert not mark(replace(NOTED, event=None))


def test_the_rules_have_a_new_number_when_texts_are_read_otherwise() -> None:
    """What was kept by other rules would be believed: count `gist.RULES` up, then change this line."""
    read = b"".join(kept(gist(record)) for record in voices())
    assert (RULES, hashlib.sha256(read).hexdigest()[:12]) == ("1", "3942ddb90507")
