"""Reranker registry: the rerankers that the settings name, and which of them a search uses."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from scrubjay.config.loader import api_key
from scrubjay.errors import ConfigError, InputError
from scrubjay.models.results import RERANKER_KINDS

if TYPE_CHECKING:
    from scrubjay.rerankers.base import Reranker
    from scrubjay.search.rerank import RerankOptions
    from scrubjay.services.workspace import Workspace

CALLER_RERANKER: Final = "given"
"""Kind of a reranker that was passed to `Memory.open`."""
DEFAULT_WEIGHTS: Final[Mapping[str, float]] = {
    "features": 0.25,
    "cross-encoder": 1.0,
    "http": 1.0,
    "chat": 1.0,
    CALLER_RERANKER: 1.0,
}
"""Weight of a deviation unless the settings name one. A model that reads question and passage together counts as much
as all channels, whose sum spreads about one deviation over the best fifty. Words and their places count a quarter."""


DEEP_DEPTH: Final = 30
"""Best candidates that a deep search reads."""
DEEP_SECONDS: Final = 1.5
"""Minimum deadline of a deep search."""
DEEP_CHARACTERS: Final = 480
"""Length of the best snippet that it reads of a longer passage: as good as the whole one, in a third of the time."""


class RerankerRegistry:
    """The rerankers of one process, each opened on first use; ``given`` is the caller's own."""

    def __init__(self, reranker: Reranker | None = None) -> None:
        self._caller_reranker = reranker
        self._opened: dict[str, Reranker] = {}
        self._lock = threading.Lock()

    def choose(
        self, workspace: Workspace, kind: str | None, *, plain: bool, deep: bool = False
    ) -> tuple[RerankOptions | None, tuple[str, ...]]:
        """Return how a search is reranked, None for not at all, and what the answer has to do without.

        ``kind`` None takes the caller's own reranker, else that of the settings. With ``plain`` the fusion is only a
        weighted sum; ``deep`` takes a cross-encoder where no other model is chosen.
        """
        options, characters = workspace.settings.rerank, None
        chosen = kind or (CALLER_RERANKER if self._caller_reranker is not None else options.kind)
        known = (*RERANKER_KINDS, CALLER_RERANKER) if self._caller_reranker is not None else RERANKER_KINDS
        if chosen not in known:
            raise InputError(f"Rerank {chosen!r} is not one of {', '.join(known)}.")
        if deep and kind == "off":
            raise InputError(
                "A deep search needs a reranker, but rerank is off.", hint="leave out deep or rerank"
            )
        if deep and kind is None and chosen in ("off", "features"):
            chosen, characters = "cross-encoder", DEEP_CHARACTERS
            deadline = max(options.deadline, DEEP_SECONDS)
            options = replace(options, depth=DEEP_DEPTH, deadline=deadline, weight=None)
        if chosen == "off":
            return None, ()
        if plain:
            if kind is not None or deep:
                raise InputError(
                    f"Rerank {chosen!r} works only with fusion auto.",
                    hint="leave out rerank or fusion",
                )
            return None, ()
        if workspace.models.cold and chosen == "cross-encoder" and kind is None and not deep:
            return None, ("The cross-encoder was not used: loading it takes longer than a cold search.",)
        try:
            reranker = self._open(workspace, chosen)
        except ConfigError as error:
            return None, (f"Nothing was reranked: {error}",)
        from scrubjay.search.rerank import RerankOptions

        weight = DEFAULT_WEIGHTS[chosen] if options.weight is None else options.weight
        return RerankOptions(reranker, options.depth, options.deadline, weight, characters), ()

    def _open(self, workspace: Workspace, kind: str) -> Reranker:
        if kind == CALLER_RERANKER and self._caller_reranker is not None:
            return self._caller_reranker
        with self._lock:
            if kind not in self._opened:
                self._opened[kind] = _open_reranker(workspace, kind)
            return self._opened[kind]


def _open_reranker(workspace: Workspace, kind: str) -> Reranker:
    settings, options = workspace.settings, workspace.settings.rerank
    if kind == "features":
        from scrubjay.embeddings.static import StaticEmbedder
        from scrubjay.rerankers.lexical import LexicalReranker

        base = workspace.models.base
        return LexicalReranker(base.tokens if isinstance(base, StaticEmbedder) else None)
    if kind == "cross-encoder":
        from scrubjay.rerankers.cross_encoder import CrossEncoderReranker

        return CrossEncoderReranker(
            options.model_path,
            options.tokenizer_path,
            sha256=options.sha256.lower(),
            cache_dir=settings.cache_dir,
            runtime=settings.models.runtime,
        )
    from scrubjay.redaction.redactor import redact_text
    from scrubjay.rerankers.remote import ChatReranker, HttpReranker

    if kind == "chat" and not options.base_url:
        base_url, name, key = settings.llm.base_url, settings.llm.model, api_key("llm", settings.llm)
    else:
        base_url, name, key = options.base_url, options.model, api_key("rerank", options)
    remote = HttpReranker if kind == "http" else ChatReranker
    return remote(
        base_url, name, key, redact=lambda text: redact_text(text).text, announce=workspace.announce
    )
