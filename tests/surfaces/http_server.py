"""The server over HTTP, as a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager

from fork_server import SCRUBJAY

COMMAND = [*SCRUBJAY, "serve"]


@contextmanager
def started(command: Sequence[str], environ: Mapping[str, str], told: str) -> Iterator[str]:
    """Run a server and yield the URL that it tells; it must end well."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE, env={**os.environ, **environ}, text=True)
    assert process.stderr is not None
    with process:
        try:
            said = ""
            while not (found := re.search(told, said)):
                line = process.stderr.readline()
                assert line, f"the server ended: {said}"
                said += line
            yield found[1]
        finally:
            process.send_signal(signal.SIGINT)
            rest = process.stderr.read()
        assert process.wait(30) == 0, rest
        assert "Traceback" not in rest, rest


def serving(
    environ: Mapping[str, str], *options: str, address: str = "127.0.0.1:0"
) -> AbstractContextManager[str]:
    """Run `scrubjay serve`, without processes that answer queries unless the options ask for some."""
    readers = () if "--readers" in options else ("--readers", "0")
    return started([*COMMAND, address, *readers, *options], environ, r"Serving at (\S+);")
