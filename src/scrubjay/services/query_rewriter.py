"""Query rewriting: complete a question from the conversation before it, with the settings' language model."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from scrubjay.config.loader import api_key
from scrubjay.errors import ConfigError, ProviderError
from scrubjay.frozen import frozen
from scrubjay.tracing import traced

if TYPE_CHECKING:
    from scrubjay.config.settings import LlmSettings
    from scrubjay.llm.client import LanguageModel

MAX_FAILURES: Final = 3
"""Consecutive failures after which the model is paused: each made a search wait."""
COOLDOWN_SECONDS: Final = 60.0
"""Seconds of a pause."""
MAX_RESPONSE_BYTES: Final = 1 << 16
"""Maximum bytes of an answer; a rewritten question has a few hundred."""


@frozen
class RewriteOutcome:
    """Result of rewriting a question.

    Attributes:
        text: The rewritten question, searched besides the original; empty if there is none.
        partial: What could not be done.
        notes: Why nothing was done, for explain.
    """

    text: str = ""
    partial: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class QueryRewriter:
    """Rewrites questions with the settings' language model, which is paused after repeated failures."""

    def __init__(
        self,
        settings: LlmSettings,
        announce: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._announce = announce
        self._clock = clock
        self._lock = threading.Lock()
        self._model: LanguageModel | None = None
        self._announced = False
        self._failures = 0
        self._paused_until = 0.0

    def rewrite(self, question: str, history: Sequence[str]) -> RewriteOutcome:
        """Return the question completed from the conversation before it."""
        if isinstance(history, list | tuple) and not history:  # most searches: load nothing
            return RewriteOutcome()
        from scrubjay.ingest.turns import redact_turns
        from scrubjay.redaction.redactor import redact_text
        from scrubjay.search.rewrite import MAX_QUESTION_LENGTH, check_history, check_rewriting, trim_history

        settings = self._settings
        clean = [turn.text for turn in redact_turns(check_history(history)).redacted]
        turns = trim_history(clean)
        if not turns or not question.strip():
            return RewriteOutcome()
        if not settings.model or not settings.rewrite:
            return RewriteOutcome(notes=("What was said before was not read: [llm] rewrite is off.",))
        if len(question) > MAX_QUESTION_LENGTH:
            return RewriteOutcome(notes=("The question is too long to be rewritten.",))
        if self._clock() < self._paused_until:
            return self._not_rewritten(
                f"failed {MAX_FAILURES} times and is paused for {COOLDOWN_SECONDS:.0f} s"
            )
        question = redact_text(question, before=clean).text
        try:
            answer = self._complete(question, turns)
        except (ConfigError, ProviderError) as error:
            with self._lock:
                self._failures += 1
                if self._failures >= MAX_FAILURES:
                    self._failures, self._paused_until = 0, self._clock() + COOLDOWN_SECONDS
            return self._not_rewritten(f"failed: {str(error).partition('. ')[0]}")
        self._failures = 0
        rewriting = check_rewriting(answer, question, turns)
        if rewriting.refused:
            return self._not_rewritten(f"gave a rewriting that was rejected: {rewriting.refused}")
        return RewriteOutcome(rewriting.text)

    def _not_rewritten(self, reason: str) -> RewriteOutcome:
        return RewriteOutcome(partial=(f"The question was not rewritten: {self._settings.model} {reason}.",))

    @traced("scrubjay.search.rewrite")
    def _complete(self, question: str, turns: Sequence[str]) -> str:
        from scrubjay.llm.client import LanguageModel
        from scrubjay.search.rewrite import INSTRUCTIONS, build_prompt

        settings = self._settings
        with self._lock:
            if self._model is None:
                self._model = LanguageModel(settings.base_url, settings.model, api_key("llm", settings))
            model, first, self._announced = self._model, not self._announced, True
        prompt = build_prompt(question, turns)
        if first:
            self._announce(
                f"Sending 1 question with {len(turns)} turn{'s' if len(turns) > 1 else ''} ({len(prompt):,} "
                f"characters) to {model.host} to be rewritten by {model.name}; later questions with a history go "
                "there too."
            )
        return model.complete(
            INSTRUCTIONS, prompt, deadline=settings.rewrite_deadline, max_bytes=MAX_RESPONSE_BYTES
        )
