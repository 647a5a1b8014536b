"""Process entry: answer an agent's hook without loading click, or run any other command.

A hook has less time than loading click takes. On any error the agent gets no output and goes on, and the log has a line
about it.
"""

from __future__ import annotations

import _thread
import os
import sys
import time
from collections.abc import Callable, Sequence

from scrubjay.gc_tuning import raise_gc_threshold

TYPE_CHECKING = False

if TYPE_CHECKING:
    from scrubjay.config.settings import Settings
    from scrubjay.log import Log

FIRST_BUDGET_SECONDS = 0.3
"""Seconds of a hook until the settings are read."""
AFTERWARDS_SECONDS = 2.0
"""Longest time for queuing jobs after an answer, or when it is too late for one; usually it takes milliseconds."""
RESERVED_SECONDS = 0.03
"""Seconds of the budget kept for starting the daemon if there is no answer in time."""
MAX_INPUT_BYTES = 4_000_000
"""Maximum bytes of an event on standard input."""


class Deadline:
    """Ends the process when its time is up, unless it has begun to answer; ``at`` names the agent and the event."""

    def __init__(self, started: float, at: str) -> None:
        self.started = started
        self.at = at
        self.end = started + FIRST_BUDGET_SECONDS
        self.on_late: Callable[[], None] | None = None
        self._answer_lock = _thread.allocate_lock()
        _thread.start_new_thread(self._watch, ())

    def set_budget(self, budget_ms: float) -> None:
        self.end = self.started + budget_ms / 1000

    def claim_answer(self) -> bool:
        """Return whether there is still time; from then on the process is not ended."""
        return time.monotonic() < self.end - RESERVED_SECONDS and self._answer_lock.acquire(blocking=False)

    def _watch(self) -> None:
        while (remaining := self.end - RESERVED_SECONDS - time.monotonic()) > 0:
            time.sleep(min(remaining, 0.02))
        self.give_up()

    def give_up(self) -> None:
        """End the process without an answer; return if it has begun to answer or is being ended."""
        if self._answer_lock.acquire(blocking=False):
            # The disk may be the cause of the delay.
            _thread.start_new_thread(_exit_after, (AFTERWARDS_SECONDS,))
            if self.on_late is not None:
                try:
                    self.on_late()
                except Exception as error:  # noqa: BLE001 an agent must never be kept from working
                    _log_event("error", "hook failed", 0, error=type(error).__name__, at="late")
            _log_event("warning", "hook late", (time.monotonic() - self.started) * 1000, at=self.at)
            os._exit(0)


def _exit_after(seconds: float) -> None:
    time.sleep(seconds)
    os._exit(0)


def _log_event(level: str, event: str, ms: float, **facts: str | float) -> None:
    try:
        from scrubjay.config.paths import data_folder, environment
        from scrubjay.log import Log

        Log(data_folder(environment())).write(level, event, ms, **facts)
    except Exception:  # noqa: BLE001 there is nobody left to tell
        return


def run_hook(args: Sequence[str], store: str | None = None, user: str | None = None) -> None:
    """Answer an agent's hook and end the process, always with exit code 0; ``args`` are the agent and the event."""
    deadline = Deadline(time.monotonic(), " ".join(args)[:60])
    try:
        _answer_hook(args, deadline, store, user)
    except BaseException as error:  # noqa: BLE001 an agent must never be kept from working
        ms = (time.monotonic() - deadline.started) * 1000
        _log_event("error", "hook failed", ms, error=type(error).__name__, at=deadline.at)
    os._exit(0)


def _answer_hook(args: Sequence[str], deadline: Deadline, store: str | None, user: str | None) -> None:
    from scrubjay.config.paths import HOOK_EVENTS, Pauses, environment, event_budget_ms, hooks_disabled

    agent, name = args
    env = environment(store, user)
    deadline.set_budget(event_budget_ms(env, name))  # before anything that a busy machine takes long to load

    from scrubjay.agents.hooks import (
        HOOK_FORMATS,
        HookAnswer,
        HookContext,
        answer_event,
        finish_late,
        queue_jobs,
        report_damage,
    )

    if agent not in HOOK_FORMATS or name not in HOOK_EVENTS:
        raise ValueError("no such agent or event")
    event = HOOK_FORMATS[agent].parse(agent, name, _read_input(sys.stdin.fileno()))
    context = HookContext(env, lambda: deadline.end, deadline.set_budget)
    pauses = Pauses(context.data)
    is_off = hooks_disabled(env)
    if is_off:
        pauses.leave(event.session)
    if is_off or pauses.until(agent) is not None:
        if (reply := HOOK_FORMATS[agent].paused) and deadline.claim_answer():
            os.write(1, reply)
        return
    answer, failure = HookAnswer(), ""
    deadline.on_late = lambda: finish_late(event, context)
    try:
        answer = answer_event(event, context)
    except Exception as error:  # noqa: BLE001 jobs can be queued though there is no answer
        failure = type(error).__name__
        if failure == "StoreDamagedError":
            answer = HookAnswer(report_damage(event, context))
    if not deadline.claim_answer():
        deadline.give_up()
        time.sleep(2 * AFTERWARDS_SECONDS)  # the watch thread was first, and ends this process earlier
        return
    _thread.start_new_thread(_exit_after, (AFTERWARDS_SECONDS,))
    if answer.reply:
        import json

        os.write(1, json.dumps(answer.reply).encode("ascii") + b"\n")
    ms = (time.monotonic() - deadline.started) * 1000
    if answer.injection is not None:
        try:
            context.injections.append(answer.injection)
        except OSError as error:
            failure = type(error).__name__
    problem = queue_jobs(event, context, stale=answer.stale)
    level = "error" if failure else "warning" if problem else "info"
    context.log.write(level, f"hook {name}", ms, agent=agent, memories=answer.count, error=failure or problem)


def _read_input(descriptor: int) -> dict[str, object]:
    """Return the agent's JSON object.

    Raises:
        ValueError: It is none, or too long.
    """
    parts, size = [], 0
    while part := os.read(descriptor, 1_048_576):
        size += len(part)
        if size <= MAX_INPUT_BYTES:  # the rest is read too: an agent may fail on a closed pipe
            parts.append(part)
    if size > MAX_INPUT_BYTES:
        raise ValueError("too much input")
    import json

    message = json.loads(b"".join(parts))
    if not isinstance(message, dict):
        raise ValueError("the input is no object")
    return message


def run_jobs(store: str | None = None, user: str | None = None) -> None:
    """Run the jobs that hooks queued, in the background at low priority."""
    from scrubjay.api.injections import InjectionLog
    from scrubjay.api.jobs import JobQueue
    from scrubjay.config.paths import data_folder, settings_fingerprint
    from scrubjay.daemon.embedding import start_embedding
    from scrubjay.memory import Memory

    def work(env: dict[str, str], settings: Settings, log: Log) -> None:
        if hasattr(os, "nice"):
            os.nice(10)
        jobs = JobQueue(data_folder(env), settings_fingerprint(env))
        with Memory.open(settings=settings, cold=True, log=log) as memory:
            jobs.run(memory, settings.hooks, log)
            start_embedding(settings, env, memory)
        jobs.tidy()
        InjectionLog(data_folder(env)).tidy()

    _run_detached("errands failed", work, store, user)


def run_background_embedding(store: str | None = None, user: str | None = None) -> None:
    """Compute pending embeddings in the background; see `daemon.embedding`."""
    from scrubjay.daemon.embedding import embed_in_background

    _run_detached("embedding failed", embed_in_background, store, user)


def _run_detached(
    failure: str, work: Callable[[dict[str, str], Settings, Log], None], store: str | None, user: str | None
) -> None:
    from scrubjay.config.loader import load_settings
    from scrubjay.config.paths import data_folder, environment
    from scrubjay.log import Log

    env = environment(store, user)
    log = Log(data_folder(env))
    try:
        os.chdir(os.sep)
        settings = load_settings(environ=env)
        log = settings.log.open(data_folder(env))
        work(env, settings, log)
    except Exception as error:  # noqa: BLE001 nobody sees this process: the log is where it can be told
        log.write("error", failure, error=type(error).__name__)


LEADING_OPTIONS = ("--store", "--user")


def main() -> None:
    raise_gc_threshold()
    words = sys.argv[1:]
    options: dict[str, str | None] = dict.fromkeys(LEADING_OPTIONS)
    index = 0
    while index < len(words) and words[index].partition("=")[0] in LEADING_OPTIONS:
        name, mark, value = words[index].partition("=")
        index += 1
        if not mark and index < len(words):
            value, index = words[index], index + 1
        options[name] = value
    if words[index : index + 1] == ["hook"] and not {"-h", "--help"} & set(words[index:]):
        if words[index + 1 :] == ["--errands"]:
            run_jobs(options["--store"], options["--user"])
        elif words[index + 1 :] == ["--embed"]:
            run_background_embedding(options["--store"], options["--user"])
        else:
            run_hook(words[index + 1 :], options["--store"], options["--user"])
        return
    from scrubjay.cli.main import main as run_command

    run_command()
