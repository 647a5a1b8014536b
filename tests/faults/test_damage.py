"""A file or a log that is not what was written: the committed beginning answers, or an error of ours, never a crash."""

from __future__ import annotations

import random
import shutil
from contextlib import closing
from pathlib import Path

import pytest
from test_power_lost import ANN, STEPS, State, changes, held

from scrubjay.errors import ScrubjayError
from scrubjay.storage.changes import PutModel
from scrubjay.storage.sqlite.store import SQLiteStore
from store_contract.answers import EVERY_STATUS, SampleQuestion, all_answers
from store_contract.samples import SMALL_MODEL, sample_vector, term_group
from store_contract.sqlite_check import disagreements

CUTS = 40
"""Lengths of the log, and places of damage, that are tried in a round."""
QUESTIONS = [
    SampleQuestion(
        (term_group("jay"), term_group("nut")),
        sample_vector("jay"),
        SMALL_MODEL.fingerprint,
        EVERY_STATUS,
        50,
    )
]


@pytest.fixture
def live(quick: Path) -> tuple[Path, list[State]]:
    """A store as a process leaves it that was killed, most of it in the log, and what it held after each step."""
    path = quick / "live.db"
    store = SQLiteStore(path, b"secret")
    states: list[State] = [held(store)]
    for step in range(STEPS):
        if step % 8 == 6:
            continue  # a forget empties the log
        store.write(ANN, changes(step) if step else [PutModel(SMALL_MODEL), *changes(step)])
        states.append(held(store))
    for name in ("live.db", "live.db-wal"):
        shutil.copy(quick / name, quick / f"left-{name}")
    store.close()
    return quick / "left-live.db", states


def copied(path: Path, log: bytes) -> Path:
    """Return a copy of a store, with this log beside it."""
    copy = path.with_name("copy.db")
    for left in path.parent.glob("copy.db*"):
        left.unlink()
    shutil.copy(path, copy)
    copy.with_name("copy.db-wal").write_bytes(log)
    return copy


def test_a_log_cut_at_any_byte_leaves_the_commits_before_it(
    live: tuple[Path, list[State]], rounds: int | None, seed: int
) -> None:
    path, states = live
    log = path.with_name("left-live.db-wal").read_bytes()
    chance = random.Random(seed)
    reached = []
    for cut in [*sorted(chance.sample(range(len(log)), min(CUTS * (rounds or 1), len(log)))), len(log)]:
        copy = copied(path, log[:cut])
        store = SQLiteStore(copy, b"secret")
        found = held(store)
        assert found in states, f"cut at {cut} of {len(log)}: {sorted(found)}"
        reached.append(states.index(found))
        assert disagreements(copy) == [], f"cut at {cut} of {len(log)}"
        store.close()
    assert reached == sorted(reached)
    assert reached[-1] == len(states) - 1
    assert len(set(reached)) > len(states) // 2


def test_a_log_with_rubbish_in_it_leaves_the_commits_before_the_rubbish(
    live: tuple[Path, list[State]], rounds: int | None, seed: int
) -> None:
    path, states = live
    log = path.with_name("left-live.db-wal").read_bytes()
    chance = random.Random(seed)
    for _ in range(CUTS * (rounds or 1)):
        place, length = chance.randrange(len(log)), chance.choice((1, 8, 512, 4096))
        copy = copied(path, log[:place] + chance.randbytes(length) + log[place + length :])
        store = SQLiteStore(copy, b"secret")
        assert held(store) in states, f"{length} bytes at {place} of {len(log)}"
        assert disagreements(copy) == [], f"{length} bytes at {place} of {len(log)}"
        store.close()


def test_rubbish_in_the_file_is_told_in_our_words_and_never_a_crash(
    live: tuple[Path, list[State]], rounds: int | None, seed: int
) -> None:
    """Or changes nothing that is asked, or letters of a text, for which SQLite keeps no sum."""
    path, _ = live
    copy = copied(path, path.with_name("left-live.db-wal").read_bytes())
    SQLiteStore(copy, b"secret").close()
    data = copy.read_bytes()
    chance = random.Random(seed)
    told: list[ScrubjayError] = []
    for _ in range(CUTS * (rounds or 3)):
        place, length = chance.randrange(len(data)), chance.choice((1, 8, 64, 512, 8192))
        copy = copied(path, b"")
        copy.write_bytes((data[:place] + chance.randbytes(length) + data[place + length :])[: len(data)])
        try:
            with closing(SQLiteStore(copy, b"secret")) as store:
                all_answers(store, ANN, QUESTIONS, ("jya",))
        except ScrubjayError as error:
            told.append(error)
        except Exception as error:
            error.add_note(f"{length} bytes at {place} of {len(data)}")
            raise
    assert all(error.hint for error in told)
    assert {"CorruptError", "UnicodeDecodeError"} <= {type(error.__cause__).__name__ for error in told}


def test_no_letter_of_a_text_is_another_without_being_told(
    live: tuple[Path, list[State]], rounds: int | None, seed: int
) -> None:
    """SQLite keeps no sum of a page: it gives a text with other letters as it gives any. Its hash tells."""
    path, _ = live
    copy = copied(path, path.with_name("left-live.db-wal").read_bytes())
    with closing(SQLiteStore(copy, b"secret")) as store, store.tenant_reader(ANN.tenant) as whole:
        texts = {one.record.id: one.record.content for piece in whole.memories() for one in piece}
        assert [bad for _, bad in whole.altered_memories() if bad] == []
    data = copy.read_bytes()
    chance = random.Random(seed)
    whole_ones = [(memory, text) for memory, text in sorted(texts.items()) if text.encode() in data]
    silent = 0
    for memory, text in chance.sample(whole_ones, min(CUTS * (rounds or 1) // 4, len(whole_ones))):
        letter = chance.randrange(len(text))
        copy = copied(path, b"")
        copy.write_bytes(data.replace(text.encode(), (text[:letter] + "#" + text[letter + 1 :]).encode()))
        with closing(SQLiteStore(copy, b"secret")) as store, store.tenant_reader(ANN.tenant) as whole:
            held = {one.record.id: one.record.content for piece in whole.memories() for one in piece}
            wrong = {known for known, told in held.items() if told != texts[known]}
            assert memory in wrong
            assert wrong == {one.id for _, bad in whole.altered_memories() for one in bad}
        silent += disagreements(copy) == []
    assert silent  # nothing else notices


def test_an_error_of_whoever_reads_is_not_called_damage(live: tuple[Path, list[State]]) -> None:
    path, _ = live
    with (
        closing(SQLiteStore(path, b"secret")) as store,
        pytest.raises(KeyError, match="mine"),
        store.reader(ANN),
    ):
        raise KeyError("mine")
