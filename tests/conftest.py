"""What every test shares."""

from __future__ import annotations

import gc
import itertools
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from store_contract.postgres_server import PostgresServer

# The published suites assert in plain Python; rewriting makes a failure show both sides.
pytest.register_assert_rewrite("store_contract")

# Programs that tests start import the contract suite too.
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, (str(Path(__file__).parent), os.environ.get("PYTHONPATH")))
)

# No process is left behind; a test of background embedding switches it on.
os.environ["SCRUBJAY_MODELS_BACKGROUND"] = "never"

# What the day is must not hang on where a test runs; a test of another zone says so.
os.environ["TZ"] = "UTC"
if hasattr(time, "tzset"):
    time.tzset()

# A busy machine is no failure.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")

PAGE = Path(__file__).parents[1] / "docs" / "deployment.md"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rounds",
        type=int,
        default=None,
        help="rounds of each fault test; each has a small number of its own",
    )
    parser.addoption("--kills", type=int, default=None, help="kills in all, over all kinds of work")
    parser.addoption("--seed", type=int, default=1, help="what the choices of fault tests are made of")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # the process that prints, and not one of xdist's workers
        config.pluginmanager.register(FailureLog(config), "failure log")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Leave what is collected out of garbage collection, which would look through it all again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


class FailureLog:
    """Prints a failing test as soon as it fails, so that a run which is stopped has still said what failed."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and terminal is not None:
            crash = getattr(report.longrepr, "reprcrash", None)
            problem = f" - {crash.message.splitlines()[0]}" if crash and crash.message else ""
            terminal.write_line(f"\nfailed: {report.nodeid}{problem}", flush=True)


NUMBERS = itertools.count()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new folder; pytest's own is numbered after a look at those of all tests before, which takes ever longer."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    folder = tmp_path_factory.getbasetemp() / "t" / f"{name}{next(NUMBERS)}"
    folder.mkdir(mode=0o700, parents=True)
    return folder


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store file without tenants: a copy of it costs a tenth of making its tables."""
    from scrubjay.storage.sqlite.store import SQLiteStore

    path = tmp_path_factory.mktemp("empty") / "memory.db"
    SQLiteStore(path).close()
    return path


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
    with _server() as server:
        yield server.url


@pytest.fixture
def database(postgres_url: str) -> Iterator[str]:
    """The URL of a database that this test has to itself."""
    from store_contract.postgres_server import temporary_database

    with temporary_database(postgres_url, "alone") as url:
        yield url


@pytest.fixture
def vector_url(database: str) -> str:
    """The URL of that database, with pgvector."""
    import psycopg

    with psycopg.connect(database, autocommit=True) as db:
        db.execute("CREATE EXTENSION vector SCHEMA public")
    return database


@pytest.fixture
def postgres_server() -> Iterator[PostgresServer]:
    """A server that this test has to itself, to stop and to start again."""
    with _server() as server:
        yield server


@contextmanager
def _server() -> Iterator[PostgresServer]:
    from store_contract.postgres_server import SERVER_PACKAGE, server_programs, start_server

    places = server_programs()
    if places is None:
        if sys.platform == "linux":
            pytest.fail(f"{SERVER_PACKAGE} is not installed: `pip install --group dev`")
        pytest.skip(f"{SERVER_PACKAGE} has no wheel for {sys.platform}")
    with start_server(places, fsync="off") as server:
        yield server


@pytest.fixture(scope="session")
def application_url(postgres_url: str) -> str:
    """The URL of a database of that server as its user without rights over it, both made as docs/deployment.md says."""
    import psycopg

    from scrubjay.storage.postgres.store import PostgresStore

    page = PAGE.read_text("utf-8")
    first, second = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    (last,) = re.findall(r"psql \S+ -c '(.*?)'", page)
    owner = postgres_url.replace("scrubjay@/postgres", "scrubjay_owner@/memories")
    with psycopg.connect(postgres_url, autocommit=True) as db:
        for statement in filter(None, map(str.strip, first.split(";"))):
            db.execute(statement)
    with psycopg.connect(owner.replace("scrubjay_owner@", "scrubjay@")) as db:
        db.execute("CREATE EXTENSION vector SCHEMA public")
    with psycopg.connect(owner) as db:
        db.execute(second)
    PostgresStore(owner).close()
    with psycopg.connect(owner) as db:
        db.execute(last)
    return owner.replace("scrubjay_owner@", "scrubjay_app@")
