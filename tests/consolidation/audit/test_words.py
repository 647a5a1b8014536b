"""Words levelled, and what copies have in common."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.consolidation.audit import (
    SHINGLE_WORDS,
    WINNOW_WINDOW,
    WordNumbers,
    level_words,
    repeated_share,
    shingle_numbers,
    winnow,
)

WORDS = st.lists(st.sampled_from([f"word{n}" for n in range(40)]), max_size=60)


def prints(words: list[str]) -> set[int]:
    return set(winnow(shingle_numbers(WordNumbers().of(words))).tolist())


def test_case_punctuation_and_markup_do_not_count() -> None:
    assert level_words("- The **Mast**, is 12-m!") == level_words("the mast is 12 m")
    assert level_words("帆布是白的 OK") == ["帆", "布", "是", "白", "的", "ok"]
    assert level_words("--- ***") == []


def test_a_run_is_told_by_its_words_and_their_order() -> None:
    numbers = WordNumbers()
    one = shingle_numbers(numbers.of("a b c d e f".split()))
    assert len(one) == 2
    assert one[0] == shingle_numbers(numbers.of("a b c d e".split()))[0]
    assert one[0] != shingle_numbers(numbers.of("b a c d e".split()))[0]
    assert len(shingle_numbers(numbers.of("a b c d".split()))) == 0


@given(
    WORDS, st.lists(st.sampled_from([f"word{n}" for n in range(40)]), min_size=12, max_size=30), WORDS, WORDS
)
@settings(max_examples=60, deadline=None)
def test_any_stretch_that_two_texts_share_leaves_a_common_print(
    before: list[str], shared: list[str], after: list[str], other: list[str]
) -> None:
    assert len(shared) >= WINNOW_WINDOW + SHINGLE_WORDS - 1
    assert prints([*before, *shared, *after]) & prints([*other, *shared])


def test_numbers_are_the_same_in_every_process() -> None:
    assert WordNumbers().of(["mast"]).tolist() == [13492829730665708151]


OLD = "the harbour master in Lisbon wants forty euros a night for a berth and takes cash alone on weekends"


def test_a_copy_within_other_words_repeats_the_older_text() -> None:
    assert repeated_share(OLD, OLD) == 1.0
    assert repeated_share(f"From memory: {OLD}", OLD) >= 0.8
    assert repeated_share(f"{OLD} (notes)", OLD) >= 0.8


def test_an_edit_is_no_copy_wherever_it_stands() -> None:
    for old, new in (
        ("forty", "fifty"),
        ("takes", "never takes"),
        ("on weekends", "on Mondays"),
        ("a night ", ""),
        ("the harbour master", "a harbour master"),
    ):
        assert repeated_share(OLD.replace(old, new), OLD) == 0.0, (old, new)


def test_what_is_said_of_a_quotation_is_news() -> None:
    assert repeated_share(f"It isn't so that {OLD}", OLD) == 0.0
    assert repeated_share(f"{OLD}, but that changed", OLD) == 0.0


def test_what_has_little_in_common_is_no_copy() -> None:
    assert (
        repeated_share(
            "a berth in Lisbon is dear, and nobody knows whether the price goes down in winter", OLD
        )
        == 0
    )
