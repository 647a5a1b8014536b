"""A server ends when it is told to, whenever that is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from http_server import COMMAND, started

from scrubjay.errors import StoreError
from scrubjay.server.run import Address

EARLY = """
import signal, sys
from pathlib import Path
from scrubjay.config.loader import load_settings
from scrubjay.server.run import Address
from scrubjay.server.run import run_server
from scrubjay.api.auth import TokenStore

async def answer(scope, receive, send):
    if scope["type"] == "lifespan":
        while (message := await receive())["type"] != "lifespan.shutdown":
            await send({"type": message["type"] + ".complete"})
        await send({"type": "lifespan.shutdown.complete"})

early = lambda url: signal.raise_signal(signal.Signals[sys.argv[1]])
run_server(load_settings(), Address("127.0.0.1", 0), TokenStore(Path(sys.argv[2])), lambda session: answer, early)
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


STUCK = """
import os, sys

if "--multiprocessing-fork" in sys.orig_argv:
    os.write(2, b"stuck\\n")
    os.read(0, 1)
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_reader_that_never_comes_to_its_start_does_not_keep_the_server_from_its_end(
    environ: dict[str, str], tmp_path: Path, name: str
) -> None:
    """The reader waits for a word on its standard input, which never comes."""
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "sitecustomize.py").write_text(STUCK)
    path = os.pathsep.join([str(tmp_path / "first"), *filter(None, [os.environ.get("PYTHONPATH")])])
    pipes = dict.fromkeys(("stdin", "stderr"), subprocess.PIPE)
    command = [*COMMAND, "127.0.0.1:0", "--readers", "2"]
    with subprocess.Popen(command, **pipes, env={**os.environ, **environ, "PYTHONPATH": path}) as server:
        try:
            said = b""
            while b"Serving" not in said or said.count(b"stuck") < 2:
                line = server.stderr.readline()
                assert line, said
                said += line
            server.send_signal(signal.Signals[name])
            assert server.wait(30) == 0
        finally:
            server.kill()
            server.stdin.close()
        assert server.stderr.read() == b""


def test_host_and_port_may_be_given_as_options_and_not_beside_an_address(
    environ: dict[str, str], cli
) -> None:
    cold = [sys.executable, "-m", "scrubjay", "serve", "--host", "localhost", "--port", "0"]
    with started(cold, environ, r"Serving at (\S+);") as url:
        assert url.startswith("http://localhost:")
    said = cli("serve", "127.0.0.1:1", "--port", "2")
    assert said.code == 2
    assert "The address is given twice" in said.err


@pytest.mark.parametrize("command", [("serve", "127.0.0.1:0"), ("worker",), ("mcp",), ("watch",), ("proxy",)])
def test_a_store_in_a_folder_that_is_not_there_is_refused_and_not_made(
    cli, tmp_path: Path, command: tuple[str, ...]
) -> None:
    store = tmp_path / "nope" / "memory.db"
    said = cli(*command, "--store", store)
    assert said.code == 2
    assert (
        said.err == f"error: There is no folder {store.parent} for the store memory.db. "
        "Nothing was started or created.\nhint: check --store, or create the folder\n"
    )
    assert not store.parent.exists()


def test_an_address_of_another_machine_gets_a_hint_of_its_own() -> None:
    with pytest.raises(StoreError) as told:
        Address("192.0.2.1", 0).bind()
    assert told.value.hint.startswith("name an address of this machine")


def test_a_server_names_its_store_and_makes_one_where_the_folder_is_there(
    environ: dict[str, str], tmp_path: Path
) -> None:
    store = tmp_path / "new.db"
    command = [*COMMAND, "127.0.0.1:0", "--readers", "0", "--store", str(store)]
    with started(command, environ, r"Serving at \S+; store (\S+); press") as named:
        assert named == str(store)
    assert store.exists()
