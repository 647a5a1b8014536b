"""What the system does to a store's file: each fault is told clearly, and what was stored stays."""

from __future__ import annotations

import os
import pwd
import resource
import shutil
import sqlite3
import stat
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import pytest
from disk import Fault, faulty
from starlette.testclient import TestClient

from scrubjay import Memory
from scrubjay.api.auth import Principal
from scrubjay.config.settings import Settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import (
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreReadOnlyError,
    StoreVersionError,
)
from scrubjay.models.records import Scope
from scrubjay.storage.changes import Forget, PutMemory, PutModel
from scrubjay.storage.sqlite import vectors
from scrubjay.storage.sqlite.lock import writer_turn
from scrubjay.storage.sqlite.store import SQLiteStore
from store_contract.answers import EVERY_STATUS, SampleQuestion, all_answers
from store_contract.samples import (
    SMALL_MODEL,
    sample_id,
    sample_memory,
    sample_vector,
    sample_windows,
    term_group,
    write_changes,
)
from store_contract.sqlite_check import disagreements
from surfaces.http_here import SCOPES, asking, bearer, held, refused

ANN = Scope("t", "ann")
MINE = "user:ann"
QUESTIONS = [
    SampleQuestion((term_group("jay"),), sample_vector("jay"), SMALL_MODEL.fingerprint, EVERY_STATUS, 50)
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memories.db"


@pytest.fixture
def store(path: Path) -> Iterator[SQLiteStore]:
    """A store of forty memories, whose writers soon give up waiting."""
    made = SQLiteStore(path, b"secret", patience=0.05)
    write_changes(made, ANN, PutModel(SMALL_MODEL))
    for number in range(4):
        texts = [f"jay {number} {i}" for i in range(10)]
        write_changes(
            made,
            ANN,
            *(
                PutMemory(
                    sample_memory(t, MINE, name=t, vectors={SMALL_MODEL.fingerprint: sample_windows(t)})
                )
                for t in texts
            ),
        )
    yield made
    made.close()


def answers(store: SQLiteStore) -> dict[str, object]:
    return all_answers(store, ANN, QUESTIONS, ("jya",))


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """What a full disk does to a file that must grow."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("spare", [0, 3_000, 40_000, 200_000])
def test_a_full_disk_is_told_and_the_earlier_state_answers(
    store: SQLiteStore, path: Path, spare: int
) -> None:
    before = answers(store)
    large = [PutMemory(sample_memory(f"jay {i} " + os.urandom(4_000).hex(), MINE)) for i in range(60)]
    room = max(file.stat().st_size for file in path.parent.iterdir()) + spare
    with no_file_larger_than(room):
        with pytest.raises(StoreError, match=r"Nothing of this write was stored|Nothing was written") as told:
            write_changes(store, ANN, *large)
        assert type(told.value) is StoreError, StoreReadOnlyError
        assert told.value.hint
        assert answers(store) == before
    write_changes(store, ANN, large[0])
    assert disagreements(path) == []
    with store.reader(ANN) as reader:
        assert reader.counts().memories == 41


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    names = {
        "XDG_CONFIG_HOME": tmp_path / "config",
        "XDG_DATA_HOME": tmp_path / "data",
        "SCRUBJAY_STORE": tmp_path / "memories.db",
    }
    for name, value in names.items():
        monkeypatch.setenv(name, str(value))
    return {name: str(value) for name, value in names.items()}


def test_a_server_on_a_full_disk_says_so_to_everybody_and_in_its_log(environ: dict[str, str]) -> None:
    writer = bearer(held(environ), "writer", Principal("default", "bo", scopes=SCOPES["write"]))
    with faulty() as disk, asking(environ) as client:
        assert client.post("/v1/memories", json={"content": "Before."}).status_code == 201
        disk.fault = Fault("write", 0, full=True, lasting=True)
        said = client.post("/v1/memories", json={"content": "During."}, headers=writer)
        assert (
            refused(said, 503) == "The disk that holds the store is full. Nothing of this write was stored."
        )
        disk.fault = None
    (line,) = (Path(environ["XDG_DATA_HOME"]) / "scrubjay" / "log").read_text().splitlines()
    assert '"error": "StoreFullError"' in line


def written(client: TestClient) -> tuple[int, str]:
    """Return what is answered to a load balancer and to Prometheus."""
    lines = client.get("/metrics").raise_for_status().text.splitlines()
    (value,) = [line for line in lines if line.startswith("scrubjay_store_writable ")]
    return client.get("/readyz").status_code, value.rpartition(" ")[2]


def test_a_server_that_cannot_write_is_not_ready_until_it_can(environ: dict[str, str]) -> None:
    with asking(environ) as client:
        assert client.post("/v1/memories", json={"content": "Before."}).status_code == 201
        assert written(client) == (200, "1.0")
        with no_file_larger_than(1_000):
            assert written(client) == (503, "0.0")
            assert "File too large" in refused(client.get("/readyz"), 503)
        assert written(client) == (200, "1.0")


def test_a_full_disk_during_a_rebuild_leaves_the_current_generation(store: SQLiteStore, path: Path) -> None:
    before = answers(store)
    large = [PutMemory(sample_memory(f"jay {i} " + os.urandom(4_000).hex(), MINE)) for i in range(60)]
    room = max(file.stat().st_size for file in path.parent.iterdir()) + 40_000
    with no_file_larger_than(room), pytest.raises(StoreError), store.rebuild(ANN) as rebuild:
        rebuild.write(large)
    assert answers(store) == before
    with store.rebuild(ANN) as rebuild:
        rebuild.write(large[:5])
    with store.reader(ANN) as reader:
        assert reader.counts().memories == 5
    assert disagreements(path) == []


def test_a_search_of_a_large_store_on_a_full_disk_does_without_its_files(
    store: SQLiteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are there to be shared between processes; where they cannot be made, each has its own copy."""
    monkeypatch.setattr(vectors, "LARGE_TABLE", 1)
    with no_file_larger_than(10):
        full = answers(store)
    assert list(path.parent.glob("memories.db-vectors/*")) == []
    with closing(SQLiteStore(path)) as again:
        assert answers(again) == full
    assert list(path.parent.glob("memories.db-vectors/*.vec"))


def test_a_store_held_by_another_program_is_busy_and_can_be_read(store: SQLiteStore, path: Path) -> None:
    before = answers(store)
    # By the same library: a second one in this process would not see the first one's locks.
    with closing(apsw.Connection(str(path))) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreBusyError, match=r"locked by another program\. Nothing was written") as told:
            write_changes(store, ANN, PutMemory(sample_memory("jay new", MINE)))
        assert told.value.hint
        with pytest.raises(StoreBusyError), store.rebuild(ANN):
            pass
        assert answers(store) == before
        other.execute("ROLLBACK")
    write_changes(store, ANN, PutMemory(sample_memory("jay new", MINE)))


def test_a_writer_that_takes_its_time_makes_the_next_one_busy(store: SQLiteStore, path: Path) -> None:
    second = SQLiteStore(path, patience=0.05)
    with store.rebuild(ANN) as rebuild:
        with pytest.raises(StoreBusyError, match="Another writer has held"):
            write_changes(second, ANN, PutMemory(sample_memory("jay new", MINE)))
        assert answers(second) == answers(store)
        rebuild.write([PutMemory(sample_memory("jay rebuilt", MINE))])
    write_changes(second, ANN, PutMemory(sample_memory("jay new", MINE)))
    with store.reader(ANN) as reader:
        assert reader.counts().memories == 2
    second.close()


def test_a_folder_in_place_of_the_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be") as told:
        SQLiteStore(tmp_path)
    assert str(tmp_path) in str(told.value)
    with pytest.raises(StoreError, match="cannot be opened"):
        SQLiteStore(tmp_path / "file" / "below.db" if (tmp_path / "file").write_text("") == 0 else tmp_path)


@pytest.mark.parametrize(
    "garbage", [b"not a database, but long enough to be one" * 99, b"x", b"SQLite format 3\x00"]
)
def test_a_file_that_is_no_store_is_told_and_not_touched(path: Path, garbage: bytes) -> None:
    path.write_bytes(garbage)
    with pytest.raises(StoreDamagedError, match=r"is not a store|is damaged") as told:
        SQLiteStore(path)
    assert told.value.hint
    assert path.read_bytes() == garbage


def test_another_applications_database_is_told_and_not_touched(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE theirs (x)")
        other.commit()
    before = path.read_bytes()
    with pytest.raises(StoreDamagedError, match="not a scrubjay store"):
        SQLiteStore(path)
    assert path.read_bytes() == before


def test_a_newer_schema_is_told_and_not_touched(store: SQLiteStore, path: Path) -> None:
    store.close()
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    with pytest.raises(StoreVersionError, match="has schema 99") as told:
        SQLiteStore(path)
    assert "upgrade" in told.value.hint
    assert path.read_bytes() == before


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.95])
def test_a_truncated_file_is_damaged(store: SQLiteStore, path: Path, share: float) -> None:
    store.close()
    os.truncate(path, int(path.stat().st_size * share))

    def use() -> None:
        with closing(SQLiteStore(path)) as opened:
            answers(opened)
            write_changes(
                opened, ANN, Forget(tuple(sample_id(f"jay {n} {i}") for n in range(4) for i in range(10)))
            )

    with pytest.raises(StoreDamagedError, match="is damaged"):
        use()


def test_overwritten_pages_are_damage_or_harmless_but_never_a_crash(store: SQLiteStore, path: Path) -> None:
    store.close()
    whole = path.read_bytes()
    for page in range(1, len(whole) // 8192):
        spoilt = path.with_name(f"spoilt{page}.db")
        spoilt.write_bytes(whole[: page * 8192] + os.urandom(8192) + whole[page * 8192 + 8192 :])
        try:
            with closing(SQLiteStore(spoilt)) as opened:
                answers(opened)
        except StoreError:
            continue
        finally:
            for left in path.parent.glob(f"{spoilt.name}*"):
                left.unlink()


def test_a_store_removed_while_open_takes_no_write_that_would_be_lost(store: SQLiteStore, path: Path) -> None:
    for file in path.parent.iterdir():
        file.unlink()
    with pytest.raises(StoreError, match="was moved or removed") as told:
        write_changes(store, ANN, PutMemory(sample_memory("jay lost", MINE)))
    assert told.value.hint
    with pytest.raises(StoreError, match="was moved or removed"), store.reader(ANN):
        pass
    assert not path.exists()


def test_a_store_replaced_while_open_is_told(store: SQLiteStore, path: Path, tmp_path: Path) -> None:
    other = SQLiteStore(tmp_path / "other.db")
    write_changes(other, ANN, PutMemory(sample_memory("jay other", MINE)))
    other.close()
    shutil.move(tmp_path / "other.db", path)
    with pytest.raises(StoreError, match="was moved or removed"):
        write_changes(store, ANN, PutMemory(sample_memory("jay lost", MINE)))


def test_files_of_a_removed_stores_vectors_are_not_the_new_ones(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may outlive the store that they were made from."""
    monkeypatch.setattr(vectors, "LARGE_TABLE", 1)

    def nearest(text: str) -> float:
        with closing(SQLiteStore(path)) as opened:
            write_changes(opened, ANN, PutModel(SMALL_MODEL))
            write_changes(
                opened,
                ANN,
                PutMemory(
                    sample_memory(
                        "m", MINE, name="m", vectors={SMALL_MODEL.fingerprint: sample_windows(text)}
                    )
                ),
            )
            with opened.reader(ANN) as reader:
                (hit,) = reader.nearest(SMALL_MODEL.fingerprint, sample_vector("one"), EVERY_STATUS).top(5)
            return hit.score

    assert nearest("one") > 0.98
    path.unlink()
    assert nearest("two") < 0.9


def test_a_new_store_opened_by_many_at_once_is_made_once(path: Path) -> None:
    gate = threading.Barrier(8)

    def open_it(number: int) -> None:
        gate.wait()
        with closing(SQLiteStore(path)) as opened:
            write_changes(opened, ANN, PutMemory(sample_memory(f"jay {number}", MINE)))

    with ThreadPoolExecutor(8) as pool:
        for opening in [pool.submit(open_it, number) for number in range(8)]:
            opening.result()
    assert disagreements(path) == []
    with closing(SQLiteStore(path)) as opened, opened.reader(ANN) as reader:
        assert reader.counts().memories == 8


def test_a_store_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "deeper" / "memories.db"
    with closing(SQLiteStore(path)) as opened:
        write_changes(opened, ANN, PutMemory(sample_memory("jay", MINE)))
        for file in path.parent.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_what_was_forgotten_is_in_no_file(store: SQLiteStore, path: Path) -> None:
    """Neither in a free page, nor in the log, nor in an older copy of the memory."""
    for text in ("zygomaticus minor", "zygomaticus major", "zygomaticus maximus"):
        write_changes(store, ANN, PutMemory(sample_memory(text, MINE, name="told", title=text, tags=(text,))))
    store.close()
    found = [file.name for file in path.parent.iterdir() if b"zygomat" in file.read_bytes()]
    assert found == [path.name]
    again = SQLiteStore(path)
    write_changes(again, ANN, Forget((sample_id("told"),)))
    assert [file.name for file in path.parent.iterdir() if b"zygomat" in file.read_bytes()] == []
    again.close()


def test_a_view_that_is_open_only_delays_the_wiping(store: SQLiteStore, path: Path) -> None:
    write_changes(store, ANN, PutMemory(sample_memory("zygomaticus", MINE, name="told")))
    with store.reader(ANN) as reader:
        write_changes(store, ANN, Forget((sample_id("told"),)))
        assert reader.get([sample_id("told")])
    write_changes(store, ANN)
    assert [file.name for file in path.parent.iterdir() if b"zygomat" in file.read_bytes()] == []


@contextmanager
def guest() -> Iterator[Path]:
    """Enter a new folder as somebody whom modes stop: root is stopped by none, so root becomes nobody."""
    root = os.geteuid() == 0
    with tempfile.TemporaryDirectory(prefix="sj-") as folder:
        path = Path(folder)
        if root:
            groups, nobody = os.getgroups(), pwd.getpwnam("nobody")
            os.chown(path, nobody.pw_uid, nobody.pw_gid)
            os.setgroups([])
            os.setresuid(nobody.pw_uid, nobody.pw_uid, 0)
        try:
            yield path
        finally:
            if root:
                os.setresuid(0, 0, 0)
                os.setgroups(groups)
            path.chmod(0o700)


def made_in(folder: Path) -> Path:
    path = folder / "memories.db"
    with closing(SQLiteStore(path)) as made:
        write_changes(made, ANN, PutMemory(sample_memory("jay", MINE)))
    return path


def test_a_read_only_file_is_read_and_refuses_writes() -> None:
    with guest() as folder:
        path = made_in(folder)
        path.chmod(0o444)
        with closing(SQLiteStore(path)) as opened:
            with opened.reader(ANN) as reader:
                assert reader.counts().memories == 1
            with pytest.raises(StoreError, match=r"is read-only\. Nothing was written") as told:
                write_changes(opened, ANN, PutMemory(sample_memory("jay new", MINE)))
            assert "check their owner and mode" in told.value.hint
        path.chmod(0o600)
        with closing(SQLiteStore(path)) as opened:
            write_changes(opened, ANN, PutMemory(sample_memory("jay new", MINE)))


def test_a_server_of_a_read_only_store_is_ready_for_searches_and_says_so(environ: dict[str, str]) -> None:
    with asking(environ) as client:  # imports what a guest may not read
        assert written(client) == (200, "1.0")
    with guest() as folder, pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
            patch.setenv(name, str(folder / name))
        patch.setenv("SCRUBJAY_STORE", str(folder / "memories.db"))
        path = made_in(folder)
        with asking({"XDG_CONFIG_HOME": str(folder)}) as client:
            assert client.post("/v1/memories", json={"content": "A jay sings."}).status_code == 201
        path.chmod(0o444)
        with asking({"XDG_CONFIG_HOME": str(folder)}) as client:
            assert written(client) == (200, "0.0")
            assert client.get("/readyz").json() == {"status": "read-only"}
            assert client.post("/v1/search", json={"query": "jay"}).json()["results"]
            assert "is read-only" in refused(client.post("/v1/memories", json={"content": "New."}), 503)
            path.chmod(0o600)
            assert written(client) == (200, "1.0")
            assert client.get("/readyz").json() == {"status": "ready"}


def test_a_memory_of_a_read_only_file_is_read_by_its_id() -> None:
    with guest() as folder:
        path = made_in(folder)
        path.chmod(0o444)
        with Memory.open(
            path, user="ann", tenant="t", settings=Settings(), embedders=[HashEmbedder(64)]
        ) as opened:
            with opened.workspace.store.reader(opened.workspace.scope) as reader:
                (one,) = reader.ids_with_prefix("", 9)
            (found,) = opened.get(one).records
            assert (found.content, opened.history(one).memory.last_used) == ("jay", None)


def test_a_store_in_a_read_only_folder_is_read_and_refuses_writes() -> None:
    with guest() as folder:
        path = made_in(folder)
        folder.chmod(0o555)
        with closing(SQLiteStore(path)) as opened:
            with opened.reader(ANN) as reader:
                assert reader.counts().memories == 1
            with pytest.raises(StoreReadOnlyError, match="Nothing was written"):
                write_changes(opened, ANN, PutMemory(sample_memory("jay new", MINE)))
        with pytest.raises(StoreError, match="cannot be opened"):
            SQLiteStore(folder / "new.db")
        folder.chmod(0o700)
        with closing(SQLiteStore(path)) as opened:
            write_changes(opened, ANN, PutMemory(sample_memory("jay new", MINE)))


def test_a_search_in_a_read_only_folder_answers_and_says_what_it_could_not_read_in(path: Path) -> None:
    with Memory.open(path, user="ann", settings=Settings(), embedders=[HashEmbedder(64)]) as opened:
        opened.add("We sailed to Bornholm.")  # loads what a guest may not read
    with guest() as folder:
        path, notes = folder / "kept" / "memories.db", folder / "notes"
        notes.mkdir()
        (notes / "log.md").write_text("# Log\n\nWe sailed to Bornholm.\n")
        os.utime(notes / "log.md", (1_700_000_000, 1_700_000_000))  # a file just written is looked at again
        with Memory.open(path, user="ann", settings=Settings(), embedders=[HashEmbedder(64)]) as opened:
            opened.sync(notes)
        path.parent.chmod(0o555)
        try:
            with Memory.open(path, user="ann", settings=Settings(), embedders=[HashEmbedder(64)]) as opened:
                found = opened.search("Bornholm")
                assert len(found.results) == 1
                assert found.partial == ()
                (notes / "new.md").write_text("# Kayak\n\nThe kayak leaks.\n")
                found = opened.search("Bornholm")
                assert len(found.results) == 1
                assert found.partial == (
                    "Files changed, but the store is read-only: results may be out of date.",
                )
                with pytest.raises(StoreReadOnlyError, match="Nothing was written"):
                    opened.add("the kayak leaks")
        finally:
            path.parent.chmod(0o700)


def test_a_file_of_somebody_elses_is_told() -> None:
    with guest() as folder:
        path = made_in(folder)
        path.chmod(0o000)
        with pytest.raises(StoreError) as told:
            SQLiteStore(path)
        assert str(path) in str(told.value)
        assert told.value.hint


def test_a_store_whose_turn_another_holds_is_busy_and_free_again_after(path: Path) -> None:
    with closing(SQLiteStore(path)) as store:
        with writer_turn(path):
            assert store.busy(ANN, patience=0.01)
        assert not store.busy(ANN)
