"""Name: words that tell a topic from the others, as people wrote them, never the same twice."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from scrubjay.categories.clustering import TopicMember, term_matrix, term_weights
from scrubjay.categories.labels import (
    TopicSpelling,
    distinct_titles,
    list_titles,
    topic_name,
    topic_spelling,
    topic_summaries,
)
from scrubjay.text.tokenizer import index_terms


def leaves(*texts: str, language: str = "en", title: str = "") -> list[TopicMember]:
    return [
        TopicMember(f"m{n}", title, text, index_terms(text, language).counts, language)
        for n, text in enumerate(texts)
    ]


OTHERS = leaves(
    "The cat and the dog sat here.", "Nothing of the kind was said.", "The rest of it is of no use."
)


def told(group: list[TopicMember], others: list[TopicMember] = OTHERS) -> TopicSpelling:
    every = [*group, *others]
    return topic_spelling(
        group, term_weights([range(len(group))], every, term_matrix(leaf.terms for leaf in every))[0]
    )


def named(
    group: list[TopicMember],
    taken: tuple[str, ...] = (),
    others: list[TopicMember] = OTHERS,
    plain: Collection[str] = frozenset(),
) -> str:
    return topic_name(told(group, others), [leaf.title for leaf in group], taken, plain)


def test_a_name_keeps_capitals_and_joins_words_that_always_stand_together() -> None:
    group = leaves(
        "Use GitHub Actions for the build.",
        "The GitHub Actions cache is full.",
        "GitHub Actions failed, rebuild.",
    )
    assert named(group).split(", ")[0] == "GitHub Actions"


def test_function_words_numbers_and_hashes_are_no_names() -> None:
    blob = "f" * 64
    group = leaves(
        f"with 2024 {blob} from tulips", f"with 2024 {blob} from tulips", f"with 2024 {blob} the tulips"
    )
    assert named(group) == "tulips"


@pytest.mark.parametrize(
    "written",
    [
        "https://example.org/tulip-index",
        "garden/beds/rows.md",
        "index.md",
        "ch21-web-server",
        "benefits-pay-perks",
        "CVE-2020-7731",
        "dnrhbauihkhjs5ag6vszsme45a",
        "bed_number_two",
        "querySelectorAll",
        "Config::build",
        "type:: Feature",
        "width=200",
        "ann@example.org",
        "can't",
    ],
)
def test_identifiers_paths_and_codes_are_no_names(written: str) -> None:
    group = leaves(*(f"{written} tulips {written}" for _ in range(3)))
    assert {"tulips"} <= set(named(group).split(", ")) <= {"tulips", "Feature"}


@pytest.mark.parametrize(
    "written", ["Node.js", "C++", "C#", "UTF-8", "macOS", "note-taking", "O'Reilly", "AI"]
)
def test_names_with_marks_in_them_are_words(written: str) -> None:
    assert named(leaves(*(f"Of {written}, and on ({written})." for _ in range(3)))) == written


def test_plain_words_are_skipped() -> None:
    group = leaves("following tulips", "following tulips")
    assert named(group) == "following, tulips"
    assert named(group, plain={"following"}) == "tulips"


def test_forms_of_one_word_are_named_once() -> None:
    group = leaves(
        "He runs a race.", "She runs the race, running on.", "They run; a race is running, he runs."
    )
    words = named(group).split(", ")
    assert len([word for word in words if word.startswith("run")]) == 1


def test_two_topics_of_the_same_words_get_two_names() -> None:
    group = leaves("tulips bloom", "tulips bloom")
    first = named(group)
    second = named(group, (first,))
    third = named(group, (first.upper(), second))
    assert len({first.casefold(), second.casefold(), third.casefold()}) == 3


def test_chinese_names_are_words_and_not_halves_of_them() -> None:
    group = leaves("数据库的索引很快。", "数据库的备份每天做。", "数据库需要更多的内存。", language="zh")
    others = leaves("今天天气很好。", "我们每天去公园。", language="zh")
    assert "数据库" in named(group, others=others)


def test_a_topic_without_distinctive_words_is_named_by_a_title() -> None:
    group = leaves("1 2", "1 2", title="Numbers")
    assert named(group) == "Numbers"
    assert named(leaves("1 2", "1 2")) == "untitled"


def test_l0_lists_central_titles_and_l1_distinctive_sentences() -> None:
    group = [
        TopicMember("a", "Planting", "Rain fell. Tulips need compost.", index_terms("tulips compost").counts),
        TopicMember("b", "Feeding", "Compost feeds tulips.", index_terms("tulips compost").counts),
        TopicMember("c", "planting", "It was late.", index_terms("late").counts),
    ]
    brief, long = topic_summaries("tulips", group, told(group))
    assert brief == "tulips: Planting; Feeding"
    assert long == "Tulips need compost. Compost feeds tulips."


def titled(*some: str) -> list[TopicMember]:
    return [TopicMember(f"m{n}", title, "Text says something.", {}) for n, title in enumerate(some)]


def test_similar_titles_are_listed_once_and_file_names_never() -> None:
    group = titled(
        "Week 2", "ch17-04-streams.md", "Week 5 goals", "[[Seeds]] of _oak_", "seeds of oak", "a/b/c"
    )
    assert list(distinct_titles("trees", group)) == ["Week 2", "Seeds of oak"]


def test_titles_of_several_topics_come_last() -> None:
    assert list(distinct_titles("trees", titled("Usage", "Oak"), {"usage"})) == ["Oak", "Usage"]


def test_first_sentences_replace_missing_titles() -> None:
    assert list(distinct_titles("trees", titled("a.md", "b.md"))) == ["Text says something"]


def test_a_list_of_titles_fits_its_room() -> None:
    many = [f"title number {number} of many" for number in range(50)]
    assert index_terms(list_titles("name", many)).length <= 30
    assert index_terms(list_titles("word " * 50, many)).length <= 30
    assert index_terms(list_titles("name", many, 120)).length > 100
