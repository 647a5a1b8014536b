"""Hooked: what an agent's hook runs: standard input in, one answer or nothing out, exit code 0, within a budget.

It stands beside click, not on it: a hook has less time than loading a command line takes. Whatever goes wrong, the
agent hears nothing and goes on; one line in the log tells of it.
"""

from __future__ import annotations

import _thread
import os
import sys
import time
from collections.abc import Callable, Sequence

BUDGET_MS = 300
"""Where the settings say nothing."""
LAST_SECONDS = 0.5
"""That the process may take for what comes after its answer: writing down what is to be done."""
LATE_SECONDS = 0.03
"""Of the budget, for what is left to others when there is no answer in time: a warm process for the next one."""
MOST_INPUT = 4_000_000
"""Bytes of standard input that are looked at; what is longer is no event."""


class Guard:
    """Ends the process when its time is up, unless it has begun to answer."""

    def __init__(self, started: float) -> None:
        """Args: when the time began, as ``time.monotonic`` counts."""
        self.started = started
        self.end = started + BUDGET_MS / 1000
        self.late: Callable[[], None] | None = None
        self._last_word = _thread.allocate_lock()
        _thread.start_new_thread(self._watch, ())

    def until(self, budget_ms: float) -> None:
        """Set the budget, counted from the start."""
        self.end = self.started + budget_ms / 1000

    def answered(self) -> bool:
        """Return whether there is still time; from then on the process is not ended."""
        return self._last_word.acquire(blocking=False)

    def _watch(self) -> None:
        while (left := self.end - LATE_SECONDS - time.monotonic()) > 0:
            time.sleep(min(left, 0.02))
        if self._last_word.acquire(blocking=False):
            # The disk may be what everything waits for.
            _thread.start_new_thread(_end, (LATE_SECONDS,))
            if self.late is not None:
                try:
                    self.late()
                except Exception as error:  # noqa: BLE001 an agent must never be kept from working
                    _log("error", "hook failed", 0, error=type(error).__name__, at="late")
            _log("warning", "hook late", (time.monotonic() - self.started) * 1000)
            os._exit(0)


def _end(seconds: float) -> None:
    time.sleep(seconds)
    os._exit(0)


def _log(level: str, event: str, ms: float, **facts: str | float) -> None:
    try:
        from scrubjay.config_start import data_folder, environment
        from scrubjay.log import Log

        Log(data_folder(environment())).write(level, event, ms, **facts)
    except Exception:  # noqa: BLE001 there is nobody left to tell
        return


def hooked(args: Sequence[str], store: str | None = None, user: str | None = None) -> None:
    """Answer an agent's hook and end the process, always with exit code 0.

    Args:
        args: The agent and the event.
        store: As given on the command line.
        user: As given on the command line.
    """
    guard = Guard(time.monotonic())
    try:
        _hook(args, guard, store, user)
    except BaseException as error:  # noqa: BLE001 an agent must never be kept from working
        took = (time.monotonic() - guard.started) * 1000
        _log("error", "hook failed", took, error=type(error).__name__, at=" ".join(args)[:60])
    os._exit(0)


def _hook(args: Sequence[str], guard: Guard, store: str | None, user: str | None) -> None:
    from scrubjay.agents.hooks.answer import Near, afterwards, answer
    from scrubjay.agents.hooks.event import NAMES
    from scrubjay.agents.hooks.forms import FORMS
    from scrubjay.config_start import budget_ms, environment, switched_off
    from scrubjay.pauses import Pauses

    agent, name = args
    if agent not in FORMS or name not in NAMES:
        raise ValueError("no such agent or event")
    around = environment(store, user)
    guard.until(budget_ms(around, BUDGET_MS))
    event = FORMS[agent][0].parse(agent, name, _input(sys.stdin.fileno()))
    near = Near(around, lambda: guard.end, guard.until)
    pauses = Pauses(near.data)
    if switched_off(near.around):
        pauses.leave(event.session)
        return
    if pauses.until(agent) is not None:
        return
    told, count, failed = None, 0, ""
    guard.late = lambda: afterwards(event, near)
    try:
        told, count = answer(event, near)
    except Exception as error:  # noqa: BLE001 what is to be done later can be done though nothing could be told
        failed = type(error).__name__
    if not guard.answered():
        time.sleep(LATE_SECONDS)  # the watch is leaving a warm process for the next one, and ends this one
        return
    _thread.start_new_thread(_end, (LAST_SECONDS,))
    if told:
        import json

        os.write(1, json.dumps(told).encode("ascii") + b"\n")
    took = (time.monotonic() - guard.started) * 1000
    afterwards(event, near)
    level = "error" if failed else "info"
    near.log.write(level, f"hook {name}", took, agent=agent, memories=count, error=failed)


def _input(descriptor: int) -> dict[str, object]:
    """Return what the agent says.

    Raises:
        ValueError: It is nothing, no object, or too long.
    """
    parts, size = [], 0
    while part := os.read(descriptor, 1_048_576):
        size += len(part)
        if size <= MOST_INPUT:  # what is too long is read all the same: an agent may not bear a closed pipe
            parts.append(part)
    if size > MOST_INPUT:
        raise ValueError("too much input")
    import json

    found = json.loads(b"".join(parts))
    if not isinstance(found, dict):
        raise ValueError("the input is no object")
    return found


def errands(store: str | None = None, user: str | None = None) -> None:
    """Do what hooks have left to be done, and end; the process is nobody's and gives way to everybody."""
    from scrubjay.config import load
    from scrubjay.config_start import data_folder, environment, fingerprint
    from scrubjay.engine import Memory
    from scrubjay.log import Log
    from scrubjay.verbs.errands import Errands

    around = environment(store, user)
    log = Log(data_folder(around))
    try:
        os.chdir(os.sep)
        if hasattr(os, "nice"):
            os.nice(10)
        settings = load(environ=around)
        log = settings.log.open(data_folder(around))
        waiting = Errands(data_folder(around), fingerprint(around))
        with Memory.open(settings=settings, cold=True, log=log) as memory:
            waiting.run(memory, settings.hooks, log)
        waiting.tidy()
    except Exception as error:  # noqa: BLE001 nobody sees this process: the log is where it can be told
        log.write("error", "errands failed", error=type(error).__name__)
