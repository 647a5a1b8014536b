"""Import paths that the pages of the last release named still work, and warn."""

from __future__ import annotations

from importlib import import_module

import pytest


@pytest.mark.parametrize(
    ("old", "name", "new"),
    [
        ("scrubjay.testing.hash_embedder", "HashEmbedder", "scrubjay.embeddings.hash_embedder.HashEmbedder"),
        ("scrubjay.providers.rerankers.port", "Question", "scrubjay.rerankers.base.RerankQuery"),
        ("scrubjay.providers.rerankers.port", "Reranker", "scrubjay.rerankers.base.Reranker"),
        ("scrubjay.recall.request", "STAGES", "scrubjay.search.request.STAGES"),
        ("scrubjay.recall.request", "CHANNELS", "scrubjay.search.request.CHANNELS"),
    ],
)
def test_an_old_import_path_warns_and_gives_the_new_name(old: str, name: str, new: str) -> None:
    place, _, current = new.rpartition(".")
    with pytest.warns(DeprecationWarning, match=f"{old}.{name} is now {new}"):
        assert getattr(import_module(old), name) is getattr(import_module(place), current)


def test_a_name_that_never_was_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = import_module("scrubjay.testing.hash_embedder").no_such_name
