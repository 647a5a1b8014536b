"""What hooks take in behind an agent's back: the transcript of this session, once, and not what was put into it."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from hooking import Machine, Said, idle

HERON = "Our staging database is called heron and lives in Lisbon."
ASKED = "What is our staging database called?"
SILENT = Said(0, b"", b"")
CAPTURED = "errand capture"


def captured(here: Machine, times: int = 1) -> bool:
    return here.events().count(CAPTURED) >= times and not idle(here)


@pytest.mark.parametrize("event", ["stop", "pre-compact", "session-end"])
def test_what_was_said_is_found_after_a_hook_that_said_nothing(here: Machine, event: str) -> None:
    path = here.transcript(("user", HERON), ("assistant", "Noted."))
    assert here.hook(event, transcript_path=str(path)) == SILENT
    here.wait(lambda: captured(here))
    assert HERON in here.found(ASKED)


def test_a_turn_is_known_by_its_project_and_its_agent(here: Machine) -> None:
    (here.project / ".git").mkdir()
    (here.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (here.project / ".git" / "config").write_text(
        '[remote "origin"]\n\turl = git@example.com:ann/boats.git\n'
    )
    path = here.transcript(("user", HERON))
    here.hook("stop", transcript_path=str(path))
    here.wait(lambda: captured(here))
    done = here.run("search", "--json", "--project", "boats", "--agent", "claude-code", ASKED)
    assert [one["project"] for one in done.json["results"]] == ["example.com/ann/boats"]


def test_only_the_file_of_this_session_is_read(here: Machine) -> None:
    other = here.transcript(("user", "The tea is kept in the green tin."), name="other")
    path = here.transcript(("user", HERON), name="this")
    here.hook("stop", transcript_path=str(path))
    here.wait(lambda: captured(here))
    with_other = here.run("search", "--json", "green tin tea")
    assert other.exists()
    # The search itself may take a small change in; what the hook did is in the log.
    assert [line["added"] for line in here.log() if line["event"] == CAPTURED] == [1]
    assert with_other.code == 0


def test_a_session_that_goes_on_is_read_on_and_nothing_is_there_twice(here: Machine) -> None:
    here.hook("stop", transcript_path=str(here.transcript(("user", HERON))))
    here.wait(lambda: captured(here))
    here.hook(
        "stop", transcript_path=str(here.transcript(("user", HERON), ("user", "Lisbon was too warm for it.")))
    )
    here.wait(lambda: captured(here, 2))
    assert [line["added"] for line in here.log() if line["event"] == CAPTURED] == [1, 1]


def test_a_session_that_begins_catches_up_with_transcripts_that_were_missed(here: Machine) -> None:
    here.transcript(("user", HERON), name="missed")
    here.hook("session-start")
    here.wait(lambda: "errand catch-up" in here.events() and not idle(here))
    assert HERON in here.found(ASKED)


def test_what_was_recalled_into_a_session_is_not_captured_from_it(here: Machine) -> None:
    here.run("add", HERON)
    put_in = here.hook("prompt", prompt=ASKED).context
    path = here.transcript(("user", f"{put_in}\n\nWe still use the green one for this."))
    here.hook("stop", transcript_path=str(path))
    here.wait(lambda: captured(here))
    assert [text for text in here.found(ASKED) if "heron" in text] == [HERON]
    assert any("green one" in text for text in here.found("the green one that we use"))


def test_a_file_outside_of_the_agents_folder_is_not_read(here: Machine) -> None:
    path = here.transcript(("user", HERON))
    elsewhere = here.root / "elsewhere.jsonl"
    path.rename(elsewhere)
    assert here.hook("stop", transcript_path=str(elsewhere)) == SILENT
    assert (
        here.hook("stop", transcript_path=str(path.parent / ".." / ".." / ".." / ".." / "elsewhere.jsonl"))
        == SILENT
    )
    assert here.run("sources", "--json").json["sources"] == []
    assert [line["error"] for line in here.log()] == ["transcript outside the agent's folders"] * 2


def test_a_transcript_that_is_not_there_is_no_trouble(here: Machine) -> None:
    path = here.transcript(("user", HERON))
    here.hook("stop", transcript_path=str(path.with_name("gone.jsonl")))
    here.wait(lambda: captured(here))
    assert [line["added"] for line in here.log() if line["event"] == CAPTURED] == [0]


def test_what_a_killed_process_left_is_done_by_the_next(here: Machine) -> None:
    from scrubjay.api.jobs import RUNNING_SUFFIX, JobQueue

    path = here.transcript(("user", HERON))
    errands = JobQueue(str(here.data), here.mark)
    root = str(path.parent.parent)
    errands.enqueue("capture", event="stop", root=root, path=str(path))
    (waiting,) = [one for one in Path(errands.folder).iterdir() if one.name != "lock"]
    waiting.rename(waiting.with_name(waiting.name + RUNNING_SUFFIX))
    assert here.run("hook", "--errands").code == 0
    assert HERON in here.found(ASKED)
    assert [one.name for one in Path(errands.folder).iterdir()] == ["lock"]


def test_an_errand_that_fails_keeps_no_other_from_being_done(here: Machine) -> None:
    from scrubjay.api.jobs import JobQueue

    path = here.transcript(("user", HERON))
    errands = JobQueue(str(here.data), here.mark)
    errands.enqueue("no such kind", event="stop")
    (Path(errands.folder) / ("0" * 24)).write_text("torn {")
    errands.enqueue("capture", event="stop", root=str(path.parent.parent), path=str(path))
    here.run("hook", "--errands")
    assert HERON in here.found(ASKED)
    assert sorted(line["level"] for line in here.log()) == ["error", "error", "info"]


def test_errands_of_settings_that_nobody_has_any_more_are_removed_after_a_month(here: Machine) -> None:
    from scrubjay.api.jobs import STALE_SECONDS, JobQueue

    for name in ("a" * 64, "b" * 64):
        JobQueue(str(here.data), name).enqueue("consolidate", event="heartbeat")
    above = here.data / "errands"
    old = time.time() - STALE_SECONDS - 60
    os.utime(above / ("a" * 16), (old, old))
    assert here.run("hook", "--errands").code == 0
    assert sorted(path.name for path in above.iterdir()) == sorted(["b" * 16, here.mark[:16]])


def test_two_at_once_do_an_errand_once(here: Machine) -> None:
    import subprocess
    import sys

    from scrubjay.api.jobs import JobQueue

    path = here.transcript(("user", HERON))
    JobQueue(str(here.data), here.mark).enqueue(
        "capture", event="stop", root=str(path.parent.parent), path=str(path)
    )
    command = [sys.executable, "-P", "-m", "scrubjay", "hook", "--errands"]
    both = [subprocess.Popen(command, env=here.env, cwd=here.project) for _ in range(2)]
    assert [one.wait() for one in both] == [0, 0]
    assert here.events() == [CAPTURED]


def test_a_session_in_which_nothing_was_said_leaves_no_error(here: Machine) -> None:
    said = here.transcript(("user", "The kayak leaks."))
    here.hook("session-end", transcript_path=str(said.with_name("empty.jsonl")))
    here.wait(lambda: "errand capture" in here.events())
    assert [line["level"] for line in here.log()] == ["info"] * len(here.log())


@pytest.mark.parametrize(("event", "agent"), [("heartbeat", "openclaw"), ("session-end", "claude-code")])
def test_a_heartbeat_and_a_session_s_end_consolidate_when_it_is_time(
    here: Machine, event: str, agent: str
) -> None:
    here.hook(event, agent)
    here.wait(lambda: "errand consolidate" in here.events())
    assert here.events().count("errand consolidate") == 1


PLACES = "Faro Sines Lagos Tavira Olhao Nazare Peniche Setubal Cascais Aveiro".split()
TALKS = (
    (
        "Why does the tide importer stall?",
        "It waits for a lock that the report job holds; we set lock_timeout to 9 s.",
    ),
    ("Which port does the chart server take?", "Port 8417, because 8400 is taken by the proxy on that host."),
    (
        "How large may a chart tile be?",
        "At most 350 kB, else the old plotters drop it; decided for all releases.",
    ),
)


def test_a_session_s_end_archives_nothing_and_what_was_found_before_it_is_found_after(here: Machine) -> None:
    notes = here.root / "journal"
    notes.mkdir()
    for day in range(1, 31):
        place, price = PLACES[day % 10], 20 + day
        (notes / f"2026-06-{day:02}.md").write_text(
            f"# 2026-06-{day:02}\n\n## Harbour\n\nThe berth number {day} in {place} costs {price} euros a night.\n\n"
            f"## Work\n\nThe pump of boat number {day} was mended by Mara and holds again.\n"
        )
    here.run("sync", str(notes))
    for number, (asked, answer) in enumerate(TALKS):
        path = here.transcript(
            ("user", asked),
            ("assistant", answer),
            ("user", "ok"),
            name=f"talk{number}",
            at=f"2026-06-0{number + 1}T10:00:00Z",
        )
        here.hook("stop", transcript_path=str(path))
    here.wait(lambda: captured(here, len(TALKS)))
    asked = [f"What does berth number {day} cost?" for day in (3, 11, 17, 25, 30)] + [one for one, _ in TALKS]
    answers = [f"costs {20 + day} euros" for day in (3, 11, 17, 25, 30)] + [one[:25] for _, one in TALKS]
    before = [
        any(answer in text for text in here.found(one)) for one, answer in zip(asked, answers, strict=True)
    ]
    held = here.run("status", "--json").json["statuses"]
    assert all(before)
    here.hook("session-end", transcript_path=str(path))
    here.wait(lambda: "errand consolidate" in here.events() and not idle(here))
    assert [line["archived"] for line in here.log() if line["event"] == "errand consolidate"] == [0]
    after = here.run("status", "--json").json["statuses"]
    assert set(after) == {"active"}
    assert after["active"] >= held["active"]
    assert all(
        any(answer in text for text in here.found(one)) for one, answer in zip(asked, answers, strict=True)
    )


def test_a_pause_stops_hooks_and_what_is_said_meanwhile_stays_out(here: Machine) -> None:
    from datetime import UTC, datetime

    here.run("add", HERON)
    assert here.run("pause", "--for", "2h").out.startswith(b"Paused until ")
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    path = here.transcript(("user", "My salary is nine herons a month."), at=now)
    assert here.hook("prompt", prompt=ASKED) == SILENT
    assert here.hook("stop", transcript_path=str(path)) == SILENT
    assert here.events() == []
    assert here.run("resume").out == b"Hooks resumed.\n"
    assert "heron" in here.hook("prompt", prompt=ASKED).context
    here.hook("stop", transcript_path=str(path))
    here.wait(lambda: captured(here))
    assert not any("salary" in text for text in here.found("salary herons month"))


@pytest.mark.parametrize("wrong", [300, 86_400 * 365])
def test_a_pause_holds_though_the_clock_was_set_back_after_it_began(here: Machine, wrong: float) -> None:
    from datetime import UTC, datetime

    here.run("add", HERON)
    here.run("pause")
    # As a clock that was fast has written it.
    pauses = here.data / "pauses"
    (line,) = [json.loads(row) for row in pauses.read_text().splitlines()]
    pauses.write_text(json.dumps(line | {"at": line["at"] + wrong}) + "\n")
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    path = here.transcript(("user", "My salary is nine herons a month."), at=now)
    assert here.hook("prompt", prompt=ASKED) == SILENT
    here.run("sync", str(path.parent))
    assert not any("salary" in text for text in here.found("salary herons month"))
    assert here.run("resume").out == b"Hooks resumed.\n"
    assert "heron" in here.hook("prompt", prompt=ASKED).context
    later = here.transcript(("user", "My salary is ten herons."), name="then", at=now)
    here.run("sync", str(later.parent))
    assert not any("salary" in text for text in here.found("salary herons month"))


def test_a_byte_of_no_text_ends_no_pause_and_an_unreadable_file_is_one(here: Machine) -> None:
    here.run("add", HERON)
    here.run("pause")
    pauses = here.data / "pauses"
    with pauses.open("ab") as file:
        file.write(b"\xff\n")
    assert here.hook("prompt", prompt=ASKED) == SILENT
    here.run("resume")
    assert "heron" in here.hook("prompt", prompt=ASKED).context
    pauses.unlink()
    pauses.mkdir()
    assert here.hook("prompt", prompt=ASKED) == SILENT
    path = here.transcript(("user", "My salary is nine herons a month."))
    done = here.run("sync", str(path.parent))
    assert path.name.encode() in done.out + done.err
    assert not any("salary" in text for text in here.found("salary herons month"))
    pauses.rmdir()
    here.run("sync", str(path.parent))
    assert any("salary" in text for text in here.found("salary herons month"))


def test_a_pause_for_one_agent_leaves_the_others(here: Machine) -> None:
    here.run("add", HERON)
    here.run("pause", "codex")
    assert here.hook("prompt", "codex", prompt=ASKED) == SILENT
    assert "heron" in here.hook("prompt", prompt=ASKED).context
    here.run("resume", "codex")
    assert "heron" in here.hook("prompt", "codex", prompt=ASKED).context


def test_openclaws_plugin_learns_that_memory_is_off_before_it_writes_a_turn(here: Machine) -> None:
    here.run("add", HERON)
    assert here.hook("prompt", "openclaw", prompt=ASKED).json.get("paused") is None
    assert here.hook("prompt", "openclaw", prompt=ASKED, env={"SCRUBJAY_OFF": "1"}).json == {"paused": True}
    here.run("pause")
    for event in ("session-start", "prompt", "stop"):
        assert here.hook(event, "openclaw", prompt=ASKED).json == {"paused": True}
        assert here.hook(event, "opencode", prompt=ASKED) == SILENT


def test_a_session_that_was_switched_off_is_never_taken_in(here: Machine) -> None:
    here.run("add", "Never push on Fridays.", "--tier", "lesson")
    path = here.transcript(("user", HERON), name="private")
    off = {"SCRUBJAY_OFF": "1"}
    assert here.hook("session-start", session_id="private", env=off) == SILENT
    assert here.hook("stop", session_id="private", transcript_path=str(path), env=off) == SILENT
    assert here.events() == []
    here.hook("session-start", session_id="next")
    here.wait(lambda: "errand catch-up" in here.events() and not idle(here))
    assert here.found(ASKED) == [] or not any("heron" in text for text in here.found(ASKED))


def test_commands_work_in_a_shell_in_which_hooks_are_off(here: Machine) -> None:
    assert here.run("add", HERON, SCRUBJAY_OFF="1").code == 0


def test_status_says_that_hooks_are_paused(here: Machine) -> None:
    here.run("pause")
    assert b"paused until `scrubjay resume`" in here.run("status").out
    assert here.run("status", "--json").json["paused"] == {"all": None}


def test_a_pause_that_cannot_be_written_down_is_said_to_be_none(here: Machine) -> None:
    here.data.parent.joinpath("scrubjay").write_text("a file where a folder should be")
    done = here.run("pause")
    assert done.code == 4
    assert b"Nothing was paused" in done.err


def test_a_torn_line_of_the_pauses_costs_no_other(here: Machine) -> None:
    here.run("pause")
    with (here.data / "pauses").open("a") as file:
        file.write('{"at": 1, "do')
    here.run("pause", "codex")
    here.run("resume")
    assert here.run("status", "--json").json["paused"] == {}


def test_errands_hold_no_word_of_a_session(here: Machine) -> None:
    from scrubjay.api.jobs import JobQueue

    errands = JobQueue(str(here.data), here.mark)
    errands.enqueue("capture", event="stop", root="/r", path="/r/p")
    (waiting,) = [one for one in Path(errands.folder).iterdir() if one.name != "lock"]
    assert set(json.loads(waiting.read_bytes())) == {"kind", "event", "root", "path"}
    assert waiting.stat().st_mode & 0o777 == 0o600
