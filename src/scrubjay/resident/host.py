"""Host: settings and a memory -> a resident beside what a process does anyway, or none where another has the place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scrubjay.config_start import data_folder, fingerprint, runtime_folder
from scrubjay.resident.place import place
from scrubjay.verbs.errands import Errands

if TYPE_CHECKING:
    from scrubjay.config import Settings
    from scrubjay.engine import Memory
    from scrubjay.resident.answer import Answering
    from scrubjay.resident.serve import Resident


def prepared(
    settings: Settings, memory: Callable[[], Memory], around: Mapping[str, str], host: str
) -> tuple[Resident, Answering] | None:
    """Return a resident that is not open yet, and who answers in it; None where there can be none.

    There can be none on Windows, nor for a store that is in memory.

    Args:
        settings: Made of this environment.
        memory: Opens the memory when it is first asked for.
        around: The environment.
        host: Which command it lives in.
    """
    mark = fingerprint(around)
    path = place(runtime_folder(around), mark)
    if path is None or settings.store.startswith("memory:"):
        return None
    from scrubjay.resident.answer import Answering
    from scrubjay.resident.serve import Resident

    data = data_folder(around)
    log = settings.log.open(data)
    answering = Answering(memory, settings, Errands(data, mark), log)
    return Resident(path, mark, answering, log, host=host), answering


@contextmanager
def hosted(
    settings: Settings, memory: Callable[[], Memory], around: Mapping[str, str], host: str
) -> Iterator[None]:
    """Answer on the place of these settings until the block ends, unless another process does or it cannot be had."""
    found = prepared(settings, memory, around, host)
    if found is None:
        yield
        return
    resident, answering = found
    try:
        resident.open()
        yield
    finally:
        resident.close()
        answering.close()
