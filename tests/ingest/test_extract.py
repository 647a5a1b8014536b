"""Extract: front matter, properties, tags and dated paths, and nothing that is not said."""

import re
import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.ingest.reader import MAX_TAGS, METADATA_HEAD, DocumentMetadata, extract_metadata
from scrubjay.models.dates import parse_when
from scrubjay.text.markdown import parse_blocks


def front(body: str, rest: str = "text\n") -> DocumentMetadata:
    return extract_metadata(f"---\n{body}\n---\n{rest}", path="notes/a.md")


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("Weekly/2026-W42.md", "2026-10-12"),
        ("2026-10.md", "2026-10"),
        ("plan 2026-10.md", None),
        ("2026-W60.md", None),
    ],
)
def test_a_weekly_and_a_monthly_note_are_dated_by_their_names(path: str, day: str | None) -> None:
    assert extract_metadata("The sprinkler pump leaks.\n", path=path).event == parse_when(day)


def test_a_plain_note_says_nothing():
    assert extract_metadata("Some text.\n", path="notes/a.md") == DocumentMetadata()
    assert extract_metadata("", path="") == DocumentMetadata()


@pytest.mark.parametrize(
    ("body", "day"),
    [
        ("date:\n  - 2026-03-01", "2026-03-01"),
        ("date: [[2026-03-01]]", "2026-03-01"),
        ("date: 2026-3-1", "2026-03-01"),
        ("date: 2026/3", "2026-03"),
        ("created: 2026-03", "2026-03"),
        ("date: 2026", "2026"),
    ],
)
def test_a_date_may_be_a_list_of_one_a_month_or_a_year(body: str, day: str) -> None:
    found = front(body)
    assert found.event == parse_when(day)
    assert found.problems == ()


@pytest.mark.parametrize(
    "body", ["date: [2026-03-01, 2026-03-02]", "date: {a: b}", "date: 2026-13", "date: 9999"]
)
def test_what_is_no_date_is_reported(body: str) -> None:
    found = front(body)
    assert found.event is None
    assert "cannot be read" in found.problems[0]


def test_front_matter_is_read():
    text = "---\ntitle: Store\ntags: [seeds, '#oak', no]\ndate: 2026-03-01\npin: yes\nscope: public\n---\nx"
    assert extract_metadata(text, path="a.md") == DocumentMetadata(
        title="Store",
        tags=("seeds", "oak", "no"),
        event=DAY,
        pinned=True,
        visibility="public",
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_and_a_byte_order_mark_hide_nothing(end: str):
    text = "\ufeff---\ntags: a\npin: yes\n---\n# Title\n".replace("\n", end)
    facts = extract_metadata(text, path="a.md")
    assert (facts.tags, facts.pinned, facts.title) == (("a",), True, "Title")


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ("tags: a b  c", ("a", "b", "c")),
        ("tags: a, b c", ("a", "b c")),
        ("tags: '#a, #b/c'", ("a", "b/c")),
        ("tags:\n  - a\n  - 2026", ("a", "2026")),
        ("tags: [A, a, b]", ("A", "b")),
        ("tags: ['[[a b]]']\ntag: c", ("a b", "c")),
        ("tags:", ()),
        ("tags: null", ()),
        ("tags: {a: b}", ()),
    ],
)
def test_tags_are_a_list_or_a_line_of_words(written: str, tags: tuple[str, ...]):
    assert front(written).tags == tags


def test_tags_may_stand_in_properties_and_on_lines_of_their_own():
    text = "type:: [[F]]\ntags:: [[b c]], d e\n\ntext #no\n#one #two/three\n\nTags: #four, #[[five six]]\n"
    assert extract_metadata(text, path="a.md").tags == ("b c", "d e", "one", "two/three", "four", "five six")


@pytest.mark.parametrize(
    "text", ["see #12 and #foo", "#123\n", "```\n#a\n```\n", "a\n\nb std::vec:: tags:: x\n", "> #a\n"]
)
def test_a_hash_or_a_double_colon_elsewhere_is_no_tag(text: str):
    assert extract_metadata(text, path="a.md").tags == ()


def test_code_says_nothing():
    assert extract_metadata("---\ntags: a\n---\n#b\n", path="2026-03-01/x.py").tags == ()


def test_too_many_tags_are_cut_with_a_problem():
    facts = front("tags: [" + ", ".join(f"t{n}" for n in range(150)) + "]")
    assert len(facts.tags) == MAX_TAGS
    assert facts.problems == ("It has 150 tags; the first 100 are kept.",)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: A\n---\n# B\n", "A"),
        ("title:: A\n\n# B\n", "A"),
        ("intro\n\n## B\n\n# C\n", "C"),
        ("\n<a id='x'></a>\n\n## B\n", None),
        ("<!-- c -->\n\n## B\n", "B"),
        ("intro\n\n## B\n", None),
        ("---\ntitle:\n---\n# B\n", "B"),
    ],
)
def test_the_title_is_named_or_the_first_heading(text: str, title: str | None):
    assert extract_metadata(text, path="a.md").title == title


DAY = parse_when("2026-03-01")


@pytest.mark.parametrize("written", ["2026-03-01", "'2026-03-01'", "2026/03/01", '"[[2026-03-01]]"'])
def test_a_date_without_a_clock_is_a_local_day(written: str):
    facts = front(f"date: {written}")
    assert (facts.event, facts.problems) == (DAY, ())


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2026-03-01T10:00:00Z", datetime(2026, 3, 1, 10, tzinfo=UTC)),
        ("2026-03-01 10:00:00 +0100", datetime(2026, 3, 1, 10, tzinfo=timezone(timedelta(hours=1)))),
        ("2026-03-01 10:00", datetime(2026, 3, 1, 10)),
    ],
)
def test_a_date_with_a_clock_is_an_instant(written: str, moment: datetime):
    facts = front(f"date: {written}")
    assert facts.event == parse_when(moment)


def test_date_goes_before_created_and_updated_is_not_read():
    assert front("created: 2026-03-02\ndate: 2026-03-01").event == DAY
    assert front("created: 2026-03-01").event == DAY
    assert extract_metadata("date:: 2026-03-01\n", path="a.md").event == DAY
    assert front("updated: 2026-03-01").event is None


@pytest.mark.parametrize("written", ["2026-02-30", "yesterday", "0001-01-01", "2026-13", "2026-03-01 25:00"])
def test_a_date_that_cannot_be_read_is_a_problem_and_the_path_is_asked(written: str):
    facts = extract_metadata(f"---\ndate: {written}\n---\n", path="2026-03-01.md")
    assert facts.event == DAY
    assert written in facts.problems[0]


@pytest.mark.parametrize(
    "path",
    [
        *("2026-03-01.md", "2026-03-01-seeds.md", "journals/2026_03_01.md", "2026/03/01.md", "20260301 x.md"),
        *("2026/03/01/seeds.md", "2025-01-01/2026.03.01.md", "2025/2026-03-01.md"),
    ],
)
def test_a_path_names_a_day(path: str):
    facts = extract_metadata("x", path=path)
    assert facts.event == DAY


@pytest.mark.parametrize(
    "path",
    [
        "2026-13-01.md",
        "12026-03-011.md",
        "2026-03_01.md",
        "a-20260301.md",
    ],
)
def test_other_numbers_in_a_path_are_no_day(path: str):
    assert extract_metadata("x", path=path).event is None


def test_a_pin_is_true_or_false():
    assert front("pin: on").pinned
    assert not front("pinned: false").pinned
    unclear = front("pinned: maybe")
    assert not unclear.pinned
    assert "neither true nor false" in unclear.problems[0]


@pytest.mark.parametrize(
    ("written", "scope"),
    [
        ("visibility: user", ("user", None)),
        ("scope: private", ("user", None)),
        ("visibility: Public", ("public", None)),
        ("scope: group:eng", ("group", "eng")),
        ("visibility: group\ngroup: eng", ("group", "eng")),
        ("group: eng", ("group", "eng")),
        ("visibility:", (None, None)),
        ("title: x", (None, None)),
    ],
)
def test_a_scope_is_read(written: str, scope: tuple[str | None, str | None]):
    facts = front(written)
    assert (facts.visibility, facts.group, facts.problems) == (*scope, ())


@pytest.mark.parametrize(
    "written", ["scope: pubic", "visibility: group", "scope: [public]", "scope: public:eng"]
)
def test_a_scope_that_cannot_be_read_is_private(written: str):
    facts = front(written)
    assert (facts.visibility, facts.group) == ("user", None)
    assert "private" in facts.problems[0]


def test_broken_front_matter_that_speaks_of_a_scope_is_private():
    facts = front("tags: [a\nscope: user")
    assert facts.visibility == "user"
    assert len(facts.problems) == 2
    assert front("tags: [a").visibility is None


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("tags: [a, b", r"not YAML.*\(line 3\)"),
        ("a: b: c", "not YAML: mapping values"),
        ("a: \0", "not YAML"),
        ('a: "\\UFFFFFFFF"', "not YAML"),
        ("a: \ud800", "a character that does not exist"),
        ("# a: b\n- c", "names no fields"),
        ("a: &a [x]\nb: [*a, *a]", "aliases"),
        ("a: " + "[" * 1_000, "nested more than 16"),
        ("a: " + "x" * 70_000, "at most 65,536 are read"),
    ],
    ids=["open list", "colon", "nul", "escape", "surrogate", "list", "alias", "depth", "length"],
)
def test_front_matter_that_cannot_be_read_is_a_problem_and_hides_nothing(body: str, says: str):
    text = f"---\n{body}\n---\n# Title\n#tag\n"
    facts = extract_metadata(text, path="2026-03-01.md")
    (problem,) = facts.problems
    assert re.search(says, problem)
    assert (facts.title, facts.tags, facts.event) == ("Title", ("tag",), DAY)


def test_one_unquoted_colon_leaves_the_other_fields_of_front_matter_as_they_are():
    facts = front(
        "title: Runbook: credits, new limits\ndate: 2026-03-01\ntags: [a, 'b']\npin: yes\nnext: [x\n  y: 1"
    )
    assert (facts.title, facts.event, facts.tags) == ("Runbook: credits, new limits", DAY, ("a", "b"))
    assert facts.pinned
    assert len(facts.problems) == 1
    shared = front("title: Runbook: credits\nvisibility: group:staff\ndate: 2026-03-01")
    assert (shared.visibility, shared.group, shared.event) == ("user", None, DAY)
    assert front("title: a: b\ndate: 2026-03-01\ndate: 2026-03-02").event is None


def test_explicit_types_are_not_built():
    facts = front("title: !!python/object/apply:os.getcwd []\ntags: !!bool x")
    assert (facts.title, facts.tags, facts.problems) == (None, ("x",), ())


def test_a_bomb_of_aliases_is_refused_at_once():
    levels = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'x'}]" for n in range(30))
    start = time.process_time()
    assert "aliases" in front(levels).problems[0]
    assert time.process_time() - start < 1


def test_a_long_document_is_not_read_beyond_its_head():
    start = time.process_time()
    assert extract_metadata("#word\n" + "text\n" * 4_000_000 + "#late\n", path="a.md").tags == ("word",)
    assert time.process_time() - start < 2


PIECES = (
    "---\n",
    "title: x\n",
    "tags: a\n",
    "...\n",
    "\n",
    "# H\n",
    "tags:: x\n",
    "#seeds #winter\n",
    "word\r\n",
)
PIECES += ("  - item\n", "===\n", "\ufeff", "- a\n", "\tcode\n", "| a |\n|---|\n", "<!-- c\n", "```\n", "\r")


@settings(max_examples=300)
@given(st.booleans(), st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_the_blocks_that_are_known_already_say_the_same(front_matter: bool, body: str):
    text = "---\ntitle: q\n---\n" * front_matter + body
    assert extract_metadata(text, path="a.md", blocks=parse_blocks(text)) == extract_metadata(
        text, path="a.md"
    )


def test_of_a_long_text_only_the_head_is_read_even_when_its_blocks_are_known():
    text = "---\npin: yes\n---\n" + "word\n" * (METADATA_HEAD // 5) + "\n#late\n"
    assert (
        extract_metadata(text, path="a.md", blocks=parse_blocks(text))
        == extract_metadata(text, path="a.md")
        == DocumentMetadata(pinned=True)
    )
