"""Words levelled, and what copies have in common."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.consolidate.audit.loops import repeats
from scrubjay.consolidate.audit.words import RUN, WINDOW, Numbers, levelled, runs, winnowed

WORDS = st.lists(st.sampled_from([f"word{n}" for n in range(40)]), max_size=60)


def prints(words: list[str]) -> set[int]:
    return set(winnowed(runs(Numbers().of(words))).tolist())


def test_case_punctuation_and_markup_do_not_count() -> None:
    assert levelled("- The **Mast**, is 12-m!") == levelled("the mast is 12 m")
    assert levelled("帆布是白的 OK") == ["帆", "布", "是", "白", "的", "ok"]
    assert levelled("--- ***") == []


def test_a_run_is_told_by_its_words_and_their_order() -> None:
    numbers = Numbers()
    one = runs(numbers.of("a b c d e f".split()))
    assert len(one) == 2
    assert one[0] == runs(numbers.of("a b c d e".split()))[0]
    assert one[0] != runs(numbers.of("b a c d e".split()))[0]
    assert len(runs(numbers.of("a b c d".split()))) == 0


@given(
    WORDS, st.lists(st.sampled_from([f"word{n}" for n in range(40)]), min_size=12, max_size=30), WORDS, WORDS
)
@settings(max_examples=60, deadline=None)
def test_any_stretch_that_two_texts_share_leaves_a_common_print(
    before: list[str], shared: list[str], after: list[str], other: list[str]
) -> None:
    assert len(shared) >= WINDOW + RUN - 1
    assert prints([*before, *shared, *after]) & prints([*other, *shared])


def test_numbers_are_the_same_in_every_process() -> None:
    assert Numbers().of(["mast"]).tolist() == [13492829730665708151]


OLD = "the harbour master in Lisbon wants forty euros a night for a berth and takes cash alone on weekends"


def test_a_copy_within_other_words_repeats_the_older_text() -> None:
    assert repeats(OLD, OLD) == 1.0
    assert repeats(f"From memory: {OLD}", OLD) >= 0.8
    assert repeats(f"{OLD} (notes)", OLD) >= 0.8


def test_an_edit_is_no_copy_wherever_it_stands() -> None:
    for old, new in (
        ("forty", "fifty"),
        ("takes", "never takes"),
        ("on weekends", "on Mondays"),
        ("a night ", ""),
        ("the harbour master", "a harbour master"),
    ):
        assert repeats(OLD.replace(old, new), OLD) == 0.0, (old, new)


def test_what_is_said_of_a_quotation_is_news() -> None:
    assert repeats(f"It isn't so that {OLD}", OLD) == 0.0
    assert repeats(f"{OLD}, but that changed", OLD) == 0.0


def test_what_has_little_in_common_is_no_copy() -> None:
    assert (
        repeats("a berth in Lisbon is dear, and nobody knows whether the price goes down in winter", OLD) == 0
    )
