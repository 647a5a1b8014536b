"""Gist: what promotion asks of a text, whatever becomes of the memory meanwhile."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest
from observations import observation, passage, turn
from voices import voices

from scrubjay.consolidation.facts import (
    EMPTY_GIST,
    GIST_RULES,
    compute_gist,
    gist_fingerprint,
    parse_gist,
    serialize_gist,
)

SAID = turn("Our release server's port is 8443.", 1, session="a", days=50)
SHOWN = turn("Run `git push origin main`.", 2, role="assistant", session="a", days=50)
NOTED = passage("Backups of the ledger run at 03:00 on Oslo.", "2026-01-03.md", 3, days=35)


def test_people_and_dated_notes_give_sentences_and_agents_give_steps() -> None:
    assert [bool(compute_gist(one).sentences) for one in (SAID, SHOWN, NOTED)] == [True, False, True]
    assert [compute_gist(one).steps for one in (SAID, SHOWN, NOTED)] == [(), ("git push",), ()]


@pytest.mark.parametrize("record", voices(), ids=lambda record: record.id)
def test_a_gist_survives_serialization(record: object) -> None:
    one = compute_gist(record)  # type: ignore[arg-type]
    assert parse_gist(serialize_gist(one)) == one


def test_a_gist_does_not_depend_on_status_or_project() -> None:
    for one in (SAID, SHOWN, NOTED):
        for changes in ({"status": "superseded"}, {"status": "archived", "strength": 0.1}, {"project": "x"}):
            other = replace(one, **changes)  # type: ignore[arg-type]
            assert (compute_gist(other), gist_fingerprint(other)) == (
                compute_gist(one),
                gist_fingerprint(one),
            )


def test_another_text_or_speaker_has_another_fingerprint() -> None:
    marks = [
        gist_fingerprint(SAID),
        gist_fingerprint(replace(SAID, content_hash="0")),
        gist_fingerprint(replace(SAID, role="assistant")),
        gist_fingerprint(replace(SAID, session=None)),
    ]
    assert len({*marks}) == len(marks)


def test_a_text_that_is_not_read_has_no_fingerprint_and_no_gist() -> None:
    for one in (
        replace(SAID, tier="semantic"),
        replace(SHOWN, origin="derived"),
        replace(NOTED, event=None),
        observation("Call `git push origin`.", 4, days=9),
    ):
        if not gist_fingerprint(one):
            assert compute_gist(one) == EMPTY_GIST
    assert not gist_fingerprint(replace(NOTED, event=None))


def test_a_change_of_gists_needs_a_new_version() -> None:
    """What was kept by other rules would be believed: count `compute_gist.RULES` up, then change this line."""
    read = b"".join(serialize_gist(compute_gist(record)) for record in voices())
    assert (GIST_RULES, hashlib.sha256(read).hexdigest()[:12]) == ("8", "be118b559ebc")
