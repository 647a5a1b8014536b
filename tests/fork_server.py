"""Runs `python -m scrubjay` in processes forked from one that has imported the package, without its second of imports.

`SCRUBJAY` begins a command line in place of ``[sys.executable, "-m", "scrubjay"]``; `PROGRAM` is a file that does the
same, in place of the program `scrubjay`. The fork has the arguments, environment, folder and standard streams of a
process of its own. The process that a test sees (`forked_command`) ends as the fork does. Variables that Python reads
at its start, such as ``PYTHONUNBUFFERED``, have no effect in a fork. Tests of a cold start write that command line out.
"""

from __future__ import annotations

import atexit
import functools
import gc
import importlib
import marshal
import os
import runpy
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

IMPORTED = (
    "anyio._backends._asyncio", "mcp.server.lowlevel", "mcp.server.streamable_http_manager",
    "scrubjay.cli.main", "scrubjay.server.app", "scrubjay.server.mcp.http", "scrubjay.server.mcp.stdio",
    "scrubjay.server.proxy.app", "scrubjay.server.run", "scrubjay.services.search", "scrubjay.services.context",
    "scrubjay.storage.sqlite.store", "uvicorn.lifespan.on", "uvicorn.protocols.http.h11_impl",
)  # fmt: skip
FORKS = hasattr(os, "pidfd_open")
FOLDER = Path(tempfile.gettempdir()) / f"scrubjay-fork-server-{os.getpid()}"
RELAY = Path(__file__).with_name("forked_command.py")
SCRUBJAY: list[str] = [sys.executable] + (
    ["-IS", str(RELAY), str(FOLDER / "socket")] if FORKS else ["-m", "scrubjay"]
)
PROGRAM = FOLDER / "bin" / "scrubjay" if FORKS else Path(sys.executable).with_name("scrubjay")


@functools.cache
def start() -> None:
    """Start the process that forks; it ends with this one."""
    if not FORKS:
        return
    FOLDER.mkdir(mode=0o700)
    PROGRAM.parent.mkdir()
    PROGRAM.write_text(f'#!/bin/sh\nexec {shlex.join(SCRUBJAY)} "$@"\n')
    PROGRAM.chmod(0o700)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(FOLDER / "socket"))
        listener.listen(64)
        command = [sys.executable, __file__, str(listener.fileno())]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[listener.fileno()])

    def end() -> None:
        with process:
            assert process.stdin is not None
            process.stdin.close()
        shutil.rmtree(FOLDER)

    atexit.register(end)


def fork_on_request(listener: socket.socket) -> list[str]:
    """Return, in a fork, the arguments of each command that is asked for; end when standard input does."""
    running: dict[int, tuple[socket.socket, int]] = {}  # who asked and which process, by its descriptor
    while True:
        asked = {line.fileno(): descriptor for descriptor, (line, _) in running.items()}
        ready, _, _ = select.select([0, listener.fileno(), *running, *asked], [], [])
        for descriptor in running.keys() & ready:
            _end(descriptor, *running.pop(descriptor))
        for gone in asked.keys() & ready:  # whoever asked was killed
            if asked[gone] in running:
                os.kill(running[asked[gone]][1], signal.SIGKILL)
        if 0 in ready:
            for _, pid in running.values():
                os.kill(pid, signal.SIGKILL)
            sys.exit()
        if listener.fileno() not in ready:
            continue
        line, _ = listener.accept()
        streams: list[int] = []
        try:
            _, streams, _, _ = socket.recv_fds(line, 1, 3)
            with line.makefile("rb") as given:
                args, environ, folder = marshal.load(given)
        except (
            OSError,
            EOFError,
            ValueError,
            TypeError,
        ):  # whoever asked was killed before all of it was sent
            for stream in streams:
                os.close(stream)
            line.close()
            continue
        if (pid := os.fork()) == 0:
            break
        for stream in streams:
            os.close(stream)
        with suppress(OSError):
            line.sendall(f"{pid}\n".encode())
        running[os.pidfd_open(pid)] = line, pid
    for descriptor, (other, _) in running.items():
        os.close(descriptor)
        other.close()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    listener.close()
    line.close()
    sys.stdin = open(0, errors=sys.stdin.errors)  # noqa: SIM115 they stay open
    sys.stdout = open(1, "w", errors=sys.stdout.errors)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace")  # noqa: SIM115
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # also where a shell started the tests without it
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(folder)
    time.tzset()
    return list(args)


def _end(descriptor: int, line: socket.socket, pid: int) -> None:
    """Say how a fork ended to whoever asked for it."""
    _, status = os.waitpid(pid, 0)
    os.close(descriptor)
    with line, suppress(OSError):
        line.sendall(f"{status}\n".encode())


if __name__ == "__main__":
    for name in IMPORTED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    sys.argv[1:] = fork_on_request(socket.socket(fileno=int(sys.argv[1])))
    del sys.path[0]
    runpy.run_module("scrubjay", run_name="__main__", alter_sys=True)
