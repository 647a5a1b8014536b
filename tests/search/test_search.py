from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recall_values import Noise

from scrubjay import Memory, NewMemory
from scrubjay.models.results import round_score
from scrubjay.search.plan import PRESETS

TEXTS = [
    "ECONNREFUSED while the worker talks to redis",
    "Set SCRUBJAY_RECALL_LIMIT to change how many results come back",
    "The function parse_front_matter lives in extract.py",
    "Ticket OPS-4711 asks for a second replica",
    "We release on Thursdays after the freeze",
    "The kettle in the kitchen is blue",
    "東京タワーは赤い。夜は光る。",
    "我喜欢在雨天喝热茶",
    "Naïve café owners drink Ångström coffee 😀",
    'Write "hello, world" and then stop',
]


@pytest.fixture
def held(memory: Memory) -> Memory:
    memory.add_many([NewMemory(text) for text in TEXTS])
    return memory


def snippets(memory: Memory, query: str, **options: Any) -> list[str]:
    return [result.snippet for result in memory.search(query, **options).results]


@pytest.mark.parametrize("fusion", ["auto", "rrf", "weighted"])
@pytest.mark.parametrize(
    ("query", "channel", "blind"), [("kettle", "bm25", ["vector"]), ("ketle", "ngram", ["bm25"])]
)
def test_what_one_channel_alone_finds_is_found(
    opened: Callable[..., Memory], fusion: str, query: str, channel: str, blind: list[str]
) -> None:
    memory = opened(embedders=[Noise(3)])
    # More than a channel gives: noise alone would rarely bring the kettle.
    memory.add_many([NewMemory(f"filler number {number}") for number in range(120)])
    wanted = memory.add("The kettle is blue.")
    assert wanted.id in {r.id for r in memory.search(query, fusion=fusion, limit=200).results}
    assert wanted.id in {
        r.id for r in memory.search(query, fusion=fusion, limit=200, channels=[channel]).results
    }
    assert wanted.id not in {
        r.id for r in memory.search(query, fusion=fusion, limit=1, channels=blind).results
    }


def test_what_the_model_alone_finds_is_found(opened: Callable[..., Memory]) -> None:
    memory = opened()
    wanted = memory.add("red door window")
    memory.add_many([NewMemory(f"filler number {number}") for number in range(60)])
    # The stand-in reads "door's" as two words, the tokenizer as one that nothing holds.
    assert memory.search("door-x9", channels=["bm25"], limit=1).results[:1] != ()
    assert memory.search("door", channels=["vector"]).results[0].id == wanted.id


@pytest.mark.parametrize("seed", range(3))
def test_exact_terms_come_first_though_the_model_is_noise(opened: Callable[..., Memory], seed: int) -> None:
    memory = opened(embedders=[Noise(seed)])
    others = [f"Note {n} on worker, results, function, ticket and limit" for n in range(40)]
    memory.add_many([NewMemory(text) for text in TEXTS + others])
    asked = {
        "ECONNREFUSED": TEXTS[0],
        "SCRUBJAY_RECALL_LIMIT": TEXTS[1],
        "what does parse_front_matter do?": TEXTS[2],
        "extract.py": TEXTS[2],
        "OPS-4711": TEXTS[3],
    }
    assert {query: snippets(memory, query, limit=1) for query in asked} == {
        query: [text] for query, text in asked.items()
    }


def test_a_model_that_disagrees_with_the_words_has_no_vote(opened: Callable[..., Memory]) -> None:
    class Contrary(Noise):
        """Holds what names the kettle for the opposite of what was asked."""

        def embed(self, texts: Any, *, kind: Any = "passage") -> Any:
            about = super().embed(["kettle"])[0]
            return [-about if kind == "passage" and "kettle" in t else about for t in texts]

    memory = opened(embedders=[Contrary(1)])
    for text in TEXTS:
        memory.add(text)
    first, *others = memory.search("kettle", explain=True, limit=50).results
    assert "kettle" in first.snippet
    weights = {p.weight for r in (first, *others) for p in r.explanation.contributions if p.channel[0] == "v"}
    assert weights == {0.0}
    assert "kettle" not in snippets(memory, "kettle", fusion="weighted")[0]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ('"talks to redis"', TEXTS[0]),
        ('"hello, world"', TEXTS[9]),
        ("Who talks to redis?", TEXTS[0]),
        ("when do we release", TEXTS[4]),
        ("kettel in the kitchn", TEXTS[5]),
        ("parse_frnt_matter", TEXTS[2]),
        ("東京", TEXTS[6]),
        ("热茶", TEXTS[7]),
        ("naive cafe", TEXTS[8]),
        ("ANGSTROM", TEXTS[8]),
        ("releases Thursday", TEXTS[4]),
        ("recall limit", TEXTS[1]),
        ("4711", TEXTS[3]),
    ],
)
def test_questions_quotes_identifiers_slips_and_scripts_find_their_passage(
    held: Memory, query: str, first: str
) -> None:
    assert snippets(held, query)[0] == first


def test_a_quoted_phrase_must_stand_in_every_result(held: Memory) -> None:
    assert snippets(held, '"kettle in the kitchen"') == [TEXTS[5]]
    assert snippets(held, '"kitchen in the kettle"') == []
    assert snippets(held, '"kettle" "redis"') == []


def test_a_question_that_quotes_prefers_what_holds_the_quote_and_does_not_demand_it(memory: Memory) -> None:
    memory.add("Bunny blue was directed by Ann in those years.")
    memory.add("Blue bunny was directed by Bob in those years.")
    question = 'who was it that directed "blue bunny" in those years'
    found = memory.search(question, explain=True).results
    assert ["Bob" in r.snippet for r in found] == [True, False]
    assert "phrase" in {part.channel for part in found[0].explanation.contributions}


def test_an_excluded_word_stands_in_no_result(held: Memory) -> None:
    assert TEXTS[5] in snippets(held, "kettle kitchen redis", limit=20)
    found = snippets(held, "kettle kitchen redis -blue", limit=20)
    assert TEXTS[5] not in found
    assert found[0] == TEXTS[0]
    assert TEXTS[0] not in snippets(held, 'worker -"talks to redis"', limit=20)


def test_minus_five_is_a_number(memory: Memory) -> None:
    cold, _ = memory.add("It was -5 degrees."), memory.add("It was 20 degrees.")
    assert memory.search("-5 degrees").results[0].id == cold.id


@pytest.mark.parametrize(
    "query",
    [
        '"', '"kettle', 'kettle"', '""', '-"', "-", "--", "'; DROP TABLE memory; --", "kettle*", "kettle AND NOT blue",
        "NEAR(kettle blue, 3)", "content : kettle", "^kettle", "{kettle} + [blue]", "kettle OR (", "%_kettle",
        "kettle\x00blue", "\ud83d kettle", "kettle " * 20_000, "\u202ekettle\u0301", "kettle\r\n\t",
    ],
    ids=lambda query: ascii(query[:24]),
)  # fmt: skip
def test_hostile_queries_are_answered_as_words(opened, query: str) -> None:
    memory = opened()
    for text in TEXTS:
        memory.add(text)
    found = snippets(memory, query)
    assert not ("kettle" in query and query.isascii()) or found[0] == TEXTS[5]


def test_a_hundred_kilobytes_of_query_still_find_their_passage(held: Memory) -> None:
    found = held.search("kettle " + " ".join(f"w{n:05}" for n in range(14_000)))
    assert found.results[0].snippet == TEXTS[5]
    assert found.partial == ("The question was cut: only its first 4,000 characters were read.",)


@pytest.mark.parametrize("query", ["", "   ", "\x00", '""', "-kettle", '-"the kettle"', "???", "-->", "😀😀"])
def test_a_query_of_nothing_that_can_be_looked_for_has_an_empty_answer(held: Memory, query: str) -> None:
    found = held.search(query)
    assert found.results == ()
    assert found.partial == ()


def test_an_empty_store_answers_nothing(memory: Memory) -> None:
    found = memory.search("anything")
    assert (found.results, found.partial) == ((), ())


OPTIONS: list[dict[str, Any]] = [
    {}, {"fusion": "rrf"}, {"fusion": "weighted"}, {"weights": {"bm25": 0.1, "ngram": 3.0}}, {"channels": ["vector"]},
    {"stages": []}, *({"preset": name} for name in PRESETS),
]  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_an_explanation_holds_the_very_numbers_that_made_the_score(
    opened: Any, options: dict[str, Any]
) -> None:
    memory = opened(embedders=[Noise(1), Noise(2)])
    for turn, text in enumerate(TEXTS):
        memory.add(
            text,
            title="Kettle" if turn % 2 else "",
            session="s",
            turn=turn,
            role="user" if turn % 3 else "tool",
        )
    memory.embed()
    memory.add("A kettle that waits for its vectors", session="s", turn=len(TEXTS))
    results = memory.search("blue kettle kitchn redis", limit=50, explain=True, **options).results
    assert results
    for result in results:
        parts = result.explanation.contributions
        total = math.fsum(part.weight * part.value for part in parts)
        factors = math.prod(factor.value for factor in result.explanation.factors)
        assert result.score == round_score(total * factors)
    assert [(-r.score, r.id) for r in results] == sorted((-r.score, r.id) for r in results)


def test_results_are_the_same_with_and_without_an_explanation(held: Memory) -> None:
    plain = held.search("blue kettle redis").results
    explained = held.search("blue kettle redis", explain=True).results
    assert [(r.id, r.score) for r in plain] == [(r.id, r.score) for r in explained]


def test_equal_texts_are_one_result_unless_asked_otherwise(memory: Memory) -> None:
    for session in ("a", "b", "c"):
        memory.add("The kettle is blue.", session=session)
    memory.add("The kettle is red.")
    assert len(snippets(memory, "kettle")) == 2
    assert len(snippets(memory, "kettle", stages=[])) == 4


def test_ties_go_to_the_smaller_id(memory: Memory) -> None:
    ids = [memory.add("same words here", session=name).id for name in "abcdef"]
    results = memory.search("words", stages=[]).results
    assert len({r.score for r in results}) == 1
    assert [r.id for r in results] == sorted(ids)


def test_a_limit_is_kept_and_is_six_unless_said(memory: Memory) -> None:
    for number in range(12):
        memory.add(f"kettle number {number}")
    assert len(snippets(memory, "kettle")) == 6
    assert len(snippets(memory, "kettle", limit=1)) == 1
    assert snippets(memory, "kettle", limit=12)[:6] == snippets(memory, "kettle")


def test_dropped_and_respelled_words_are_told(held: Memory) -> None:
    notes = held.search("kettel").notes
    assert any(note.startswith("kettel was not found; read as") and "kettl" in note for note in notes)
    assert held.search("kettle").notes == ()


def test_the_reply_to_a_question_that_is_asked_again_stands_before_it(memory: Memory) -> None:
    question = memory.add("When do you fly to Lisbon?", session="s", turn=1, role="user")
    answer = memory.add("Next Tuesday at nine.", session="s", turn=2, role="assistant")
    memory.add_many(
        [
            NewMemory(f"Something else entirely, number {number}.", session=f"t{number}", turn=1, role="user")
            for number in range(30)
        ]
    )
    results = memory.search("fly to Lisbon").results
    assert [one.id for one in results[:2]] == [answer.id, question.id]
    without = memory.search("fly to Lisbon", stages=["evidence"], explain=True, limit=50).results
    assert all(p.channel != "neighbours" for r in without for p in r.explanation.contributions)


def test_a_session_of_another_scope_lends_nothing(opened: Callable[..., Memory], tmp_path) -> None:
    opened(tmp_path / "a.db", user="bob").add("When do you fly to Lisbon?", session="s", turn=1)
    ann = opened(tmp_path / "a.db", user="ann")
    ann.add("Next Tuesday at nine.", session="s", turn=2)
    assert all(
        part.channel != "neighbours"
        for result in ann.search("fly to Lisbon Tuesday", explain=True).results
        for part in result.explanation.contributions
    )


def test_a_word_of_any_length_is_an_ordinary_question(opened: Callable[..., Memory], tmp_path: Path) -> None:
    held = opened(tmp_path / "memory.db")
    held.add_many([NewMemory(f"fact {number} of lot {number * 7919}") for number in range(300)])
    word = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz", k=700))
    assert held.search(f"fact 7 {word}", min_relevance=0).results
