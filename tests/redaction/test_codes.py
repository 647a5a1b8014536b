"""A code is replaced, unless the words beside it say that it is that of an article, a colour, a booking …"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from scrubjay import Memory

ORDERS = """# order list

| product | code | from | state |
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
| Wilf | "Lunar Falls" | Valspar, paint code R84F | sample pot |
| kitchen | Timeless easycare | Dulux | full tin |
| front door | Studio Green | F&B eggshell exterior | 1/3, skin on it |
"""
LIST = "# Flat, to remember\n\n- the hallway paint is code R84F, bedroom S0502-Y, both Dulux\n- front door RAL 6005\n"
KEPT = (
    "blinds: fabric code 7731-B, chain left",
    "Reorder from Hanssen: article code HB-2204, 3 boxes.",
    "booking code for the hotel is K7QX2M, they only want the name",
    "film code: 115674",
    "Bestellcode 4471B für die Fliesen",
    "Farbcode: R84F",
    "Der Code für den Stoff ist 8841K",
    "code produit : 4471B",
    "Le code du tissu est 8841K",
    "| article | code | price |\n|---|---|---|\n| candle | 4711 | 3.50 |\n| soap | 8823 | 4.90 |\n",
)
SECRET = (
    ("Haus 2 Code jetzt C0816E", "C0816E"),
    ("Porte: code 1906", "1906"),
    ("Verification code: 493021", "493021"),
    ("Verification code for the booking is 493021", "493021"),
    ("The sign-in code is 558120", "558120"),
    ("Sign-in code 558120", "558120"),
    ("Your login code is 882713", "882713"),
    ("Verification code for the product is 493021", "493021"),
    ("Reset code: 771204", "771204"),
    ("Authorisation code for the transfer is 771203", "771203"),
    ("Bestätigungscode: 493021", "493021"),
    ("Code de vérification : 493021", "493021"),
    ("Mum's flat code is 8841", "8841"),
    ("Code at the office: 5512", "5512"),
    ("Lobby code changed to 558120", "558120"),
    ("Gym code changed to 558120", "558120"),
    ("Laptop code changed to 558120", "558120"),
    ("- iPad code: 4471", "4471"),
    ("Code fürs Lager: 1936", "1936"),
    ("My locker at the gym, code 2207", "2207"),
    ("| place | code |\n|---|---|\n| shed | 7719 |\n", "7719"),
    ("| Tür | Code | seit |\n|---|---|---|\n| Hof | 4417B | Mai |\n", "4417B"),
    ("| product | code |\n|---|---|\n| front door | 688102 |\n| bike lock | 632381 |\n", "688102"),
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
def test_a_code_of_a_harmless_kind_is_kept(text: str, memory: Memory) -> None:
    assert memory.get(memory.add(text).id).records[0].content == text


@pytest.mark.parametrize(("text", "secret"), SECRET)
def test_any_other_code_is_replaced(text: str, secret: str, memory: Memory) -> None:
    assert secret not in memory.get(memory.add(text).id).records[0].content
