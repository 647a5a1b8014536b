"""Job queue: work that hooks leave for later, run by one process at a time.

A hook must not wait, so it queues a job and ends. A job is a file: queued twice it runs once, queued while it runs it
runs again. The next process runs the jobs of one that was killed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from scrubjay.config.paths import make_private

TYPE_CHECKING = False

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from scrubjay.config.settings import HookSettings
    from scrubjay.log import Log
    from scrubjay.memory import Memory


CONSOLIDATION_INTERVAL = "4h"
"""Minimum time between consolidations that hooks request."""
RUNNING_SUFFIX = ".begun"
STALE_SECONDS = 30 * 86_400


class JobQueue:
    """The jobs of one data folder and one fingerprint of settings."""

    def __init__(self, data: str, fingerprint: str) -> None:
        self.folder = os.path.join(data, "errands", fingerprint[:16])

    def enqueue(self, kind: str, **facts: str) -> None:
        """Queue a job; raises OSError if it cannot be written."""
        import hashlib
        import json

        data = json.dumps({"kind": kind, **facts}, sort_keys=True).encode("ascii")
        make_private(self.folder)
        path = os.path.join(self.folder, hashlib.sha256(data).hexdigest()[:24])
        descriptor = os.open(f"{path}.new-{os.getpid()}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.write(descriptor, data)
        finally:
            os.close(descriptor)
        os.replace(f"{path}.new-{os.getpid()}", path)

    def waiting(self) -> bool:
        """Return whether a job is queued."""
        return any(True for _ in self._names(""))

    def busy(self) -> bool:
        """Return whether a process runs jobs now; it checks for new ones before it ends."""
        with self.exclusive() as locked:
            return not locked

    def exclusive(self) -> AbstractContextManager[bool]:
        """Hold the queue's lock, without waiting for it; the value says whether it is held."""
        from scrubjay.atomic_files import hold_lock

        make_private(self.folder)
        return hold_lock(self._path("lock"))

    def run(self, memory: Memory, hooks: HookSettings, log: Log) -> int:
        """Run the queued jobs unless another process does; return how many ran."""
        count = 0
        while True:
            with self.exclusive() as locked:
                if not locked:
                    return count
                for name in self._names(RUNNING_SUFFIX):
                    os.replace(self._path(name), self._path(name.removesuffix(RUNNING_SUFFIX)))
                while names := list(self._names("")):
                    for name in names:
                        self._run_one(name, memory, hooks, log)
                    count += len(names)
            # A job may have been queued while the lock was held.
            if not self.waiting():
                return count

    def tidy(self) -> None:
        """Remove the queues of settings that were not used for a month."""
        import shutil
        import time

        parent = os.path.dirname(self.folder)
        for name in os.listdir(parent):
            path = os.path.join(parent, name)
            if path != self.folder and time.time() - os.stat(path).st_mtime > STALE_SECONDS:
                shutil.rmtree(path, ignore_errors=True)

    def _run_one(self, name: str, memory: Memory, hooks: HookSettings, log: Log) -> None:
        import json
        import time

        started = time.monotonic()
        running = self._path(name + RUNNING_SUFFIX)
        os.replace(self._path(name), running)
        kind = "unreadable"
        try:
            with open(running, "rb") as file:
                job = json.loads(file.read())
            kind = str(job.get("kind"))
            counts = run_job(memory, job) if job["event"] in hooks.events else {"passed": True}
            log.write("info", f"errand {kind}", (time.monotonic() - started) * 1000, **counts)
        except Exception as error:  # noqa: BLE001 a failed job must not block the others
            took = (time.monotonic() - started) * 1000
            log.write("error", f"errand {kind}", took, error=type(error).__name__)
        finally:
            os.unlink(running)

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


def run_job(memory: Memory, job: Mapping[str, str]) -> dict[str, int]:
    """Run one job and return its counts."""
    kind = job["kind"]
    if kind == "capture":
        if not os.path.exists(job["path"] or job["root"]):
            return {"added": 0, "problems": 0}  # an empty session has no transcript
        report = memory.sync(job["root"], only=job["path"] or None)
        return {"added": report.added, "problems": len(report.problems)}
    if kind == "catch-up":
        root, added = job.get("root", ""), 0
        if root and os.path.isdir(root) and root not in [source.root for source in memory.sources()]:
            added = memory.sync(root).added
        report = memory.sync()
        return {"files": report.files, "added": added + report.added, "problems": len(report.problems)}
    if kind == "consolidate":
        run = memory.consolidate(if_due=CONSOLIDATION_INTERVAL)
        return {"digests": len(run.made), "archived": run.archived}
    raise KeyError(kind)
