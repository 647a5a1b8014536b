"""A cell far below the heading that names it is a secret like any other: tables are told row by row as well."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.redaction import redactor as scrubber
from scrubjay.redaction.redactor import MAX_ROWS, find_tables, redact_text

MARKDOWN = "| Device | Unlock PIN |\n|:---|---:|\n| Printer | 387984 |\n|  | 4410 |"
SEMICOLONS = "Device;Unlock PIN;Class\nPrinter;387984;3a\nScanner;4410;"
COMMAS = '"Device","Unlock PIN","Note"\n"Printer, old","387984",""\n"Scanner","4410","say ""hi"", then type"'
TABS = "Device\tUnlock PIN\r\nPrinter\t387984\r\nScanner\t4410\r\n"
BLANKS = "Device       Where      Unlock PIN\nPrinter      cellar         387984\nScanner      hall             4410"


@pytest.mark.parametrize("text", [MARKDOWN, SEMICOLONS, COMMAS, TABS, BLANKS])
def test_each_cell_follows_its_heading(text: str) -> None:
    (table,) = find_tables(f"Before it.\n\n{text}\n\nBehind it.")
    lines = table.text.split("\n")
    assert "Unlock PIN: 387984" in lines
    assert "Unlock PIN: 4410" in lines


def test_an_empty_line_ends_a_row_and_empty_cells_are_skipped() -> None:
    (table,) = find_tables(MARKDOWN)
    assert table.text == "Device: Printer\nUnlock PIN: 387984\n\nUnlock PIN: 4410\n"


def test_a_quoted_cell_may_contain_the_separator() -> None:
    (table,) = find_tables(COMMAS)
    assert "Device: Printer, old" in table.text.split("\n")
    assert 'Note: say ""hi"", then type' in table.text.split("\n")


def test_a_cell_between_spaces_belongs_to_the_aligned_heading() -> None:
    (table,) = find_tables(BLANKS)
    assert table.text.startswith("Device: Printer\nWhere: cellar\nUnlock PIN: 387984\n\n")


@pytest.mark.parametrize(
    "text",
    [
        "We met at eight, talked, and left.\nThen Ann, Ben, and Cleo came.",
        "- milk, bread, butter\n- eggs, flour, sugar",
        "name: x, y\nvalue: 1, 2",
        "a = {1, 2}\nb = {3, 4}",
        "one line | of two",
        "Device;PIN\n\nPrinter;1",
        "Device;PIN\nPrinter;1;2",
        "",
    ],
)
def test_prose_lists_and_code_with_commas_are_no_tables(text: str) -> None:
    assert [table for table in find_tables(text) if ":" in table.text] == []


@given(st.text(alphabet='ab1 "|;,\t\n\r-:', max_size=200))
def test_every_cell_is_at_its_offset(text: str) -> None:
    for table in find_tables(text):
        for at, start, end in zip(table.offsets, table.starts, table.ends, strict=True):
            assert table.text[at : at + end - start] == text[start:end]
            assert table.place(at, at + end - start) == (start, end)
            assert "\n" not in text[start:end]


@given(st.text(alphabet='ab1 "|;,\t\n\r-:', max_size=200))
def test_the_look_at_the_next_row_loses_no_table(text: str) -> None:
    found = list(find_tables(text))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scrubber, "_may_be_heading_of", lambda *_: True)
        assert list(find_tables(text)) == found


def test_a_span_is_cut_at_the_end_of_its_cell() -> None:
    (table,) = find_tables(MARKDOWN)
    at = table.text.index("387984")
    assert table.place(at + 2, at + 60) == (MARKDOWN.index("387984") + 2, MARKDOWN.index("387984") + 6)
    assert table.place(0, 3) is None
    assert table.place(at - 3, at + 6) is None


def test_rows_of_a_long_table_are_limited() -> None:
    (table,) = find_tables("Hour;Level\n" + "noon;high\n" * (MAX_ROWS + 50))
    assert len(table.offsets) == 2 * MAX_ROWS


def test_a_table_after_a_long_one_is_read() -> None:
    long = "Hour;Level\n" + "noon;high\n" * (MAX_ROWS + 50)
    assert [table.text[:20] for table in find_tables(f"{long}\n{SEMICOLONS}")][1:] == [
        "Device: Printer\nUnlo"
    ]


ROWS = [f"unit-{number:03}" for number in range(60)]


@pytest.mark.parametrize("sign", [";", "\t", " | "])
def test_a_pin_sixty_rows_below_its_heading_is_replaced(sign: str) -> None:
    chance = random.Random(5)
    pins = [f"{chance.randrange(10**5, 10**6)}" for _ in ROWS]
    rows = [sign.join((unit, "iPad 9", pin, "hall B")) for unit, pin in zip(ROWS, pins, strict=True)]
    head = sign.join(("Asset", "Model", "Unlock PIN", "Place"))
    after = redact_text("\n".join([head, *rows])).text
    assert not [pin for pin in pins if pin in after]
    assert after.count("iPad 9") == after.count("hall B") == len(ROWS)


def test_without_reading_tables_it_would_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Asset;Model;Serial;Unlock PIN;Class\n" + "\n".join(
        f"T-{number:03};iPad 9;DMPH{number}LKFUOB;38{7984 + number};3a" for number in range(20)
    )
    assert "387999" not in redact_text(text).text
    monkeypatch.setattr(scrubber, "find_tables", lambda _: iter(()))
    assert "387999" in redact_text(text).text


def test_a_table_without_a_secret_is_unchanged() -> None:
    text = "Name;Code;Price\n" + "\n".join(f"Bolt {size};DIN {900 + size};{size},50" for size in range(3, 40))
    assert redact_text(text).text == text
