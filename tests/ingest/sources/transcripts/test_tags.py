import time

from scrubjay.ingest.sources.transcripts.tags import without

NAMES = frozenset({"note", "hook"})


def test_pairs_are_taken_out_with_what_stands_in_them() -> None:
    assert without("a<note>b</note>c<hook id='1'>d\ne</hook>f", NAMES) == "acf"
    assert without("<note>a<hook>b</hook>c</note>d", NAMES) == "d"


def test_other_tags_and_halves_of_pairs_stay() -> None:
    for text in ("<b>a</b>", "a <note> b", "a </note> b", "<notes>a</notes>", "1 < 2"):
        assert without(text, NAMES) == text
    assert without("<note> <hook>x</hook> end", NAMES) == "<note>  end"


def test_a_text_full_of_open_tags_takes_linear_time() -> None:
    text = "<note>" * 200_000
    began = time.perf_counter()
    assert without(text, NAMES) == text
    assert time.perf_counter() - began < 2
