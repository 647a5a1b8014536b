"""Name: words that tell a topic from the others, as people wrote them, never the same twice."""

from __future__ import annotations

from scrubjay.ingest.topics.leaf import Leaf
from scrubjay.ingest.topics.name import name, worths
from scrubjay.ingest.topics.overview import listed, overview
from scrubjay.text.tokens import terms


def leaves(*texts: str, language: str = "en", title: str = "") -> list[Leaf]:
    return [
        Leaf(f"m{n}", title, text, terms(text, language).counts, language) for n, text in enumerate(texts)
    ]


OTHERS = leaves(
    "The cat and the dog sat here.", "Nothing of the kind was said.", "The rest of it is of no use."
)


def named(group: list[Leaf], taken: tuple[str, ...] = (), others: list[Leaf] = OTHERS) -> str:
    return name(group, worths([group], others)[0], taken)


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


def test_a_topic_without_telling_words_is_named_by_a_title() -> None:
    group = leaves("1 2", "1 2", title="Numbers")
    assert named(group) == "Numbers"
    assert named(leaves("1 2", "1 2")) == "untitled"


def test_l0_lists_central_titles_and_l1_telling_sentences() -> None:
    group = [
        Leaf("a", "Planting", "Rain fell. Tulips need compost.", terms("tulips compost").counts),
        Leaf("b", "Feeding", "Compost feeds tulips.", terms("tulips compost").counts),
        Leaf("c", "planting", "It was late.", terms("late").counts),
    ]
    brief, long = overview("tulips", group, worths([group], OTHERS)[0])
    assert brief == "tulips: Planting; Feeding"
    assert long == "Tulips need compost. Compost feeds tulips."


def test_a_list_of_titles_fits_its_room() -> None:
    titles = [f"title number {number} of many" for number in range(50)]
    assert terms(listed("name", titles)).length <= 30
    assert terms(listed("word " * 50, titles)).length <= 30
    assert terms(listed("name", titles, 120)).length > 100
