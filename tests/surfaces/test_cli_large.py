"""rebuild --large: what the owner of a large tenant is told, and does about it."""

from __future__ import annotations

import pytest

from scrubjay.storage.postgres import store
from scrubjay.storage.postgres.tenant_index import LargeTenantLimits


def test_the_owner_of_a_large_tenant_is_told_what_it_lacks_and_makes_it(
    cli, vector_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = ("--store", vector_url)
    for text in ("the anchor weighs ten kilos", "the mast is of spruce"):
        assert cli("add", text, *at).code == 0
    assert "warning    of 2 memories" not in cli("status", *at).out  # which is not large
    monkeypatch.setattr(store, "DEFAULT_LIMITS", LargeTenantLimits(rows=1, nominated=1, alike=1, gathered=0))
    said = cli("status", *at).out
    assert "of 2 memories, the words of each are looked through for every search" in said
    assert "the vectors of " in said
    made = cli("rebuild", "--large", *at)
    assert made.out.startswith("word index: 2 memories, ")
    assert "vector index: " in made.out
    assert "of 2 memories" not in cli("status", *at).out
    found = cli("search", "what is the mast made of", "--json", *at).json["results"]
    assert "spruce" in found[0]["snippet"]
    again = cli("rebuild", "--large", "--json", *at).json
    assert (again["words"], again["without"]) == (0, "")
    assert cli("rebuild", "--no-large", *at).out == "Indexes dropped; searches scan all memories again.\n"
    assert "of 2 memories" in cli("status", *at).out


def test_a_file_needs_nothing_of_the_kind(cli) -> None:
    cli("add", "the anchor weighs ten kilos")
    for option in ("--large", "--no-large"):
        refused = cli("rebuild", option)
        assert refused.code == 2
        assert "Only a PostgreSQL store" in refused.err
