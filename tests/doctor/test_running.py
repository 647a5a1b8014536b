"""What runs behind the person's back, is paused, or was left by the dead."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay.api.jobs import JobQueue
from scrubjay.config.paths import Pauses, runtime_folder, settings_fingerprint
from scrubjay.daemon import client
from scrubjay.daemon.client import socket_path
from scrubjay.daemon.server import host_daemon
from scrubjay.doctor import checks
from scrubjay.doctor.checks import Installation
from scrubjay.models.reports import OK, PROBLEM, WARNING, Check


@pytest.fixture
def case(make: Callable[..., Installation]) -> Installation:
    return make()


def found(case: Installation) -> dict[str, Check]:
    return {check.about: check for check in checks.check_background(case)}


def test_nothing_that_runs_is_as_it_should_be(case: Installation) -> None:
    assert {check.state for check in found(case).values()} == {OK}
    assert set(found(case)) == {"pause", "resident"}


def test_a_pause_is_told_with_whom_and_until_when(case: Installation) -> None:
    pauses = Pauses(str(case.home.data))
    pauses.pause("codex", 3600)
    told = found(case)["pause"]
    assert (told.state, told.fix) == (WARNING, "scrubjay resume")
    assert "codex until 2" in told.found
    assert checks.hooks_off_reason(case, "claude-code") == ""
    pauses.pause()
    assert "all agents until `scrubjay resume`" in found(case)["pause"].found
    assert checks.hooks_off_reason(case, "claude-code")


def test_a_resident_is_told_with_where_it_lives(case: Installation) -> None:
    with case.memory() as memory, host_daemon(case.settings, lambda: memory, case.home.env, "watch"):
        told = found(case)
    assert (told["resident"].state, "in `scrubjay watch`" in told["resident"].found) == (OK, True)
    assert "sockets" not in told


def test_a_folder_of_sockets_that_others_may_enter_is_a_problem(case: Installation) -> None:
    folder = Path(runtime_folder(case.home.env))
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    assert found(case)["resident"].state == PROBLEM
    assert found(case)["resident"].fix == f"chmod 700 {folder}"


def test_a_dead_ones_socket_is_told_and_taken_away_a_living_ones_stays(case: Installation) -> None:
    folder = Path(runtime_folder(case.home.env))
    folder.mkdir(mode=0o700)
    dead = folder / "0123.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(dead))
    with case.memory() as memory, host_daemon(case.settings, lambda: memory, case.home.env, "mcp"):
        assert (found(case)["sockets"].state, found(case)["sockets"].fix) == (
            WARNING,
            "scrubjay doctor --fix",
        )
        assert dead.exists()
        fixed = found(replace(case, fix=True))["sockets"]
        assert (fixed.state, fixed.mended) == (OK, True)
        assert not dead.exists()
        assert "process" in found(case)["resident"].found
    assert "sockets" not in found(case)


def test_what_hooks_left_to_be_done_is_told_when_nobody_does_it(case: Installation) -> None:
    errands = JobQueue(str(case.home.data), settings_fingerprint(case.home.env))
    errands.enqueue("capture", root="/r", path="/r/a.jsonl", event="stop")
    assert "errands" not in found(case)
    (waiting,) = [path for path in Path(errands.folder).iterdir() if path.name != "lock"]
    long_ago = time.time() - 3600
    os.utime(waiting, (long_ago, long_ago))
    assert found(case)["errands"].state == WARNING
    with errands.exclusive():
        assert "errands" not in found(case)


def test_a_proof_has_a_resident_as_a_session_has_and_leaves_none_behind(
    case: Installation, make: Callable[..., Installation], environ: dict[str, str]
) -> None:
    def state() -> object:
        mark = settings_fingerprint(environ)
        return client.daemon_state(socket_path(runtime_folder(environ), mark), mark)

    with checks.daemon_running(case):
        assert state() is None  # the settings want none
    environ["SCRUBJAY_RESIDENT_AUTO"] = "true"
    with checks.daemon_running(make()):
        assert state() is not None
        with checks.daemon_running(make()):
            pass
        assert state() is not None  # who did not start it does not stop it
    assert state() is None
