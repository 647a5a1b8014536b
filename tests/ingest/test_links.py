"""What a passage links to by name."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrubjay.ingest.enrichment import PageIndex
from scrubjay.models.records import Document, StageVersions
from scrubjay.text.markdown import MAX_LINKS, LinkTarget, block_ids, extract_links, heading_slug

VERSIONS = StageVersions("1", "1", "1", "1", "1")


def pages(*paths: str, **titles: str) -> PageIndex:
    named = {path: titles.get(path.replace("/", "_").replace(".md", ""), path) for path in paths}
    return PageIndex({p: Document("s", p, "h", 0, 0, title, VERSIONS) for p, title in named.items()})


def test_wiki_links_name_a_page_and_perhaps_a_heading() -> None:
    assert extract_links("[[A]] [[b c#D e]] [[F|shown]] [[#Here]]") == (
        LinkTarget("A", "", "wikilink"),
        LinkTarget("b c", "D e", "wikilink"),
        LinkTarget("F", "", "wikilink"),
        LinkTarget("", "Here", "wikilink"),
    )


def test_markdown_links_within_the_notes_are_taken_and_urls_and_images_are_not() -> None:
    text = "[a](b.md) [c](<d e.md>) [f](g.md 'title') [m](#n)\n\n[o]: p.md\n"
    text += "[h](https://x) [i](mailto:a@b) [j](//x) ![k](l.png)"
    assert [t.name for t in extract_links(text)] == ["b.md", "d e.md", "g.md", "", "p.md"]


def test_links_in_code_are_examples() -> None:
    assert extract_links("`[[a]]` ``[[b]] ` ``\n```\n[[c]]\n```\n~~~\n[d](e.md)\n~~~\n[[f]]\n") == (
        LinkTarget("f", "", "wikilink"),
    )


def test_an_unclosed_fence_hides_what_follows_it() -> None:
    assert extract_links("[[a]]\n```\n[[b]]\n") == (LinkTarget("a", "", "wikilink"),)


def test_a_table_of_contents_gives_its_first_links_only() -> None:
    assert len(extract_links(" ".join(f"[[p{n}]]" for n in range(500)))) == MAX_LINKS


def test_a_page_is_found_by_stem_path_title_and_spelling_variants() -> None:
    known = pages("guide/first-steps.md", "index.md", guide_first_steps="x")
    for name in ("first-steps", "First Steps", "first_steps", "guide/first-steps", "guide/first-steps.md"):
        assert known.find(LinkTarget(name, "", "wikilink"), "index.md") == "guide/first-steps.md"


def test_a_title_names_its_page() -> None:
    assert (
        pages("a1.md", a1="The winter cache").find(LinkTarget("the Winter cache", "", "wikilink"), "b.md")
        == "a1.md"
    )


def test_the_page_nearest_the_root_wins_a_name_that_two_bear() -> None:
    assert pages("old/seeds.md", "seeds.md").find(LinkTarget("Seeds", "", "wikilink"), "x.md") == "seeds.md"


def test_a_markdown_link_is_read_from_the_folder_of_its_document() -> None:
    known = pages("a/one.md", "b/two.md", "b/index.md", "Top.md")
    find = lambda name: known.find(LinkTarget(name, "", "markdown"), "a/one.md")  # noqa: E731
    assert [find(name) for name in ("../b/two.md", "../b/two", "../b/", "/top.md", "../b/two.html", "", "../x.md")] == [
        "b/two.md", "b/two.md", "b/index.md", "Top.md", "b/two.md", "a/one.md", None,
    ]  # fmt: skip


def test_a_link_cannot_climb_out_of_its_source() -> None:
    assert pages("etc/passwd.md").find(LinkTarget("../../../etc/passwd.md", "", "markdown"), "a.md") is None


def test_an_anchor_is_a_heading_without_its_marks() -> None:
    assert heading_slug("  What's `new`, in 2.0? ") == "whats-new-in-20"


def test_a_hostile_line_takes_no_time_to_speak_of() -> None:
    for unit in ("[\\\\", "`a``b", "[[", "[a](", "[x]:", "%%[[", "((", "[[a^", "[[#^"):
        assert extract_links(unit * 50_000) == ()
        assert block_ids(unit * 50_000) == ()
    assert block_ids(" ^a" * 50_000) == ("^a",)


@given(st.text(alphabet="[]()#|`~!<> \n\\ab/.:", max_size=400))
def test_no_text_breaks_it_and_every_name_stands_in_the_text(text: str) -> None:
    for target in extract_links(text):
        assert target.name in text or target.rule == "markdown"
