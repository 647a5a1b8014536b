"""Trigrams find what was mistyped; the router's measure keeps its arithmetic."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.text.tokenizer import WORD_EDGE, index_terms, nearest_terms, trigram_similarity, trigrams


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("Kubernetes deployment uses Helm charts for configuration management", 0.4531),
        ("BM25 keyword matching scores documents based on term frequency", 0.0581),
        ("The cat sat on the mat in a warm sunny afternoon", 0.0139),
    ],
)
def test_similarity_is_the_routers_trigram_measure(text, score):
    assert trigram_similarity("Helm charts Kubernetes deployment", text) == pytest.approx(score, abs=5e-5)


@given(st.text(max_size=20), st.text(max_size=20))
@settings(max_examples=60, deadline=None)
def test_similarity_is_symmetric_and_between_0_and_1(a, b):
    assert 0 <= trigram_similarity(a, b) == trigram_similarity(b, a) <= 1
    assert trigram_similarity(a, a) == 1


def test_the_ends_of_a_term_are_marked_so_that_short_terms_have_trigrams_too():
    assert trigrams("ab") == {f"{WORD_EDGE}ab", f"ab{WORD_EDGE}"}
    assert trigrams("") == frozenset()
    assert WORD_EDGE not in "".join(index_terms(f"a{WORD_EDGE}b").counts)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("kuberentes", "kubernetes"),
        ("postgers", "postgres"),
        ("databse", "database"),
        ("embeding", "embedding"),
    ],
)
def test_a_mistyped_word_is_nearest_to_the_word_meant(typed, meant):
    vocabulary = ["kubernetes", "postgres", "database", "data", "embedding", "bedding", "cubes", "progress"]
    assert nearest_terms(typed, vocabulary)[0][0] == meant


def test_a_word_unlike_all_others_has_none_near_it():
    assert nearest_terms("banana", ["database", "kubernetes"]) == ()


def test_nearest_is_limited_and_ordered_by_score_then_term():
    found = nearest_terms("abcd", ["abce", "abcf", "abcd", "abcg"], limit=3)
    assert [term for term, _ in found] == ["abcd", "abce", "abcf"]
    assert found[0][1] == 1
