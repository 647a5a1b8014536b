from __future__ import annotations

from recall_values import candidate, record

from scrubjay.recall.diversify import diversify


def test_of_equal_texts_the_best_is_kept() -> None:
    ranked = [candidate("b", 3.0), candidate("a", 2.0), candidate("c", 1.0)]
    records = {"a": record("a", "same"), "b": record("b", "same"), "c": record("c", "other")}
    assert [c.id for c in diversify(ranked, records)] == ["b", "c"]


def test_likeness_is_not_equality() -> None:
    ranked = [candidate("a", 2.0), candidate("b", 1.0)]
    records = {"a": record("a", "I can use AWS"), "b": record("b", "I cannot use AWS")}
    assert len(diversify(ranked, records)) == 2
