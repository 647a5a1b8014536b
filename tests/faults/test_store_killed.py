"""A process that dies at any moment of a write leaves a sound store with every committed step, whole."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay.models.records import Scope
from scrubjay.storage.changes import Forget, PreparedMemory, PutDocument, PutMemory
from scrubjay.storage.sqlite.store import SQLiteStore
from scrubjay.text.tokenizer import index_terms
from store_contract.answers import SampleQuestion, all_answers
from store_contract.history import StoreHistory
from store_contract.samples import sample_id, sample_memory, write_changes
from store_contract.sqlite_check import disagreements

WRITER = Path(__file__).with_name("writer.py")
ROUNDS = 2
"""Rounds unless `--rounds` asks for more; a thousand take about half an hour."""
STEPS = 400
TENANT = "faults"


@contextmanager
def writing(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    """Start a writer and wait until it is ready; it is killed at the end of the block if it still lives."""
    command = [sys.executable, "-W", "error", str(WRITER), *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() in ("ready\n", "done\n")
            yield process
        finally:
            process.kill()


def killed(process: subprocess.Popen[str], chance: random.Random, most: int) -> int:
    """Kill a writer with SIGKILL at a random moment; return the last step it told."""
    assert process.stdout is not None
    told = 0
    for _ in range(chance.randrange(most)):
        if line := process.stdout.readline():
            told = int(line)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(chance.random() * 0.02)
    process.kill()
    rest = process.stdout.read().split("\n")
    whole = [line for line in rest[:-1] if line]  # the last line may be cut
    return int(whole[-1]) if whole else told


def answers(store: SQLiteStore, history: StoreHistory, questions: list[SampleQuestion]) -> list[object]:
    return [all_answers(store, scope, questions, ("deploymnt",)) for scope in history.users]


def test_a_writer_killed_at_any_moment_leaves_every_committed_step_whole(
    tmp_path: Path, rounds: int | None
) -> None:
    """The store answers as the reference does that lived as long: not a step less, and no half of one."""
    chance = random.Random(20)
    for number in range(rounds or ROUNDS):
        path = tmp_path / f"{number}.db"
        with writing("live", path, number, STEPS) as process:
            told = killed(process, chance, 60)
        assert disagreements(path) == []
        history = StoreHistory(number, TENANT)
        assert len(list(history.steps(told))) == told
        questions = [history.question() for _ in range(5)]
        reopened = SQLiteStore(path, b"history")
        found = answers(reopened, history, questions)
        if found != answers_of(history, questions):
            list(history.steps(1))  # committed, and killed before it could tell
            assert found == answers_of(history, questions), f"round {number}, step {told}"
        write_changes(reopened, history.users[0], PutMemory(sample_memory("goes on", "public")))
        reopened.close()
        assert disagreements(path) == []


def answers_of(history: StoreHistory, questions: list[SampleQuestion]) -> list[object]:
    return [all_answers(history.reference, scope, questions, ("deploymnt",)) for scope in history.users]


def test_a_rebuild_killed_at_any_moment_leaves_a_whole_generation(tmp_path: Path, rounds: int | None) -> None:
    """The one before or the one after, which hold the same here; what was left goes with the next."""
    path = tmp_path / "memories.db"
    history = StoreHistory(3, TENANT)
    store = SQLiteStore(path, b"history")
    for scope, changes in history.steps(120):
        store.write(scope, changes)
    with store.rebuild(history.users[0]) as generation:  # once whole, so that terms are those of the texts
        for document in generation.documents():
            generation.write([PutDocument(document, tuple(map(counted, generation.passages(document))))])
        generation.write([PutMemory(counted(added)) for added in generation.additions()])
    questions = [history.question() for _ in range(8)]
    before = answers(store, history, questions)
    store.close()
    chance = random.Random(21)
    for number in range(rounds or ROUNDS):
        with writing("rebuild", path) as process:
            killed(process, chance, 3)
        assert disagreements(path) == []
        again = SQLiteStore(path)
        assert answers(again, history, questions) == before, f"round {number}"
        again.close()


def counted(kept: PreparedMemory) -> PreparedMemory:
    return replace(kept, terms=index_terms(kept.record.content))


def test_what_a_killed_rebuild_left_is_forgotten_too(tmp_path: Path) -> None:
    """A copy in a generation that never answered is no excuse for a text to outlive its being forgotten."""
    path = tmp_path / "memories.db"
    ann = Scope(TENANT, "ann")
    store = SQLiteStore(path, b"history")
    secret = "zygomaticus horribilis"
    write_changes(
        store, ann, *(PutMemory(sample_memory(f"{secret} {i}", "user:ann", name=f"m{i}")) for i in range(300))
    )
    store.close()
    with writing("half", path) as process:
        process.kill()
    store = SQLiteStore(path)
    with store.reader(ann) as reader:
        assert reader.counts().memories == 300
    write_changes(store, ann, Forget(tuple(sample_id(f"m{i}") for i in range(300))))
    left = [file.name for file in tmp_path.iterdir() if b"zygomat" in file.read_bytes()]
    assert left == []
    store.close()


def test_processes_and_threads_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    """The first of them makes the store; each write is there whole."""
    path = tmp_path / "memories.db"
    processes, threads, count = 2, 2, 12
    command = [sys.executable, "-W", "error", str(WRITER), "add", str(path)]
    each = [[*command, f"process{number}", str(threads), str(count)] for number in range(processes)]
    running = [subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) for arguments in each]
    assert [process.communicate()[0] for process in running] == ["done\n"] * processes
    assert [process.returncode for process in running] == [0] * processes
    assert disagreements(path) == []
    store = SQLiteStore(path)
    with store.reader(Scope(TENANT, "ann")) as reader:
        found = reader.get(reader.ids_with_prefix("", 10_000))
    texts = {record.content for record in found.values()}
    assert texts == {
        f"process{process} {thread} {number} {side}"
        for process in range(processes)
        for thread in range(threads)
        for number in range(count)
        for side in ("left", "right")
    }
    store.close()
