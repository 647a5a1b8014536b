"""What hooks remember of a session: what its model was given is given once, and what it missed is brought later."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hooking import Machine, Said, idle

from scrubjay.api.injections import Injection, InjectionLog, in_context, times_in_context

HERON = "Our staging database is called heron and lives in Lisbon."
FRIDAYS = "Never push on Fridays."
ASKED = "What is our staging database called?"
SILENT = Said(0, b"", b"")


def injections(here: Machine, session: str = "now", agent: str = "claude-code") -> list[Injection]:
    return InjectionLog(str(here.data)).session(agent, session)


def test_a_memory_is_given_to_a_session_once_until_its_context_is_emptied(here: Machine) -> None:
    here.run("add", HERON)
    assert HERON in here.hook("prompt", prompt=ASKED).context
    assert here.hook("prompt", prompt=ASKED) == SILENT
    assert here.hook("prompt", "codex", prompt=ASKED).context
    here.hook("session-start", source="compact")
    assert HERON in here.hook("prompt", prompt=ASKED).context
    kinds = [(one.event, one.fresh, len(one.memories)) for one in injections(here)]
    assert kinds == [("prompt", False, 1), ("session-start", True, 0), ("prompt", False, 1)]


def test_the_next_session_starts_with_the_newest_decision_and_hides_no_older_one(here: Machine) -> None:
    said = {
        "2026-11-14": "restic: keep is 30 days on the NAS, the nightly backup goes to Hetzner. Keep stays 30d.",
        "2026-11-28": "decision: from Dec 1 the nightly restic backup goes to the Synology and no longer to Hetzner.",
    }
    (here.project / ".git").mkdir()
    (here.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    for number, (day, text) in enumerate(said.items(), 1):
        at = f"{day}T10:00:00.000Z"
        path = str(here.transcript(("user", text), ("assistant", "Noted."), name=day, at=at))
        for event in ("stop", "session-end"):
            here.hook(event, session_id=day, transcript_path=path)
        here.wait(lambda n=number: here.events().count("errand capture") == 2 * n and not idle(here))
    context = here.hook("session-start", source="startup").context
    places = [context.index(text.removeprefix("decision: ")) for text in reversed(said.values())]
    assert places == sorted(places)
    assert "Where two differ, the one with the later date holds." in context


def test_hooks_say_days_of_the_persons_zone(here: Machine) -> None:
    here.run("add", HERON, "--role", "user", "--session", "then", "--date", "2026-11-27T20:30:00-05:00")
    said = here.hook("prompt", prompt=ASKED, env={"SCRUBJAY_RECALL_TZ": "America/New_York"})
    assert "[2026-11-27 semantic" in said.context
    assert b"semantic of 2026-11-27" in said.out
    assert b"2026-11-28" not in said.out


def test_what_a_session_was_given_is_known_after_a_change_of_settings(here: Machine) -> None:
    """As after an upgrade, or for a server with other variables than the hooks."""
    here.run("add", HERON)
    assert HERON in here.hook("prompt", prompt=ASKED).context
    assert here.hook("prompt", prompt=ASKED, env={"SCRUBJAY_CONTEXT_SESSIONS": "2"}) == SILENT


def test_the_log_holds_what_was_said_by_ids_and_sizes_and_no_word_of_it(here: Machine) -> None:
    added = here.run("add", HERON, "--json").json["id"]
    here.hook("session-start", source="startup")
    here.hook("prompt", prompt="Rename the variable in the second loop.")
    said = here.hook("prompt", prompt=ASKED)
    start, prompt = injections(here)
    assert (start.event, start.fresh, start.tokens, start.memories) == ("session-start", True, 0, ())
    (memory,) = prompt.memories
    assert (prompt.event, prompt.folder, memory["id"]) == ("prompt", str(here.project), added)
    assert 0 < memory["tokens"] <= prompt.tokens <= len(said.context)
    assert 0 < memory["relevance"] <= 1
    files = [path.read_text() for path in (here.data / "injections").rglob("*.jsonl")]
    assert files
    assert "heron" not in "".join(files)


def test_the_start_of_a_session_that_came_too_late_is_brought_by_its_first_prompt(here: Machine) -> None:
    here.run("add", FRIDAYS, "--tier", "lesson")
    late = {"SCRUBJAY_HOOKS_START_MS": "20", "SCRUBJAY_HOOKS_BUDGET_MS": "20"}
    assert here.hook("session-start", source="startup", env=late) == SILENT
    first = here.hook("prompt", prompt="Rename the variable in the second loop.")
    assert FRIDAYS in first.context
    assert here.hook("prompt", prompt="Rename the variable in the second loop.") == SILENT
    assert [one.event for one in injections(here) if one.memories] == ["session-start"]


def test_the_start_of_a_session_has_a_budget_of_its_own(here: Machine) -> None:
    here.run("add", FRIDAYS, "--tier", "lesson")
    own = {"SCRUBJAY_HOOKS_START_MS": "30000", "SCRUBJAY_HOOKS_BUDGET_MS": "20"}
    assert FRIDAYS in here.hook("session-start", source="startup", env=own).context


def test_a_context_that_was_emptied_while_its_hook_was_late_holds_nothing() -> None:
    def one(event: str, memory: str = "", *, fresh: bool = False) -> Injection:
        memories = [{"id": memory}] if memory else []
        return Injection("codex", "s", event, at=1.0, fresh=fresh, memories=memories)

    told = [one("session-start", "obs_a", fresh=True), one("prompt", "obs_b"), one("prompt", "obs_a")]
    assert list(times_in_context(told)) == ["obs_a", "obs_b"]
    told += [one("late", fresh=True), one("prompt", "obs_c")]
    assert list(times_in_context(told)) == ["obs_c"]
    assert [each.event for each in in_context(told)] == ["late", "prompt"]


def test_an_injection_that_was_torn_costs_a_session_nothing(tmp_path: Path) -> None:
    log = InjectionLog(str(tmp_path))
    log.append(Injection("claude-code", "now", "prompt", at=1.0, memories=[{"id": "obs_a"}]))
    (path,) = tmp_path.rglob("*.jsonl")
    with path.open("ab") as file:
        file.write(b'{\n{"at": 1}\n\xff\n[]\n')
    assert list(times_in_context(log.session("claude-code", "now"))) == ["obs_a"]


def plain(here: Machine, event: str, **said: Any) -> Said:
    told = {"session": "now", "folder": str(here.project), **said}
    return here.run("hook", "openclaw", event, stdin=json.dumps(told).encode())


def test_a_session_without_an_id_is_answered_and_leaves_no_trace(here: Machine) -> None:
    here.run("add", HERON)
    for _ in range(2):
        assert "heron" in plain(here, "prompt", session="", prompt=ASKED).json["context"]
    assert not (here.data / "injections").exists()
