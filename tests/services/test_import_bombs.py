"""Files that were made to exhaust their reader are refused or told as broken, and nothing of them is stored."""

from __future__ import annotations

import gc
import gzip
import io
import json
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import ScrubjayError


@pytest.fixture
def memory(tmp_path: Path):
    gc.collect()  # at the bottom of a deep recursion no finalizer of an earlier test could run
    with Memory.open(tmp_path / "memory.db", user="ann", embedders=[HashEmbedder(64)]) as opened:
        yield opened


def zipped(data: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("memories.jsonl", data)
        archive.writestr("../../escaped.md", b"# out")
    return held.getvalue()


LINE = json.dumps({"content": "a " * 50_000}).encode() + b"\n"


@pytest.mark.parametrize("format", ["auto", "jsonl", "mem0", "mcp-memory", "agentmemory", "scrubjay"])
@pytest.mark.parametrize(
    "data",
    [gzip.compress(LINE * 200), zipped(LINE * 200), b'{"a":' * 60_000, b"[" * 200_000, b'{"memory": [' * 60_000],
    ids=["gzip", "zip", "deep objects", "deep lists", "deep both"],
)  # fmt: skip
def test_an_archive_or_a_nested_file_is_never_unpacked(
    memory: Memory, tmp_path: Path, format: str, data: bytes
) -> None:
    file = tmp_path / "export.json"
    file.write_bytes(data)
    with suppress(ScrubjayError):
        assert memory.import_(file, format=format).added == 0
    assert memory.status().memories == 0
    assert not (tmp_path.parent / "escaped.md").exists()


@pytest.mark.parametrize("name", ["notes.md", "talk.jsonl", "conversations.json"])
@pytest.mark.parametrize("data", [gzip.compress(LINE * 200), zipped(LINE * 200)], ids=["gzip", "zip"])
def test_an_archive_under_the_name_of_a_note_or_a_log_is_told_and_stores_nothing(
    memory: Memory, tmp_path: Path, name: str, data: bytes
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / name).write_bytes(data)
    done = memory.sync(notes)
    assert (done.added, memory.status().memories) == (0, 0)


def test_a_note_whose_front_matter_multiplies_itself_is_kept_private_and_whole(
    memory: Memory, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    rows = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'x'}]" for n in range(12))
    (notes / "a.md").write_text(f"---\n{rows}\nvisibility: public\n---\nThe heron waits.\n")
    done = memory.sync(notes)
    assert done.added == 1
    (found,) = memory.search("heron").results
    assert "heron" in found.snippet
    assert any("aliases" in problem.message for problem in done.problems)
    with Memory.open(tmp_path / "memory.db", user="bob", embedders=[HashEmbedder(64)]) as other:
        assert not other.search("heron").results
