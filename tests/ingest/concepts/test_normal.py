"""Normal forms of names, refusals, and how much of a name's case must stand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.ingest.concepts.normal import care, normal, refused
from scrubjay.ingest.concepts.plural import plural, singular


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
    assert normal(name) == form


@given(st.text(max_size=40))
def test_the_form_of_a_form_is_itself(name):
    assert normal(normal(name)) == normal(name)


@pytest.mark.parametrize(
    "name",
    ["the", "The", "und", "", " ", "!", "x", "3.14", "2024-03-15", "March 3rd, 2024", "12:30", "a" * 101],
)
def test_what_names_nothing_is_refused_even_when_a_person_gives_it(name):
    assert refused(name, given=True)


@pytest.mark.parametrize(
    "name", ["IT", "Go", "THE WHO", "C", "R", "Mars", "May Day", "vector store", "Q3 plan"]
)
def test_what_a_person_may_call_a_thing_is_not_refused(name):
    assert refused(name, given=True) is None


@pytest.mark.parametrize("name", ["Go", "However", "the who", "C"])
def test_what_was_found_by_itself_is_refused_sooner(name):
    assert refused(name)


def test_case_must_stand_where_folding_would_make_another_word():
    assert care("IT") == care("Go") == care("THE WHO") == care("C") == "written"
    assert care("Option", "code") == "written"
    assert care("Slack", "name") == "capital"
    assert care("notes", "tag") == "marked"
    assert care("match", "code") == care("if let", "code") == "coded"
    assert care("json_each", "code") == care("unwrap", "code") == "any"
    assert care("Docker") == care("HashMap", "code") == care("slack", "name") == "any"


@pytest.mark.parametrize(
    ("one", "several"),
    [("crate", "crates"), ("memory", "memories"), ("box", "boxes"), ("trait object", "trait objects")],
)
def test_plural_and_singular(one, several):
    assert plural(one) == several
    assert singular(several) == one


@pytest.mark.parametrize("word", ["class", "redis", "status", "aws", "windows", "alias", "2024s", ""])
def test_what_only_ends_like_a_plural_stays(word):
    assert singular(word) == word
