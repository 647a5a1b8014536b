"""Semantic: what several sources say is a fact; what is known of it is surer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from observations import passage, turn
from voices import check_promoted, reader_of, voices, with_gists
from voices import semantic as known_fact

from scrubjay.consolidation.facts import CorroboratedFacts, corroborate_facts
from scrubjay.models.records import Record


def corroborated(records: list[Record], known: list[Record] = [], **evidence: list[str]) -> CorroboratedFacts:  # noqa: B006
    return corroborate_facts(with_gists(records), reader_of(records), known, evidence)


def test_a_sentence_of_two_sources_is_a_fact_in_its_best_wording() -> None:
    assert [one.text for one in corroborated(voices()).facts] == [
        "Backups of the ledger run at 03:00 on Oslo.",
        "Our release server's port is 8443.",
    ]


def test_similar_sentences_are_not_one_fact() -> None:
    said = [
        turn("The staging server of the shop is on Fly.", 1, session="s1", days=9),
        turn("On Fly is the staging server of the shop.", 2, session="s2", days=8),
    ]
    assert corroborated(said) == CorroboratedFacts((), ())


def test_a_fact_lists_its_sources_and_its_confidence_grows_with_them() -> None:
    said = [turn("Our release server's port is 8443.", n, session=f"s{n}", days=n + 1) for n in range(4)]
    (two,), (four,) = corroborated(said[:2]).facts, corroborated(said).facts
    assert [memory for memory, _ in four.evidence] == [record.id for record in said]
    assert (two.confidence, four.confidence) == (pytest.approx(0.85), pytest.approx(0.9625))


def test_repetitions_in_one_session_are_no_corroboration() -> None:
    said = [turn("Our release server's port is 8443.", n, session="s", days=n + 1) for n in range(4)]
    assert corroborated(said) == CorroboratedFacts((), ())


def test_two_passages_of_one_day_of_a_journal_are_one_source() -> None:
    text = "Backups of the ledger run at 03:00 on Oslo."
    same = [passage(text, "journal.md", n, days=30) for n in (1, 2)]
    assert corroborated(same).facts == ()
    assert len(corroborated([*same, passage(text, "journal.md", 3, days=12)]).facts) == 1


def test_assistant_turns_are_no_corroboration() -> None:
    said = [
        turn("Our release server's port is 8443.", n, role="assistant", session=f"s{n}") for n in range(3)
    ]
    assert corroborated(said).facts == ()


def test_a_sentence_that_was_changed_later_is_no_fact() -> None:
    said = [turn("Our API has a timeout of 30 seconds.", n, session=f"s{n}", days=50 - n) for n in range(3)]
    assert len(corroborated(said).facts) == 1
    later = turn("Our API has a timeout of 90 seconds.", 9, session="s9", days=3)
    assert corroborated([*said, later]).facts == ()


def test_a_known_fact_is_not_promoted_again_but_gains_evidence() -> None:
    said = [turn("Our release server's port is 8443.", n, session=f"s{n}", days=n + 1) for n in range(3)]
    fact = replace(known_fact("Our release server's port is 8443."), id="sem_1", confidence=0.7)
    found = corroborated(said, [fact], sem_1=["obs_0000"])
    assert found.facts == ()
    (support,) = found.supports
    assert (support.memory, support.confidence) == ("sem_1", pytest.approx(0.925))
    assert [memory for memory, _ in support.evidence] == ["obs_0001", "obs_0002"]
    sure = replace(fact, confidence=support.confidence)
    assert corroborated(said, [sure], sem_1=[record.id for record in said]) == CorroboratedFacts((), ())


@pytest.mark.parametrize("status", ["superseded", "archived"])
def test_an_inactive_fact_is_not_promoted_again(status: str) -> None:
    said = [turn("Our release server's port is 8443.", n, session=f"s{n}") for n in range(3)]
    assert corroborated(
        said, [known_fact("Our release server's port is 8443.", status=status)]
    ) == CorroboratedFacts((), ())


def test_facts_are_kept_apart_by_project_unless_about_the_speaker() -> None:
    server = [turn("Our release server's port is 8443.", n, session=f"s{n}", project=f"p{n}") for n in (1, 2)]
    assert corroborated(server).facts == ()
    allergy = [turn("I'm allergic to peanuts.", n, session=f"s{n}", project=f"p{n}") for n in (1, 2)]
    assert [one.project for one in corroborated(allergy).facts] == [None]


def test_a_temporary_statement_is_no_fact() -> None:
    said = [
        passage("The ledger build is red again today on Oslo.", f"2026-01-0{n}.md", n, days=40 - n)
        for n in (1, 2)
    ]
    assert corroborated(said).facts == ()


def test_a_form_that_is_filled_in_daily_is_no_fact() -> None:
    said = [
        passage("The ledger build on Oslo is green.", f"{n}.md", n, days=1000 - n, place=None)
        for n in range(210)
    ]
    assert len(corroborated(said[:50]).facts) == 1
    assert corroborated(said).facts == ()


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
def test_facts_are_verbatim_from_two_sessions_in_any_order(records: list[Record], chance) -> None:  # type: ignore[no-untyped-def]
    found = corroborated(records)
    mixed = list(records)
    chance.shuffle(mixed)
    assert corroborated(mixed) == found
    by_id = {record.id: record for record in records}
    for one in found.facts:
        check_promoted(one, records)
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
    assert corroborate_facts(with_gists(records), reader_of(records), again, held).facts == ()
