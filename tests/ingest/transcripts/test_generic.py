import json
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.ingest.transcripts import importer
from scrubjay.ingest.transcripts.generic import GENERIC


def test_the_documented_fields_are_read_and_the_rest_is_not(read, fixtures) -> None:
    found = read(GENERIC, fixtures / "generic" / "talk.jsonl")
    assert found.brief() == [
        ("2026-03-01", "user", "Where is the key?"),
        ("2026-03-01", "assistant", "On the hook.\n\nBy the door."),
        ("7", "Mara", "I have it."),
        ("generic/talk", "user", "Then nothing is lost."),
    ]
    first, second, third, last = found.turns
    assert (first.at, first.cwd, first.agent, first.title) == (
        1772359200_000_000,
        "/home/ana/flat",
        "butler",
        "Keys",
    )
    assert (second.at, second.cwd, second.remote) == (
        1772359260_000_000,
        None,
        "https://example.org/ana/flat.git",
    )
    assert [turn.origin for turn in found.turns] == ["owner", "agent", "untrusted", "owner"]
    assert (third.at, last.agent, last.line) == (None, "generic", 8)
    assert found.left == {"system message": 1, "tool message": 1, "image_url": 1, "blank": 1}
    assert found.unknown == {"line without role and content": 1}


def test_a_message_is_named_by_session_id_and_words_so_that_only_a_copy_has_its_key(read, tmp_path) -> None:
    def keys(name: str, *lines: dict[str, object]) -> list[str]:
        file = tmp_path / name
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return [turn.key for turn in read(GENERIC, file, tmp_path).turns]

    said = {"role": "user", "content": "yes", "session": "s", "id": "1"}
    assert keys("a.jsonl", said) == keys("b.jsonl", {"role": "system", "content": "x"}, said)
    assert keys("a.jsonl", said) != keys("a.jsonl", {**said, "content": "no"})
    unnamed = {"role": "user", "content": "yes"}
    assert len(set(keys("c.jsonl", unnamed, unnamed) + keys("d.jsonl", unnamed))) == 3


@pytest.mark.parametrize(
    ("project", "stored"),
    [
        ("kes\ud800trel", "kes\ufffdtrel"),
        ("kestrel", "kestrel"),
        ("git@example.org:ana/flat.git", "example.org/ana/flat"),
    ],
)
def test_a_project_by_name_is_that_project_wherever_scrubjay_runs(
    project: str, stored: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was read as a folder below the working directory, and so became the repository that lies around it."""
    (tmp_path / "elsewhere" / ".git").mkdir(parents=True)
    (tmp_path / "elsewhere" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(tmp_path / "elsewhere")
    logs = tmp_path / "logs"
    logs.mkdir()
    line = {"role": "user", "content": "The key is on the hook.", "session": "s", "project": project}
    (logs / "talk.jsonl").write_text(json.dumps(line) + "\n")
    with Memory.open("memory://", user="ann") as memory:
        memory.sync(logs)
        assert [one.project for one in memory.page().records] == [stored]


def test_files_of_one_name_in_two_folders_are_two_conversations_with_all_their_turns(tmp_path: Path) -> None:
    asked = {"alpha": "Shall we move the release to May?", "beta": "Shall I delete the database on Friday?"}
    with Memory.open("memory://", user="ann") as memory:
        for name, question in asked.items():
            (tmp_path / name).mkdir()
            lines = [question, "Yes, do it."]
            log = "".join(json.dumps({"role": "user", "content": text}) + "\n" for text in lines)
            (tmp_path / name / "chat.jsonl").write_text(log)
            memory.sync(tmp_path / name)
            assert memory.sync(tmp_path / name).added == 0
        conversations: dict[str, list[str]] = {}
        for one in sorted(memory.timeline().memories, key=lambda one: one.turn):
            conversations.setdefault(one.session, []).append(one.content)
        assert sorted(conversations.values()) == sorted([text, "Yes, do it."] for text in asked.values())
        assert all(session.startswith("chat@") for session in conversations)


def test_a_log_that_an_earlier_version_read_keeps_its_session_and_its_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "chat.jsonl"
    lines = [json.dumps({"role": "user", "content": f"The kayak leaks at {n}."}) + "\n" for n in range(3)]
    with Memory.open("memory://", user="ann") as memory:
        file.write_text(lines[0])
        with monkeypatch.context() as earlier:
            first = replace(GENERIC, version="generic 1")
            formats = [first if form is GENERIC else form for form in importer.TRANSCRIPT_FORMATS]
            earlier.setattr(importer, "TRANSCRIPT_FORMATS", tuple(formats))
            memory.sync(tmp_path)
        for text in ("".join(lines), "".join(reversed(lines))):
            file.write_text(text)
            memory.sync()
            found = memory.timeline().memories
            assert {one.session for one in found} == {"chat"}
            assert {one.content for one in found} == {json.loads(line)["content"] for line in lines}
