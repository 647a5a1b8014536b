"""Copying from Python: the facade takes a tenant, or all of them, to another store."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from scrubjay.async_memory import AsyncMemory
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import InputError, NotFoundError
from scrubjay.memory import Memory
from scrubjay.models.reports import Progress


def opened(path: Path, user: str = "ann", tenant: str = "acme") -> Memory:
    return Memory.open(path, user=user, tenant=tenant, embedders=[HashEmbedder()])


def test_all_tenants_and_users_come_along_and_answer_as_before(tmp_path: Path) -> None:
    here, there = tmp_path / "here.db", tmp_path / "there.db"
    with opened(here) as ann, opened(here, "bob") as bob, opened(here, tenant="other") as other:
        texts = {ann: "the kayak leaks", bob: "the kayak is mended", other: "no kayak of ours"}
        for memory, text in texts.items():
            memory.add(text)
        before = [one.search("kayak").results for one in texts]
        stages: list[Progress] = []
        done = ann.copy(there, all_tenants=True, progress=stages.append)
    assert [(one.tenant, one.counts["memories"]) for one in done] == [("acme", 2), ("other", 1)]
    assert {one.stage for one in stages} == {"copy", "verify"}
    with opened(there) as ann, opened(there, "bob") as bob, opened(there, tenant="other") as other:
        after = [one.search("kayak").results for one in (ann, bob, other)]
    assert [[(r.id, r.score) for r in found] for found in after] == [
        [(r.id, r.score) for r in found] for found in before
    ]


def test_one_tenant_alone_is_the_callers_own_or_the_one_that_is_named(tmp_path: Path) -> None:
    here = tmp_path / "here.db"
    with opened(here) as ann, opened(here, tenant="other") as other:
        ann.add("the kayak leaks")
        other.add("no kayak of ours")
        assert [one.tenant for one in ann.copy(tmp_path / "own.db")] == ["acme"]
        assert [one.tenant for one in ann.copy(tmp_path / "other.db", tenant="other")] == ["other"]
        with pytest.raises(NotFoundError, match="nothing of tenant nobody"):
            ann.copy(tmp_path / "none.db", tenant="nobody")


def test_a_store_is_not_copied_onto_itself_by_any_name(tmp_path: Path) -> None:
    here = tmp_path / "here.db"
    link = tmp_path / "link.db"
    with opened(here) as ann:
        ann.add("the kayak leaks")
        link.symlink_to(here)
        for name in (here, f"sqlite:///{here}", link):
            with pytest.raises(InputError, match="the store itself"):
                ann.copy(name)


def test_a_copy_can_be_awaited(tmp_path: Path) -> None:
    async def run() -> None:
        async with AsyncMemory(opened(tmp_path / "here.db")) as memory:
            await memory.add("the kayak leaks")
            (done,) = await memory.copy(tmp_path / "there.db")
            assert done.counts["memories"] == 1

    asyncio.run(run())
