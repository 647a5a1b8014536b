import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import SourceError
from scrubjay.ingest.transcripts import opencode
from scrubjay.memory import Memory

STORED = [
    ("ses_1", "user", "How often do we retry?"),
    ("ses_1", "assistant", "Three times,\n\nwith a pause of a second."),
    ("ses_1~msg_4", "user", "Make it five."),
]


def test_a_session_is_its_file_with_the_messages_and_parts_beside_it(read, fixtures) -> None:
    file = fixtures / "opencode/storage/session/proj1/ses_1.json"
    found = read(opencode.OPENCODE_FILES, file)
    assert found.brief() == STORED
    assert found.left == {
        "synthetic text": 1, "file": 1, "step-start": 1, "reasoning": 1, "tool": 1, "compaction summary": 1,
    }  # fmt: skip
    assert found.unknown == {"part aura": 1, "message msg_5, which cannot be read": 1}
    first, second, third = found.turns
    assert (first.key, first.line, first.start, first.end) == ("msg_1", 1, 0, len(file.read_bytes().rstrip()))
    assert (first.at, first.cwd, first.title) == (1_772_359_200_000_000, "/home/ann/api", "Retry rules")
    assert (second.cwd, second.origin) == ("/home/ann/api/src", "agent")
    assert third.at is None, "1772359203 thousandths of a second are 1970"


def test_a_sub_agents_session_is_its_own_and_an_agent_asked(read, fixtures) -> None:
    found = read(opencode.OPENCODE_FILES, fixtures / "opencode/storage/session/proj1/ses_2.json")
    assert found.brief() == [("ses_1/ses_2", "user", "Find every timeout.")]
    assert found.turns[0].origin == "agent"


def test_an_export_is_read_from_itself_alone(read, fixtures) -> None:
    found = read(opencode.OPENCODE_FILES, fixtures / "opencode/export.json")
    assert found.brief() == [("ses_7", "user", "Is it exported?"), ("ses_7", "assistant", "It is.")]
    assert (found.left, found.unknown) == ({"patch": 1}, {"role spirit": 1})


def test_a_session_without_its_messages_in_the_source_is_an_error_that_says_so(read, fixtures) -> None:
    folder = fixtures / "opencode/storage/session"
    with pytest.raises(SourceError, match="its messages lie outside the source") as caught:
        read(opencode.OPENCODE_FILES, folder / "proj1" / "ses_1.json", folder)
    assert "storage" in caught.value.hint


def test_messages_that_a_link_leads_to_are_not_read(read, fixtures, tmp_path: Path) -> None:
    shutil.copytree(fixtures / "opencode/storage/session", tmp_path / "root/session")
    (tmp_path / "root/message").symlink_to(fixtures / "opencode/storage/message")
    assert (
        read(opencode.OPENCODE_FILES, tmp_path / "root/session/proj1/ses_1.json", tmp_path / "root").turns
        == []
    )


def test_only_sessions_and_exports_are_known_by_their_heads(fixtures) -> None:
    known = {
        file.relative_to(fixtures / "opencode").as_posix()
        for file in (fixtures / "opencode").rglob("*.json")
        if opencode.OPENCODE_FILES.recognise(file.as_posix(), file.read_bytes())
    }
    assert known == {"export.json", "storage/session/proj1/ses_1.json", "storage/session/proj1/ses_2.json"}


@pytest.fixture
def database(fixtures: Path, tmp_path: Path) -> Path:
    """The sessions of the files, moved into a database as OpenCode moves them."""
    file, storage = tmp_path / "opencode.db", fixtures / "opencode" / "storage"
    with closing(sqlite3.connect(file)) as made, made:
        made.execute(
            "CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, title TEXT, revert TEXT, time_created INT)"
        )
        made.execute("CREATE TABLE message (id TEXT, session_id TEXT, time_created INT, data TEXT)")
        made.execute("CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT)")
        for path in sorted(storage.glob("session/*/*.json")):
            info = json.loads(path.read_text())
            revert = json.dumps(info["revert"]) if "revert" in info else None
            row = (
                path.stem,
                info.get("parentID"),
                info["directory"],
                info["title"],
                revert,
                info["time"]["created"],
            )
            made.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?)", row)
        for path in sorted(storage.glob("message/*/*.json")):
            made.execute(
                "INSERT INTO message VALUES (?, ?, 0, ?)", (path.stem, path.parent.name, path.read_text())
            )
        for path in sorted(storage.glob("part/*/*.json")):
            made.execute(
                "INSERT INTO part VALUES (?, ?, '', ?)", (path.stem, path.parent.name, path.read_text())
            )
    return file


def test_the_database_gives_what_the_files_gave(read, database: Path) -> None:
    assert opencode.OPENCODE_DATABASE.recognise(database.as_posix(), database.read_bytes()[:100])
    found = read(opencode.OPENCODE_DATABASE, database, database.parent)
    assert found.brief() == [*STORED, ("ses_1/ses_2", "user", "Find every timeout.")]
    assert found.unknown == {"part aura": 1, "message msg_5, which cannot be read": 1}
    assert [turn.line for turn in found.turns] == [1, 2, 4, 6]
    assert [path.name for path in database.parent.iterdir()] == ["opencode.db"], (
        "nothing was written beside it"
    )


def test_what_still_stands_in_the_write_ahead_log_is_read(read, database: Path) -> None:
    with closing(sqlite3.connect(database)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        with writer:
            writer.execute(
                "INSERT INTO part VALUES ('prt_2', 'msg_9', '', ?)",
                (json.dumps({"type": "text", "text": "All."}),),
            )
        found = read(opencode.OPENCODE_DATABASE, database, database.parent)
        assert found.turns[-1].text == "Find every timeout.\n\nAll."


def test_a_sync_finds_what_stands_in_the_write_ahead_log_alone(database: Path, tmp_path: Path) -> None:
    with (
        closing(sqlite3.connect(database)) as writer,
        Memory.open(tmp_path / "memory.db", user="ann", embedders=[HashEmbedder()]) as memory,
    ):
        writer.execute("PRAGMA journal_mode = WAL")
        before = memory.sync(database.parent).added
        at = database.stat()
        with writer:
            writer.execute(
                "INSERT INTO message SELECT 'msg_99', session_id, 0, data FROM message WHERE id = 'msg_9'"
            )
            writer.execute(
                "INSERT INTO part VALUES ('prt_99', 'msg_99', '', ?)",
                (json.dumps({"type": "text", "text": "The kayak leaks."}),),
            )
        now = database.stat()
        assert (at.st_mtime_ns, at.st_size) == (now.st_mtime_ns, now.st_size)
        assert before > 0
        assert memory.sync().added == 1
        assert memory.search("kayak").results[0].snippet == "The kayak leaks."
        assert memory.sync().added == 0


def test_sessions_of_version_2_are_told_since_they_are_not_read(read, database: Path) -> None:
    with closing(sqlite3.connect(database)) as made, made:
        made.execute("CREATE TABLE session_v2 (id TEXT)")
    assert (
        "session_v2 of OpenCode 2" not in read(opencode.OPENCODE_DATABASE, database, database.parent).unknown
    )
    with closing(sqlite3.connect(database)) as made, made:
        made.execute("INSERT INTO session_v2 VALUES ('ses_9')")
    found = read(opencode.OPENCODE_DATABASE, database, database.parent)
    assert found.unknown["session_v2 of OpenCode 2"] == 1
    assert len(found.turns) == 4


@pytest.mark.parametrize("spoilt", ["DROP TABLE part", "DELETE FROM session", "torn", "view"])
def test_another_database_is_an_error_or_empty_and_never_a_guess(read, database: Path, spoilt: str) -> None:
    if spoilt == "torn":
        database.write_bytes(database.read_bytes()[:5_000])
    else:
        with closing(sqlite3.connect(database)) as made, made:
            made.execute("DROP TABLE part" if spoilt == "view" else spoilt)
            if spoilt == "view":
                made.execute("CREATE VIEW part AS SELECT * FROM message")
    if spoilt.startswith("DELETE"):
        assert read(opencode.OPENCODE_DATABASE, database, database.parent).turns == []
        return
    with pytest.raises(SourceError, match="opencode"):
        read(opencode.OPENCODE_DATABASE, database, database.parent)


@pytest.mark.parametrize("part", ["prt_2", "prt_3"])
def test_an_answer_that_was_stored_while_it_was_written_is_stored_in_full_later(
    fixtures: Path, tmp_path: Path, part: str
) -> None:
    storage = tmp_path / "storage"

    def write(path: str, value: dict[str, object]) -> None:
        (storage / path).parent.mkdir(parents=True, exist_ok=True)
        (storage / path).write_text(json.dumps(value))

    begun = "Let me look at the firewall."
    rest = "\n\n".join(f"Port {n} is open. " + "It was opened by the harbour crew. " * 20 for n in range(30))
    session = {"id": "ses_1", "projectID": "global", "directory": "/x", "title": "Ports"}
    write("session/global/ses_1.json", session)
    for n, (role, text) in enumerate((("user", "Which ports are open?"), ("assistant", begun)), 1):
        write(f"message/ses_1/msg_{n}.json", {"id": f"msg_{n}", "role": role})
        write(f"part/msg_{n}/prt_{n}.json", {"id": f"prt_{n}", "type": "text", "text": text})
    with Memory.open(tmp_path / "memory.db", user="ann", embedders=[HashEmbedder()]) as memory:
        assert memory.sync(storage).added == 2
        (turn,) = [one for one in memory.timeline().memories if one.turn == 1]
        memory.feedback(turn.id, "never-inject")
        memory.feedback(turn.id, "wrong")
        text = f"{begun}\n\n{rest}" if part == "prt_2" else rest
        write(f"part/msg_2/{part}.json", {"id": part, "type": "text", "text": text})
        write("message/ses_1/msg_3.json", {"id": "msg_3", "role": "user"})
        write("part/msg_3/prt_9.json", {"id": "prt_9", "type": "text", "text": "Close them."})
        write("session/global/ses_1.json", {**session, "title": "Open ports"})
        report = memory.sync()
        turns = [one for one in memory.timeline(limit=200).memories if one.place is not None]
        turns.sort(key=lambda one: one.place.ordinal)
        assert report.updated == 1
        assert "".join(one.content for one in turns if one.turn == 1) == f"{begun}\n\n{rest.rstrip()}"
        assert [one.content for one in turns if one.turn == 2] == ["Close them."]
        assert all("never-inject" in one.tags for one in turns if one.turn == 1)
        assert memory.look(turn.id).memory.marked_wrong
        assert memory.search("harbour crew port 29").results[0].id in {one.id for one in turns}
        assert memory.sync().added == memory.sync().updated == 0
