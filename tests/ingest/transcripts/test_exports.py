import json
from collections.abc import Callable
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.ingest.transcripts import chatgpt, claude
from scrubjay.ingest.transcripts.base import TranscriptFormat


def place(file: Path, name: str) -> tuple[int, int]:
    """Where the conversation of an id begins and ends in a file of objects that begin a line."""
    data = file.read_bytes()
    value = next(
        one
        for one in json.loads(data)
        if name in (one.get("uuid"), one.get("conversation_id"), one.get("id"))
    )
    found = data.index(f'"{name}"'.encode())
    start = max(data.rfind(b"\n {", 0, found), data.rfind(b"[\n {", 0, found)) + 2
    end = next(
        at
        for at in range(found, len(data) + 1)
        if data[at - 1 : at] == b"}" and loads(data[start:at]) is not None
    )
    assert json.dumps(loads(data[start:end])) == json.dumps(value)
    return start, end


def loads(data: bytes) -> object:
    try:
        return json.loads(data)
    except ValueError:
        return None


def test_a_chatgpt_conversation_is_the_path_to_its_current_node_and_its_other_paths(read, fixtures) -> None:
    file = fixtures / "chatgpt" / "conversations.json"
    found = read(chatgpt.CHATGPT, file)
    assert found.brief() == [
        ("conv-1", "user", "Where to eat in Lisbon?"),
        ("conv-1", "assistant", "Try Baixa. It is near."),
        ("conv-1", "user", "Thanks, book it."),
        ("conv-1", "assistant", "Booked for two."),
        ("conv-1~aaaaaaaa", "assistant", "In Alfama."),
        ("conv-1~aaaaaaaa", "user", "And cheaper?"),
        ("conv-2", "user", "Round"),
        ("conv-2", "assistant", "and round."),
    ]
    assert found.left == {
        "system message": 1, "hidden message": 1, "thoughts": 1, "code": 1, "tool result": 1,
        "conversation without messages": 1,
    }  # fmt: skip
    assert found.unknown == {"content hologram": 1}
    assert [(one.line, one.message) for one in found.broken] == [(4, "is not a JSON object")]


def test_a_chatgpt_turn_keeps_its_id_time_title_and_place(read, fixtures) -> None:
    file = fixtures / "chatgpt" / "conversations.json"
    found = read(chatgpt.CHATGPT, file).turns
    assert [turn.key for turn in found[:4]] == ["m-u1", "m-a3", "m-u3", "m-a5"]
    # 1e12 seconds are the year 33658, though as milliseconds they would be 2001; the last time is NaN.
    assert [turn.at for turn in found[:4]] == [1_772_359_200_500_000, 1_772_359_213_000_000, None, None]
    assert {(turn.title, turn.start, turn.end) for turn in found[:6]} == {
        ("Trip to Lisbon", *place(file, "conv-1"))
    }
    assert [turn.line for turn in found] == [4, 10, 11, 13, 5, 6, 14, 15]
    assert [turn.origin for turn in found[:2]] == ["owner", "agent"]


def test_a_claude_conversation_is_the_path_to_its_last_message_and_its_other_paths(read, fixtures) -> None:
    file = fixtures / "claude" / "conversations.json"
    found = read(claude.CLAUDE_EXPORT, file)
    assert found.brief() == [
        ("cl-1", "user", "What grows in shade?\n\nnorth wall, dry soil"),
        ("cl-1", "assistant", "Let me look.\n\nFerns and hostas."),
        ("cl-1", "user", "Ferns it is."),
        ("cl-1~dddddddd", "assistant", "Roses."),
        ("cl-2", "user", "Write a poem."),
        ("cl-2", "assistant", "Here it is."),
    ]
    assert found.left == {
        "attachment": 1, "thinking": 1, "tool_use": 1, "tool_result": 1, "message that is there twice": 1,
        "conversation without messages": 1,
    }  # fmt: skip
    assert found.unknown == {"content aroma": 1, "sender narrator": 1}
    assert [turn.at for turn in found.turns[:3]] == [1_772_359_200_000_000, 1_772_359_202_000_000, None]
    assert {(turn.title, turn.start, turn.end) for turn in found.turns[:4]} == {
        ("Garden", *place(file, "cl-1"))
    }
    assert [turn.line for turn in found.turns] == [1, 3, 4, 2, 6, 7]


def test_a_named_leaf_decides_between_claudes_branches(read, tmp_path: Path, fixtures) -> None:
    first = json.loads((fixtures / "claude" / "conversations.json").read_text())[0]
    file = tmp_path / "one.json"
    file.write_text(json.dumps({**first, "current_leaf_message_uuid": "dddddddd-2"}))
    assert [
        (session, text[:5]) for session, _, text in read(claude.CLAUDE_EXPORT, file, tmp_path).brief()
    ] == [
        ("cl-1", "What "),
        ("cl-1", "Roses"),
        ("cl-1~m3", "Let m"),
        ("cl-1~m3", "Ferns"),
    ]


@pytest.mark.parametrize(("form", "folder"), [(chatgpt.CHATGPT, "chatgpt"), (claude.CLAUDE_EXPORT, "claude")])
def test_an_export_is_known_by_its_head(form: TranscriptFormat, folder: str, fixtures) -> None:
    for other in ("chatgpt", "claude"):
        head = (fixtures / other / "conversations.json").read_bytes()
        assert form.recognise("/x/conversations-000.json", b"\xef\xbb\xbf" + head) == (other == folder)
        assert not form.recognise("/x/notes.md", head)


@pytest.mark.parametrize(("form", "folder"), [(chatgpt.CHATGPT, "chatgpt"), (claude.CLAUDE_EXPORT, "claude")])
def test_a_torn_export_gives_every_whole_conversation_and_one_problem(
    read, fixtures, tmp_path: Path, form: TranscriptFormat, folder: str
) -> None:
    data = (fixtures / folder / "conversations.json").read_bytes()
    whole = read(form, fixtures / folder / "conversations.json").turns
    file = tmp_path / "torn.json"
    for length in range(1, len(data) - 40, 97):
        file.write_bytes(data[:length])
        found = read(form, file, tmp_path)
        assert found.turns == [turn for turn in whole if turn.end <= length]
        assert [one.message.split(":")[-1] for one in found.broken][-1:] in (
            [" the file ends within it"],
            [" the file ends within its array"],
        )


def test_an_exported_conversation_is_found_by_its_title_and_cited_without_lines(
    opened: Callable[..., Memory], fixtures: Path
) -> None:
    memory = opened()
    memory.sync(fixtures / "chatgpt")
    found = memory.get(path=fixtures / "chatgpt" / "conversations.json").records
    first = [one for one in found if one.session == "conv-1"]
    assert [one.title for one in sorted(first, key=lambda one: one.turn or 0)] == [
        "Trip to Lisbon",
        "",
        "",
        "",
    ]
    best = memory.search("trip").results[0]
    assert (best.title, best.line_start) == ("Trip to Lisbon", None)
    assert best.citation == str(fixtures / "chatgpt" / "conversations.json")
    (listed,) = [one for one in memory.conversations().conversations if one.session == "conv-1"]
    assert "Trip to Lisbon" in listed.opening
