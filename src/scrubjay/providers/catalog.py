"""Catalog: the embedders of one process, by name, opened on use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from scrubjay.errors import NotFoundError, ProviderError
from scrubjay.memory.models import Model
from scrubjay.providers.embedders.port import Embedder


class Catalog:
    """Every embedder that this process could use.

    Args:
        base: The model that is always complete.
        others: Name to what opens the embedder of that name.
        default: Names of those that a new store backfills.
    """

    def __init__(
        self, base: Embedder, others: Mapping[str, Callable[[], Embedder]], default: Sequence[str] = ()
    ) -> None:
        self.base = base
        self.default = tuple(default)
        self._others = dict(others)
        self._opened: dict[str, Embedder] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the models beside the base model."""
        return tuple(self._others)

    def open(self, name: str) -> Embedder:
        """Return the embedder of a name.

        Raises:
            NotFoundError: No settings describe it.
            ProviderError: It cannot be opened.
        """
        if name not in self._others:
            known = ", ".join(self._others) or "none"
            raise NotFoundError(
                f"No model {name!r} is described; there are: {known}.",
                hint=f"describe it in the settings file under [models.{name}]",
            )
        if name not in self._opened:
            self._opened[name] = self._others[name]()
        return self._opened[name]

    def describes(self, name: str) -> bool:
        """Return whether `named` would find a model."""
        try:
            self.named(name)
        except NotFoundError:
            return False
        return True

    def named(self, name: str) -> Embedder:
        """Return the embedder that settings or the model itself call so.

        Raises:
            NotFoundError: No settings describe it.
            ProviderError: It cannot be opened.
        """
        if name in self._others:
            return self.open(name)
        for known in self.default:
            if self.open(known).model.name == name:
                return self.open(known)
        return self.open(name)

    def is_open(self, model: Model) -> bool:
        """Return whether a registered model can be used at once."""
        return self._held(model) is not None

    def _held(self, model: Model) -> Embedder | None:
        if self.base.model.fingerprint == model.fingerprint:
            return self.base
        for embedder in self._opened.values():
            with suppress(
                ProviderError
            ):  # it does not know itself what it is: `find` asks again, and says why
                if embedder.model.fingerprint == model.fingerprint:
                    return embedder
        return None

    def find(self, model: Model) -> tuple[Embedder | None, str]:
        """Return the embedder of a registered model, or None and why there is none."""
        held = self._held(model)
        if held is not None:
            return held, ""
        problem = f"{model.name} is in the store, but no settings describe it"
        for name in self._others:
            try:
                embedder = self.open(name)
                if embedder.model.fingerprint == model.fingerprint:
                    return embedder, ""
            except ProviderError as error:
                problem = str(error)
        return None, problem
