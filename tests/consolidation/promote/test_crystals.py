"""Crystals: what several sessions came to about one thing."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from voices import CONCEPTS, check_promoted, digest, journal, rows

from scrubjay.consolidation.facts import PromotedMemory
from scrubjay.consolidation.patterns import MAX_CRYSTAL_TOKENS, promote_crystals
from scrubjay.models.records import Record
from scrubjay.text.display import estimate_tokens


def crystals(records: list[Record], references: dict[str, list[str]]) -> tuple[PromotedMemory, ...]:
    return promote_crystals(records, rows(records), references, CONCEPTS)


def test_digests_of_several_sessions_about_one_entity_become_a_dated_crystal() -> None:
    records, references = journal(9)
    found = crystals(records, references)
    assert [one.title for one in found] == ["Alembic", "Postgres", "greenhouse"]
    story = found[0]
    assert story.text.split("\n")[0] == (
        "2025-11-08 user: We moved the ledger to Postgres, and Alembic stumbled over revision 1a."
    )
    days = [line[:10] for line in story.text.split("\n")]
    assert days == sorted(days)
    assert all("tomatoes" not in line for line in story.text.split("\n"))
    assert story.event is not None
    assert story.event.start < story.event.end


def test_a_crystal_needs_three_digests_of_two_sessions() -> None:
    records, references = journal(9)
    about = [record for record in records if "con_ga" in references[record.id]]
    assert [one.title for one in crystals(about, references)] == ["greenhouse"]
    assert crystals(about[:2], references) == ()
    assert crystals([replace(record, session="s1") for record in about], references) == ()


def test_a_digest_about_something_else_is_left_out() -> None:
    records, references = journal(12)
    odd = digest(
        "user: The ledger ran out of Postgres connections at 40 clients beside the greenhouse.", 900, days=5
    )
    found = crystals([*records, odd], references | {odd.id: ["con_ga"]})
    members = [memory for one in found if one.title == "greenhouse" for memory, _ in one.evidence]
    assert len(members) == 4
    assert odd.id not in members


def test_what_only_the_assistant_mentions_makes_no_crystal() -> None:
    records = [
        digest(f"assistant: A greenhouse of glass {n} warms the tomatoes well in spring.", n, days=9 * n)
        for n in range(5)
    ]
    assert crystals(records, {record.id: ["con_ga"] for record in records}) == ()
    spoken = [replace(record, content=record.content.replace("assistant", "user")) for record in records]
    assert len(crystals(spoken, {record.id: ["con_ga"] for record in spoken})) == 1


def test_a_name_that_no_source_holds_is_never_used() -> None:
    records, references = journal(9)
    hidden = {memory: ["con_hid"] for memory in references}
    assert crystals(records, hidden) == ()


def test_crystals_mix_no_keys_and_use_no_untrusted_digests() -> None:
    records, references = journal(9)
    about = [record for record in records if "con_ga" in references[record.id]]
    shared = [replace(about[0], key="group:dev"), *about[1:]]
    assert crystals(shared, references) == ()
    assert crystals([replace(about[0], origin="untrusted"), *about[1:]], references) == ()


def test_a_digest_without_a_vector_is_in_no_crystal() -> None:
    records, references = journal(9)
    assert promote_crystals(records, rows(records[:2]), references, CONCEPTS) == ()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 16), st.integers(1, 30), st.sampled_from((None, "group:dev")), st.randoms())
def test_crystals_are_no_wider_than_their_digests_in_any_order(  # type: ignore[no-untyped-def]
    sessions: int, every: int, other: str | None, chance
) -> None:
    records, references = journal(sessions, every=every)
    if other:
        records = [
            replace(record, key=other) if place % 4 == 0 else record for place, record in enumerate(records)
        ]
    found = crystals(records, references)
    mixed = list(records)
    chance.shuffle(mixed)
    assert crystals(mixed, references) == found
    by_id = {record.id: record for record in records}
    members = [memory for one in found for memory, _ in one.evidence]
    assert len(members) == len(set(members))
    for one in found:
        check_promoted(one, records)
        assert len({by_id[memory].session for memory, _ in one.evidence}) > 1
        assert estimate_tokens(one.text) <= MAX_CRYSTAL_TOKENS + 20
        for line in one.text.split("\n"):
            said = line.split(": ", 1)[1]
            assert any(said in record.content for record in by_id.values())
