"""Large and unreadable files: read in bounded memory, whole in the end, never read again by each search."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from notes_folder import Listening, Notes
from numpy.typing import NDArray

from scrubjay import Memory
from scrubjay.config.settings import ChunkingSettings, Settings
from scrubjay.ingest.reader import PIECE_CHARACTERS, redact_documents
from scrubjay.models.records import Record

DOCS = Path(__file__).parents[2] / "docs"


def prose(paragraphs: int, *, headings: bool = False, each: int = 25) -> str:
    """Paragraphs of words of our own pages, each with its number."""
    rng = random.Random(7)
    words = re.findall(r"\b[a-z]{3,12}\b", "".join(page.read_text() for page in sorted(DOCS.glob("*.md"))))
    words = [
        word for word in words if word not in ("seed", "phrase", "key", "keys", "token", "secret", "password")
    ]
    parts = []
    for number in range(paragraphs):
        head = f"## Part {number}\n\n" if headings else ""
        parts.append(f"{head}Paragraph{number} says that {' '.join(rng.choices(words, k=each))}.\n\n")
    return "".join(parts)


PEAK = """
import re, sys
from pathlib import Path
from scrubjay.cli.main import run
code = run(sys.argv[1:])
print(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
sys.exit(code)
"""
"""A command that tells its peak; a parent's is counted with a child's by the system."""


class Interrupted(Exception):
    """What the model raises."""


class Breaking(Listening):
    """A model that is interrupted after so many passages."""

    most = 10**9

    def embed(self, texts: Sequence[str], *, kind: Any = "passage") -> list[NDArray[np.float32]]:
        if len(self.heard) + len(texts) > self.most:
            raise Interrupted
        return super().embed(texts, kind=kind)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Small passages: a thousand of them, which one transaction takes, are no megabyte then."""
    return replace(settings, chunk=ChunkingSettings(target=40, overlap=8, most=55))


def passages(memory: Memory) -> list[Record]:
    with memory.workspace.store.reader(memory.workspace.scope) as reader:
        (source,) = reader.sources()
        return reader.passages(source.id, "big.md")


def snippets(memory: Memory, query: str) -> list[str]:
    return [one.snippet for one in memory.search(query).results]


@pytest.mark.parametrize("headings", [False, True])
def test_a_file_of_thousands_of_passages_is_stored_whole(
    notes: Notes, memory: Memory, *, headings: bool
) -> None:
    text = prose(1_500, headings=headings)
    notes.write("big.md", text)
    done = memory.sync(notes.root)
    assert done.added == done.passages > 1_000
    assert "".join(one.content for one in passages(memory)) == text
    again = memory.sync(notes.root)
    assert (again.added, again.updated, again.unchanged) == (0, 0, done.passages)


def test_ids_survive_when_every_passage_of_a_large_file_changes(notes: Notes, memory: Memory) -> None:
    text = prose(1_500)
    notes.write("big.md", text)
    done = memory.sync(notes.root)
    before = {one.id for one in passages(memory)}
    notes.write("big.md", text.replace("Paragraph", "The paragraph "))
    changed = memory.sync(notes.root)
    assert changed.updated > done.passages * 0.9
    assert len(before & {one.id for one in passages(memory)}) > done.passages * 0.9


def test_a_sync_that_ends_in_the_middle_of_a_large_file_is_named_and_gone_on_with(
    notes: Notes, opened: Callable[..., Memory]
) -> None:
    model = Breaking()
    memory = opened(embedders=[model])
    notes.write("big.md", prose(2_500))
    model.most = 1_200
    with pytest.raises(Interrupted):
        memory.sync(notes.root)
    (unread,) = memory.status().unread
    assert unread.path == str(notes.root / "big.md")
    assert "did not end" in unread.message
    stored = len(model.heard)
    model.most = 10**9
    done = memory.sync(notes.root)
    assert done.unchanged >= 1_000
    assert done.added == done.passages - done.unchanged
    assert len(model.heard) - stored < done.passages - 900
    assert memory.status().unread == ()


def test_a_search_reads_no_large_file_and_says_which_it_left(notes: Notes, memory: Memory) -> None:
    notes.write("small.md", "The kettle is blue.")
    memory.sync(notes.root)
    notes.write("big.md", "The heron sleeps at noon. " * 40_000)
    notes.write("small.md", "The kettle is red now.")
    answer = memory.search("kettle")
    assert answer.results[0].snippet == "The kettle is red now."
    assert len(answer.partial) == 1
    assert "big.md" in answer.partial[0]
    assert not any("heron" in one for one in snippets(memory, "when does the heron sleep"))


def test_a_file_that_could_not_be_read_is_left_alone_by_searches_until_it_changes(
    notes: Notes, memory: Memory
) -> None:
    file = notes.write("broken.md", b"\xc3( no text at all, not in any way")
    done = memory.sync(notes.root)
    assert [one.path for one in done.problems] == [str(file)]
    (unread,) = memory.status().unread
    assert unread.path == str(file)
    stamp = file.stat().st_mtime_ns
    file.write_bytes(b"The heron sleeps at noon".ljust(file.stat().st_size))
    os.utime(file, ns=(stamp, stamp))
    assert not snippets(memory, "when does the heron sleep")
    assert memory.sync(notes.root).problems == ()
    assert snippets(memory, "when does the heron sleep")
    assert memory.status().unread == ()


def test_what_was_stored_of_a_file_that_cannot_be_read_any_more_still_answers(
    notes: Notes, memory: Memory
) -> None:
    notes.write("a.md", "The kettle is blue.")
    memory.sync(notes.root)
    notes.write("a.md", b"\xc3( no text at all, not in any way")
    assert snippets(memory, "kettle") == ["The kettle is blue."]
    assert [one.path for one in memory.status().unread] == [str(notes.root / "a.md")]
    notes.write("a.md", "The kettle is red now.")
    assert snippets(memory, "kettle") == ["The kettle is red now."]
    assert memory.status().unread == ()


def test_a_private_span_across_the_pieces_of_a_large_file_is_never_stored(
    notes: Notes, memory: Memory
) -> None:
    filler = "The heron sleeps at noon.\n\n" * 39_000
    notes.write(
        "big.md", f"{filler}<private>\n\n{'A plum. ' * 4_000}\n\nzanzibar\n\n</private>\n\nThe end.\n"
    )
    memory.sync(notes.root)
    assert not any("zanzibar" in one or "plum" in one for one in snippets(memory, "zanzibar plum"))


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is asked of Linux")
def test_a_large_file_is_synced_in_twenty_times_its_size_and_200_mb(tmp_path: Path) -> None:
    file = tmp_path / "notes" / "big.md"
    file.parent.mkdir()
    file.write_text(prose(4_000, headings=True, each=60))
    env = {**os.environ, "HOME": str(tmp_path), "SCRUBJAY_STORE": str(tmp_path / "memory.db")}
    done = subprocess.run(
        [sys.executable, "-c", PEAK, "sync", str(file)], env=env, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    peak = int(done.stdout.split()[-1]) * 1024
    assert peak < 20 * file.stat().st_size + 200_000_000


def test_texts_are_redacted_together_in_their_order_whatever_their_sizes() -> None:
    secret = "password = 'tr0ub4dor&3'\n"
    sizes = (0, 3, PIECE_CHARACTERS // 10, PIECE_CHARACTERS // 5 + 1, 1)
    texts = [f"{number}\n" + "word " * size + secret for number, size in enumerate(sizes)]
    assert len(texts[3]) > PIECE_CHARACTERS
    clean = redact_documents(texts, ())
    assert [one.text for one in clean] == [one.replace("tr0ub4dor&3", "[secret:password]") for one in texts]
    assert [one.counts for one in clean] == [{"password": 1}] * len(texts)
