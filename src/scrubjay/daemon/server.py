"""Daemon server: answer requests on the user's socket with an open store and loaded models.

A request is one line of JSON, ``{"settings": FINGERPRINT, "verb": NAME, "arguments": {...}}``; the answer is
``{"answer": {...}}``, ``{"refused": WHY}`` or ``{"failed": KIND}``. The kernel must report the same user, and the
caller must have the same settings, so a caller sees what they would see without a daemon. The first process to lock the
path owns it.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import os
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from scrubjay.api import serializers
from scrubjay.api.jobs import JobQueue
from scrubjay.api.queries import event_context
from scrubjay.api.tools import TOOLS, call_tool, find_tool
from scrubjay.atomic_files import try_lock
from scrubjay.config.paths import data_folder, runtime_folder, settings_fingerprint
from scrubjay.daemon.client import make_private_folder, receive_line, socket_path
from scrubjay.errors import InputError, ScrubjayError, StoreBusyError

if TYPE_CHECKING:
    from scrubjay.config.settings import Settings
    from scrubjay.log import Log
    from scrubjay.memory import Memory


MAX_REQUEST_BYTES: Final = 1_000_000
"""Maximum bytes of a request."""
PEER_TIMEOUT: Final = 10.0
"""Seconds that a peer has to send its request and to read the answer."""
MAX_CONCURRENT: Final = 32
"""Requests that are answered at the same time; further ones are dropped."""
POLL_SECONDS: Final = 1.0
"""Seconds between two checks whether to stop."""

RequestHandler = Callable[[str, Mapping[str, Any]], dict[str, Any]]


class DaemonServer:
    """The socket of one process, and the threads that answer on it.

    Attributes:
        stopped: Ends `wait` when it is set.
    """

    def __init__(self, path: str, fingerprint: str, handle: RequestHandler, log: Log, *, host: str) -> None:
        self._path = path
        self._fingerprint = fingerprint
        self._handle = handle
        self._log = log
        self._host = host
        self._started = time.time()
        self._last_request = time.monotonic()
        self._request_count = 0
        self._slots = threading.BoundedSemaphore(MAX_CONCURRENT)
        self.stopped = threading.Event()
        self._socket: socket.socket | None = None
        self._lock_descriptor = -1

    def lock(self) -> bool:
        """Lock the path without answering yet; False if another process has it, or it cannot be locked."""
        if self._lock_descriptor >= 0:
            return True
        try:
            if not make_private_folder(self._path):
                return False
            self._lock_descriptor = os.open(f"{self._path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            return False
        if not try_lock(self._lock_descriptor):
            self._release()
            return False
        return True

    def open(self) -> bool:
        """Lock the path and answer from now on; False as `lock`."""
        if not self.lock():
            return False
        try:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._path)  # left by an owner that died
            self._socket = self._listen()
        except OSError:
            self._release()
            return False
        threading.Thread(target=self._accept, args=(self._socket,), name="resident", daemon=True).start()
        return True

    def _listen(self) -> socket.socket:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            # Between bind and chmod the private folder protects it.
            listener.bind(self._path)
            os.chmod(self._path, 0o600)
            listener.listen(64)
        except OSError:
            listener.close()
            raise
        return listener

    def close(self) -> None:
        """Stop listening, and wait for running requests."""
        self.stopped.set()
        if self._socket is None:
            self._release()
            return
        with contextlib.suppress(OSError):
            os.unlink(self._path)
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._socket.close()
        self._socket = None
        for _ in range(MAX_CONCURRENT):
            self._slots.acquire(timeout=PEER_TIMEOUT)
        self._release()

    def _release(self) -> None:
        if self._lock_descriptor >= 0:
            os.close(self._lock_descriptor)
            self._lock_descriptor = -1

    def wait(self, idle: float, stop_reason: Callable[[], str]) -> str:
        """Wait until it is stopped, idle for ``idle`` seconds, or ``stop_reason`` returns a reason; return why."""
        while not self.stopped.wait(min(POLL_SECONDS, idle)):
            if time.monotonic() - self._last_request > idle:
                return "idle"
            if not os.path.exists(self._path):
                return "its socket is gone"
            if reason := stop_reason():
                return reason
        return "stopped"

    def _accept(self, listener: socket.socket) -> None:
        while not self.stopped.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            if not self._slots.acquire(blocking=False):
                connection.close()
                continue
            threading.Thread(target=self._serve, args=(connection,), name="request", daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection:
                connection.settimeout(PEER_TIMEOUT)
                connection.sendall(json.dumps(self._reply(connection)).encode("ascii") + b"\n")
        except OSError:
            return  # the peer is gone
        finally:
            self._slots.release()

    def _reply(self, connection: socket.socket) -> dict[str, Any]:
        if not is_same_user(connection):
            return {"refused": "another user"}
        request = _read_request(connection)
        if request is None:
            return {"refused": "no request"}
        if request.get("settings") != self._fingerprint:
            return {"refused": "other settings"}
        verb, arguments = request.get("verb"), request.get("arguments")
        if not isinstance(verb, str) or not isinstance(arguments, dict):
            return {"refused": "no request"}
        if verb in ("state", "stop"):
            if verb == "stop":
                self.stopped.set()
            return {"answer": self.state()}
        self._last_request = time.monotonic()
        self._request_count += 1
        try:
            return {"answer": self._handle(verb, arguments)}
        except _WarmingError:
            return {"refused": "warming"}
        except (ScrubjayError, TypeError, ValueError, KeyError) as error:
            self._log.write("warning", "resident request failed", error=type(error).__name__)
            return {"failed": type(error).__name__}
        finally:
            self._last_request = time.monotonic()

    def state(self) -> dict[str, Any]:
        idle = time.monotonic() - self._last_request
        return {
            "pid": os.getpid(),
            "host": self._host,
            "started": self._started,
            "requests": self._request_count,
            "idle_seconds": round(idle, 1),
        }


def _read_request(connection: socket.socket) -> dict[str, Any] | None:
    try:
        request = json.loads(receive_line(connection, MAX_REQUEST_BYTES, time.monotonic() + PEER_TIMEOUT))
    except (ConnectionError, ValueError, RecursionError):
        return None
    finally:
        connection.settimeout(PEER_TIMEOUT)
    return request if isinstance(request, dict) else None


def is_same_user(connection: socket.socket) -> bool:
    """Return whether the kernel says that the peer runs as the same user."""
    platform: str = sys.platform
    if platform == "linux":
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", credentials)[1]) == os.getuid()
    if platform == "darwin" or "bsd" in platform:
        # struct xucred: version, uid, and groups; SOL_LOCAL is 0 and LOCAL_PEERCRED 1.
        credentials = connection.getsockopt(0, 1, 76)
        return int(struct.unpack_from("II", credentials)[1]) == os.getuid()
    return False


SHUTDOWN_TIMEOUT: Final = 30.0
"""Seconds that an ending process waits for a job; otherwise the next process runs it again."""


class _WarmingError(StoreBusyError):
    """The store is being opened: no failure, the caller asks it alone."""


class DaemonHandler:
    """Answers requests with a memory; safe to call from several threads."""

    def __init__(
        self, open_memory: Callable[[], Memory], settings: Settings, jobs: JobQueue, log: Log
    ) -> None:
        self._open_memory = open_memory
        self._settings = settings
        self._jobs = jobs
        self._log = log
        self._write_lock = threading.Lock()
        self._warm_lock = threading.Lock()
        self._is_warm = False
        self._tools = frozenset(tool.name for tool in TOOLS)

    def __call__(self, verb: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer of a verb.

        Raises:
            InputError: There is no such verb, or its arguments do not fit.
        """
        if verb == "errands":
            threading.Thread(target=self._run_jobs, name="errands").start()
            return {"begun": True}
        if not self._is_warm:
            # The caller is faster without a process that opens its store for the first time.
            threading.Thread(target=self.warm, name="warm", daemon=True).start()
            raise _WarmingError("The store is being opened. Nothing was asked of it.")
        if verb in self._tools:
            return self._tool(verb, arguments)
        if verb == "remind":
            return event_context(self._open_memory(), self._settings.hooks, arguments)
        if verb == "search":
            return self._search(arguments)
        raise InputError(f"There is no verb {verb!r}.")

    def warm(self) -> None:
        """Open the memory and load the models, once; a failure is logged."""
        if self._is_warm or not self._warm_lock.acquire(blocking=False):
            return
        from scrubjay.redaction.redactor import redact_text

        try:
            memory = self._open_memory()
            if not self._settings.models.extra:  # those may be remote: do not send a made-up query
                unchecked = type(memory)(replace(memory.workspace, checks_files=False, log=None))
                unchecked.search("which memories are there")
            self._is_warm = True
            # A hook has no time to load these when it reads an edited file again.
            importlib.import_module("scrubjay.services.sync")
            redact_text("password")
        except ScrubjayError as error:
            self._log.write("warning", "resident not warm", error=type(error).__name__)
        finally:
            self._warm_lock.release()

    def close(self) -> None:
        """Wait for a running write; the memory is closed by its opener."""
        if self._write_lock.acquire(timeout=SHUTDOWN_TIMEOUT):
            self._write_lock.release()

    def _tool(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        tool = find_tool(name)
        if not tool.writes:
            return call_tool(self._open_memory(), tool, arguments)
        with self._write_lock:
            return call_tool(self._open_memory(), tool, arguments)

    def _search(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        memory = self._open_memory()
        if unknown := sorted(set(arguments) - set(inspect.signature(memory.search).parameters)):
            raise InputError(f"A search takes no {unknown[0]}.")
        answer: dict[str, Any] = serializers.to_plain(memory.search(**arguments))
        return answer

    def _run_jobs(self) -> None:
        with self._write_lock:
            self._jobs.run(self._open_memory(), self._settings.hooks, self._log)


def prepare_daemon(
    settings: Settings, open_memory: Callable[[], Memory], env: Mapping[str, str], host: str
) -> tuple[DaemonServer, DaemonHandler] | None:
    """Return a server that is not open yet and its handler; None on Windows and for a store in memory.

    ``open_memory`` opens the memory on the first request; ``host`` is the command that the daemon lives in.
    """
    fingerprint = settings_fingerprint(env)
    path = socket_path(runtime_folder(env), fingerprint)
    if path is None or settings.store.startswith("memory:"):
        return None

    data = data_folder(env)
    log = settings.log.open(data)
    handler = DaemonHandler(open_memory, settings, JobQueue(data, fingerprint), log)
    return DaemonServer(path, fingerprint, handler, log, host=host), handler


@contextmanager
def host_daemon(
    settings: Settings, open_memory: Callable[[], Memory], env: Mapping[str, str], host: str
) -> Iterator[None]:
    """Act as the daemon for these settings until the block ends, unless another process does."""
    daemon = prepare_daemon(settings, open_memory, env, host)
    if daemon is None:
        yield
        return
    server, handler = daemon
    try:
        server.open()
        yield
    finally:
        server.close()
        handler.close()
