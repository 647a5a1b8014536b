# ruff: noqa: E501
"""What is learned unasked is marked by the person or stands alone; junk is not learned."""

from __future__ import annotations

import pytest

from scrubjay.facts.extractor import extract_facts


@pytest.mark.parametrize(
    ("turn", "kept"),
    [
        ("remember: the staging cluster is kestrel-stg-3 now, stg-2 is gone", "the staging cluster is kestrel-stg-3 now, stg-2 is gone"),
        ("Merk dir: Rechnungen gehen immer an Petra.", "Rechnungen gehen immer an Petra."),
        ("wichtig: nie direkt auf main pushen", "wichtig: nie direkt auf main pushen"),
        ("记住：发布只在周二进行。", "发布只在周二进行。"),
        ("以后请用中文回答我", "以后请用中文回答我"),
        ("Retenez que la réunion est le mardi.", "la réunion est le mardi."),
        ("Fix it. From now on, answer in Portuguese.", "From now on, answer in Portuguese."),
        ("please never use mocks in tests, we had bad luck with them", "please never use mocks in tests, we had bad luck with them"),
        ("No, we use pnpm here, not npm.", "No, we use pnpm here, not npm."),
        ("I'm vegan.", "I'm vegan."),
        ("Remember that St. Gallen is the second site.", "St. Gallen is the second site."),
        ("Remember: No. 7 is the spare server.", "No. 7 is the spare server."),
        ("Merk dir: Herr Dr. Seidel kommt immer montags.", "Herr Dr. Seidel kommt immer montags."),
        ("Wichtig: der Server wird am 1. Dezember abgeschaltet.", "Wichtig: der Server wird am 1. Dezember abgeschaltet."),
        ("Remember: use e.g. ruff vs. black. Then fix the build.", "use e.g. ruff vs. black."),
        ("I moved to Lisbon.", "I moved to Lisbon."),
        ("I now live in Lisbon.", "I now live in Lisbon."),
        ("We switched to pnpm yesterday.", "We switched to pnpm yesterday."),
        ("Fix it. My new phone number is 555 1234.", "My new phone number is 555 1234."),
        ("The build now runs on Zephyr.", "The build now runs on Zephyr."),
        ("The api now runs on port 8080.", "The api now runs on port 8080."),
        ("Every one of our tests must always pass.", "Every one of our tests must always pass."),
        ("We decided to use Postgres.", "We decided to use Postgres."),
        ("Okay, we're going with DuckDB for the cache. Now fix the build.", "Okay, we're going with DuckDB for the cache."),
        ("Can you fix the build? My sister Ana lives in Porto.", "My sister Ana lives in Porto."),
    ],
)  # fmt: skip
def test_what_a_person_marks_corrects_or_states_by_itself_is_learned_as_written(turn: str, kept: str) -> None:
    assert [one.text for one in extract_facts(turn)] in ([kept], [kept.rstrip(".")])


@pytest.mark.parametrize(
    "turn",
    [
        "this goes out on Tuesday", "ShipmentTimeline it is", "why is it always red?", "it never works", "never mind",
        "the test never finishes", "I never got the mail", "I always forget the flag", "let's always do that",
        "we always get a 502 after the deploy", "the button is never enabled on mobile", "I got a new mac.",
        "We want to go by train, no more than 6 hours.", "do you remember the port?",
        "ok booked the trains, 1st to 7th.", "ok always is fine", "I'm tired.", "I'm back.",
        "Spare ones are always kept in the cellar.", "our old one lives in Porto",
        "yes, because our rent is 900 euros", "yes, from when my sister Ana moved to Porto",
        "We switched to main.", "We almost switched to bun.", "I nearly moved to Madrid.", "I'm in Lisbon now.",
        "The script now uses too much memory.", "It now runs on Jenkins.", "If we switched to bun it would be faster.",
        "We agreed on it.", "we chose option b", "Should we go with Postgres?", "We decided to meet today.",
        "what happened to the canteen terminal in November, I need a sentence for the report",
    ],
)  # fmt: skip
def test_questions_requests_and_remarks_of_the_moment_are_not_learned(turn: str) -> None:
    assert extract_facts(turn) == ()


def test_a_word_that_only_begins_like_a_mark_is_none() -> None:
    assert extract_facts("notebook fc.ipynb has an lstm that is worse than nothing") == ()


@pytest.mark.parametrize(
    ("said", "learned"),
    [
        ("Our VAT rate for beans is 7 %.", "Our VAT rate for beans is 7 %"),
        ("Our budget is 5.000 €.", "Our budget is 5.000 €"),
        ("Our margin on Guji is +42 %, which is fine.", "Our margin on Guji is +42 %"),
        (
            "Our address is Karl-Heine-Str. 44, 04229 Leipzig.",
            "Our address is Karl-Heine-Str. 44, 04229 Leipzig.",
        ),
        ("My sister's name is Jule (born 1991).", "My sister's name is Jule (born 1991)"),
    ],
)
def test_a_statement_keeps_its_unit_and_its_number(said: str, learned: str) -> None:
    assert [one.text for one in extract_facts(said)] == [learned]


@pytest.mark.parametrize(
    ("said", "learned"),
    [
        (
            "I'm allergic to penicillin (severe; since Feb. 2019) and to nuts.",
            "I'm allergic to penicillin (severe; since Feb. 2019) and to nuts",
        ),
        ("I'm allergic to nuts (severe) and I need a cake.", "I'm allergic to nuts (severe)"),
        ("Merk dir: Lieferung immer an Hauptstr. 5, Kiel.", "Lieferung immer an Hauptstr. 5, Kiel."),
        ("I prefer delivery betw. 9 and 11 a.m.", "I prefer delivery betw. 9 and 11 a.m."),
        (
            "our PO number must be on every invoice: PO-7781-B",
            "our PO number must be on every invoice: PO-7781-B",
        ),
        (
            "Meine Mühle (Eureka Mignon, Best. HK-19877) macht ab sofort nur noch Lärm.",
            "Meine Mühle (Eureka Mignon, Best. HK-19877) macht ab sofort nur noch Lärm.",
        ),
        ("We always ship with DHL. Best. Kai", "We always ship with DHL."),
        ("We always answer in Feb. Nobody minds.", "We always answer in Feb."),
        ("Merken Sie sich bitte: Lieferung nur dienstags.", "Lieferung nur dienstags."),
    ],
)
def test_a_statement_is_not_cut_at_an_abbreviation_or_in_brackets(said: str, learned: str) -> None:
    assert [one.text for one in extract_facts(said)] == [learned]


@pytest.mark.parametrize(
    ("turn", "kept"),
    [
        ("I have asthma.", ("I have asthma.",)),
        ("I prefer training in the evening now, about 19:00.", ("I prefer training in the evening now, about 19:00.",)),
        ("Since the injury I prefer swimming.", ("Since the injury I prefer swimming.",)),
        ("My phone number is 0151 7788 2201.", ("My phone number is 0151 7788 2201.",)),
        ("We moved last Saturday! New address is Hafenweg 3, 79104 Freiburg.", ("New address is Hafenweg 3, 79104 Freiburg.",)),
        ("Neue Adresse: Talweg 12, 89073 Ulm.", ("Neue Adresse: Talweg 12, 89073 Ulm.",)),
        ("I have a newborn. Her name is Mia, born on 2 October.", ("I have a newborn. Her name is Mia, born on 2 October.",)),
        ("I prefer to go home now.", ()),
        ("New address is 0x7ffe0010.", ()),
        ("I'd never have believed it.", ()),
        ("Nie hätte ich das gedacht, unglaublich.", ()),
        ("Great. Just great. I always love your service.", ()),
        ("We are always late, haha.", ()),
        ("My running buddy Ben is jealous, he has asthma and never gets the long runs.", ()),
    ],
)  # fmt: skip
def test_a_coach_learns_what_the_person_says_of_themselves_and_no_sarcasm(
    turn: str, kept: tuple[str, ...]
) -> None:
    assert tuple(one.text for one in extract_facts(turn)) == kept
