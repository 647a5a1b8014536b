"""Congruence: after the same random history every store gives equal answers in equal order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reference_store.store import ReferenceStore
from scrubjay.models.graph import STORED_EDGE_KINDS, Edge
from scrubjay.models.lifecycle import CachedExtraction, ConsolidationRun, Event, LifecycleChange
from scrubjay.models.records import Scope
from scrubjay.storage.changes import (
    Change,
    PutCategory,
    PutConcept,
    PutEdges,
    PutEvents,
    PutExtractions,
    PutLifecycle,
    PutMemory,
    PutRun,
)
from scrubjay.storage.interface import Store
from scrubjay.storage.postgres.store import PostgresStore
from scrubjay.storage.sqlite import segments
from scrubjay.storage.sqlite.store import SQLiteStore
from store_contract.answers import SampleQuestion, all_answers, held_answers, search_answers
from store_contract.history import CONCEPT_NAMES, RUN_IDS, WORDS, StoreHistory
from store_contract.samples import SMALL_MODEL, sample_concept, sample_concept_id, sample_windows

MISTYPED = ("deploymnt", "sesion", "vektor", "xyz", *WORDS[:3])
FEW_SEEDS = 1
"""Histories that are always tried; `make torture` tries up to `MOST_SEEDS`."""
MOST_SEEDS = 30
STEPS = 160
QUESTIONS = 60


@contextmanager
def opened(folder: Path, url: str) -> Iterator[tuple[Store, ...]]:
    """Open one store of each kind; a tenant named after the folder is new in all of them."""
    with ExitStack() as stack:
        stores = (SQLiteStore(folder / "memories.db", b"history"), PostgresStore(url, b"history"))
        for store in stores:
            stack.callback(store.close)
        yield stores


def assert_equal(store: Store, reference: Store, scope: Scope, questions: Sequence[SampleQuestion]) -> None:
    """Compare piece by piece, so that a failure is short."""
    with store.reader(scope) as mine, reference.reader(scope) as theirs:
        ids = theirs.ids_with_prefix("", 100_000)
        found, wanted = held_answers(mine, ids, MISTYPED), held_answers(theirs, ids, MISTYPED)
        for name, value in wanted.items():
            assert found[name] == value, name
        for question in questions:
            answer, right = search_answers(mine, question, ids), search_answers(theirs, question, ids)
            for channel, scores in right.items():
                for name, value in scores.items():
                    assert answer[channel][name] == value, (channel, name, question)


def test_every_store_answers_as_the_reference_after_a_long_history(
    tmp_path: Path, postgres_url: str, rounds: int | None
) -> None:
    for seed in range(1, 1 + min(rounds or FEW_SEEDS, MOST_SEEDS)):
        folder = tmp_path / str(seed)
        folder.mkdir()
        history = StoreHistory(seed, str(folder))
        with opened(folder, postgres_url) as stores:
            for scope, changes in history.steps(STEPS):
                for store in stores:
                    store.write(scope, changes)
            questions = [history.question() for _ in range(QUESTIONS)]
            for store in stores:
                for scope in history.users:
                    assert_equal(store, history.reference, scope, questions)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 40))
def test_every_store_answers_as_the_reference_at_every_step(
    tmp_path_factory: pytest.TempPathFactory, postgres_url: str, seed: int, steps: int
) -> None:
    folder = tmp_path_factory.mktemp("history")
    history = StoreHistory(seed, str(folder))
    with opened(folder, postgres_url) as stores:
        for number, (scope, changes) in enumerate(history.steps(steps)):
            for store in stores:
                store.write(scope, changes)
                if number % 14 == 0 or number == steps - 1:
                    for user in history.users:
                        assert_equal(store, history.reference, user, [history.question() for _ in range(3)])


def test_a_strangers_life_changes_no_answer_of_mine(tmp_path: Path, postgres_url: str) -> None:
    """What Dan writes for himself is neither returned, counted nor felt by Ann, in any store."""
    with opened(tmp_path, postgres_url) as stores:
        for store in (ReferenceStore(b"history"), *stores):
            _live_beside_a_stranger(tmp_path, store)


def _live_beside_a_stranger(tmp_path: Path, store: Store) -> None:
    mine, others = StoreHistory(7, str(tmp_path)), StoreHistory(8, str(tmp_path))
    ann = mine.users[0]
    mine.users, others.users = (ann,), (Scope(ann.tenant, "dan", ("ops",)),)
    for scope, changes in mine.steps(60):
        store.write(scope, changes)
    questions = [mine.question() for _ in range(30)]
    before = all_answers(store, ann, questions, MISTYPED)
    assert before["counts"][0] > 15
    hidden = (f"user:{others.users[0].user}", "group:ops")
    with store.reader(others.users[0]) as reader:
        shared = reader.ids_with_prefix("", 100_000)
    written = 0
    for scope, changes in others.steps(60):
        if private := _private(changes, hidden, shared):
            store.write(scope, private)
            written += len(private)
    assert written > 30
    with store.reader(others.users[0]) as reader:
        assert len(reader.edges(reader.ids_with_prefix("", 100_000), STORED_EDGE_KINDS)) > 50
        assert sum(1 for event in reader.events() if event.key in hidden) > 20
    assert all_answers(store, ann, questions, MISTYPED) == before


def _private(changes: Sequence[Change], keys: tuple[str, ...], shared: Sequence[str]) -> list[Change]:
    """Return what only a stranger sees, under ids of the stranger's own, with edges to and from what is shared."""
    found: list[Change] = []
    for change in changes:
        if isinstance(change, PutMemory) and change.memory.record.key in keys:
            record = change.memory.record
            own = replace(record, id=f"{record.id[:-3]}fff")
            vectors = {SMALL_MODEL.fingerprint: sample_windows(record.content[:9])}
            found.append(PutMemory(replace(change.memory, record=own, vectors=vectors)))
            ends = [(own.id, end) for end in shared] + [(end, own.id) for end in shared]
            links = [Edge(src, "links", dst, key) for src, dst in ends for key in ("public", *keys)]
            links += [Edge(src, "links", dst, keys[0]) for src, dst in pairwise(shared)]
            names = [
                Edge(src, "references", sample_concept_id(name), keys[0])
                for src in (own.id, *shared)
                for name in CONCEPT_NAMES
            ]
            found += [PutConcept(sample_concept(name, keys[0])) for name in CONCEPT_NAMES]
            told = [Event(own.id, "superseded", 1, own.key, RUN_IDS[0], end, 0, "active") for end in shared]
            told += [Event(end, "used", 2, key, RUN_IDS[0]) for end in shared for key in keys]
            found += [
                PutEvents(tuple(told)),
                PutLifecycle({own.id: LifecycleChange("archived", strength=0.5)}),
            ]
            found.append(PutExtractions((CachedExtraction(own.id, "m", b"x"),)))
            found += [
                PutRun(ConsolidationRun(RUN_IDS[0], key, "done", "2", 9, None, {"merged": 7})) for key in keys
            ]
            found.append(PutEdges((*links, *names)))
        elif isinstance(change, PutConcept | PutRun) and _key(change) in keys:
            found.append(change)
        elif isinstance(change, PutCategory) and change.category.key in keys:
            found.append(change)
            belongs = [Edge(end, "belongs", change.category.id, "public") for end in shared]
            found.append(PutEdges(tuple(belongs)))
    return found


def _key(change: PutConcept | PutRun) -> str:
    return change.concept.key if isinstance(change, PutConcept) else change.run.key


def _searches(store: Store, history: StoreHistory, questions: Sequence[SampleQuestion]) -> list[object]:
    return [all_answers(store, scope, questions, MISTYPED) for scope in history.users]


@pytest.fixture
def lived(tmp_path: Path) -> Iterator[tuple[SQLiteStore, StoreHistory, list[SampleQuestion]]]:
    """A store that has merged segments and late vectors, the history it lived, and questions."""
    history = StoreHistory(4, str(tmp_path))
    store = SQLiteStore(tmp_path / "lived.db", b"history")
    for scope, changes in history.steps(120):
        store.write(scope, changes)
    yield store, history, [history.question() for _ in range(25)]
    store.close()


def test_answers_are_the_same_warm_cold_and_reopened(
    tmp_path: Path, lived: tuple[SQLiteStore, StoreHistory, list[SampleQuestion]]
) -> None:
    store, history, questions = lived
    first = _searches(store, history, questions)
    assert _searches(store, history, questions) == first
    store.close()
    again = SQLiteStore(tmp_path / "lived.db")
    assert _searches(again, history, questions) == first
    again.close()


def test_answers_are_the_same_whether_or_not_segments_were_merged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The switch is the fan: with none ever due, every write's segment stays as it is."""
    histories = (StoreHistory(5, str(tmp_path)), StoreHistory(5, str(tmp_path)))
    stores = [SQLiteStore(tmp_path / name, b"history") for name in ("merged.db", "apart.db")]
    for number in (0, 1):
        if number == 1:
            monkeypatch.setattr(segments, "FANOUT", 1_000_000)
        for scope, changes in histories[number].steps(200):
            stores[number].write(scope, changes)
    files = [apsw.Connection(str(tmp_path / name)) for name in ("merged.db", "apart.db")]
    counted = [file.execute("SELECT count(*) FROM segment").get for file in files]
    assert counted[0] < counted[1] / 2
    questions = [histories[0].question() for _ in range(25)]
    together, apart = (_searches(store, histories[0], questions) for store in stores)
    assert together == apart
    for store in stores:
        store.close()
