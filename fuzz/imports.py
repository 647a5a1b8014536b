"""Imports: bytes of another tool's export -> memories to be, by each reader; or an error of ours, or a broken item."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fuzz.bound import bound
from fuzz.switches import switches
from scrubjay.errors import ScrubjayError
from scrubjay.ingest.importing import agentmemory, basic_memory, jsonl, mcp_memory, mem0
from scrubjay.ingest.importing.item import Item
from scrubjay.ingest.importing.recognise import recognise
from scrubjay.ingest.porting.read import check as check_export
from scrubjay.ingest.porting.read import lines

READERS = (agentmemory.read, jsonl.read, mcp_memory.read, mem0.read, basic_memory.read)


@contextmanager
def target(*, timed: bool) -> Iterator[Callable[[bytes], None]]:
    """Yield what takes one input."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "export.json"
        note = Path(folder) / "notes" / "a.md"
        note.parent.mkdir()

        def check(data: bytes) -> None:
            switch, data = switches(data)
            read = READERS[switch % len(READERS)]
            where = note if read is basic_memory.read else file
            where.write_bytes(data)
            with bound(len(data), timed=timed):
                with suppress(ScrubjayError):
                    recognise(where)
                with suppress(ScrubjayError):
                    for found in read(note.parent if where is note else file):
                        if isinstance(found, Item):
                            assert isinstance(found.new.content, str), "a memory whose content is no text"
                            assert found.where, "a memory that stands nowhere"
                if where is file:
                    with suppress(ScrubjayError):
                        check_export(file)
                        list(lines(file))

        yield check
