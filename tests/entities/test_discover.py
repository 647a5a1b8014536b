"""Discovery: which names texts themselves give, and which words they only use."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.entities.dictionary import EntityDictionary
from scrubjay.entities.discovery import DiscoveryPassage, discover_names
from scrubjay.models.graph import Entity

FILLER = "we looked at the weather and then all of us went home to have some tea with the others. " * 20


def found(*texts: str, **more: object) -> dict[str, str]:
    """Name to kind."""
    window = [DiscoveryPassage(text, path=f"{at}.md", **more) for at, text in enumerate((*texts, FILLER))]
    return {one.name: one.kind for one in discover_names(window)}


def test_a_name_with_capitals_within_sentences_of_two_passages_is_found():
    texts = ("In the office we use Kubernetes daily.", "Nobody understands Kubernetes well.")
    assert found(*texts) == {"Kubernetes": "name"}
    assert found(texts[0]) == {}


def test_names_of_several_words_are_found_whole_and_over_a_line_end():
    wrapped = "we had not thought that anybody would, but then came Ada\nLovelace to dinner"
    assert found(wrapped, "and with Ada Lovelace he left") == {"Ada Lovelace": "name"}


def test_what_begins_a_short_line_is_not_within_a_sentence():
    assert found("- read\nConfigure it\nLoading", "get it\nConfigure\nLoading it", "so\nConfigure it") == {}


def test_names_of_several_words_that_open_a_sentence_or_an_item_are_found_but_no_plain_words_are():
    texts = (
        "- Mayo Clinic on tea\n- Video Tutorial",
        "Mayo Clinic says so.",
        "So what. Video Tutorial next.",
    )
    assert found(*texts) == {"Mayo Clinic": "name"}


def test_a_link_that_is_called_like_its_page_is_as_good_as_a_wiki_link():
    text = "see [impact reviews](../people/impact-review.md), [the team](team.md), [Licenses](licenses/index.md#x)"
    assert found(text) == {"impact reviews": "page", "Licenses": "page"}
    assert found("as [our team](../team.md) says, [increase](increase.md)") == {}


def test_code_that_looks_it_is_found_without_backticks_but_not_in_addresses_and_templates():
    texts = [f"pass max_tokens{mark} to claude-3-5-sonnet-20241022 with --system" for mark in (" ", ",")]
    assert found(*texts) == {
        "max_tokens": "code",
        "claude-3-5-sonnet-20241022": "code",
        "--system": "code",
    }
    assert found(*["{{#include_it}} /usr/my_file http://a.test/b_c?d_e=f_g <!-- not_this -->"] * 3) == {}


def test_a_line_break_as_program_text_writes_it_is_no_letter():
    assert "nHuman" not in found(*['we put "\\nHuman: hello" there and "\\nHuman" here'] * 3)


def test_the_first_word_of_a_sentence_an_item_or_a_heading_is_not_a_name_for_its_capital():
    assert found("Gardening is fun.", "Gardening helps.", "# Gardening\n\n- Gardening too") == {}


def test_a_word_that_mostly_stands_without_its_capital_is_not_a_name():
    texts = ["we met at the Harbour cafe", "in the Harbour again", *["by the harbour we sat"] * 5]
    assert found(*texts) == {}


@pytest.mark.parametrize(
    "word", ["Monday", "January", "However", "Introduction", "Usage", "Notes", "Chapter 3", "The", "IT"]
)
def test_weekdays_months_common_and_generic_words_are_not_found(word):
    texts = [f"it was on {word} that we met", f"and so {word} came again", f"# {word}\n\ntext"]
    window = [DiscoveryPassage(text, word, (word,), path=f"{at}") for at, text in enumerate((*texts, FILLER))]
    assert discover_names(window) == ()


def test_odd_spellings_count_wherever_they_stand():
    assert found("macOS is fine", "MySQL and macOS", "HTTP works", "MySQL too, HTTP too") == {
        "macOS": "name",
        "MySQL": "name",
        "HTTP": "name",
    }


def test_a_long_form_with_its_abbreviation_is_found_at_once_and_is_both():
    window = [
        DiscoveryPassage(
            "we tried Retrieval Augmented Generation (RAG) and retrieval-augmented memory", path="a"
        )
    ]
    (one,) = discover_names(window)
    assert (one.name, one.aliases, one.kind) == ("Retrieval Augmented Generation", ("RAG",), "name")


def test_links_and_tags_are_a_persons_word_and_are_found_at_once_but_no_dates_or_common_words():
    window = [
        DiscoveryPassage(
            "text",
            tags=("gardening", "the"),
            links=("Winter Seeds", "2024-03-15", "March 3rd, 2024"),
            path="a",
        )
    ]
    assert {one.name: one.kind for one in discover_names(window)} == {
        "gardening": "tag",
        "Winter Seeds": "page",
    }


def test_code_names_need_several_passages_and_listings_do_not_count():
    once = "call `json_each` here\n\n```python\nfoo_bar = make_thing(foo_bar)\n```\n"
    assert found(once, once, once) == {"json_each": "code"}
    assert found(once) == {}
    assert found("the `created` one", "a `created` file", "is `created` here") == {}


def test_an_everyday_word_is_code_when_it_mostly_stands_in_backticks_and_a_generic_one_never():
    texts = [f"use `match` and `value` in case {number}" for number in "abcdefghijkl"]
    assert found(*texts) == {"match": "code"}
    assert found(*texts[:5]) == {}


def test_a_word_that_texts_define_and_live_of_is_a_concept_in_small_letters():
    texts = ["# Closures\n\nA _closure_ is a function that keeps what is around it, as each closure does."]
    texts += ["Another closure is called. This closure moves what it holds into a closure."] * 3
    window = [DiscoveryPassage(text, "Closures", ("Closures",), path="a") for text in texts]
    assert [
        (one.name, one.kind) for one in discover_names([*window, DiscoveryPassage(FILLER, path="b")])
    ] == [("closure", "heading")]


def test_a_verb_or_an_adjective_is_no_concept_however_often_it_is_used():
    texts = ["# Refutable patterns\n\nA _refutable_ pattern may fail."] + [
        "Each refutable pattern needs more care."
    ] * 5
    window = [
        DiscoveryPassage(text, "Refutable patterns", ("Refutable patterns",), path="a") for text in texts
    ]
    assert "refutable" not in {
        one.name for one in discover_names([*window, DiscoveryPassage(FILLER, path="b")])
    }


def test_a_link_whose_address_bears_its_text_names_something():
    text = "I ran [oxipng](https://github.com/shssoichiro/oxipng) after [this page](https://x.test/this-page)"
    assert found(text, "then oxipng again") == {"oxipng": "name"}


def test_german_nouns_are_not_names_for_their_capital():
    text = "Ich habe das Fahrrad und die Lampe in der Garage und nicht auf dem Balkon. Wir wissen es, aber du nicht."
    assert found(text, text, text, text) == {}


def test_stored_mentions_support_a_single_one():
    window = [
        DiscoveryPassage("we moved it all to Grafana yesterday", path="a"),
        DiscoveryPassage(FILLER, path="b"),
    ]
    asked: list[str] = []

    def seen_before(names):
        asked.extend(names)
        return [3 if name == "grafana" else 0 for name in names]

    assert [one.name for one in discover_names(window, seen_before)] == ["Grafana"]
    assert asked == ["grafana"]
    assert discover_names(window, lambda names: [0] * len(names)) == ()


def test_a_part_that_never_occurs_alone_is_no_name():
    texts = ["San Francisco is far", "he went to San Francisco", "she left San Francisco"]
    assert found(*texts) == {"San Francisco": "name"}


def test_an_empty_text_has_no_names():
    assert discover_names(()) == ()
    assert discover_names([DiscoveryPassage("")]) == ()


@pytest.mark.parametrize(
    "unit",
    ["aA", "A ", "`", "(A", "_a", "[[", '<a ="', "](", "\n```\n", "<!--", "a_", "a-1", "A-", "é", "東"],
)
def test_long_texts_take_linear_time(unit):
    text = unit * (200_000 // len(unit)) + "_"
    EntityDictionary([Entity("con_1", "", "Docker")]).match(text)
    discover_names([DiscoveryPassage(text, text[:100], path="a")])


@given(
    st.lists(
        st.tuples(st.text(max_size=80), st.text(max_size=20), st.lists(st.text(max_size=8), max_size=2)),
        max_size=5,
    )
)
@settings(max_examples=150, deadline=None)
def test_any_texts_give_names_that_can_be_matched(rows):
    window = [
        DiscoveryPassage(text, title, (title,), tuple(tags), tuple(tags), title) for text, title, tags in rows
    ]
    names = discover_names(window)
    assert len({one.name for one in names}) == len(names)
    EntityDictionary([Entity(f"con_{one.name}", "", one.name, one.aliases, one.kind) for one in names]).match(
        "a text"
    )


def test_a_title_before_a_name_is_no_name_by_itself():
    texts = (
        "we saw Dr. Okafor near St. Brannoc",
        "then came Dr. Lindqvist from St. Ninian",
        "ask Dr. Yeo of St. Piran",
    )
    assert not {"Dr", "St"} & found(*texts).keys()
