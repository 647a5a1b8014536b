"""Blocks: every construct begins and ends where CommonMark says, and every text is covered."""

import time

import pytest

from scrubjay.text.markdown import HEADING_LIMIT, Block, normalize_newlines, parse_blocks


def kinds(text: str, **options: bool) -> list[str]:
    return [block.kind for block in parse_blocks(text, **options) if block.kind != "blank"]


def headings(text: str) -> list[tuple[int, str]]:
    return [(block.level, block.text) for block in parse_blocks(text) if block.kind == "heading"]


def pieces(text: str) -> list[tuple[str, str]]:
    found = parse_blocks(text)
    assert "".join(text[block.start : block.end] for block in found) == text
    return [(block.kind, text[block.start : block.end]) for block in found]


def test_an_empty_text_has_no_blocks():
    assert parse_blocks("") == []


def test_atx_headings_have_one_to_six_hashes_and_a_space():
    assert headings("# a\n###### b\n####### c\n#d\n") == [(1, "a"), (6, "b")]


def test_an_atx_heading_may_be_closed_by_hashes_and_indented_by_three_columns():
    assert headings("   ## a b ##  \n# c#\n#\n") == [(2, "a b"), (1, "c#"), (1, "")]


def test_setext_headings_are_underlined_paragraphs():
    assert headings("Seeds\n===\nwinter\nstore\n---\n") == [(1, "Seeds"), (2, "winter store")]


def test_a_line_below_a_long_paragraph_is_a_rule():
    assert kinds("a\nb\nc\n---\n") == ["paragraph", "rule"]


def test_a_headings_text_loses_its_markup():
    raw = '## **The** `Vec<T>` [type](x.md) [![ci](a)](b) <a id="v"></a> {#vec}\n'
    assert headings(raw) == [(2, "The Vec<T> type ci")]
    assert headings("# __init__ and snake_case\n") == [(1, "__init__ and snake_case")]


def test_a_heading_of_a_megabyte_is_named_briefly():
    ((_, text),) = headings("# " + "word " * 200_000 + "\n")
    assert len(text) <= HEADING_LIMIT
    assert text.endswith("…")


def test_headings_in_fences_comments_and_quotes_are_none():
    assert headings("```sh\n# a\n```\n~~~\n# b\n```\n# c\n~~~\n<!--\n\n# d\n-->\n> # e\n# f\n") == [(1, "f")]


def test_a_fence_closes_on_as_many_marks_of_its_own_kind():
    assert pieces("````\n```\n~~~~\n````  \nafter\n") == [
        ("fence", "````\n```\n~~~~\n````  \n"),
        ("paragraph", "after\n"),
    ]


def test_an_unclosed_fence_runs_to_the_end():
    assert kinds("a\n```py\n# b\n\nc\n") == ["paragraph", "fence"]


def test_inline_code_on_its_own_line_is_no_fence():
    assert kinds("``` a ```\n# b\n") == ["paragraph", "heading"]


def test_an_unclosed_comment_ends_at_a_blank_line():
    assert kinds("<!-- a\nb\n\n# c\n") == ["html", "heading"]


def test_html_blocks_end_at_a_blank_line_and_raw_text_at_its_closing_tag():
    assert kinds("<div>\n# a\n\n# b\n<pre>\n\n# c\n</pre>\n# d\n") == ["html", "heading", "html", "heading"]


def test_a_list_holds_nested_lists_blank_lines_and_fences():
    text = "- a\n\n  more\n  1. b\n  ```\n# c\n  ```\nlazy\n- d\n\n- e\n"
    assert kinds(
        "- a\n\n  more\n  1. b\n     ```\n     # c\n\n     # d\n     ```\n- e\n\n- f\nlazy\n\ng\n"
    ) == [
        "list",
        "paragraph",
    ]
    assert kinds(text)[0] == "list"


def test_an_unclosed_fence_in_a_list_ends_with_its_item():
    assert kinds("- a\n  ```\n  x\n\nb\n\n# c\n") == ["list", "paragraph", "heading"]


def test_a_heading_or_a_rule_ends_a_list():
    assert kinds("- a\n# b\n- c\n***\n1) d\n") == ["list", "heading", "list", "rule", "list"]


def test_an_outlines_heading_items_are_headings():
    text = "- ## Usage\n\t- a\n\t  b\n\t- ### Keys\n\t  id:: 1\n\t\t- c\n- d\n"
    assert headings(text) == [(2, "Usage"), (3, "Keys")]
    assert kinds(text) == ["heading", "list", "heading", "list"]


def test_a_year_at_the_start_of_a_line_is_no_list():
    assert kinds("It was in\n1984. A cold day.\n") == ["paragraph"]
    assert kinds("It needs\n1. an oak\n") == ["paragraph", "list"]


def test_a_table_starts_at_its_header_row():
    assert pieces("text\na | b\n--|:-:\n1 | 2\n\n") == [
        ("paragraph", "text\n"),
        ("table", "a | b\n--|:-:\n1 | 2\n"),
        ("blank", "\n"),
    ]
    assert kinds("|a|\n|-|\n|1|\nafter\n") == ["table", "paragraph"]


def test_pipes_without_a_row_of_dashes_are_text():
    assert kinds("a | b\nc | d\n") == ["paragraph"]


def test_a_quote_goes_on_with_lazy_lines():
    assert kinds("> a\nb\n> c\n\nd\n") == ["quote", "paragraph"]
    assert kinds("> a\n# b\n") == ["quote", "heading"]


def test_a_line_indented_by_spaces_and_a_tab_or_by_wide_spaces_is_code_and_the_scan_comes_to_its_end():
    for indent in (" \t", "  \t", "   \t", " \u3000\u3000\u3000", " \v\v\v"):
        text = f"# T\n\n{indent}a\n\tb\n  \tc\nd"
        assert [block.kind for block in parse_blocks(text)] == ["heading", "blank", "code", "paragraph"]


def test_code_by_indentation_keeps_its_blank_lines_and_interrupts_nothing():
    assert pieces("a\n    b\n\n    # c\n\n    d\n\ne\n")[2] == ("code", "    # c\n\n    d\n")
    assert kinds("a\n    b\n") == ["paragraph"]


def test_front_matter_stands_only_on_the_first_line():
    assert kinds("---\na: 1\n---\n# b\n") == ["front_matter", "heading"]
    assert kinds("\ufeff---\na: 1\n...\n# b\n") == ["front_matter", "heading"]
    assert "front_matter" not in kinds("\n---\na: 1\n---\n")


def test_a_rule_on_the_first_line_is_no_front_matter():
    assert kinds("---\n\nSeen at 10:00.\n\n---\n") == ["rule", "paragraph", "rule"]
    assert kinds("---\na: 1\n") == ["rule", "paragraph"]


def test_a_byte_order_mark_hides_nothing_and_lies_in_the_first_block():
    assert parse_blocks("\ufeff# a\n") == [Block("heading", 0, 5, 1, "a")]
    assert parse_blocks("\ufeff") == [Block("paragraph", 0, 1)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end_gives_the_same_blocks(end: str):
    text = "---\na: 1\n---\n# b\nc\n===\n\n- d\n  e\n\n```\nf\n```\n| g |\n|---|\n| h |\n"
    expected = kinds(text)
    assert kinds(text.replace("\n", end)) == expected
    assert len(expected) == 6


def test_line_separators_of_unicode_end_no_line():
    assert kinds("a\u2028# b\x0c# c\x85# d\n") == ["paragraph"]


def test_even_keeps_every_offset():
    assert normalize_newlines("a\r\n\r\rb\n\r") == "a \n\n\nb\n\n"


def test_code_files_have_paragraphs_alone():
    assert kinds("# a\nx = 1\n\n- b\n", markdown=False) == ["paragraph", "paragraph"]


def test_nul_and_lone_surrogates_are_text():
    assert pieces("# a\0\n\ud800\n")[1] == ("paragraph", "\ud800\n")


HOSTILE = {
    "backticks": "`" * 400_000,
    "dashes": "- " * 200_000,
    "quotes": ">" * 200_000 + "\n" + "> " * 100_000,
    "unclosed comments": "<!--\n\n" * 30_000,
    "unclosed raw text": "<pre>\n\n" * 30_000,
    "unclosed fences in items": "".join("- " + "`" * size + "\n" for size in range(800, 2, -1)),
    "pipes": "|" * 200_000 + "\n" + "|-" * 100_000 + "x",
    "brackets": "# " + "[" * 200_000 + "](" * 50_000,
    "nesting": "".join("  " * depth + "- x\n" for depth in range(700)),
    "spaces": " " * 400_000 + "x",
    "front matter without end": "---\na: b\n" + "--- x\n" * 60_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_scanned_in_linear_time(name: str):
    start = time.process_time()
    pieces(HOSTILE[name])
    assert (
        time.process_time() - start < 5
    )  # each takes a fraction of a second; going back over it takes minutes
