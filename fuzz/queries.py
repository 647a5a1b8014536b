"""Queries: bytes of a question -> understood, and asked of a small store; no error, nothing of somebody else's."""

from __future__ import annotations

import math
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from fuzz.bound import bound
from fuzz.switches import switches
from scrubjay import Memory
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.errors import InputError
from scrubjay.search.query import interpret_query, parse_query
from scrubjay.text.tokenizer import find_terms, index_terms, query_groups, split_words

SEARCHED = 32
"""Of so many inputs one is searched for while fuzzing: a search takes a hundred times what the rest takes."""
NOW = datetime(2026, 3, 1, 10, tzinfo=UTC)
MICROS = int(NOW.timestamp()) * 1_000_000
ZONES = (ZoneInfo("UTC"), ZoneInfo("Europe/Berlin"), ZoneInfo("America/St_Johns"), ZoneInfo("Pacific/Apia"))
SAID = (
    "Ann prefers tea to coffee, and oolong to both.",
    "The deploy of the heron service waits for a green build; `make ship` begins it.",
    "On 1 March 2026 the mast of the Osprey broke in a gale off Bergen.",
    "木の実を隠す鳥は、千の場所を覚えている。",
    "def hide(acorn: str) -> Place: ...  # src/cache.py, see issue #412",
)
SECRET = "Zebedee keeps a quagga."


@contextmanager
def target(*, timed: bool) -> Iterator[Callable[[bytes], None]]:
    """Yield what takes one input."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "memory.db"
        with Memory.open(file, user="bob", embedders=[HashEmbedder(64)]) as other:
            other.add(SECRET)
        with Memory.open(file, user="ann", embedders=[HashEmbedder(64)]) as memory:
            known = {memory.add(text, date="2026-02-01").id for text in SAID}

            def check(data: bytes) -> None:
                switch, data = switches(data)
                text = data.decode("utf-8", "surrogatepass" if switch & 128 else "replace")
                with bound(len(text), timed=timed):
                    _words(text)
                    query = parse_query(text)
                    assert len(query.text) <= 2 * len(text) + 2
                    question = interpret_query(query, MICROS, ZONES[switch >> 4 & 3])
                    first, last = question.window
                    assert first is None or last is None or first <= last, "a time that ends before it begins"
                    if not timed or zlib.crc32(data) % SEARCHED == 0:
                        _search(memory, text, known)

            def lenient(data: bytes) -> None:
                try:
                    check(data)
                except UnicodeDecodeError:
                    return  # no way leads such bytes into a query

            yield lenient


def _words(text: str) -> None:
    at = 0
    for word in split_words(text):
        assert 0 <= word.start < word.end <= len(text), "a word outside of the text"
        assert word.start >= at - 2, "words out of order"
        at = word.start
    counted = index_terms(text)
    assert counted.length >= 0
    assert all(count > 0 for count in counted.counts.values())
    asked = query_groups(text)
    assert len({group.word for group in asked}) == len(asked)
    for start, end, _ in find_terms(text, set(list(counted.counts)[:5])):
        assert 0 <= start < end <= len(text)


def _search(memory: Memory, text: str, known: set[str]) -> None:
    try:
        found = memory.search(text, now=NOW)
    except InputError:
        return
    for result in found.results:
        assert math.isfinite(result.score)
        assert "quagga" not in result.snippet, "somebody else's memory"
        assert result.id in known
