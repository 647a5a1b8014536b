from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recall_values import candidate, record

from scrubjay.models.records import Record
from scrubjay.models.results import Candidate
from scrubjay.search.dedup import deduplicate


def folded(*records: Record) -> tuple[list[Candidate], dict[str, tuple[str, ...]]]:
    """Deduplicate records that came in this order."""
    ranked = [candidate(one.id, float(-place)) for place, one in enumerate(records)]
    return deduplicate(ranked, {one.id: one for one in records})


def kept(*records: Record) -> list[str]:
    return [one.id for one in folded(*records)[0]]


def test_of_equal_texts_the_best_is_kept_and_says_which_are_its_copies() -> None:
    left, copies = folded(record("b", "same"), record("a", "same"), record("c", "other"), record("d", "same"))
    assert [one.id for one in left] == ["b", "c"]
    assert copies == {"b": ("a", "d")}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I can use AWS here", "I cannot use AWS here"),
        ("I do use AWS here", "I don't use AWS here"),
        ("The timeout is 30 seconds for everyone", "The timeout is 90 seconds for everyone"),
        ("Deploy to production every Friday at noon", "Deploy to staging every Friday at noon"),
        ("Mara reports to Ann on Mondays", "Ann reports to Mara on Mondays"),
        ("The parser is written in C++ today", "The parser is written in C# today"),
        ("We keep our notes in Vim", "We kept our notes in Vim"),
        ("The flag x == y decides the matter", "The flag x != y decides the matter"),
        ("It was -5 degrees last night", "It was 5 degrees last night"),
        ("We can deploy on Fridays now", "We can deploy on Fridays now?"),
        ("Fly from Berlin to Porto", "Fly to Berlin from Porto"),
        ("The fee is $30 a month", "The fee is €30 a month"),
        ("Er mag den Kaffee", "Er mag keinen Kaffee"),
        ("The host of the database is in DB_Host", "The host of the database is in DB_HOST"),
        ("Put it into getUser, please", "Put it into getuser, please"),
        ("The key is in /etc/App/key now", "The key is in /etc/app/key now"),
    ],
)  # fmt: skip
def test_likeness_is_not_equality(one: str, other: str) -> None:
    assert kept(record("a", one), record("b", other)) == ["a", "b"]
    assert kept(record("b", other), record("a", one)) == ["b", "a"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The timeout is 30 seconds.", "- the **timeout** is 30 seconds"),
        ("We just deploy on Fridays at noon", "We deploy on Fridays at noon!"),
        ("> Mara has the key to the archive", "Mara has the key to\nthe archive"),
        ("Mara set DB_HOST in the file", "mara SET `DB_HOST` in the File."),
    ],
)
def test_case_marks_and_small_words_make_no_difference(one: str, other: str) -> None:
    assert kept(record("a", one), record("b", other)) == ["a"]


def test_what_stands_whole_in_a_better_one_and_is_most_of_it_is_its_copy() -> None:
    long = record("a", "Noted: the archive key hangs behind the clock. Thanks.")
    short = record("b", "The archive key hangs behind the clock")
    assert kept(long, short) == ["a"]
    assert kept(short, long) == ["b", "a"], "the longer one says more"


def test_what_a_better_one_takes_back_or_bounds_is_no_copy_of_it() -> None:
    short = record("b", "We rent the house in Vigo to Marie")
    for words in (
        "falls sie zahlt", "nur im Sommer", "bis Mai", "sauf en août", "jusqu'à mai", "si elle paie", "salvo en agosto",
        "hasta mayo", "solo en mayo", "até maio", "tranne ad agosto", "behalve in mei",
    ):  # fmt: skip
        assert kept(record("a", f"We rent the house in Vigo to Marie, {words}."), short) == ["a", "b"]
    short = record("b", "the archive key hangs behind the clock")
    for words in ("It is not true that", "Only if Mara is away", "Until May", "Nobody says that"):
        assert kept(record("a", f"{words} the archive key hangs behind the clock"), short) == ["a", "b"]


def test_a_sentence_of_a_page_is_found_beside_the_page() -> None:
    page = " ".join(["The archive key hangs behind the clock.", *(f"Line {n} is full." for n in range(20))])
    assert kept(record("a", page), record("b", "The archive key hangs behind the clock.")) == ["a", "b"]


def test_the_same_words_under_another_heading_are_of_something_else() -> None:
    one = record("a", "The timeout is 30 seconds.", heading_path=("Production",))
    other = record("b", "The timeout is 30 seconds.", heading_path=("Staging",))
    assert kept(one, other) == ["a", "b"]


def test_what_is_superseded_does_not_hide_what_holds() -> None:
    old = record("a", "The key hangs behind the clock.", status="superseded")
    assert kept(old, record("b", "The key hangs behind the clock.")) == ["a", "b"]


WORDS = ("key", "clock", "the", "not", "30", "90", "behind", "Mara", "hangs")


@given(st.integers(0, 10_000))
def test_no_candidate_is_lost_without_being_counted_as_a_copy(seed: int) -> None:
    chance = random.Random(seed)
    records = [record(f"m{n}", " ".join(chance.choices(WORDS, k=chance.randint(0, 7)))) for n in range(30)]
    left, copies = folded(*records)
    hidden = [memory for ids in copies.values() for memory in ids]
    assert sorted([one.id for one in left] + hidden) == sorted(one.id for one in records)
    assert set(copies) <= {one.id for one in left}
    assert folded(*records) == (left, copies)
