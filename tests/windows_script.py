"""Runs command lines as on Windows, as far as that can be had elsewhere: its branches, and nothing that only POSIX has.

The interpreter and the libraries are those of this system, and are loaded before. ``msvcrt`` is a stand-in.
"""

from __future__ import annotations

import fcntl
import importlib.abc
import json
import os
import signal
import socket
import sys
import types
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec

REFUSED = ("fcntl", "pwd", "grp", "resource", "termios")
OS_NAMES = (
    "O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_DIRECTORY", "chown", "fchmod", "fchown", "fork", "getegid", "geteuid",
    "getgid", "getloadavg", "getuid", "killpg", "nice", "posix_spawn", "pread", "setsid", "sysconf", "uname",
)  # fmt: skip
LIBRARIES = (
    "apsw", "asyncio", "click", "concurrent.futures.process", "ctypes", "fastapi", "httpx", "multiprocessing.spawn",
    "numpy", "onnxruntime", "platformdirs", "Stemmer", "subprocess", "tempfile", "tokenizers", "tomlkit", "tqdm",
    "uuid", "uvicorn", "watchfiles", "yaml", "zoneinfo",
)  # fmt: skip


class Refusal(importlib.abc.MetaPathFinder):
    """Has none of the modules that only POSIX has."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        if name in REFUSED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def become_windows() -> None:
    """Take away what Windows lacks."""
    for name in LIBRARIES:
        import_module(name)
    flock, exclusive, release = fcntl.flock, fcntl.LOCK_EX | fcntl.LOCK_NB, fcntl.LOCK_UN
    msvcrt = types.ModuleType("msvcrt")
    msvcrt.LK_NBLCK, msvcrt.LK_LOCK, msvcrt.LK_UNLCK = 2, 1, 0
    msvcrt.locking = lambda file, mode, size: flock(file, exclusive if mode else release)
    sys.modules["msvcrt"] = msvcrt
    for name in REFUSED:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, Refusal())
    for name in OS_NAMES:
        delattr(os, name)
    os.supports_dir_fd.clear()
    del socket.AF_UNIX, signal.SIGKILL
    sys.platform = "win32"


if __name__ == "__main__":
    become_windows()
    from scrubjay.cli.main import run

    codes = [run(args) for args in json.loads(sys.argv[1])]
    print(json.dumps(codes), file=sys.stderr, flush=True)
    os._exit(0)
