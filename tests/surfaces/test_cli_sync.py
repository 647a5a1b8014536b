from __future__ import annotations

import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import fields
from pathlib import Path

import pytest

from fork_server import SCRUBJAY
from scrubjay import Memory
from scrubjay.atomic_files import try_lock
from scrubjay.models.reports import Progress, SyncReport
from scrubjay.storage.sqlite.lock import writer_turn


def test_sync_json_prints_the_summarys_fields(cli, notes) -> None:
    done = cli("sync", notes, "--json").json
    assert list(done) == [item.name for item in fields(SyncReport)]
    assert (done["files"], done["added"], done["embedded"], done["problems"]) == (3, 4, 0, [])
    assert done["waiting"] == done["passages"] == 4
    again = cli("sync", "--json").json
    assert (again["added"], again["updated"], again["unchanged"], again["removed"]) == (0, 0, 4, 0)


def test_sync_says_what_it_did_and_what_waits_and_puts_progress_aside(cli, notes) -> None:
    said = cli("sync", notes)
    assert said.code == 0
    first, second, third = said.out.splitlines()
    assert re.fullmatch(
        "3 files, 4 passages: 4 added, 0 updated, 0 unchanged, 0 removed, 4 pending, .* s", first
    )
    assert re.fullmatch("[1-9] concepts? linked, .* s", second)
    assert third == "4 passages pending embedding; run `scrubjay embed`."
    assert all(re.search("passage|file|memor", each) for each in said.err.splitlines())
    assert "\x1b" not in said.err


def interrupted(environ: dict[str, str], when: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Sync in a process that interrupts itself when the code says so: a signal of ours may come too late."""
    # A shell that started the tests in the background has them, and so this, ignore the signal.
    code = (
        "import io, runpy, signal, sys\n"
        f"signal.signal(signal.SIGINT, signal.default_int_handler)\n{when}"
        "runpy.run_module('scrubjay', run_name='__main__', alter_sys=True)\n"
    )
    return subprocess.run(
        [sys.executable, "-c", code, "sync", str(folder)],
        capture_output=True, text=True, env={**os.environ, **environ}, timeout=60, check=False,
    )  # fmt: skip


AFTER_THE_SUMMARY = """
class Told(io.TextIOWrapper):
    def write(self, text):
        size = super().write(text)
        if " added, " in text:
            self.flush()
            signal.raise_signal(signal.SIGINT)
        return size

sys.stdout = Told(sys.stdout.detach())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
def test_a_sync_left_after_its_summary_loses_nothing_and_the_next_one_goes_on(cli, environ, notes) -> None:
    for number in range(300):
        (notes / f"{number}.md").write_text(
            f"# Bay {number}\n\nAda Lovelace wrote of bay {number}.\n", "utf-8"
        )
    left = interrupted(environ, AFTER_THE_SUMMARY, notes)
    assert "304 passages: 304 added" in left.stdout
    assert left.returncode == 130
    assert "All files are stored and searchable" in left.stderr
    assert cli("search", "bay 299", "--json").json["results"][0]["path"].endswith("299.md")
    assert cli("status", "--json").json["unenriched"] > 0
    assert "303 documents waiting" in cli("status").out
    assert "concepts linked" in cli("sync").out
    assert cli("status", "--json").json["unenriched"] == 0


def test_a_file_that_cannot_be_read_is_named_and_the_rest_goes_on(cli, notes) -> None:
    (notes / "latin.md").write_bytes("# Caf\xe9\n".encode("latin-1"))
    said = cli("sync", notes)
    assert said.code == 0
    assert "3 files" in said.out or "4 files" in said.out
    assert "latin.md" in said.err
    assert cli("sync", "--json").json["problems"][0]["path"].endswith("latin.md")
    assert cli("search", "Bornholm", "--json").json["results"]


def test_include_exclude_and_description_are_kept_with_the_source(cli, notes) -> None:
    cli("sync", notes, "--exclude", "log/", "--description", "Ann's boat")
    assert cli("sync", "--json").json["files"] == 2
    assert cli("search", "hull", "--json").json["results"][0]["source"] == "Ann's boat"
    cli("sync", notes, "--include", "*.txt", "--json")
    assert cli("sources", "--json").json["sources"][0]["description"] in ("Ann's boat", "")


def test_sync_of_nothing_there_is_an_error(cli, tmp_path) -> None:
    said = cli("sync", tmp_path / "none")
    assert said.code in (2, 3)
    assert str(tmp_path / "none") in said.err


def test_sources_lists_and_removes_and_leaves_the_files(cli, notes) -> None:
    assert cli("sources").out == "No source is registered.\nhint: scrubjay sync DIR\n"
    cli("sync", notes)
    (source,) = cli("sources", "--json").json["sources"]
    assert (source["root"], source["documents"], source["passages"], source["present"]) == (
        str(notes),
        3,
        4,
        True,
    )
    out = cli("sources", "list").out
    assert all(part in out for part in (source["id"], str(notes), "3 files", "4 passages"))
    assert cli("sources", "remove", "nowhere").code == 2
    asked = cli("sources", "remove", notes)
    assert asked.code == 2
    assert "Nothing was removed." in asked.err
    assert "hint: add --yes" in asked.err
    assert len(cli("sources", "--json").json["sources"]) == 1
    assert "4 passages" in cli("sources", "remove", notes, "--yes").out
    assert (notes / "boats.md").exists()
    assert cli("sources", "--json").json == {"sources": []}
    assert cli("status", "--json").json["memories"] == 0


@pytest.mark.parametrize(("answer", "left"), [("y\n", 0), ("n\n", 1)])
def test_on_a_terminal_a_source_is_removed_after_a_yes(cli, notes, answer: str, left: int) -> None:
    cli("sync", notes)
    keyboard = io.StringIO(answer)
    cli.patch.setattr(keyboard, "isatty", lambda: True)
    cli.patch.setattr(sys, "stdin", keyboard)
    said = cli("sources", "remove", notes)
    assert f"Remove {notes} with 4 memories" in said.err
    assert said.code == (0 if left == 0 else 130)
    assert len(cli("sources", "--json").json["sources"]) == left


def test_a_source_whose_folder_is_gone_says_so_and_keeps_its_memories(cli, notes, tmp_path: Path) -> None:
    cli("sync", notes)
    notes.rename(tmp_path / "elsewhere")
    assert "(missing)" in cli("sources").out
    for path in ((), (notes,)):
        said = cli("sync", *path)
        assert (said.code, "Nothing was removed." in said.err) == (3, True)
        assert cli("sync", *path, "--json").code == 3
    assert cli("status", "--json").json["memories"] == 4
    assert "file gone since" in cli("search", "kettle mast boat").out
    (tmp_path / "elsewhere").rename(notes)
    assert cli("sync").code == 0


def test_status_tells_what_is_stored(cli, notes, tmp_path: Path) -> None:
    assert "hint: scrubjay sync DIR" in cli("status").out
    cli("sync", notes)
    cli("add", "a lesson", "--tier", "lesson")
    found = cli("status", "--json").json
    assert (found["memories"], found["documents"], found["tiers"]) == (5, 3, {"lesson": 1, "observation": 4})
    assert found["store"].endswith("memory.db")
    assert found["models"][0]["waiting"] == 0
    out = cli("status").out
    assert "memories   5 (lesson 1, observation 4)" in out
    assert "kB)" in out or "MB)" in out
    assert "answerai-colbert-small-v1" in out


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_on_a_terminal_sync_fills_the_larger_model_within_its_seconds(environ, notes) -> None:
    main, side = pty.openpty()
    process = subprocess.Popen(
        [*SCRUBJAY, "sync", str(notes)],
        stdin=side, stdout=side, stderr=side, env={**os.environ, **environ, "TERM": "xterm"},
    )  # fmt: skip
    os.close(side)
    seen = _everything(main)
    assert process.wait(timeout=60) == 0
    assert b"4 embedded, 0 pending" in seen
    assert b"Embedding" in seen


def _everything(terminal: int) -> bytes:
    seen = b""
    while True:
        try:
            piece = os.read(terminal, 65_536)
        except OSError:  # Linux's way to say that the other side is closed
            piece = b""
        if not piece:
            os.close(terminal)
            return seen
        seen += piece


def test_watch_without_a_source_says_what_to_run(cli) -> None:
    said = cli("watch")
    assert said.code == 2
    assert "hint: scrubjay sync DIR" in said.err


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_watch_takes_a_change_in_and_ends_when_told(cli, environ, notes, end: signal.Signals) -> None:
    cli("sync", notes)
    process = subprocess.Popen(
        [*SCRUBJAY, "watch", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **environ, "SCRUBJAY_SYNC_DEBOUNCE": "0.05"},
    )  # fmt: skip
    guard = threading.Timer(60, process.kill)
    guard.start()
    with process:
        try:
            assert "Watching 1 source" in process.stderr.readline()
            # The file changes until the watch, which may still be starting, has seen it.
            news = _told_of(process, notes / "boats.md")
            assert news["updated"] + news["added"] >= 1
            process.send_signal(end)
            _, err = process.communicate(timeout=30)
        finally:
            guard.cancel()
            process.kill()
    assert process.returncode == 0
    assert "Traceback" not in err


def test_watch_prints_the_time_and_the_file_that_changed(cli, environ, notes) -> None:
    cli("sync", notes)
    process = subprocess.Popen(
        [*SCRUBJAY, "watch"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **environ, "SCRUBJAY_SYNC_DEBOUNCE": "0.05", "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    guard = threading.Timer(60, process.kill)
    guard.start()
    with process:
        try:
            assert "Watching 1 source" in process.stderr.readline()
            said = _line_of(process, notes / "boats.md")
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=30)
        finally:
            guard.cancel()
            process.kill()
    assert re.fullmatch(rf"\d\d:\d\d:\d\d  {re.escape(str(notes / 'boats.md'))}\n", said)


AMONG_THE_FILES = """
opened = 0

def count(event, given):
    global opened
    if event == "open" and str(given[0]).endswith(".md"):
        opened += 1
        if opened == 20:
            signal.raise_signal(signal.SIGINT)

sys.addaudithook(count)
"""


def test_an_interrupted_sync_says_what_is_kept_and_how_to_go_on(environ, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(40):
        (folder / f"{number}.md").write_text(f"Note {number} tells of boat {number} and its crew.\n")
    left = interrupted(environ, AMONG_THE_FILES, folder)
    assert left.returncode == 130
    assert "Stopped." in left.stderr
    assert "run `scrubjay sync` to continue" in left.stderr
    assert "Traceback" not in left.stderr


def test_a_sync_that_is_interrupted_before_it_registers_its_folder_names_it(
    cli, environ, tmp_path: Path
) -> None:
    cli("add", "The hull is blue.")
    folder = tmp_path / "many"
    folder.mkdir()
    (folder / "boats.md").write_text("The boats are green.\n")
    store = Path(environ["SCRUBJAY_STORE"])
    with writer_turn(store):  # so that the sync waits for its first write
        process = _started_sync(environ, folder)
        guard = threading.Timer(60, process.kill)
        guard.start()
        with process:
            try:
                while process.poll() is None and not _writer_waits(store):
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(0.05)
                process.send_signal(signal.SIGINT)
                _, err = process.communicate(timeout=50)
            finally:
                guard.cancel()
                process.kill()
    assert process.returncode == 130
    assert f"Nothing was read yet; run `scrubjay sync {folder}` again." in err
    assert "No source is registered" in cli("sources").out


def test_a_source_whose_last_sync_was_interrupted_is_not_called_never_synced(
    cli, environ, notes: Path
) -> None:
    cli("sync", notes)
    assert "synced 20" in cli("sources").out
    with Memory.open(environ["SCRUBJAY_STORE"], user=environ["SCRUBJAY_USER"]) as memory:

        def stop(_: Progress) -> None:
            raise KeyboardInterrupt

        (notes / "boats.md").write_text("The boats are green.\n")
        with pytest.raises(KeyboardInterrupt):
            memory.sync(notes, progress=stop)
    for command in ("sources", "status"):
        said = cli(command).out
        assert "last sync not finished, run `scrubjay sync`" in said
        assert "never synced" not in said
    notes.rename(notes.with_name("elsewhere"))
    assert cli("sync").code == 3
    notes.with_name("elsewhere").rename(notes)
    cli("sync")
    assert "synced 20" in cli("sources").out


def _started_sync(environ, folder: Path) -> subprocess.Popen[str]:
    # A shell that started the tests in the background has them, and so this, ignore the signal.
    heard = (
        "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "runpy.run_module('scrubjay', run_name='__main__', alter_sys=True)"
    )
    return subprocess.Popen(
        [sys.executable, "-c", heard, "sync", str(folder)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environ},
    )  # fmt: skip


def _writer_waits(store: Path) -> bool:
    """Return whether another process is the next that may write (storage/sqlite/lock.py)."""
    descriptor = os.open(f"{store}.lock-next", os.O_RDWR)
    try:
        return not try_lock(descriptor)
    finally:
        os.close(descriptor)


def _line_of(process: subprocess.Popen[str], file: Path) -> str:
    told: list[str] = []
    heard = threading.Event()

    def listen() -> None:
        told.append(process.stdout.readline())
        heard.set()

    threading.Thread(target=listen, daemon=True).start()
    before = file.read_text()
    for turn in range(100):
        file.write_text(f"{before}\nTurn {turn}.\n")
        if heard.wait(0.5):
            break
    return told[0]


def _told_of(process: subprocess.Popen[str], file: Path) -> dict[str, int]:
    found: dict[str, int] = json.loads(_line_of(process, file))
    return found


def test_a_folder_of_which_nothing_can_be_taken_in_says_what_would(cli, tmp_path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "rows.jsonl").write_text('{"a": 1}\n{"a": 2}\n')
    said = cli("sync", tmp_path / "data")
    assert said.code == 0
    assert "a conversation where" in said.err
    assert "*.md" in said.err
    (tmp_path / "data" / "note.md").write_text("The pier is closed.\n")
    assert "conversation where" not in cli("sync", tmp_path / "data").err


def test_a_source_of_which_every_file_is_untrusted_is_not_called_so_in_part(cli, tmp_path) -> None:
    package = tmp_path / "node_modules" / "pad"
    package.mkdir(parents=True)
    (package / "README.md").write_text("# Pad\n")
    cli("sync", package)
    assert "untrusted (others' work)" in cli("sources").out


def test_what_is_untrusted_is_said_kept_and_shown(cli, notes) -> None:
    package = notes / "node_modules" / "pad"
    package.mkdir(parents=True)
    (package / "README.md").write_text("---\npinned: true\n---\n# Pad\n")
    (notes / "boats.md").write_text("---\nvisibility: public\n---\n# Boats\n")
    said = cli("sync", notes, "--include", "*.md", "--include", "node_modules/**/*.md")
    assert f"{notes}/node_modules: 1 file is untrusted" in said.err
    assert f"scrubjay sync {notes} --trusted" in said.err
    assert f"{notes}/boats.md: This note asks by front matter to be seen by others" in said.err
    assert "untrusted in part" in cli("sources").out
    (found,) = cli("search", "pad", "--json", "--limit", "1").json["results"]
    for command in (
        ("search", "pad", "--limit", "1"),
        ("thread", "pad", "--limit", "1"),
        ("get", found["id"]),
    ):
        assert re.search(r"observation.* · untrusted\b", cli(*command).out), command
    assert "untrusted" not in cli("sync").err
    assert cli("sync", notes, "--untrusted").code == 0
    assert "untrusted (set by you)" in cli("sources").out
    assert cli("sync", notes, "--trusted", "--share").err.count("untrusted") == 0
    assert "trusted (set by you), shared by front matter" in cli("sources").out
    (source,) = cli("sources", "--json").json["sources"]
    assert (source["trust"], source["share"]) == ("trusted", True)
    assert cli("sync", "--untrusted").code == 2


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("---\ntitle: Falcon plan\n---\nWe fly on Tuesday.\n", ["Falcon plan"]),
        ("---\ntitle: Falcon plan\n---\n# Nest\n\nWe fly on Tuesday.\n", ["Falcon plan"]),
        ("# Nest\n\nWe fly on Tuesday.\n", ["Nest"]),
        ("We fly on Tuesday.\n", ["x1.md"]),
    ],
)
def test_a_note_is_called_by_its_title_else_its_heading_else_its_file(cli, tmp_path, text, titles) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "x1.md").write_text(text)
    cli("sync", tmp_path / "notes")
    found = cli("search", "fly Tuesday", "--json").json["results"]
    assert [one["title"] for one in found] == titles
    assert f"1. {titles[0]}\n" in cli("search", "fly Tuesday").out
    assert cli("rebuild").code == 0
    assert [one["title"] for one in cli("search", "fly Tuesday", "--json").json["results"]] == titles


def test_a_sync_counts_the_learned_files_that_a_person_changed(
    cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "learned"
    monkeypatch.setenv("SCRUBJAY_NOTES_LEARNED_DIR", str(folder))
    cli("add", "The mast is twelve metres.")
    (folder / "Winter berth.memory.md").write_text("Hamble, from October to March.\n", "utf-8")
    assert "1 changed learned file stored\n" in cli("sync").out
    assert "changed learned file" not in cli("sync").out


def test_a_folder_that_cannot_be_read_is_named_once(cli, notes) -> None:
    cli("sync", notes)
    notes.rename(notes.with_name("aside"))
    notes.symlink_to(notes.name)
    said = cli("sync")
    assert f"{notes} cannot be read" in said.err
    assert f"{notes}: {notes}" not in said.err


@pytest.mark.parametrize("command", [("sync",), ("import",), ("sources", "remove")])
def test_an_empty_path_is_refused_and_does_not_mean_the_current_folder(
    cli, notes, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    """``scrubjay sync "$DIR"`` where DIR is unset."""
    if command != ("sync",):
        cli("sync", notes)
    before = cli("sources", "--json").json
    monkeypatch.chdir(notes)
    refused = cli(*command, "")
    assert (refused.code, refused.out) == (2, "")
    assert "The path is empty. Nothing was done." in refused.err
    assert cli("sources", "--json").json == before


def test_status_and_doctor_name_a_note_with_broken_front_matter_until_it_is_repaired(
    cli, tmp_path: Path
) -> None:
    note = tmp_path / "notes" / "runbook.md"
    note.parent.mkdir()
    note.write_text("---\ntitle: Runbook: credits\ndate: 2026-11-15\n---\nThe limit is 20 euros.\n")
    for _ in range(2):
        assert cli("sync", str(note.parent)).code == 0
        (unread,) = json.loads(cli("status", "--json").out)["unread"]
        assert unread["path"] == str(note)
        assert "not YAML" in unread["message"]
        assert f"{note}: The front matter is not YAML" in cli("doctor").out
    note.write_text('---\ntitle: "Runbook: credits"\ndate: 2026-11-15\n---\nThe limit is 20 euros.\n')
    cli("sync", str(note.parent))
    assert json.loads(cli("status", "--json").out)["unread"] == []
