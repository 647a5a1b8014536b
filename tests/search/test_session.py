from __future__ import annotations

import pytest
from recall_values import rows

from scrubjay.search.fusion import SESSION_SHARE, add_session_feature
from scrubjay.storage.interface import RankingMetadata


def turn(name: str | None, words: int = 0) -> RankingMetadata:
    return RankingMetadata("", words, True, "user", session=name)


def scores(heads: dict[str, RankingMetadata], **given: float) -> dict[str, float]:
    told = rows(given, heads)
    add_session_feature(told, told, list(given.values()))
    return {one.id: one.score for one in told}


def test_turns_borrow_from_the_best_of_their_conversation() -> None:
    heads = {"a": turn("x"), "b": turn("x"), "c": turn("y")}
    found = scores(heads, a=2.0, b=0.5, c=1.0)
    assert found == pytest.approx(
        {"a": 2.0 + SESSION_SHARE * 2, "b": 0.5 + SESSION_SHARE * 2, "c": 1.0 + SESSION_SHARE}
    )


def test_a_turn_of_a_hundred_words_borrows_half_as_much() -> None:
    found = scores({"a": turn("x"), "b": turn("x", 100)}, a=2.0, b=0.0)
    assert found["b"] == pytest.approx(SESSION_SHARE * 2.0 / 2)


def test_a_conversation_in_which_nothing_fits_lends_no_debt() -> None:
    assert scores({"a": turn("x"), "b": turn("x")}, a=-1.0, b=-2.0) == {"a": -1.0, "b": -2.0}


def test_what_is_no_turn_of_a_conversation_stays_as_it_is() -> None:
    heads = {"a": RankingMetadata("", 3, session="x"), "b": turn(None)}
    assert scores(heads, a=1.0, b=1.0, c=1.0) == {"a": 1.0, "b": 1.0, "c": 1.0}
