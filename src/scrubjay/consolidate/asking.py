"""Asking: a request to a language model -> its answer or None. It keeps count, and leaves off when it is of no use.

Whatever the model does, nobody waits longer than the deadline for one answer, and nothing but a line in the report
comes of it: after some failures in a row it is not asked again in the run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from scrubjay.errors import ProviderError

if TYPE_CHECKING:
    from scrubjay.providers.llms.port import LanguageModel

FAILURES: Final = 3
"""Failures in a row after which a model is not asked again."""
LARGEST: Final = 1 << 20
"""Bytes of an answer: a hundred times what was asked for."""


class Asking:
    """One run's dealings with a language model."""

    def __init__(
        self, model: LanguageModel, deadline: float, requests: int, announce: Callable[[str], None]
    ) -> None:
        """Ask nothing yet.

        Args:
            model: The model.
            deadline: Seconds for one request, its tries included.
            requests: Most requests.
            announce: Told once, before anything is sent, where what goes.
        """
        self._model = model
        self._deadline = deadline
        self._left = requests
        self._announce: Callable[[str], None] | None = announce
        self._row = 0
        self._failures = 0
        self._trouble = ""

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    @property
    def open(self) -> bool:
        """Whether it may be asked again."""
        return self._left > 0 and self._row < FAILURES

    def ask(self, task: str, request: str, what: str) -> str | None:
        """Return the model's answer; None where it gave none or is not asked any more.

        Args:
            task: What it is to do.
            request: What it is to do it with, scrubbed.
            what: What the request holds, for the announcement, such as ``12 turns``.
        """
        if not self.open:
            return None
        if self._announce is not None:
            self._announce(
                f"Sending {what} ({len(request):,} characters) to {self._model.host} to be read by {self.name}; "
                "later ones go there too."
            )
            self._announce = None
        self._left -= 1
        try:
            return self._model.complete(task, request, deadline=self._deadline, max_bytes=LARGEST)
        except ProviderError as exc:
            self.failed(str(exc).partition(". ")[0])
            return None

    def made_sense(self) -> None:
        """Note that an answer was of the form that was asked for."""
        self._row = 0

    def failed(self, why: str) -> None:
        """Note that an answer was of no use."""
        self._row += 1
        self._failures += 1
        self._trouble = why

    @property
    def partial(self) -> tuple[str, ...]:
        """What the run had to do without, each in one line; nothing where all went well."""
        spent = f"{self.name} was asked as often as one run may ([llm] requests); the next goes on."
        asked = () if self._left else (spent,)
        if not self._failures:
            return asked
        times = "once" if self._failures == 1 else f"{self._failures} times"
        off = " and was not asked again" if self._row >= FAILURES else ""
        return (f"{self.name} failed {times}{off}: {self._trouble}. What the rules found stands.", *asked)
