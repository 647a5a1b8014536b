"""A large tenant: what is made for it nominates, and the answers are those of a store that reads everything."""

from __future__ import annotations

import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from test_snapshots import told

from scrubjay.errors import InputError, StoreBusyError, StoreError
from scrubjay.models.lifecycle import LifecycleChange
from scrubjay.models.records import NO_FILTER, RecordFilter, Scope
from scrubjay.storage.changes import (
    DropModel,
    Forget,
    PutDocument,
    PutLifecycle,
    PutMemory,
    PutModel,
    PutVectors,
)
from scrubjay.storage.postgres import tenant_index
from scrubjay.storage.postgres.store import PostgresStore
from scrubjay.storage.postgres.tenant_index import LargeTenantLimits
from scrubjay.storage.urls import open_store
from store_contract.answers import all_answers
from store_contract.history import StoreHistory
from store_contract.samples import (
    OTHER_MODEL,
    SMALL_MODEL,
    TOKEN_MODEL,
    sample_codes,
    sample_id,
    sample_memory,
    sample_vector,
    sample_windows,
    term_group,
    write_changes,
)

MINE = "user:ann"
FORCED = LargeTenantLimits(rows=0, nominated=40, alike=40, gathered=0)
"""As a large scope is asked, in a small one."""
BUILT = (
    "SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = 'scrubjay.neighbour'::regclass "
    "AND NOT indisunique"
)
STEPS = 60


@pytest.fixture
def ann() -> Scope:
    return Scope("woods", "ann")


def filled(store: PostgresStore, scope: Scope, count: int = 120) -> None:
    """Write memories with vectors; every twelfth is tagged, every third is a stranger's."""
    bob = Scope(scope.tenant, "bob")
    write_changes(store, scope, PutModel(SMALL_MODEL))
    for who, key, first in ((scope, MINE, 0), (scope, MINE, 1), (bob, "user:bob", 2)):
        texts = [f"jay oak{number} nut{number % 7}" for number in range(first, count, 3)]
        made = [
            PutMemory(
                sample_memory(
                    text, key, name=text, vectors={SMALL_MODEL.fingerprint: sample_windows(text)},
                    tags=("rare",) if number % 4 == 0 else (),
                )
            )
            for number, text in enumerate(texts)
        ]  # fmt: skip
        write_changes(store, who, *made)


def enlarged(store: PostgresStore, scope: Scope) -> list[tuple[str, int]]:
    seen = []
    store.build_index(scope, lambda progress: seen.append((progress.stage, progress.done)))
    return seen


def rows(url: str, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    """Ask the database itself, as its superuser whom no fence holds."""
    with psycopg.connect(url, autocommit=True, options="-c search_path=scrubjay") as db:
        return db.execute(statement, values).fetchall()  # type: ignore[arg-type]


def nearest(
    store: PostgresStore, scope: Scope, text: str, where: RecordFilter = NO_FILTER
) -> list[tuple[str, float]]:
    with store.reader(scope) as reader:
        return [
            (hit.id, hit.score)
            for hit in reader.nearest(SMALL_MODEL.fingerprint, sample_vector(text), where).top(10)
        ]


def test_answers_by_nomination_are_the_exact_ones_through_a_life_of_writes(vector_url: str) -> None:
    history = StoreHistory(5, "woods")
    questions = [history.question() for _ in range(12)]
    steps = list(history.steps(STEPS))
    users = history.users
    with (
        closing(PostgresStore(vector_url, b"history", large=FORCED)) as large,
        closing(PostgresStore(vector_url)) as exact,
    ):
        for number, (scope, changes) in enumerate(steps):
            large.write(scope, changes)
            if number == STEPS // 3:
                enlarged(large, scope)
            if number > STEPS // 3 and number % 8 == 0:
                for user in users:
                    assert all_answers(large, user, questions, ("jai",)) == all_answers(
                        exact, user, questions, ("jai",)
                    )
        enlarged(large, users[0])  # of models that came since
        with large.rebuild(users[0]) as rebuild:
            for document in rebuild.documents():
                rebuild.write([PutDocument(document, tuple(rebuild.passages(document)))])
            rebuild.write([PutMemory(one) for one in rebuild.additions()])
        for user in users:
            assert all_answers(large, user, questions, ("jai",)) == all_answers(
                exact, user, questions, ("jai",)
            )


def test_a_large_scope_is_searched_by_the_index_and_reads_no_other_vectors(
    vector_url: str, ann: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    tight = LargeTenantLimits(rows=0, nominated=12, alike=12, gathered=0)
    with (
        closing(PostgresStore(vector_url, large=tight)) as store,
        closing(PostgresStore(vector_url)) as exact,
    ):
        filled(store, ann)
        assert "read whole" in store.index_hint(ann)
        assert enlarged(store, ann) == [("words", 120), ("vectors", 120)]
        assert store.index_hint(ann) == ""
        for number in range(20):
            wanted = nearest(exact, ann, f"question {number}")
            with told(monkeypatch) as sent:
                assert nearest(store, ann, f"question {number}") == wanted
            assert any("FROM neighbour" in one for one in sent)
        tagged = RecordFilter(tags=("rare",))
        assert len(nearest(exact, ann, "tagged", tagged)) == 10
        assert nearest(store, ann, "tagged", tagged) == nearest(exact, ann, "tagged", tagged)
        queries = [sample_vector(f"text {number}") for number in range(70)]
        with store.reader(ann) as one, exact.reader(ann) as other:
            found, expected = (
                reader.nearest_batch(SMALL_MODEL.fingerprint, np.stack(queries), 5, 0.1)
                for reader in (one, other)
            )
            assert found == expected
            scored = one.nearest(SMALL_MODEL.fingerprint, sample_vector("q"), RecordFilter())
            whole = other.nearest(SMALL_MODEL.fingerprint, sample_vector("q"), RecordFilter())
            ids = one.ids_with_prefix("", 1_000)
            assert scored.by_id([*ids, "obs_00"]) == whole.by_id([*ids, "obs_00"])
            assert scored.top(1_000) == whole.top(1_000)  # more than are nominated
            assert (scored.mean, scored.deviation, scored.covered) == (whole.mean, whole.deviation, 80)
            assert one.windows(SMALL_MODEL.fingerprint) == 80


def test_the_server_takes_the_index_under_row_level_security(vector_url: str, ann: Scope) -> None:
    with closing(PostgresStore(vector_url, large=FORCED)) as store:
        filled(store, ann)
        enlarged(store, ann)
    with psycopg.connect(vector_url, autocommit=True, options="-c search_path=scrubjay") as db:
        db.execute("CREATE ROLE walled NOSUPERUSER NOBYPASSRLS")
        try:
            db.execute("GRANT USAGE ON SCHEMA scrubjay TO walled; GRANT SELECT ON neighbour TO walled")
            ((tenant, model),) = db.execute("SELECT tenant, id FROM model").fetchall()
            db.execute("BEGIN")
            db.execute("SET LOCAL ROLE walled; SET LOCAL enable_seqscan TO off; SET LOCAL enable_sort TO off")
            assert db.execute("SELECT count(*) FROM neighbour").fetchall() == [(0,)]
            db.execute("SELECT set_config('scrubjay.tenant', %s, true)", (str(tenant),))
            plan = db.execute(
                "EXPLAIN SELECT memory FROM neighbour WHERE tenant = %s AND model = %s "
                "ORDER BY codes::public.halfvec(8) OPERATOR(public.<=>) '[1,2,3,4,5,6,7,8]' LIMIT 5",
                (tenant, model),
                prepare=False,
            ).fetchall()
            assert any(f"Index Scan using neighbour_{tenant}_{model}" in line for (line,) in plan)
        finally:
            db.execute("ROLLBACK")
            db.execute("DROP OWNED BY walled; DROP ROLE walled")


def test_with_its_index_dropped_a_large_tenant_is_answered_exactly_and_told_of_it(
    vector_url: str, ann: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        closing(PostgresStore(vector_url, large=FORCED)) as store,
        closing(PostgresStore(vector_url)) as exact,
    ):
        filled(store, ann)
        enlarged(store, ann)
        ((name,),) = rows(vector_url, BUILT)
        with psycopg.connect(vector_url, autocommit=True) as db:
            db.execute(f"DROP INDEX {name}")
        assert "the vectors of small are read whole" in store.index_hint(ann)
        write_changes(
            store,
            ann,
            PutMemory(sample_memory("late", MINE, vectors={SMALL_MODEL.fingerprint: sample_windows("late")})),
        )
        with told(monkeypatch) as sent:
            assert nearest(store, ann, "q") == nearest(exact, ann, "q")
        assert not any("FROM neighbour" in one for one in sent)
        enlarged(store, ann)
        assert store.index_hint(ann) == ""
        assert rows(vector_url, "SELECT count(*) FROM neighbour") == rows(
            vector_url, "SELECT count(*) FROM vector"
        )


def test_without_pgvector_words_are_sorted_and_vectors_read_whole(postgres_url: str, tmp_path: Path) -> None:
    scope = Scope(str(tmp_path), "ann")
    with (
        closing(PostgresStore(postgres_url, large=FORCED)) as store,
        closing(PostgresStore(postgres_url)) as usual,
    ):
        filled(store, scope)
        assert usual.index_hint(scope) == ""  # nothing is said of a small tenant
        done = store.build_index(scope, lambda _: None)
        assert (done.words, done.models) == (120, ())
        assert "pgvector" in done.without
        assert "pgvector" in store.index_hint(scope)
        assert "words" not in store.index_hint(scope)
        assert nearest(store, scope, "q") == nearest(usual, scope, "q")


def test_what_was_forgotten_is_in_no_block_and_no_index(vector_url: str, ann: Scope) -> None:
    with closing(PostgresStore(vector_url, large=FORCED)) as store:
        filled(store, ann)
        enlarged(store, ann)
        gone = "jay oak0 nut0"
        ((num, term),) = rows(
            vector_url,
            "SELECT m.num, t.id FROM memory m, term t WHERE m.content = %s AND t.text = 'oak0'",
            gone,
        )
        assert rows(vector_url, "SELECT nums FROM posting WHERE term = %s", term) == [([num],)]
        assert rows(vector_url, "SELECT count(*) FROM neighbour WHERE memory = %s", num) == [(1,)]
        write_changes(store, ann, Forget((sample_id(gone),)))
        words = rows(vector_url, "SELECT text FROM term WHERE text = ANY(%s)", ["oak0", "jay"])
        assert words == [("jay",)]
        assert rows(vector_url, "SELECT count(*) FROM posting WHERE %s = ANY(nums)", num) == [(0,)]
        assert rows(
            vector_url, "SELECT count(*) FROM posting WHERE cardinality(nums) <> cardinality(tfs)"
        ) == [(0,)]
        assert rows(vector_url, "SELECT count(*) FROM posting WHERE term = %s", term) == [(0,)]
        assert rows(vector_url, "SELECT count(*) FROM neighbour WHERE memory = %s", num) == [(0,)]


def test_late_memories_become_a_block_when_they_are_many(
    vector_url: str, ann: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tenant_index, "BLOCK_POSTINGS", 10)
    with closing(PostgresStore(vector_url, large=FORCED)) as store:
        filled(store, ann)
        enlarged(store, ann)
        for first in (0, 4, 8):
            late = [
                PutMemory(sample_memory(f"jay late{first + n}", MINE, name=f"late{first + n}"))
                for n in range(4)
            ]
            write_changes(store, ann, *late)
            ((behind,),) = rows(
                vector_url,
                "SELECT count(*) FROM memory m JOIN tenant t ON t.id = m.tenant AND m.num > t.posted",
            )
            assert behind == {0: 4, 4: 8, 8: 2}[first]
            with store.reader(ann) as reader:
                assert reader.frequencies([term_group("jay"), term_group(f"late{first}")]) == [
                    80 + first + 4,
                    1,
                ]


def test_after_a_write_only_what_it_touched_is_read_of_a_large_tenant(
    vector_url: str, ann: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inserted, removed, archived: by this process and by another one."""

    def seen(store: PostgresStore) -> tuple[Any, ...]:
        with store.reader(ann) as reader:
            found = reader.words([term_group("jay")], RecordFilter(statuses=("active", "archived"))).top(500)
            active = reader.words([term_group("jay")], NO_FILTER).top(500)
            return found, active, reader.languages(), reader.counts(), reader.latest(NO_FILTER, 500)

    with (
        closing(PostgresStore(vector_url, large=FORCED)) as store,
        closing(PostgresStore(vector_url)) as other,
    ):
        filled(store, ann)
        enlarged(store, ann)
        write_changes(store, ann, PutMemory(sample_memory("jay", MINE, name="first")))
        texts = [f"jay oak{number} nut{number % 7}" for number in (0, 1, 3)]
        steps = [
            (PutMemory(replace(sample_memory("jay neu", MINE, name="late"), language="de")),),
            (Forget((sample_id(texts[0]),)),),
            (PutLifecycle({sample_id(texts[1]): LifecycleChange("archived")}),),
            (PutLifecycle({sample_id(texts[2]): LifecycleChange(pinned=True)}),),
            (Forget((sample_id("late"),)), PutMemory(sample_memory("jay again", MINE, name="first"))),
        ]
        seen(store)
        for number, changes in enumerate(steps):
            write_changes((store, other)[number % 2], ann, *changes)
            with closing(PostgresStore(vector_url)) as fresh:
                wanted = seen(fresh)
            with told(monkeypatch) as sent:
                assert seen(store) == wanted
            reads = [one for one in sent if "string_agg(int8send(m.num)" in one]
            assert len(reads) == 1
            assert "m.num = ANY" in reads[0]


@pytest.mark.parametrize("how", ["a rebuild", "too much touched", "too many writes", "it was taken away"])
def test_what_is_not_known_of_the_writes_since_makes_all_be_read_again(
    vector_url: str, ann: Scope, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    def active(store: PostgresStore) -> list[str]:
        with store.reader(ann) as reader:
            return [record.id for record in reader.latest(NO_FILTER, 500)]

    with (
        closing(PostgresStore(vector_url, large=FORCED)) as store,
        closing(PostgresStore(vector_url)) as other,
    ):
        filled(store, ann)
        enlarged(store, ann)
        write_changes(other, ann, PutMemory(sample_memory("jay", MINE, name="first")))
        assert len(active(store)) == 81
        if how == "a rebuild":
            with other.rebuild(ann) as rebuild:
                rebuild.write([PutMemory(one) for one in rebuild.additions()[:50]])
        elif how == "too much touched":
            monkeypatch.setattr(tenant_index, "MAX_TOUCHED", 1)
            write_changes(other, ann, *(PutMemory(sample_memory("jay", MINE, name=name)) for name in "ab"))
        elif how == "too many writes":
            monkeypatch.setattr(tenant_index, "MAX_MARKS", 2)
            for name in "abcd":
                write_changes(other, ann, PutMemory(sample_memory("jay", MINE, name=name)))
        else:
            other.drop_index(ann)
        for name in "xy":
            write_changes(other, ann, PutMemory(sample_memory("jay", MINE, name=name)))
        wanted = active(other)
        with told(monkeypatch) as sent:
            assert active(store) == wanted
        assert any("string_agg(int8send(m.num)" in one and "m.num = ANY" not in one for one in sent)


def test_codes_of_tokens_are_left_out_of_the_index_and_cost_no_search(vector_url: str, ann: Scope) -> None:
    with closing(PostgresStore(vector_url, large=FORCED)) as store:
        filled(store, ann)
        late = sample_memory("late", MINE, vectors={TOKEN_MODEL.fingerprint: sample_codes("late", 3)})
        write_changes(store, ann, PutModel(TOKEN_MODEL), PutMemory(late))
        done = store.build_index(ann, lambda progress: None)
        assert done.models == (SMALL_MODEL.name,)
        write_changes(
            store, ann, PutMemory(replace(late, record=replace(late.record, id=sample_id("second"))))
        )
        with store.reader(ann) as reader:
            assert len(reader.vectors(TOKEN_MODEL.fingerprint, [late.record.id, sample_id("second")])) == 2
            assert reader.windows(TOKEN_MODEL.fingerprint) >= 2
    found = rows(
        vector_url, "SELECT count(*) FROM neighbour n JOIN model m ON m.id = n.model WHERE m.name = 'tokens'"
    )
    assert found == [(0,)]


def test_late_vectors_and_dropped_models_are_followed(vector_url: str, ann: Scope) -> None:
    with (
        closing(PostgresStore(vector_url, large=FORCED)) as store,
        closing(PostgresStore(vector_url)) as exact,
    ):
        filled(store, ann)
        write_changes(store, ann, PutModel(OTHER_MODEL))
        enlarged(store, ann)
        text = "jay oak0 nut0"
        with store.reader(ann) as reader:
            (found,) = reader.get([sample_id(text)]).values()
        late = {found.id: (found.content_hash, sample_windows("late", dimensions=12))}
        write_changes(store, ann, PutVectors(OTHER_MODEL.fingerprint, late))
        with store.reader(ann) as one, exact.reader(ann) as other:
            hits = [
                reader.nearest(OTHER_MODEL.fingerprint, sample_vector("late", 12), RecordFilter()).top(3)
                for reader in (one, other)
            ]
        assert hits[0] == hits[1]
        assert [hit.id for hit in hits[0]] == [found.id]
        write_changes(store, ann, DropModel(OTHER_MODEL.fingerprint))
        assert rows(vector_url, "SELECT count(*) FROM neighbour n JOIN model m ON m.id = n.model") == [(120,)]
        assert rows(vector_url, "SELECT count(*) FROM neighbour") == [(120,)]


def test_writers_go_on_while_it_is_made_and_none_of_theirs_is_missing(vector_url: str, ann: Scope) -> None:
    with closing(PostgresStore(vector_url, large=FORCED)) as store:
        filled(store, ann)
        done, wrote = threading.Event(), []

        def others() -> None:
            while not done.is_set() or len(wrote) < 5:
                text = f"jay meanwhile{len(wrote)}"
                vectors = {SMALL_MODEL.fingerprint: sample_windows(text)}
                write_changes(store, ann, PutMemory(sample_memory(text, MINE, name=text, vectors=vectors)))
                wrote.append(nearest(store, ann, text)[0][0] == sample_id(text))

        thread = threading.Thread(target=others)
        thread.start()
        enlarged(store, ann)
        done.set()
        thread.join()
        assert all(wrote)
        assert rows(vector_url, "SELECT count(*) FROM neighbour") == rows(
            vector_url, "SELECT count(*) FROM vector"
        )


def test_what_was_stopped_halfway_is_told_and_goes_on(vector_url: str, ann: Scope) -> None:
    class StoppedError(Exception):
        pass

    def stop(progress: Any) -> None:
        if progress.stage == "vectors":
            raise StoppedError

    with closing(PostgresStore(vector_url, large=FORCED)) as store:
        filled(store, ann)
        with pytest.raises(StoppedError):
            store.build_index(ann, stop)
        assert "read whole" in store.index_hint(ann)
        write_changes(
            store,
            ann,
            PutMemory(sample_memory("then", MINE, vectors={SMALL_MODEL.fingerprint: sample_windows("then")})),
        )
        enlarged(store, ann)
        assert store.index_hint(ann) == ""
        assert rows(vector_url, "SELECT count(*) FROM neighbour") == [(121,)]


def test_two_do_not_make_it_at_once(vector_url: str, ann: Scope) -> None:
    with (
        closing(PostgresStore(vector_url, large=FORCED)) as store,
        closing(PostgresStore(vector_url)) as other,
    ):
        filled(store, ann)
        with pytest.raises(StoreBusyError):
            store.build_index(ann, lambda _: other.drop_index(ann))
        enlarged(other, ann)
        assert store.index_hint(ann) == ""


def test_it_is_taken_away_again_whole(vector_url: str, ann: Scope) -> None:
    with (
        closing(PostgresStore(vector_url, large=FORCED)) as store,
        closing(PostgresStore(vector_url)) as exact,
    ):
        filled(store, ann)
        enlarged(store, ann)
        store.drop_index(ann)
        assert rows(vector_url, BUILT) == []
        assert rows(vector_url, "SELECT count(*) FROM neighbour") == [(0,)]
        assert rows(vector_url, "SELECT count(*) FROM posting") == [(0,)]
        assert nearest(store, ann, "q") == nearest(exact, ann, "q")
        write_changes(
            store,
            ann,
            PutMemory(
                sample_memory("after", MINE, vectors={SMALL_MODEL.fingerprint: sample_windows("after")})
            ),
        )
        assert rows(vector_url, "SELECT count(*) FROM neighbour") == [(0,)]


def test_who_does_not_own_the_tables_is_told_so_and_searches_by_them(vector_url: str, ann: Scope) -> None:
    with closing(PostgresStore(vector_url, large=FORCED)) as owner:
        filled(owner, ann)
        with psycopg.connect(vector_url, autocommit=True) as db:
            db.execute(
                "CREATE ROLE walled LOGIN NOSUPERUSER NOBYPASSRLS; GRANT USAGE ON SCHEMA scrubjay TO walled"
            )
            db.execute(
                "ALTER DEFAULT PRIVILEGES IN SCHEMA scrubjay GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO walled"
            )
            db.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA scrubjay TO walled")
            try:
                url = vector_url.replace("//scrubjay@", "//walled@")
                with closing(PostgresStore(url, large=FORCED)) as store:
                    with pytest.raises(StoreError, match="only the owner"):
                        enlarged(store, ann)
                    enlarged(owner, ann)
                    assert store.row_security_warning() == ""
                    text = "jay of walled"
                    made = sample_memory(
                        text, MINE, name=text, vectors={SMALL_MODEL.fingerprint: sample_windows(text)}
                    )
                    write_changes(store, ann, PutMemory(made))
                    assert nearest(store, ann, text)[0] == (sample_id(text), pytest.approx(1.0, abs=0.02))
                    assert nearest(store, ann, text) == nearest(owner, ann, text)
            finally:
                db.execute("DROP OWNED BY walled; DROP ROLE walled")


def test_a_table_of_neighbours_is_fenced(vector_url: str, ann: Scope) -> None:
    with closing(PostgresStore(vector_url, large=FORCED)) as store:
        filled(store, ann)
        enlarged(store, ann)
    fenced = "SELECT relname FROM pg_class WHERE relforcerowsecurity AND relrowsecurity AND relname = ANY(%s)"
    assert sorted(rows(vector_url, fenced, ["neighbour", "posting"])) == [("neighbour",), ("posting",)]
    assert rows(
        vector_url,
        "SELECT tablename FROM pg_policies WHERE tablename = 'neighbour' AND with_check IS NOT NULL",
    )


def test_a_tenant_that_is_not_there_and_a_store_that_needs_none_say_so(
    vector_url: str, tmp_path: Path
) -> None:
    with (
        closing(PostgresStore(vector_url)) as store,
        pytest.raises(StoreError, match="holds nothing of tenant"),
    ):
        enlarged(store, Scope("nobody", "ann"))
    for url in (str(tmp_path / "a.db"), "memory://"):
        with closing(open_store(url)) as store, pytest.raises(InputError, match="Only a PostgreSQL store"):
            store.drop_index(Scope("a", "ann"))
