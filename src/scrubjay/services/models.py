"""Model registry: the embedding models and rerankers that the settings name, loaded on first use."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from scrubjay.config.loader import api_key, auto_keys
from scrubjay.config.settings import RERANKER_KINDS, ExtraModelSettings, Settings
from scrubjay.embeddings.base import EmbedderCatalog
from scrubjay.errors import ConfigError, InputError, NotFoundError
from scrubjay.models.records import Scope
from scrubjay.storage.interface import ModelState, Store

if TYPE_CHECKING:
    from scrubjay.embeddings.base import Embedder
    from scrubjay.models.reports import ModelStatus
    from scrubjay.rerankers.base import Reranker
    from scrubjay.search.rerank import RerankOptions


MINILM: Final = "minilm"
"""The name of the bundled model that is backfilled by default."""


def settings_catalog(settings: Settings, announce: Callable[[str], None]) -> EmbedderCatalog:
    """Return the embedders that the settings describe; none is opened yet."""
    from scrubjay.embeddings.static import StaticEmbedder

    base = StaticEmbedder(settings.models.static_path, cache_dir=settings.cache_dir)
    others: dict[str, Callable[[], Embedder]] = {MINILM: partial(_open_minilm, settings)}
    for name, model in settings.models.extra.items():
        others[name] = partial(_open_extra_model, settings, name, model, announce)
    return EmbedderCatalog(base, others, (MINILM,))


def caller_catalog(embedders: Sequence[Embedder]) -> EmbedderCatalog:
    """Return a catalog of embedders that a caller brought."""
    if not embedders:
        raise InputError("embedders is empty; the first of them is the base model.")
    others = {embedder.model.name: partial(_return_embedder, embedder) for embedder in embedders[1:]}
    if len({embedder.model.name for embedder in embedders}) < len(embedders):
        names = ", ".join(embedder.model.name for embedder in embedders)
        raise InputError(f"Two embedders have one name ({names}); a store tells its models apart by name.")
    return EmbedderCatalog(embedders[0], others, tuple(others))


def _return_embedder(embedder: Embedder) -> Embedder:
    return embedder


def _is_active(state: ModelState) -> bool:
    return state.state == "active"


def _open_minilm(settings: Settings) -> Embedder:
    from scrubjay.embeddings.onnx import MiniLmEmbedder

    return MiniLmEmbedder(
        settings.models.minilm_path, cache_dir=settings.cache_dir, runtime=settings.models.runtime
    )


def _open_extra_model(
    settings: Settings, name: str, model: ExtraModelSettings, announce: Callable[[str], None]
) -> Embedder:
    from scrubjay.embeddings.registry import EmbedderSpec, open_embedder

    return open_embedder(
        EmbedderSpec(
            provider=model.provider,
            name=model.model or ("" if model.provider == "auto" else name),
            base_url=model.base_url,
            api_key=api_key(f"models.{name}", model),
            keys=auto_keys(model),
            dimensions=model.dimensions,
            cache_dir=settings.cache_dir,
            runtime=settings.models.runtime,
            announce=announce,
            batch=model.batch,
            concurrency=model.concurrency,
        )
    )


class ModelRegistry:
    """The models of one store, as one process can use them.

    Args:
        store: Where they are registered.
        scope: Whose memories they reach.
        catalog: What this process can open.
        cold: Rank with the base model alone.
        overlap: Tokens of the piece before that are embedded with a piece of a cut section.
    """

    def __init__(
        self, store: Store, scope: Scope, catalog: EmbedderCatalog, *, cold: bool, overlap: int = 80
    ) -> None:
        self._store = store
        self._scope = scope
        self._catalog = catalog
        self._cold = cold
        self._overlap = overlap

    @property
    def base(self) -> Embedder:
        """The model that is always complete."""
        return self._catalog.base

    @property
    def cold(self) -> bool:
        """Whether this process answers once, and loads no model that nobody named."""
        return self._cold

    def seen_by(self, scope: Scope) -> ModelRegistry:
        """Return the same models, as they reach another principal's memories."""
        return ModelRegistry(self._store, scope, self._catalog, cold=self._cold, overlap=self._overlap)

    def bundled(self, name: str | None) -> Embedder:
        """Return a bundled model by its name or by the name that settings call it; None for the base model.

        Raises:
            NotFoundError: No bundled model is called so.
            ProviderError: It cannot be opened.
        """
        if name is None:
            return self.base
        held = [self.base, *(self._catalog.open(each) for each in self._catalog.default)]
        for embedder, called in zip(held, ("", *self._catalog.default), strict=True):
            if name in (embedder.model.name, called):
                return embedder
        names = ", ".join(embedder.model.name for embedder in held)
        raise NotFoundError(f"No model {name!r:.80} comes with scrubjay; there are: {names}.")

    def writing(self) -> Embedder:
        """Return the base model, registered; a new store gets the default models with it."""
        with self._store.reader(self._scope) as reader:
            registered = {state.model.fingerprint for state in reader.models()}
        from scrubjay.storage.changes import PutModel

        base = self._catalog.base
        if base.model.fingerprint not in registered:
            puts = [PutModel(base.model)]
            if not registered:
                puts += [PutModel(self._catalog.open(name).model) for name in self._catalog.default]
            self._store.write(self._scope, puts)
            self._fill_base(bool(registered))
        return base

    def _fill_base(self, had_models: bool) -> None:
        """The base model is always complete: one that is new to an old store embeds all before it is used."""
        if had_models:
            from scrubjay.ingest.embedder import backfill_vectors

            backfill_vectors(self._store, self._scope, [self._catalog.base], overlap=self._overlap)

    def ready(self, states: Sequence[ModelState]) -> bool:
        """Return whether `ranking` opens no model that is not open yet."""
        return self._cold or all(self._catalog.is_open(state.model) for state in states if _is_active(state))

    def ranking(self, states: Sequence[ModelState] | None = None) -> tuple[list[Embedder], tuple[str, ...]]:
        """Return the embedders a search ranks with, base first, and those that failed, each with its reason.

        A cold process ranks with the base model alone by design, so the others are not named: `left_out` does.

        Args:
            states: The registered models; None to read them.
        """
        embedders = [self._catalog.base]
        partial: list[str] = []
        for state in filter(_is_active, self._others(states)):
            if self._cold:
                continue
            embedder, problem = self._catalog.find(state.model)
            if embedder is None:
                partial.append(f"{state.model.name} was not asked: {problem}")
            else:
                embedders.append(embedder)
        return embedders, tuple(partial)

    def left_out(self, states: Sequence[ModelState]) -> tuple[str, ...]:
        """Return what a cold process does without by design, a sentence a model."""
        if not self._cold:
            return ()
        return tuple(
            f"{state.model.name} was not used: loading it takes longer than a cold search."
            for state in filter(_is_active, self._others(states))
        )

    def backfilled(self) -> list[Embedder]:
        """Return the embedders that have memories to catch up with, those in use first."""
        states = sorted(self._others(), key=lambda state: (state.state != "active", state.model.name))
        found = [self._catalog.find(state.model)[0] for state in states]
        return [embedder for embedder in found if embedder is not None]

    def _others(self, states: Sequence[ModelState] | None = None) -> list[ModelState]:
        if states is None:
            with self._store.reader(self._scope) as reader:
                states = reader.models()
        return [state for state in states if state.model.fingerprint != self._catalog.base.model.fingerprint]

    def status(self) -> list[ModelStatus]:
        """Return every registered model with its reach, the base model first."""
        from scrubjay.models.reports import ModelStatus

        with self._store.reader(self._scope) as reader:
            reach = [(state, reader.coverage(state.model.fingerprint)) for state in reader.models()]
        base = self._catalog.base.model.fingerprint
        reach.sort(key=lambda pair: (pair[0].model.fingerprint != base, pair[0].model.name))
        return [
            ModelStatus(
                name=state.model.name,
                provider=state.model.provider,
                fingerprint=state.model.fingerprint,
                dimensions=state.model.dimensions,
                state=state.state,
                covered=held.covered,
                waiting=held.waiting,
                problem=self._catalog.find(state.model)[1],
            )
            for state, held in reach
        ]

    def add(self, name: str) -> ModelStatus:
        """Register a model to be backfilled beside those in use.

        Raises:
            NotFoundError: No settings describe it.
            ProviderError: It cannot be opened.
        """
        from scrubjay.storage.changes import PutModel

        self.writing()
        model = self._catalog.named(name).model
        known = {status.fingerprint for status in self.status()}
        if model.fingerprint not in known:
            self._store.write(self._scope, [PutModel(model, "adding")])
        return self._status_of(model.fingerprint)

    def use(self, name: str) -> ModelStatus:
        """Rank with a model beside the base model, and no longer with the others, which keep their vectors.

        One that was dropped, or that the settings describe and the store does not hold yet, is registered first.
        """
        from scrubjay.storage.changes import PutModel

        try:
            chosen = self._find(name)
        except NotFoundError:
            if not self._catalog.describes(name):
                raise
            chosen = self.add(name)
        states = [state for state in self._others() if state.model.fingerprint != chosen.fingerprint]
        changes = [PutModel(state.model, "adding") for state in states if state.state == "active"]
        mine = [state for state in self._others() if state.model.fingerprint == chosen.fingerprint]
        if not mine:
            raise InputError(f"{chosen.name} is the base model, which is always used. Nothing was changed.")
        self._store.write(self._scope, [*changes, PutModel(mine[0].model, "active")])
        return self._status_of(chosen.fingerprint)

    def drop(self, name: str) -> ModelStatus:
        """Remove a model and its vectors from the store.

        Raises:
            NotFoundError: It is not registered.
            InputError: It is the base model.
        """
        from scrubjay.storage.changes import DropModel

        chosen = self._find(name)
        if chosen.fingerprint == self._catalog.base.model.fingerprint:
            raise InputError(f"{chosen.name} is the base model; every search needs it. Nothing was dropped.")
        self._store.write(self._scope, [DropModel(chosen.fingerprint)])
        return chosen

    def _find(self, name: str) -> ModelStatus:
        held = self.status()
        fingerprint = ""
        if name in self._catalog.names:
            fingerprint = self._catalog.open(name).model.fingerprint
        # Two revisions of a model share its name: the one that the settings describe now is meant.
        for known in ([fingerprint], [name]):
            for status in held:
                if status.fingerprint in known or status.name in known:
                    return status
        names = ", ".join(status.name for status in held) or "none"
        raise NotFoundError(
            f"No model {name} is registered in this store; there are: {names}.",
            hint=f"`scrubjay models add {name}`",
        )

    def _status_of(self, fingerprint: str) -> ModelStatus:
        return next(status for status in self.status() if status.fingerprint == fingerprint)


CALLER_RERANKER: Final = "given"
"""What a reranker is called that a caller brought with `Memory.open`."""
DEFAULT_WEIGHTS: Final[Mapping[str, float]] = {
    "features": 0.25,
    "cross-encoder": 1.0,
    "http": 1.0,
    "chat": 1.0,
    CALLER_RERANKER: 1.0,
}
"""What a deviation weighs where the settings do not say: a model that reads question and passage together has as much
to say as all channels, whose sum spreads about one deviation over the best fifty; words and their places, a
quarter."""


class RerankerRegistry:
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
        models: ModelRegistry,
        announce: Callable[[str], None],
        *,
        plain: bool,
    ) -> tuple[RerankOptions | None, tuple[str, ...]]:
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
        chosen = kind or (CALLER_RERANKER if self._given is not None else settings.rerank.kind)
        known = (*RERANKER_KINDS, CALLER_RERANKER) if self._given is not None else RERANKER_KINDS
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
        from scrubjay.search.rerank import RerankOptions

        said = settings.rerank
        weight = DEFAULT_WEIGHTS[chosen] if said.weight is None else said.weight
        return RerankOptions(reranker, said.depth, said.deadline, weight), ()

    def _open(
        self, settings: Settings, kind: str, models: ModelRegistry, announce: Callable[[str], None]
    ) -> Reranker:
        if kind == CALLER_RERANKER and self._given is not None:
            return self._given
        with self._opening:
            if kind not in self._opened:
                self._opened[kind] = _open_reranker(settings, kind, models, announce)
            return self._opened[kind]


def _open_reranker(
    settings: Settings, kind: str, models: ModelRegistry, announce: Callable[[str], None]
) -> Reranker:
    from scrubjay.embeddings.static import StaticEmbedder
    from scrubjay.redaction.redactor import redact_text
    from scrubjay.rerankers.base import RerankerSpec, open_reranker

    said = settings.rerank
    base = models.base
    borrowed = kind == "chat" and not said.base_url
    return open_reranker(
        RerankerSpec(
            kind=kind,
            scrub=lambda text: redact_text(text).text,
            tokens=base.tokens if isinstance(base, StaticEmbedder) else None,
            model_path=said.model_path,
            tokenizer_path=said.tokenizer_path,
            sha256=said.sha256.lower(),
            cache_dir=settings.cache_dir,
            runtime=settings.models.runtime,
            base_url=settings.llm.base_url if borrowed else said.base_url,
            name=settings.llm.model if borrowed else said.model,
            api_key=_reranker_key(settings, kind, borrowed=borrowed),
            announce=announce,
        )
    )


def _reranker_key(settings: Settings, kind: str, *, borrowed: bool) -> str:
    if kind not in ("http", "chat"):
        return ""
    return api_key("llm", settings.llm) if borrowed else api_key("rerank", settings.rerank)
