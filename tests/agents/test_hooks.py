"""What an agent's hook says, as a process of its own: memories, where some fit, else nothing; always exit code 0."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hooking import Machine, Said, beginning_with, idle

from scrubjay.models.results import BLOCK_CLOSE, BLOCK_OPEN

HERON = "Our staging database is called heron and lives in Lisbon."
ASKED = "What is our staging database called?"
SILENT = Said(0, b"", b"")


def test_a_prompt_is_answered_with_the_memories_that_have_to_do_with_it(here: Machine) -> None:
    here.run("add", HERON)
    here.run("add", "Bread needs a night in the fridge.")
    done = here.hook("prompt", hook_event_name="UserPromptSubmit", prompt=ASKED)
    assert (done.code, done.err) == (0, b"")
    assert "heron" in done.context
    assert "Bread" not in done.context
    assert done.context.startswith(BLOCK_OPEN)
    assert done.context.endswith(BLOCK_CLOSE)
    assert done.json["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"


def test_the_person_sees_one_line_for_what_was_put_in(here: Machine) -> None:
    (here.project / "db.md").write_text(f"# Databases\n\n{HERON}\n")
    here.run("sync", str(here.project))
    assert here.hook("prompt", prompt=ASKED).json["systemMessage"] == "scrubjay: 1 memory (db.md:1-3)"


@pytest.mark.parametrize("mine", [True, False], ids=["a team's", "a stranger's"])
def test_in_a_repository_of_others_its_notes_answer_only_who_works_on_it(here: Machine, mine: bool) -> None:
    (here.project / "db.md").write_text(f"# Databases\n\n{HERON}\n")
    config = here.root / "gitconfig"
    config.write_text("[user]\n\tname = Ann\n\temail = ann@example.org\n")
    git = {"GIT_CONFIG_GLOBAL": str(config), "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
    authors = ["bob@example.net"] * 4 + ["ann@example.org"] * mine
    commits = [("-c", f"user.email={one}", "commit", "--allow-empty", "-m", "x") for one in authors]
    for words in (("init",), *commits):
        subprocess.run(["git", *words], cwd=here.project, env=git, check=True, capture_output=True)
    here.run("sync", str(here.project), **git)
    said = here.hook("prompt", prompt=ASKED, env=git)
    if mine:
        assert "untrusted, db.md:1-3" in said.context
    else:
        assert said == SILENT


def test_a_prompt_that_nothing_has_to_do_with_is_not_answered(here: Machine) -> None:
    here.run("add", HERON)
    assert here.hook("prompt", prompt="Rename the variable in the second loop.") == SILENT


def test_a_session_that_begins_is_told_what_is_known(here: Machine) -> None:
    here.run("add", "Never push on Fridays.", "--tier", "lesson")
    done = here.hook("session-start", hook_event_name="SessionStart", source="startup")
    assert "Fridays" in done.context
    assert done.json["hookSpecificOutput"]["hookEventName"] == "SessionStart"


def test_what_was_said_in_this_session_comes_back_only_after_it_was_compacted(here: Machine) -> None:
    path = here.transcript(("user", HERON), ("assistant", "Noted."), name="now")
    here.hook("stop", transcript_path=str(path))
    here.wait(lambda: "errand capture" in here.events())
    going_on = here.hook("session-start", source="resume")
    compacted = here.hook("session-start", source="compact")
    assert HERON not in going_on.out.decode().split("## Last sessions")[-1]
    assert "heron" in compacted.context


def test_codex_is_answered_in_its_form(here: Machine) -> None:
    here.run("add", HERON)
    done = here.hook("prompt", "codex", prompt=ASKED)
    assert "heron" in done.context


def test_a_plugin_is_answered_in_the_plain_form(here: Machine) -> None:
    here.run("add", HERON)
    done = here.run(
        "hook",
        "openclaw",
        "prompt",
        stdin=json.dumps({"folder": str(here.project), "prompt": ASKED}).encode(),
    )
    assert "heron" in done.json["context"]
    assert done.json["message"].startswith("scrubjay: 1 memory")


def test_cursor_is_given_context_when_a_session_begins_and_nothing_at_a_prompt(here: Machine) -> None:
    here.run("add", "Never push on Fridays.", "--tier", "lesson")
    told = json.dumps(
        {"conversation_id": "c", "workspace_roots": [str(here.project)], "prompt": "push on Fridays?"}
    )
    begun = here.run("hook", "cursor", "session-start", stdin=told.encode())
    asked = here.run("hook", "cursor", "prompt", stdin=told.encode())
    assert "Fridays" in begun.json["additional_context"]
    assert asked == SILENT


@pytest.mark.parametrize(
    "told",
    [b"", b"\xff\xfe\x00garbage", b"[1, 2]", b"{", b"null", b'{"prompt": 7, "cwd": {}}', b"[" * 100_000],
    ids=["nothing", "bytes", "a list", "torn", "null", "wrong kinds", "deep"],
)
def test_a_hook_that_is_fed_garbage_says_nothing_and_exits_with_zero(here: Machine, told: bytes) -> None:
    assert here.run("hook", "claude-code", "prompt", stdin=told) == SILENT


def test_garbage_leaves_one_line_in_the_log_without_a_word_of_it(here: Machine) -> None:
    here.run("hook", "claude-code", "prompt", stdin=b"secret garbage")
    (line,) = here.log()
    assert (line["level"], line["event"]) == ("error", "hook failed")
    assert line["ms"] > 0
    assert b"secret" not in (here.data / "log").read_bytes()
    assert (here.data / "log").stat().st_mode & 0o777 == 0o600


def test_ten_megabytes_are_read_to_their_end_and_nothing_is_said(here: Machine) -> None:
    told = json.dumps({"prompt": "x" * 10_000_000}).encode()
    assert here.run("hook", "claude-code", "prompt", stdin=told) == SILENT
    assert here.events() == ["hook failed"]


def test_a_hook_without_standard_input_says_nothing(here: Machine) -> None:
    command = f'"{sys.executable}" -P -m scrubjay hook claude-code prompt <&-'
    done = subprocess.run(["sh", "-c", command], capture_output=True, env=here.env, cwd=here.project)
    assert (done.returncode, done.stdout) == (0, b"")


def test_an_agent_that_never_closes_its_pipe_goes_on_after_the_budget(here: Machine) -> None:
    command = [sys.executable, "-P", "-m", "scrubjay", "hook", "claude-code", "prompt"]
    env = {**here.env, "SCRUBJAY_HOOKS_BUDGET_MS": "200"}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as process:
        assert process.stdout is not None
        assert process.stdout.read() == b""
        assert process.wait() == 0
        assert process.stdin is not None
    assert here.events() == ["hook late"]


SLOW = """
import sys, time

class Slow:
    def find_spec(self, name, *_):
        if name == "scrubjay.agents.hooks":
            time.sleep(0.4)

sys.meta_path.insert(0, Slow())
"""
"""Loads the module of the hooks in longer than the usual budget."""


def test_a_slow_machine_is_given_the_budget_of_the_settings(here: Machine) -> None:
    here.run("add", HERON)
    command = [sys.executable, "-P", "-m", "scrubjay", "hook", "claude-code", "prompt"]
    env = {**here.env, **beginning_with(here.root, SLOW)}
    told = json.dumps({"session_id": "now", "cwd": str(here.project), "prompt": ASKED}).encode()
    assert b"heron" in subprocess.run(command, input=told, capture_output=True, env=env).stdout


@pytest.mark.parametrize("words", [("nobody", "prompt"), ("claude-code", "no-event"), ("claude-code",), ()])
def test_a_hook_that_is_called_wrongly_exits_with_zero_too(here: Machine, words: tuple[str, ...]) -> None:
    assert here.run("hook", *words, stdin=b"{}") == SILENT


def test_a_setting_that_is_wrong_keeps_nobody_from_working(here: Machine) -> None:
    assert here.hook("prompt", prompt=ASKED, env={"SCRUBJAY_RECALL_LIMIT": "many"}) == SILENT
    assert here.log()[-1]["error"] == "ConfigError"


def test_a_store_that_is_damaged_keeps_nobody_from_working(here: Machine) -> None:
    here.store.write_bytes(b"no database at all" * 100)
    told = here.hook("prompt", prompt=ASKED)
    assert (told.code, told.err) == (0, b"")
    assert told.json == {
        "systemMessage": "scrubjay: the store is damaged, nothing is remembered. Run `scrubjay doctor`."
    }
    assert here.hook("prompt", prompt=ASKED) == SILENT
    assert [line["error"] for line in here.log()] == ["StoreDamagedError"] * 2


LOCK = """
import apsw, sys
db = apsw.Connection(sys.argv[1])
db.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


def test_a_hook_is_answered_while_another_process_writes(here: Machine) -> None:
    here.run("add", HERON)
    held = [sys.executable, "-c", LOCK, str(here.store)]
    with subprocess.Popen(held, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"held\n"
        done = here.hook("prompt", prompt=ASKED)
        assert (done.code, "heron" in done.out.decode() or done.out == b"") == (0, True)
        writer.communicate(b"")


def test_a_log_that_cannot_be_written_keeps_nobody_from_working(here: Machine) -> None:
    here.run("add", HERON)
    here.data.parent.mkdir(exist_ok=True)
    here.data.parent.joinpath("scrubjay").write_text("a file where a folder should be")
    assert "heron" in here.hook("prompt", prompt=ASKED).context


def test_events_that_the_settings_leave_out_do_nothing(here: Machine) -> None:
    here.run("add", HERON)
    assert here.hook("prompt", prompt=ASKED, env={"SCRUBJAY_HOOKS_EVENTS": "stop"}) == SILENT


def test_what_a_hook_may_put_in_is_bounded_by_the_settings(here: Machine) -> None:
    for number in range(8):
        here.run("add", f"The heron database's node {number} stands in Lisbon, rack {number}.")
    long = here.hook("prompt", prompt="heron database node rack").json["systemMessage"]
    short = here.hook(
        "prompt", prompt="heron database node rack", env={"SCRUBJAY_HOOKS_FIRST_TOKENS": "100"}
    ).json["systemMessage"]
    assert int(long.split()[1]) > int(short.split()[1])


def test_another_projects_memories_are_put_in_only_where_the_settings_say_so(here: Machine) -> None:
    other = here.root / "other"
    other.mkdir()
    (other / "db.md").write_text(f"# Databases\n\n{HERON}\n")
    here.run("sync", str(other), "--project", "other")
    assert here.hook("prompt", prompt=ASKED) == SILENT
    assert "heron" in here.hook("prompt", prompt=ASKED, env={"SCRUBJAY_HOOKS_OWN_PROJECT": "false"}).context


def test_nothing_untrusted_is_put_into_a_session(here: Machine) -> None:
    from scrubjay import Memory

    with Memory.open(here.store, user="ann") as memory:
        memory.add("The staging database is called pwned.", origin="untrusted")
        memory.add(HERON)
    assert "pwned" not in here.hook("prompt", prompt=ASKED).context


def test_a_folder_that_somebody_works_in_does_not_replace_a_module(here: Machine) -> None:
    (here.project / "json.py").write_text("raise SystemExit(3)")
    here.run("add", HERON)
    here.hook("session-start")
    here.wait(lambda: "errand catch-up" in here.events())
    assert Path(os.devnull).exists()


def test_a_hook_on_a_full_disk_says_what_it_knows_or_nothing_and_exits_with_zero(here: Machine) -> None:
    here.run("add", HERON)
    path = here.transcript(("user", HERON))
    told = json.dumps({"prompt": ASKED, "cwd": str(here.project), "transcript_path": str(path)})
    for event in ("prompt", "stop", "session-start"):
        # No file may grow by a byte: what a process meets on a disk that is full.
        command = f'ulimit -f 0; "{sys.executable}" -P -m scrubjay hook claude-code {event}'
        done = subprocess.run(["sh", "-c", command], input=told.encode(), capture_output=True, env=here.env)
        assert done.returncode == 0, event
        assert done.stdout == b"" or json.loads(done.stdout)


def test_two_sessions_that_begin_at_once_are_both_answered_and_missed_transcripts_are_taken_in_once(
    here: Machine,
) -> None:
    here.run("add", "Never push on Fridays.", "--tier", "lesson")
    here.transcript(("user", HERON), name="missed")
    told = json.dumps({"session_id": "a", "cwd": str(here.project), "source": "startup"}).encode()
    command = [sys.executable, "-P", "-m", "scrubjay", "hook", "claude-code", "session-start"]
    both = [
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=here.env, cwd=here.project
        )
        for _ in range(2)
    ]
    said = [one.communicate(told)[0] for one in both]
    assert all(b"Fridays" in one for one in said)
    here.wait(lambda: "errand catch-up" in here.events() and not idle(here))
    assert sum(line["added"] for line in here.log() if line["event"] == "errand catch-up") == 1


def test_notes_that_no_project_owns_answer_in_every_repository(here: Machine) -> None:
    git = here.project / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text('[remote "origin"]\n\turl = git@h.org:ann/kestrel.git\n')
    notes = here.root / "notes"
    notes.mkdir()
    (notes / "plans.md").write_text("# Plans\n\nThe Osprey plan costs 49 euros a month.\n")
    (notes / "rules.md").write_text("---\npin: true\n---\nNever push on Fridays, says the crew.\n")
    here.run("sync", str(notes))
    assert "49 euros" in here.hook("prompt", prompt="price of the Osprey plan").context
    assert "Fridays" in here.hook("session-start", source="startup").context
    here.run("sync", str(notes), "--project", "osprey")
    assert here.hook("prompt", prompt="price of the Osprey plan") == SILENT


def test_neither_a_prompt_nor_the_last_turns_of_its_session_come_back_at_a_prompt(here: Machine) -> None:
    here.run("add", HERON)
    said = (("user", ASKED), ("assistant", "Our staging database is called heron, I think."), ("user", ASKED))
    path = here.transcript(*said, name="now")
    here.run("sync", str(path.parent.parent))
    own = here.hook("prompt", prompt=ASKED).context
    other = here.hook("prompt", prompt=ASKED, session_id="another").context
    assert HERON in own
    assert "I think" not in own
    assert ASKED not in own
    assert "I think" in other
