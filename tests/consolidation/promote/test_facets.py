"""Facets: attributes of things, from what is said in plain form."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from observations import turn
from voices import check_promoted, semantic, words

from scrubjay.consolidation.facets import promote_facets
from scrubjay.models.records import Record

SAID = (
    ("My birthday is 3 May.", "my · birthday: 3 May"),
    ("My new accountant is Frau Brandt.", "my · accountant: Frau Brandt"),
    ("my sister's birthday is May 3rd", "my sister · birthday: May 3rd"),
    ("By the way, I live in Porto now, but I travel a lot", "I · live in: Porto"),
    ("I've moved on, I think.", ""),
    ("I moved to Denver, Colorado for work.", "I · moved to: Denver, Colorado"),
    ("My dad is from Karachi, Pakistan.", "my dad · is from: Karachi, Pakistan"),
    ("Our staging server's port is 8443.", "staging server · port: 8443"),
    ("The grant deadline is 12 March", "grant · deadline: 12 March"),
    ("The deadline for the grant is 12 March", "grant · deadline: 12 March"),
    ("My favourite colour is dark green", "my · favourite colour: dark green"),
    ("The release branch is `release/v2`", "release · branch: `release/v2`"),
)
UNSAID = (
    "My clients are Bäckerei Brandt, the Nordlicht clinic and a startup called Pomelo.",
    "My clients are Brandt and the Nordlicht clinic.",
    "My client is Brandt, Pomelo and Nordlicht.",
    "I live in Berlin and Lisbon.",
    "I moved to Merzhausen last weekend.",
    "My birthday is next Friday.",
    "My car is broken.",
    "The staging port is not 8443.",
    "Is the staging port 8443?",
    "If my name is Ann, call me.",
    "Maybe the staging port is 8443.",
    "The new bookshelf is from IKEA.",
    "My abuela is actually teaching me Latin recipes.",
    "It lives in Rome.",
    "Everyone lives in Rome.",
    "My sister is tired today.",
    "My boss said the port is 8443.",
    "I used to live in Rome.",
    "The API key for Stripe is in 1Password",
    "My neck is always stiff no matter what I do",
    "My opinion is the same as before",
)


@pytest.mark.parametrize(("said", "text"), SAID)
def test_a_plain_form_becomes_entity_attribute_and_value(said: str, text: str) -> None:
    assert [one.text for one in promote_facets([semantic(said)])] == ([text] if text else [])


@pytest.mark.parametrize("said", UNSAID)
def test_negated_hypothetical_and_temporary_clauses_are_no_facets(said: str) -> None:
    assert promote_facets([semantic(said)]) == ()


def test_the_newest_active_source_wins_however_old_it_is() -> None:
    old, new = semantic("I live in Rome", 1, days=4000), semantic("I moved to Oslo", 2, days=3000)
    assert [one.text for one in promote_facets([new, old])] == ["I · moved to: Oslo"]
    assert [one.text for one in promote_facets([replace(new, status="superseded"), old])] == [
        "I · live in: Rome"
    ]
    assert [one.text for one in promote_facets([replace(new, status="archived"), old])] == [
        "I · live in: Rome"
    ]


def test_a_repeated_statement_is_one_facet_with_all_evidence() -> None:
    (one,) = promote_facets([semantic("The staging port is 8443.", n, days=9 * n) for n in (1, 2, 3)])
    assert [memory for memory, _ in one.evidence] == ["obs_0001", "obs_0002", "obs_0003"]
    assert one.confidence == pytest.approx(0.925)


def test_a_repetition_does_not_change_the_facet() -> None:
    first = semantic("The staging port is 8443.", 1, days=30)
    again = semantic("The staging port is 8443.", 2, days=3)
    (before,), (after,) = promote_facets([first]), promote_facets([first, again])
    assert (before.text, before.title, before.event) == (after.text, after.title, after.event)


def test_a_facet_has_the_confidence_of_its_fact() -> None:
    fact = semantic("Our billing database is Postgres.", origin="derived", confidence=0.9625)
    assert promote_facets([fact])[0].confidence == 0.9625


def test_facets_are_kept_apart_by_project_unless_about_the_speaker() -> None:
    server = [semantic(f"The staging port is {n}", n, project=f"p{n}", days=9 * n) for n in (81, 82)]
    assert [one.project for one in promote_facets(server)] == ["p81", "p82"]
    home = [semantic(f"I live in {c}", n, project=c, days=n) for n, c in ((9, "Rome"), (2, "Oslo"))]
    assert [(one.text, one.project) for one in promote_facets(home)] == [("I · live in: Oslo", "Oslo")]


def test_a_shared_memory_gives_no_facet_of_i() -> None:
    assert (
        promote_facets(
            [semantic("I live in Rome", key="group:dev"), semantic("my name is Ann", key="public")]
        )
        == ()
    )
    assert promote_facets([semantic("The staging port is 81", key="group:dev")])[0].key == "group:dev"


def test_observations_and_untrusted_memories_make_no_facets() -> None:
    assert promote_facets([turn("I live in Rome"), semantic("I live in Rome", origin="untrusted")]) == ()


_ANY = st.builds(
    semantic,
    st.sampled_from(
        [said for said, _ in SAID] + list(UNSAID) + ["I live in Rome", "Our billing database is MySQL"]
    ),
    st.integers(1, 40),
    days=st.integers(1, 900),
    key=st.sampled_from(("user:ada", "group:dev")),
    project=st.sampled_from((None, "ledger")),
    status=st.sampled_from(("active", "superseded")),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(_ANY, max_size=12, unique_by=lambda record: record.id), st.randoms())
def test_facets_use_only_words_of_their_sources_in_any_order(records: list[Record], chance) -> None:  # type: ignore[no-untyped-def]
    found = promote_facets(records)
    mixed = list(records)
    chance.shuffle(mixed)
    assert promote_facets(mixed) == found
    by_id = {record.id: record for record in records}
    assert len({(one.key, one.project, one.title) for one in found}) == len(found)
    for one in found:
        check_promoted(one, records)
        assert one.text.startswith(f"{one.title}: ")
        said = set().union(*(words(by_id[memory].content) for memory, _ in one.evidence))
        assert words(one.text) - {""} <= said | {word.removesuffix("'s") for word in said}
