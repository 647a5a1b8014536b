"""Background embedding: one process per store computes pending embeddings and ends when none are left.

`start_embedding` starts it where something is pending: after a sync, after hooks' jobs, and every minute in a process
that serves the store (`keep_embedded`). It runs at the lowest priority, on half a processor, newest memories first, and
pauses while the machine runs on its battery, or is busy and much is pending. A batch is a transaction, so it can be
killed at any time.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scrubjay.atomic_files import hold_lock
from scrubjay.config.paths import data_folder, make_private, settings_fingerprint
from scrubjay.daemon.client import spawn_detached
from scrubjay.errors import ScrubjayError
from scrubjay.storage.urls import store_file

if TYPE_CHECKING:
    from scrubjay.config.settings import Settings
    from scrubjay.log import Log
    from scrubjay.memory import Memory


MAX_LOAD: Final = 0.7
"""Load average per processor above which a machine is busy; the job itself adds at most half a processor."""
FEW_PENDING: Final = 400
"""Pending embeddings that are computed even on a busy machine: 200 passages of two models, some seconds of half a
processor."""
POWER_SUPPLIES: Final = Path("/sys/class/power_supply")


def pause_reason(pending: Callable[[], int], supplies: Path = POWER_SUPPLIES) -> str:
    """Return why embedding must wait on this machine, or an empty string; unknown power or load is no reason.

    ``pending`` returns how much there is to do, and is called on a busy machine only.
    """
    if _on_battery(supplies):
        return "on battery power"
    load = os.getloadavg()[0] / (os.cpu_count() or 1) if hasattr(os, "getloadavg") else 0.0
    if load <= MAX_LOAD or pending() <= FEW_PENDING:
        return ""
    return f"the machine is busy (load {load:.1f} per processor)"


def _on_battery(supplies: Path) -> bool:
    if sys.platform == "darwin":
        with suppress(OSError, subprocess.SubprocessError):
            report = subprocess.run(["pmset", "-g", "batt"], capture_output=True, timeout=5, check=False)
            return b"'Battery Power'" in report.stdout
        return False
    readings = [
        {name: _read_word(folder / name) for name in ("type", "online", "status", "scope")}
        for folder in (supplies.iterdir() if supplies.is_dir() else ())
    ]
    if any(supply["type"] != "Battery" and supply["online"] == "1" for supply in readings):
        return False
    # A mouse has a battery, too, of the scope Device.
    return any(supply["status"] == "Discharging" and supply["scope"] != "Device" for supply in readings)


def _read_word(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except (OSError, ValueError):
        return ""


IDLE_CLASS: Final = 3 << 13
"""Linux: read and write only while nobody else does (linux/ioprio.h)."""
IOPRIO_SET: Final = {"x86_64": 251, "aarch64": 30}
"""Its system call, which Python has no function for, by processor."""


def lower_priority() -> None:
    """Give this process the lowest priority that its system has, for processor and disk."""
    import ctypes

    if sys.platform == "win32":
        kernel = ctypes.windll.kernel32
        kernel.SetPriorityClass(kernel.GetCurrentProcess(), 0x00100000)  # PROCESS_MODE_BACKGROUND_BEGIN
        return
    os.nice(19)
    number = IOPRIO_SET.get(os.uname().machine)
    if sys.platform == "linux" and number is not None:
        ctypes.CDLL(None).syscall(number, 1, 0, IDLE_CLASS)  # of this process


SHARE: Final = 0.5
"""Share of one processor that the job takes."""


def rest_seconds(used: float, took: float) -> float:
    """Return how long to rest after work that used a processor for ``used`` of ``took`` seconds.

    >>> rest_seconds(2.0, 2.0), rest_seconds(1.0, 3.0)
    (2.0, 0.0)
    """
    return max(used / SHARE - took, 0.0)


def processor_and_wall_seconds() -> tuple[float, float]:
    """Return the seconds of processor time and of wall time that this process has counted so far."""
    return time.process_time(), time.monotonic()


PAUSE_CHECK_SECONDS: Final = 30.0
"""Seconds after which a paused job checks the machine again."""
START_SECONDS: Final = 0.2
"""Seconds that a new job waits for its lock, which a process that reads the state holds for a moment."""
RETRY_SECONDS: Final = 3_600.0
"""Seconds after which a job that failed is started again: a model whose file is missing fails each time."""


class EmbeddingJob:
    """The lock and the state of the process that embeds for one store."""

    def __init__(self, data: str, store: str) -> None:
        file = store_file(store)
        name = hashlib.sha256(os.fsencode(store if file is None else os.path.realpath(file))).hexdigest()[:24]
        self._folder = Path(data) / "embedding"
        self._lock_file = self._folder / f"{name}.lock"
        self._state_file = self._folder / f"{name}.json"
        self._check_file = self._folder / f"{name}.look"

    def state(self) -> dict[str, Any] | None:
        """Return the last written state, and whether a process is ``running``; None if none runs and none failed.

        ``pid``, ``since`` (seconds since 1970), ``paused`` (why, or empty), and ``problem`` of one that failed.
        """
        running = self.is_running()
        try:
            stored = json.loads(self._state_file.read_bytes())
        except (OSError, ValueError):
            stored = {}
        if not running and not stored.get("problem"):
            return None
        return {"pid": 0, "since": time.time(), "paused": "", "problem": "", **stored, "running": running}

    def is_running(self) -> bool:
        """Return whether a process embeds for this store, or is paused."""
        if not self._lock_file.exists():
            return False
        with self.exclusive() as locked:
            return not locked

    def exclusive(self, seconds: float = 0.0) -> AbstractContextManager[bool]:
        """Hold the lock, after waiting at most ``seconds`` for it; yields whether it is held."""
        make_private(str(self._folder))
        return hold_lock(self._lock_file, seconds)

    def write_state(self, *, paused: str = "", problem: str = "") -> None:
        """Write the state file of the process that holds the lock."""
        state = {"pid": os.getpid(), "since": int(time.time()), "paused": paused, "problem": problem}
        temporary = self._state_file.with_suffix(".part")
        temporary.write_text(json.dumps(state), "utf-8")
        temporary.replace(self._state_file)

    def record_check(self) -> None:
        """Record that a worker checks for pending work now."""
        make_private(str(self._folder))
        self._check_file.touch(0o600)

    def last_check(self) -> float | None:
        """Return when a worker last checked for pending work (seconds since 1970), None if none ever did."""
        try:
            return self._check_file.stat().st_mtime
        except OSError:
            return None

    def has_failed_lately(self) -> bool:
        state = self.state()
        if state is None or not state["problem"]:
            return False
        # A time in the future means that the clock was set back.
        return 0.0 <= time.time() - float(state["since"]) < RETRY_SECONDS

    def clear_state(self) -> None:
        """Remove the state file: nothing is pending any more."""
        self._state_file.unlink(missing_ok=True)


def embedding_summary(state: Mapping[str, Any] | None, settings: Settings) -> str:
    """Describe which process embeds pending memories, or why none does."""
    if state is None:
        if settings.models.background == "never":
            return "models.background is never, so run `scrubjay embed`"
        return "the next sync or agent's session embeds in the background"
    at = time.strftime("%H:%M", time.localtime(state["since"]))
    if state["running"]:
        doing = f"paused since {at}: {state['paused']}" if state["paused"] else f"at work since {at}"
        return f"background process {state['pid']} is {doing}"
    return f"the background process failed at {at}: {state['problem']}"


def run_embedding(
    job: EmbeddingJob,
    open_memory: Callable[[], Memory],
    pause: Callable[[], str],
    stop: Callable[[], str],
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], tuple[float, float]] = processor_and_wall_seconds,
) -> bool:
    """Embed until nothing is pending; return False at once if another process is already embedding.

    Args:
        job: The store's job.
        open_memory: Opens the store; it is closed during a pause, so that no model stays in memory.
        pause: Returns why to pause, or an empty string; asked before each batch, and during a pause now and then.
        stop: Returns why to end before all is done, or an empty string.
        sleep: Waits for so many seconds.
        clock: Returns the seconds of processor and of wall time so far.

    Raises:
        ScrubjayError: The store cannot be read, or a model failed. `EmbeddingJob.state` has the problem, of any kind.
    """
    from scrubjay.services.sync import enrich_and_embed

    batch_start = clock()
    interrupted = True

    def proceed() -> bool:
        nonlocal batch_start, interrupted
        used, took = (now - before for now, before in zip(clock(), batch_start, strict=True))
        sleep(rest_seconds(used, took))
        batch_start = clock()
        interrupted = bool(stop() or pause())
        return not interrupted

    def embed() -> None:
        nonlocal interrupted
        interrupted = False  # with nothing to do `proceed` is not called
        with open_memory() as memory:
            enrich_and_embed(memory.workspace, proceed, bundled=True)

    with job.exclusive(START_SECONDS) as locked:
        if not locked:
            return False
        try:
            while interrupted and not stop():
                if reason := pause():
                    if not _count_pending(open_memory):  # another process embedded it
                        break
                    job.write_state(paused=reason)
                    sleep(PAUSE_CHECK_SECONDS)
                    continue
                job.write_state()
                embed()
            job.clear_state()
        except Exception as error:
            job.write_state(problem=str(error) or type(error).__name__)
            raise
    return True


def embed_in_background(env: Mapping[str, str], settings: Settings, log: Log) -> None:
    """Run the process that `start_embedding` starts: embed at the lowest priority with one thread."""
    from scrubjay.memory import Memory

    if settings.models.background == "never":
        return
    fingerprint = settings_fingerprint(env)
    single_threaded = replace(settings, models=replace(settings.models, threads=1))
    open_memory = partial(Memory.open, settings=single_threaded, log=log)
    idle = settings.models.background == "idle"
    lower_priority()
    run_embedding(
        EmbeddingJob(data_folder(env), settings.store),
        open_memory,
        lambda: pause_reason(partial(_count_pending, open_memory)) if idle else "",
        lambda: stop_reason(settings, env, fingerprint),
    )


def _count_pending(open_memory: Callable[[], Memory]) -> int:
    from scrubjay.services.sync import pending_work

    with open_memory() as memory:
        return pending_work(memory.workspace, bundled=True)


def stop_reason(settings: Settings, env: Mapping[str, str], fingerprint: str) -> str:
    """Return why a background process must end: its store is gone, or its settings changed."""
    file = store_file(settings.store)
    if file is not None and not file.exists():
        return "its store is gone"
    return "" if settings_fingerprint(env) == fingerprint else "its settings changed"


def start_embedding(settings: Settings, env: Mapping[str, str], memory: Memory) -> bool:
    """Start the store's process if something is pending and the settings allow it; return whether one runs.

    ``env`` is the environment of the process, ``memory`` belongs to the principal whose memories are embedded.

    Raises:
        ScrubjayError: The store cannot be read.
        OSError: No process can be started.
    """
    from scrubjay.services.sync import pending_work

    file = store_file(settings.store)
    unreachable = settings.store.startswith("memory:") or (file is not None and not file.is_absolute())
    if settings.models.background == "never" or unreachable:  # another process would not find the store
        return False
    job = EmbeddingJob(data_folder(env), settings.store)
    if job.is_running():
        return True
    if job.has_failed_lately() or not pending_work(memory.workspace, bundled=True):
        return False
    # Otherwise the computation of topics at the end uses as many threads as there are processors.
    spawn_detached(["hook", "--embed"], {**env, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"})
    return True


CHECK_SECONDS: Final = 60.0
"""Seconds between two checks for pending work by a process that serves a store."""


@contextmanager
def keep_embedded(
    settings: Settings, log: Log, memories: Callable[[], Iterable[tuple[Mapping[str, str], Memory]]]
) -> Iterator[None]:
    """Until the block ends, check now and every minute whether a process must be started.

    ``memories`` returns the open ones, each with its principal's environment; consecutive failures are logged once.
    """
    stop = threading.Event()

    def check_until_stopped() -> None:
        last_error = ""
        while not stop.is_set():
            try:
                for env, memory in memories():
                    start_embedding(settings, env, memory)
                last_error = ""
            except (ScrubjayError, OSError) as error:
                if type(error).__name__ != last_error:
                    last_error = type(error).__name__
                    log.write("warning", "embedding not started", error=last_error)
            stop.wait(CHECK_SECONDS)

    if settings.models.background == "never":
        yield
        return
    checker = threading.Thread(target=check_until_stopped, name="keep-embedded", daemon=True)
    checker.start()
    try:
        yield
    finally:
        stop.set()
        checker.join()
