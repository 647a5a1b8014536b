"""A later statement that gives one thing another value in the same words, or names another home, is named as newer."""

from __future__ import annotations

import pytest

from scrubjay import Memory, NewMemory

MOVES = (
    ("I live in Freiburg.", "I moved to Merzhausen last weekend."),
    ("I live in Rostock, Lange Straße 3.", "I moved to Warnemünde on Saturday."),
    ("I live in Leeds.", "In May I moved to Otley, 21 Mill Lane."),
    ("I live in Kassel with two cats.", "We have moved to Baunatal."),
    ("I live in Porto.", "Just moved to Oldenburg."),
    ("I live in Hamburg, Eppendorfer Weg 112, third floor.", "I live in Bremen, Am Dobben 48."),
    ("I live in Hamburg, Eppendorfer Weg 112.", "My new address is Am Dobben 48, Bremen."),
    ("Nina lives in Hamburg.", "Nina lives in Bremen, Am Dobben 48."),
    (
        "I live in Freiburg, Talstraße 9.",
        "I moved to Merzhausen, Hexentalstraße 21. The shop stays in Freiburg.",
    ),
    ("Ich wohne in Kiel.", "Wir sind am Samstag nach Plön gezogen."),
)
RESTATED = (
    ("Deadline of Kestrel: November 13.", "Deadline of Kestrel: December 11."),
    ("Kestrel's deadline is November 13.", "Kestrel's deadline is December 11."),
    ("User's email is a@post.example.", "User's email is b@post.example."),
    ("Radwerk's support priority is normal.", "Radwerk's support priority is high."),
    ("Customer 4711 is on the Starter plan.", "Customer 4711 is on the Business plan."),
    ("Tom's plan: Starter", "Tom's plan: Business"),
    ("User prefers tea.", "User prefers coffee."),
    ("Rent in Bremen is 1,480 euros warm.", "Rent in Bremen was corrected to 1,520 euros warm."),
)
COMPATIBLE = (
    ("I live in Hamburg.", "My sister moved to Merzhausen last weekend."),
    ("I live in Hamburg.", "I moved to Oldenburg last weekend. Just kidding."),
    ("I live in Hamburg.", "We want to move to Otley next year."),
    ("I live in Hamburg.", "I moved to Oldenburg, then back to Hamburg."),
    ("I live in Hamburg.", "The new address of the shop is Am Dobben 48, Bremen."),
    ("I live in Bremen.", "My address is Am Dobben 48, 28203 Bremen."),
    ("I live in Bremen.", "I live in Germany."),
    ("I live in Freiburg.", "I moved to Finance on Saturday."),
    ("I live in Freiburg.", "I moved to Kubernetes last week."),
    ("I live in Berlin during the week.", "I live in Bremen, Am Dobben 48."),
    ("I work in Freiburg.", "I moved to Merzhausen last weekend."),
    ("Nora lives in Malmö.", "I moved to Lund."),
    ("Tom's child: Emil", "Tom's child: Frieda"),
    ("User's colleague is Ana.", "User's colleague is Pedro."),
    ("Deadline of Kestrel: November 13.", "Deadline of Osprey: December 11."),
    ("User's work email is a@post.example.", "User's private email is b@post.example."),
)


@pytest.mark.parametrize(("old", "new"), MOVES + RESTATED)
def test_the_later_statement_is_named_and_stands_first_and_both_stay_active(old: str, new: str) -> None:
    with Memory.open("memory://", user="u") as memory:
        first, second = memory.add(old, date="2026-10-05"), memory.add(new, date="2026-11-16")

        results = memory.search(old, min_relevance=0).results

        assert second.supersedes == ()
        assert [result.id for result in results] == [second.id, first.id]
        assert results[1].newer == (second.id,)


@pytest.mark.parametrize(("old", "new"), MOVES)
def test_a_statement_stored_later_and_made_earlier_is_the_older_one(old: str, new: str) -> None:
    with Memory.open("memory://", user="u") as memory:
        second, first = memory.add(new, date="2026-11-16"), memory.add(old, date="2026-10-05")

        newer = {result.id: result.newer for result in memory.search(old, min_relevance=0).results}

        assert newer == {first.id: (second.id,), second.id: ()}


@pytest.mark.parametrize(("old", "new"), COMPATIBLE)
def test_statements_of_two_things_are_not_named_as_newer(old: str, new: str) -> None:
    with Memory.open("memory://", user="u") as memory:
        memory.add(old, date="2026-10-05")
        memory.add(new, date="2026-11-16")

        results = memory.search(old, min_relevance=0).results

        assert [result.newer for result in results] == [()] * len(results)
        assert memory.page(statuses=["superseded"]).records == ()


def test_the_new_home_answers_where_somebody_lives() -> None:
    with Memory.open("memory://", user="u") as memory:
        memory.add("I live with two cats.", date="2026-09-01")
        memory.add("I live in Hamburg, Eppendorfer Weg 112.", date="2026-10-05")
        memory.add("We moved to Bremen in May, Am Dobben 48.", date="2026-11-16")

        assert memory.search("Where do I live?").results[0].snippet.startswith("We moved to Bremen")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Freiburg, Talstraße 9.", "I moved to Merzhausen last weekend."),
        ("I live in Hamburg, Eppendorfer Weg 112.", "We moved to Bremen in May, Am Dobben 48."),
        ("I live in Hamburg, Eppendorfer Weg 112.", "My new address is Am Dobben 48, Bremen."),
    ],
)
def test_a_turn_names_the_turn_whose_learned_fact_is_newer_and_stands_behind_it(old: str, new: str) -> None:
    with Memory.open("memory://", user="u") as memory:
        memory.add("I live with two cats.", date="2026-09-01")
        turns = [
            memory.add_many([NewMemory(text, role="user", session=day, turn=0, date=day)])[0].id
            for text, day in ((old, "2026-10-05"), (new, "2026-11-16"))
        ]

        found = {result.id: result.newer for result in memory.search("Where do I live?").results}

        assert next(iter(found)) == turns[1]
        assert found[turns[0]] == (turns[1],)
