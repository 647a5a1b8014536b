"""Turns: work that many ask for -> as much at once as there are slots, handed out by turns between who waits.

Whoever waits is a principal, however many threads and tokens it has: a free slot goes to the next principal, and to its
oldest call. Places to wait are nobody's in particular: one who is alone may have all. When all are taken, a principal
with fewer takes the place of the newest call of the one with most, so that none is turned away by another's crowd.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from scrubjay.errors import StoreBusyError, StoreError

Value = TypeVar("Value")


@dataclass(eq=False, slots=True)
class Lane:
    """One kind of work.

    Attributes:
        free: Slots that nothing runs in.
        waiting: Calls of each principal, the next principal first.
    """

    free: int
    waiting: OrderedDict[Hashable, deque[_Call[Any]]] = field(default_factory=OrderedDict)


@dataclass(eq=False, slots=True)
class _Call(Generic[Value]):
    lane: Lane
    who: Hashable
    start: Callable[[], Future[Value]]
    future: Future[Value] = field(default_factory=Future)


class Turns:
    """The calls of a server that run or wait, in all lanes.

    Args:
        most: How many may wait.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: dict[Hashable, list[_Call[Any]]] = {}
        self._closed = False
        self._guard = threading.Lock()

    def submit(self, lane: Lane, who: Hashable, start: Callable[[], Future[Value]]) -> Future[Value]:
        """Return what will come of a call; cancelled while it waits, it is never begun.

        Args:
            lane: The kind of work.
            who: Whose call it is.
            start: Begins it, and returns what will come of it.

        Raises:
            StoreBusyError: Too many wait already, and nobody holds more places than this one.
        """
        call = _Call(lane, who, start)
        given_up: _Call[Any] | None = None
        with self._guard:
            if self._closed:
                raise StoreError("The server ends. Nothing was done.", hint="ask again")
            if not lane.free:
                given_up = self._room(who)
            refusal = self._busy(given_up.who) if given_up is not None else None
            lane.waiting.setdefault(who, deque()).append(call)
            self._waiting.setdefault(who, []).append(call)
        call.future.add_done_callback(partial(self._left, call))
        if given_up is not None and given_up.future.set_running_or_notify_cancel():
            given_up.future.set_exception(refusal)
        self._advance(lane)
        return call.future

    def close(self) -> None:
        """Begin nothing any more; what waits is cancelled."""
        with self._guard:
            self._closed = True
            left = [call for calls in self._waiting.values() for call in calls]
        for call in left:
            call.future.cancel()

    def _room(self, who: Hashable) -> _Call[Any] | None:
        """Return the call that gives its place away; None where there is a free one."""
        if sum(map(len, self._waiting.values())) < self._most:
            return None
        longest = max(self._waiting.values(), key=len, default=[])
        if len(longest) <= len(self._waiting.get(who, ())) + 1:
            raise self._busy(who)
        given_up = longest[-1]
        self._take(given_up)
        return given_up

    def _busy(self, who: Hashable) -> StoreBusyError:
        total, own = sum(map(len, self._waiting.values())), len(self._waiting.get(who, ()))
        return StoreBusyError(
            f"{total} requests wait for their turn already, {own} of them yours. Nothing was done.",
            hint="ask again in a second; [server] most_waiting says how many may wait",
        )

    def _advance(self, lane: Lane) -> None:
        """Begin what can begin."""
        while (call := self._next(lane)) is not None:
            if not call.future.set_running_or_notify_cancel():
                self._free(lane)
                continue
            try:
                running = call.start()
            except BaseException as error:  # noqa: BLE001 whoever waits for it is told
                self._free(lane)
                call.future.set_exception(error)
                continue
            running.add_done_callback(partial(self._ended, call))

    def _next(self, lane: Lane) -> _Call[Any] | None:
        with self._guard:
            if self._closed or not lane.free or not lane.waiting:
                return None
            who, calls = next(iter(lane.waiting.items()))
            call = calls[0]
            self._take(call)
            if calls:
                lane.waiting.move_to_end(who)
            lane.free -= 1
            return call

    def _ended(self, call: _Call[Value], running: Future[Value]) -> None:
        self._free(call.lane)
        if running.cancelled():
            call.future.set_exception(StoreError("The server ends. Nothing was answered.", hint="ask again"))
        elif (error := running.exception()) is not None:
            call.future.set_exception(error)
        else:
            call.future.set_result(running.result())
        self._advance(call.lane)

    def _left(self, call: _Call[Any], _done: Future[Any]) -> None:
        """Take out a call that was cancelled while it waited."""
        with self._guard:
            if call in self._waiting.get(call.who, ()):
                self._take(call)

    def _take(self, call: _Call[Any]) -> None:
        """Take a call out of those that wait; the guard is held."""
        for held in (call.lane.waiting, self._waiting):
            calls = held[call.who]
            calls.remove(call)
            if not calls:
                del held[call.who]

    def _free(self, lane: Lane) -> None:
        with self._guard:
            lane.free += 1
