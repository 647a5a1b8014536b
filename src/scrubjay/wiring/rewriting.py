"""Rewriting: a question and what was said before it -> the question as a language model understands it, or why not.

A search never waits longer than the deadline for it, whatever the service does, and it is asked while no view of the
store is open. Secrets are taken out before anything is sent.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from scrubjay.config import api_key
from scrubjay.errors import ConfigError, ProviderError

if TYPE_CHECKING:
    from scrubjay.config_llm import Llm
    from scrubjay.providers.llms.port import LanguageModel
    from scrubjay.wiring.desk import Desk

FAILURES: Final = 3
"""Failures in a row after which the model is left alone for a while: each of them made somebody wait."""
REST: Final = 60.0
"""Seconds for which it is then left alone."""
LARGEST: Final = 1 << 16
"""Bytes of an answer: a hundred times what was asked for."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What became of a question.

    Attributes:
        text: The rewriting, to be searched beside the question; empty where there is none.
        partial: What was to be done and could not be.
        notes: Why nothing was to be done, for explain.
    """

    text: str = ""
    partial: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Dealings:
    """What came of the requests so far; threads may ask at once."""

    model: LanguageModel | None = None
    announced: bool = False
    row: int = 0
    until: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)


class Rewriter:
    """A process's dealings with the language model that rewrites questions."""

    def __init__(
        self, settings: Llm, announce: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Ask nothing yet.

        Args:
            settings: The section ``[llm]``.
            announce: Told once, before anything is sent, where what goes.
            clock: Seconds that only go on.
        """
        self._settings = settings
        self._announce = announce
        self._clock = clock
        self._so_far = _Dealings()

    def rewritten(self, question: str, history: Sequence[str]) -> Rewritten:
        """Return what a question means after what was said; nothing is asked where the settings do not say so.

        Raises:
            InputError: The history is no list of texts.
        """
        if isinstance(history, list | tuple) and not history:  # most searches: nothing is loaded for them
            return Rewritten()
        from scrubjay.ingest.scrub import scrub
        from scrubjay.ingest.scrub_turns import scrub_turns
        from scrubjay.recall.rewrite import MOST_QUESTION, checked, judged, turns

        wanted = self._settings
        clean = [turn.text for turn in scrub_turns(checked(history)).found]
        said = turns(clean)
        if not said or not question.strip():
            return Rewritten()
        if not wanted.model or not wanted.rewrite:
            return Rewritten(notes=("What was said before was not read: [llm] rewrite is off.",))
        if len(question) > MOST_QUESTION:
            return Rewritten(notes=("The question is too long to be rewritten.",))
        if self._clock() < self._so_far.until:
            return self._without(f"failed {FAILURES} times and is left alone for {REST:.0f} s")
        question = scrub(question, before=clean).text
        try:
            answer = self._complete(question, said)
        except (ConfigError, ProviderError) as error:
            self._failed()
            return self._without(f"did not rewrite it: {str(error).partition('. ')[0]}")
        self._so_far.row = 0
        found = judged(answer, question, said)
        if found.refused:
            return self._without(f"rewrote it, which was not believed: {found.refused}")
        return Rewritten(found.text)

    def _without(self, why: str) -> Rewritten:
        return Rewritten(partial=(f"The question was taken as it is: {self._settings.model} {why}.",))

    def _failed(self) -> None:
        so_far = self._so_far
        with so_far.lock:
            so_far.row += 1
            if so_far.row >= FAILURES:
                so_far.row, so_far.until = 0, self._clock() + REST

    def _complete(self, question: str, said: Sequence[str]) -> str:
        """Ask, and wait no longer than the deadline, which holds for the whole request (`providers.post`).

        Raises:
            ConfigError: The settings cannot be used.
            ProviderError: There was no answer in time, or none that is one.
        """
        from scrubjay.recall.rewrite import TASK, asked

        model, deadline = self._model(), self._settings.rewrite_deadline
        request = asked(question, said)
        self._tell(model, len(said), len(request))
        return model.complete(TASK, request, deadline=deadline, max_bytes=LARGEST)

    def _model(self) -> LanguageModel:
        from scrubjay.providers.llms.open import open_llm
        from scrubjay.providers.llms.spec import LlmSpec

        wanted = self._settings
        with self._so_far.lock:
            if self._so_far.model is None:
                spec = LlmSpec(wanted.base_url, wanted.model, api_key("llm", wanted))
                self._so_far.model = open_llm(spec)
            return self._so_far.model

    def _tell(self, model: LanguageModel, turns: int, characters: int) -> None:
        with self._so_far.lock:
            first, self._so_far.announced = not self._so_far.announced, True
        if first:
            what = f"1 question with {turns} turn{'s' if turns > 1 else ''}"
            self._announce(
                f"Sending {what} ({characters:,} characters) to {model.host} to be rewritten by {model.name}; "
                "later questions with a history go there too."
            )


def rewritten(desk: Desk, question: str, history: Sequence[str]) -> Rewritten:
    """Return what becomes of a question that is asked at a desk; see `Rewriter.rewritten`."""
    return desk.rewriter.rewritten(question, history) if desk.rewriter is not None else Rewritten()
