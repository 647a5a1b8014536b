"""A question that names a time and nothing besides asks for what happened then."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import pytest

from scrubjay import Memory, NewMemory
from scrubjay.embeddings.hash_embedder import HashEmbedder

NOW = "2026-11-22T12:00:00+00:00"
CLUSTER, ROTA, COFFEE = (
    "The billing service moved to the cluster.",
    "Priya read the rota.",
    "The mill was mended.",
)


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open("memory://", user="ann", embedders=[HashEmbedder(64)]) as found:
        found.add(CLUSTER, date="2026-11-21")
        found.add(ROTA, date="2026-11-21T15:00:00+00:00")
        found.add(COFFEE, date="2026-11-10")
        watered = "Bed {} of the garden was watered."
        found.add_many([NewMemory(watered.format(day), date=f"2026-10-{day:02d}") for day in range(1, 29)])
        yield found


def said(memory: Memory, query: str, **options: object) -> set[str]:
    return {each.snippet for each in memory.search(query, now=NOW, tz="UTC", **options).results}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("what did we do yesterday?", {CLUSTER, ROTA}),
        ("yesterday", {CLUSTER, ROTA}),
        ("Was ist gestern passiert?", {CLUSTER, ROTA}),
        ("Was habe ich gestern gemacht?", {CLUSTER, ROTA}),
        ("Was hast du gestern getan?", {CLUSTER, ROTA}),
        ("Was steht seit gestern an?", {CLUSTER, ROTA}),
        ("Was habe ich dir gestern gesagt?", {CLUSTER, ROTA}),
        ("Worüber haben wir gestern gesprochen?", {CLUSTER, ROTA}),
        ("Was hast du mir gestern geraten?", {CLUSTER, ROTA}),
        ("Was hat sie mir gestern erzählt?", {CLUSTER, ROTA}),
        ("Was sagtest du gestern dazu?", {CLUSTER, ROTA}),
        ("What did you recommend yesterday?", {CLUSTER, ROTA}),
        ("what happened between 9 and 11 November?", {COFFEE}),
        ("was geschah vom 9. bis 11. November?", {COFFEE}),
        ("what happened on 2026-11-10?", {COFFEE}),
        ("anything new since 2026-11-09?", {CLUSTER, ROTA, COFFEE}),
        ("what happened on 2026-11-10 and yesterday?", {CLUSTER, ROTA, COFFEE}),
    ],
)
def test_it_is_answered_by_all_that_is_of_that_time_and_nothing_else(
    memory: Memory, query: str, found: set[str]
) -> None:
    assert said(memory, query) == found


def test_where_nothing_is_of_that_time_the_answer_is_empty_and_says_so(memory: Memory) -> None:
    answer = memory.search("what happened in 2019?", now=NOW)
    assert answer.results == ()
    assert (
        answer.silence
        == "Read as in 2019, 2019-01-01 to 2019-12-31: none of the memories searched is from that time."
    )


@pytest.mark.parametrize(
    "query", ['what happened yesterday to the "mill"?', "was the mill mended yesterday?", "mill yesterday"]
)
def test_with_another_word_the_time_is_a_preference_and_no_filter(memory: Memory, query: str) -> None:
    assert COFFEE in said(memory, query, min_relevance=0)


def test_a_filter_of_dates_that_is_given_is_the_one_that_holds(memory: Memory) -> None:
    assert said(memory, "yesterday", since=datetime(2026, 11, 10), until="2026-11-10", min_relevance=0) == {
        COFFEE
    }


def test_it_is_said_to_somebody_who_only_writes_where_it_is_a_question(memory: Memory) -> None:
    assert CLUSTER in memory.context("what did we do yesterday?", now=NOW, parts=["relevant"]).text
    assert memory.context("let us do it today", now=NOW, parts=["relevant"]).text == ""


def test_without_the_stage_nothing_is_kept_from_other_times(memory: Memory) -> None:
    from scrubjay.search.request import STAGES

    stages = [stage for stage in STAGES if stage != "dated"]
    assert len(said(memory, "yesterday", stages=stages, min_relevance=0, limit=20)) > 2


def test_a_short_german_question_is_not_searched_by_its_function_words() -> None:
    with Memory.open("memory://", user="ann") as memory:
        memory.add("Ich habe den Tagessatz erhöht, und welche Kunden das betrifft, habe ich notiert.")
        memory.add("Der Termin bei Frau Brandt ist verschoben, nach dem Umzug ruft sie an.")
        first, *_ = memory.search("Welche Termine habe ich?", now=NOW, explain=True).results
        assert first.snippet.startswith("Der Termin")
        for query in ("Welche Termine habe ich?", "Wo ist mein Termin?", "Wann habe ich den Termin?"):
            for one in memory.search(query, now=NOW, explain=True, min_relevance=0).results:
                assert one.explanation is not None
                assert set(one.explanation.words) <= {"termine", "termin"}, query


COMING = [
    ("My dentist appointment is on December 3 at 14:15.", "What do I have on December 3?"),
    ("My dentist appointment is on December 3 at 14:15.", "Am I free on December 3?"),
    ("The company party is on December 18 in the harbour.", "Is anything planned on December 18?"),
    ("From January 1 I'll be Head of Design at Hansekontor.", "Where will I work from January?"),
]


@pytest.mark.parametrize(("text", "query"), COMING)
def test_a_coming_day_is_found_by_the_words_that_name_it(text: str, query: str) -> None:
    with Memory.open("memory://", user="ann") as memory:
        memory.add(text, date="2026-11-20")
        memory.add("The mill was mended.", date="2025-12-10")
        assert text in {each.snippet for each in memory.search(query, now=NOW).results}


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Dr. Koch, blood test, 3 Dec 8:15, sober!", "What do I have on December 3?"),
        ("Dr. Koch am 3. Dezember, nüchtern.", "What do I have on December 3?"),
        ("Weihnachtsfeier der Laufgruppe am 11. Dez im Kukoon", "Was habe ich am 11. Dezember?"),
    ],
)
def test_a_coming_day_is_found_by_another_name_of_its_month(text: str, query: str) -> None:
    with Memory.open("memory://", user="ann", embedders=[HashEmbedder(64)]) as memory:
        memory.add_many([NewMemory(f"Notiz {n}: 3 or 11 planks, note {n * 7}.") for n in range(20)])
        memory.add(text, date="2026-11-20")
        assert memory.search(query, now=NOW).results[0].snippet == text


def test_a_question_about_the_present_names_the_next_such_day_and_one_about_the_past_the_last() -> None:
    with Memory.open("memory://", user="ann") as memory:
        memory.add("The dentist at 14:15.", date="2026-12-03")
        memory.add("The vet at 9:30.", date="2025-12-03")
        assert {each.snippet for each in memory.search("What do I have on December 3?", now=NOW).results} == {
            "The dentist at 14:15."
        }
        assert {each.snippet for each in memory.search("What did I do on December 3?", now=NOW).results} == {
            "The vet at 9:30."
        }


def test_a_turn_of_the_same_day_hides_no_appointment() -> None:
    appointment = "My dentist appointment is on December 3 at 14:15."
    with Memory.open("memory://", user="ann") as memory:
        memory.add(appointment, date="2026-11-20")
        memory.add("The mill was mended.", date="2026-12-03T07:00")
        answer = memory.search("What do I have on December 3?", now="2026-12-03T08:00")
        assert appointment in {each.snippet for each in answer.results}


@pytest.mark.parametrize(
    "query",
    ["Where have we been in March?", "What is the bug we found in March?", "Wo sind wir im März gewesen?"],
)
def test_an_ordinary_question_means_the_last_such_month(query: str) -> None:
    with Memory.open("memory://", user="ann") as memory:
        note = f"Read as a time: {'im März' if 'März' in query else 'in March'} = 2026-03-01 to 2026-03-31."
        memory.add("The bug in the sluice was found in Delft.", date="2026-03-10")
        assert note in memory.search(query, now=NOW, explain=True).notes


@pytest.mark.parametrize(
    ("day", "queries"),
    [
        (
            "2026-11-21",
            (
                "Was habe ich am Samstag gemacht?",
                "Wen haben wir am Samstag getroffen?",
                "Wo bin ich am Samstag gewesen?",
                "What did I do on Saturday?",
            ),
        ),
        (
            "2026-11-28",
            (
                "Was habe ich am Samstag vor?",
                "Was habe ich am Samstag zu erledigen?",
                "Was habe ich am Samstag geplant?",
                "What are we doing on Saturday?",
            ),
        ),
        (
            "2026-12-12",
            (
                "Was ist am 12. Dezember?",
                "Was mache ich am 12. Dezember?",
                "Was passiert am 12. Dezember?",
                "Wer kommt am 12. Dezember?",
                "Wann beginnt das Konzert am 12. Dezember?",
                "When is the concert on December 12?",
                "Where do we meet on the 12th of December?",
            ),
        ),
        (
            "2025-12-12",
            (
                "Was hat Theo am 12. Dezember gesagt?",
                "Was ist am 12. Dezember passiert?",
                "Wen traf ich am 12. Dezember?",
                "Was steht in der Notiz vom 12. Dezember?",
                "Konzert am 12. Dezember",
                "Who came on December 12?",
                "What is the bug we found on December 12?",
            ),
        ),
    ],
)
def test_the_tense_of_a_question_decides_whether_a_day_is_the_last_or_the_next(
    memory: Memory, day: str, queries: tuple[str, ...]
) -> None:
    for query in queries:
        (note,) = [
            one for one in memory.search(query, now=NOW, explain=True).notes if "Read as a time" in one
        ]
        assert note.endswith(f" = {day}."), query


def test_the_notes_of_an_empty_answer_tell_a_user_without_memories_from_an_empty_query(
    memory: Memory,
) -> None:
    unseen = "{!r} sees no memories in this store."
    assert unseen.format("nobody") in memory.seen_by("nobody").search("garden").notes
    assert memory.search("  ").notes == ("The query names nothing to look for.",)
    assert unseen.format("ann") not in memory.search("garden", tags=["none"]).notes


BIKE = "Collect the cargo bike of the Oseis on Friday, 4 December 2026, at 10."
RATE = "The hourly rate rises to 68 euros on 1 December 2026."
SCHOOL = "Elternabend am 4. Dezember 2026 um 19 Uhr."
PARCEL = "Parcel from Velotech: 2026-12-01."
WAX = "Wax the chain by 04.12.2026."


@pytest.mark.parametrize(
    ("query", "naming"),
    [
        ("What do I have this week?", {BIKE, RATE, SCHOOL, PARCEL, WAX}),
        ("What do I have tomorrow?", {RATE, PARCEL}),
        ("What do I have on Friday?", {BIKE, SCHOOL, WAX}),
        ("What's on Friday?", {BIKE, SCHOOL, WAX}),
        ("Was habe ich diese Woche vor?", {BIKE, RATE, SCHOOL, PARCEL, WAX}),
        ("Was steht morgen an?", {RATE, PARCEL}),
        ("Was habe ich am Freitag?", {BIKE, SCHOOL, WAX}),
    ],
)
def test_a_question_about_a_coming_time_finds_first_what_names_its_days(query: str, naming: set[str]) -> None:
    with Memory.open("memory://", user="ann", embedders=[HashEmbedder(64)]) as memory:
        for text in (BIKE, RATE, SCHOOL, PARCEL, WAX):
            memory.add(text, date="2026-11-25")
        memory.add("Meet the baker on 4 December at 10.", date="2025-11-20")  # of the year before
        memory.add("The fair was on 4 December 2025.", date="2026-11-20")
        memory.add("Sami swims 14 lanes, since December 45 of them.", date="2026-11-20")
        memory.add("Sami learnt to dive.", date="2026-11-30T09:00:00+00:00")
        answer = memory.search(query, now="2026-11-30T12:00:00+00:00", tz="UTC")
        assert {each.snippet for each in answer.results[: len(naming)]} == naming
        assert not {"Meet the baker on 4 December at 10.", "The fair was on 4 December 2025."} & {
            each.snippet for each in answer.results
        }


@pytest.mark.parametrize(
    ("text", "date", "query", "now"),
    [
        ("Upgraded the laptop to Python 3.12.", "2026-11-25", "What do I have this week?", "2026-11-30"),
        ("Room 4 may be closed for painting.", "2026-05-01", "What do I have this week?", "2026-05-04"),
        ("Dentist for Leila on 20 December.", "2023-11-20", "What do I have next week?", "2026-12-13"),
    ],
)
def test_what_only_looks_like_a_day_is_no_appointment(text: str, date: str, query: str, now: str) -> None:
    with Memory.open("memory://", user="ann", embedders=[HashEmbedder(64)]) as memory:
        memory.add(text, date=date)
        assert memory.search(query, now=f"{now}T12:00:00+00:00", tz="UTC").results == ()


def test_a_day_asked_for_in_figures_is_found_in_all_its_forms() -> None:
    texts = (
        "Parents' evening on 4 December 2026.",
        "The ski trip runs from 3 to 6 December 2026.",
        "Choir concert on the fourth of December.",
    )
    with Memory.open("memory://", user="ann", embedders=[HashEmbedder(64)]) as memory:
        for text in texts:
            memory.add(text, date="2026-11-25")
        answer = memory.search("What do I have on 4 December?", now="2026-11-30T12:00:00+00:00", tz="UTC")
    assert [one.snippet for one in answer.results][:1] == [texts[0]]
    assert {one.snippet for one in answer.results} == set(texts)


def test_a_person_who_is_up_next_week_is_found() -> None:
    with Memory.open("memory://", user="ann", embedders=[HashEmbedder(64)]) as memory:
        memory.add("Rota: Tara is up next week.", date="2026-11-27")
        answer = memory.search("Who is up next week?", now="2026-11-30T12:00:00+00:00", tz="UTC")
    assert [one.snippet for one in answer.results] == ["Rota: Tara is up next week."]


def test_a_person_whose_name_is_a_month_is_not_taken_for_one() -> None:
    with Memory.open("memory://", user="ann", embedders=[HashEmbedder(64)]) as memory:
        memory.add("Jan moved to Ghent and sold his flat.", date="2025-06-10")
        memory.add("Ordered coal for the stove.", date="2025-01-12")
        answer = memory.search("Was hat letztes Jahr Jan gemacht?", now="2026-11-30T12:00:00+00:00", tz="UTC")
    assert answer.results[0].snippet == "Jan moved to Ghent and sold his flat."


def test_a_question_about_what_happened_this_week_is_answered_as_before(memory: Memory) -> None:
    memory.add("The fair is on 21 November 2026.", date="2026-11-02")
    assert said(memory, "What happened this week?") == {CLUSTER, ROTA}


@pytest.mark.parametrize(
    "query", ["What was I doing yesterday?", "what were we up to yesterday", "What's new since yesterday?"]
)
def test_words_that_name_nothing_leave_a_question_about_a_time(memory: Memory, query: str) -> None:
    assert said(memory, query) == {CLUSTER, ROTA}


@pytest.mark.parametrize(
    "query", ["What did I do on Saturday evening?", "Was habe ich am Samstag Abend gemacht?"]
)
def test_a_part_of_a_day_is_read_as_that_day(memory: Memory, query: str) -> None:
    assert said(memory, query) == {CLUSTER, ROTA}
