import json
from pathlib import Path

from scrubjay.ingest.transcripts.codex import CODEX

TALK = "019b64e5-57fa-7463-b644-fba7e456f905"
ROLLOUT = f"rollout-2026-02-10T08-00-00-{TALK}.jsonl"
FORK = "019b7000-0000-7000-8000-00000000f00d"


def test_a_rollout_gives_each_message_once_and_no_context(read, fixtures) -> None:
    found = read(CODEX, fixtures / "codex" / ROLLOUT)
    branch = found.turns[4].session
    assert branch.startswith(f"{TALK}~")
    assert len(branch) == len(TALK) + 9
    assert found.brief() == [
        (TALK, "user", "Rename the buoy."),
        (TALK, "assistant", "It is called `Marker` now."),
        (TALK, "user", "Call it `Beacon`."),
        (TALK, "assistant", "It is `Beacon`."),
        (branch, "user", "Leave it as `Marker`."),
        (branch, "assistant", "Left."),
        (branch, "user", "Done for today."),
    ]
    assert found.left == {
        "session_meta": 1, "developer's message": 1, "context": 3, "copy in an event": 2, "turn_context": 1,
        "reasoning": 1, "event_msg": 5, "function_call": 1, "function_call_output": 1, "compacted": 1,
    }  # fmt: skip
    assert found.unknown == {"quantum_call": 1, "sonar": 1}


def test_a_turn_knows_directory_repository_time_and_title(read, fixtures) -> None:
    turns = read(CODEX, fixtures / "codex" / ROLLOUT).turns
    assert [turn.cwd for turn in turns[:2]] == ["/home/ana/pilot", "/home/ana/pilot/src"]
    assert {turn.remote for turn in turns} == {"https://example.org/ana/pilot.git"}
    assert [turn.title for turn in turns] == ["", "", "", "", "Buoys", "Buoys", "Buoys"]
    assert [turn.origin for turn in turns[:2]] == ["owner", "agent"]
    assert {turn.agent for turn in turns} == {"codex"}
    assert turns[0].at == 1770710520000000
    assert turns[0].line == 5


def test_a_torn_last_line_waits(read, fixtures) -> None:
    file = fixtures / "codex" / ROLLOUT
    found = read(CODEX, file)
    assert file.read_bytes()[found.end :].startswith(b'{"timestamp"')
    assert not found.broken


def test_what_a_fork_copies_has_the_keys_of_its_originals(read, fixtures) -> None:
    first = read(CODEX, fixtures / "codex" / ROLLOUT).turns
    fork = read(CODEX, fixtures / "codex" / f"rollout-2026-02-10T09-00-00-{FORK}.jsonl").turns
    assert [turn.key for turn in fork[:2]] == [turn.key for turn in first[:2]]
    assert [(turn.session, turn.text) for turn in fork[2:]] == [(FORK, "In the fork: call it `Float`.")]
    assert len({turn.key for turn in (*first, *fork)}) == len(first) + 1


def test_a_sub_agents_prompts_are_an_agents_and_its_session_is_below_its_parents(read, fixtures) -> None:
    name = "019b7100-0000-7000-8000-0000000a9e27"
    turns = read(CODEX, fixtures / "codex" / f"rollout-2026-02-10T09-30-00-{name}.jsonl").turns
    assert [(turn.session, turn.origin, turn.text) for turn in turns] == [
        (f"{TALK}/{name}", "agent", "Count the buoys."),
        (f"{TALK}/{name}", "agent", "Seven."),
    ]


def test_a_rollout_of_before_september_2025_is_read_too(read, fixtures) -> None:
    name = "0a0b0c0d-0000-4000-8000-000000000001"
    found = read(CODEX, fixtures / "codex" / f"rollout-2025-07-01T12-00-00-{name}.jsonl")
    assert found.brief() == [(name, "user", "Create a README."), (name, "assistant", "Created.")]
    assert {(turn.cwd, turn.remote, turn.at) for turn in found.turns} == {
        ("/home/ana/old", "git@example.org:ana/old.git", None)
    }
    assert not found.unknown


def test_a_heading_that_a_person_wrote_stays(read, tmp_path: Path) -> None:
    said = "Make a template that ends with\n## My request:\nand a name."
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": said}]}
    file = tmp_path / "rollout-x.jsonl"
    file.write_text(json.dumps({"type": "response_item", "payload": item}) + "\n")
    assert read(CODEX, file, tmp_path).brief() == [("rollout-x", "user", said)]
