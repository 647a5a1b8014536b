"""Job queue: work that hooks leave for later, run by one process at a time.

A hook must not wait, so it queues a job and ends. One file is one job: queued twice, it is run once; queued while it
runs, it is run again. Jobs of a killed process are run by the next one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

TYPE_CHECKING = False

if TYPE_CHECKING:
    from scrubjay.config.settings import HookSettings
    from scrubjay.log import Log
    from scrubjay.memory import Memory


JOB_KINDS = ("capture", "catch-up", "consolidate")
CONSOLIDATION_INTERVAL = "4h"
"""Least time between two consolidations that hooks ask for."""
RUNNING_SUFFIX = ".begun"
STALE_SECONDS = 30 * 86_400


class JobQueue:
    """The jobs of one data folder and one set of settings; they are run with no others."""

    def __init__(self, data: str, fingerprint: str) -> None:
        """Args: the data folder, and the settings' fingerprint."""
        self.folder = os.path.join(data, "errands", fingerprint[:16])

    def enqueue(self, kind: str, **facts: str) -> None:
        """Queue a job.

        Raises:
            OSError: It cannot be written.
        """
        import hashlib
        import json

        whole = json.dumps({"kind": kind, **facts}, sort_keys=True).encode("ascii")
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        path = os.path.join(self.folder, hashlib.sha256(whole).hexdigest()[:24])
        descriptor = os.open(f"{path}.new-{os.getpid()}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.write(descriptor, whole)
        finally:
            os.close(descriptor)
        os.replace(f"{path}.new-{os.getpid()}", path)

    def waiting(self) -> bool:
        """Return whether a job is queued."""
        return any(True for _ in self._names(""))

    def busy(self) -> bool:
        """Return whether a process runs jobs now; it looks again before it ends."""
        with self.exclusive() as mine:
            return not mine

    @contextmanager
    def exclusive(self) -> Iterator[bool]:
        """Yield whether this process alone runs jobs until the block ends; never wait."""
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        descriptor = os.open(os.path.join(self.folder, "lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            yield try_lock(descriptor)
        finally:
            os.close(descriptor)

    def run(self, memory: Memory, hooks: HookSettings, log: Log) -> int:
        """Run the queued jobs, unless another process does; return how many were run."""
        done = 0
        while True:
            with self.exclusive() as mine:
                if not mine:
                    return done
                for name in self._names(RUNNING_SUFFIX):
                    os.replace(self._path(name), self._path(name.removesuffix(RUNNING_SUFFIX)))
                while names := list(self._names("")):
                    for name in names:
                        self._run_one(name, memory, hooks, log)
                        done += 1
            # A job may have been queued while the lock was still held.
            if not self.waiting():
                return done

    def tidy(self) -> None:
        """Remove queues of settings that nobody has used for a month: their jobs were done since."""
        import shutil
        import time

        above = os.path.dirname(self.folder)
        for name in os.listdir(above):
            path = os.path.join(above, name)
            if path != self.folder and time.time() - os.stat(path).st_mtime > STALE_SECONDS:
                shutil.rmtree(path, ignore_errors=True)

    def _run_one(self, name: str, memory: Memory, hooks: HookSettings, log: Log) -> None:
        import json
        import time

        started = time.monotonic()
        begun = self._path(name + RUNNING_SUFFIX)
        os.replace(self._path(name), begun)
        kind = "unreadable"
        try:
            with open(begun, "rb") as file:
                job = json.loads(file.read())
            kind = str(job.get("kind"))
            facts = run_job(memory, job) if job["event"] in hooks.events else {"passed": True}
            log.write("info", f"errand {kind}", (time.monotonic() - started) * 1000, **facts)
        except Exception as error:  # noqa: BLE001 a job that fails must not keep the others from running
            took = (time.monotonic() - started) * 1000
            log.write("error", f"errand {kind}", took, error=type(error).__name__)
        finally:
            os.unlink(begun)

    def _names(self, suffix: str) -> Iterator[str]:
        try:
            found = sorted(os.listdir(self.folder))
        except FileNotFoundError:
            return
        for name in found:
            stem, _, rest = name.partition(".")
            if len(stem) == 24 and f".{rest}" * bool(rest) == suffix:
                yield name

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name)


def try_lock(descriptor: int) -> bool:
    """Lock an open file for this process alone, without waiting; the system frees it when the process ends."""
    import sys

    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def run_job(memory: Memory, job: Mapping[str, str]) -> dict[str, int]:
    """Run one job and return its counts.

    Raises:
        ScrubjayError: As the facade says.
        KeyError: A field of the job is missing.
    """
    kind = job["kind"]
    if kind == "capture":
        if not os.path.exists(job["path"] or job["root"]):
            return {"added": 0, "problems": 0}  # a session in which nothing was said has no transcript
        done = memory.sync(job["root"], only=job["path"] or None)
        return {"added": done.added, "problems": len(done.problems)}
    if kind == "catch-up":
        root, begun = job.get("root", ""), 0
        if root and os.path.isdir(root) and root not in [source.root for source in memory.sources()]:
            begun = memory.sync(root).added
        done = memory.sync()
        return {"files": done.files, "added": begun + done.added, "problems": len(done.problems)}
    if kind == "consolidate":
        report = memory.consolidate(if_due=CONSOLIDATION_INTERVAL)
        return {"digests": len(report.made), "archived": report.archived}
    raise KeyError(kind)
