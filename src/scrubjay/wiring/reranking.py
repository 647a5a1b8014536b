"""Reranking: a desk and what a caller said -> how a search is reranked, and why not though it was wanted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from scrubjay.config import Settings, api_key
from scrubjay.config_rerank import KINDS
from scrubjay.errors import ConfigError, InputError

if TYPE_CHECKING:
    from scrubjay.providers.rerankers.port import Reranker
    from scrubjay.recall.rerank import Reranking
    from scrubjay.wiring.lineup import Lineup

GIVEN: Final = "given"
"""What a reranker is called that a caller brought with `Memory.open`."""
WEIGHTS: Final[Mapping[str, float]] = {
    "features": 0.25,
    "cross-encoder": 1.0,
    "http": 1.0,
    "chat": 1.0,
    GIVEN: 1.0,
}
"""What a deviation weighs where the settings do not say: a model that reads question and passage together has as much
to say as all channels, whose sum spreads about one deviation over the best fifty; words and their places, a
quarter."""


class Rerankers:
    """The rerankers of one process, each opened when it is first wanted and kept with what it has loaded."""

    def __init__(self, given: Reranker | None = None) -> None:
        """Args: a reranker that a caller brought, used unless something else is said; None for the settings' own."""
        self._given = given
        self._opened: dict[str, Reranker] = {}
        self._opening = threading.Lock()

    def wanted(
        self,
        settings: Settings,
        kind: str | None,
        models: Lineup,
        announce: Callable[[str], None],
        *,
        plain: bool,
    ) -> tuple[Reranking | None, tuple[str, ...]]:
        """Return how a search is reranked, None for not at all, and what the answer has to do without.

        What the settings say but cannot be done keeps nobody from an answer.

        Args:
            settings: The settings.
            kind: What the caller said; None takes the reranker that was given, else what the settings say.
            models: The embedding models: the base model's tokens are read, and whether this process answers once.
            announce: Told the host and the counts before anything is first sent.
            plain: Whether the caller chose a fusion that is nothing but its weights.

        Raises:
            InputError: There is no such kind, or it cannot join the fusion that the caller chose.
        """
        chosen = kind or (GIVEN if self._given is not None else settings.rerank.kind)
        known = (*KINDS, GIVEN) if self._given is not None else KINDS
        if chosen not in known:
            raise InputError(f"Rerank {chosen!r} is not one of {', '.join(known)}.")
        if chosen == "off":
            return None, ()
        if plain:
            if kind is not None:
                raise InputError(
                    f"Rerank {kind!r} joins fusion auto alone; the others are what their weights say.",
                    hint="leave out the one or the other",
                )
            return None, ()
        if models.cold and chosen == "cross-encoder" and kind is None:
            return None, ("The cross-encoder was not asked: loading it takes longer than a cold search.",)
        try:
            reranker = self._open(settings, chosen, models, announce)
        except ConfigError as error:
            return None, (f"Nothing was reranked: {error}",)
        from scrubjay.recall.rerank import Reranking

        said = settings.rerank
        weight = WEIGHTS[chosen] if said.weight is None else said.weight
        return Reranking(reranker, said.depth, said.deadline, weight), ()

    def _open(
        self, settings: Settings, kind: str, models: Lineup, announce: Callable[[str], None]
    ) -> Reranker:
        if kind == GIVEN and self._given is not None:
            return self._given
        with self._opening:
            if kind not in self._opened:
                self._opened[kind] = _opened(settings, kind, models, announce)
            return self._opened[kind]


def _opened(settings: Settings, kind: str, models: Lineup, announce: Callable[[str], None]) -> Reranker:
    from scrubjay.ingest.scrub import scrub
    from scrubjay.providers.embedders.static import StaticEmbedder
    from scrubjay.providers.rerankers.open import open_reranker
    from scrubjay.providers.rerankers.spec import RerankerSpec

    said = settings.rerank
    base = models.base
    borrowed = kind == "chat" and not said.base_url
    return open_reranker(
        RerankerSpec(
            kind=kind,
            scrub=lambda text: scrub(text).text,
            tokens=base.tokens if isinstance(base, StaticEmbedder) else None,
            model_path=said.model_path,
            tokenizer_path=said.tokenizer_path,
            sha256=said.sha256.lower(),
            cache_dir=settings.cache_dir,
            runtime=settings.models.runtime,
            base_url=settings.llm.base_url if borrowed else said.base_url,
            name=settings.llm.model if borrowed else said.model,
            api_key=_key(settings, kind, borrowed=borrowed),
            announce=announce,
        )
    )


def _key(settings: Settings, kind: str, *, borrowed: bool) -> str:
    if kind not in ("http", "chat"):
        return ""
    return api_key("llm", settings.llm) if borrowed else api_key("rerank", settings.rerank)
