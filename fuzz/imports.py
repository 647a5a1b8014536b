"""Imports: bytes of another tool's export -> memories to be, by each reader; or an error of ours, or a broken item."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fuzz.bound import bound
from fuzz.switches import switches
from scrubjay.errors import ScrubjayError
from scrubjay.transfer import formats
from scrubjay.transfer.archive import check_export, read_export_lines
from scrubjay.transfer.formats import ImportedMemory, detect_format

READERS = (
    formats.read_agentmemory,
    formats.read_jsonl,
    formats.read_mcp_memory,
    formats.read_mem0,
    formats.read_basic_memory,
)


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
            where = note if read is formats.read_basic_memory else file
            where.write_bytes(data)
            with bound(len(data), timed=timed):
                with suppress(ScrubjayError):
                    detect_format(where)
                with suppress(ScrubjayError):
                    for found in read(note.parent if where is note else file):
                        if isinstance(found, ImportedMemory):
                            assert isinstance(found.new.content, str), "a memory whose content is no text"
                            assert found.where, "a memory that stands nowhere"
                if where is file:
                    with suppress(ScrubjayError):
                        check_export(file)
                        list(read_export_lines(file))

        yield check
