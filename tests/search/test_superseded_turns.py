"""A turn whose statement was superseded names the later one, which stands directly above it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay import Memory, NewMemory
from scrubjay.config.settings import FactSettings, Settings
from scrubjay.models.results import Result
from scrubjay.search.request import STAGES

ASKED = "where do I live?"
OTHERS = (
    "The build takes nine minutes.",
    "We use Postgres for the orders.",
    "My sister likes pizza.",
    "Deploys happen on Fridays.",
)


def say(memory: Memory, text: str, day: str, **options: object) -> str:
    """Store a turn of a conversation of its own; return its id."""
    new = NewMemory(text, session=f"of {day}", role="user", turn=0, date=day, **options)  # type: ignore[arg-type]
    return memory.add_many([new])[0].id


@pytest.fixture
def learning(settings: Settings, opened: Callable[..., Memory]) -> Callable[..., Memory]:
    """Open a store that learns facts and holds turns on other things, with the bundled model."""

    def open_(url: str | Path = "memory://", **options: object) -> Memory:
        own = replace(settings, facts=FactSettings())
        memory = opened(url, settings=own, embedders=None, **options)
        for at, text in enumerate(OTHERS):
            say(memory, text, f"2026-05-1{at}")
        return memory

    return open_


def shown(memory: Memory, query: str = ASKED, **options: object) -> dict[str, Result]:
    return {one.id: one for one in memory.search(query, **options).results}  # type: ignore[arg-type]


def test_a_turn_with_a_superseded_statement_names_the_later_turn_which_stands_above_it(
    learning: Callable[..., Memory],
) -> None:
    memory = learning()
    porto = say(memory, "I live in Porto.", "2026-01-10")
    lisbon = say(memory, "I moved to Lisbon.", "2026-04-10")
    found = shown(memory)
    assert list(found)[:2] == [lisbon, porto]
    assert found[porto].newer == (lisbon,)
    assert found[porto].snippet == "I live in Porto."
    assert not found[lisbon].newer
    assert list(shown(memory, limit=1)) == [lisbon]
    without = [stage for stage in STAGES if stage != "recency"]
    found = shown(memory, stages=without)
    assert next(iter(found)) == porto
    assert found[porto].newer == (lisbon,)


def test_a_later_turn_that_the_search_did_not_find_joins_the_results(learning: Callable[..., Memory]) -> None:
    memory = learning()
    porto = say(memory, "I live in Porto.", "2026-01-10")
    lisbon = say(memory, "I moved to Lisbon.", "2026-04-10")
    for at in range(12):
        say(memory, f"People live in house {at} all year.", f"2026-06-{at + 10}")
    found = shown(memory, limit=5)
    assert list(found)[:2] == [lisbon, porto]
    assert len(found) == 5


def test_every_context_has_the_later_turn_first_and_the_earlier_one_names_it(
    learning: Callable[..., Memory],
) -> None:
    memory = learning()
    porto = say(memory, "I live in Porto.", "2026-01-10")
    lisbon = say(memory, "I moved to Lisbon.", "2026-04-10")
    for unprompted in (True, False):
        text = memory.context(ASKED, unprompted=unprompted).text
        assert f"[2026-04-10 user, {lisbon}] I moved to Lisbon." in text
        assert f"[2026-01-10 user, {porto}, newer {lisbon}] I live in Porto." in text
        assert text.index("Lisbon") < text.index("Porto")


def test_after_two_moves_the_last_stands_first(learning: Callable[..., Memory]) -> None:
    memory = learning()
    porto = say(memory, "I live in Porto.", "2026-01-10")
    lisbon = say(memory, "I no longer live in Porto, I live in Lisbon.", "2026-04-10")
    madrid = say(memory, "I no longer live in Lisbon, I live in Madrid.", "2026-07-10")
    found = shown(memory)
    assert next(iter(found)) == madrid
    assert found[porto].newer[0] == madrid
    assert found[lisbon].newer == (madrid,)
    assert not found[madrid].newer


def test_a_statement_that_was_made_again_is_not_marked(learning: Callable[..., Memory]) -> None:
    memory = learning()
    say(memory, "I live in Porto.", "2026-01-10")
    lisbon = say(memory, "I no longer live in Porto, I live in Lisbon.", "2026-04-10")
    again = say(memory, "I no longer live in Lisbon, I live in Porto.", "2026-07-10")
    found = shown(memory)
    assert next(iter(found)) == again
    assert not found[again].newer
    assert found[lisbon].newer == (again,)


def test_a_question_about_the_rest_of_a_turn_keeps_its_order(learning: Callable[..., Memory]) -> None:
    memory = learning()
    both = say(memory, "I live in Porto. The blue bicycle has a flat tyre.", "2026-01-10")
    lisbon = say(memory, "I moved to Lisbon.", "2026-04-10")
    found = shown(memory, "which bicycle has a flat tyre?")
    assert next(iter(found)) == both
    assert found[both].newer == (lisbon,)


def test_filters_and_times_keep_the_later_turn_away(learning: Callable[..., Memory]) -> None:
    memory = learning()
    porto = say(memory, "I live in Porto.", "2026-01-10")
    lisbon = say(memory, "I moved to Lisbon.", "2026-04-10")
    assert lisbon not in shown(memory, until="2026-02-01")
    past = shown(memory, as_of="2026-02-01")
    assert next(iter(past)) == porto
    assert not past[porto].newer


def test_a_statement_that_was_restored_holds(learning: Callable[..., Memory]) -> None:
    memory = learning()
    report = memory.add_many(
        [NewMemory("I live in Porto.", session="p", role="user", turn=0, date="2026-01-10")]
    )[0]
    say(memory, "I moved to Lisbon.", "2026-04-10")
    assert shown(memory)[report.id].newer
    memory.restore(report.learned[0])
    found = shown(memory)
    assert next(iter(found)) == report.id
    assert not found[report.id].newer


def test_a_corrected_fact_stands_above_the_turn_that_it_came_from(learning: Callable[..., Memory]) -> None:
    memory = learning()
    report = memory.add_many(
        [NewMemory("I live in Porto.", session="p", role="user", turn=0, date="2026-01-10")]
    )[0]
    (fact,) = report.learned
    memory.update(fact, content="I live in Braga.")
    found = shown(memory)
    assert list(found)[:2] == [fact, report.id]
    assert found[report.id].newer == (fact,)


def test_a_timeline_says_which_turn_replaced_another(learning: Callable[..., Memory]) -> None:
    memory = learning()
    porto = say(memory, "I live in Porto.", "2026-01-10")
    lisbon = say(memory, "I moved to Lisbon.", "2026-04-10")
    entries = {one.result.id: one for one in memory.thread(ASKED).entries}
    assert entries[porto].replaced_by == (lisbon,)


def test_a_later_turn_that_the_caller_may_not_see_is_neither_named_nor_shown(
    learning: Callable[..., Memory], tmp_path: Path
) -> None:
    ann = learning(tmp_path / "m.db", user="ann", groups=["staff"])
    porto = say(ann, "I live in Porto.", "2026-01-10", visibility="group", group="staff")
    lisbon = say(ann, "I moved to Lisbon.", "2026-04-10")
    bob = learning(tmp_path / "m.db", user="bob", groups=["staff"])
    found = shown(bob, min_relevance=0.0)
    assert porto in found
    assert lisbon not in found
    assert not found[porto].newer
    assert lisbon not in str(bob.context(ASKED))
    assert lisbon not in str(bob.thread(ASKED))


def test_the_later_turn_comes_first_beside_a_digest_that_quotes_it_however_many_are_shown(
    learning: Callable[..., Memory],
) -> None:
    memory = learning()
    porto = say(memory, "I live in Porto.", "2026-01-10")
    lisbon = say(memory, "I moved to Lisbon.", "2026-04-10")
    memory.add("user: I moved to Lisbon.", title="Where I live", tier="crystal", origin="derived")
    for limit in (3, 5, 20):
        order = list(shown(memory, limit=limit))
        assert order.index(lisbon) < order.index(porto), limit
    text = memory.context(ASKED).text
    assert text.index("I moved to Lisbon.") < text.index("I live in Porto.")


RAISED = {
    "de": (
        "Mein Tagessatz ist 960 Euro.",
        "Ich habe den Tagessatz erhöht, er ist jetzt 1.040 Euro statt 960.",
        "Wie hoch ist mein Tagessatz?",
    ),
    "de, without the old value": (
        "Unser Limit ist 50 Euro.",
        "Wir haben das Limit gesenkt, es ist jetzt 20 Euro.",
        "Wie hoch ist unser Limit?",
    ),
    "de, of a thing": (
        "Unsere Miete ist 900 Euro.",
        "Unsere Miete ist jetzt 950 Euro statt 900.",
        "Wie hoch ist unsere Miete?",
    ),
}


@pytest.mark.parametrize("numbered", [True, False], ids=["numbered", "unnumbered"])
@pytest.mark.parametrize("case", RAISED)
def test_an_amount_that_changed_is_learned_from_numbered_and_unnumbered_turns_alike(
    learning: Callable[..., Memory], case: str, numbered: bool
) -> None:
    first, second, asked = RAISED[case]
    memory = learning()
    turn = 0 if numbered else None
    old, new = (
        memory.add_many([NewMemory(text, session=day, role="user", turn=turn, date=day)])[0]
        for text, day in ((first, "2026-10-20"), (second, "2026-11-12"))
    )
    assert old.learned
    assert new.learned
    assert not new.supersedes
    found = shown(memory, asked)
    assert list(found)[:2] == [new.id, old.id]
    assert found[old.id].newer == (new.id,)
    assert found[old.id].status == "active"


@pytest.mark.parametrize("session", ["one", "two"])
def test_a_turn_without_a_number_stays_in_results_when_a_later_one_changes_it(
    learning: Callable[..., Memory], session: str
) -> None:
    memory = learning()
    said = [("one", "My day rate is 960 euros.", "2026-10-20")]
    said += [(session, "I raised my day rate, it is now 1,040 euros instead of 960.", "2026-11-12")]
    reports = memory.add_many(NewMemory(text, session=of, role="user", date=day) for of, text, day in said)
    assert not any(one.supersedes for one in reports)
    assert list(shown(memory, "What is my day rate?"))[:2] == [reports[1].id, reports[0].id]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Mein Budget ist 960 Euro.", "Ich habe den Tagessatz erhöht, er ist jetzt 1.040 Euro statt 960."),
        ("My budget is 960 euros.", "I raised my day rate, it is now 1,040 euros instead of 960."),
        ("The printer costs 42 euros.", "The server costs 61 euros now instead of 42."),
        (
            "Mein Tagessatz ist 960 Euro.",
            "Anna hat ihren Tagessatz erhöht, er ist jetzt 1.040 Euro statt 960.",
        ),
        ("Mein Tagessatz ist 960 Euro.", "Ich habe den Tagessatz nicht erhöht, er bleibt bei 960 Euro."),
    ],
)
def test_a_rejected_amount_supersedes_only_a_statement_of_the_same_thing_and_person(
    learning: Callable[..., Memory], first: str, second: str
) -> None:
    memory = learning()
    memory.add(first, date="2026-10-20")
    assert memory.add(second, date="2026-11-12").supersedes == ()
