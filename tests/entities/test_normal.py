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
    ],
)
def test_names_that_are_the_same_have_one_form(name, form):
    assert normalize_name(name) == form


@given(st.text(max_size=40))
def test_the_form_of_a_form_is_itself(name):
    assert normalize_name(normalize_name(name)) == normalize_name(name)


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
