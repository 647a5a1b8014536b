"""The second fence: what one tenant's transaction sees and writes, whatever its statements ask for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from scrubjay.errors import StoreError, StoreVersionError
from scrubjay.models.graph import Edge
from scrubjay.models.lifecycle import CachedExtraction, ConsolidationRun, Event
from scrubjay.models.records import Scope
from scrubjay.storage.changes import (
    Forget,
    PutCategory,
    PutConcept,
    PutEdges,
    PutEvents,
    PutExtractions,
    PutMemory,
    PutModel,
    PutProject,
    PutRun,
    PutSource,
    PutVectors,
)
from scrubjay.storage.postgres import schema
from scrubjay.storage.postgres.connection import connect
from scrubjay.storage.postgres.rows import find_tenant
from scrubjay.storage.postgres.store import PostgresStore
from store_contract.samples import (
    SMALL_MODEL,
    put_sample_document,
    sample_category,
    sample_concept,
    sample_concept_id,
    sample_id,
    sample_memory,
    sample_source,
    sample_windows,
    write_changes,
)

MINE = "user:ann"
TABLES = "SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'scrubjay'::regnamespace AND c.relkind IN ('r', 'p')"
FENCED = """
SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity,
    (SELECT array_agg(p.polcmd::text || p.polpermissive || (p.polqual IS NOT NULL) || (p.polwithcheck IS NOT NULL)
        || (p.polroles = '{0}')) FROM pg_policy p WHERE p.polrelid = c.oid),
    EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant')
FROM pg_class c WHERE c.relnamespace = 'scrubjay'::regnamespace AND c.relkind IN ('r', 'p')
"""


def fill(store: PostgresStore, scope: Scope) -> None:
    """Write at least one row into every table."""
    vectors = {SMALL_MODEL.fingerprint: sample_windows("jay", 1)}
    texts = PutVectors(SMALL_MODEL.fingerprint, {}, {"a" * 64: sample_windows("t")})
    write_changes(store, scope, PutModel(SMALL_MODEL), texts, PutSource(sample_source("notes", MINE)))
    write_changes(store, scope, put_sample_document("notes", "a.md", ["one"], MINE, vectors=vectors))
    write_changes(store, scope, *(PutMemory(sample_memory(name, MINE, name=name)) for name in "abc"))
    write_changes(
        store, scope, PutConcept(sample_concept("oak", MINE)), PutCategory(sample_category("shelf", MINE))
    )
    a = sample_id("a")
    told = PutEvents((Event(a, "used", 1, MINE),))
    write_changes(store, scope, PutEdges((Edge(a, "references", sample_concept_id("oak"), MINE),)), told)
    write_changes(
        store,
        scope,
        PutRun(ConsolidationRun("run_1", MINE, "done", "1", 1, None, {})),
        PutProject("p", "q", MINE),
    )
    write_changes(store, scope, Forget((sample_id("c"),)))
    write_changes(store, scope, PutVectors(SMALL_MODEL.fingerprint, {}, {"b" * 64: sample_windows("t")}))
    write_changes(store, scope, PutExtractions((CachedExtraction(a, "1", b"x"),)))


@pytest.fixture
def eve(tmp_path: Path) -> Scope:
    return Scope(f"{tmp_path} of others", "ann")


@pytest.fixture
def full(application_url: str, ann: Scope, eve: Scope) -> Iterator[PostgresStore]:
    """A store in which two tenants have a row in every table, opened by the application's user."""
    with closing(PostgresStore(application_url)) as store:
        with closing(PostgresStore(application_url.replace("scrubjay_app", "scrubjay_owner"))) as owner:
            for scope in (ann, eve):
                fill(store, scope)
                owner.build_index(scope, lambda _: None)
                write_changes(store, scope, PutMemory(sample_memory("later", MINE, name="later")))
        yield store


@pytest.fixture
def tables(application_url: str) -> list[str]:
    """Every table but the one of migrations."""
    with psycopg.connect(application_url) as db:
        found = [name for (name,) in db.execute(TABLES).fetchall()]
    return sorted(set(found) - {"migration"})


def test_every_table_of_tenants_is_fenced_by_force_for_everybody_and_for_reads_and_writes(
    full: PostgresStore, application_url: str
) -> None:
    with psycopg.connect(application_url) as db:
        found = {name: facts for name, *facts in db.execute(FENCED).fetchall()}
    assert found.pop("migration") == [False, False, None, False]
    assert found.pop("tenant") == [True, True, ["*truetruetruetrue"], False]
    assert {"posting", "neighbour"} <= found.keys()
    assert {
        name for name, facts in found.items() if facts != [True, True, ["*truetruetruetrue"], True]
    } == set()


KEYS = """
SELECT c.conrelid::regclass::text || ' ' || c.conname,
    (SELECT array_agg(a.attname::text) FROM pg_attribute a WHERE a.attrelid = c.conrelid AND a.attnum = ANY(c.conkey))
FROM pg_constraint c WHERE c.connamespace = 'scrubjay'::regnamespace AND c.contype IN ('p', 'u', 'f', 'x')
UNION SELECT i.indexrelid::regclass::text,
    (SELECT array_agg(a.attname::text) FROM pg_attribute a WHERE a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey))
FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
WHERE c.relnamespace = 'scrubjay'::regnamespace AND i.indisunique
"""
OF_NO_TENANT = {"migration", "tenant"}
"""Tables that every machine would have whole: ARCHITECTURE.md, "Invariants"."""


def test_every_key_of_a_table_of_tenants_holds_the_tenant_so_that_tenants_may_be_spread(
    full: PostgresStore, application_url: str
) -> None:
    with psycopg.connect(application_url) as db:
        found = dict(db.execute(KEYS).fetchall())
    names = {name.removeprefix("scrubjay.") for name, columns in found.items() if "tenant" not in columns}
    assert len(found) > 40
    assert {
        name.partition(" ")[0].removesuffix("_pkey").removesuffix("_name_key") for name in names
    } == OF_NO_TENANT


def test_the_server_makes_every_table_of_tenants_anew_in_hash_partitions_by_tenant(
    application_url: str,
) -> None:
    """It refuses where a primary key or a unique index lacks the column that rows are spread by."""
    with psycopg.connect(application_url.replace("scrubjay_app", "scrubjay_owner")) as db:
        tables = {name for (name,) in db.execute(TABLES).fetchall()} - OF_NO_TENANT
        db.execute("CREATE SCHEMA spread")
        for name in sorted(tables):
            db.execute(
                f"CREATE TABLE spread.{name} (LIKE scrubjay.{name} INCLUDING ALL) PARTITION BY HASH (tenant)"
            )
            for part in range(4):
                db.execute(
                    f"CREATE TABLE spread.{name}_{part} PARTITION OF spread.{name} "
                    f"FOR VALUES WITH (MODULUS 4, REMAINDER {part})"
                )
        made = "SELECT count(*) FROM pg_class WHERE relnamespace = 'spread'::regnamespace AND relkind = 'p'"
        assert db.execute(made).fetchone() == (len(tables),)
        assert len(tables) >= 18
        db.rollback()


@pytest.mark.parametrize("user", ["scrubjay_app", "scrubjay_owner"])
@pytest.mark.parametrize("setting", [None, ""])
def test_a_transaction_that_names_no_tenant_sees_no_row_in_postgres(
    full: PostgresStore, application_url: str, tables: list[str], user: str, setting: str | None
) -> None:
    """Not even the owner: the fence is forced."""
    with psycopg.connect(application_url.replace("scrubjay_app", user)) as db:
        if setting is not None:
            for name in ("tenant", "tenant_name"):
                db.execute("SELECT set_config(%s, %s, true)", (f"scrubjay.{name}", setting))
        for table in tables:
            assert db.execute(f"SELECT count(*) FROM scrubjay.{table}").fetchone() == (0,), table


def test_a_statement_that_forgot_its_tenant_sees_and_changes_that_tenant_alone(
    full: PostgresStore, application_url: str, tables: list[str], ann: Scope, eve: Scope
) -> None:
    with closing(connect(application_url)) as db:
        numbers = {}
        for scope in (ann, eve):
            db.execute("BEGIN")
            mine = find_tenant(db, scope.tenant)
            assert mine is not None
            numbers[scope] = mine.number
            assert db.execute("SELECT name FROM tenant").fetchall() == [(scope.tenant,)]
            for table in set(tables) - {"tenant"}:
                assert db.execute(f"SELECT DISTINCT tenant FROM {table}").fetchall() == [(mine.number,)], (
                    table
                )
            db.execute("ROLLBACK")
        db.execute("BEGIN")
        find_tenant(db, ann.tenant)
        for table in set(tables) - {"tenant"}:
            foreign = f"DELETE FROM {table} WHERE tenant = %s"
            assert db.execute(foreign, (numbers[eve],)).rowcount == 0, table
        assert db.execute("UPDATE memory SET title = 'taken'").rowcount > 0
        assert db.execute("DELETE FROM edge").rowcount > 0
        db.execute("COMMIT")
    with full.reader(eve) as reader:
        assert "taken" not in {record.title for record in reader.page("", 99)}
        assert reader.edges([sample_id("a")], ["references"])


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO term (tenant, text) VALUES (%(theirs)s, 'x')",
        "UPDATE term SET tenant = %(theirs)s",
        "INSERT INTO tenant (name, secret) VALUES ('another', 'x')",
        "UPDATE tenant SET name = 'another'",
        "INSERT INTO project SELECT %(theirs)s, key, place, name FROM project",
    ],
)
def test_no_row_of_another_tenant_is_written_in_postgres(
    full: PostgresStore, application_url: str, ann: Scope, eve: Scope, statement: str
) -> None:
    with closing(connect(application_url)) as db:
        db.execute("BEGIN")
        theirs = find_tenant(db, eve.tenant)
        assert theirs is not None
        find_tenant(db, ann.tenant)
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            db.execute(statement, {"theirs": theirs.number})
        db.execute("ROLLBACK")


@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK"])
def test_the_name_of_a_tenant_ends_with_its_transaction(
    full: PostgresStore, application_url: str, ann: Scope, end: str
) -> None:
    with closing(connect(application_url)) as db:
        db.execute("BEGIN")
        find_tenant(db, ann.tenant)
        assert db.execute("SELECT count(*) > 0 FROM memory").fetchone() == (True,)
        db.execute(end)
        assert db.execute("SELECT count(*) FROM memory").fetchone() == (0,)
        assert db.execute("SELECT count(*) FROM tenant").fetchone() == (0,)


def test_a_tenant_that_is_not_there_is_not_taken_for_the_last_one(
    full: PostgresStore, application_url: str, ann: Scope
) -> None:
    with closing(connect(application_url)) as db:
        db.execute("BEGIN")
        assert find_tenant(db, ann.tenant) is not None
        assert find_tenant(db, f"{ann.tenant} of nobody") is None
        assert db.execute("SELECT count(*) FROM memory").fetchone() == (0,)


def test_a_tenant_without_a_name_is_fenced_as_every_other_one(full: PostgresStore, ann: Scope) -> None:
    nameless = Scope("", "ann")
    write_changes(full, nameless, PutMemory(sample_memory("jay", MINE, name="a")))
    with full.reader(nameless) as reader:
        assert [record.content for record in reader.page("", 99)] == ["jay"]


def test_the_store_tells_which_user_passes_by_the_fence(
    postgres_url: str, application_url: str, tmp_path: Path
) -> None:
    with closing(PostgresStore(postgres_url)) as store:
        assert store.row_security_warning() == (
            "row-level security is not in force for the database user scrubjay, a superuser"
        )
    for user in ("scrubjay_app", "scrubjay_owner"):
        with closing(PostgresStore(application_url.replace("scrubjay_app", user))) as store:
            assert store.row_security_warning() == ""
    superuser = application_url.replace("scrubjay_app@", "scrubjay@")
    with psycopg.connect(superuser, autocommit=True) as db:
        db.execute("CREATE ROLE passing LOGIN BYPASSRLS IN ROLE scrubjay_owner")
    try:
        with closing(PostgresStore(application_url.replace("scrubjay_app", "passing"))) as store:
            assert store.row_security_warning().endswith("the database user passing, who has BYPASSRLS")
    finally:
        with psycopg.connect(superuser, autocommit=True) as db:
            db.execute("DROP ROLE passing")


def test_a_user_who_may_not_change_the_schema_works_with_the_newest_and_is_told_of_an_older_one(
    application_url: str, ann: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(PostgresStore(application_url)) as store:
        write_changes(store, ann, PutMemory(sample_memory("jay", MINE)))
    later = (*schema.MIGRATIONS, (99, "later", "CREATE TABLE later (tenant bigint)"))
    monkeypatch.setattr(schema, "MIGRATIONS", later)
    with pytest.raises(
        StoreVersionError, match=r"has schema \d+; this scrubjay needs 99, and this user"
    ) as told:
        PostgresStore(application_url)
    assert "as the user who owns the schema" in told.value.hint


def test_a_user_who_may_not_make_the_schema_is_told_so(application_url: str) -> None:
    with pytest.raises(StoreError, match="there is no schema scrubjay yet") as told:
        PostgresStore(application_url.replace("/memories?", "/template1?"))
    assert "docs/deployment.md" in told.value.hint


def test_the_fence_keeps_no_index_from_being_used(application_url: str) -> None:
    """The server may look a row up before it knows whose it is only by an operator that tells nothing of others."""
    leaky = (
        "SELECT DISTINCT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
        "CROSS JOIN LATERAL unnest(i.indclass::oid[]) AS used (oid) JOIN pg_opclass o ON o.oid = used.oid "
        "JOIN pg_amop a ON (a.amopfamily, a.amoplefttype, a.amoprighttype) = (o.opcfamily, o.opcintype, o.opcintype) "
        "JOIN pg_operator p ON p.oid = a.amopopr JOIN pg_proc f ON f.oid = p.oprcode "
        "WHERE c.relnamespace = 'scrubjay'::regnamespace AND NOT f.proleakproof "
        "AND a.amoppurpose = 's'"  # an order tells nothing: the index of vectors only sorts
    )
    owner = application_url.replace("scrubjay_app@", "scrubjay_owner@")
    with psycopg.connect(owner) as db:
        assert db.execute(leaky).fetchall() == []
        db.execute("CREATE INDEX useless ON scrubjay.memory USING gin (tags)")
        assert db.execute(leaky).fetchall() == [("useless",)]
        db.rollback()
