"""A server ends when it is told to, whenever that is."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

EARLY = """
import signal, sys
from pathlib import Path
from scrubjay.config import load
from scrubjay.surfaces.serve.address import Address
from scrubjay.surfaces.serve.run import serve
from scrubjay.verbs.tokens import Tokens

async def answer(scope, receive, send):
    if scope["type"] == "lifespan":
        while (message := await receive())["type"] != "lifespan.shutdown":
            await send({"type": message["type"] + ".complete"})
        await send({"type": "lifespan.shutdown.complete"})

early = lambda url: signal.raise_signal(signal.Signals[sys.argv[1]])
serve(load(), Address("127.0.0.1", 0), Tokens(Path(sys.argv[2])), lambda session: answer, early)
print("ended")
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_that_comes_as_soon_as_the_address_is_told_ends_the_server(
    environ: dict[str, str], name: str
) -> None:
    """Whoever reads the address may end it at once; it then listens to signals, and the server does not yet."""
    command = [sys.executable, "-c", EARLY, name, environ["XDG_CONFIG_HOME"]]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, env={**os.environ, **environ}, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "ended\n", "")
