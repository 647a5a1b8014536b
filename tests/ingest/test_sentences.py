"""Sentences: what can be said again by itself, without Markdown's marks."""

import pytest

from scrubjay.text.summaries import text_units


def texts(text: str) -> list[str]:
    return [words for _, words in text_units(text)]


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("**a** and *b* and ***c***", "a and b and c"),
        ("_a_ and __b__ but snake_case_x", "a and b but snake_case_x"),
        ("2 * 3 * 4 ** 2", "2 * 3 * 4 ** 2"),
        ("`run *x*` of `Arc<T>` in **`a_b_`**", "run *x* of Arc<T> in a_b_"),
        ("[![c *d*](e.png)](http://x.y)", "c d"),
        ("[a **b**](http://x.y/z_(w)) ![c](d.png) [e][1]", "a b c e"),
        ("[[Page]] and [[Page|name]]", "Page and name"),
        ("~~old~~ <b>bold</b> 1 < 2 > 0", "old  bold  1 < 2 > 0"),
        ("[secret:password] [private]", "[secret:password] [private]"),
    ],
)
def test_inline_marks_are_taken_off_and_words_stay(marked: str, plain: str) -> None:
    assert texts(f"x {marked}") == [f"x {plain}".strip()]


def test_a_wrapped_paragraph_is_cut_at_its_sentences_and_not_at_abbreviations() -> None:
    text = "Ask Dr. Smith or J. Doe, e.g. by mail. They\nanswer soon! “Really?” Yes.\n"
    assert texts(text) == ["Ask Dr. Smith or J. Doe, e.g. by mail.", "They answer soon!", "“Really?”", "Yes."]


def test_items_headings_quotes_and_tables_are_told_apart() -> None:
    text = "# Top #\n- [x] one\n  goes on\n- two\n1. three\n> said\n\n| a | b |\n|---|---|\n| 1 | 2 |\n---\nend\n"
    assert list(text_units(text)) == [
        ("heading", "Top"),
        ("text", "one goes on"),
        ("text", "two"),
        ("text", "three said"),
        ("header", "a, b"),
        ("row", "1, 2"),
        ("text", "end"),
    ]


def test_of_a_fence_the_first_line_stands_out_and_nothing_in_it_is_read_as_markdown() -> None:
    text = "So:\n\n```py\n\n# not a heading\n**x** = [1](2)\n```\n- item\n"
    assert list(text_units(text)) == [
        ("text", "So:"),
        ("code", "# not a heading"),
        ("more code", "**x** = [1](2)"),
        ("text", "item"),
    ]


def test_what_is_for_programs_is_not_said() -> None:
    text = (
        "- One\n  id:: 60a78b6b\n  collapsed:: true\n\n#+BEGIN_QUOTE\nTwo\n#+END_QUOTE\n\n{{#include a.rs}}\n\n"
        "[three]: ch3.html\n\n```rust\n{{#include b.rs}}\n```\n"
    )
    assert list(text_units(text)) == [("text", "One"), ("text", "Two")]


def test_a_list_that_starts_indented_is_no_code() -> None:
    text = "\t- **First** thing\n\t\t- its [part](x.md)\n\t- Second thing\n"
    assert texts(text) == ["First thing", "its part", "Second thing"]


def test_a_source_file_is_told_by_its_lines_and_its_comments_are_text() -> None:
    text = "// Keeps rows. By key.\nfunc keep(row Row) {\n\trows[row.Key] = row\n}\n"
    assert list(text_units(text)) == [
        ("text", "Keeps rows."),
        ("text", "By key."),
        ("code", "func keep(row Row) {"),
        ("code", "rows[row.Key] = row"),
        ("code", "}"),
    ]


def test_front_matter_and_hidden_comments_are_not_said() -> None:
    assert texts("---\ntitle: x\n---\nBody <!-- a\nb --> goes on.\n") == ["Body   goes on."]


def test_chinese_sentences_end_without_a_space() -> None:
    assert texts("他说：“好。”然后走了。再见！") == ["他说：“好。”", "然后走了。", "再见！"]


@pytest.mark.parametrize(
    "unit", ["[", "*", "_", "`", "<a", "![", "[a](", "**a ", "<!--", "| ", "a. ", "```\n"]
)
def test_marks_that_never_close_take_no_more_than_linear_time(unit: str) -> None:
    assert texts(unit * 4_000) is not None
