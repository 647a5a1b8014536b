"""Notes and conversations in one store: what answers stands before what only talks of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.search.request import STAGES

PRICES = """# Kestrel prices

All prices net, per month.

| Plan    | Price  | Shipments included |
| ------- | ------ | ------------------ |
| Starter | 49 €   | 500                |
| Team    | 149 €  | 3,000              |
"""
TALK = [
    ("user", "morning. clean up the types in kestrel. pyright strict in kestrel/core only, please"),
    ("assistant", "Set strict for kestrel/core in the settings of pyright."),
    ("user", "how many errors in kestrel are included in the baseline"),
    ("assistant", "87 for kestrel/core, most of them from the Paketline SDK."),
    ("user", "ok"),
    ("user", "how many shipments are included in Kestrel?"),
    ("assistant", "I don't have the price list in this repository."),
    ("user", "lgtm"),
]


def say(memory: Memory, talk: list[tuple[str, str]], session: str = "s1") -> list[str]:
    return [
        memory.add(text, session=session, turn=turn, role=role).id
        for turn, (role, text) in enumerate(talk, 1)
    ]


@pytest.fixture
def mixed(opened: Callable[..., Memory], tmp_path: Path) -> Memory:
    memory = opened()
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "prices.md").write_text(PRICES, "utf-8")
    for number in range(20):
        (notes / f"day{number}.md").write_text(f"# Day {number}\n\nWorked on task {number}.\n", "utf-8")
    memory.sync(notes)
    say(memory, TALK)
    return memory


def test_a_note_that_answers_stands_before_turns_that_talk_of_the_same(mixed: Memory) -> None:
    results = mixed.search("how many shipments are included in Kestrel").results
    assert (results[0].path or "").endswith("prices.md")
    without = mixed.search("how many shipments are included in Kestrel", stages=["session", "neighbours"])
    assert without.results[0].session == "s1"


def test_a_turn_is_never_lifted_over_a_likelier_passage(mixed: Memory) -> None:
    results = mixed.search("kestrel shipments included", limit=10, min_relevance=0, explain=True).results
    note = next(place for place, one in enumerate(results) if (one.path or "").endswith("prices.md"))
    assert all((one.relevance or 0) >= (results[note].relevance or 0) for one in results[:note])


def test_what_add_stored_stands_before_a_conversation_that_matches_less(
    opened: Callable[..., Memory],
) -> None:
    memory = opened()
    wanted = memory.add("The Kestrel Team plan includes 3,000 shipments.")
    say(memory, [*TALK, *TALK])
    asked = "how many shipments are included in Kestrel"
    assert memory.search(asked).results[0].id == wanted.id
    without = [stage for stage in STAGES if stage != "match"]
    assert memory.search(asked, stages=without).results[0].session == "s1"


def test_a_question_with_details_of_its_own_is_no_repetition(opened: Callable[..., Memory]) -> None:
    memory = opened()
    talk = [
        ("user", "Can I ship the sprint on March 15 with Flask login and a budget of 400 euros for hosting?"),
        ("assistant", "Yes, the sprint can be shipped."),
    ]
    asked, _ = say(memory, talk)
    assert memory.search("when do I ship the sprint with Flask login").results[0].id == asked


def test_a_reply_that_says_that_it_does_not_know_is_no_answer(opened: Callable[..., Memory]) -> None:
    memory = opened()
    say(memory, [("user", "how long is the trial"), ("assistant", "I don't know either.")])
    _, answer = say(memory, [("user", "how long is the trial"), ("assistant", "21 days.")], "s2")
    assert memory.search("how long is the trial").results[0].id == answer


@pytest.mark.parametrize(
    ("asked", "question"),
    [
        ("Sven is allergic to hazelnuts, so what could I bake?", "what is Sven allergic to?"),
        ("Sven ist gegen Haselnüsse allergisch, also was könnte ich backen?", "Wogegen ist Sven allergisch?"),
    ],
)
def test_a_statement_before_a_question_in_one_sentence_answers(
    tmp_path: Path, asked: str, question: str
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "edeka.md").write_text(
        "# Edeka\n\nMet Sven Albers, who prefers Teams, Sven starts on Monday.\n", "utf-8"
    )
    for number in range(12):
        (notes / f"day{number}.md").write_text(f"# Day {number}\n\nWorked on task {number}.\n", "utf-8")
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.sync(notes)
        first, *_ = say(memory, [("user", asked), ("assistant", "A lemon cake.")])
        assert memory.search(question).results[0].id == first


@pytest.mark.parametrize(
    ("asked", "answer", "question"),
    [
        (
            "I forgot what Sven is allergic to, so what could I bake?",
            "Sven cannot eat hazelnuts.",
            "what is Sven allergic to?",
        ),
        (
            "Isn't Sven allergic to nuts, so what could I bake?",
            "Sven may not eat hazelnuts.",
            "what is Sven allergic to?",
        ),
        (
            "Wogegen ist Sven allergisch, und was isst er gern?",
            "Sven verträgt keine Haselnüsse.",
            "Wogegen ist Sven allergisch?",
        ),
    ],
)
def test_a_question_before_a_question_in_one_sentence_does_not_answer(
    opened: Callable[..., Memory], asked: str, answer: str, question: str
) -> None:
    memory = opened()
    say(memory, [("user", asked), ("assistant", "Hm, no idea, let us see tomorrow.")])
    stored = memory.add(answer).id
    assert memory.search(question).results[0].id == stored


def test_a_bare_question_stands_behind_a_note_that_may_answer(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "timber.md").write_text("# Timber prices\n\nBirch plywood, 18 mm: 41.50 a sheet\n", "utf-8")
    for number in range(12):
        (notes / f"day{number}.md").write_text(f"# Day {number}\n\nWorked on drawing {number}.\n", "utf-8")
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.sync(notes)
        say(
            memory,
            [("user", "what separator does the sheet use right now?"), ("assistant", "I can't see that.")],
        )
        results = memory.search("what does the sheet cost right now").results
    assert (results[0].path or "").endswith("timber.md")


WEBHOOKS = """# Kestrel

Shipment tracking: one API for 17 carriers, tracking pages and webhooks.

- Repo: kestrel/kestrel, language Python, database Postgres.
- Webhooks: a receiver answers within ten seconds, endpoints are listed on the page of the customer.
- Team: Nadia, Omar, Joost. What happens when a carrier is down is in the runbook.
"""


def test_a_short_turn_that_answers_stands_before_a_long_passage_of_the_same(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "kestrel.md").write_text(WEBHOOKS, "utf-8")
    for number in range(12):
        (notes / f"day{number}.md").write_text(f"# Day {number}\n\nWorked on task {number}.\n", "utf-8")
    talk = [
        ("user", "webhooks. alpina complains that we give up too early. what do we do today?"),
        ("assistant", "Five attempts with growing pauses, the last one after six hours."),
        ("user", "what counts as failed"),
        (
            "assistant",
            "Everything other than 2xx. 410 Gone is special: I disable the endpoint at once and mail its owner.",
        ),
    ]
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.sync(notes)
        *_, answer = say(memory, talk)
        memory.embed()
        assert memory.search("when is a webhook endpoint disabled?").results[0].id == answer


def test_a_reply_that_cannot_say_stands_behind_the_note_that_answers(mixed: Memory) -> None:
    asked = "how many shipments are included in Kestrel"
    say(
        mixed,
        [("user", f"{asked}, 500?"), ("assistant", "The list isn't in this checkout, so I can't say.")],
        "s2",
    )
    assert (mixed.search(asked).results[0].path or "").endswith("prices.md")


@pytest.mark.parametrize(
    "text", ["ok", "lgtm", "great, next", "continue", "yes please", "danke", "好的", "👍"]
)
def test_an_acknowledgement_is_stored_and_never_found_alone(opened: Callable[..., Memory], text: str) -> None:
    memory = opened()
    said, _ = say(memory, [("user", text), ("assistant", "The staging cluster is called harrow.")])
    assert said not in {one.id for one in memory.search(text, min_relevance=0, limit=50).results}
    assert memory.get(said).records[0].content == text
    beside = memory.search("staging cluster", neighbours=1).results[0]
    assert [turn.id for turn in beside.turns] == [said]


def test_an_acknowledgement_in_quotes_is_found(opened: Callable[..., Memory]) -> None:
    memory = opened()
    (said,) = say(memory, [("user", "lgtm")])
    assert [one.id for one in memory.search('"lgtm"').results] == [said]


def test_function_words_find_nothing_where_there_are_others(opened: Callable[..., Memory]) -> None:
    memory = opened()
    memory.add("why flaky")
    wanted = memory.add("Kafka was rejected.")
    answer = memory.search("why not kafka", channels=["bm25"], min_relevance=0, explain=True)
    assert [one.id for one in answer.results] == [wanted.id]
    assert memory.search("why not", channels=["bm25"], min_relevance=0).results != ()
