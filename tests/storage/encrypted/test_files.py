"""What lies on the disk says nothing without its key, whatever is done; and no key, or a wrong one, loses nothing."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest

from scrubjay import Memory, NewMemory
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import InputError, StoreDamagedError, StoreError
from scrubjay.models.records import NO_FILTER, Scope
from scrubjay.storage.changes import PutMemory, PutModel
from scrubjay.storage.sqlite import vectors
from scrubjay.storage.sqlite.connection import EncryptionKey
from scrubjay.storage.sqlite.maintenance import check_integrity
from scrubjay.storage.sqlite.store import SQLiteStore
from scrubjay.storage.urls import open_store
from store_contract.answers import all_answers
from store_contract.history import StoreHistory
from store_contract.samples import SMALL_MODEL, sample_memory, sample_windows, write_changes
from store_contract.sqlite_check import disagreements

WORD = "xylophonist"
TEXT = f"The {WORD} of the marching band lives in Valparaiso."
ANN = Scope("t", "ann")
WRITER = """
import sys
from pathlib import Path
from scrubjay.storage.urls import open_store
from store_contract.history import StoreHistory
store, history = open_store(sys.argv[1], b"history"), StoreHistory(int(sys.argv[2]), "t")
for number, (scope, changes) in enumerate(history.steps(400), 1):
    store.write(scope, changes)
    print(number, flush=True)
"""


def url(path: Path, key_file: Path) -> str:
    return f"sqlite:///{path}?key_file={quote(str(key_file))}"


def opened(path: Path, key_file: Path) -> Memory:
    return Memory.open(url(path, key_file), user="ann", embedders=[HashEmbedder()])


def told_on_disk(folder: Path, word: str = WORD) -> list[str]:
    """Return the files in which a word stands, in whatever case."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    return [file.name for file in files if word.encode() in file.read_bytes().lower()]


def test_nothing_on_the_disk_says_what_is_stored_while_it_is_open_and_after(
    tmp_path: Path, key_file: Path
) -> None:
    with opened(tmp_path / "m.db", key_file) as memories:
        memories.add(TEXT, title=WORD)
        memories.consolidate()
        assert (tmp_path / "m.db-wal").stat().st_size > 0
        assert told_on_disk(tmp_path) == []
        assert memories.search(WORD).results[0].snippet == TEXT
    assert told_on_disk(tmp_path) == []
    with opened(tmp_path / "m.db", key_file) as memories:
        assert memories.search(WORD).results[0].title == WORD
    with (
        opened(tmp_path / "m.db", key_file) as memories,
        Memory.open(tmp_path / "plain.db", user="ann") as plain,
    ):
        plain.add(TEXT)
        assert told_on_disk(tmp_path) != []  # so would it be told
        assert memories.status().store == url(tmp_path / "m.db", key_file)


def test_an_encrypted_file_is_opened_by_its_own_key_alone_and_left_as_it_is(
    tmp_path: Path, key_file: Path, other_key: Path
) -> None:
    path = tmp_path / "m.db"
    with opened(path, key_file) as memories:
        memories.add(TEXT)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"cannot be opened with the key in .*other.*Nothing was written"):
        opened(path, other_key)
    with pytest.raises(StoreDamagedError, match="encrypted") as error:
        Memory.open(path, user="ann")
    assert f"sqlite:///{path}?key_file=FILE" in error.value.hint
    assert path.read_bytes() == before
    with opened(path, key_file) as memories:
        assert memories.search(WORD).results


def test_a_file_that_is_not_encrypted_is_not_opened_with_a_key(tmp_path: Path, key_file: Path) -> None:
    path = tmp_path / "m.db"
    with Memory.open(path, user="ann", embedders=[HashEmbedder()]) as memories:
        memories.add(TEXT)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="is not encrypted") as error:
        opened(path, key_file)
    assert "scrubjay copy" in error.value.hint
    assert path.read_bytes() == before


def test_a_copy_encrypts_what_was_not_and_gives_another_key(
    tmp_path: Path, key_file: Path, other_key: Path
) -> None:
    plain, first, second = tmp_path / "plain.db", tmp_path / "first.db", tmp_path / "second.db"
    with Memory.open(plain, user="ann", embedders=[HashEmbedder()]) as memories:
        memories.add(TEXT)
    for source, target in (
        (str(plain), url(first, key_file)),
        (url(first, key_file), url(second, other_key)),
    ):
        done = run(tmp_path, "copy", source, target)
        assert done.returncode == 0, done.stderr
    plain.unlink()
    assert told_on_disk(tmp_path) == []
    with opened(second, other_key) as memories:
        assert memories.search(WORD).results[0].snippet == TEXT


def test_a_backup_is_encrypted_with_the_same_key_and_doctor_finds_both_whole(
    tmp_path: Path, key_file: Path, cipher: EncryptionKey
) -> None:
    path, copy = tmp_path / "m.db", tmp_path / "copy.db"
    with opened(path, key_file) as memories:
        memories.add_many(NewMemory(f"{TEXT} {number}") for number in range(200))
        memories.backup(copy)
        memories.add("written after it")
    assert told_on_disk(tmp_path) == []
    with opened(copy, key_file) as memories:
        assert memories.status().memories == 200
    for file in (path, copy):
        assert disagreements(file, cipher) == []
        assert check_integrity(file, 10, cipher).faults == ()
        looked = run(tmp_path, "doctor", store=url(file, key_file))
        assert "no fault" in looked.stdout, looked.stdout + looked.stderr
    with pytest.raises(StoreDamagedError, match="encrypted"):
        check_integrity(path, 10)


def test_no_vectors_lie_beside_a_large_encrypted_store(
    tmp_path: Path, cipher: EncryptionKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "LARGE_TABLE", 10)
    rows = [
        PutMemory(
            sample_memory(
                f"jay {n}",
                "user:ann",
                name=f"m{n}",
                vectors={SMALL_MODEL.fingerprint: sample_windows(f"jay {n}")},
            )
        )
        for n in range(20)
    ]
    query = sample_windows("jay").data[0].astype("f4")
    found = []
    for name, given in (("with.db", cipher), ("without.db", None)):
        with closing(SQLiteStore(tmp_path / name, b"k", key=given)) as store:
            write_changes(store, ANN, PutModel(SMALL_MODEL), *rows)
            with store.reader(ANN) as reader:
                found.append(len(reader.nearest(SMALL_MODEL.fingerprint, query, NO_FILTER).top(5)))
    assert [folder.name for folder in tmp_path.glob("*-vectors")] == ["without.db-vectors"]
    assert found == [5, 5]


@pytest.mark.parametrize("seed", range(3))
def test_a_writer_killed_at_any_moment_leaves_every_committed_step_whole(
    tmp_path: Path, key_file: Path, cipher: EncryptionKey, seed: int
) -> None:
    path, chance = tmp_path / "m.db", random.Random(seed)
    command = [sys.executable, "-W", "error", "-c", WRITER, url(path, key_file), str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(chance.randrange(1, 80))]
        process.kill()
        rest = process.stdout.read().split("\n")[:-1]
    told = int([*lines, *rest][-1])
    assert disagreements(path, cipher) == []
    history = StoreHistory(seed, "t")
    assert len(list(history.steps(told))) == told
    questions = [history.question() for _ in range(5)]

    def answers(store: object) -> list[object]:
        return [all_answers(store, scope, questions, ()) for scope in history.users]  # type: ignore[arg-type]

    with closing(open_store(url(path, key_file))) as store:
        found = answers(store)
    if found != answers(history.reference):
        list(history.steps(1))  # committed, and killed before it could tell
        assert found == answers(history.reference)


def test_an_url_that_asks_for_something_else_is_refused(tmp_path: Path, key_file: Path) -> None:
    for asked in ("key=x", "key_file=", f"key_file={key_file}&mode=ro"):
        with pytest.raises(InputError, match="options other than key_file"):
            Memory.open(f"sqlite:///{tmp_path}/m.db?{asked}", user="ann")
    assert list(tmp_path.glob("m.db*")) == []


def run(home: Path, *arguments: str, store: str = "memory://") -> subprocess.CompletedProcess[str]:
    """Run a command line as somebody who has no settings."""
    homes = {f"XDG_{name}_HOME": str(home / "home") for name in ("DATA", "CONFIG", "CACHE", "STATE")}
    return subprocess.run(
        [sys.executable, "-m", "scrubjay", *arguments],
        env={**os.environ, **homes, "HOME": str(home / "home"), "SCRUBJAY_STORE": store},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_a_lost_key_of_an_existing_store_is_to_be_restored_and_that_of_a_new_one_made(
    tmp_path: Path,
) -> None:
    path = tmp_path / "memories.db"
    path.write_bytes(b"encrypted")
    for store, hint in ((path, "restore the copy of the store's key"), (tmp_path / "new.db", "openssl rand")):
        with pytest.raises(InputError, match="cannot be read") as error:
            open_store(url(store, tmp_path / "nokey"))
        assert hint in error.value.hint
