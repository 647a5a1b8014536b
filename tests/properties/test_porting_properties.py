"""Whatever a store has lived through, an export of it makes the same store elsewhere, in every kind of store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reference_store.store import ReferenceStore
from scrubjay.config.loader import load_settings
from scrubjay.config.settings import Settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.memory import Memory
from scrubjay.models.records import Scope
from scrubjay.services.models import ModelRegistry, caller_catalog
from scrubjay.services.workspace import Workspace
from scrubjay.storage.interface import Store
from scrubjay.storage.postgres.store import PostgresStore
from scrubjay.storage.sqlite.store import SQLiteStore
from store_contract.history import StoreHistory

SEEDS = range(6)
STEPS = 150
TENANT = "porting"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    environ = {"SCRUBJAY_CONFIG": "", "XDG_CONFIG_HOME": str(tmp_path / "none")}
    return replace(load_settings(environ=environ), cache_dir=tmp_path / "cache")


@pytest.fixture(params=["inmemory", "sqlite", "postgres"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Store]]:
    """Make empty stores of one kind; of PostgreSQL there is one, whose tenants are apart."""
    held: list[Store] = []

    def make() -> Store:
        if request.param == "postgres":
            held.append(PostgresStore(request.getfixturevalue("postgres_url")))
        elif request.param == "sqlite":
            held.append(SQLiteStore(tmp_path / f"{len(held)}.db"))
        else:
            held.append(ReferenceStore())
        return held[-1]

    yield make
    for store in held:
        store.close()


def facade(store: Store, scope: Scope, settings: Settings) -> Memory:
    lineup = ModelRegistry(store, scope, caller_catalog([HashEmbedder(16)]), cold=False, overlap=80)
    return Memory(Workspace(store, scope, lineup, settings))


def bare(file: Path) -> list[str]:
    """What an export says, with everything named by what it is instead of by its id."""
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()[1:-1]]
    for row in rows:  # whoever imports it owns it
        row.pop("owner", None)
    names: dict[str, str] = {}
    for kind in ("source", "concept", "memory"):
        for row in (row for row in rows if row["line"] == kind):
            names.setdefault(row["id"], named(row, names))
    return sorted(
        json.dumps(swapped(row, names), sort_keys=True) for row in rows if row["line"] != "run"
    ) + sorted(json.dumps(row, sort_keys=True) for row in rows if row["line"] == "run")


def named(row: dict[str, Any], names: dict[str, str]) -> str:
    if row["line"] == "source":
        return f"source {row['root']} {row['key']}"
    own = {name: value for name, value in row.items() if name != "id"}
    return json.dumps(swapped(own, names), sort_keys=True)


def swapped(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: swapped(one, names) for name, one in value.items()}
    return names.get(value, value) if isinstance(value, str) else value


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_carried_over_is_what_there_was(
    made: Callable[[], Store], settings: Settings, tmp_path: Path, seed: int
) -> None:
    history = StoreHistory(seed, TENANT)
    list(history.steps(STEPS))
    with closing(made()) as store:
        for number, told in enumerate(history.users):
            scope = replace(told, tenant=str(tmp_path / str(number)))
            files = [tmp_path / f"{number}-{name}.jsonl" for name in ("first", "second", "third")]
            source, target = facade(history.reference, told, settings), facade(store, scope, settings)
            source.export(files[0])
            done = target.import_(files[0], shared=True)
            assert (done.existed, done.passed, done.forgotten) == (0, 0, 0)
            assert done.added == source.status().memories == target.status().memories
            target.export(files[1])
            assert bare(files[1]) == bare(files[0])
            again = target.import_(files[0], shared=True)
            assert (again.added, again.edges, again.events, again.concepts, again.runs) == (0, 0, 0, 0, 0)
            assert (again.documents, again.sources) == (0, ())
            assert target.import_(files[1]).added == 0
            target.export(files[2])
            assert bare(files[2]) == bare(files[1])
