"""Readers: processes that answer questions for a server."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from multiprocessing import resource_tracker
from pathlib import Path

import anyio
import pytest

from scrubjay import Memory
from scrubjay.api.auth import Principal
from scrubjay.config.loader import load_settings
from scrubjay.config.settings import Settings
from scrubjay.errors import InputError, StoreError
from scrubjay.server.session import Session
from scrubjay.server.workers import WorkerPool

ANN = Principal("default", "ann")
EVE = Principal("default", "eve")


@pytest.fixture
def settings(environ: dict[str, str], tmp_path: Path) -> Settings:
    return load_settings(environ=environ)


@pytest.fixture
def readers(settings: Settings) -> Iterator[WorkerPool]:
    with Memory.open(settings=settings, user="ann") as memory:
        memory.add("The zeppelin code is 4711.")
    found = WorkerPool(settings, 2)
    for each in found.warm():
        each.result()
    yield found
    found.close()


def snippets(session: Session, who: Principal, query: str = "zeppelin code") -> list[str]:
    answer = json.loads(anyio.run(session.ask, who, "search", {"query": query}))
    return [each["snippet"] for each in answer["results"]]


def test_a_reader_answers_as_the_process_itself_does_and_each_principal_by_itself(
    settings: Settings, readers: WorkerPool
) -> None:
    with Session(settings, workers=readers) as session, Session(settings) as alone:
        for who in (ANN, EVE):
            assert snippets(session, who) == snippets(alone, who)
        assert snippets(session, ANN) == ["The zeppelin code is 4711."]

        async def adds() -> None:
            await session.write(ANN, lambda memory: memory.add("The hangar is on platform nine."))

        anyio.run(adds)
        assert snippets(session, ANN, "hangar")[0] == "The hangar is on platform nine."
        with pytest.raises(InputError, match="no query") as raised:
            anyio.run(session.ask, ANN, "dance", {})
        assert raised.value.hint
        with pytest.raises(InputError, match="limit"):
            anyio.run(session.ask, ANN, "search", {"query": "zeppelin", "limit": 0})


def test_a_reader_that_dies_is_replaced_and_its_question_is_answered(
    settings: Settings, readers: WorkerPool
) -> None:
    with Session(settings, workers=readers) as session:
        for process in multiprocessing.active_children():
            os.kill(process.pid, signal.SIGKILL)
        assert snippets(session, ANN) == ["The zeppelin code is 4711."]


@pytest.mark.parametrize("warms", [False, True])
@pytest.mark.parametrize("program", ["missing", "forbidden", "fails"])
def test_where_no_reader_can_be_started_the_server_answers_itself_and_says_so(
    settings: Settings, environ: dict[str, str], tmp_path: Path, program: str, warms: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    interpreter = tmp_path / program
    if program != "missing":
        interpreter.write_text("#!/bin/sh\nexit 3\n")
        interpreter.chmod(0o755 if program == "fails" else 0o600)
    with Memory.open(settings=settings, user="ann") as memory:
        memory.add("The zeppelin code is 4711.")
    resource_tracker.ensure_running()  # by the same interpreter, if no test before this one has needed it
    multiprocessing.set_executable(str(interpreter))
    try:
        with Session(settings, workers=WorkerPool(settings, 2)) as session:
            if warms:
                anyio.run(session.warm, "search", {"query": "zeppelin code"})
            for _ in range(2):
                assert snippets(session, ANN) == ["The zeppelin code is 4711."]
            anyio.run(session.ready)
    finally:
        multiprocessing.set_executable(sys.executable)
    log = (Path(environ["XDG_DATA_HOME"]) / "scrubjay" / "log").read_text()
    assert log.count('"readers not started"') == 1
    assert "No reader process could be started" in caplog.text


WITHOUT_INTERPRETER = """
import multiprocessing, sys

import anyio

from scrubjay.config.loader import load_settings
from scrubjay.server.session import Session
from scrubjay.server.workers import WorkerPool

multiprocessing.set_executable(sys.argv[1])
settings = load_settings()
with Session(settings, workers=WorkerPool(settings, 2)) as session:
    if sys.argv[2:]:
        anyio.run(session.warm, "search", {"query": "zeppelin code"})
    print(anyio.run(session.ask, session.owner, "search", {"query": "zeppelin code"}).decode())
"""


@pytest.mark.parametrize(
    ("interpreter", "options"), [("/nonexistent", []), ("/bin/false", ["warm"])], ids=["missing", "fails"]
)
def test_a_server_that_can_start_no_process_at_all_answers_itself(
    settings: Settings, environ: dict[str, str], interpreter: str, options: list[str]
) -> None:
    """Python then fails to start the process that tracks the locks of the readers, too."""
    with Memory.open(settings=settings, user="ann") as memory:
        memory.add("The zeppelin code is 4711.")
    command = [sys.executable, "-c", WITHOUT_INTERPRETER, interpreter, *options]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, env={**os.environ, **environ}, check=True
    )
    assert [each["snippet"] for each in json.loads(done.stdout)["results"]] == ["The zeppelin code is 4711."]
    assert "No reader process could be started" in done.stderr


def test_a_server_whose_readers_crash_is_not_ready_until_they_run(
    settings: Settings, readers: WorkerPool
) -> None:
    with Session(settings, workers=readers) as session:
        assert snippets(session, ANN)
        anyio.run(session.ready)
        multiprocessing.set_executable("/bin/false")
        try:
            for process in multiprocessing.active_children():
                process.kill()  # one that has just ended needs no signal
                process.join()
            with pytest.raises(StoreError):
                snippets(session, ANN)
            with pytest.raises(StoreError, match="reader process"):
                anyio.run(session.ready)
        finally:
            multiprocessing.set_executable(sys.executable)
        anyio.run(session.ready)
        assert snippets(session, ANN) == ["The zeppelin code is 4711."]


@pytest.mark.parametrize("processes", [0, 1])
def test_what_a_server_asks_itself_to_be_warm_is_not_told_as_slow(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch, processes: int
) -> None:
    monkeypatch.setenv("SCRUBJAY_LOG_SLOW_MS", "0")
    settings = load_settings()
    with Memory.open(settings=settings) as memory:
        memory.add("The zeppelin code is 4711.")
    log = Path(environ["XDG_DATA_HOME"]) / "scrubjay" / "log"
    with Session(settings, workers=WorkerPool(settings, processes) if processes else None) as session:

        async def asks(queries: Sequence[str]) -> None:
            await session.warm("recall", {"query": "What is remembered here?", "budget": 50})
            for query in queries:
                await session.ask(session.owner, "search", {"query": query})

        anyio.run(asks, ())
        assert not log.exists()
        anyio.run(asks, ["zeppelin code"])
        assert [json.loads(line)["event"] for line in log.read_text().splitlines()] == ["slow search"]


UNGUARDED = """
from scrubjay.config.loader import load_settings
from scrubjay.server.workers import WorkerPool

print("begun", flush=True)
readers = WorkerPool(load_settings(), 1)
readers.warm()[0].result()
readers.close()
"""


def test_a_reader_does_not_run_the_program_that_starts_it(environ: dict[str, str], tmp_path: Path) -> None:
    """A launcher that does not ask whether it is the main program would serve in the reader, which never answers."""
    program = tmp_path / "launcher.py"
    program.write_text(UNGUARDED)
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, timeout=60, env={**os.environ, **environ}
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "begun\n", "")
