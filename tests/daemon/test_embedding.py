"""Background embedding: one quiet process a store, there while something is pending and gone when nothing is."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hooking import Machine

from scrubjay import Memory
from scrubjay.config.loader import load_settings
from scrubjay.config.paths import settings_fingerprint
from scrubjay.config.settings import Settings
from scrubjay.daemon import embedding
from scrubjay.daemon.embedding import (
    EmbeddingJob,
    pause_reason,
    processor_and_wall_seconds,
    run_embedding,
    start_embedding,
    stop_reason,
)
from scrubjay.embeddings.base import EmbedderCatalog
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import ProviderError
from scrubjay.ingest.embedder import BACKFILL_BATCH
from scrubjay.models.lifecycle import NewMemory
from scrubjay.services.models import ModelRegistry
from scrubjay.services.sync import pending_work

COUNT = BACKFILL_BATCH * 2 + 10
YEAR = 365


class Second(HashEmbedder):
    """A model to be backfilled, which remembers what it was asked; it fails where it is told to."""

    def __init__(self, *, fails: bool = False) -> None:
        super().__init__(48, name="second")
        self.heard: list[str] = []
        self.fails = fails

    def embed(self, texts: Sequence[str], *, kind: Any = "passage") -> Any:
        if self.fails:
            raise ProviderError("Its file is missing.")
        self.heard += texts
        return super().embed(texts, kind=kind)


class Store:
    """A store in a file, with memories of many days that wait for the second model, and its job."""

    def __init__(self, folder: Path, *, fails: bool = False) -> None:
        environ = {"SCRUBJAY_CONFIG": "", "HOME": str(folder), "XDG_DATA_HOME": str(folder / "data")}
        environ |= {"SCRUBJAY_STORE": str(folder / "memory.db"), "SCRUBJAY_USER": "ann"}
        self.env = environ
        self.settings: Settings = load_settings(environ=environ)
        self.data = folder / "data" / "scrubjay"
        self.job = EmbeddingJob(str(self.data), self.settings.store)
        self.second = Second(fails=fails)
        self.open_now = 0
        self.slept: list[float] = []
        with self.open() as memory:
            memory.add_many(
                [NewMemory(f"Kettle {n}.", date=f"{1900 + n % YEAR}-05-01") for n in range(COUNT)]
            )

    def open(self) -> Memory:
        return Memory.open(settings=self.settings, embedders=[HashEmbedder(64), self.second])

    @property
    def waiting(self) -> int:
        with self.open() as memory:
            return memory.models()[1].waiting

    def run(
        self,
        *,
        pause: Callable[[], str] = lambda: "",
        stop: Callable[[], str] = lambda: "",
        clock: Callable[[], tuple[float, float]] = processor_and_wall_seconds,
    ) -> bool:
        return run_embedding(self.job, self.open, pause, stop, self.slept.append, clock)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def test_all_that_is_pending_is_embedded_newest_first_and_nothing_is_left_noted(store: Store) -> None:
    assert store.run()
    assert store.waiting == 0
    assert store.second.heard == [f"Kettle {n}." for n in reversed(range(COUNT))]
    assert store.job.state() is None


def test_only_one_process_embeds_for_a_store(store: Store) -> None:
    with store.job.exclusive() as locked:
        assert locked
        assert EmbeddingJob(str(store.data), f"sqlite:///{store.settings.store}").is_running()
        assert not store.run()
    assert (store.second.heard, store.waiting) == ([], COUNT)
    assert not store.job.is_running()


def test_it_rests_between_two_batches_for_as_long_as_it_used_the_processor(store: Store) -> None:
    used = itertools.count(0.0, 3.0)  # of two looks at the clock, 3 seconds apart in both kinds of time
    store.run(clock=lambda: (at := next(used), at))
    assert len(store.slept) > COUNT // BACKFILL_BATCH
    assert set(store.slept) == {3.0}


def test_it_does_not_rest_where_it_waited_for_the_processor_anyway(store: Store) -> None:
    used = itertools.count(0.0, 3.0)
    store.run(clock=lambda: (at := next(used), 2 * at))
    assert set(store.slept) == {0.0}


def test_on_a_busy_machine_it_pauses_says_why_and_goes_on_later(store: Store) -> None:
    busy: Iterator[str] = iter(["", "", "on battery power", "on battery power", *[""] * 9])
    seen: list[Any] = []

    def pause() -> str:
        why = next(busy)
        seen.append((store.job.state() or {}).get("paused"))
        return why

    assert store.run(pause=pause)
    assert store.waiting == 0
    assert embedding.PAUSE_CHECK_SECONDS in store.slept
    assert "on battery power" in seen
    assert len(store.second.heard) == COUNT  # what was done before the pause is not done again


def test_stopped_midway_it_keeps_each_batch(store: Store) -> None:
    asked: Iterator[str] = iter(["", "", "its settings changed", "its settings changed"])
    store.run(stop=lambda: next(asked))
    assert store.waiting == COUNT - BACKFILL_BATCH
    assert store.job.state() is None


def test_a_model_that_fails_is_told_and_not_tried_again_at_once(tmp_path: Path) -> None:
    store = Store(tmp_path, fails=True)
    with pytest.raises(ProviderError):
        store.run()
    state = store.job.state()
    assert state is not None
    assert (state["running"], state["problem"]) == (False, "Its file is missing.")
    with store.open() as memory:
        assert not start_embedding(store.settings, store.env, memory)
    assert not store.job.is_running()


def test_a_model_that_would_send_texts_away_is_not_asked_unasked(store: Store) -> None:
    with store.open() as memory:
        workspace = memory.workspace
        remote = Second()
        others = {"remote": lambda: remote}
        registry = ModelRegistry(
            workspace.store, workspace.scope, EmbedderCatalog(HashEmbedder(64), others), cold=False
        )
        asked = Memory(replace(workspace, models=registry))
        assert asked.models()[1].waiting == COUNT
        assert pending_work(memory.workspace, bundled=True) == COUNT
        assert pending_work(asked.workspace, bundled=True) == 0


@pytest.mark.parametrize(
    "settings",
    [{"models.background": "never"}, {"store": "memory://"}, {"store": "sqlite:///elsewhere.db"}],
    ids=["switched off", "in memory", "relative to this folder"],
)
def test_none_is_started_where_it_must_not_or_would_not_find_the_store(
    store: Store, settings: dict[str, object]
) -> None:
    chosen = load_settings(environ=store.env, overrides=settings)
    with store.open() as memory:
        assert not start_embedding(chosen, store.env, memory)


def test_none_is_started_where_nothing_is_pending(store: Store) -> None:
    store.run()
    with store.open() as memory:
        assert not start_embedding(store.settings, store.env, memory)


def supplies(folder: Path, **found: dict[str, str]) -> Path:
    for name, files in found.items():
        (folder / name).mkdir(parents=True)
        for file, word in files.items():
            (folder / name / file).write_text(f"{word}\n")
    return folder


BATTERY = {"type": "Battery", "status": "Discharging"}


@pytest.mark.parametrize(
    ("found", "on_battery"),
    [
        ({}, False),
        ({"BAT0": BATTERY, "AC": {"type": "Mains", "online": "0"}}, True),
        ({"BAT0": BATTERY, "AC": {"type": "Mains", "online": "1"}}, False),
        ({"BAT0": {"type": "Battery", "status": "Full"}}, False),
        ({"mouse": {**BATTERY, "scope": "Device"}}, False),
    ],
    ids=["unknown", "unplugged", "plugged in", "full", "of a mouse"],
)
@pytest.mark.skipif(sys.platform != "linux", reason="the folder is Linux's")
def test_a_machine_on_its_battery_is_recognised(
    tmp_path: Path, found: dict[str, dict[str, str]], on_battery: bool
) -> None:
    why = pause_reason(lambda: 0, supplies(tmp_path / "power", **found))
    assert (why == "on battery power") is on_battery


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no load average")
def test_a_busy_machine_computes_the_little_that_is_pending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (99.0, 99.0, 99.0))
    assert not pause_reason(lambda: embedding.FEW_PENDING, tmp_path)
    assert "busy" in pause_reason(lambda: embedding.FEW_PENDING + 1, tmp_path)


def test_a_process_that_finds_nothing_to_do_ends(store: Store) -> None:
    with store.open() as memory:
        memory.embed()
    asked = 0

    def stop() -> str:
        nonlocal asked
        asked += 1
        return "" if asked < 9 else "it goes on for ever"

    job, opened = store.job, partial(Memory.open, settings=store.settings, embedders=[HashEmbedder(64)])
    assert run_embedding(job, opened, lambda: "", stop, store.slept.append)
    assert asked < 9


def test_a_failure_in_the_future_of_a_clock_that_was_set_back_delays_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path, fails=True)
    with pytest.raises(ProviderError):
        store.run()
    assert store.job.has_failed_lately()
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now - 3_600)
    assert not store.job.has_failed_lately()


def test_a_paused_process_ends_when_another_one_has_done_the_work(store: Store) -> None:
    def pause() -> str:
        with store.open() as memory:
            memory.embed()
        return "on battery power"

    assert store.run(pause=pause)
    assert store.job.state() is None
    assert embedding.PAUSE_CHECK_SECONDS not in store.slept


def test_a_process_ends_within_a_pause_once_its_store_is_gone(store: Store) -> None:
    file = Path(store.settings.store.removeprefix("sqlite:///"))

    def sleep(_: float) -> None:
        for each in file.parent.glob(f"{file.name}*"):
            each.unlink()

    fingerprint = settings_fingerprint(store.env)
    run_embedding(
        store.job,
        store.open,
        lambda: "on battery power",
        lambda: stop_reason(store.settings, store.env, fingerprint),
        sleep,
    )
    assert not file.exists()
    assert not store.job.is_running()


@pytest.fixture
def busy(here: Machine) -> Machine:
    """The machine with background embedding switched on, whatever its load, and a folder of notes."""
    (here.project / "db.md").write_text("# Database\n\nOur staging database is called heron.\n")
    return Machine(here.root, {**here.env, "SCRUBJAY_MODELS_BACKGROUND": "always"})


def pending(here: Machine) -> int:
    return sum(model["waiting"] for model in here.run("models", "--json").json["models"])


def running(here: Machine) -> bool:
    return EmbeddingJob(str(here.data), here.env["SCRUBJAY_STORE"]).is_running()


def test_a_sync_is_followed_by_a_process_that_embeds_and_ends(busy: Machine) -> None:
    done = busy.run("sync", str(busy.project))
    assert b"in the background" in done.out
    busy.wait(lambda: not pending(busy))
    busy.wait(lambda: not running(busy))
    assert b"embedding  " not in busy.run("status").out
    again = busy.run("sync", str(busy.project))
    assert not running(busy)
    assert b"pending embedding" not in again.out


def test_a_session_that_ends_is_embedded(busy: Machine) -> None:
    path = busy.transcript(("user", "Remember: our staging database is called heron."))
    busy.hook("session-end", transcript_path=str(path))
    busy.wait(lambda: "errand capture" in busy.events())
    busy.wait(lambda: busy.store.exists() and not pending(busy))
    assert busy.found("staging database")
    busy.wait(lambda: not running(busy))


@pytest.mark.parametrize(
    "command", [["resident", "serve"], ["watch"], ["serve", "127.0.0.1:0"]], ids=lambda words: words[0]
)
def test_a_process_that_serves_the_store_sees_to_it(busy: Machine, command: list[str]) -> None:
    busy.run("sync", str(busy.project), SCRUBJAY_MODELS_BACKGROUND="never")
    assert pending(busy) > 0
    line = [sys.executable, "-P", "-m", "scrubjay", *command]
    with subprocess.Popen(
        line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=busy.env, cwd=busy.project
    ) as serving:
        busy.wait(lambda: not pending(busy))
        busy.wait(lambda: not running(busy))
        serving.terminate()
        serving.wait()


def test_status_and_doctor_say_what_waits_who_embeds_and_why_it_pauses(here: Machine) -> None:
    here.run("add", "Our staging database is called heron.")
    assert b"1 pending; models.background is never" in here.run("status").out
    on = Machine(here.root, {**here.env, "SCRUBJAY_MODELS_BACKGROUND": "idle"})
    assert b"1 pending; the next sync" in on.run("status").out
    job = EmbeddingJob(str(here.data), here.env["SCRUBJAY_STORE"])
    with job.exclusive():
        job.write_state(paused="on battery power")
        told = on.run("status").out.decode()
        assert f"1 pending; background process {os.getpid()} is paused since" in told
        assert ": on battery power" in told
        assert on.run("status", "--json").json["embedding"]["paused"] == "on battery power"
        checks = json.loads(on.run("doctor", "--json").out)["checks"]
        (vectors,) = [check for check in checks if check["about"] == "vectors"]
        assert "on battery power" in vectors["found"]
        assert vectors["state"] == "ok"
        on.run("embed")
        assert b"paused" not in on.run("status").out
    job.write_state(problem="Its file is missing.")
    assert b"the background process failed" in on.run("status").out


def test_the_data_folder_is_made_for_this_account_alone(tmp_path: Path) -> None:
    data = tmp_path / "home" / "data"
    EmbeddingJob(str(data), "sqlite:////srv/memory.db").record_check()
    assert [folder.stat().st_mode & 0o777 for folder in (data, data / "embedding")] == [0o700, 0o700]
