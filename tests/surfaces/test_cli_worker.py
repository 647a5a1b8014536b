"""`scrubjay worker` enriches and embeds what users add, for as long as it runs, and ends when it is told to."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fork_server import SCRUBJAY
from loopback import eventually
from scrubjay import Memory
from scrubjay.api.auth import Principal, TokenStore
from scrubjay.config.loader import load_settings
from scrubjay.daemon.embedding import EmbeddingJob
from scrubjay.services.sync import enrich_and_embed, pending_work

TEXT = "The kettle of the Tideline office is blue, and ask Mara Lindqvist about it."


class Running:
    """A worker as a process of its own; iterating gives what it reports."""

    def __init__(self, environ: dict[str, str], *options: str) -> None:
        command = [*SCRUBJAY, "worker", "--json", *options]
        pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
        around = {
            **os.environ,
            **environ,
            "PYTHONUNBUFFERED": "",
        }  # empty: a pipe is written in blocks, as usual
        self.process = subprocess.Popen(command, **pipes, env=around, text=True)
        assert self.process.stderr is not None
        said = self.process.stderr.readline()
        assert "press Ctrl-C to stop" in said, said + self.process.stderr.read()

    def reports(self, user: str) -> dict[str, Any]:
        """Wait for a report of work for a user that embedded something."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            found = json.loads(line)
            if found["user"] == user and found["embedded"]["embedded"]:
                return found
        raise AssertionError("the worker ended")

    def end(self, number: signal.Signals = signal.SIGTERM) -> str:
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, said
        assert "Traceback" not in said, said
        return said


@pytest.fixture
def running(environ: dict[str, str]) -> Iterator[Running]:
    worker = Running(environ)
    try:
        yield worker
    finally:
        worker.process.kill()
        worker.process.communicate()


def test_what_is_added_while_it_runs_is_enriched_and_embedded(
    running: Running, environ: dict[str, str]
) -> None:
    with Memory.open(settings=load_settings(environ=environ)) as memory:
        memory.add(TEXT)
        done = running.reports("ann")
        if done["embedded"]["waiting"]:  # it was added between two models of the worker's first round
            done = running.reports("ann")
        assert (done["embedded"]["waiting"], done["enriched"]["waiting"]) == (0, 0)
        eventually(lambda: not pending_work(memory.workspace))
        assert all(each.waiting == 0 for each in memory.models())
    running.end()


def test_it_works_for_every_user_who_has_a_token(
    running: Running, environ: dict[str, str], tokens: TokenStore
) -> None:
    tokens.create("bo", Principal("default", "bo", ("crew",)), None)
    with Memory.open(settings=load_settings(environ=environ)) as memory:
        seen = memory.seen_by("bo", groups=("crew",))
        seen.add(TEXT, visibility="group", group="crew")
        assert pending_work(memory.workspace) == 0
        assert running.reports("bo")["groups"] == ["crew"]
        eventually(lambda: not pending_work(seen.workspace))


def test_it_works_for_users_without_a_token_who_log_in_elsewhere(
    running: Running, environ: dict[str, str]
) -> None:
    """Users of an OAuth issuer, and those whose token has expired, are in no file that the worker could read."""
    with Memory.open(settings=load_settings(environ=environ)) as memory:
        alone, member, other = (
            memory.seen_by("bo"),
            memory.seen_by("cy", groups=("crew",)),
            memory.seen_by("di", tenant="elsewhere"),
        )
        alone.add(TEXT)
        member.add(
            "The spare key of the Tideline office hangs in the boathouse.", visibility="group", group="crew"
        )
        other.add("The keel of the Fenwick is red.", visibility="public")
        assert running.reports("bo")["groups"] == []
        assert running.reports("")["groups"] == ["crew"]
        assert running.reports("")["tenant"] == "elsewhere"
        eventually(lambda: not any(pending_work(one.workspace) for one in (alone, member, other)))


def test_notes_of_a_group_are_enriched_with_the_groups_of_who_synced_them(
    environ: dict[str, str], tmp_path: Path
) -> None:
    """A source is its owner's alone, so that no bare member of the group could enrich its notes."""
    from scrubjay.daemon.worker import stored_principals

    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "key.md").write_text(f"---\nvisibility: group\ngroup: crew\n---\n{TEXT}\n")
    owner, member = Principal("default", "ann"), Principal("default", "bo", ("crew",))
    with Memory.open(settings=load_settings(environ=environ)) as memory:
        writer = memory.seen_by("bo", groups=("crew",))
        writer.sync(notes, share=True, enrich=False)
        assert stored_principals(memory, [owner]) == [owner, member]
        enrich_and_embed(writer.workspace, lambda: True)
        assert stored_principals(memory, [owner]) == [owner, Principal("default", "", ("crew",))]
        assert stored_principals(memory, [owner, member]) == [owner, member]


def test_nobody_is_worked_for_whose_token_has_expired(
    environ: dict[str, str], tokens: TokenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scrubjay.daemon.worker import token_principals

    tokens.create("bo", Principal("default", "bo"), -1)
    tokens.create("cy", Principal("default", "cy"), None)
    tokens.create("me", Principal("default", "ann", agent="codex"), None)
    owner = Principal("default", "ann")
    assert token_principals(owner, tokens) == [owner, Principal("default", "cy")]


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_ends_it_well(running: Running, name: str) -> None:
    assert running.end(signal.Signals[name]) == ""


def test_status_names_the_worker_and_forgets_it_when_all_is_done(
    running: Running, environ: dict[str, str], tmp_path: Path
) -> None:
    job = EmbeddingJob(str(tmp_path / "data" / "scrubjay"), environ["SCRUBJAY_STORE"])
    with Memory.open(settings=load_settings(environ=environ)) as memory:
        with job.exclusive(30) as alone:
            assert alone
            memory.add(TEXT)
            assert pending_work(memory.workspace) > 0  # the worker waits for whoever holds the job
        running.reports("ann")
    running.end()
    assert job.state() is None


def test_a_store_that_cannot_be_opened_is_an_error_at_once(cli: Any) -> None:
    said = cli.process("worker", "--store", "postgresql://nobody@127.0.0.1:1/none")
    assert said.code == 4
    assert "cannot be reached" in said.err


def test_a_worker_of_a_postgresql_store_embeds_what_another_process_adds(
    environ: dict[str, str], postgres_url: str
) -> None:
    around = environ | {"SCRUBJAY_STORE": postgres_url, "SCRUBJAY_TENANT": "worker"}
    worker = Running(around)
    try:
        with Memory.open(settings=load_settings(environ=around)) as memory:
            memory.add(TEXT)
            worker.reports("ann")
            eventually(lambda: not pending_work(memory.workspace))
        worker.end()
    finally:
        worker.process.kill()
        worker.process.communicate()


def test_status_lists_all_tenants_of_a_file_with_the_memories_of_each_user(
    cli, environ: dict[str, str]
) -> None:
    cli("add", "The mast is 12 metres.")
    cli("add", "The keel is lead.", "--user", "bo")
    settings = replace(load_settings(environ=environ), tenant="harbour", groups=("crew",))
    with Memory.open(settings=settings) as memory:
        memory.add("The jib is red.", visibility="group", group="crew")
    said = cli("status", "--tenants")
    assert said.out == "default: 2 memories (user ann 1, user bo 1)\nharbour: 1 memory (group crew 1)\n"
    assert cli("status", "--tenants", "--json").json["tenants"]["harbour"] == {"group:crew": 1}


def test_a_database_user_who_sees_one_tenant_at_a_time_is_told_which_are_served(
    cli, environ: dict[str, str], tokens: TokenStore, application_url: str
) -> None:
    store = ("--store", application_url)
    cli("add", "The mast is 12 metres.", *store)
    tokens.create("crew", Principal("harbour", "bo"), None)
    said = cli("status", "--tenants", *store).out
    assert said.startswith(
        "default: 1 memory (user ann 1)\nharbour: 0 memories\nnote: This database user may not"
    )
    worker = Running(environ, *store)
    assert "Serving those of the settings and the tokens: default, harbour." in worker.end()
