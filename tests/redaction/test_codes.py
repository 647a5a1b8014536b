"""A value beside the word "code" is stored as it was written, unless the sentence names a thing that it opens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from scrubjay import Memory

ORDERS = """# order list

| what | code | from | state |
|---|---|---|---|
| Duchefa plant agar 1 kg | P1001 | Melford | came 3 Feb |
| timentin 10 g | – | Melford | ordered 18 Mar |
| hygromycin 1 g | – | Thermo | low!! 60 mg left on 9 June |
| square plates 120 mm | 688102 | Greiner | min order 240 |
| Silwet | – | Pauline has 500 ml | never buy |
| JL-8 | 632381 | Takara | £398, share w/ Bao |
| magenta boxes | | borrow Freya | owe her 12 |

orders over £500 need Catrin's signature AND 2 quotes.
"""
PAINT = """# paint

| room | colour | make | left? |
|---|---|---|---|
| Edie | Pressed Petal | Dulux | 1/4 |
| Wilf | "Lunar Falls" | Valspar mixed B&Q, code R84F | sample pot |
| kitchen | Timeless easycare | Dulux | full tin |
| front door | Studio Green | F&B eggshell exterior | 1/3, skin on it |
"""
LIST = "# Flat, to remember\n\n- the hallway is code R84F, bedroom S0502-Y, both Dulux, matt\n- front door RAL 6005\n"
KEPT = (
    "blinds: fabric code 7731-B, chain left",
    "Reorder from Hanssen: article code HB-2204, 3 boxes, and code 8823 is out until May.",
    "booking code for the hotel is K7QX2M, they only want the name",
    "Film stock: DX code 115674",
    "Bestellcode 4471B für die Fliesen",
    "Le code du carrelage : 60417B",
)
OPENING = (
    ("Haus 2 Code jetzt C0816E", "C0816E"),
    ("Porte: code 1906", "1906"),
    ("| place | code |\n|---|---|\n| shed | 7719 |\n", "7719"),
    ("| Tür | Code | seit |\n|---|---|---|\n| Hof | 4417B | Mai |\n", "4417B"),
)


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with Memory.open("memory://", user="ann") as opened:
        yield opened


@pytest.mark.parametrize("text", [ORDERS, PAINT, LIST], ids=["articles", "paint table", "paint list"])
def test_the_code_of_an_article_or_a_colour_is_found_as_it_was_written(text: str, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text(text)
    with Memory.open("memory://", user="ann") as memory:
        memory.sync(tmp_path)
        assert memory.redactions() == []
        value = "688102" if text == ORDERS else "R84F"
        assert value in memory.search(value).results[0].snippet


@pytest.mark.parametrize("text", KEPT)
def test_a_code_that_opens_nothing_is_kept(text: str, memory: Memory) -> None:
    assert memory.get(memory.add(text).id).records[0].content == text


@pytest.mark.parametrize(("text", "secret"), OPENING)
def test_a_code_that_opens_a_door_is_replaced(text: str, secret: str, memory: Memory) -> None:
    assert secret not in memory.get(memory.add(text).id).records[0].content
