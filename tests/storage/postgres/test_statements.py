"""The first fence alone: every statement that the store sends names its tenant, as the server plans it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from plans import Plan, loose
from sent import logged, plain, written

from scrubjay.models.records import Scope
from scrubjay.storage import writer
from scrubjay.storage.changes import (
    DropCategory,
    DropConcept,
    DropMemory,
    DropModel,
    DropSource,
    DropUser,
    PutCategory,
    PutConcept,
    PutDocument,
    PutDue,
    PutMemory,
    PutModel,
    PutProject,
    PutVectors,
)
from scrubjay.storage.postgres.store import PostgresStore
from scrubjay.storage.postgres.tenant_index import LargeTenantLimits
from store_contract.answers import all_answers
from store_contract.history import StoreHistory
from store_contract.postgres_server import temporary_database
from store_contract.samples import (
    SMALL_MODEL,
    sample_category,
    sample_category_id,
    sample_concept,
    sample_concept_id,
    sample_windows,
    write_changes,
)

STEPS = 200
TABLES = (
    "SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid WHERE a.attname = 'tenant' "
    "AND c.relnamespace = 'scrubjay'::regnamespace AND c.relkind IN ('r', 'p')"
)
QUESTIONS = 40
LISTED = "SELECT name FROM tenant"
"""The one statement of all tenants: an operator's, who copies every one of them and may see them all."""


@pytest.fixture(scope="module")
def watched(postgres_url: str) -> Iterator[str]:
    """The URL of a database of its own, of which the server logs all that it is sent."""
    with temporary_database(postgres_url, "watched") as url:
        with psycopg.connect(url, autocommit=True) as own:
            own.execute("CREATE EXTENSION vector SCHEMA public")
            PostgresStore(url).close()
            own.execute("ALTER DATABASE watched SET log_statement TO 'all'")
        yield url


@pytest.fixture(scope="module")
def statements(watched: str, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What a store sends in a long life with everything in it."""
    log = Path(watched.partition("host=")[2], "log")
    before = log.stat().st_size
    with closing(PostgresStore(watched)) as store:
        live(store, str(tmp_path_factory.mktemp("sent")))
    with log.open("rb") as file:
        file.seek(before)
        return logged(file.read().decode())


def live(store: PostgresStore, name: str) -> None:
    """Write, read, rebuild and forget in every way there is."""
    history = StoreHistory(1, name)
    store.secret(history.users[0])
    for scope, changes in history.steps(STEPS):
        write_changes(store, scope, *changes)
    questions = [history.question() for _ in range(QUESTIONS)]
    for scope in history.users:
        all_answers(store, scope, questions, ("jya",))
        with closing(
            PostgresStore(store.url, large=LargeTenantLimits(0, 1, 1, 0))
        ) as fresh:  # as a large scope is asked
            all_answers(fresh, scope, questions[:3], ("jya",))
            with fresh.reader(scope) as reader:
                assert [reader.windows(state.model.fingerprint) for state in reader.models()]
            assert fresh.index_hint(scope)
            fresh.build_index(scope, lambda _: None)
            assert not fresh.index_hint(scope)
            all_answers(fresh, scope, questions, ("jya",))
            with fresh.reader(scope) as reader:
                assert [reader.windows(state.model.fingerprint) for state in reader.models()]
        with store.rebuild(scope) as rebuild:
            for document in rebuild.documents():
                rebuild.write([PutDocument(document, tuple(rebuild.passages(document)))])
            rebuild.write([PutMemory(one) for one in rebuild.additions()])
        _read(store, scope)
        _remove(store, scope)
        store.drop_index(scope)


def _read(store: PostgresStore, scope: Scope) -> None:
    with store.reader(scope) as reader:
        (
            reader.concept_rows(),
            reader.concept_mark(),
            reader.forgotten_hashes(["0"]),
            reader.forgotten_names(["0"]),
            reader.files_of_others(["obs_0000000000000000"]),
            reader.hidden_groups("0"),
        )
        for state in reader.models():
            reader.windows(state.model.fingerprint), reader.cached_texts(state.model.fingerprint, ["0"])
    assert scope.tenant in store.tenants()
    with store.tenant_reader(scope.tenant) as whole:
        for part in (
            whole.memories(),
            whole.all_edges(),
            whole.all_events(),
            whole.all_cached_texts(),
            whole.tombstones(),
        ):
            list(part)
        (
            whole.all_projects(),
            list(whole.altered_memories()),
            whole.keys_of(["obs_0000000000000000"]),
            whole.extractions(()),
        )
    with store.try_exclusive(scope, "night"):
        store.write(scope, ())
        store.size(), store.row_security_warning(), store.busy(scope), store.memory_counts(scope.tenant)
        store.check_writable()


def _remove(store: PostgresStore, scope: Scope) -> None:
    texts = PutVectors(SMALL_MODEL.fingerprint, {}, {str(n): sample_windows("t") for n in range(9)})
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(writer, "TEXT_CACHE_BYTES", 1)
        write_changes(store, scope, PutModel(SMALL_MODEL), texts, PutProject("p", "q", scope.key()))
    key = scope.key()
    write_changes(
        store, scope, PutConcept(sample_concept("oak", key)), PutCategory(sample_category("shelf", key))
    )
    write_changes(
        store,
        scope,
        DropConcept(sample_concept_id("oak"), key),
        DropCategory(sample_category_id("shelf", key)),
    )
    with store.reader(scope) as reader:
        ids, sources = reader.ids_with_prefix("", 3), reader.sources()
        reader.due(1)
    write_changes(
        store, scope, PutDue(dict.fromkeys(ids, 8)), PutDue(dict.fromkeys(ids, 0), dict.fromkeys(ids, 8))
    )
    dropped = replace(SMALL_MODEL, revision="dropped")
    write_changes(store, scope, PutModel(dropped))
    write_changes(store, scope, DropModel(dropped.fingerprint))
    write_changes(store, scope, DropMemory(tuple(ids)), *(DropSource(source.id) for source in sources))
    write_changes(store, scope, DropUser(scope.user))


def plan(db: psycopg.Connection, statement: str) -> Plan:
    """Return how the server would do it, whatever the values."""
    ((found,),) = db.execute(f"EXPLAIN (VERBOSE, GENERIC_PLAN, FORMAT JSON) {statement}").fetchall()
    made: Plan = found[0]["Plan"]
    return made


def planned(statements: set[str]) -> list[str]:
    return sorted(
        s for s in statements if s.partition(" ")[0] in ("SELECT", "WITH", "INSERT", "UPDATE", "DELETE")
    )


def test_no_statement_of_the_postgres_store_reads_or_writes_a_row_but_by_its_tenant(
    statements: set[str], watched: str
) -> None:
    with psycopg.connect(watched, autocommit=True, options="-c search_path=scrubjay") as db:
        tables = {name for (name,) in db.execute(TABLES).fetchall()} | {"tenant"}
        found = {statement: loose(plan(db, statement), tables) for statement in planned(statements)}
    assert len(found) > 50
    assert {statement: names for statement, names in found.items() if names} == {LISTED: ["tenant"]}


def test_every_statement_in_the_sources_of_the_postgres_store_was_seen(statements: set[str]) -> None:
    """Else the test above would be silent about what its long life does not send."""
    missing = [
        place for place, pattern in written().items() if not any(pattern.fullmatch(one) for one in statements)
    ]
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("SELECT * FROM memory m WHERE m.tenant = $1", []),
        ("SELECT * FROM memory", ["memory"]),
        ("SELECT * FROM memory m WHERE m.tenant = $1 OR m.key = $2", ["m"]),
        ("SELECT * FROM memory m JOIN vector v ON v.memory = m.num WHERE m.tenant = $1", ["v"]),
        (
            "SELECT * FROM memory m JOIN vector v ON v.memory = m.num AND v.tenant = m.tenant WHERE m.tenant = $1",
            [],
        ),
        ("SELECT * FROM memory m LEFT JOIN document d ON d.tenant = m.tenant AND d.tenant = $1", ["m"]),
        ("SELECT (SELECT count(*) FROM edge) FROM memory m WHERE m.tenant = $1", ["edge"]),
        ("DELETE FROM edge WHERE tenant <> $1", ["edge"]),
        ("UPDATE memory SET title = $1 WHERE num = $2", ["memory"]),
        (
            "DELETE FROM term WHERE tenant = $1 AND NOT EXISTS (SELECT FROM memory m WHERE m.num = term.id)",
            ["m"],
        ),
        ("INSERT INTO term (tenant, text) VALUES ($1, $2)", []),
        ("INSERT INTO term (tenant, text) VALUES (1, $1)", ["term"]),
        ("INSERT INTO term (tenant, text) SELECT tenant, text FROM term", ["term_1"]),
        ("UPDATE tenant SET generation = 2", ["tenant"]),
        ("SELECT secret FROM tenant WHERE name = $1", []),
    ],
)
def test_a_statement_with_a_hole_is_found(watched: str, statement: str, names: list[str]) -> None:
    """The look itself: it would be worth nothing if it let these pass."""
    with psycopg.connect(watched, autocommit=True, options="-c search_path=scrubjay") as db:
        tables = {name for (name,) in db.execute(TABLES).fetchall()} | {"tenant"}
        assert loose(plan(db, plain(statement)), tables) == names
