import time

from scrubjay.ingest.transcripts.base import strip_tags

NAMES = frozenset({"note", "hook"})


def test_pairs_are_taken_out_with_what_stands_in_them() -> None:
    assert strip_tags("a<note>b</note>c<hook id='1'>d\ne</hook>f", NAMES) == "acf"
    assert strip_tags("<note>a<hook>b</hook>c</note>d", NAMES) == "d"


def test_other_tags_and_halves_of_pairs_stay() -> None:
    for text in ("<b>a</b>", "a <note> b", "a </note> b", "<notes>a</notes>", "1 < 2"):
        assert strip_tags(text, NAMES) == text
    assert strip_tags("<note> <hook>x</hook> end", NAMES) == "<note>  end"


def test_a_text_full_of_open_tags_takes_linear_time() -> None:
    text = "<note>" * 200_000
    began = time.process_time()
    assert strip_tags(text, NAMES) == text
    assert time.process_time() - began < 2
