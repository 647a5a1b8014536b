"""Normal forms of names, refusals, and how much of a name's case must stand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.entities.normalization import (
    name_objection,
    normalize_name,
    required_case,
    to_plural,
    to_singular,
)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("Docker-Compose", "docker compose"),
        ("**Café**\n au lait", "cafe au lait"),
        ("foo_bar()", "foo_bar"),
        ("README.md", "readme.md"),
        ("C++", "c++"),
        ("Ｗｉｄｅ", "wide"),
        ("Rc<T>", "rc t"),
        ("東京大学", "東京大学"),
        ("…", ""),
        ("rebuild --large", "rebuild _large"),
    ],
)
def test_names_that_are_the_same_have_one_form(name, form):
    assert normalize_name(name) == form


WORDS = st.text(st.characters(categories=("L", "Nd")), min_size=1, max_size=6)
MARKS = st.sampled_from(["-", "_", ".", " ", "/", "'", "\u2019", "+", "::"])


@given(st.lists(st.tuples(WORDS, MARKS)), WORDS)
def test_the_form_of_a_name_of_words_and_marks_between_them_is_its_own_form(pairs, last):
    """Of marks beside marks it is not: "rebuild --large" is "rebuild _large", and stored entities are found by that."""
    form = normalize_name("".join(word + mark for word, mark in pairs) + last)
    assert normalize_name(form) == form


@pytest.mark.parametrize(
    "name",
    ["the", "The", "und", "", " ", "!", "x", "3.14", "2024-03-15", "March 3rd, 2024", "12:30", "a" * 101],
)
def test_invalid_names_are_refused_even_from_a_person(name):
    assert name_objection(name, given=True)


@pytest.mark.parametrize(
    "name", ["IT", "Go", "THE WHO", "C", "R", "Mars", "May Day", "vector store", "Q3 plan"]
)
def test_valid_names_from_a_person_are_accepted(name):
    assert name_objection(name, given=True) is None


@pytest.mark.parametrize("name", ["Go", "However", "the who", "C"])
def test_discovered_names_are_refused_sooner(name):
    assert name_objection(name)


def test_case_is_required_where_folding_gives_another_word():
    assert (
        required_case("IT")
        == required_case("Go")
        == required_case("THE WHO")
        == required_case("C")
        == "written"
    )
    assert required_case("Option", "code") == "written"
    assert required_case("Slack", "name") == "capital"
    assert required_case("notes", "tag") == "marked"
    assert required_case("match", "code") == required_case("if let", "code") == "coded"
    assert required_case("json_each", "code") == required_case("unwrap", "code") == "any"
    assert (
        required_case("Docker") == required_case("HashMap", "code") == required_case("slack", "name") == "any"
    )


@pytest.mark.parametrize(
    ("one", "several"),
    [("crate", "crates"), ("memory", "memories"), ("box", "boxes"), ("trait object", "trait objects")],
)
def test_plural_and_singular(one, several):
    assert to_plural(one) == several
    assert to_singular(several) == one


@pytest.mark.parametrize("word", ["class", "redis", "status", "aws", "windows", "alias", "2024s", ""])
def test_words_that_only_look_plural_are_kept(word):
    assert to_singular(word) == word
