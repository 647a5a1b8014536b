"""A passage is edited in its file, or the file is left as it is to the byte and the refusal names path and lines."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.errors import ForbiddenError, InputError, ScrubjayError
from scrubjay.ingest.files import rewrite_file, snapshot_file
from scrubjay.services.curation import split_passage

Open = Callable[..., Memory]
KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
NOTE = "# Harbour\n\nThe berth in Lisbon costs forty euros.\n\n# Garden\n\nTomatoes need sun.\n"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    made = tmp_path / "tree"
    made.mkdir()
    return made


@pytest.fixture
def memory(opened: Open) -> Memory:
    return opened()


def taken(memory: Memory, file: Path, data: str | bytes, at: str) -> str:
    """Write a file, take its folder in, and return the passage that holds some words."""
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    memory.sync(file.parent, share=True)
    (found,) = [one for one in memory.get(path=file).records if at in one.content]
    return found.id


def refused(memory: Memory, passage: str, file: Path, reason: str, content: str = "Other words.") -> None:
    before = file.read_bytes()
    with pytest.raises(ScrubjayError, match=reason) as raised:
        memory.rewrite(passage, content)
    assert raised.value.hint
    assert file.read_bytes() == before
    assert [each for each in os.listdir(file.parent) if each.endswith(".part")] == []


def test_the_file_says_the_new_words_and_nothing_else_in_it_moves(memory: Memory, notes: Path) -> None:
    file = notes / "a.md"
    passage = taken(memory, file, NOTE, "Lisbon")
    file.chmod(0o640)
    done = memory.rewrite(passage, "# Harbour\n\nThe berth in Porto costs fifty euros.\n")
    assert file.read_text() == NOTE.replace("Lisbon costs forty", "Porto costs fifty")
    assert file.stat().st_mode & 0o777 == 0o640
    assert (done.id, done.path, done.line_start, done.changed) == (passage, str(file), 1, True)
    assert memory.search("berth Porto", channels=["bm25"]).results[0].id == passage
    assert memory.search("Lisbon", channels=["bm25"]).results == ()


def test_what_it_says_already_writes_nothing(memory: Memory, notes: Path) -> None:
    file = notes / "a.md"
    passage = taken(memory, file, NOTE, "Tomatoes")
    before = file.stat().st_ino
    assert memory.rewrite(passage, "# Garden\r\n\r\nTomatoes need sun.").changed is False
    assert file.stat().st_ino == before


def test_line_ends_stay_those_of_the_file(memory: Memory, notes: Path) -> None:
    file = notes / "a.md"
    passage = taken(memory, file, NOTE.replace("\n", "\r\n"), "Tomatoes")
    memory.rewrite(passage, "# Garden\n\nTomatoes need sun.\nAnd water.")
    assert file.read_bytes() == (NOTE + "And water.\n").replace("\n", "\r\n").encode()


def test_a_passage_with_two_kinds_of_line_ends_is_left_alone(memory: Memory, notes: Path) -> None:
    file = notes / "a.md"
    passage = taken(memory, file, "# A\r\n\r\nOne line.\nAnother line.\n", "One")
    refused(memory, passage, file, r"a\.md:1-4 mixes two kinds of line ends")


@pytest.mark.parametrize(
    ("mark", "encoding"), [(codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (b"", "utf-8")]
)
def test_encoding_and_byte_order_mark_stay(memory: Memory, notes: Path, mark: bytes, encoding: str) -> None:
    file = notes / "a.md"
    passage = taken(memory, file, mark + "# Fähre\n\nNach Malmö.\n".encode(encoding), "Malmö")
    memory.rewrite(passage, "# Fähre\n\nNach Göteborg, 漢字.")
    assert file.read_bytes() == mark + "# Fähre\n\nNach Göteborg, 漢字.\n".encode(encoding)


def test_front_matter_stays_and_none_is_made(memory: Memory, notes: Path) -> None:
    file = notes / "a.md"
    front = "---\ntags: [boats]\ndate: 2026-03-01\n---\n\n"
    passage = taken(memory, file, f"{front}The berth is dear.\n", "berth")
    assert split_passage(memory.get(passage).records[0]).body == "The berth is dear."
    memory.rewrite(passage, "The berth is cheap.")
    assert file.read_text() == f"{front}The berth is cheap.\n"
    assert memory.get(passage).records[0].tags == ("boats",)
    other = notes / "b.md"
    refused(
        memory, taken(memory, other, "Plain words.\n", "Plain"), other, "front matter",
        "---\nvisibility: public\n---\nPlain.",
    )  # fmt: skip


def test_a_file_that_changed_meanwhile_is_not_written_over(memory: Memory, notes: Path) -> None:
    file = notes / "a.md"
    passage = taken(memory, file, NOTE, "Tomatoes")
    file.write_text("A line more.\n" + NOTE.replace("sun", "rain"))
    refused(memory, passage, file, r"a\.md:5-7 no longer says what is stored")
    # What changed after the file was read is seen at the last moment.
    before = snapshot_file(notes, "a.md")
    file.write_text("Somebody else was here.")
    with pytest.raises(InputError, match="changed by another program"):
        rewrite_file(notes, "a.md", before, "Mine.")
    assert file.read_text() == "Somebody else was here."
    assert os.listdir(notes) == ["a.md"]


def test_a_text_that_the_caller_did_not_see_is_not_written_over(memory: Memory, notes: Path) -> None:
    file = notes / "a.md"
    passage = taken(memory, file, NOTE, "Tomatoes")
    seen = memory.get(passage).records[0].content_hash
    memory.rewrite(passage, "# Garden\n\nTomatoes need rain.", was=seen)
    before = file.read_bytes()
    with pytest.raises(InputError, match="changed since you opened it"):
        memory.rewrite(passage, "# Garden\n\nTomatoes need wind.", was=seen)
    assert file.read_bytes() == before


def test_a_file_that_is_gone_is_not_made_again(memory: Memory, notes: Path) -> None:
    file = notes / "a.md"
    passage = taken(memory, file, NOTE, "Tomatoes")
    file.unlink()
    with pytest.raises(ScrubjayError, match="Nothing was written"):
        memory.rewrite(passage, "Other words.")
    assert not file.exists()


def test_a_read_only_file_and_one_with_two_names_are_left_alone(memory: Memory, notes: Path) -> None:
    file = notes / "a.md"
    passage = taken(memory, file, NOTE, "Tomatoes")
    file.chmod(0o444)
    refused(memory, passage, file, "is read-only")
    file.chmod(0o644)
    os.link(file, notes.parent / "second.md")
    refused(memory, passage, file, "hard link")


def test_a_file_that_is_no_text_any_more_is_left_alone(memory: Memory, notes: Path) -> None:
    file = notes / "a.md"
    passage = taken(memory, file, NOTE, "Tomatoes")
    file.write_bytes(NOTE.encode() + "Malmö".encode("latin-1"))
    refused(memory, passage, file, "is not UTF-8")
    file.write_bytes(NOTE.encode() + b"\0" + b"x" * 500)
    refused(memory, passage, file, "would not stay as they are")


def test_a_link_that_was_put_in_the_files_place_leads_nowhere(memory: Memory, notes: Path) -> None:
    file, outside = notes / "a.md", notes.parent / "outside.md"
    passage = taken(memory, file, NOTE, "Tomatoes")
    outside.write_text(NOTE)
    file.unlink()
    file.symlink_to(outside)
    refused(memory, passage, outside, "not a path inside")


def test_a_link_that_stays_inside_is_still_one_afterwards(memory: Memory, notes: Path) -> None:
    (notes / "real").mkdir()
    (notes / "real" / "a.txt").write_text("Tomatoes need sun.\n")
    (notes / "a.md").symlink_to("real/a.txt")
    memory.sync(notes, include=["*.md"])
    (passage,) = memory.get(path=notes / "a.md").records
    memory.rewrite(passage.id, "Tomatoes need rain.")
    assert (notes / "a.md").is_symlink()
    assert (notes / "real" / "a.txt").read_text() == "Tomatoes need rain.\n"


def test_a_passage_whose_secret_was_taken_out_keeps_it_in_the_file(memory: Memory, notes: Path) -> None:
    file = notes / "a.md"
    passage = taken(memory, file, f"# Deploy\n\nThe key is {KEY} here.\n", "key")
    assert KEY not in memory.get(passage).records[0].content
    refused(memory, passage, file, r"a\.md:1-3 holds a secret")


def test_a_secret_elsewhere_in_the_file_stays_and_moves_nothing(memory: Memory, notes: Path) -> None:
    file = notes / "a.md"
    text = f"# Deploy\n\nThe key is {KEY} here.\n\n{NOTE}"
    passage = taken(memory, file, text, "Tomatoes")
    memory.rewrite(passage, "# Garden\n\nTomatoes need rain.")
    assert file.read_text() == text.replace("sun", "rain")


def test_an_empty_passage_is_refused_and_so_is_what_was_forgotten(memory: Memory, notes: Path) -> None:
    file = notes / "a.md"
    gone = memory.add("Tomatoes need rain.").id
    memory.forget(gone)
    passage = taken(memory, file, "Tomatoes need sun.\n", "Tomatoes")
    refused(memory, passage, file, "would be left empty", " \r\n ")
    forgotten = notes / "b.md"
    other = taken(memory, forgotten, "Beans need poles.\n", "Beans")
    memory.forget(memory.add("Peas need nets.\n").id)
    refused(memory, other, forgotten, "forgotten once", "Peas need nets.")


def test_nobody_writes_into_somebody_elses_file(memory: Memory, notes: Path) -> None:
    file = notes / "a.md"
    passage = taken(memory, file, f"---\nvisibility: public\n---\n{NOTE}", "Tomatoes")
    bob = memory.seen_by("bob")
    assert bob.get(passage).records
    with pytest.raises(ForbiddenError, match="ann's"):
        bob.rewrite(passage, "Bob was here.")
    assert "Bob" not in file.read_text()


def test_what_stands_in_no_file_is_not_rewritten(memory: Memory, notes: Path) -> None:
    with pytest.raises(InputError, match="is not part of a file"):
        memory.rewrite(memory.add("A thought.").id, "Another.")
