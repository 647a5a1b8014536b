"""A command forked from `fork_server` is, to whoever starts it, as a process of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fork_server import FOLDER, FORKS, SCRUBJAY, start

pytestmark = pytest.mark.skipif(not FORKS, reason="this system has no pidfd_open: commands start anew")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    start()
    return {**os.environ, "SCRUBJAY_STORE": str(tmp_path / "memory.db"), "SCRUBJAY_USER": "ann"}


def test_it_has_the_streams_arguments_environment_and_folder_it_is_given(
    environ: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "note.md").write_text("# Hull\n\nThe hull is blue.\n")
    command = [*SCRUBJAY, "sync", "note.md"]
    done = subprocess.run(command, env=environ, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "1 passage: 1 added" in done.stdout
    wrong = subprocess.run([*SCRUBJAY, "fly"], env=environ, capture_output=True, text=True, check=False)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "No such command: fly" in wrong.stderr


@pytest.mark.parametrize(
    ("end", "code"),
    [(subprocess.Popen.terminate, -signal.SIGTERM), (subprocess.Popen.kill, -signal.SIGKILL)],
    ids=["terminated", "killed"],
)
def test_it_ends_with_the_process_that_was_started(
    environ: dict[str, str], end: Callable[[subprocess.Popen[str]], None], code: int
) -> None:
    with subprocess.Popen([*SCRUBJAY, "mcp"], env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write('{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        process.stdin.flush()
        assert process.stdout.readline()
        end(process)
        assert process.stdout.read() == ""  # until nobody holds the other end
        assert process.wait(30) == code


@pytest.mark.parametrize("line", [None, b"", b"["], ids=["no streams", "no line", "half a line"])
def test_a_relay_that_is_killed_before_it_asked_leaves_the_next_command_alone(
    environ: dict[str, str], line: bytes | None
) -> None:
    with socket.socket(socket.AF_UNIX) as asking:
        asking.connect(str(FOLDER / "socket"))
        if line is not None:
            socket.send_fds(asking, [b"-"], [0, 1, 2])
            asking.sendall(line)
    done = subprocess.run([*SCRUBJAY, "--version"], env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("scrubjay")
