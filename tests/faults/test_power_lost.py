"""When the power goes at any moment: nothing durable is lost, the rest only from its end, the store is sound."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from disk import LOSSES, Event, faulty, survived

from scrubjay.models.records import Scope
from scrubjay.storage.changes import Change, DropMemory, Forget, PutMemory, PutModel
from scrubjay.storage.sqlite.store import SQLiteStore
from store_contract.samples import SMALL_MODEL, sample_id, sample_memory, sample_windows
from store_contract.sqlite_check import disagreements

ANN = Scope("t", "ann")
MINE = "user:ann"
STEPS = 24
MOMENTS = 120
"""Moments of a life of about 1,300 that are tried in a round."""
State = frozenset[str]


def changes(step: int) -> list[Change]:
    """Return what a step writes: memories, now and then one that goes, and one so large that it takes many pages."""
    text = f"jay {step} " + "nut " * (6_000 if step % 7 == 3 else step)
    made: list[Change] = [
        PutMemory(
            sample_memory(
                text, MINE, name=f"m{step}", vectors={SMALL_MODEL.fingerprint: sample_windows(text)}
            )
        )
    ]
    if step % 5 == 4:
        made.append(DropMemory((sample_id(f"m{step - 3}"),)))
    if step % 8 == 6:
        made.append(Forget((sample_id(f"m{step - 2}"),)))
    return made


def lived(path: Path, tell: Callable[[str, int], None], close: bool) -> list[State]:
    """Live the steps, every third of them durable; return what is held after each."""
    store = SQLiteStore(path, b"secret")
    states: list[State] = [frozenset()]
    for step in range(STEPS):
        made = changes(step) if step else [PutModel(SMALL_MODEL), *changes(step)]
        tell("begun", step + 1)
        store.write(ANN, made, durable=step % 3 == 0)
        tell("durable" if step % 3 == 0 else "committed", step + 1)
        states.append(held(store))
    if close:
        store.close()
    return states


def held(store: SQLiteStore) -> State:
    with store.reader(ANN) as reader:
        return frozenset(
            record.content[:9] for record in reader.get(reader.ids_with_prefix("", 1_000)).values()
        )


def last(events: list[Event], *kinds: str) -> int:
    """Return the last step of which that was told."""
    return max((event.at for event in events if event.kind == "told" and event.name in kinds), default=0)


@pytest.mark.parametrize("pages", [4, 40, 1_000])
def test_no_durable_commit_is_lost_with_the_power_and_others_only_from_the_end(
    quick: Path, pages: int, rounds: int | None, seed: int
) -> None:
    """Before any write, sync, cut or removal; how the disk loses what was not synced goes round."""
    with faulty(pages) as disk:
        states = lived(quick / "live.db", disk.told, close=True)
    chance = random.Random(f"{seed} {pages}")
    path = quick / "left" / "live.db"
    path.parent.mkdir()
    tried = lost = 0
    for number in range(rounds or 1):
        for cut in chance.sample(range(len(disk.events) + 1), MOMENTS):
            loss = LOSSES[(cut + number + seed) % len(LOSSES)]
            before = disk.events[:cut]
            for left in path.parent.glob("live.db*"):
                left.unlink()
            for name, data in survived(before, loss, chance).items():
                path.with_name(name).write_bytes(data)
            where = f"{loss} at {cut} of {len(disk.events)}, pages {pages}"
            store = SQLiteStore(path, b"secret")
            found = held(store)
            assert disagreements(path) == [], where
            store.close()
            least, most = last(before, "durable"), last(before, "begun")
            assert found in states[least : most + 1], (
                f"{where}: {sorted(found)}; durable {least}, begun {most}"
            )
            tried += 1
            lost += found != states[most]
    assert lost > tried // 20, "nothing was ever lost: the power stayed on"
