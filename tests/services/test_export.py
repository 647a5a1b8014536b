"""What is exported, what an import makes of it, and what is refused whole."""

from __future__ import annotations

import io
import json
import os
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest

from scrubjay import Memory, NewMemory
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import InputError, NotFoundError, SourceError
from scrubjay.models.ids import memory_id, text_hash
from scrubjay.models.records import EventTime, Record, Scope, SourcePlace
from scrubjay.storage.changes import PutMemory
from scrubjay.transfer import archive, importer
from store_contract.samples import sample_memory as sample

KEY = "AKIAQYLPMN5HHHFPZAM2"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Harbour\n\nThe mast is 12 metres.\n\n# Winter\n\nSee [[b]].\n", "utf-8")
    (folder / "b.md").write_text("# Sails\n\nThe jib is red.\n", "utf-8")
    return folder


@pytest.fixture
def lived(opened: Callable[..., Memory], notes: Path) -> Memory:
    """A memory with files, additions, a conversation, links, names, a pin, a past."""
    memory = opened()
    memory.sync(notes)
    one = memory.add("The kayak leaks at the stern.", tags=["Boat"], date="2026-03-01", pinned=True)
    other = memory.add("The kayak was mended.", tier="lesson", confidence=0.5, valid_from="2026-03-02")
    memory.add_many(NewMemory(text, session="s", turn=n, role="user") for n, text in enumerate(("hm", "ok")))
    memory.link(other.id, one.id, "supersedes")
    memory.concepts.add("kayak", ["canoe"])
    memory.archive(one.id)
    return memory


def told(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def bare(file: Path) -> list[str]:
    """The lines of an export without what is different whenever it is written, ids put in the order of lines."""
    text = file.read_text("utf-8")
    ids: dict[str, str] = {}
    rows = [json.loads(line) for line in text.splitlines()[1:-1]]
    for row in sorted((r for r in rows if r["line"] == "memory"), key=lambda r: (r["content"], r["tier"])):
        ids[row["id"]] = f"memory {len(ids)}"
    for row in sorted((r for r in rows if r["line"] in ("source", "concept")), key=json.dumps):
        ids[row["id"]] = row.get("name", row.get("root"))
    found = [json.dumps(row, sort_keys=True) for row in rows]
    for old, new in ids.items():
        found = [line.replace(old, new) for line in found]
    return sorted(found)


def test_an_empty_store_takes_in_all_that_another_one_held(
    lived: Memory, opened: Callable[..., Memory], tmp_path: Path
) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    done = lived.export(first)
    assert (done.counts["memory"], done.counts["document"]) == (7, 2)
    other = opened(tmp_path / "other.db")
    taken = other.import_(first)
    assert (taken.added, taken.existed, taken.documents) == (7, 0, 2)
    assert taken.sources == (str(tmp_path / "notes"),)
    other.export(second)
    assert bare(second) == bare(first)
    (found,) = other.search("kayak stern", statuses=("archived",), limit=1).results
    assert (found.tags, found.date) == (("boat",), "2026-03-01")
    assert [event.op for event in other.history(found.id).events] == ["archived"]
    assert other.search("mast").results[0].line_start == 1


def test_what_is_imported_twice_is_there_once(
    lived: Memory, opened: Callable[..., Memory], tmp_path: Path
) -> None:
    file = tmp_path / "x.jsonl"
    lived.export(file)
    other = opened(tmp_path / "other.db")
    other.import_(file)
    for memory in (other, lived):
        again = memory.import_(file)
        assert (again.added, again.edges, again.events, again.concepts, again.sources) == (0, 0, 0, 0, ())
        assert again.existed == 7
    assert other.status().memories == lived.status().memories == 7


def test_a_folder_that_both_hold_is_one_source_and_its_passages_are_not_doubled(
    lived: Memory, opened: Callable[..., Memory], notes: Path, tmp_path: Path
) -> None:
    file = tmp_path / "x.jsonl"
    lived.export(file)
    other = opened(tmp_path / "other.db")
    (notes / "b.md").write_text("# Sails\n\nThe jib is blue.\n", "utf-8")
    other.sync(notes)
    done = other.import_(file)
    assert (done.added, done.existed, done.passed, done.sources) == (4, 2, 1, ())
    assert other.sync(notes).unchanged == 3
    assert "blue" in other.search("jib").results[0].snippet


def test_the_file_on_disk_goes_on_where_the_import_left_off(
    lived: Memory, opened: Callable[..., Memory], notes: Path, tmp_path: Path
) -> None:
    file = tmp_path / "x.jsonl"
    lived.export(file)
    other = opened(tmp_path / "other.db")
    other.import_(file)
    assert other.sync().unchanged == 3
    (notes / "b.md").write_text("# Sails\n\nThe jib is red now.\n", "utf-8")
    assert other.sync().updated == 1


def test_a_conversation_is_read_on_where_the_other_store_left_off(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    log = tmp_path / "talk.jsonl"
    turn = '{"role": "user", "content": "I prefer tea to coffee, number %d.", "session": "s", "id": "%d"}\n'
    log.write_text("".join(turn % (n, n) for n in range(3)), "utf-8")
    memory, other = opened(), opened(tmp_path / "other.db")
    memory.sync(log)
    memory.export(tmp_path / "x.jsonl")
    done = other.import_(tmp_path / "x.jsonl")
    assert done.added == memory.status().memories > 3  # turns, and what they state
    with log.open("a", encoding="utf-8") as stream:
        stream.write(turn % (3, 3))
    assert (other.sync().added, memory.sync().added) == (1, 1)
    assert other.status().tiers == memory.status().tiers
    stated = other.search("tea", tiers=["lesson"]).results[0]
    assert other.history(stated.id).evidence


def test_a_dry_run_tells_the_same_and_writes_nothing(
    lived: Memory, opened: Callable[..., Memory], tmp_path: Path
) -> None:
    file = tmp_path / "x.jsonl"
    lived.export(file)
    other = opened(tmp_path / "other.db")
    dry = other.import_(file, dry_run=True)
    assert other.status().memories == 0
    assert other.sources() == []
    real = other.import_(file)
    for name in ("added", "edges", "events", "concepts", "documents", "sources", "samples"):
        assert getattr(dry, name) == getattr(real, name), name
    assert len(dry.samples) == 5


def test_what_was_forgotten_here_does_not_come_back_and_what_was_changed_stays(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    memory, file = opened(), tmp_path / "x.jsonl"
    gone, kept = memory.add("The safe opens with 12-30."), memory.add("The gate is green.")
    memory.export(file)
    memory.forget(gone.id)
    memory.update(kept.id, "The gate is white.")
    done = memory.import_(file)
    assert (done.added, done.forgotten) == (0, 1)
    assert not any("safe" in one.snippet for one in memory.search("safe").results)
    assert [one.content for one in memory.get(kept.id).records] == ["The gate is white."]


def test_what_somebody_else_imports_is_theirs_alone_unless_they_say_so(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    file = tmp_path / "x.jsonl"
    ann = opened(user="ann", groups=["dev"])
    ann.add("The mast is of oak.", visibility="public")
    ann.add("The oar is of ash.", visibility="group", group="dev")
    ann.add("The keel is of pine.")
    ann.export(file)
    assert {row["key"] for row in told(file) if row["line"] == "memory"} == {"user", "public", "group:dev"}
    assert b"ann" not in file.read_bytes()
    bob = opened(tmp_path / "bob.db", user="bob")
    bob.import_(file)
    stranger = opened(tmp_path / "bob.db", user="cleo", groups=["dev"])
    assert stranger.status().memories == 0
    shared = opened(tmp_path / "shared.db", user="bob")
    shared.import_(file, shared=True)
    assert (
        opened(tmp_path / "shared.db", user="cleo", groups=["dev"]).status().memories == 1
    )  # not bob's group


def test_within_one_store_a_public_memory_of_anothers_export_is_not_doubled(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    ann, bob = opened(user="ann"), opened(user="bob")
    shared, own = ann.add("The mast is of oak.", visibility="public"), ann.add("The keel is of pine.")
    ann.export(tmp_path / "x.jsonl")
    done = bob.import_(tmp_path / "x.jsonl")
    assert (done.added, done.existed) == (1, 1)
    copy = bob.search("keel").results[0]
    assert copy.id != own.id
    assert bob.search("mast").results[0].id == shared.id


def test_an_addition_means_the_same_memory_after_it_was_carried_over(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    memory, other = opened(), opened(tmp_path / "other.db")
    memory.add("The gate is green.", date="2026-01-01")
    memory.export(tmp_path / "x.jsonl")
    other.import_(tmp_path / "x.jsonl")
    assert other.add("The gate is green.", date="2026-01-01").existed


def test_an_export_is_of_one_moment_while_others_write(
    opened: Callable[..., Memory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened()
    memory.add_many(NewMemory(f"note {n} of the harbour") for n in range(30))
    seen: list[int] = []

    def write() -> None:
        with Memory.open(tmp_path / "memory.db", user="ann", embedders=[HashEmbedder(64)]) as other:
            seen.append(len(other.add_many(NewMemory(f"late {n}") for n in range(20))))

    class Slow(io.BytesIO):
        def write(self, data: Any, /) -> int:
            if not seen:
                thread = threading.Thread(target=write)
                thread.start()
                thread.join()
            return super().write(data)

    stream = Slow()
    done = memory.export(stream)
    assert seen == [20]
    assert done.counts["memory"] == 30
    assert b"late" not in stream.getvalue()


def test_an_export_writes_what_is_stored_and_an_import_redacts_what_comes_in(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    memory, file = opened(), tmp_path / "x.jsonl"
    desk = memory.workspace
    memory.add("hello")
    unclean = sample(f"the key is {KEY}", "user:ann")
    desk.store.write(desk.scope, [PutMemory(unclean)])
    memory.export(file)
    assert KEY.encode() in file.read_bytes()
    rows = [json.dumps(row) for row in told(file)[:-1]]
    forged = tmp_path / "forged.jsonl"
    sealed(forged, [row.replace("hello", f"the key is {KEY}") for row in rows])
    other = opened(tmp_path / "other.db")
    assert other.import_(forged).scrubbed == {"aws-access-key": 2}
    assert not any(KEY in one.snippet for one in other.search("key").results)


def sealed(file: Path, rows: list[str]) -> None:
    """Write lines with a footer that fits them, as somebody would who means harm."""
    import hashlib

    body = "".join(row + "\n" for row in rows).encode()
    footer = {"line": "footer", "lines": len(rows) + 1, "sha256": hashlib.sha256(body).hexdigest()}
    file.write_bytes(body + json.dumps(footer).encode() + b"\n")


def test_a_file_that_is_not_whole_is_refused_before_anything_is_written(
    lived: Memory, opened: Callable[..., Memory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, broken = tmp_path / "x.jsonl", tmp_path / "broken.jsonl"
    lived.export(file)
    whole = file.read_bytes()
    lines = whole.splitlines(keepends=True)
    monkeypatch.setattr(archive, "MAX_LINE", 20_000)
    cases = {
        "cut short: line 5": b"".join(lines[:5]),
        "cut short: line 6": b"".join(lines[:5]) + lines[5][:20],
        "not as it was written": whole.replace(b"mast", b"mats"),
        "not as it was written: ": b"".join(lines[:4] + lines[5:]),
        "not as it was written:": whole.replace(b"\n", b"\r\n"),
        "version 2": whole.replace(b'"version":1', b'"version":2', 1),
        "Line 3 of": b"".join([*lines[:2], b'"' + b"x" * 20_001, *lines[2:]]),
    }
    other = opened(tmp_path / "other.db")
    for message, data in cases.items():
        broken.write_bytes(data)
        with pytest.raises(InputError, match=message.rstrip(": ")) as raised:
            other.import_(broken, format="scrubjay")
        assert "Nothing was imported" in str(raised.value)
    assert other.status().memories == 0
    with pytest.raises(NotFoundError, match="does not exist"):
        other.import_(tmp_path / "none.jsonl", format="scrubjay")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"tier": "observation"', '"tier": "dream"', "tier is 'dream'"),
        ('"tier": "observation"', '"tier": "observation", "turn": -1', "turn is -1"),
        ('"tier": "observation"', '"tier": "observation", "strength": 7', "strength is 7"),
        ('"tier": "observation"', '"tier": "observation", "tags": "x"', "tags is 'x', not a list"),
        ('"id": "obs_', '"id": "lob_', "is not the id of a memory"),
        ('"key": "user"', '"key": "everybody"', "neither user, public nor group"),
        ('"line": "memory"', '"line": "wish"', "holds 'wish'"),
    ],
)
def test_a_line_that_no_export_has_is_named_and_what_is_above_it_stays(
    opened: Callable[..., Memory], tmp_path: Path, old: str, new: str, message: str
) -> None:
    memory, file = opened(), tmp_path / "x.jsonl"
    memory.add("hello")
    memory.export(file)
    sealed(file, [json.dumps(row).replace(old, new) for row in told(file)[:-1]])
    other = opened(tmp_path / "other.db")
    with pytest.raises(InputError, match=message) as raised:
        other.import_(file, shared=True)
    assert "Line 2 of" in str(raised.value)
    assert other.status().memories == 0


def test_a_path_that_leads_out_of_its_source_is_refused(
    lived: Memory, opened: Callable[..., Memory], tmp_path: Path
) -> None:
    file = tmp_path / "x.jsonl"
    lived.export(file)
    sealed(file, [json.dumps(row).replace('"a.md"', '"../a.md"') for row in told(file)[:-1]])
    with pytest.raises(InputError, match="leads out of its source"):
        opened(tmp_path / "other.db").import_(file)


def test_batches_of_any_size_make_the_same_store(
    lived: Memory, opened: Callable[..., Memory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "x.jsonl"
    lived.export(file)
    found = []
    for size in (1, 2, 500):
        monkeypatch.setattr(importer, "MEMORY_BATCH", size)
        other = opened(tmp_path / f"{size}.db")
        other.import_(file)
        other.export(tmp_path / f"{size}.jsonl")
        found.append(bare(tmp_path / f"{size}.jsonl"))
    assert found[0] == found[1] == found[2]


def test_an_export_is_private_and_replaces_nothing_unasked(lived: Memory, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text("my notes", "utf-8")
    with pytest.raises(InputError, match="already exists"):
        lived.export(file)
    assert file.read_text("utf-8") == "my notes"
    lived.export(file, overwrite=True)
    assert file.stat().st_mode & 0o777 == 0o600
    for own in (tmp_path / "memory.db", tmp_path / "memory.db-wal"):
        with pytest.raises(InputError, match="belongs to the store"):
            lived.export(own, overwrite=True)
    (tmp_path / "link").symlink_to(file)
    with pytest.raises(InputError, match="a folder or a link"):
        lived.export(tmp_path / "link", overwrite=True)
    with pytest.raises(SourceError, match="cannot be written"):
        lived.export(tmp_path / "none" / "x.jsonl")
    assert sorted(name for name in os.listdir(tmp_path) if name.endswith(".part")) == []


def test_a_backup_is_a_whole_store_of_all_its_users(opened: Callable[..., Memory], tmp_path: Path) -> None:
    ann, bob, copy = opened(user="ann"), opened(user="bob"), tmp_path / "copy.db"
    one = ann.add("The mast is of oak.")
    gone = ann.add("The safe opens with 12-30.")
    ann.forget(gone.id)
    bob.add("The keel is of pine.")
    done = ann.backup(copy)
    assert copy.stat().st_mode & 0o777 == 0o600
    assert done.bytes == copy.stat().st_size
    assert b"12-30" not in copy.read_bytes()
    assert not (tmp_path / "copy.db-wal").exists()
    ann.add("Written later.")
    back = opened(copy, user="ann")
    assert back.search("mast").results[0].id == one.id
    assert back.status().memories == 1
    assert opened(copy, user="bob").status().memories == 1
    with pytest.raises(InputError, match="already exists"):
        ann.backup(copy)
    ann.backup(copy, overwrite=True)
    note = tmp_path / "note.md"
    note.write_text("The mast is of oak.\n")
    with pytest.raises(InputError, match="no earlier backup"):
        ann.backup(note, overwrite=True)
    assert note.read_text() == "The mast is of oak.\n"


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="locks are listed by Linux alone")
def test_a_backup_leaves_the_locks_of_the_process_on_the_store(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    def locks() -> list[str]:
        inode = f":{(tmp_path / 'locked.db').stat().st_ino} "
        return [
            line.partition(": ")[2] for line in Path("/proc/locks").read_text().splitlines() if inode in line
        ]

    ann = opened(tmp_path / "locked.db")
    ann.add("The mast is of oak.")
    before = locks()
    assert before
    for _ in range(2):
        ann.backup(tmp_path / "copy.db", overwrite=True)
    assert locks() == before


def test_a_store_without_a_file_is_backed_up_otherwise(opened: Callable[..., Memory], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no file that could be copied") as raised:
        opened("memory://").backup(tmp_path / "copy.db")
    assert "scrubjay export" in raised.value.hint
    assert list(tmp_path.glob("*.db")) == []


def test_postgresql_names_its_own_tool(
    opened: Callable[..., Memory], postgres_url: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="its own backups") as raised:
        opened(postgres_url, tenant=str(tmp_path)).backup(tmp_path / "copy.db")
    assert "pg_dump" in raised.value.hint


def test_a_backup_that_fails_leaves_no_file_behind(
    opened: Callable[..., Memory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened()
    memory.add("The mast is of oak.")
    folder = tmp_path / "copies"
    folder.mkdir()

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", stopped)
    with pytest.raises(KeyboardInterrupt):
        memory.backup(folder / "copy.db")
    with pytest.raises(KeyboardInterrupt):
        memory.export(folder / "x.jsonl")
    assert list(folder.iterdir()) == []


def test_every_field_of_a_memory_survives_an_export_and_an_import() -> None:
    """A new field that one side forgets would be lost without an error."""
    scope = Scope("t", "ann")
    record = Record(
        id=memory_id("observation", 7),
        tier="observation",
        content="The jib is red.",
        content_hash=text_hash("The jib is red."),
        title="Sails",
        heading_path=("Boat", "Sails"),
        tags=("boat",),
        key=scope.key(),
        owner="ann",
        place=SourcePlace("src_1", "a.md", 2, 3, 4, 5, 6),
        project="acme/boat",
        agent="codex",
        session="s1",
        role="user",
        turn=3,
        origin="tool",
        status="archived",
        pinned=True,
        confidence=0.5,
        strength=0.25,
        event=EventTime(1, 2, "day", "Europe/Berlin"),
        valid_from=3,
        valid_until=4,
        recorded_at=5,
        updated_at=6,
        last_used=7,
        due=8,
    )
    unset = Record(
        **{one.name: getattr(record, one.name) for one in fields(Record) if one.default is MISSING}
    )
    same = {one.name for one in fields(Record) if getattr(record, one.name) == getattr(unset, one.name)}
    assert same == {one.name for one in fields(Record) if one.default is MISSING}, (
        "give a new field a value above"
    )
    line = json.loads(json.dumps(archive.LineWriter(scope).memory(record, placed=True)))
    reader = archive.ValueReader(scope, shared=True, scrubbed=Counter())
    assert reader.record(line) == record, "ValueReader.record of transfer/archive.py lacks it"
