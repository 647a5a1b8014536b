"""What the tagger learns from: the tables of a labelled text are shown row by row, with their labels."""

from __future__ import annotations

import random

from bench.tagger.items import Item
from bench.tagger.lists import ordinary
from bench.tagger.texts import encoded, ruled, table_rows, with_tables

TABLE = "Device;Unlock PIN;Note\nPrinter;387984;by the door\nScanner;4410;\n"


def item() -> Item:
    places = [(TABLE.index(pin), TABLE.index(pin) + len(pin)) for pin in ("387984", "4410")]
    note = TABLE.index("by the door")
    return Item("x-1", "a list of devices", TABLE, tuple(places), ((note, note + 11),))


def test_the_secrets_of_a_table_are_labelled_where_it_is_told_row_by_row() -> None:
    (one,) = table_rows(item())
    assert [one.text[start:end] for start, end in one.secrets] == ["387984", "4410"]
    assert [one.text[start:end] for start, end in one.optional] == ["by the door"]
    assert "Unlock PIN: 387984\n" in one.text


def test_as_many_tokens_are_of_a_secret_there_as_in_the_table() -> None:
    (one,) = table_rows(item())
    assert encoded(one).secret.sum() == encoded(item()).secret.sum() == 2


def test_a_text_without_a_table_is_not_shown_twice() -> None:
    assert list(table_rows(Item("x-2", "a sentence", "We met at noon.", (), ()))) == []
    assert list(with_tables(["We met at noon."])) == ["We met at noon."]


def test_a_table_in_which_rules_find_something_is_no_text_without_secrets() -> None:
    assert list(with_tables([TABLE])) == [TABLE]
    plain = "Tree;Height\nOak;20 m\nElm;30 m"
    assert list(with_tables([plain])) == [plain, "Tree: Oak\nHeight: 20 m\n\nTree: Elm\nHeight: 30 m\n"]


def test_ordinary_lists_are_told_in_many_layouts_and_hold_nothing_that_rules_find() -> None:
    lists = list(ordinary(200, random.Random(3)))
    assert any(one.startswith("| ") for one in lists)
    assert any(one.startswith("{") for one in lists)
    assert any(";" in one.split("\n")[0] for one in lists)
    assert sum(1 for _ in with_tables(lists)) > 1.3 * len(lists)
    assert [found for one in with_tables(lists) for found in ruled(one)] == []
