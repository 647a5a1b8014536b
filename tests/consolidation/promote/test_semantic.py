"""Semantic: what several sources say is a fact; what is known of it is surer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from observations import passage, turn
from voices import semantic as known_fact
from voices import told, voices, whole, whole_of

from scrubjay.consolidation.facts import CorroboratedFacts, corroborate_facts
from scrubjay.models.records import Record


def borne(records: list[Record], known: list[Record] = [], **evidence: list[str]) -> CorroboratedFacts:  # noqa: B006
    return corroborate_facts(told(records), whole_of(records), known, evidence)


def test_what_people_and_notes_say_twice_is_a_fact_in_its_best_words() -> None:
    assert [one.text for one in borne(voices()).facts] == [
        "Backups of the ledger run at 03:00 on Oslo.",
        "Our release server's port is 8443.",
    ]


def test_sentences_that_are_only_alike_are_not_one_fact() -> None:
    said = [
        turn("The staging server of the shop is on Fly.", 1, session="s1", days=9),
        turn("On Fly is the staging server of the shop.", 2, session="s2", days=8),
    ]
    assert borne(said) == CorroboratedFacts((), ())


def test_a_fact_lists_everything_that_says_it_and_is_surer_the_more_does() -> None:
    said = [turn("Our release server's port is 8443.", n, session=f"s{n}", days=n + 1) for n in range(4)]
    (two,), (four,) = borne(said[:2]).facts, borne(said).facts
    assert [memory for memory, _ in four.evidence] == [record.id for record in said]
    assert (two.confidence, four.confidence) == (pytest.approx(0.85), pytest.approx(0.9625))


def test_one_session_bears_nothing_out_however_often_it_says_it() -> None:
    said = [turn("Our release server's port is 8443.", n, session="s", days=n + 1) for n in range(4)]
    assert borne(said) == CorroboratedFacts((), ())


def test_two_passages_of_one_day_of_a_journal_are_one_source() -> None:
    text = "Backups of the ledger run at 03:00 on Oslo."
    same = [passage(text, "journal.md", n, days=30) for n in (1, 2)]
    assert borne(same).facts == ()
    assert len(borne([*same, passage(text, "journal.md", 3, days=12)]).facts) == 1


def test_what_a_model_says_bears_nothing_out() -> None:
    said = [
        turn("Our release server's port is 8443.", n, role="assistant", session=f"s{n}") for n in range(3)
    ]
    assert borne(said).facts == ()


def test_what_was_changed_later_is_no_fact() -> None:
    said = [turn("Our API has a timeout of 30 seconds.", n, session=f"s{n}", days=50 - n) for n in range(3)]
    assert len(borne(said).facts) == 1
    later = turn("Our API has a timeout of 90 seconds.", 9, session="s9", days=3)
    assert borne([*said, later]).facts == ()


def test_a_fact_that_is_known_is_not_made_again_but_gets_what_it_lacks() -> None:
    said = [turn("Our release server's port is 8443.", n, session=f"s{n}", days=n + 1) for n in range(3)]
    fact = replace(known_fact("Our release server's port is 8443."), id="sem_1", confidence=0.7)
    found = borne(said, [fact], sem_1=["obs_0000"])
    assert found.facts == ()
    (support,) = found.supports
    assert (support.memory, support.confidence) == ("sem_1", pytest.approx(0.925))
    assert [memory for memory, _ in support.evidence] == ["obs_0001", "obs_0002"]
    sure = replace(fact, confidence=support.confidence)
    assert borne(said, [sure], sem_1=[record.id for record in said]) == CorroboratedFacts((), ())


@pytest.mark.parametrize("status", ["superseded", "archived"])
def test_a_fact_that_is_no_longer_so_is_not_made_again(status: str) -> None:
    said = [turn("Our release server's port is 8443.", n, session=f"s{n}") for n in range(3)]
    assert borne(
        said, [known_fact("Our release server's port is 8443.", status=status)]
    ) == CorroboratedFacts((), ())


def test_the_server_of_one_project_says_nothing_of_that_of_another_but_a_person_is_one() -> None:
    server = [turn("Our release server's port is 8443.", n, session=f"s{n}", project=f"p{n}") for n in (1, 2)]
    assert borne(server).facts == ()
    allergy = [turn("I'm allergic to peanuts.", n, session=f"s{n}", project=f"p{n}") for n in (1, 2)]
    assert [one.project for one in borne(allergy).facts] == [None]


def test_what_is_of_a_day_is_no_fact() -> None:
    said = [
        passage("The ledger build is red again today on Oslo.", f"2026-01-0{n}.md", n, days=40 - n)
        for n in (1, 2)
    ]
    assert borne(said).facts == ()


def test_a_form_that_is_filled_in_every_day_is_no_fact() -> None:
    said = [
        passage("The ledger build on Oslo is green.", f"{n}.md", n, days=1000 - n, place=None)
        for n in range(210)
    ]
    assert len(borne(said[:50]).facts) == 1
    assert borne(said).facts == ()


_SAID = st.sampled_from(
    [
        "Our release server's port is 8443.",
        "our release server's port is 8443",
        "Our release server's port is 9000.",
        "I'm allergic to peanuts.",
        "I am allergic to peanuts",
        "I'm not allergic to peanuts.",
        "We use Postgres for billing.",
        "Our API has a timeout of 30 seconds.",
        "Our API has a timeout of 90 seconds.",
        "Thanks, that helps!",
    ]
)
_ANY = st.builds(
    turn,
    _SAID,
    st.integers(1, 60),
    role=st.sampled_from(("user", "user", "assistant")),
    session=st.sampled_from(("a", "b", "c")),
    days=st.integers(1, 90),
    key=st.sampled_from(("user:ada", "group:dev")),
    project=st.sampled_from((None, "ledger")),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(_ANY, max_size=14, unique_by=lambda record: record.id), st.randoms())
def test_facts_depend_on_no_order_stand_in_a_source_and_come_of_two_sessions(
    records: list[Record], chance
) -> None:  # type: ignore[no-untyped-def]
    found = borne(records)
    mixed = list(records)
    chance.shuffle(mixed)
    assert borne(mixed) == found
    by_id = {record.id: record for record in records}
    for one in found.facts:
        whole(one, records)
        of = [by_id[memory] for memory, _ in one.evidence]
        assert any(one.text in record.content for record in of)
        assert len({record.session for record in of}) > 1
        assert all(record.role == "user" for record in of)
    again = [
        replace(known_fact(one.text, n, key=one.key, project=one.project), confidence=1.0)
        for n, one in enumerate(found.facts)
    ]
    held = {
        fact.id: [memory for memory, _ in one.evidence] for fact, one in zip(again, found.facts, strict=True)
    }
    assert corroborate_facts(told(records), whole_of(records), again, held).facts == ()
