"""What the doctor sees of an installation: each thing broken once, and said with its way out."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from scrubjay.agents import codex, installation
from scrubjay.agents.base import Options, find_agent
from scrubjay.doctor import agent_commands
from scrubjay.doctor import checks as doctor_checks
from scrubjay.doctor.agent_commands import read_agent_commands
from scrubjay.doctor.checks import Installation
from scrubjay.doctor.run import run_checks
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import InputError
from scrubjay.memory import Memory
from scrubjay.models.lifecycle import NewMemory
from scrubjay.models.reports import OK, PROBLEM, WARNING, Check, SourceStatus
from scrubjay.storage.interface import BATCH_ROWS
from scrubjay.storage.postgres import store as postgres_store
from scrubjay.storage.postgres.tenant_index import LargeTenantLimits
from scrubjay.storage.sqlite.maintenance import check_integrity

Make = Callable[..., Installation]


def one(checks: Iterator[Check], about: str) -> Check:
    (found,) = [check for check in checks if check.about == about]
    return found


@pytest.fixture
def case(make: Make) -> Installation:
    """An installation in which something is remembered."""
    found = make()
    with Memory.open(settings=found.settings) as memory:
        memory.add("The key hangs on the hook behind the door.")
    return found


def test_a_sound_installation_is_all_ok(case: Installation) -> None:
    found = [
        *doctor_checks.check_files(case),
        *doctor_checks.check_store(case),
        *doctor_checks.check_models(case),
        *agent_commands.check_programs(case),
    ]
    assert {check.state for check in found} == {OK}, found
    assert one(iter(found), "memories").found.startswith("1 in sqlite:///")
    assert one(iter(found), "store").found.endswith("no fault")


def test_a_store_that_is_not_there_is_not_made_by_looking(make: Make) -> None:
    case = make()
    (found,) = doctor_checks.check_store(case)
    assert (found.state, "does not exist yet" in found.found) == (WARNING, True)
    assert case.file is not None
    assert not case.file.exists()


def test_a_damaged_page_is_found_and_what_needs_the_store_is_left_out(case: Installation) -> None:
    assert case.file is not None
    with sqlite3.connect(case.file) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    data = bytearray(case.file.read_bytes())
    data[3 * 8192 : 12 * 8192] = os.urandom(9 * 8192)
    case.file.write_bytes(data)
    (found,) = doctor_checks.check_store(case)
    assert found.state == PROBLEM
    assert "damaged" in found.found
    assert f"mkdir damaged && mv {case.file}* damaged/" in found.fix
    assert 'docs/operations.md, "The store is damaged"' in found.fix


def garble(file: Path, text: bytes, other: bytes) -> None:
    """Change a text in a store's file as a disk would, behind SQLite's back."""
    with sqlite3.connect(file) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    data = file.read_bytes()
    assert data.count(text) == 1
    file.write_bytes(data.replace(text, other))


def synced(case: Installation, tmp_path: Path) -> tuple[Path, SourceStatus]:
    """Sync a folder with one file; return both."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Bread\n\nThe starter is fed on Sundays.\n")
    with case.memory() as memory:
        memory.sync(notes)
        (source,) = memory.sources()
    return notes, source


def test_a_text_that_a_disk_has_changed_is_named_and_its_file_brings_it_back(
    case: Installation, tmp_path: Path
) -> None:
    assert case.file is not None
    notes, source = synced(case, tmp_path)
    with case.memory() as memory:
        (hit,) = memory.search("starter", limit=1).results
    assert one(doctor_checks.check_store(case), "texts").found == "2 checked, all as written"
    garble(case.file, b"fed on Sundays", b"fed on Mondays")
    checks = list(doctor_checks.check_store(case))
    assert one(iter(checks), "store").state == OK  # SQLite keeps no sum
    found = one(iter(checks), "texts")
    assert found.state == PROBLEM
    assert found.found == f"1 of 2 were altered on disk: {hit.id} ({notes / 'a.md'})"
    assert "backup" in found.fix
    assert f"scrubjay sources remove {source.id}, then scrubjay sync {notes}" in found.fix
    with case.memory() as memory:
        memory.remove_source(source.id)
        memory.sync(notes)
    assert one(doctor_checks.check_store(case), "texts").state == OK


def test_a_rebuild_hides_no_altered_text_a_file_brings_its_own_back_and_others_stay_named(
    case: Installation, tmp_path: Path
) -> None:
    assert case.file is not None
    notes, _ = synced(case, tmp_path)
    garble(case.file, b"fed on Sundays", b"fed on Mondays")
    garble(case.file, b"the hook behind the door", b"the hook beyond the door")
    with case.memory() as memory:
        memory.rebuild()
        memory.sync(notes)
        (hit,) = memory.search("when is the starter fed", limit=1).results
        assert "fed on Sundays" in hit.snippet
        (hook,) = memory.search("hook", limit=1).results
    found = one(doctor_checks.check_store(case), "texts")
    assert found.found.startswith("1 of 2 were altered on disk")
    assert hook.id in found.found


def test_an_altered_text_of_no_file_is_to_be_restored_or_forgotten_and_a_pin_does_not_hide_it(
    case: Installation,
) -> None:
    assert case.file is not None
    garble(case.file, b"the hook behind the door", b"the hook beyond the door")
    with case.memory() as memory:
        (hit,) = memory.search("hook", limit=1).results
        memory.update(hit.id, pinned=True)
        memory.update(hit.id, title="The key")
    found = one(doctor_checks.check_store(case), "texts")
    assert (found.state, hit.id in found.found) == (PROBLEM, True)
    assert "scrubjay forget" in found.fix
    assert "sources remove" not in found.fix


def test_a_look_at_texts_ends_when_its_time_is_up(case: Installation, make: Make) -> None:
    with case.memory() as memory:
        memory.add_many([NewMemory(f"Fact number {number}") for number in range(BATCH_ROWS)])
    assert one(doctor_checks.check_store(case), "texts").found == f"{BATCH_ROWS + 1} checked, all as written"
    hurried = one(doctor_checks.check_store(make(seconds=-1)), "texts")
    assert hurried.found == f"{BATCH_ROWS} checked in -1 seconds, all as written"


def test_a_file_that_is_no_store_is_a_problem(case: Installation) -> None:
    assert case.file is not None
    case.file.write_bytes(b"notes of mine\n" * 100)
    (found,) = doctor_checks.check_store(case)
    assert found.state == PROBLEM
    assert case.file.read_bytes() == b"notes of mine\n" * 100


def test_a_look_through_a_file_ends_when_its_time_is_up(case: Installation) -> None:
    assert case.file is not None
    whole, hurried = check_integrity(case.file, 60), check_integrity(case.file, -1)
    assert (whole.finished, whole.faults) == (True, ())
    assert (hurried.finished, hurried.faults) == (False, ())
    assert whole.schema == whole.newest


def test_files_that_others_may_read_are_told_and_closed_when_asked(case: Installation, make: Make) -> None:
    assert case.file is not None
    case.file.chmod(0o644)
    case.file.parent.chmod(0o755)
    told = one(doctor_checks.check_files(case), "files")
    assert (told.state, told.fix) == (WARNING, "scrubjay doctor --fix")
    assert stat.S_IMODE(case.file.stat().st_mode) == 0o644
    fixed = one(doctor_checks.check_files(make(fix=True)), "files")
    assert (fixed.state, fixed.mended) == (OK, True)
    assert stat.S_IMODE(case.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(case.file.parent.stat().st_mode) == 0o700


def test_files_that_others_may_read_are_named_with_their_own_folders(case: Installation) -> None:
    assert case.file is not None
    case.home.data.mkdir(parents=True, exist_ok=True)
    case.file.chmod(0o644)
    case.home.data.chmod(0o755)
    told = str(one(doctor_checks.check_files(case), "files"))
    assert str(case.file) in told
    assert str(case.home.data) in told


def test_anothers_file_beside_the_store_is_left_alone(case: Installation, make: Make) -> None:
    assert case.file is not None
    other = case.file.with_name("memory.db.txt")
    other.write_text("not ours")
    other.chmod(0o644)
    assert one(doctor_checks.check_files(make(fix=True)), "files").mended is False
    assert stat.S_IMODE(other.stat().st_mode) == 0o644


def test_a_source_that_is_gone_is_named_with_what_to_do(case: Installation, tmp_path: Path) -> None:
    notes, source = synced(case, tmp_path)
    assert one(doctor_checks.check_store(case), "sources").state == OK
    shutil.rmtree(notes)
    found = one(doctor_checks.check_store(case), "sources")
    assert found.state == WARNING
    assert str(notes) in found.found
    assert f"scrubjay sources remove {source.id}" in found.fix


def test_documents_that_nobody_enriches_are_a_warning_after_a_day(
    case: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = tmp_path / "unlinked"
    notes.mkdir()
    (notes / "a.md").write_text("# A\n\nThe heron.\n", "utf-8")
    with Memory.open(settings=case.settings) as memory:
        memory.sync(notes, enrich=False)
    assert "enrichment" not in [found.about for found in doctor_checks.check_store(case)]
    monkeypatch.setattr(doctor_checks, "MAX_UNENRICHED", timedelta(0))
    assert one(doctor_checks.check_store(case), "enrichment").fix == "scrubjay sync"
    with Memory.open(settings=case.settings) as memory:
        memory.sync()
    assert "enrichment" not in [found.about for found in doctor_checks.check_store(case)]


def test_vectors_that_wait_are_counted_and_many_are_told(
    case: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "1 pending for answerai-colbert-small-v1" in one(doctor_checks.check_store(case), "vectors").found
    assert one(doctor_checks.check_store(case), "vectors").state == OK
    monkeypatch.setattr(doctor_checks, "MAX_PENDING", 0)
    found = one(doctor_checks.check_store(case), "vectors")
    assert (found.state, found.fix) == (WARNING, "scrubjay embed")


def test_a_multilingual_model_without_a_resident_process_is_told(case: Installation) -> None:
    assert "languages" not in {check.about for check in doctor_checks.check_store(case)}
    models = [HashEmbedder(64), HashEmbedder(48, name="multilingual-e5-small")]
    with Memory.open(settings=case.settings, embedders=models) as memory:
        memory.use_model("multilingual-e5-small")
    found = one(doctor_checks.check_store(case), "languages")
    assert found.state == WARNING
    assert "does without multilingual-e5-small" in found.found
    assert found.fix == "scrubjay resident start"


def test_a_clock_that_was_set_back_is_told(case: Installation) -> None:
    assert case.file is not None
    later = time.time() + 86_400
    os.utime(case.file, (later, later))
    assert one(doctor_checks.check_store(case), "clock").state == WARNING


def test_a_model_file_that_is_not_the_one_it_should_be_is_a_problem(make: Make, tmp_path: Path) -> None:
    wrong = tmp_path / "model.onnx"
    wrong.write_bytes(b"no model")
    found = one(doctor_checks.check_models(make({"models.colbert_path": str(wrong)})), "model colbert")
    assert found.state == PROBLEM
    assert str(wrong) in found.found


def test_a_disk_that_is_nearly_full_is_a_problem(case: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_checks, "MIN_FREE_BYTES", 1 << 62)
    assert one(doctor_checks.check_files(case), "disk").state == PROBLEM
    monkeypatch.setattr(doctor_checks, "MIN_FREE_BYTES", 0)
    monkeypatch.setattr(doctor_checks, "LOW_FREE_BYTES", 1 << 62)
    assert one(doctor_checks.check_files(case), "disk").state == WARNING


def program(folder: Path, says: str) -> Path:
    """A program called scrubjay that says a version."""
    folder.mkdir(parents=True)
    path = folder / "scrubjay"
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return path


def test_two_installations_on_the_path_are_told_with_their_versions(
    case: Installation, environ: dict[str, str], tmp_path: Path
) -> None:
    first, second = program(tmp_path / "a", "scrubjay 0.0.1"), program(tmp_path / "b", "scrubjay 9.9.9")
    environ["PATH"] = os.pathsep.join(["", str(first.parent), str(second.parent), str(first.parent)])
    found = one(agent_commands.check_programs(case), "program")
    assert found.state == WARNING
    assert f"{first} (0.0.1), {second} (9.9.9)" in found.found


def installed(case: Installation, name: str) -> None:
    installation.apply_plan(installation.plan_install(find_agent(name), case.home, Options()), case.home)


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_the_commands_of_an_agent_are_read_from_its_own_files(case: Installation, name: str) -> None:
    installed(case, name)
    found = read_agent_commands(find_agent(name), case.home)
    program = case.home.command[0]
    assert found.server == (program, "mcp")
    assert found.hooks["prompt"] == f"{program} hook {name} prompt || true"
    assert set(found.hooks) == {"session-start", "prompt", "stop", "pre-compact", "session-end"}
    assert agent_commands.check_agent_programs(find_agent(name), found, case).state == OK


def test_a_program_that_is_gone_or_of_another_version_is_a_problem_with_its_way_out(
    case: Installation, tmp_path: Path
) -> None:
    installed(case, "claude-code")
    file = case.home.root / ".claude" / "settings.json"
    ours = case.home.command[0]
    old, gone = program(tmp_path / "old", "scrubjay 0.0.1"), tmp_path / "gone" / "scrubjay"
    for path, said in ((old, "version 0.0.1"), (gone, "does not exist")):
        file.write_text(file.read_text().replace(ours, str(path)))
        ours = str(path)
        found = agent_commands.check_agent_programs(
            find_agent("claude-code"), read_agent_commands(find_agent("claude-code"), case.home), case
        )
        assert (found.state, found.fix) == (PROBLEM, "scrubjay install claude-code")
        assert said in found.found


def test_an_agent_whose_file_is_broken_or_that_lacks_a_part_is_told(case: Installation) -> None:
    installed(case, "codex")
    (case.home.root / ".codex" / "AGENTS.md").unlink()
    found = one(run_checks(case), "codex configuration")
    assert (found.state, found.found) == (WARNING, "without instructions")
    (case.home.root / ".codex" / "hooks.json").write_text("{")
    broken = one(run_checks(case), "codex configuration")
    assert broken.state == PROBLEM
    assert "hooks.json" in broken.found


def test_an_agent_that_was_asked_for_and_is_not_installed_is_a_problem(case: Installation) -> None:
    assert one(run_checks(case), "agents").fix == "scrubjay install --list"
    assert one(run_checks(case, ["codex"]), "codex configuration").state == PROBLEM
    with pytest.raises(InputError, match="No agent"):
        list(run_checks(case, ["nobody"]))


def test_a_store_with_memories_of_others_alone_is_not_called_empty(make: Make) -> None:
    case = make()
    with Memory.open(settings=case.settings) as memory:
        memory.seen_by("somebody").add("The kayak leaks.")
    found = one(run_checks(case), "memories")
    assert found.found.startswith(f"none of {case.settings.user} yet in ")


def test_errors_of_the_last_day_are_counted_by_what_they_were(case: Installation) -> None:
    assert one(run_checks(case), "log").state == OK
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    old = {"time": "2026-01-01T00:00:00.000Z", "level": "error", "event": "long ago"}
    new = {"time": stamp, "level": "error", "event": "hook failed", "error": "StoreError"}
    lines = [old, new, new, {**new, "level": "info", "event": "hook prompt"}]
    (case.home.data / "log").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = one(run_checks(case), "log")
    assert (found.state, found.fix) == (WARNING, "scrubjay status")
    assert found.found == f"errors in the last day: hook failed StoreError (2); the last at {stamp[:16]}Z"


def test_hooks_that_were_late_in_the_last_day_are_counted_by_event_with_what_to_do(
    case: Installation,
) -> None:
    assert one(run_checks(case), "hooks").state == OK
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    late = {"time": stamp, "level": "warning", "event": "hook late", "at": "claude-code session-start"}
    done = {"time": stamp, "level": "info", "event": "hook prompt", "ms": 40.0}
    lines = [
        {**late, "time": "2026-01-01T00:00:00.000Z"}, late, done, done, late, {**late, "at": "codex prompt"},
    ]  # fmt: skip
    (case.home.data / "log").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = one(doctor_checks.check_log(case), "hooks")
    assert found.state == WARNING
    assert found.found.startswith("3 of 5 of the last day were late: session-start (2), prompt (1)")
    assert "scrubjay resident start" in found.fix
    # Lines of earlier versions do not say of which event they are.
    del late["at"]
    (case.home.data / "log").write_text(json.dumps(late) + "\n")
    assert one(doctor_checks.check_log(case), "hooks").found.startswith("1 of 1 of the last day were late")


def codex_state(case: Installation) -> dict[str, str]:
    """Hooks as Codex would list them after the person trusted all: key and hash."""
    return {hook.keys[-1]: hook.digest for hook in codex.listed_hooks(case.home)}


def trust(case: Installation, state: dict[str, str]) -> None:
    file = case.home.root / ".codex" / "config.toml"
    own = file.read_text().partition("\n[hooks.state")[0]
    tables = "".join(
        f"\n[hooks.state.{json.dumps(key)}]\ntrusted_hash = {json.dumps(digest)}\n"
        for key, digest in state.items()
    )
    file.write_text(own + tables)


def test_hooks_that_codex_was_not_told_to_trust_are_named_with_the_way_out(case: Installation) -> None:
    installed(case, "codex")

    def looked() -> Check:
        return one(agent_commands.check_trust(find_agent("codex"), case), "codex trust")

    found = looked()
    assert found.state == WARNING
    assert "none of its 5 hooks" in found.found
    assert "/hooks" in found.fix
    state = codex_state(case)
    assert sorted(key.rpartition("hooks.json:")[2] for key in state) == [
        "pre_compact:0:0", "session_end:0:0", "session_start:0:0", "stop:0:0", "user_prompt_submit:0:0",
    ]  # fmt: skip
    trust(case, state)
    assert looked().state == OK
    kept = {key: value for key, value in state.items() if ":stop:" not in key}
    trust(case, kept)
    assert "not trusted: stop" in looked().found


def test_a_hook_that_changed_since_codex_was_told_to_trust_it_is_named(case: Installation) -> None:
    installed(case, "codex")
    trust(case, codex_state(case))
    file = case.home.root / ".codex" / "hooks.json"
    moved = case.home.command[0].replace("scrubjay", "moved/scrubjay")
    file.write_text(
        file.read_text().replace(f"{case.home.command[0]} hook codex prompt", f"{moved} hook codex prompt")
    )
    # Read alone: what starts the hook is another check's matter.
    assert [
        (hook.event, hook.state) for hook in codex.listed_hooks(case.home) if hook.state != "trusted"
    ] == [("prompt", "changed")]


def test_codex_itself_lists_our_hooks_by_these_keys_and_hashes(case: Installation) -> None:
    """Runs where the variable names the client."""
    client = os.environ.get("AGENT_CODEX")
    if not client:
        pytest.skip("AGENT_CODEX names no codex")
    installed(case, "codex")
    asked = [
        {
            "id": 1,
            "method": "initialize",
            "params": {"clientInfo": {"name": "t", "title": "t", "version": "1"}},
        },
        {"method": "initialized"},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [str(case.home.root)]}},
    ]
    with subprocess.Popen(
        [client, "app-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={"HOME": str(case.home.root), "PATH": os.environ["PATH"]}, text=True,
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        for message in asked:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()
        answer = next(found for found in map(json.loads, server.stdout) if found.get("id") == 2)
        server.stdin.close()
        server.kill()
    (folder,) = answer["result"]["data"]
    listed = {hook["key"]: hook["currentHash"] for hook in folder["hooks"]}
    assert codex_state(case) == listed
    assert {hook["trustStatus"] for hook in folder["hooks"]} == {"untrusted"}


def test_a_user_of_postgres_whom_row_level_security_lets_pass_is_told(
    make: Make, postgres_url: str, application_url: str
) -> None:
    found = list(doctor_checks.check_store(make({"store": postgres_url})))
    told = one(iter(found), "fence")
    assert (told.state, "the database user scrubjay, a superuser" in told.found) == (WARNING, True)
    assert "Two users" in told.fix
    found = list(doctor_checks.check_store(make({"store": application_url})))
    assert "memories" in {check.about for check in found}
    assert "fence" not in {check.about for check in found}


def test_a_tenant_of_postgres_that_is_large_and_has_no_index_is_told(
    make: Make, application_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = make({"store": application_url, "tenant": "large woods"})
    with case.memory() as memory:
        memory.add("the anchor weighs ten kilos")
        memory.add("the mast is of spruce")
    assert "index" not in {check.about for check in doctor_checks.check_store(case)}
    monkeypatch.setattr(postgres_store, "DEFAULT_LIMITS", LargeTenantLimits(rows=1))
    told = one(doctor_checks.check_store(case), "index")
    assert (told.state, told.found.startswith("of 2 memories, ")) == (WARNING, True)
    assert "scrubjay rebuild --large" in told.fix


def test_texts_in_two_languages_without_the_model_for_them_are_a_warning(
    case: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scrubjay.services.models.find_spec", lambda _: None)
    with Memory.open(settings=case.settings) as memory:
        memory.add("I moved my dentist appointment to the third of December, please do not forget it.")
        assert "languages" not in {check.about for check in doctor_checks.check_store(case)}
        memory.add("Ich bin gegen Haselnüsse allergisch, und die Miete ist am ersten Januar fällig.")
        (note,) = memory.status().notes
    found = one(doctor_checks.check_store(case), "languages")
    assert (found.state, found.fix) == (WARNING, "pip install 'scrubjay[multilingual]'")
    assert "a question in one may miss answers in another" in found.found
    assert note == f"{found.found} {found.fix}"
