"""A command forked from `warm` is, to whoever starts it, as a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from warm import FORKS, SCRUBJAY, start

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
