"""Models: are the bundled ones there and what they should be, and is what the settings name able to run?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from scrubjay.config import ModelSettings, api_key
from scrubjay.doctor.case import Case
from scrubjay.errors import ConfigError, ScrubjayError
from scrubjay.memory.checks import Check, ok, problem, warning

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder

SAMPLE: Final = "Where is the key?"


def check(case: Case) -> Iterator[Check]:
    """Yield what is found of the models; nothing is sent anywhere."""
    yield _runs("model static", lambda: _static(case))
    yield _runs("model minilm", lambda: _minilm(case))
    for name, model in case.settings.models.extra.items():
        yield _named(name, model)
    if case.settings.llm.model:
        yield _keyed("model of [llm]", "llm", case)


def _runs(about: str, make: Callable[[], Embedder]) -> Check:
    """Hash its files, whatever is remembered of them, and embed a sentence."""
    try:
        embedder = make()
        (rows,) = embedder.embed([SAMPLE])
    except ScrubjayError as error:
        return problem(about, str(error), error.hint)
    if rows.shape[-1] != embedder.model.dimensions:
        return problem(about, f"it makes {rows.shape[-1]} dimensions, not {embedder.model.dimensions}")
    return ok(about, f"its files are as they should be, and it embeds ({embedder.model.revision})")


def _static(case: Case) -> Embedder:
    from scrubjay.providers.embedders.static import StaticEmbedder

    return StaticEmbedder(case.settings.models.static_path)


def _minilm(case: Case) -> Embedder:
    from scrubjay.providers.embedders.minilm import MiniLmEmbedder

    settings = case.settings.models
    return MiniLmEmbedder(settings.minilm_path, runtime=settings.runtime)


def _named(name: str, model: ModelSettings) -> Check:
    about = f"model {name}"
    if model.provider == "sentence-transformers" and find_spec("sentence_transformers") is None:
        return problem(
            about, "sentence-transformers is not installed", "pip install scrubjay[sentence-transformers]"
        )
    try:
        api_key(f"models.{name}", model)
    except ConfigError as error:
        return problem(about, str(error), error.hint)
    return ok(about, f"described ({model.provider}); nothing was sent to see whether it answers")


def _keyed(about: str, section: str, case: Case) -> Check:
    try:
        api_key(section, case.settings.llm)
    except ConfigError as error:
        return warning(about, str(error), error.hint)
    return ok(about, "described; nothing was sent to see whether it answers")
