"""A conversation in, its turns out: by cursor, once, with session, project, time and role."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import InputError

SECRET = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


def line(number: int, text: str, *, session: str = "s1", cwd: str = "/not/here/garden") -> str:
    role = "user" if number % 2 else "assistant"
    first = f"{int(session[1:]):08d}-0000-4000-8000"
    record = {
        "type": role,
        "uuid": f"{first}-{number:012d}",
        "parentUuid": f"{first}-{number - 1:012d}" if number > 1 else None,
        "sessionId": session,
        "isSidechain": False,
        "cwd": cwd,
        "timestamp": f"2026-03-01T10:{number % 60:02d}:00Z",
        "message": {"role": role, "content": text},
    }
    return json.dumps(record) + "\n"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    (folder / "garden").mkdir(parents=True)
    (folder / "garden" / "s1.jsonl").write_text(
        line(1, "When do we plant the quince?") + line(2, "The quince goes in on Friday.")
    )
    return folder


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", user="ann", embedders=[HashEmbedder(64)]) as opened:
        yield opened


def append(logs: Path, *lines: str, name: str = "s1") -> Path:
    file = logs / "garden" / f"{name}.jsonl"
    with file.open("a") as log:
        log.writelines(lines)
    return file


def texts(memory: Memory, session: str = "s1") -> list[str]:
    """Every turn of a session, by its number."""
    first = memory.search("", sessions=[session], limit=1).results
    found = memory.search("quince", sessions=[session], limit=50).results or first
    return [] if not found else [r.content for r in memory.get(found[0].id, neighbours=1_000).records]


def test_a_turn_is_found_with_who_said_it_when_where_and_in_which_project(memory: Memory, logs: Path) -> None:
    memory.sync(logs)
    (best, *_) = memory.search("which day for the quince?", limit=1).results
    assert best.snippet in ("When do we plant the quince?", "The quince goes in on Friday.")
    assert (best.session, best.agent) == ("s1", "claude-code")
    assert best.date.startswith("2026-03-01T10:0")
    assert str(best.project).startswith("garden-")
    assert best.citation.endswith(("s1.jsonl:1-1", "s1.jsonl:2-2"))
    assert best.origin == {"user": "owner", "assistant": "agent"}[str(best.role)]


def test_only_what_was_appended_is_read_and_it_goes_on_in_its_session(memory: Memory, logs: Path) -> None:
    memory.sync(logs)
    append(logs, line(3, "And the quince jelly?"))
    done = memory.sync()
    assert (done.added, done.passages) == (1, 3)
    assert texts(memory) == [
        "When do we plant the quince?", "The quince goes in on Friday.", "And the quince jelly?",
    ]  # fmt: skip


def test_a_torn_last_line_waits_until_it_is_whole(memory: Memory, logs: Path) -> None:
    whole = line(3, "And the quince jelly?")
    append(logs, whole[:40])
    assert memory.sync(logs).added == 2
    append(logs, whole[40:])
    assert memory.sync().added == 1


def test_a_copy_in_a_resumed_sessions_file_is_the_same_memory(memory: Memory, logs: Path) -> None:
    memory.sync(logs)
    shutil.copy(logs / "garden" / "s1.jsonl", logs / "garden" / "s2.jsonl")
    append(logs, line(3, "And the quince jelly?"), name="s2")
    assert memory.sync().added == 1
    assert len(texts(memory)) == 3


def test_what_was_said_stays_when_the_tool_throws_its_log_away(memory: Memory, logs: Path) -> None:
    append(logs, line(1, "Another talk about quince", session="s9"), name="s9")
    memory.sync(logs)
    (logs / "garden" / "s1.jsonl").unlink()
    assert memory.sync().removed == 0
    assert len(texts(memory)) == 2


def test_a_renamed_log_is_read_on_where_it_was(memory: Memory, logs: Path) -> None:
    memory.sync(logs)
    (logs / "garden" / "s1.jsonl").rename(logs / "garden" / "renamed.jsonl")
    append(logs, line(3, "The quince jelly is in the cellar."), name="renamed")
    assert memory.sync().added == 1
    (best, *_) = memory.search("quince jelly", limit=1).results
    assert best.citation.endswith("renamed.jsonl:3-3")
    assert memory.status().documents == 1


def test_a_log_that_was_written_anew_is_read_anew_and_nothing_is_lost(memory: Memory, logs: Path) -> None:
    memory.sync(logs)
    (logs / "garden" / "s1.jsonl").write_text(line(1, "Quinces again, from the start", session="s2"))
    assert memory.sync().added == 1
    assert len(texts(memory)) == 2


def test_a_forgotten_turn_does_not_come_back(memory: Memory, logs: Path) -> None:
    memory.sync(logs)
    (best, *_) = memory.search("plant the quince", limit=1).results
    memory.forget(best.id)
    log = logs / "garden" / "s1.jsonl"
    log.write_text(log.read_text() + line(3, "Hello again"))
    shutil.copy(log, logs / "garden" / "copy.jsonl")
    memory.sync()
    assert best.id not in [r.id for r in memory.search("plant the quince").results]


def test_a_secret_that_was_said_is_not_stored(memory: Memory, logs: Path) -> None:
    append(logs, line(3, f"my key for the quince is {SECRET}"))
    done = memory.sync(logs)
    assert sum(done.scrubbed.values()) == 1
    assert not any(SECRET in text for text in texts(memory))


def test_a_long_turn_is_several_memories_with_one_number(memory: Memory, logs: Path) -> None:
    said = "\n\n".join(
        f"Paragraph {n} about the quince and its many uses in the kitchen. " * 8 for n in range(12)
    )
    append(logs, line(3, said), line(4, "Thanks for all that on the quince."))
    memory.sync(logs)
    (last, *_) = memory.search("thanks for all that", limit=1).results
    around = memory.get(last.id, neighbours=1, limit=100_000).records
    assert {record.turn for record in around} == {2, 3}
    assert "".join(record.content for record in around if record.turn == 2).split() == said.split()


def test_broken_and_unknown_records_are_named_and_the_rest_is_taken(memory: Memory, logs: Path) -> None:
    file = append(logs, '{"type": "user", broken\n', '{"type":"quantum-state","uuid":"x","sessionId":"s1"}\n')
    with file.open("ab") as log:
        log.write(b'{"caf\xe9": 1}\n')
    append(logs, line(3, "Still here about quince"))
    done = memory.sync(logs)
    messages = " ".join(problem.message for problem in done.problems)
    assert done.added == 3
    assert "Line 3 is not JSON" in messages
    assert "not UTF-8" in messages
    assert "quantum-state (1)" in messages


def test_a_search_takes_in_a_talk_once_it_has_grown_enough(memory: Memory, logs: Path) -> None:
    memory.sync(logs)
    append(logs, line(3, "A little more on quince"))
    assert memory.search("little more").results[0].snippet != "A little more on quince"
    append(logs, *(line(n, f"Quince talk number {n}") for n in range(4, 60)))
    assert memory.search("little more on quince").results[0].snippet == "A little more on quince"


def test_notes_beside_talks_are_taken_and_other_json_is_passed_over(memory: Memory, logs: Path) -> None:
    (logs / "note.md").write_text("# Quince\n\nA note on quince.\n")
    (logs / "package.json").write_text('{"name": "quince"}')
    done = memory.sync(logs)
    assert (done.added, done.problems) == (3, ())
    assert memory.sync().added == 0


def test_a_folder_of_data_in_json_lines_is_not_taken_for_talk(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "rows.jsonl").write_text('{"_id": "1", "text": "quince"}\n' * 50)
    (tmp_path / "data" / "a.md").write_text("# Notes\n\nOn quince.\n")
    assert memory.sync(tmp_path / "data").files == 1


def test_a_single_file_that_no_tool_wrote_is_refused_with_where_to_read(
    memory: Memory, tmp_path: Path
) -> None:
    (tmp_path / "rows.jsonl").write_text('{"_id": "1"}\n')
    with pytest.raises(InputError, match="not a transcript of a known format") as caught:
        memory.sync(tmp_path / "rows.jsonl")
    assert "docs/conversations.md" in str(caught.value.hint)
    assert memory.sources() == []


def test_rebuild_keeps_turns_as_they_were_said(memory: Memory, logs: Path) -> None:
    memory.sync(logs)
    before = [(r.id, r.content, r.turn, r.session) for r in memory.get(_ids(memory)).records]
    memory.rebuild()
    assert [
        (r.id, r.content, r.turn, r.session) for r in memory.get([b[0] for b in before]).records
    ] == before
    append(logs, line(3, "And the quince jelly?"))
    assert memory.sync().added == 1


def test_a_search_narrows_to_project_agent_and_session(memory: Memory, logs: Path, tmp_path: Path) -> None:
    other = tmp_path / "orchard"
    other.mkdir()
    append(logs, line(1, "Quince in the orchard", session="s5", cwd=str(other)), name="s5")
    memory.sync(logs)
    project = memory.search("orchard", sessions=["s5"]).results[0].project
    assert [r.session for r in memory.search("quince", projects=[str(other)]).results] == ["s5"]
    assert [r.session for r in memory.search("quince", projects=[str(project)]).results] == ["s5"]
    assert {r.session for r in memory.search("quince", agents=["claude-code"]).results} == {"s1", "s5"}
    assert memory.search("quince", agents=["codex"]).results == ()


def test_a_log_that_cannot_be_opened_is_a_problem_and_the_rest_goes_on(memory: Memory, logs: Path) -> None:
    append(logs, line(1, "Quince again", session="s7"), name="s7")
    memory.sync(logs)
    gone = append(logs, line(3, "more"), name="s7")
    gone.unlink()
    os.symlink("/nowhere/at/all", gone)
    append(logs, line(3, "And the quince jelly?"))
    assert memory.sync().added == 1


def _ids(memory: Memory) -> list[str]:
    return [result.id for result in memory.search("quince", limit=10).results]


@pytest.mark.parametrize("include", [(), ("*.jsonl",)], ids=["found by itself", "asked for"])
def test_what_was_said_stays_when_its_log_is_emptied_and_then_thrown_away(
    memory: Memory, logs: Path, include: tuple[str, ...]
) -> None:
    memory.sync(logs, include=include)
    log = logs / "garden" / "s1.jsonl"
    said = log.read_text()
    log.write_text("")
    memory.sync()
    assert len(texts(memory)) == 2
    memory.rebuild()
    log.unlink()
    append(logs, line(1, "Another talk about quince", session="s9"), name="s9")
    memory.sync()
    assert len(texts(memory)) == 2
    log.write_text(said + line(3, "And the quince jelly?"))
    assert memory.sync().added == 1
    assert len(texts(memory)) == 3
