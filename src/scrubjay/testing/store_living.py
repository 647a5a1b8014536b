"""Living: random lives, events, readings and runs of memories in a store's life (`store_history`).

Statuses, times and runs are few, so that ties are many. What is lived or told of may be out of the writer's
sight or gone by then: a store passes over it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final

from scrubjay.memory.events import OPS, Event
from scrubjay.memory.life import Life
from scrubjay.memory.readings import Reading
from scrubjay.memory.runs import RUN_STATES, Run
from scrubjay.memory.scope import Scope
from scrubjay.memory.tiers import STATUSES
from scrubjay.store.base import Store
from scrubjay.store.changes import Change, PutEvents, PutLife, PutReadings, PutRun

RUNS: Final = tuple(f"run_{number:010x}" for number in range(4))
NAMES: Final = ("merged", "archived", "promoted")


class Living:
    """Makes changes of what happens to memories.

    Args:
        chance: Where the choices come from.
        store: The reference, which knows what there is.
        users: Everybody who writes: some memories are what another one sees.
    """

    def __init__(self, chance: random.Random, store: Store, users: Sequence[Scope]) -> None:
        self._random = chance
        self._store = store
        self._users = users

    def live(self, scope: Scope) -> Change:
        """Return one random change for this scope."""
        ways = (self._put_lives, self._put_lives, self._tell, self._tell, self._run, self._read)
        return self._random.choice(ways)(scope)

    def _keys(self, scope: Scope) -> dict[str, str]:
        """Return the keys of memories that somebody sees, mostly the writer."""
        with self._store.reader(self._random.choice((scope, scope, scope, *self._users))) as reader:
            return {one: record.key for one, record in reader.get(reader.complete("", 100_000)).items()}

    def _some(self, ids: Sequence[str]) -> list[str]:
        return self._random.sample(ids, min(len(ids), self._random.choice((1, 1, 3, 12))))

    def _put_lives(self, scope: Scope) -> Change:
        return PutLife({memory: self._life() for memory in self._some(list(self._keys(scope)))})

    def _life(self) -> Life:
        chance = self._random
        said: dict[str, Any] = {}
        if chance.random() < 0.6:
            said["status"] = chance.choice(STATUSES)
        if chance.random() < 0.3:
            said |= {"pinned": chance.random() < 0.5, "strength": chance.choice((0.0, 1 / 3, 1.0))}
        if chance.random() < 0.3:
            said |= {"confidence": chance.choice((0.0, 0.5)), "last_used": chance.choice((None, 3, -3))}
        if chance.random() < 0.3:  # both at once: the end never comes before the beginning it had
            begins = chance.choice((None, -5, 5))
            said |= {"valid_from": begins, "valid_until": chance.choice((None, (begins or 0) + 2))}
        return Life(**said)

    def _tell(self, scope: Scope) -> Change:
        keys = self._keys(scope)
        told = [
            self._event(memory, key, list(keys))
            for memory, key in keys.items()
            if self._random.random() < 0.3
        ]
        return PutEvents(tuple(told))

    def _read(self, scope: Scope) -> Change:
        some = self._some(list(self._keys(scope)))
        return PutReadings(tuple(Reading(one, str(self._random.randrange(9)), one.encode()) for one in some))

    def _event(self, memory: str, key: str, ids: Sequence[str]) -> Event:
        chance = self._random
        return Event(
            memory, chance.choice(OPS), chance.randrange(6), chance.choice((key, key, key, "public")),
            chance.choice((None, *RUNS)), chance.choice((None, chance.choice(ids))), chance.choice((0, 0, 4)),
            chance.choice(("", *STATUSES)),
        )  # fmt: skip

    def _run(self, scope: Scope) -> Change:
        chance = self._random
        counts = {name: chance.randrange(9) for name in NAMES if chance.random() < 0.5}
        key, state = chance.choice(scope.keys), chance.choice(RUN_STATES)
        ended = chance.choice((None, 9))
        return PutRun(Run(chance.choice(RUNS), key, state, "1", chance.randrange(3), ended, counts))
