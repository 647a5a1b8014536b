import json
from pathlib import Path

from scrubjay.ingest.transcripts.claude import CLAUDE_CODE
from scrubjay.models.dates import parse_when
from scrubjay.models.records import Turn

TALK = "5f0c1a52-0d3e-4c6b-9a41-1f2d3c4b5a60"
BRANCH = f"{TALK}~00000011"


def uuid(number: int) -> str:
    return f"{number:08x}-1111-4222-8333-444455556666"


def record(number: int, parent: int, kind: str, text: str, **more: object) -> dict[str, object]:
    return {
        "parentUuid": uuid(parent) if parent else None,
        "isSidechain": False,
        "type": kind,
        "message": {"role": kind, "content": [{"type": "text", "text": text}]},
        "uuid": uuid(number),
        "sessionId": "s",
        **more,
    }


def write(root: Path, *records: dict[str, object], name: str = "s.jsonl") -> Path:
    file = root / name
    file.write_text("".join(json.dumps(one) + "\n" for one in records))
    return file


def test_a_talk_comes_as_what_was_said_in_it_with_the_rest_left_out_and_counted(read, fixtures) -> None:
    found = read(CLAUDE_CODE, fixtures / "claude_code" / f"{TALK}.jsonl")
    assert found.brief() == [
        (TALK, "user", "Where do we keep the tide tables?"),
        (TALK, "assistant", "I will look in the repository."),
        (TALK, "assistant", "In `tides/`, one CSV a year.\n\nThe newest is 2026.csv."),
        (TALK, "user", "Then read them in nightly."),
        (TALK, "user", "At two, not at midnight."),
        (TALK, "assistant", "It runs at 02:00 now."),
        (BRANCH, "user", "No: read them in on demand."),
        (BRANCH, "assistant", "It reads them when asked."),
        (BRANCH, "user", "Good. Write a test."),
        (BRANCH, "assistant", "Written."),
        (BRANCH, "user", "Which port comes next?"),
        (BRANCH, "assistant", "Lisbon."),
        (BRANCH, "user", "Thanks."),
    ]
    assert found.unknown == {"telepathy": 1, "hologram": 1}
    assert found.left == {
        "permission-mode": 1, "file-history-snapshot": 1, "meta": 1, "command or reminder": 3, "attachment": 1,
        "thinking": 1, "tool_use": 1, "progress": 1, "tool_result": 1, "system": 2, "ai-title": 1, "image": 1,
        "queue-operation": 1, "queued command": 1, "custom-title": 1, "compaction summary": 1, "API error": 1,
    }  # fmt: skip


def test_a_turn_keeps_its_uuid_time_directory_place_and_title(read, fixtures) -> None:
    file = fixtures / "claude_code" / f"{TALK}.jsonl"
    found = read(CLAUDE_CODE, file)
    moment = parse_when("2026-03-01T10:03:00Z")
    data = file.read_bytes().splitlines(keepends=True)
    start = sum(map(len, data[:15]))
    assert moment is not None
    assert found.turns[3] == Turn(
        key=uuid(13),
        role="user",
        text="Then read them in nightly.",
        session=TALK,
        line=16,
        start=start,
        end=start + len(data[15]),
        at=moment.start,
        cwd="/home/ana/harbour",
        remote=None,
        agent="claude-code",
        origin="owner",
        title="Where the tide tables are",
    )
    assert [turn.title for turn in found.turns][::6] == ["", "Where the tide tables are", "Tides"]
    assert (found.turns[-1].at, found.turns[1].origin) == (None, "agent")


def test_a_torn_last_line_waits_and_is_taken_once_it_is_whole(read, fixtures, tmp_path) -> None:
    torn = (fixtures / "claude_code" / f"{TALK}.jsonl").read_bytes()
    file = tmp_path / f"{TALK}.jsonl"
    file.write_bytes(torn)
    first = read(CLAUDE_CODE, file, tmp_path)
    assert torn[first.end :].startswith(b'{"parentUuid"')
    assert not first.broken
    file.write_bytes(
        torn + b'tant","content":[{"type":"text","text":"Fair winds."}]},"uuid":"u","sessionId":"s"}\n'
    )
    then = read(CLAUDE_CODE, file, tmp_path, first.end)
    assert [(turn.text, turn.line) for turn in then.turns] == [("Fair winds.", 34)]
    assert then.end == file.stat().st_size


def test_a_subagents_file_is_a_session_below_its_parents_and_an_agent_asks_in_it(read, fixtures) -> None:
    found = read(CLAUDE_CODE, fixtures / "claude_code" / TALK / "subagents" / "agent-a1b2c3d4.jsonl")
    session = f"{TALK}/a1b2c3d4"
    assert found.brief() == [
        (session, "user", "Find every file that names a port."),
        (session, "assistant", "I search."),
        (session, "assistant", "Only ports.py."),
    ]
    assert {turn.origin for turn in found.turns} == {"agent"}


def test_an_old_sidechain_inside_the_file_is_named_by_its_first_record(read, fixtures) -> None:
    talk = "9d0e7f11-2222-4a4a-8b8b-0c0c0d0d0e0e"
    found = read(CLAUDE_CODE, fixtures / "claude_code" / f"{talk}.jsonl")
    assert [(*one, turn.origin) for one, turn in zip(found.brief(), found.turns, strict=True)] == [
        (talk, "user", "Check the ports.", "owner"),
        (f"{talk}/000000cb", "user", "List ports", "agent"),
        (f"{talk}/000000cb", "assistant", "Lisbon, Porto.", "agent"),
        (talk, "assistant", "There are two.", "agent"),
    ]


def test_a_resumed_talks_copies_are_the_same_turns_and_are_taken_once_a_file(read, fixtures) -> None:
    first = read(CLAUDE_CODE, fixtures / "claude_code" / f"{TALK}.jsonl")
    resumed = read(CLAUDE_CODE, fixtures / "claude_code" / "c0ffee00-3333-4b4b-9c9c-1a1a2b2b3c3c.jsonl")
    kept = [(turn.key, turn.session, turn.text) for turn in first.turns]
    copies = [(turn.key, turn.session, turn.text) for turn in resumed.turns[:2]]
    assert copies == [kept[0], kept[2]]
    assert [turn.text for turn in resumed.turns[2:]] == ["Resumed: and the wind?", "In `wind/`."]
    assert resumed.left == {"copy": 1}


def test_going_back_twice_makes_two_branches_and_the_first_goes_on_where_it_was(read, tmp_path) -> None:
    file = write(
        tmp_path,
        record(1, 0, "user", "one"),
        record(2, 1, "assistant", "two"),
        record(3, 2, "user", "three"),
        record(4, 2, "user", "instead"),
        record(5, 2, "user", "or rather"),
        record(6, 5, "assistant", "so be it"),
        record(7, 3, "assistant", "still here"),
    )
    sessions = [turn.session for turn in read(CLAUDE_CODE, file, tmp_path).turns]
    assert sessions == ["s", "s", "s", "s~00000004", "s~00000005", "s~00000005", "s"]


def test_tools_side_by_side_and_answers_in_blocks_are_no_branches(read, tmp_path) -> None:
    def tool(number: int, parent: int, kind: str, block: str) -> dict[str, object]:
        return record(number, parent, kind, "") | {"message": {"content": [{"type": block}]}}

    file = write(
        tmp_path,
        record(1, 0, "user", "Both, please."),
        record(2, 1, "assistant", "Both."),
        tool(3, 2, "assistant", "tool_use"),
        tool(4, 3, "assistant", "tool_use"),
        tool(5, 3, "user", "tool_result"),
        tool(6, 4, "user", "tool_result"),
        record(7, 6, "assistant", "The second is done."),
        record(8, 5, "assistant", "And the first."),
        record(9, 8, "user", "Thanks."),
    )
    assert {turn.session for turn in read(CLAUDE_CODE, file, tmp_path).turns} == {"s"}


def test_a_record_whose_parent_is_too_old_to_be_known_is_on_the_main_branch(
    read, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr("scrubjay.ingest.transcripts.base.BranchTracker.__init__.__defaults__", (2,))
    file = write(
        tmp_path,
        record(1, 0, "user", "one"),
        record(2, 1, "assistant", "two"),
        record(3, 2, "user", "three"),
        record(4, 1, "user", "instead"),
    )
    assert {turn.session for turn in read(CLAUDE_CODE, file, tmp_path).turns} == {"s"}


def test_words_about_a_tag_stay_and_a_records_odd_fields_are_no_error(read, tmp_path) -> None:
    file = write(
        tmp_path,
        record(1, 0, "user", "What is a <system-reminder>, and [Request interrupted by user] in a log?"),
        record(2, 1, "user", " \n\t"),
        record(3, 1, "assistant", "(no content)"),
        {"type": "user", "message": "text", "uuid": 7, "parentUuid": ["x"], "sessionId": {}},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": 5}, "loose", None]}},
        {"type": ["user"]},
        {"type": "user", "message": {"content": "No uuid, no session."}, "isSidechain": "yes"},
        record(8, 0, "user", "From a program.", origin={"kind": "task-notification"}),
    )
    found = read(CLAUDE_CODE, file, tmp_path)
    assert [(turn.key, turn.text) for turn in found.turns] == [
        (uuid(1), "What is a <system-reminder>, and [Request interrupted by user] in a log?"),
        ("s:7", "No uuid, no session."),
    ]
    assert found.left["message of a program"] == 1


def test_what_newer_versions_log_of_requests_and_costs_is_left_out_without_a_complaint(
    read, tmp_path
) -> None:
    """Kinds of records in a log of Claude Code 2.1.332; a blob repeats what the model was sent."""
    sent = {"role": "user", "content": [{"type": "text", "text": "Where is the key?"}]}
    kinds = ("atis-latch", "api-request-shape", "api-request-blob", "api-request", "cost-state")
    more = [{"type": kind, "sessionId": "s", "message": sent} for kind in kinds]
    file = write(tmp_path, record(1, 0, "user", "Where is the key?"), *more)
    found = read(CLAUDE_CODE, file, tmp_path)
    assert found.brief() == [("s", "user", "Where is the key?")]
    assert found.unknown == {}
