"""Answer: a verb and its arguments -> what a memory says, for whoever asks a resident.

The memory was opened with the settings that the caller has too, and nothing in a request names a store, a user or a
group: who asks sees what they would see without a resident.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from scrubjay.errors import InputError, ScrubjayError, StoreBusyError
from scrubjay.verbs import shape
from scrubjay.verbs.errands import Errands
from scrubjay.verbs.remind import remind
from scrubjay.verbs.tools import TOOLS, call, find

if TYPE_CHECKING:
    from scrubjay.config import Settings
    from scrubjay.engine import Memory
    from scrubjay.log import Log

PATIENCE: Final = 30.0
"""Seconds that a process waits at its end for an errand that it is doing; the next one does it again otherwise."""


class Answering:
    """What a resident can be asked. Threads may ask at once."""

    def __init__(self, memory: Callable[[], Memory], settings: Settings, errands: Errands, log: Log) -> None:
        """Args: opens the memory when it is first needed, its settings, what hooks leave to be done, the log."""
        self._memory = memory
        self._settings = settings
        self._errands = errands
        self._log = log
        self._writing = threading.Lock()
        self._warming = threading.Lock()
        self._warm = False
        self._tools = frozenset(tool.name for tool in TOOLS)

    def __call__(self, verb: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a verb answers.

        Raises:
            InputError: There is no such verb, or its arguments do not fit.
            ScrubjayError: As the facade says.
        """
        if verb == "errands":
            threading.Thread(target=self._run_errands, name="errands").start()
            return {"begun": True}
        if not self._warm:
            # Who asks is faster alone than a process that opens its store for the first time.
            threading.Thread(target=self.warm, name="warm", daemon=True).start()
            raise StoreBusyError("The store is being opened. Nothing was asked of it.")
        if verb in self._tools:
            return self._tool(verb, arguments)
        if verb == "remind":
            return remind(self._memory(), self._settings.hooks, arguments)
        if verb == "search":
            return self._search(arguments)
        raise InputError(f"There is no verb {verb!r}.")

    def warm(self) -> None:
        """Open the memory and load the models, once; then questions are answered. The log says where it fails."""
        if self._warm or not self._warming.acquire(blocking=False):
            return
        try:
            memory = self._memory()
            if not self._settings.models.extra:  # those may be remote, and are sent no question nobody asked
                from scrubjay.engine import as_stored

                as_stored(memory).search("which memories are there")
            self._warm = True
        except ScrubjayError as error:
            self._log.write("warning", "resident not warm", error=type(error).__name__)
        finally:
            self._warming.release()

    def close(self) -> None:
        """Wait for what is being written: whoever opened the memory will close it."""
        if self._writing.acquire(timeout=PATIENCE):
            self._writing.release()

    def _tool(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        tool = find(name)
        if not tool.writes:
            return call(self._memory(), tool, arguments)
        with self._writing:
            return call(self._memory(), tool, arguments)

    def _search(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        memory = self._memory()
        if unknown := sorted(set(arguments) - set(inspect.signature(memory.search).parameters)):
            raise InputError(f"A search takes no {unknown[0]}.")
        found: dict[str, Any] = shape.plain(memory.search(**arguments))
        return found

    def _run_errands(self) -> None:
        with self._writing:
            self._errands.run(self._memory(), self._settings.hooks, self._log)
