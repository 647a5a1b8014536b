"""Whatever the text: passages cover it, name its lines, keep the limit, and change only where it changes."""

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from scrubjay.ingest.chunker import ChunkSettings, chunk_text
from scrubjay.ingest.reader import extract_metadata
from scrubjay.text.display import estimate_tokens
from scrubjay.text.markdown import parse_blocks

SMALL = ChunkSettings(target=30, overlap=6, most=40)
"""Small sizes make short texts take every path that long ones take."""

LINES = st.one_of(
    st.sampled_from(
        [
            *(
                "",
                " ",
                "# a",
                "## b c",
                "###### d",
                "---",
                "===",
                "- item",
                "  - nested",
                "\t- deep",
                "- ## head",
                "1. one",
            ),
            *(
                "```",
                "~~~~",
                "  ```",
                "> quote",
                "| a | b |",
                "|---|---|",
                "<!-- c",
                "-->",
                "<div>",
                "    code",
                "\ufeff",
            ),
            *(
                "A sentence that goes on. And another one? Yes.",
                "木の実を隠す。" * 9,
                "x" * 90,
                ("y" * 50 + " ") * 9,
                "a,b;c|" * 12,
                "tags:: a, b",
            ),
        ]
    ),
    st.text(max_size=30),
)
TEXTS = st.builds(
    lambda lines, end, last: end.join(lines) + last,
    st.lists(LINES, max_size=40),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["", "\n"]),
)
WORDS = st.lists(
    st.sampled_from(["acorn", "oak.", "winter", "\n", "\n\n", "* ", "jay", "1984. "]), min_size=1, max_size=60
)


def editor_lines(text: str) -> list[str]:
    return re.split(r"\r\n|\r|\n", text)


@given(TEXTS, st.sampled_from(["a.md", "a.py"]))
@example("---\na: 1\n---\n```\n", "a.md")
@settings(max_examples=300, deadline=None)
def test_passages_partition_the_document_and_keep_the_limit(text: str, name: str):
    found = chunk_text(text, name=name, settings=SMALL)
    if not found:
        assert not text.strip("\ufeff \t\n\r\v\f")
        return
    assert [p.start for p in found] == [0, *(p.end for p in found[:-1])]
    assert found[-1].end == len(text)
    for passage in found:
        own = text[passage.start : passage.end]
        assert own
        assert estimate_tokens(own) <= SMALL.most or not re.search(r"\S\s+\S", own)  # one word


@given(TEXTS)
@settings(max_examples=200, deadline=None)
def test_line_ranges_are_those_of_an_editor(text: str):
    lines = editor_lines(text)
    for passage in chunk_text(text, name="a.md", settings=SMALL):
        assert passage.line_start == len(editor_lines(text[: passage.start]))
        assert passage.line_end == len(editor_lines(text[: passage.end - 1] + "x")) - (
            text[: passage.end].endswith("\r\n")
        )
        assert 1 <= passage.line_start <= passage.line_end <= len(lines)


@given(TEXTS)
@settings(max_examples=200, deadline=None)
def test_blocks_cover_the_text_and_depend_on_nothing_else(text: str):
    found = parse_blocks(text)
    assert "".join(text[block.start : block.end] for block in found) == text
    assert all(block.end > block.start for block in found)
    assert parse_blocks(text) == found


@given(st.lists(WORDS, min_size=2, max_size=6), WORDS, st.data())
@settings(max_examples=150, deadline=None)
def test_an_edit_that_adds_no_heading_changes_only_the_passages_of_its_section(
    bodies: list[list[str]], body: list[str], data: st.DataObject
):
    where = data.draw(st.integers(0, len(bodies) - 1))
    edited = [*bodies[:where], body, *bodies[where + 1 :]]

    def sections(parts: list[list[str]]) -> list[list[str]]:
        text = "".join(f"# Section {n}\n\nfirst {' '.join(words)}\n\n" for n, words in enumerate(parts))
        found = chunk_text(text, name="a.md", settings=SMALL)
        return [
            [text[p.start : p.end] for p in found if p.title == f"Section {n}"] for n in range(len(parts))
        ]

    before, after = sections(bodies), sections(edited)
    assert sum(map(len, before)) > 0
    del before[where], after[where]
    assert before == after


@given(TEXTS, st.text(alphabet="0123456789-_/.md", max_size=20))
@settings(max_examples=150, deadline=None)
def test_extract_never_raises(text: str, path: str):
    facts = extract_metadata("---\n" + text, path=path)
    assert extract_metadata("---\n" + text, path=path) == facts
