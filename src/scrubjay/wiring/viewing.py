"""Viewing: a desk -> the one view of the store that an answer is read from, and the models that rank in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrubjay.memory.dates import now_micros
from scrubjay.wiring.desk import Desk
from scrubjay.wiring.freshen import look, take_in

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder
    from scrubjay.store.base import Reader
    from scrubjay.wiring.telling import Laps


@dataclass(frozen=True, slots=True)
class View:
    """What an answer is made from.

    Attributes:
        reader: The view of the store.
        embedders: The models that rank, base first.
        stale: What of the files was not looked at, or not taken in.
        without: Models that failed, and why.
        left_out: Models that a cold process does without by design.
        at: UTC microseconds of now, when all that changed is taken in: what was just learned is true by then.
    """

    reader: Reader
    embedders: list[Embedder]
    stale: tuple[str, ...]
    without: tuple[str, ...]
    left_out: tuple[str, ...]
    at: int

    @property
    def names(self) -> list[str]:
        """Names of the models that rank."""
        return [one.model.name for one in self.embedders]


@contextmanager
def view(desk: Desk, laps: Laps) -> Iterator[View]:
    """Take in the few files that changed since the last sync, and open what is answered from.

    One view serves for looking and answering, as each costs a server three requests. It is closed in between where
    something is written, or a model is loaded, which can take minutes.
    """
    with ExitStack() as held:
        reader = held.enter_context(desk.store.reader(desk.scope))
        found = look(desk, reader)
        stale = found.partial
        if found.changed:
            held.close()
            stale = take_in(desk, found)
            reader = held.enter_context(desk.store.reader(desk.scope))
        laps.lap("files")
        states = reader.models()
        if desk.lineup.ready(states):
            embedders, without = desk.lineup.ranking(states)
        else:
            held.close()
            embedders, without = desk.lineup.ranking(states)
            reader = held.enter_context(desk.store.reader(desk.scope))
        laps.lap("models")
        yield View(reader, embedders, stale, without, desk.lineup.left_out(states), now_micros())
