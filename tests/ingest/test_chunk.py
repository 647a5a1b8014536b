"""Chunk: passages follow the headings, stay within the limit, and name their lines."""

import time

import pytest

from scrubjay.errors import ConfigError
from scrubjay.ingest.chunker import ChunkSettings, Passage, chunk_text
from scrubjay.text.display import estimate_tokens

SENTENCE = "The jay hides an acorn under the third oak and comes back in winter. "  # 15 tokens


def texts(text: str, name: str = "notes.md", **sizes: int) -> list[str]:
    found = chunk_text(text, name=name, settings=ChunkSettings(**sizes))
    assert "".join(text[p.start : p.end] for p in found) == text
    return [text[p.start : p.end] for p in found]


def sizes(found: list[str]) -> list[int]:
    return [estimate_tokens(text) for text in found]


@pytest.mark.parametrize("text", ["", "\n\n", " \t\r\n", "\ufeff", "\ufeff \n"])
def test_a_text_without_a_visible_character_has_no_passages(text: str):
    assert chunk_text(text, name="a.md") == ()


def test_a_document_is_cut_along_its_headings():
    text = "intro\n\n# A\na\n\n## B\nb\n\n\n# C\nc\n"
    assert chunk_text(text, name="notes.md") == (
        Passage(0, 7, 1, 2, (), "notes.md"),
        Passage(7, 14, 3, 5, ("A",), "A"),
        Passage(14, 23, 6, 9, ("A", "B"), "B"),
        Passage(23, 29, 10, 11, ("C",), "C"),
    )


def test_a_heading_closes_those_as_deep_and_deeper():
    found = chunk_text("# A\na\n### B\nb\n## C\nc\n### D\nd\n# E\ne\n", name="x.md")
    assert [p.heading_path for p in found] == [("A",), ("A", "B"), ("A", "C"), ("A", "C", "D"), ("E",)]


def test_two_sections_of_one_title_are_two_passages():
    assert texts("# A\nx\n# A\nx\n") == ["# A\nx\n", "# A\nx\n"]


def test_a_heading_without_a_body_goes_with_the_section_after_it():
    (found,) = chunk_text("# Book\n\n## Chapter\n\ntext\n", name="x.md")
    assert (found.heading_path, found.title) == (("Book", "Chapter"), "Chapter")
    assert texts("# A\na\n# B\n# C\nc\n# D\n") == ["# A\na\n", "# B\n# C\nc\n", "# D\n"]


def test_small_sections_with_a_body_stay_apart():
    assert len(texts("# A\na\n# B\nb\n# C\nc\n")) == 3


def test_front_matter_goes_with_the_first_section():
    assert texts("---\ntags: x\n---\n\n# A\na\n# B\nb\n")[0] == "---\ntags: x\n---\n\n# A\na\n"


def test_long_front_matter_stands_alone_and_is_cut_at_lines():
    found = texts("---\n" + "key: some words of a value\n" * 200 + "---\n# A\na\n")
    assert found[-1] == "# A\na\n"
    assert all(text.endswith("\n") for text in found)
    assert max(sizes(found)) <= 512


def test_a_section_within_the_limit_is_kept_whole():
    text = "# A\n\n" + (SENTENCE * 6 + "\n\n") * 5
    assert 400 < estimate_tokens(text) <= 512
    assert texts(text) == [text]


def test_a_longer_section_is_cut_between_paragraphs_near_the_target():
    text = "# A\n\n" + (SENTENCE * 6 + "\n\n") * 30
    found = texts(text)
    assert all(part.endswith(". \n\n") for part in found)
    assert all(abs(size - 400) < 60 for size in sizes(found[:-1]))


def test_the_target_moves_the_cut():
    text = "# A\n\n" + (SENTENCE + "\n\n") * 90
    assert all(abs(size - 200) < 16 for size in sizes(texts(text, target=200, most=256, overlap=40))[:-1])


def test_all_pieces_of_a_section_have_its_title():
    found = chunk_text("# A\n\n" + (SENTENCE * 6 + "\n\n") * 30 + "# B\nb\n", name="x.md")
    assert len(found) > 2
    assert {p.title for p in found[:-1]} == {"A"}


@pytest.mark.parametrize(
    "block",
    [
        "```py\n" + "alpha = beta(gamma)\n\n" * 40 + "```\n",
        "| a | b |\n|---|---|\n" + "| c | d |\n" * 50,
        "- item of a list\n" * 60,
        (SENTENCE.strip() + "\n") * 18,
    ],
    ids=["fence", "table", "list", "paragraph"],
)
def test_a_block_that_fits_is_kept_whole(block: str):
    assert 150 < estimate_tokens(block) < 512
    text = "# A\n\n" + (SENTENCE * 6 + "\n\n") * 4 + block + "\n" + (SENTENCE * 6 + "\n\n") * 4
    assert any(block in part for part in texts(text))


def test_a_fence_longer_than_the_limit_is_cut_at_line_ends():
    text = "# A\n\n```py\n" + "def f(x): return x + 1\n" * 5_000 + "```\n\nafter\n# B\nb\n"
    found = texts(text)
    assert all(part.endswith("\n") for part in found)
    assert max(sizes(found)) <= 512
    assert min(sizes(found[:-1])) > 50


def test_a_table_longer_than_the_limit_is_cut_at_rows():
    rows = "| seed | place | day |\n|---|---|---|\n" + "| acorn | under the oak | monday |\n" * 5_000
    found = texts(rows)
    assert all(part.endswith("|\n") for part in found)
    assert max(sizes(found)) <= 512


def test_a_list_longer_than_the_limit_is_cut_before_items():
    found = texts("# A\n\n" + "- an item that is told\n  in two lines\n" * 300)
    assert all(part.startswith("- ") for part in found[1:])


def test_an_outline_is_cut_before_its_outer_items():
    text = ("- " + SENTENCE + "\n" + ("\t- " + SENTENCE + "\n") * 8) * 12
    found = texts(text)
    assert len(found) > 3
    assert all(part.startswith("- ") for part in found)


def test_marks_of_items_inside_a_fence_are_no_items():
    item = "- run this:\n  ```\n" + "  - not an item\n" * 100 + "  ```\n"
    assert 256 < estimate_tokens(item) < 270  # one is far from the target, two are too long
    assert all(part.startswith("- run") for part in texts(item * 20))


def test_a_heading_is_never_left_alone_before_a_long_paragraph():
    found = texts("# A heading of some length\n\n" + SENTENCE * 200 + "\n")
    assert min(sizes(found[:-1])) > 100


def test_a_cut_goes_before_a_heading_and_not_behind_it():
    matter = "---\ntitle: " + "word " * 110 + "\n---\n"
    paragraph = SENTENCE * 33 + "\n"
    assert 100 < estimate_tokens(matter) < 128
    assert texts(matter + "# A heading\n\n" + paragraph) == [matter, "# A heading\n\n" + paragraph]


def test_a_long_line_is_cut_at_sentences_and_both_passages_name_it():
    text = "first\n" + SENTENCE * 200
    found = chunk_text(text, name="a.txt")
    assert len(found) > 4
    assert {text[p.end - 2 : p.end] for p in found[1:]} == {". "}
    assert [p.line_end for p in found] == [2] * len(found)
    assert [p.line_start for p in found] == [1] + [2] * (len(found) - 1)


def test_a_long_sentence_is_cut_at_words():
    found = texts("word " * 5_000)
    assert max(sizes(found)) <= 512
    assert all(part.endswith("word ") for part in found)


def test_ideographs_are_counted_and_cut_without_spaces():
    assert estimate_tokens("カケスは木の実を隠す") == 10
    found = texts("カケスは木の実を隠す。" * 500)
    assert all(part.endswith("。") for part in found)
    assert max(sizes(texts("木" * 5_000))) <= 512


def test_json_on_one_line_is_cut_at_its_punctuation():
    assert max(sizes(texts('{"a":1,"b":[2,3]},' * 1_000))) <= 512


def test_one_unbroken_word_is_one_passage_however_long():
    blob = "QUJD" * 10_000
    assert texts("# A\n\nbefore\n\n" + blob + "\n\nafter\n")[1] == blob + "\n\n"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_as_an_editor_does(end: str):
    text = "a\u2028a\x0ca\n\n# B\nb\n\n\n# C\nc".replace("\n", end)
    lines = [(p.line_start, p.line_end) for p in chunk_text(text, name="x.md")]
    assert lines == [(1, 2), (3, 6), (7, 8)]


def test_hashes_in_code_are_comments():
    assert len(texts("# a\nx = 1\n# b\ny = 2\n", name="run.py")) == 1
    assert len(texts("# a\nx = 1\n# b\ny = 2\n", name="run.md")) == 2


def test_code_is_cut_between_paragraphs_that_start_at_the_margin():
    text = "".join(f"def f{n}():\n    a = {n}\n\n    return a * 2 + g(a)\n\n\n" for n in range(300))
    assert all(part.startswith("def ") for part in texts(text, name="a.py"))


@pytest.mark.parametrize("wrong", [{"target": 0}, {"target": 600}, {"overlap": -1}, {"overlap": 512}])
def test_sizes_that_contradict_one_another_are_refused(wrong: dict[str, int]):
    with pytest.raises(ConfigError, match="cannot be cut"):
        ChunkSettings(**wrong)


HOSTILE = {
    "one line": SENTENCE * 20_000,
    "blank lines": "\n" * 500_000 + "x",
    "headings": "# x\n" * 50_000,
    "quotes": "> " * 200_000,
    "nested items": "".join("  " * depth + "- x\n" for depth in range(700)),
    "short paragraphs": "a\n\n" * 50_000,
    "punctuation": "|" * 200_000,
    "an unbroken word": "x" * 1_000_000,
    "spaces": "a" + " " * 500_000 + "b",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_cut_in_linear_time(name: str):
    start = time.process_time()
    texts(HOSTILE[name])
    assert time.process_time() - start < 6  # the slowest takes half a second; quadratic time takes minutes
