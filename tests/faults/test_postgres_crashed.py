"""What a crash of a PostgreSQL server may take back, and what not; who was alone before it, is not after it."""

from __future__ import annotations

import os
import random
import signal
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from served import NOW, TENANT, answers, held, lived, opened, written
from storm import every

from scrubjay import NewMemory
from scrubjay.errors import StoreError
from scrubjay.models.records import Scope
from scrubjay.storage.changes import PutConcept, PutMemory
from scrubjay.storage.postgres.store import PostgresStore
from store_contract.postgres_server import PostgresServer
from store_contract.samples import sample_concept, sample_memory

MINE = "user:ann"


def test_what_can_be_read_again_is_lost_by_a_crash_whole_and_the_next_sync_brings_it_back(
    lazy: PostgresServer, tmp_path: Path
) -> None:
    """The process stays, and answers from what is there, not from what it had read before."""
    notes = tmp_path / "notes"
    with opened(lazy.url, tmp_path) as ann:
        lived(ann, notes)
        ann.add("The last thing that waited for the disk.")
        before, told = held(lazy.url), answers(ann)
        with psycopg.connect(lazy.url) as db:
            asked = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'"
            ((flushing,),) = db.execute(asked).fetchall()
        # Every ten seconds it takes to the disk what no commit waits for, and so may do it before the crash.
        os.kill(flushing, signal.SIGSTOP)
        written(notes, 1)
        ann.sync(notes)
        after, later = held(lazy.url), answers(ann)
        assert before["documents"] != after["documents"]
        assert told != later
        os.kill(flushing, signal.SIGKILL)  # while stopped it would hear nothing else
        lazy.restart("immediate")
        lost = held(lazy.url)["documents"]
        assert lost != after["documents"], "the crash took nothing back: nothing was tried"
        with opened(lazy.url, tmp_path) as fresh:
            assert answers(ann) == answers(fresh)
        ann.sync(notes)
        assert held(lazy.url) == after
        assert answers(ann) == later


def test_what_an_agent_added_forgot_or_dreamed_survives_a_crash(lazy: PostgresServer, tmp_path: Path) -> None:
    with opened(lazy.url, tmp_path, tenant="agent") as ann:
        lived(ann, tmp_path / "notes")
        gone = ann.add("What is to be forgotten.")
        ann.forget(gone.id)
        ann.consolidate(now=NOW)
        ann.add_many([NewMemory("Written just before.")])
        before = held(lazy.url, "agent")
        lazy.restart("immediate")
        assert held(lazy.url, "agent") == before


def test_the_secret_that_a_new_tenant_was_told_is_its_secret_after_a_crash(lazy: PostgresServer) -> None:
    """Else what is added again has another id, and what was forgotten comes back."""
    ann = Scope("new", "ann")
    with closing(PostgresStore(lazy.url)) as store:
        told = store.secret(ann)
        lazy.restart("immediate")
        assert store.secret(ann) == told


def test_the_count_of_changed_concepts_never_comes_again_after_a_crash(lazy: PostgresServer) -> None:
    """A process keeps by it which names it knows."""
    ann = Scope("concepts", "ann")
    with closing(PostgresStore(lazy.url)) as store:
        store.write(ann, [PutConcept(sample_concept("oak", MINE))])
        with store.reader(ann) as reader:
            told = reader.concept_mark()
        lazy.restart("immediate")
        with store.reader(ann) as reader:
            assert reader.concept_mark() == told


def test_who_was_alone_until_the_server_restarted_writes_nothing_more(lasting: PostgresServer) -> None:
    """Another one may have begun the same meanwhile, of whom it cannot know."""
    ann = Scope("alone", "ann")
    with closing(PostgresStore(lasting.url)) as store, closing(PostgresStore(lasting.url)) as other:
        store.write(ann, [PutMemory(sample_memory("jay", MINE))])

        def work() -> None:
            with store.try_exclusive(ann, "night") as mine:
                assert mine
                store.write(ann, [PutMemory(sample_memory("elm", MINE))])
                every(lasting, random.Random())
                with other.try_exclusive(ann, "night") as theirs:
                    assert theirs
                store.write(ann, [PutMemory(sample_memory("oak", MINE))])

        with pytest.raises(StoreError, match="was lost"):
            work()
        with store.reader(ann) as reader:
            assert sorted(one.content for one in reader.page("", 9)) == ["elm", "jay"]
        store.write(ann, [PutMemory(sample_memory("oak", MINE))])


def test_who_is_done_when_the_server_restarts_is_not_told_that_nothing_was_written(
    lasting: PostgresServer,
) -> None:
    ann = Scope("done", "ann")
    with closing(PostgresStore(lasting.url)) as store:
        with store.try_exclusive(ann, "night"):
            store.write(ann, [PutMemory(sample_memory("jay", MINE))])
            every(lasting, random.Random())
        with store.try_exclusive(ann, "night") as again:
            assert again


def test_a_reader_that_is_lost_when_it_has_read_all_is_not_told_of_a_commit(lasting: PostgresServer) -> None:
    ann = Scope("read", "ann")
    with closing(PostgresStore(lasting.url)) as store:
        store.write(ann, [PutMemory(sample_memory("jay", MINE))])

        def look() -> None:
            with store.reader(ann) as reader:
                assert reader.counts().memories == 1
                every(lasting, random.Random())

        with pytest.raises(StoreError, match=r"was lost .*The open transaction was rolled back") as told:
            look()
        assert "written" not in str(told.value)


def test_embedding_that_was_stopped_when_all_was_embedded_finds_the_topics_when_it_is_done_again(
    lasting: PostgresServer, tmp_path: Path
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    with opened(lasting.url, tmp_path, tenant="stopped") as ann, opened(lasting.url, tmp_path) as other:
        for one, notes in ((ann, tmp_path / "a"), (other, tmp_path / "b")):
            lived(one, notes)
        other.embed()
        store = ann.workspace.store
        put = store.write
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(
                store, "write", lambda *given, **how: put(*given, **how) if _vectors(given) else stopped()
            )
            with pytest.raises(KeyboardInterrupt):
                ann.embed()
        ann.embed()
        rules = [{row.split(" ", 4)[4] for row in _of(lasting.url, tenant)} for tenant in ("stopped", TENANT)]
        assert any("second" in rule for rule in rules[1])
        assert rules[0] == rules[1]


def _vectors(given: tuple[object, ...]) -> bool:
    return any(type(change).__name__ == "PutVectors" for change in given[1])  # type: ignore[attr-defined]


def _of(url: str, tenant: str) -> list[str]:
    return [row for row in held(url, tenant)["edges"] if " belongs " in row]
